package tenancy_test

import (
	"testing"

	"github.com/onsi/gomega"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
)

// The ClusterRole edit lets a customer write NetworkPolicies. Those of the platform are not theirs, and neither are its names.
func TestCustomersChangeNothingOfThePlatforms(t *testing.T) {
	t.Parallel()
	s := newScene(t, "kept")
	s.plan("kept", "{networkIsolation: Namespace, owner: {clusterRole: edit}}")
	o := s.settled("kept", "kept")
	ns, user := "kept-id", "kept-id"
	s.eventually(func(g gomega.Gomega) { g.Expect(s.may(user, "delete", ns)).To(gomega.BeTrue()) })
	customer := s.as(user)
	ours := &networkingv1.NetworkPolicy{ObjectMeta: in(ns, "kleff-namespace")}
	s.eventually(func(g gomega.Gomega) { // the API server takes up a policy after a moment
		g.Expect(customer.Delete(t.Context(), ours, client.DryRunAll)).To(gomega.MatchError(gomega.ContainSubstring("only by users who may update Tenants")))
	})

	edit := func(name string, change func(*networkingv1.NetworkPolicy)) func() error {
		return func() error {
			p := &networkingv1.NetworkPolicy{ObjectMeta: in(ns, name)}
			s.read(p)
			change(p)
			return customer.Update(t.Context(), p)
		}
	}
	theirs := func(name string, labels map[string]string) func() error {
		return func() error {
			p := &networkingv1.NetworkPolicy{ObjectMeta: in(ns, name), Spec: networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{"Egress"}}}
			p.Labels = labels
			return customer.Create(t.Context(), p)
		}
	}
	for name, c := range map[string]struct {
		do      func() error
		refused bool
	}{
		"opening a policy":               {edit("kleff-namespace", func(p *networkingv1.NetworkPolicy) { p.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{{}} }), true},
		"taking the labels off":          {edit("kleff-namespace", func(p *networkingv1.NetworkPolicy) { p.Labels = nil }), true},
		"taking a name":                  {theirs("kleff-ingress", nil), true},
		"saying that it is the tenant's": {theirs("lookalike", map[string]string{kleffv1.LabelTenantUID: string(o.UID)}), true},
		"a policy of their own":          {theirs("theirs", nil), false},
	} {
		err := c.do()
		if refused := apierrors.IsForbidden(err); refused != c.refused || err != nil && !refused {
			t.Errorf("%s: %v, want a refusal: %t", name, err, c.refused)
		}
	}

	s.delete(o) // what empties the namespace is not refused
	s.gone(o, namespace(ns))
}

// as is a client that acts as the user.
func (s *scene) as(user string) client.Client {
	s.t.Helper()
	config := host.RESTConfig()
	config.Impersonate.UserName = user
	c, err := client.New(config, client.Options{Scheme: kube.Scheme()})
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}
