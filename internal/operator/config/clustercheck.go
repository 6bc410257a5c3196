package config

import (
	"flag"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/cluster"
)

// ClusterCheck is how a copy of the cluster is noticed.
type ClusterCheck struct {
	Enabled       bool
	CopyNamespace string
}

func (c *ClusterCheck) bind(f *flag.FlagSet) {
	f.StringVar(&c.CopyNamespace, "cluster-check-copy-namespace", "kube-system", "Namespace with a ConfigMap "+cluster.Name+" in which a copy of the fingerprint is kept if it exists, for an installation into another namespace. Empty: no copy.")
	f.BoolVar(&c.Enabled, "cluster-check", true, "Store a fingerprint of the cluster (cluster ID, service account issuer and CA), and change nothing in AWS while it is another one, as in a copy of the cluster or after --cluster-id was changed.")
}
