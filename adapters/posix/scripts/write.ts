/*
 * Writing is all or nothing: a temporary file beside the target, its length checked, owner and mode put right, then the
 * rename, all under the lock of the file. A reply goes out only after the payload has come off the stream, however the
 * writing went.
 *
 * x is what has to be there (`-` whatever, `0` nothing, else a SHA-256), t the temporary file, mode what it gets when it
 * is made, own and perm what it gets afterwards; n is what is still on the stream, h_ the lock that is held.
 */
export const WRITE = `
  # Path, expectation, bytes; the bytes follow.
  w() {
    n=$3
    begin "$1" "$2" || { drain; return; }
    if lock && matches && fill && finish; then
      z ok "$created" "$f"
    else
      y_=$e
      drain
      undo
      no "$y_"
    fi
  }
  # Finds the place, makes missing parents, looks at what is there. Answers itself when it fails.
  begin() {
    h_= made= t= x=$2 e= mode= own= perm= synced=
    at "$1" || { missing && parents; } || return 1
    inside || return 1
    case $b in . | ..) no is_directory; return 1 ;; esac
    t=.glovebox-tmp-$$-$ST-\${m#?????????????????}
    if [ -e "./$b" ]; then
      regular || return 1
      [ -w "./$b" ] || { no permission_denied; return 1; }
      attributes
    else
      [ "$i" = 0 ] || no not_found dangling
    fi
  }
  # Whether at failed for want of directories alone.
  missing() {
    case $p in
      */ | */. | */..)
        if [ "$i" -le 40 ] && [ ! -e "\${p%/*}" ] && [ ! -h "\${p%/*}" ]; then
          above "\${p%/*}"
          f=$PWD
          inside && no is_directory
        else
          why
        fi
        return 1
        ;;
    esac
    [ "$i" = 0 ] || why
  }
  parents() {
    above "$d"
    case /$g_ in */../*) why; return 1 ;; esac
    f=\${PWD%/}/$g_
    inside || return 1
    if [ -e "./\${g_%%/*}" ] || [ -h "./\${g_%%/*}" ]; then why; return 1; fi
    case $x in 0 | -) ;; *) no conflict -; return 1 ;; esac
    made=$g_ made_in=$PWD
    ! hidden "$PWD/$g_" || umask 077
    e=$(mkdir -p -- "./$g_" 2>&1)
    l_=$?
    umask "$UM"
    [ "$l_" = 0 ] && cd -P -- "./$g_" 2>/dev/null && f=$PWD/$b && return
    undo
    no errno "$e"
  }
  hidden() { case $1 in "$T"/*) return 0 ;; esac; return 1; }
  lock() {
    name_lock "$f"
    take "$k" 4 && h_=$k
  }
  # Whoever just made this file has a moment in which its temporary name is a second one. Waits for the end of that.
  unlinking() {
    [ -z "$LINKS" ] && [ "$n_" -lt 3 ] || return
    n_=$((n_ + 1))
    sleep 0.05 2>/dev/null || sleep 1
  }
  # Nothing is left of a write that failed.
  undo() {
    [ -z "$t" ] || [ ! -e "./$t" ] || rm -f -- "./$t"
    [ -z "$h_" ] || rm -f -- "$T/$h_"
    [ -z "$made" ] || { cd -P -- "$made_in" && rmdir -p -- "$made"; } 2>/dev/null
    h_= t= made=
  }
  # False, and e the answer, when what is there is not what is expected.
  matches() {
    case $x in
      -) return 0 ;;
      0) [ -e "./$b" ] || [ -h "./$b" ] || return 0 ;;
    esac
    s_=-
    if [ -f "./$b" ] && [ ! -h "./$b" ]; then
      s_=$($SHA <"./$b")
      pick
      [ "$s_" != "$x" ] || return 0
    fi
    e="conflict $s_"
    return 1
  }
  # n bytes into the temporary file, which nobody may read who may not read it later.
  fill() {
    new_mode
    synced=
    if [ "$n" = 0 ]; then
      e=$(true 2>&1 >"./$t")
    else
      e=$(dd $DDA$n $DDB $FSYNC <&5 2>&1 >"./$t")
      took "$?"
    fi
    l_=$?
    umask "$UM"
    [ "$l_" = 0 ] || { e="errno $e"; return 1; }
    [ "$n_" = 0 ] || synced=$FSYNC
  }
  new_mode() {
    if [ -n "$own$perm" ] || hidden "$f"; then umask 077; elif [ -n "$mode" ]; then umask "$((777 - mode))"; fi
  }
  # n becomes what a \`dd\` of n bytes, of this status and with report e, has left on the stream.
  took() {
    n_=$n
    case $e in
      *"records in"*)
        l_=\${e%%+[0-9]* records in*}
        l_=\${l_##*[!0-9]}
        [ -n "$BYTEWISE" ] || l_=$((l_ * n))
        n=$((n - l_))
        ;;
    esac
    [ "$1" = 0 ] && [ "$n" = 0 ]
  }
  # What holds now, for a writer that lost sight of its write.
  hash() {
    locate "$1" || return
    x=? s_=-
    [ ! -e "./$b" ] || regular || return
    matches
    z ok "$s_" "$f"
  }
  drain() {
    [ "$n" = 0 ] || dd $DDA$n $DDB <&5 >/dev/null 2>&1
    n=0
  }
  # Owner and mode, then the rename.
  finish() {
    if [ -n "$own" ]; then
      chown "$own" "./$t" 2>/dev/null || { e="foreign $own"; return 1; }
    fi
    if [ -n "$perm" ]; then
      e=$(chmod "$perm" "./$t" 2>&1) || { e="errno $e"; return 1; }
    fi
    if [ -n "$D" ] && [ -n "$own$perm" -o -z "$synced" ]; then
      flush "./$t" || { e="errno $e"; return 1; }
    fi
    created=1
    [ ! -e "./$b" ] || created=0
    if [ "$x" = 0 ] && ln -- "./$t" "./$b" 2>/dev/null; then
      rm -f -- "./$t" "$T/$h_"
    else
      [ "$x" != 0 ] || matches || return
      [ ! -d "./$b" ] || { e=is_directory; return 1; }
      e=$(mv -f $MT -- "./$t" "./$b" 2>&1) || { e="errno $e"; return 1; }
      rm -f -- "$T/$h_"
    fi
    h_= t= made=
    [ -z "$D" ] || flush . || { e="unsynced $e"; return 1; }
  }
`;

/*
 * The same for content that comes in pieces, on a lane that does nothing else meanwhile. The temporary file has a lock of
 * its own until it is renamed, so that a sweep finds it, and waiting for the file's lock holds nobody up.
 */
export const UPLOAD = `
  up() {
    ud= n=0
    begin "$1" "$2" || return
    [ -z "$mode" ] || perm=\${perm:-$mode}
    name_lock "$PWD/$t"
    j_=$k
    if take "$k" 4 && e="errno $(new_mode; true 2>&1 >"./$t")" && [ -e "./$t" ]; then
      ud=$PWD
      z ok
    else
      fail "$e"
    fi
  }
  chunk() {
    n=$1
    if back; then
      e=$(dd $DDA$n $DDB <&5 2>&1 >>"./$t")
      if took "$?"; then z ok; return; fi
      e="errno $e"
    else
      e=stopped
    fi
    drain
    fail "$e"
  }
  commit() {
    back || { no stopped; return; }
    lock || { e_=$e; case $e in locked) no locked ;; *) fail "$e_" ;; esac; return; }
    if matches && finish; then
      rm -f -- "$T/$j_"
      ud= j_=
      z ok "$created" "$f"
    else
      fail "$e"
    fi
  }
  cancel() {
    drop
    z ok
  }
  drop() {
    back && undo
    [ -z "$j_" ] || rm -f -- "$T/$j_"
    ud= j_=
  }
  back() { [ -n "$ud" ] && cd -P -- "$ud" 2>/dev/null && [ "$PWD" = "$ud" ]; }
  fail() {
    undo
    [ -z "$j_" ] || rm -f -- "$T/$j_"
    ud= j_=
    no "$1"
  }
`;

/** How the old file's mode, owner and names are learned, where the target has a stat that knows `-c`. */
export const ATTRIBUTES_BY_STAT = `
  attributes() {
    n_=0
    while set -- $(stat -c '%a %u:%g %h' -- "./$b" 2>&1); [ "$#" = 3 ] && [ "$3" != 1 ] && unlinking; do :; done
    [ "$#" = 3 ] || { no errno "$*"; return; }
    [ "$3" = 1 ] || [ -n "$LINKS" ] || { no hard_link "$3"; return; }
    mode=$1
    [ "$2" = "$ME" ] && [ ! -g . ] || own=$2
    case $mode in
      [1357]???) mode=1\${mode#?} ;;
      [246]???) mode=\${mode#?} ;;
    esac
    case $1 in ???? | *[1357]*) perm=$mode ;; esac
    [ -z "$own" ] || perm=$mode
  }
`;

/** The same without: a copy has them, and its content is overwritten. */
export const ATTRIBUTES_BY_COPY = `
  attributes() {
    n_=0
    while set -- $(ls -ldn -- "./$b" 2>&1); [ "$#" -ge 8 ] && [ "$2" != 1 ] && unlinking; do :; done
    [ "$#" -ge 8 ] || { no errno "$*"; return; }
    [ "$2" = 1 ] || [ -n "$LINKS" ] || { no hard_link "$2"; return; }
    [ "$3:$4" = "$ME" ] || own=$3:$4
    case $1 in *[sS]*) perm=u-s,g-s ;; esac
    e=$(cp -p -- "./$b" "./$t" 2>&1) || { undo; no errno "$e"; }
  }
`;
