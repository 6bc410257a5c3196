#!/usr/bin/env bash
# Tests the chart's ConstraintTemplates in Gatekeeper's engine, and then the refusals of a plan's constraints on a real
# API server, with Gatekeeper's real webhook and the built operator. Arguments are passed to the second go test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

KUBEBUILDER_ASSETS="$(go -C hack/controlplane run ./build --print-dir)"
export KUBEBUILDER_ASSETS
GATEKEEPER_ASSETS="$(hack/gatekeeper.sh)"
export GATEKEEPER_ASSETS
CGO_ENABLED=0 GOWORK=off go -C hack/thirdparty test -trimpath ./...
exec go test -count=1 "$@" ./test/gatekeeper
