/*
 * From a path to the directory that holds it: builtins alone, unless the last name is a symlink.
 *
 * R is the root ("" for all of it), S the spool directory. After `at` the shell is in that directory, b is the name in
 * there (`.` when the path names the directory itself), f the canonical path, p the path that the last symlink led to
 * and i how many there were. The directory is entered before it is checked: what is checked is what is used.
 */
export const RESOLVE = `
  at() {
    i=0 p=$1
    while :; do
      case $p in
        */ | */. | */..)
          t_=$p/.
          cd -P -- "$p" 2>/dev/null || return 1
          b=. f=$PWD
          return 0
          ;;
      esac
      d=\${p%/*} b=\${p##*/} t_=\${p%/*}/.
      cd -P -- "\${d:-/}" 2>/dev/null || return 1
      f=\${PWD%/}/$b
      [ -h "./$b" ] || return 0
      i=$((i + 1))
      [ "$i" -le 40 ] || return 1
      l_=$(readlink -n -- "./$b"; echo .)
      l_=\${l_%.}
      case $l_ in
        /*) p=$l_ ;;
        ?*) p=\${PWD%/}/$l_ ;;
        *) return 1 ;;
      esac
    done
  }
  within() {
    case $1/ in
      "$R"/* | "$S"/*) return 0 ;;
    esac
    return 1
  }
  inside() { within "$f" || no outside_root; }
  # Enters the nearest directory there is; g_ is the rest.
  above() {
    a_=$1 g_=
    until cd -P -- "\${a_:-/}" 2>/dev/null; do g_=\${a_##*/}/$g_ a_=\${a_%/*}; done
  }
  # Why at failed: t_ could not be entered.
  why() {
    [ "$i" -le 40 ] || { no loop; return 1; }
    above "$t_"
    case /$g_ in */../*) g_= ;; esac
    within "\${PWD%/}/$g_" || { no outside_root; return 1; }
    e=$(ls -d -- "$t_" 2>&1 >/dev/null)
    no errno "$e"
  }
  locate() { at "$1" || { why; return 1; }; inside; }
  # Whether ./$b is a regular file, on a file system whose files have an end.
  regular() {
    case $f in
      /proc | /proc/* | /sys | /sys/*) if [ -d "./$b" ]; then no is_directory; else no not_regular; fi; return 1 ;;
    esac
    [ -f "./$b" ] && return 0
    if [ -d "./$b" ]; then no is_directory; elif [ -e "./$b" ]; then no not_regular; else no not_found; fi
  }
`;
