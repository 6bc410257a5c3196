#!/usr/bin/env bash
# Runs go test with the race detector, and with a control plane, databases and the kinds of others to test against,
# which are built and installed first where they are missing. Arguments go to go test. Tests that failed are listed
# once more at the end, each above its package.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

hack/need-cc.sh
go -C hack/controlplane run ./build
KUBEBUILDER_ASSETS="$(go -C hack/controlplane run ./build --print-dir)"
export KUBEBUILDER_ASSETS
DATABASE_ASSETS="$(hack/databases.sh)"
export DATABASE_ASSETS
THIRDPARTY_ASSETS="$(hack/thirdparty.sh)"
export THIRDPARTY_ASSETS

# A program with the race detector waits a second before it ends, for goroutines that still run; the tests leave none.
export GORACE="atexit_sleep_ms=0${GORACE:+ ${GORACE}}"

output="$(mktemp)"
trap 'rm -f "${output}"' EXIT
# `make lint` vets.
if ! CGO_ENABLED=1 go test -vet=off -race -timeout 60m "$@" | tee "${output}"; then
  printf '\nThese failed:\n' >&2
  grep -E '^ *--- FAIL: |^FAIL\b.|^panic: ' "${output}" >&2
  exit 1
fi
