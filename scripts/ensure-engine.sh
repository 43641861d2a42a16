#!/bin/bash
# Makes sure that a Docker engine answers, and prints its DOCKER_HOST.
#
#   scripts/ensure-engine.sh                an engine that answers is used as it is; else, on Debian as root, one is
#                                           started, and stays until --stop
#   scripts/ensure-engine.sh --for PID      the same, but one that is started stays only as long as it is wanted:
#   scripts/ensure-engine.sh --release PID  stops it once no living PID is left that asked for it
#   scripts/ensure-engine.sh --stop         stops the engine it started, whoever uses it; images are kept
#   scripts/ensure-engine.sh --purge        the same, and deletes its images
#
# An engine that it started listens on a socket of its own, or on GLOVEBOX_ENGINE_SOCKET.
set -euo pipefail

run=/run/glovebox-engine
data=/var/lib/glovebox-engine/data
socket=${GLOVEBOX_ENGINE_SOCKET:-$run/docker.sock}
bridge=glovebox0

say() { echo "ensure-engine: $*" >&2; }
fail() { say "$* (to run without an engine: TARGETS=memory,local npm test)"; exit 1; }

answers() {
  local patience=
  if command -v timeout >/dev/null; then patience='timeout 20'; fi
  DOCKER_HOST=$1 $patience docker version --format '{{.Server.Version}}' >/dev/null 2>&1
}

# The pid in a file, if that process still runs the program. (A zombie keeps its name, but has no program.)
living() {
  local pid
  pid=$(cat "$1" 2>/dev/null) || return 1
  [[ "$(readlink "/proc/$pid/exe")" = */"$2" ]] && echo "$pid"
}

own_pid() { living "$run/dockerd.pid" dockerd; }

own_host() { own_pid >/dev/null && cat "$run/host"; }

remove() {
  awk -v prefix="$1/" 'index($2 "/", prefix) == 1 { print $2 }' /proc/self/mounts | sort -r |
    xargs -r umount -l 2>/dev/null || true
  rm -rf --one-file-system "$1"
}

# An engine leaves namespace files mounted; one that was killed leaves its containerd and pid files, and until somebody
# reaps it, the next dockerd takes it for alive.
clear_leftovers() {
  local pid
  if pid=$(living "$run/exec/containerd/containerd.pid" containerd); then kill -KILL "$pid"; fi
  remove "$run/exec"
  rm -f "$run/dockerd.pid"
}

stop() {
  local pid
  if pid=$(own_pid); then
    say "stopping the engine with pid $pid"
    kill -TERM "$pid"
    for _ in $(seq 300); do
      [ -d "/proc/$pid" ] || break
      sleep 0.1
    done
    [ ! -d "/proc/$pid" ] || { say 'it did not stop in 30 s: killing it'; kill -KILL "$pid"; }
    if [ -e "$run/own-bridge" ]; then ip link delete "$bridge" 2>/dev/null || true; fi
  else
    say 'no engine of its own is running'
  fi
  clear_leftovers
  remove "$run"
}

# A second engine in one network namespace needs a bridge of its own: two on docker0 break each other, and one with
# --bridge=none would delete it.
network_arguments() {
  pgrep -x dockerd >/dev/null || return 0
  ip link show "$bridge" >/dev/null 2>&1 || ip link add "$bridge" type bridge
  touch "$run/own-bridge"
  printf '%s\n' --bridge "$bridge" --iptables=false
}

start() {
  local pid arguments
  mkdir -p "$run/users" "$data"
  clear_leftovers
  mapfile -t arguments < <(network_arguments)
  setsid nohup dockerd --data-root "$data" --exec-root "$run/exec" --pidfile "$run/dockerd.pid" \
    --host "unix://$socket" "${arguments[@]}" >"$run/log" 2>&1 </dev/null 9>&- &
  pid=$!
  echo "unix://$socket" >"$run/host"
  for _ in $(seq 300); do
    if answers "unix://$socket"; then
      say "started an engine: pid $pid, socket $socket, data in $data, log $run/log"
      return 0
    fi
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  tail -n 15 "$run/log" >&2
  kill -KILL "$pid" 2>/dev/null || true
  fail 'dockerd did not come up'
}

ensure() {
  local host=${DOCKER_HOST:-}
  if [ -n "$host" ]; then
    command -v docker >/dev/null || fail "DOCKER_HOST is set, but there is no docker command"
    answers "$host" || fail "no engine answers at DOCKER_HOST=$host"
  elif command -v docker >/dev/null && answers ''; then
    host=$(docker context inspect --format '{{.Endpoints.docker.Host}}' 2>/dev/null || echo unix:///var/run/docker.sock)
  else
    if ! host=$(own_host); then
      if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
        fail 'no Docker engine answers, and only on Debian as root can one be started here: start Docker or set DOCKER_HOST'
      fi
      "$(dirname "$0")/install-packages.sh" docker.io iproute2 iptables procps || fail 'docker.io could not be installed'
      start
      host=$(own_host)
    fi
    answers "$host" || fail "the engine that was started does not answer: see $run/log, or use --stop"
  fi
  echo "$host"
}

release() {
  rm -f "$run/users/$1"
  if [ -e "$run/kept" ] || ! own_pid >/dev/null; then return 0; fi
  local user
  for user in "$run/users"/*; do
    [ ! -d "/proc/${user##*/}" ] || return 0
  done
  stop
}

# Runs that start at the same moment agree on one engine.
if [ -w /run/lock ]; then
  exec 9>"/run/lock/glovebox-engine-$(id -u)"
  flock 9
fi

case "${1:-}" in
  '')
    ensure
    if own_pid >/dev/null; then touch "$run/kept"; fi ;;
  --for)
    ensure
    if own_pid >/dev/null; then touch "$run/users/${2:?--for needs a pid}"; fi ;;
  --release) release "${2:?--release needs a pid}" ;;
  --stop) stop ;;
  --purge) stop; remove "$data" ;;
  *) sed -n '2,12p' "$0" >&2; exit 2 ;;
esac
