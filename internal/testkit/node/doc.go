// Package node runs a Kubernetes node with a control plane on this machine: containerd, kubelet, scheduler and kube-proxy
// in namespaces of their own for mounts, network and processes, so that Pods run as they do at a user's.
//
// A test binary plays three parts, by the environment variable roleVariable. The first process, which has none, calls Run
// and stays outside. It starts the binary again as the first process inside the namespaces; whatever happens to the
// one outside, the kernel ends that one and everything in its namespaces. The third is the watcher, which outlives
// both: it removes what no namespace contains, which are cgroups, sysctls and a folder. A probe, instead of the second,
// only tries whether there can be a node.
package node
