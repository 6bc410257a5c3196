#!/usr/bin/env bash
# Renders the chart with its defaults, for installations without Helm.
#
#   hack/install-manifests.sh                        config/install/operator.yaml, for config/kustomization.yaml
#   hack/install-manifests.sh VERSION IMAGE FOLDER   install.yaml, crds.yaml and crds-tenancy.yaml of a release
#
# IMAGE is a repository with a tag or a digest. Helm's own labels and annotations are left out, because Helm does not
# manage these objects.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

namespace=cloudfront-tenant-operator
bin="${KUBEBUILDER_ASSETS:-$(go -C hack/controlplane run ./build --print-dir)}"
temp="$(mktemp -d)"
trap 'rm -rf "${temp}"' EXIT
cp -r charts/cloudfront-tenant-operator "${temp}/chart"

# Prints the objects of the chart. Arguments go to helm.
render() {
  HELM_CACHE_HOME="${temp}" HELM_CONFIG_HOME="${temp}" HELM_DATA_HOME="${temp}" \
    "${bin}/helm" template cloudfront-tenant-operator "${temp}/chart" --namespace "${namespace}" --skip-tests "$@" |
    sed -E '/^# Source: /d; /^ +helm\.sh\/(chart|resource-policy): /d; /^ +app\.kubernetes\.io\/managed-by: Helm$/d'
}

operator() {
  cat <<YAML
# Written by \`make generate\` from the chart. Do not edit.
apiVersion: v1
kind: Namespace
metadata:
  name: ${namespace}
  labels:
    app.kubernetes.io/name: cloudfront-tenant-operator
    app.kubernetes.io/instance: cloudfront-tenant-operator
    pod-security.kubernetes.io/enforce: restricted
YAML
  render --set crds.install=false "$@"
}

if (( $# == 0 )); then
  operator >"${temp}/operator.yaml" # so that a failure leaves the file as it is
  mkdir -p config/install
  cp "${temp}/operator.yaml" config/install/operator.yaml
  exit
fi
if (( $# != 3 )) || [[ -z "$1" ]]; then
  echo "Usage: hack/install-manifests.sh [VERSION IMAGE FOLDER]" >&2
  exit 2
fi

version="$1" image="$2" folder="$3"
case "${image}" in
  *@sha256:*) reference=(--set "image.repository=${image%@*}" --set "image.digest=${image##*@}") ;;
  *:*) reference=(--set "image.repository=${image%:*}" --set "image.tag=${image##*:}") ;;
  *)
    echo "IMAGE is ${image}; give it a tag or a digest." >&2
    exit 2
    ;;
esac
sed -E "s/^(version|appVersion): .*/\1: \"${version}\"/" charts/cloudfront-tenant-operator/Chart.yaml \
  >"${temp}/chart/Chart.yaml"
operator "${reference[@]}" >"${temp}/operator.yaml"
mkdir -p "${folder}"
cat config/crd/cloudfront-tenant-operator.io_*.yaml >"${folder}/crds.yaml"
cat config/crd/kleff.kleff.io_*.yaml >"${folder}/crds-tenancy.yaml"
{
  cat "${folder}/crds.yaml"
  echo ---
  cat "${temp}/operator.yaml"
} >"${folder}/install.yaml"
