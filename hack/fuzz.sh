#!/usr/bin/env bash
# Runs every fuzz test of the given packages, one after the other, for FUZZTIME each.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}' "$@" | while read -r package dir; do
  { grep -hoE '^func Fuzz[A-Za-z0-9_]*' "${dir}"/*_test.go || true; } | sed 's/^func //' | while read -r name; do
    echo "== ${package} ${name}"
    go test -run '^$' -fuzz "^${name}\$" -fuzztime "${FUZZTIME:-20s}" "${package}" </dev/null
  done
done
