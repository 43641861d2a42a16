#!/bin/bash
# Installs the Debian packages that are named and missing; does nothing, fast, when none is.
# No service is started or enabled by it: the tests run daemons of their own, on loopback.
#
#   scripts/install-packages.sh PACKAGE...
set -euo pipefail

fail() { echo "install-packages: $*" >&2; exit 1; }

missing=()
for package in "$@"; do
  status=$(dpkg-query --show --showformat '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ "${#missing[@]}" -gt 0 ] || exit 0

command -v apt-get >/dev/null || fail "needs ${missing[*]}, and this is not a Debian machine: install them your way"
[ "$(id -u)" = 0 ] || fail "needs ${missing[*]}: run apt-get install ${missing[*]} as root"

# Two test runs may start at once; dpkg's own lock would fail the second one.
exec 9>/run/lock/glovebox-install-packages
flock 9

# Debian's switch for "install, but start nothing".
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
  trap 'rm -f "$policy"' EXIT
fi

echo "install-packages: apt-get install ${missing[*]}" >&2
install() {
  DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}"
}
log=$(mktemp)
# The package lists of a fresh image are absent or old, so a first failure is answered by an update.
install >"$log" 2>&1 || { apt-get update && install; } >"$log" 2>&1 || {
  tail -n 20 "$log" >&2
  fail "apt-get could not install ${missing[*]}; log: $log"
}
rm -f "$log"

if [ -d /run/systemd/system ]; then
  for package in "${missing[@]}"; do
    case "$package" in
      openssh-server) systemctl disable --quiet ssh.service ssh.socket 2>/dev/null || true ;;
      docker.io) systemctl disable --quiet docker.service docker.socket containerd.service 2>/dev/null || true ;;
    esac
  done
fi
