#!/usr/bin/env bash
# Installs packages of Debian, but starts none of their services, now or with the next boot. Takes the purpose, for
# messages, and the packages. Where that is not possible it prints what to install, and fails.
set -euo pipefail

purpose="$1"
shift

if [[ "$(id -u)" != 0 ]] || ! command -v apt-get >/dev/null; then
  echo "${purpose} need programs that are missing. Install these packages of Debian, or what your system calls" >&2
  echo "them: $*" >&2
  exit 1
fi
echo "Installing $* for ${purpose,}." >&2

policy=/usr/sbin/policy-rc.d
if [[ ! -e "${policy}" ]]; then
  printf '#!/bin/sh\nexit 101\n' >"${policy}"
  chmod +x "${policy}"
  trap 'rm -f "${policy}"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >&2
apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends "$@" >&2

# Disables a service of a package that was installed.
disable() {
  if [[ " ${packages} " == *" $1 "* ]] && command -v deb-systemd-helper >/dev/null; then
    # The tool only obeys the scripts of a package.
    DPKG_MAINTSCRIPT_PACKAGE="$1" deb-systemd-helper disable "$2.service" >&2 || true
  fi
}
packages="$*"
disable postgresql postgresql
disable redis-server redis-server
disable bind9 named
disable knot knot
disable pdns-server pdns
disable containerd containerd
