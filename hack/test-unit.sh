#!/usr/bin/env bash
# Runs the tests of the packages that need no API server: domain, conversions, ports, adapters against the
# simulator and real databases, shared workers, the simulator itself, the model of the whole operator, the contract of
# statuses, generated files and docs. Arguments are passed to go test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages="$(go list ./internal/... ./test/model ./test/docs ./test/contract ./hack/... |
  grep -E '/(internal/(domain|convert|port|adapter|inventory|zone|sim)|test/(model|docs|contract)|hack/gen[a-z]+)(/|$)' |
  grep -v /internal/adapter/kube)" # which needs an API server
hack/dnsservers.sh
DATABASE_ASSETS="$(hack/databases.sh)"
export DATABASE_ASSETS
# shellcheck disable=SC2086 # one word per package
exec go test "$@" ${packages}
