#!/usr/bin/env bash
# Runs go test with the race detector, and with a control plane, databases and the kinds of others to test against,
# which are built and installed first where they are missing. Arguments go to go test.
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

# `make lint` vets.
CGO_ENABLED=1 exec go test -vet=off -race -timeout 60m "$@"
