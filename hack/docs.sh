#!/usr/bin/env bash
# Writes the generated reference pages under docs/reference.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mkdir -p docs/reference
go tool -modfile=go.tools.mod crd-ref-docs --log-level=ERROR --source-path=api --config=hack/api-docs.yaml \
  --renderer=markdown --output-path=docs/reference/api.md
go run ./hack/gendocs
go run ./hack/geniam
