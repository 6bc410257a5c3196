#!/usr/bin/env bash
# Provides the servers that tests of DNS providers need: BIND 9, Knot DNS and PowerDNS, and ExternalDNS with its CRD. Run
# as root on Debian or a derivative, it installs the servers that are missing; otherwise it prints what to install. ExternalDNS comes from its Go
# module, and is built into the user's cache folder once per version. Prints the folder of the programs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Fills a folder and renames it, so that it is complete or absent.
build() {
  local target="$1" temp module
  temp="$(mktemp -d "${target}.XXXXXX")"
  # shellcheck disable=SC2064 # the path as it is now
  trap "rm -rf '${temp}'" EXIT
  echo "Building ExternalDNS into ${target}; this takes about three minutes and happens once per user." >&2
  export CGO_ENABLED=0 GOWORK=off
  go -C hack/externaldns build -trimpath -buildvcs=false -ldflags='-s -w' -o "${temp}/externaldns" .
  module="$(go -C hack/externaldns list -m -f '{{.Dir}}' sigs.k8s.io/external-dns)"
  cp "${module}/config/crd/standard/dnsendpoints.externaldns.k8s.io.yaml" "${temp}/dnsendpoint.yaml"
  chmod 755 "${temp}"
  chmod 644 "${temp}"/*.yaml
  [[ -d "${target}" ]] || mv "${temp}" "${target}" # another build may have been faster
}

packages=()
# Adds packages where a program of theirs is missing.
need() {
  PATH="${PATH}:/usr/sbin" command -v "$1" >/dev/null || packages+=("${@:2}")
}
need named bind9
need knotd knot
need pdns_server pdns-server pdns-backend-sqlite3
need sqlite3 sqlite3
[[ ${#packages[@]} == 0 ]] || hack/install-packages.sh "Tests of DNS providers" "${packages[@]}" >&2

cache="${XDG_CACHE_HOME:-${HOME}/.cache}"
if [[ "$(uname)" == Darwin ]]; then
  cache="${HOME}/Library/Caches"
fi
root="${cache}/cloudfront-tenant-operator/dnsservers"
version="$(cat hack/dnsservers.sh hack/externaldns/{main.go,go.mod,go.sum} | cksum | cut -d ' ' -f 1)"
mkdir -p "${root}"
if [[ ! -d "${root}/${version}" ]]; then
  (build "${root}/${version}")
fi
# Without the environment variable, internal/testkit/externaldns finds it by this link.
ln -sfn "${version}" "${root}/current"
echo "${root}/${version}"
