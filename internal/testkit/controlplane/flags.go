package controlplane

import (
	"fmt"
	"strings"
)

func (cp *ControlPlane) etcdFlags() []string {
	return []string{
		"--name=default",
		"--data-dir=" + cp.path("etcd"),
		"--listen-client-urls=" + cp.EtcdURL(),
		"--advertise-client-urls=" + cp.EtcdURL(),
		"--listen-peer-urls=http://127.0.0.1:0", // a single member has no peers
		"--unsafe-no-fsync",                     // the data need not survive the machine
	}
}

func (cp *ControlPlane) apiServerFlags() []string {
	return []string{
		"--etcd-servers=" + cp.EtcdURL(),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", cp.ports.apiServer),
		"--cert-dir=" + cp.path("apiserver"),
		"--tls-cert-file=" + cp.path("serving.crt"),
		"--tls-private-key-file=" + cp.path("serving.key"),
		"--client-ca-file=" + cp.path("ca.crt"),
		"--token-auth-file=" + cp.path("tokens.csv"),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + cp.path("serviceaccount.key"),
		"--service-account-signing-key-file=" + cp.path("serviceaccount.key"),
		"--service-cluster-ip-range=10.0.0.0/24",
	}
}

// withoutNodeFlags come after the usual ones where no Pod can run.
func withoutNodeFlags() []string {
	// With it a pod would have to wait for its namespace's default service account.
	return []string{"--disable-admission-plugins=ServiceAccount"}
}

// nodeFlags come after the usual ones, and let Pods run.
func (cp *ControlPlane) nodeFlags() []string {
	return []string{
		"--bind-address=0.0.0.0",
		"--advertise-address=" + cp.nodeAddress,
		"--authorization-mode=Node", // adds to RBAC
		"--enable-admission-plugins=NodeRestriction",
	}
}

func (cp *ControlPlane) controllerManagerFlags() []string {
	controllers := []string{"*"}
	if cp.nodeAddress == "" {
		controllers = []string{
			"namespace-controller", "garbage-collector-controller", "resourcequota-controller",
			"serviceaccount-controller", "serviceaccount-token-controller", "clusterrole-aggregation-controller",
		}
	}
	return []string{
		"--kubeconfig=" + cp.path("controllers.kubeconfig"),
		"--controllers=" + strings.Join(controllers, ","),
		// With its own account per controller, RBAC applies to them as in a real cluster.
		"--use-service-account-credentials",
		"--service-account-private-key-file=" + cp.path("serviceaccount.key"),
		"--root-ca-file=" + cp.path("ca.crt"),
		"--leader-elect=false",
		"--flex-volume-plugin-dir=" + cp.path("volumeplugins"), // it makes the folder
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", cp.ports.controllerManager),
		"--tls-cert-file=" + cp.path("serving.crt"),
		"--tls-private-key-file=" + cp.path("serving.key"),
	}
}
