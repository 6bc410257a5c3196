#!/usr/bin/env bash
# Runs go test with the race detector and with a control plane to test against, which is built first where it
# is missing. Arguments go to go test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

hack/need-cc.sh
go -C hack/controlplane run ./build
KUBEBUILDER_ASSETS="$(go -C hack/controlplane run ./build --print-dir)"
export KUBEBUILDER_ASSETS

CGO_ENABLED=1 exec go test -race -timeout 30m "$@"
