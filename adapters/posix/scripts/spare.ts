/*
 * A shell that waits for one command. W, the transport's process, sets up everything ahead of time, so that the command
 * costs a line to read and an exec:
 *
 *   the runner  in a session of its own, with the command's environment: reads the request and becomes the command
 *   two relays  carry stdout and stderr from pipes of ours to the transport, so that a background child that keeps its
 *               ends open holds neither the transport nor dies when that is closed
 *   the guard   reads what follows on stdin: \`done\` from us, or, when our side has vanished, the end of it
 *
 * On both streams: what a login shell said, MARKER, the runner's pid, MARKER, the command's output, MARKER, how it ended,
 * MARKER. W's exit status is the command's.
 *
 * m is the marker, t the run tag. fd 3 and 4 are the ends of stdout's pipe, 5 and 6 of stderr's; through 7 the runner sets
 * off the guard; 8 takes what the runner has to tell W, and what W's shell says about a signal, which is the only way to
 * tell \`exit 137\` from a kill.
 */
export const SPARE = `
  spare() {
    m=$1 t=$2 p_=$T/run-$CONN-$$
    mkfifo -m 600 "$p_.o" "$p_.e" "$p_.g" "$p_.k" 2>/dev/null ||
      { private && mkfifo -m 600 "$p_.o" "$p_.e" "$p_.g" "$p_.k"; } || exit 125
    exec 9<>"$p_.o" 3<"$p_.o" 4>"$p_.o" 9<>"$p_.e" 5<"$p_.e" 6>"$p_.e" 7<>"$p_.g" 8<>"$p_.k" 9<&0
    rm -f -- "$p_.o" "$p_.e" "$p_.g" "$p_.k"
    trap : HUP INT TERM PIPE
    cat <&3 3<&- 4>&- 5<&- 6>&- 7>&- 8>&- 9<&- 2>/dev/null &
    r1=$!
    cat <&5 >&2 3<&- 4>&- 5<&- 6>&- 7>&- 8>&- 9<&- 2>/dev/null &
    r2=$!
    # Closed by exec: redirections of a function are undone later, and so kept open meanwhile.
    (
      exec <&9 3<&- 4>&- 5<&- 6>&- 8>&- 9<&- >/dev/null 2>&1
      guard
    ) &
    g_=$!
    exec 9<&- 2>&8
    echo "m $m" >&8
    runner
    status=$?
    report
    exec 4>&- 6>&-
    wait "$r1"
    a_=$?
    wait "$r2"
    c_=$?
    kill "$g_" 2>/dev/null
    # A relay that was told to stop left a child behind that goes on to write: to nowhere from here on.
    [ "$a_" -le 128 ] || cat <&3 3<&- 5<&- 7>&- 8>&- >/dev/null 2>&1 &
    [ "$c_" -le 128 ] || cat <&5 3<&- 5<&- 7>&- 8>&- >/dev/null 2>&1 &
    exit "$status"
  }
  # In a subshell of its own: a shell that redirects for a child may do so for itself, and say there what it has to say.
  runner() (
    exec >&4 2>&6 3<&- 4>&- 5<&- 6>&-
    exec env -i SHLVL=1 \${PATH+"PATH=$PATH"} \${HOME+"HOME=$HOME"} \${LANG+"LANG=$LANG"} \${LC_ALL+"LC_ALL=$LC_ALL"} \\
      \${LC_CTYPE+"LC_CTYPE=$LC_CTYPE"} \${LC_COLLATE+"LC_COLLATE=$LC_COLLATE"} \${LC_MESSAGES+"LC_MESSAGES=$LC_MESSAGES"} \\
      \${LC_NUMERIC+"LC_NUMERIC=$LC_NUMERIC"} \${LC_TIME+"LC_TIME=$LC_TIME"} \${LC_MONETARY+"LC_MONETARY=$LC_MONETARY"} \\
      \${TERM+"TERM=$TERM"} \${TZ+"TZ=$TZ"} \${TMPDIR+"TMPDIR=$TMPDIR"} \${USER+"USER=$USER"} \\
      \${LOGNAME+"LOGNAME=$LOGNAME"} \${SHELL+"SHELL=$SHELL"} "GLOVEBOX_RUN=$t" $SETSID $SH -c "$RUN" glovebox-run
  )
  RUN='
    IFS= read -r m <&8
    m=\${m#m }
    nl=$(printf "\\\\n.")
    nl=\${nl%.}
    printf "%s%s%s" "$m" "$$" "$m"
    printf "%s%s%s" "$m" "$$" "$m" >&2
    oom() {
      for f_ in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
        [ -r "$f_" ] || continue
        while read -r a_ c_; do [ "$a_" != oom_kill ] || o_=$c_; done <"$f_"
      done
    }
    begin() {
      o_=-
      [ -z "$1" ] || oom
      u_=- z_=-
      [ ! -r /proc/uptime ] || read -r u_ a_ </proc/uptime
      [ ! -r /proc/loadavg ] || read -r a_ a_ a_ a_ z_ </proc/loadavg
      echo "run $$ $u_ $z_ $o_" >&8
      echo "$$" >&7
      unset OLDPWD
    }
    no() { echo "no $1" >&8; exit 126; }
    IFS= read -r l && eval "$l"
  '
  # How the command ended, on both streams, behind all that it said itself.
  report() {
    echo . >&8
    c= up_=- last_=- oom_=- why_= signal_=0 now_=- y_=
    while IFS= read -r l <&8 && [ "$l" != . ]; do
      case $l in
        m\\ *) ;;
        run\\ *) set -- $l; c=$2 up_=$3 last_=$4 oom_=$5 ;;
        no\\ *) why_=\${l#no } ;;
        *) signal_=1 ;;
      esac
    done
    if [ -n "$why_" ]; then
      set -- no "$why_"
    elif [ -z "$c" ]; then
      set -- dead "$status"
    else
      case $status in 130 | 141) signal_=1 ;; esac
      [ "$status" -gt 128 ] || signal_=0
      [ "$oom_" = - ] || oom
      left
      # Some are only on their way out, or about to hand over to a child.
      [ -z "$y_" ] || { sleep 0.05 2>/dev/null || sleep 1; left; }
      set -- exit "$status" "$signal_" "$oom_" "$now_" $y_
    fi
    printf '%s%s%s' "$m" "$*" "$m" >&4
    printf '%s%s%s' "$m" "$*" "$m" >&6
  }
  oom() {
    for f_ in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
      [ -r "$f_" ] || continue
      while read -r a_ b_; do [ "$a_" != oom_kill ] || now_=$b_; done <"$f_"
    done
  }
  # y_: who still bears the tag. Only those are asked that came after the command began: mostly nobody, which costs no fork.
  # When pids may have gone round, after ten seconds or by the last one given out, everyone is asked.
  recent() {
    [ "$up_" != - ] && read -r u_ a_ </proc/uptime && [ "$((\${u_%%.*} - \${up_%%.*}))" -lt 10 ] &&
      read -r a_ a_ a_ a_ z_ </proc/loadavg && [ "$z_" -ge "$last_" ] 2>/dev/null
  }
  left() {
    h_=0
    while [ "$h_" -lt 4 ]; do
      h_=$((h_ + 1)) y_=
      set --
      if recent; then
        for f_ in /proc/[0-9]*; do
          [ "\${f_#/proc/}" -le "$last_" ] || set -- "$@" "$f_/environ"
        done
      else
        set -- /proc/[0-9]*/environ
      fi
      [ "$#" -gt 0 ] || return
      for l_ in $(grep -l\${Z}F -e "GLOVEBOX_RUN=$t" "$@" 2>/dev/null); do
        l_=\${l_#/proc/}
        y_="$y_ \${l_%/environ}"
      done
      [ -z "$y_" ] || return
      # One that went meanwhile may have left a child, which was too new to be seen.
      for f_ do
        f_=\${f_#/proc/}
        start_of "\${f_%/environ}"
        [ -n "$s_" ] || continue 2
        # One that is just becoming another program has no environment for a moment.
        v_=
        [ ! -r "/proc/$f_" ] || IFS= read -r v_ 2>/dev/null <"/proc/$f_" || [ -n "$v_" ] || continue 2
      done
      return
    done
  }
  guard() {
    read -r c <&7 || exit
    exec 7>&-
    [ -n "$SETSID" ] || c=0
    while IFS= read -r l; do
      [ "$l" != done ] || { kill "$r1" "$r2"; exit; }
    done
    trap '' TERM
    finish_off "$c" "$t"
    exit
  }
`;
