#!/bin/bash
# Makes glovebox/base:SUITE from this Debian machine's own package sources, for use where no image registry is reachable.
#
#   sudo scripts/build-base.sh [PACKAGE...]
#
# PACKAGEs are put into the base, for machines whose containers cannot reach the package mirror.
# Prints the image's name; says the rest on stderr.
set -euo pipefail

fail() { echo "build-base: $*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || fail 'debootstrap needs root'
command -v apt-get >/dev/null || fail 'needs a Debian machine; elsewhere set GLOVEBOX_BASE to a Debian image that your engine has'
command -v debootstrap >/dev/null || "$(dirname "$0")/install-packages.sh" debootstrap

# What apt says it uses: one line "URI SUITE" for each of Debian's own archives, the release itself first.
archives() {
  # shellcheck disable=SC2016 # these are apt's variables
  apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 'Origin: Debian' | sort -u -k 2,2
}

# shellcheck source=/dev/null
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:?}")
mirror=$(archives | awk -v suite="$suite" '$2 == suite { print $1; exit }')
if [ -z "$mirror" ]; then
  apt-get update >&2
  mirror=$(archives | awk -v suite="$suite" '$2 == suite { print $1; exit }')
fi
[ -n "$mirror" ] || fail "apt knows no mirror for Debian $suite"

work=$(mktemp -d "${TMPDIR:-/tmp}/glovebox-base.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
include=$(IFS=,; echo "$*")
echo "build-base: debootstrap of $suite${include:+ with $include}, about a minute" >&2
debootstrap --variant=minbase ${include:+--include="$include"} "$suite" "$work/root" "$mirror" >"$work/log" 2>&1 ||
  { tail -n 20 "$work/log" >&2; fail 'debootstrap failed'; }
# Updates and security fixes come with the first apt-get update inside the image.
archives | sed 's/^/deb /; s/$/ main/' >"$work/root/etc/apt/sources.list"
# A frozen mirror's index counts as expired; what this machine accepts from it, the image must accept too.
apt-config dump | grep '^Acquire::Check-' >"$work/root/etc/apt/apt.conf.d/90mirror" || true

image="glovebox/base:$suite"
tar --create --directory "$work/root" --one-file-system \
  --exclude='./var/cache/apt/*' --exclude='./var/lib/apt/lists/*' --exclude='./var/log/*' \
  --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*' . |
  docker import --change 'CMD ["bash"]' - "$image" >/dev/null
echo "build-base: made $image" >&2
echo "$image"
