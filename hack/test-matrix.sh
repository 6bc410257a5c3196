#!/usr/bin/env bash
# Runs the tests that depend on the API server with every Kubernetes release that the chart supports: CRDs with their
# validation rules, the chart with its policies, a fleet of the built operator, and customers' namespaces. The first run
# builds the API servers, about 3 minutes each on 2 idle cores. RELEASES selects some of them. The results are printed, and
# written to the rows of the page with the date. Arguments are passed to go test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

page=docs/reference/kubernetes-versions.md
all="v1.30.14 v1.31.4 v1.32.6 v1.33.13 v1.34.4 v1.35.4 v1.36.3"
# The release that everything else is tested with comes last.
all+=" $(sed -n 's|^\tk8s.io/kubernetes ||p' hack/controlplane/go.mod)"
releases="${RELEASES:-${all}}"

# Each column of the table: its title, its packages and its tests.
columns=(
  "CRDs and their validation|./api/...|."
  "Chart, policies, Helm upgrade and uninstall|./test/chart|^(TestReleaseLife|TestTenancyLife|TestEveryRenderingApplies|TestAPodThatMayDoMoreIsNotAdmitted)$"
  "Rights of people, and the operator's own|./test/policies|."
  "Operator: tenants, certificates, DNS, tables|./test/e2e|^(TestSamples|TestFleet|TestFleetWithCertificatesAndDNS|TestATenantBeforeItsParents|TestLeaderElection|TestSecureMetrics|TestTableOfCustomers)$"
  "Deletion guard on namespaces|./test/rights|^(TestADeletedNamespaceAsksTheGuard|TestPeopleMayDeleteTenantsOfSources)$"
  "Customers' namespaces|./test/tenancy|."
)

DATABASE_ASSETS="$(hack/databases.sh)"
export DATABASE_ASSETS
THIRDPARTY_ASSETS="$(hack/thirdparty.sh)"
export THIRDPARTY_ASSETS

# One row of the page for each release, with the date of its last test.
header="| Kubernetes |$(printf ' %s |' "${columns[@]%%|*}") Tested |"
grep -qxF "${header}" "${page}" || { echo "${page} has other columns: its header has to be ${header}" >&2; exit 1; }

failed=0
for release in ${releases}; do
  KUBEBUILDER_ASSETS="$(go -C hack/controlplane run ./build --print-dir --kubernetes "${release}")"
  export KUBEBUILDER_ASSETS
  row="| ${release#v} |"
  grep -qF "${row}" "${page}" || { echo "${page} has no row for ${release}" >&2; exit 1; }
  for column in "${columns[@]}"; do
    IFS="|" read -r title packages tests <<<"${column}" # the tests may hold a | themselves
    printf '\n=== Kubernetes %s: %s\n' "${release}" "${title}"
    result=passes
    go test -vet=off -count=1 -timeout 60m -run "${tests}" "$@" "${packages}" || { result='**fails**' failed=1; }
    row+=" ${result} |"
  done
  row+=" $(date -u '+%-d %B %Y') |"
  printf '\n%s\n%s\n' "${header}" "${row}"
  sed -i "s~^| ${release#v} |.*~${row}~" "${page}"
done
exit "${failed}"
