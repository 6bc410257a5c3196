#!/usr/bin/env bash
# Tests the packages in PKG, all by default, with a control plane, databases and third-party CRDs, which are built and
# installed first where they are missing. Arguments are passed to go test. Failed tests are listed again at the end, each
# above its package.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The race detector costs several times the CPU, and only helps where goroutines share data. These tests run in one
# goroutine, or the concurrent parts have tests of their own with it: adapters, shared workers and streams. The operator
# that test/crash, test/e2e and test/tenancy run has it, too.
alone='/(api|cmd/playground|examples|hack|internal/(adapter/source/child|cli/importing|convert|domain|controller/(awsresource|distributiontenant|invalidation|tenant|tenantplan|tenantsource$)|testkit)|test)(/|$)'
# How many packages of each kind are tested at a time. Both kinds run at the same time: most packages wait a lot, for
# processes that they started and for pauses of the operator.
alone_at_once=4
raced_at_once=2
# The slowest packages, the slowest first. go test starts the packages in the order of its arguments, so none of these is
# still running alone at the end.
long=(test/crash test/sources cmd/playground test/hostile internal/controller/tenantsource test/chart test/e2e
  internal/controller/distributiontenant test/tenancy internal/adapter/source/child test/rights test/migration
  internal/adapter/dns/externaldns internal/adapter/dns/rfc2136 examples/onboarding internal/adapter/source internal/adapter/source/dynamodb internal/adapter/source/mongodb
  internal/cli)

hack/need-cc.sh
go -C hack/controlplane run ./build
KUBEBUILDER_ASSETS="$(go -C hack/controlplane run ./build --print-dir)"
export KUBEBUILDER_ASSETS
DNSSERVER_ASSETS="$(hack/dnsservers.sh)"
export DNSSERVER_ASSETS
DATABASE_ASSETS="$(hack/databases.sh)"
export DATABASE_ASSETS
THIRDPARTY_ASSETS="$(hack/thirdparty.sh)"
export THIRDPARTY_ASSETS
hack/browser.sh || true # without a browser, its test is skipped

# By default, an API server spends a quarter of its CPU time on collecting garbage, and there is memory to spare.
export GOGC="${GOGC:-300}"
# A program with the race detector waits a second before it exits, for goroutines that still run; the tests leave none.
export GORACE="atexit_sleep_ms=0${GORACE:+ ${GORACE}}"
export OPERATOR_RACE=1 # see OperatorRaces in internal/testkit/module

# The compiled code does not depend on the folder: another clone finds it in the build cache.
export GOFLAGS="-trimpath${GOFLAGS:+ ${GOFLAGS}}"

output="$(mktemp)"
trap 'rm -f "${output}"' EXIT

# The race detector needs cgo. All else is compiled without it, as the programs are, so that both share what is compiled.
export CGO_ENABLED=0

# The first argument is a list of packages, the others are flags. `make lint` vets. Without debug information, linking
# takes half as long.
test_packages() {
  local packages="$1"
  shift
  if [[ -n "${packages}" ]]; then
    # shellcheck disable=SC2086 # one word per package
    go test -vet=off -ldflags=-w -timeout 60m "$@" ${packages} | tee -a "${output}"
  fi
}

failed=0
if [[ -z "${PKG:-}" || "${PKG}" == ./... ]]; then
  # Compiled before the tests begin, which would otherwise wait for the same packages, and compile some of them twice.
  go build ./...
  CGO_ENABLED=1 go build -race ./internal/...
  go -C hack/controlplane test -vet=off ./build | tee -a "${output}" || failed=1 # a module of its own
fi

# shellcheck disable=SC2086 # one word per pattern
all="$(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ${PKG:-./...})"
first="$(for package in "${long[@]}"; do grep -E "/${package}\$" <<<"${all}" || true; done)"
all="${first}"$'\n'"$(grep -vxF "${first:-none}" <<<"${all}" || true)"
test_packages "$(grep -E "${alone}" <<<"${all}" || true)" -p "${alone_at_once}" "$@" &
CGO_ENABLED=1 test_packages "$(grep -vE "${alone}" <<<"${all}" || true)" -race -p "${raced_at_once}" "$@" || failed=1
wait $! || failed=1

if (( failed )); then
  printf '\nThese failed:\n' >&2
  grep -aE '^ *--- FAIL: |^FAIL\b.|^panic: ' "${output}" >&2 || true
  exit 1
fi
