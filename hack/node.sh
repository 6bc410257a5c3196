#!/usr/bin/env bash
# Provides what "make test-node" needs to start a Kubernetes node: containerd, runc and their network plugins, and
# PostgreSQL for its Pods. Run as root on Debian or a derivative, it installs what is missing; otherwise it prints what to
# install. The kubelet, the scheduler and kube-proxy are built into the user's cache folder once per version. Prints the
# folder of these.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=()
# Adds the package of a program that is missing.
need() {
  PATH="${PATH}:/usr/sbin:/usr/lib/cni" command -v "$1" >/dev/null || packages+=("$2")
}
need containerd containerd
need runc runc
need bridge containernetworking-plugins
need iptables iptables
need ip iproute2
compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || need postgres postgresql
[[ ${#packages[@]} == 0 ]] || hack/install-packages.sh "Tests on a node" "${packages[@]}" >&2

exec go -C hack/controlplane run ./build --node --print-dir
