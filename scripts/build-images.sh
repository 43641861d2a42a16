#!/bin/bash
# Builds glovebox/sandbox, glovebox/sshd and glovebox/busybox, or the ones named. Does nothing, fast, for an
# image that carries the hash of its sources already.
#
#   scripts/build-images.sh [sandbox|sshd|busybox]...
#
# The base is GLOVEBOX_BASE, or debian:bookworm-slim if the engine has it or can pull it, or else a base made here
# from the machine's own package sources (build-base.sh).
set -euo pipefail
cd "$(dirname "$0")/../images"

public_base=debian:bookworm-slim
label=dev.glovebox.sources
names=("$@")
[ "${#names[@]}" -gt 0 ] || names=(busybox sandbox sshd)

fail() { echo "build-images: $*" >&2; exit 1; }

# GNU's and BSD's tools both: a Mac with Docker builds the same images.
digest() { if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -d ' ' -f 1; }

sources_hash() {
  find "$1" -type f | LC_ALL=C sort | while read -r file; do
    # A script that lost its x bit makes another image.
    [ ! -x "$file" ] || echo executable
    echo "$file"
    cat "$file"
  done | { cat; echo "${GLOVEBOX_BASE:-}"; } | digest
}

has_image() { docker image inspect "$1" >/dev/null 2>&1; }

local_base() { docker image ls --format '{{.Repository}}:{{.Tag}}' glovebox/base | head -n 1; }

choose_base() {
  if [ -n "${GLOVEBOX_BASE:-}" ]; then echo "$GLOVEBOX_BASE"
  elif has_image "$public_base"; then echo "$public_base"
  elif [ -n "$(local_base)" ]; then local_base
  elif docker pull --quiet "$public_base" >/dev/null 2>&1; then echo "$public_base"
  else
    echo "build-images: $public_base cannot be pulled" >&2
    ../scripts/build-base.sh
  fi
}

packages() { sed -n 's/^ARG PACKAGES="\(.*\)"$/\1/p' "$@"; }

# Host network, because the names of a package mirror may resolve on the host only.
# The proxy arguments are taken from the environment, where set, and leave no trace in the image.
build() {
  local log
  log=$(mktemp)
  docker build --network host --build-arg http_proxy --build-arg https_proxy \
    --build-arg "BASE=$2" --label "$label=$(sources_hash "$1")" --tag "glovebox/$1" "$1" >"$log" 2>&1 ||
    { tail -n 20 "$log" >&2; rm -f "$log"; return 1; }
  rm -f "$log"
}

docker version >/dev/null 2>&1 || fail 'no Docker engine answers; scripts/ensure-engine.sh starts one'
# A command line without the buildx plugin can only ask for the engine's own builder.
docker buildx version >/dev/null 2>&1 || export DOCKER_BUILDKIT=0

# Runs that start at the same moment build once.
if [ -w /run/lock ]; then
  exec 9>"/run/lock/glovebox-images-$(id -u)"
  flock 9
fi

base=
for name in "${names[@]}"; do
  [ -f "$name/Dockerfile" ] || fail "there is no images/$name"
  present=$(docker image inspect --format "{{index .Config.Labels \"$label\"}}" "glovebox/$name" 2>/dev/null || true)
  [ "$present" != "$(sources_hash "$name")" ] || continue
  [ -n "$base" ] || base=$(choose_base)
  echo "build-images: glovebox/$name from $base" >&2
  if ! build "$name" "$base"; then
    case "$base" in glovebox/base:*) ;; *) fail "glovebox/$name could not be built" ;; esac
    echo 'build-images: trying again with the packages in the base' >&2
    # shellcheck disable=SC2046 # the package names are separate words
    base=$(../scripts/build-base.sh $(packages ./*/Dockerfile | tr ' ' '\n' | sort -u))
    build "$name" "$base" || fail "glovebox/$name could not be built"
  fi
done

# What a rebuild replaced is dangling now, and only ours bears the label.
[ -z "$base" ] || docker image prune --force --filter "label=$label" >/dev/null
