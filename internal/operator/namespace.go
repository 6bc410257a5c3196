package operator

import (
	"os"
	"strings"
)

// podNamespace is where a pod finds the name of its namespace.
const podNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// leaseNamespace is the pod's own unless it is set. Nothing at all is not for here to report.
func (c Config) leaseNamespace() string {
	if c.LeaderElectionNamespace != "" {
		return c.LeaderElectionNamespace
	}
	return ownNamespace()
}

// ownNamespace is that of the pod; empty where the operator runs elsewhere.
func ownNamespace() string {
	own, err := os.ReadFile(podNamespace)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(own))
}
