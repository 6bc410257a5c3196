#!/usr/bin/env bash
# Installs Chromium for the browser test, where no browser is there and that is possible.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

command -v chromium >/dev/null || command -v google-chrome >/dev/null || exec hack/install-packages.sh "Browser tests" chromium
