/*
 * The lock of a file, as every Glovebox process of this account takes it on this machine: a symlink in T, named after the
 * canonical path, that says who holds it: O, `bootid:pidns:pid:starttime`. It is broken only when that process is provably
 * dead, under the lock of the lock.
 */
export const LOCK = `
  # k: the name of the lock of the file $1.
  name_lock() {
    k= l_=$1
    while case $l_ in *%*) ;; *) false ;; esac; do k=$k\${l_%%%*}%25 l_=\${l_#*%}; done
    l_=$k$l_ k=lock-
    while case $l_ in */*) ;; *) false ;; esac; do k=$k\${l_%%/*}%2F l_=\${l_#*/}; done
    k=$k$l_
    [ "\${#k}" -le 200 ] || { s_=$(printf %s "$1" | $SHA); pick; k=lock-sha256-$s_; }
  }
  # s_: the digest alone of what a hashing program printed.
  pick() { s_=\${s_##*= } s_=\${s_%% *}; }
  # Takes lock $1; e says why not: \`locked\` when a living process holds it for longer than $2 polls.
  take() {
    set -- "$1" "$2" 0
    until e=$(ln -s "$O" "$T/$1" 2>&1); do
      case $e in
        *xist*) ;;
        *)
          { [ ! -d "$T" ] && private && set -- "$1" "$2" $(($3 + 1)) && [ "$3" -lt 3 ]; } || return 1
          continue
          ;;
      esac
      set -- "$1" "$2" "$3" "$(readlink -n -- "$T/$1")"
      if dead "$4"; then
        take "$1.break" "$2" || return 1
        if [ "$(readlink -n -- "$T/$1")" = "$4" ]; then
          leavings "$4"
          rm -f -- "$T/$1"
        fi
        rm -f -- "$T/$1.break"
        continue
      fi
      set -- "$1" "$2" $(($3 + 1))
      [ "$3" -le "$2" ] || { e=locked; return 1; }
      nap "$3"
    done
  }
  # A few milliseconds at first, 50 later.
  nap() {
    case $1 in
      1 | 2) sleep 0.004 ;;
      3 | 4) sleep 0.015 ;;
      *) sleep 0.05 ;;
    esac 2>/dev/null || sleep 1
  }
  # Whether the process that $1 names is provably dead.
  dead() {
    case $1 in *[!0-9a-zA-Z.:_-]*) return 1 ;; esac
    IFS=:
    set -- $1
    unset IFS
    [ "$#" = 4 ] || return 1
    case $2$3$4 in *[!0-9]*) return 1 ;; esac
    [ "$1" = "$BOOT" ] || return 0
    [ "$2" = "$NS" ] || return 1
    if [ "$ST" = 0 ]; then
      ! kill -0 "$3" 2>/dev/null
    else
      start_of "$3"
      [ "$s_" != "$4" ]
    fi
  }
  # What the holder that $1 names left in this directory, half written.
  leavings() {
    IFS=:
    set -- $1
    unset IFS
    set -- ./.glovebox-tmp-"$3-$4"-*
    [ ! -f "$1" ] || rm -f -- "$@"
  }
  # Makes T where it is missing; false when it is not ours alone.
  private() {
    [ -n "$T" ] || return 1
    mkdir -m 700 -- "$T" 2>/dev/null
    [ -d "$T" ] && [ ! -h "$T" ] && [ -O "$T" ] || return 1
    case $(ls -ld -- "$T") in d???--[-S]--[-T]*) ;; *) return 1 ;; esac
  }
`;

/** Breaks what dead processes still hold, at most \`$1\` locks, and answers with how many files that freed. */
export const SWEEP = `
  sweep() {
    swept=0 c_=0
    for k_ in "$T"/lock-*; do
      [ -h "$k_" ] && [ "$c_" -lt "$1" ] || continue
      c_=$((c_ + 1)) w_=$(readlink -n -- "$k_")
      dead "$w_" || continue
      clear_lock "\${k_##*/}" "$w_"
    done
    # Only of those that are seen from here: others share this directory, but not our processes.
    [ "$ST" != 0 ] || { z ok "$swept"; return; }
    for k_ in "$T"/lane-*-"$NS"-*; do
      [ "$c_" -lt "$1" ] || break
      x_=\${k_##*"-$NS-"}
      x_=\${x_%.old}
      start_of "\${x_%-*}"
      [ "$s_" = "\${x_#*-}" ] || { c_=$((c_ + 1)); rm -f -- "$k_"; }
    done
    z ok "$swept"
  }
  # In a shell of its own, since it waits and walks. A lock's name says where its file is, unless it is a hash.
  clear_lock() {
    x_=$1
    case $x_ in
      lock-%2F*.break | lock-sha256-*) p= ;;
      lock-%2F*)
        p= x_=\${x_#lock-}
        while case $x_ in *%2F*) ;; *) false ;; esac; do p=$p\${x_%%%2F*}/ x_=\${x_#*%2F}; done
        l_=$p$x_ p=
        while case $l_ in *%25*) ;; *) false ;; esac; do p=$p\${l_%%%25*}% l_=\${l_#*%25}; done
        p=$p$l_
        ;;
      *) p= ;;
    esac
    cd -P -- "\${p%/*}/" 2>/dev/null || cd /
    take "$1.break" 1 || return 0
    if [ "$(readlink -n -- "$T/$1")" = "$2" ]; then
      [ -z "$p" ] || leavings "$2"
      rm -f -- "$T/$1"
      swept=$((swept + 1))
    fi
    rm -f -- "$T/$1.break"
  }
`;
