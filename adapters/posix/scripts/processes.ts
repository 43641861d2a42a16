/*
 * Finding and ending what commands started. Every command bears its run tag in its environment; all tags of a connection
 * begin with TAG. Who leaves the group, the session and the parent still bears it; who clears its environment does not.
 */
export const PROCESSES = `
  # s_: when process $1 started, in ticks since boot; nothing when there is none, or only its corpse.
  start_of() {
    v_= s_=
    { while IFS= read -r l_ || [ -n "$l_" ]; do v_=$v_$l_; done; } 2>/dev/null <"/proc/$1/stat" || return 0
    set -- \${v_##*)}
    [ "$1" = Z ] || [ "$1" = X ] || s_=\${20}
  }
  # y_: the pids that bear tag $1. A shell that cannot fork ends, so where processes have run out (a fork bomb took them)
  # it looks for itself, which is slower. Only bash cannot be kept from ending: there it always does.
  tagged() {
    y_= x_=
    [ -n "\${BASH_VERSION-}" ] || command eval 'x_=$(grep -l\${Z}F -e "GLOVEBOX_RUN=$1" /proc/[0-9]*/environ 2>/dev/null); x_=$x_.' 2>/dev/null
    case $x_ in *.) ;; *) tagged_by_hand "$1"; return ;; esac
    for l_ in \${x_%.}; do
      l_=\${l_#/proc/}
      y_="$y_ \${l_%/environ}"
    done
  }
  tagged_by_hand() {
    for l_ in /proc/[0-9]*; do
      while IFS= read -r v_ || [ -n "$v_" ]; do
        case $v_ in *"GLOVEBOX_RUN=$1"*) y_="$y_ \${l_#/proc/}"; break ;; esac
      done 2>/dev/null <"$l_/environ"
    done 2>/dev/null
  }
  # Sends signal $1 to group $2 (0 when it has none) and to every process that bears tag $3; says who is left.
  signal() {
    [ "$2" = 0 ] || kill "-$1" "-$2" 2>/dev/null
    tagged "$3"
    for l_ in $y_; do kill "-$1" "$l_" 2>/dev/null; done
    tagged "$3"
    [ -r /proc/self/environ ] || [ "$2" = 0 ] || ! kill -0 "-$2" 2>/dev/null || y_=$2
  }
  ks() { signal "$1" "$2" "$3"; z ok $y_; }
  # Ends all that bear tag $2 and group $1: TERM, two seconds, KILL until none is left.
  finish_off() {
    signal TERM "$1" "$2"
    n_=0
    while [ -n "$y_" ] && [ "$n_" -lt 40 ]; do
      sleep 0.1 2>/dev/null || { sleep 1; n_=$((n_ + 9)); }
      n_=$((n_ + 1))
      if [ "$n_" -lt 20 ]; then tagged "$2"; else signal KILL "$1" "$2"; fi
    done
    [ "$1" = 0 ] || kill -KILL "-$1" 2>/dev/null
  }
`;

/** How a lane ends: by our word, or, when our side has vanished, after it has cleaned up behind the connection. */
export const ENDING = `
  bye() {
    [ -z "$ud" ] || drop
    [ -z "$ref" ] || rm -f -- "$ref" "$old"
    exit 0
  }
  # Ends what commands still run and removes what the connection kept here.
  tidy() {
    finish_off 0 "$TAG"
    [ -z "$T" ] || rm -rf -- "$S" "$T/run-$CONN"-*
  }
  close_all() {
    tidy
    z ok
  }
  # Another lane of the connection that lives says that it does.
  ended() {
    [ -n "$T" ] || exit 0
    [ -z "$ud" ] || drop
    [ -z "$ref" ] || rm -f -- "$ref" "$old"
    sleep 3
    for l_ in "$T/lane-$CONN-$NS"-*; do
      [ -f "$l_" ] || continue
      x_=\${l_##*"lane-$CONN-$NS-"}
      start_of "\${x_%-*}"
      [ "$s_" != "\${x_#*-}" ] || exit 0
    done
    tidy
    exit 0
  }
  # Kills lane $1 of start $2, which does not answer, and all in its group when that is its own.
  end_lane() {
    start_of "$1"
    if [ "$s_" = "$2" ]; then
      kill -KILL "-$1" 2>/dev/null
      kill -KILL "$1" 2>/dev/null
      start_of "$1"
    fi
    [ "$s_" != "$2" ] && z ok || no alive
  }
`;
