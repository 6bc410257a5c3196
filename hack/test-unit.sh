#!/usr/bin/env bash
# Runs the tests of the packages that need no API server: domain, conversions, ports, adapters against the
# simulator, shared workers, and the simulator itself. Arguments go to go test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages="$(go list ./internal/... | grep -E '/internal/(domain|convert|port|adapter|inventory|zone|sim)(/|$)')"
# shellcheck disable=SC2086 # one word per package
exec go test "$@" ${packages}
