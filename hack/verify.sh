#!/usr/bin/env bash
# Generates everything, and fails if that changes a file: generated files are committed unchanged.
# Then lints. The working tree may hold uncommitted work, which is compared with itself; where CI is set
# in the environment, it has to be clean as well.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Prints the ID of a git tree with all that is in the folder now, ignored files left out. The index stays as
# it is.
snapshot() {
  local index
  index="$(mktemp)"
  cp "$(git rev-parse --git-path index)" "${index}" 2>/dev/null || rm -f "${index}"
  GIT_INDEX_FILE="${index}" git add --all
  GIT_INDEX_FILE="${index}" git write-tree
  rm -f "${index}"
}

if ! git rev-parse --is-inside-work-tree >/dev/null; then
  echo "verify compares the tree before and after generating, and needs a git checkout for it." >&2
  exit 1
fi

if [[ -n "${CI:-}" && -n "$(git status --porcelain)" ]]; then
  echo "The tree is not clean, and CI checks what is committed:" >&2
  git status --short >&2
  exit 1
fi

before="$(snapshot)"
make --no-print-directory generate
after="$(snapshot)"
if [[ "${before}" != "${after}" ]]; then
  echo "Generating changed these files; commit them as they are now (make generate writes them):" >&2
  git --no-pager diff --stat "${before}" "${after}" >&2
  exit 1
fi
echo "Everything generated is up to date."

make --no-print-directory lint
