#!/usr/bin/env bash
# Provides a C compiler, which Go's race detector needs. Run as root on Debian or a derivative, it installs one;
# otherwise it prints what to install.
set -euo pipefail

compiles() {
  local cc
  cc="$(go env CC)"
  echo '#include <stdlib.h>
int main(void) { return 0; }' | "${cc}" -x c -o /dev/null - 2>/dev/null
}

compiles && exit 0

if [[ "$(id -u)" == 0 ]] && command -v apt-get >/dev/null; then
  echo "No working C compiler; installing gcc for the race detector." >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2
  apt-get install -y -qq --no-install-recommends gcc libc6-dev >&2
  compiles && exit 0
fi

echo "The race detector needs a C compiler and its headers, and \"$(go env CC)\" does not compile." >&2
echo "Install gcc and libc6-dev (Debian, Ubuntu), gcc and glibc-devel (Fedora), or the Xcode command line tools (macOS)." >&2
exit 1
