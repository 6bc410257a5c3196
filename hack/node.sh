#!/usr/bin/env bash
# Provides what "make test-node" needs to start a Kubernetes node: containerd, runc and their network plugins, and
# PostgreSQL for its Pods. Run as root on Debian or a derivative, it installs what is missing; otherwise it prints what to
# install. Where a node can't run, it says why and fails. The control plane, the kubelet, the scheduler and kube-proxy are
# built into the user's cache folder once per version. Prints the folder of the node's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ "$(uname)" != Linux ]]; then
  echo "A Kubernetes node needs Linux, and this is $(uname)." >&2
  exit 1
fi
packages=()
# Adds the package of a program that is missing.
need() {
  PATH="${PATH}:/usr/sbin" command -v "$1" >/dev/null || packages+=("$2")
}
need containerd containerd
need runc runc
need iptables iptables
need ip iproute2
[[ -x /usr/lib/cni/bridge ]] || packages+=(containernetworking-plugins) # iproute2 has a program of this name, too
compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || need postgres postgresql
[[ ${#packages[@]} == 0 ]] || hack/install-packages.sh "Tests on a node" "${packages[@]}" >&2

# Before the builds, which take minutes.
PATH="${PATH}:/usr/sbin" go test -count=1 -run '^TestPossible$' ./test/node -args -node >&2
exec go -C hack/controlplane run ./build --node --print-dir
