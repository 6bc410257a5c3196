#!/usr/bin/env bash
# Provides the CRDs of Istio and Gatekeeper, for tests of what a Tenant gets in clusters with them. They come from their
# Go modules, together with a program that generates the CRDs of Gatekeeper's constraints. All of it is put into the
# user's cache folder once per version. Prints the folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/thirdparty"
export CGO_ENABLED=0 GOWORK=off

# Prints the folder of a module's source.
module() { go mod download -json "$1@$(go list -m -f '{{.Version}}' "$1")" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p'; }

# Fills a folder and renames it, so that it is complete or absent.
build() {
  local target="$1" temp istio gatekeeper
  temp="$(mktemp -d "${target}.XXXXXX")"
  # shellcheck disable=SC2064 # the path as it is now
  trap "rm -rf '${temp}'" EXIT
  echo "Putting the kinds of Istio and Gatekeeper into ${target}; this takes a minute or two, and happens once per user." >&2
  istio="$(module istio.io/api)"
  cp "${istio}/kubernetes/customresourcedefinitions.gen.yaml" "${temp}/istio.yaml"
  gatekeeper="$(module github.com/open-policy-agent/gatekeeper/v3)"
  cat "${gatekeeper}"/charts/gatekeeper/crds/*.yaml >"${temp}/gatekeeper.yaml"
  # With the flags of hack/controlplane, which has already compiled most of what this needs.
  go build -trimpath -buildvcs=false -ldflags='-s -w' -o "${temp}/constraintcrd" ./constraintcrd
  chmod 755 "${temp}"
  chmod 644 "${temp}"/*.yaml
  [[ -d "${target}" ]] || mv "${temp}" "${target}" # another build may have been faster
}

cache="${XDG_CACHE_HOME:-${HOME}/.cache}"
if [[ "$(uname)" == Darwin ]]; then
  cache="${HOME}/Library/Caches"
fi
root="${cache}/cloudfront-tenant-operator/thirdparty"
version="$(cat ../thirdparty.sh go.mod go.sum constraintcrd/*.go | cksum | cut -d ' ' -f 1)"
mkdir -p "${root}"
if [[ ! -d "${root}/${version}" ]]; then
  (build "${root}/${version}")
fi
# Without the environment variable, internal/testkit/thirdparty finds it by this link.
ln -sfn "${version}" "${root}/current"
echo "${root}/${version}"
