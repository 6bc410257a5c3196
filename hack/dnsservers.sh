#!/usr/bin/env bash
# Provides the DNS server that tests of DNS providers need, BIND 9. Run as root on Debian or a derivative, it installs it
# where it is missing; otherwise it prints what to install.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

PATH="${PATH}:/usr/sbin" command -v named >/dev/null || hack/install-packages.sh "Tests of DNS providers" bind9
