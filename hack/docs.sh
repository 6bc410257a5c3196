#!/usr/bin/env bash
# Writes the generated reference pages under docs/reference, and that of the chart next to it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work="$(mktemp -d)"
trap 'rm -rf "${work}"' EXIT
mkdir -p docs/reference
go tool -modfile=go.tools.mod crd-ref-docs --log-level=ERROR --source-path=api --config=hack/api-docs.yaml --max-depth=20 \
  --renderer=markdown --output-path="${work}/api.md"
go run ./hack/apidocs "${work}/api.md" docs/reference
go run ./hack/gendocs
go run ./hack/geniam
go tool -modfile=go.tools.mod helm-docs --chart-search-root=charts --sort-values-order=file --log-level=warning
