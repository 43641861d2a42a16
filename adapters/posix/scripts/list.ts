/*
 * stat, readdir, realpath. An entry of a listing is a letter for its kind, for a link one more for what is behind it (`-`
 * when that is broken or not to be told), the name, a NUL, and for a link its target and a NUL.
 */
export const LIST = `
  s() { locate "$1" && about; }
  d() {
    if cd -P -- "$1" 2>/dev/null; then
      f=$PWD
      inside || return
    else
      locate "$1" || return
      if [ -d "./$b" ]; then no permission_denied; elif [ -e "./$b" ]; then no errno Not a directory; else no not_found; fi
      return
    fi
    [ -r . ] || { no permission_denied; return; }
    dir_=$f
    o
    entries
    z ok "$dir_"
  }
  # What exists is resolved; what is missing comes apart, as it was written.
  rp() {
    i=0 p=$1 g_=
    while :; do
      if cd -P -- "$p" 2>/dev/null; then
        f=$PWD
        break
      fi
      case $p in
        */) p=\${p%/} ; continue ;;
        */. | */..) g_=\${p##*/}/$g_ p=\${p%/*}; continue ;;
      esac
      b=\${p##*/} t_=$p
      if cd -P -- "\${p%/*}/" 2>/dev/null; then
        if [ -h "./$b" ]; then
          i=$((i + 1))
          [ "$i" -le 40 ] || { no loop; return; }
          l_=$(readlink -n -- "./$b"; echo .)
          l_=\${l_%.}
          case $l_ in /*) p=$l_ ;; *) p=\${PWD%/}/$l_ ;; esac
          continue
        fi
        f=\${PWD%/}/$b
        break
      fi
      g_=$b/$g_ p=\${p%/*}
    done
    inside && z ok "$f/$g_"
  }
  kind() {
    if [ -f "$1" ]; then k_=f
    elif [ -d "$1" ]; then k_=d
    elif [ -p "$1" ]; then k_=p
    elif [ -S "$1" ]; then k_=s
    elif [ -b "$1" ]; then k_=b
    elif [ -c "$1" ]; then k_=c
    else k_=$2; fi
  }
  # What is behind the link ./$1, whose target is $2: told only when it is inside.
  behind() {
    kind "./$1" -
    [ "$k_" != - ] && [ -n "$R" ] || return
    set -- "$1" "$k_" "$PWD"
    if [ "$2" = d ]; then cd -P -- "./$1" 2>/dev/null && f=$PWD; else at "$3/$1"; fi && within "$f" && k_=$2 || k_=-
    cd -P -- "$3"
  }
  globbed() {
    for n_ in * .[!.]* ..?*; do
      if [ -h "./$n_" ]; then
        y_=$(readlink -n -- "./$n_"; echo .)
        behind "$n_"
        printf 'l%s%s\\0%s\\0' "$k_" "$n_" "\${y_%.}"
      elif [ -e "./$n_" ]; then
        kind "./$n_" u
        printf '%s%s\\0' "$k_" "$n_"
      fi
    done
  }
`;

/** Listing by builtins; one fork for each symlink. */
export const ENTRIES_BY_GLOB = `
  entries() { globbed; }
`;
/** Listing by a find that knows \`-printf\`, where nothing has to be hidden. */
export const ENTRIES_BY_FIND = `
  entries() {
    if [ -n "$R" ]; then
      globbed
      return
    fi
    find . -mindepth 1 -maxdepth 1 '(' -type l -printf 'l%Y%P\\0%l\\0' ')' -o -printf '%y%P\\0' 2>/dev/null
  }
`;

export const STAT_BY_STAT = `
  about() { e=$(stat -c '%f %s %Y %y' -- "./$b" 2>&1) && z ok "$e" "$f" || no errno "$e"; }
`;

export const STAT_BY_LS = `
  about() {
    e=$(ls -ldn -- "./$b" 2>&1) || { no errno "$e"; return; }
    l_=$(date -r "./$b" +%s 2>/dev/null || echo 0)
    set -- $e
    z ok "$l_" "$1" "$5" "$f"
  }
`;
