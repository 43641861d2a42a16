/*
 * A search is a script of ours that runs in the search root, on a lane that does nothing else, under a run tag by which it
 * can be ended. `one` is the file when the root is one; `st` takes the status that counts, `err` what was complained about.
 */
export const SEARCH = `
  # Tag, root, whether it has to be a directory, script.
  search() {
    locate "$2" || return
    one= up_=
    if [ -d "./$b" ]; then
      cd -P -- "./$b" 2>/dev/null && [ -r . ] || { no permission_denied; return; }
    elif [ "$3" = directory ]; then
      if [ -e "./$b" ]; then no errno Not a directory; else no not_found; fi
      return
    else
      regular || return
      [ -r "./$b" ] || { no permission_denied; return; }
      one=./$b
    fi
    st=$T/run-$CONN-$$.st err=$T/run-$CONN-$$.err
    true >"$st"
    o
    (
      trap - PIPE
      GLOVEBOX_RUN=$1
      export GLOVEBOX_RUN
      eval "$4"
    ) 2>"$err"
    s_= n_=0 e=
    read -r s_ <"$st"
    if [ -s "$err" ]; then
      n_=$(($(wc -l <"$err")))
      e=$(dd bs=4096 count=1 <"$err" 2>/dev/null)
    fi
    a_=$PWD
    until [ -e "$a_/.git" ] || [ -z "$a_" ]; do a_=\${a_%/*}; done
    z ok "\${s_:--}" "$n_" "\${a_:--}" "$e"
  }
  # Prints a letter for its kind before each name, and a NUL behind it.
  name_kinds='
    for f do
      f=./\${f#./}
      f=\${f%/}
      if [ -h "$f" ]; then k=l; elif [ -f "$f" ]; then k=f; elif [ -d "$f" ]; then k=d; elif [ -p "$f" ]; then k=p
      elif [ -S "$f" ]; then k=s; elif [ -b "$f" ]; then k=b; elif [ -c "$f" ]; then k=c; else k=u; fi
      printf "%s%s\\\\0" "$k" "\${f#./}"
    done
  '
  # The first $1 of the names, each with a NUL behind it, in order.
  first_names() {
    sort -z | tr '\\n\\000' '\\000\\n' | head -n "$1" | tr '\\n\\000' '\\000\\n' | xargs -0 sh -c "$name_kinds" sh
  }
  # Whether a file has a NUL among its first bytes.
  binary() { [ "$(($(dd bs=8192 count=1 <"$1" 2>/dev/null | tr -cd '\\000' | wc -c)))" != 0 ]; }
  # Matches of P in one file, between NULs its name: $1 file, $2 bytes of a line at most, then grep's options.
  matches_in() {
    [ -f "$1" ] && [ ! -h "$1" ] || return 0
    [ -n "$GREP_I" ] || ! binary "$1" || return 0
    f_=$1 c_=$2
    shift 2
    printf '\\000%s\\000' "$f_"
    grep -n "$@" -e "$P" -- "$f_" </dev/null | cut -b "1-$c_"
  }
  # The same in each file whose name comes in a line; a name with line feeds comes in several.
  matches_in_all() {
    x_=
    while IFS= read -r l_; do
      case $l_ in
        ./*)
          [ -z "$x_" ] || matches_in "$x_" "$@"
          x_=$l_
          ;;
        *) x_=$x_$nl$l_ ;;
      esac
    done
    [ -z "$x_" ] || matches_in "$x_" "$@"
  }
`;
