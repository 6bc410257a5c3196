#!/usr/bin/env bash
# Builds the files of a release into dist/: the operator and kubectl cfdt for each system, the manifests for an
# installation without Helm, and the checksums of all of them. The version is without its v, and the image is what the manifests run:
#
#   hack/release-files.sh 1.2.3 ghcr.io/cloudfront-tenant-operator/cloudfront-tenant-operator:1.2.3
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if (( $# != 2 )); then
  echo "Usage: hack/release-files.sh VERSION IMAGE" >&2
  exit 2
fi
version="$1" image="$2"
package=github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator

rm -rf dist
mkdir dist
for platform in ${PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64}; do
  # With the flags of the Dockerfile, so that the binary in the image can be compared with the one for Linux.
  CGO_ENABLED=0 GOOS="${platform%/*}" GOARCH="${platform#*/}" go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X ${package}.Version=${version}" \
    -o "dist/cloudfront-tenant-operator_${version}_${platform/\//_}" ./cmd/operator
done
hack/plugin-files.sh "${version}" dist
make --no-print-directory install-manifests VERSION="${version}" IMAGE="${image}"
for file in install.yaml crds.yaml crds-tenancy.yaml; do
  if [[ ! -s "dist/${file}" ]]; then
    echo "make install-manifests wrote no dist/${file}" >&2
    exit 1
  fi
done
cd dist
sums="$(sha256sum -- *)"
echo "${sums}" >checksums.txt
