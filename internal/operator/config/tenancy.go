package config

import (
	"flag"
	"fmt"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
)

// defaultReserved are the namespaces of Kubernetes itself, and of what tenants' objects are made for.
var defaultReserved = List{"default", "kube-*", "openshift", "openshift-*", "istio-system", "istio-ingress", "gatekeeper-system"}

// Tenancy says which namespaces Tenants may have.
type Tenancy struct {
	Reserved, Namespaces List
	MinPodSecurity       string
}

func (t *Tenancy) bind(f *flag.FlagSet) {
	t.Reserved = slices.Clone(defaultReserved)
	f.Var(&t.Reserved, "reserved-namespaces",
		"Comma-separated list of namespace names that no Tenant may use, or prefixes followed by *. The operator's own namespace and the ingress namespaces of all TenantPlans are always reserved.")
	f.Var(&t.Namespaces, "tenant-namespaces",
		"Comma-separated list of the only namespace names that Tenants may use, or prefixes followed by *. Empty: all that are not reserved.")
	f.StringVar(&t.MinPodSecurity, "min-pod-security", "baseline",
		"Lowest level of pod security that the namespaces of Tenants enforce: privileged, baseline or restricted. Plans that say nothing get it, and plans that say less are invalid.")
}

// Rules are those of the flags, without the operator's own.
func (t *Tenancy) Rules() (n plan.Namespaces, err error) {
	if n.Allowed, err = plan.ParsePatterns(t.Namespaces); err != nil {
		return n, fmt.Errorf("--tenant-namespaces: %w", err)
	}
	reserved := slices.Clone([]string(t.Reserved))
	if own := OwnNamespace(); own != "" {
		reserved = append(reserved, own)
	}
	if n.Reserved, err = plan.ParsePatterns(reserved); err != nil {
		return n, fmt.Errorf("--reserved-namespaces: %w", err)
	}
	if err := plan.CheckPodSecurityLevel(t.MinPodSecurity); err != nil {
		return n, fmt.Errorf("--min-pod-security: %w", err)
	}
	n.MinPodSecurity = t.MinPodSecurity
	return n, nil
}

func (t *Tenancy) validate() error {
	_, err := t.Rules()
	return err
}
