/*
 * Reading is of one moment. `ref`, a file of the lane's own, is touched before each reading, by a builtin: a file that is
 * older did not change while it was read. Most shells compare whole seconds and so never err on that side; bash, which
 * compares nanoseconds even where a file system keeps seconds, compares with the lane's start instead (`old`). Only for a
 * younger file stat has to say, and when it cannot say so either, the file is read again. Of a file that never comes to
 * rest all readings arrive: two in a row that agree are good enough, as for a log that only grows.
 *
 * A file is opened once (fd 4) and all is read from there, so that a rename over its name changes nothing.
 */
export const READ = `
  # All of it, up to $2 bytes; larger ones are big.
  r() { locate "$1" && regular && steady whole "$2"; }
  whole() {
    first || return
    [ "$e" -le "$1" ] || { big=$e; return; }
    cat <&4 4<&-
  }
  # True when there is more than the first 128 KiB; e is the size then.
  first() {
    e=$(dd bs=65536 count=2 <&4 2>&1 >&3 4<&-)
    case $e in
      *2+0\\ records\\ in*) size && [ "$e" -gt 131072 ] ;;
      *) return 1 ;;
    esac
  }
  # $4 blocks of $2 bytes, after $3 of them; the size comes along.
  rb() { locate "$1" && regular && steady blocks "$2" "$3" "$4"; }
  blocks() {
    dd bs="$1" skip="$2" count="$3" <&4 4<&- 2>/dev/null
    size
    x_=$e
  }
  # All of a small file; of a larger one its beginning, then $3 lines from the $2th on, at most $4 bytes of them.
  rl() { locate "$1" && regular && steady lines "$2" "$3" "$4" "$5"; }
  lines() {
    first || return
    [ "$e" -le "$4" ] || { big=$e; return; }
    x_=$e
    z part
    o
    tail -n "+$1" <"$in" | head -n "$2" | head -c "$3"
    x_="$x_ $(($(wc -l <"$in") + 1 - $(tail -c 1 <"$in" | wc -l)))"
    x_="$x_ $(($(tail -n "+$1" <"$in" | head -n 1 | tr -d '\\n' | wc -c)))"
  }
  steady() {
    [ -r "./$b" ] || { no permission_denied; return; }
    n_=0
    while :; do
      n_=$((n_ + 1)) big= x_= ok_=
      [ -z "$ref" ] || true >"$ref" || ref=
      { reading "$@"; } 4<"./$b" || { no errno "$(ls -d -- "./$b" 2>&1 >/dev/null)"; return; }
      [ -z "$big" ] || { z big "$big"; return; }
      [ -z "$ok_" ] || { z ok $x_ "$f"; return; }
      [ "$n_" -lt 5 ] || { no busy $x_ "$f"; return; }
      z again $x_ "$f"
      [ "$n_" -lt 2 ] || nap 1
    done
  }
  reading() {
    in=/proc/self/fd/4
    [ "$in" -ef "./$b" ] || in=./$b
    s_=
    [ -n "$ref" ] && [ "$n_" -lt 3 ] || { facts && s_=$e; }
    o
    "$@"
    if [ -n "$s_" ]; then facts && [ "$s_" = "$e" ]; else [ "$in" -ot "\${old:-$ref}" ] || older; fi && ok_=1
    return 0
  }
`;

/** What `read` asks of stat, where the target has a stat that knows `-c`. */
export const TIMES_BY_STAT = `
  size() { e=$(stat -L -c %s -- "$in" 2>/dev/null); }
  facts() { e=$(stat -L -c '%i %s %y %z' -- "$in" 2>&1); }
  older() {
    set -- $(stat -L -c '%Y %y' -- "$in" "$ref" 2>/dev/null)
    [ "$#" = 8 ] && [ "$1" -le "$5" ] || return 1
    [ "$1" -lt "$5" ] && return
    case $3 in
      *.000000000) return 1 ;;
      *.?????????) [ "1\${3#*.}" -lt "1\${7#*.}" ] ;;
      *) return 1 ;;
    esac
  }
`;

/** The same without: what changes twice within a minute and keeps its size goes unnoticed for that long. */
export const TIMES_BY_LS = `
  size() { e=$(($(wc -c <"$in"))); }
  facts() { e=$(ls -lLnd -- "$in" 2>&1); }
  older() { return 1; }
`;
