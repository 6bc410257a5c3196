#!/usr/bin/env bash
# Builds kubectl cfdt for each system into a folder, as archives, with the manifest that krew installs it from. The
# version is without its v:
#
#   hack/plugin-files.sh 1.2.3 dist
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if (( $# != 2 )); then
  echo "Usage: hack/plugin-files.sh VERSION FOLDER" >&2
  exit 2
fi
version="$1"
mkdir -p "$2"
folder="$(cd "$2" && pwd)"
home=https://github.com/cloudfront-tenant-operator/cloudfront-tenant-operator
work="$(mktemp -d)"
trap 'rm -rf "${work}"' EXIT

manifest="${folder}/cfdt.yaml"
cat >"${manifest}" <<YAML
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: cfdt
spec:
  version: v${version}
  homepage: ${home}
  shortDescription: See, explain and import CloudFront tenants
  description: |
    Shows a fleet of CloudFront distribution tenants on one screen, explains why a tenant is not ready, compares AWS with
    manifests, and turns an existing fleet into manifests. It belongs to the cloudfront-tenant-operator.
  platforms:
YAML

for platform in ${PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64}; do
  os="${platform%/*}" arch="${platform#*/}" binary=kubectl-cfdt
  if [[ "${os}" == windows ]]; then
    binary+=.exe
  fi
  CGO_ENABLED=0 GOOS="${os}" GOARCH="${arch}" go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=${version}" \
    -o "${work}/${binary}" ./cmd/kubectl-cfdt
  archive="kubectl-cfdt_${version}_${os}_${arch}.tar.gz"
  cp LICENSE "${work}/LICENSE"
  # The same sources make the same archive.
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 --mode=u=rwX,go=rX \
    -C "${work}" -cf - LICENSE "${binary}" | gzip -9n >"${folder}/${archive}"
  rm "${work}/${binary}"
  sum="$(sha256sum "${folder}/${archive}")"
  cat >>"${manifest}" <<YAML
    - selector:
        matchLabels:
          os: ${os}
          arch: ${arch}
      uri: ${home}/releases/download/v${version}/${archive}
      sha256: ${sum%% *}
      bin: ${binary}
YAML
done
