#!/usr/bin/env bash
# Runs the tests of the packages that need no API server: domain, conversions, ports, adapters against the
# simulator and real databases, shared workers, the simulator itself, the model of the whole operator, the contract of
# statuses, generated files and docs. Arguments are passed to go test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages="$(go list ./internal/... ./test/model ./test/docs ./test/contract ./hack/... |
  grep -E '/(internal/(domain|convert|port|adapter|inventory|zone|sim)|test/(model|docs|contract)|hack/gen[a-z]+)(/|$)' |
  grep -vE '/internal/adapter/(dns/externaldns|kube)(/|$)')" # which need an API server
DNSSERVER_ASSETS="$(hack/dnsservers.sh)"
export DNSSERVER_ASSETS
DATABASE_ASSETS="$(hack/databases.sh)"
export DATABASE_ASSETS
# shellcheck disable=SC2086 # one word per package
exec go test "$@" ${packages}
