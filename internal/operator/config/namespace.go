package config

import (
	"os"
	"strings"
)

// podNamespace is where a pod finds the name of its namespace.
const podNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// OwnNamespace is that of the pod; empty where the operator runs elsewhere.
func OwnNamespace() string {
	own, err := os.ReadFile(podNamespace)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(own))
}
