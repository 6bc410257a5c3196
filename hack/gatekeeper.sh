#!/usr/bin/env bash
# Provides Gatekeeper: its binary, built from its Go module into the user's cache folder once per version, and its
# chart, which registers its webhook with the API server. Prints the folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target="$(hack/thirdparty.sh)/gatekeeper"
if [[ ! -d "${target}" ]]; then
  temp="$(mktemp -d "${target}.XXXXXX")"
  # shellcheck disable=SC2064 # the path as it is now
  trap "rm -rf '${temp}'" EXIT
  echo "Building Gatekeeper into ${target}; this takes about five minutes and happens once per user." >&2
  cp -r "$(go -C hack/thirdparty list -m -f '{{.Dir}}' github.com/open-policy-agent/gatekeeper/v3)/charts/gatekeeper" "${temp}/chart"
  chmod -R u+w "${temp}/chart" # modules are read-only
  CGO_ENABLED=0 GOWORK=off go -C hack/thirdparty build -trimpath -buildvcs=false -ldflags='-s -w' -o "${temp}/gatekeeper" \
    github.com/open-policy-agent/gatekeeper/v3
  chmod 755 "${temp}"
  [[ -d "${target}" ]] || mv "${temp}" "${target}" # another build may have been faster
fi
echo "${target}"
