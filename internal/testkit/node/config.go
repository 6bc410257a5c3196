//go:build linux

package node

// The configuration is for machines with version 1 and 2 of cgroups, with and without AppArmor, and for processes that
// may not raise limits.
const (
	containerdConfig = `version = 2
root = %q
state = "/run/containerd"
oom_score = 0

[grpc]
address = %q

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = %q
restrict_oom_score_adj = true
disable_apparmor = true

[plugins."io.containerd.internal.v1.opt"]
path = %q

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = %q
conf_dir = %q

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
SystemdCgroup = false
`

	cniConfig = `{
  "cniVersion": "1.0.0",
  "name": "pods",
  "plugins": [
    {
      "type": "bridge",
      "bridge": %q,
      "isGateway": true,
      "hairpinMode": true,
      "ipam": {
        "type": "host-local",
        "ranges": [[{"subnet": %q, "rangeStart": %q}]],
        "routes": [{"dst": "0.0.0.0/0"}]
      }
    }
  ]
}
`

	kubeletConfig = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: false}
  x509: {clientCAFile: %q}
authorization: {mode: AlwaysAllow}
cgroupDriver: cgroupfs
cgroupRoot: /%s
clusterDNS: [%s]
clusterDomain: cluster.local
resolvConf: %q
volumePluginDir: %q
containerRuntimeEndpoint: unix://%s
failCgroupV1: false
failSwapOn: false
oomScoreAdj: 0
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: "0%%", nodefs.available: "0%%", imagefs.available: "0%%"}
`
)
