package tenancy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
)

// Impossible settings are reported with field, value and fix, and nothing in the cluster changes: not a label, and not
// a version. It runs alone, since it looks at everything.
func TestWhatCantBeChangesNothing(t *testing.T) {
	s := newScene(t, "refusals")
	s.plan("refusals", `{resourceQuota: {hard: {pods: "3"}}, networkIsolation: Namespace}`)
	s.create(namespace("refusals-colleague"))
	first := s.settled("refusals-first", "refusals")
	// Its namespace is made before its plan is.
	early := s.tenant("refusals-early", "refusals-malformed")
	s.says(early, kleffv1.ConditionPlanApplied, "False/PlanNotFound", `"refusals-malformed"`)
	s.says(plan("refusals"), kleffv1.ConditionReady, "True/RolledOut")
	s.appears(&corev1.ServiceAccount{ObjectMeta: in("refusals-early-id", "default")})
	s.appears(&corev1.ServiceAccount{ObjectMeta: in("refusals-colleague", "default")})
	before := s.steady(s.others)

	for name, c := range map[string]struct {
		spec  kleffv1.TenantSpec
		want  string
		texts []string
	}{
		"system":      {kleffv1.TenantSpec{UserID: "kube-system"}, "InvalidName", []string{`spec.userId "kube-system"`, "reserved", "spec.namespace"}},
		"default":     {kleffv1.TenantSpec{UserID: "u", Namespace: "default"}, "InvalidName", []string{`spec.namespace "default"`, "reserved", "delete this Tenant"}},
		"illegal":     {kleffv1.TenantSpec{UserID: "User 1"}, "InvalidName", []string{`spec.userId "User 1"`, "lower-case", "set spec.namespace"}},
		"colleague":   {kleffv1.TenantSpec{UserID: "refusals-colleague"}, "NamespaceConflict", []string{`"refusals-colleague"`, "does not belong to this tenant", "kleff.io/adopt-by=refusals-colleague"}},
		"second":      {kleffv1.TenantSpec{UserID: first.Spec.UserID}, "NamespaceConflict", []string{`"refusals-first-id"`, `"refusals-first"`, "spec.namespace"}},
		"explicit":    {kleffv1.TenantSpec{UserID: "u", Namespace: first.Spec.UserID}, "NamespaceConflict", []string{`"refusals-first"`, "another spec.namespace"}},
		"username":    {kleffv1.TenantSpec{UserID: "refusals-username-id", Username: "Jane Doe"}, "InvalidName", []string{`spec.username "Jane Doe"`, "label", "change it"}},
		"long":        {kleffv1.TenantSpec{UserID: "refusals-long-id", Username: strings.Repeat("x", 64)}, "InvalidName", []string{"spec.username", "63"}},
		"plan-is-not": {kleffv1.TenantSpec{UserID: "refusals-plan-id", Plan: "no/plan"}, "InvalidName", []string{`spec.plan "no/plan"`, "label"}},
	} {
		name = "refusals-" + name
		o := s.tenant(name, "refusals", func(o *kleffv1.Tenant) {
			usual := o.Spec
			o.Spec = c.spec
			if o.Spec.Plan == "" {
				o.Spec.Plan = usual.Plan
			}
			if o.Spec.Username == "" {
				o.Spec.Username = usual.Username
			}
		})
		for _, kind := range []string{kleffv1.ConditionNamespaceReady, kleffv1.ConditionTenantReady} {
			s.says(o, kind, "False/"+c.want, c.texts...)
		}
	}

	// One that the operator knows to be wrong, and then one that only the API server does.
	s.plan("refusals-malformed", `resourceQuota: {hard: {pods: "-1"}}`)
	for range 2 {
		s.says(early, kleffv1.ConditionPlanApplied, "False/PlanInvalid", "refusals-malformed", "spec.resourceQuota", "pods")
		s.says(early, kleffv1.ConditionTenantReady, "False/PlanInvalid")
		s.says(plan("refusals-malformed"), kleffv1.ConditionReady, "False/PlanInvalid", "spec.resourceQuota")
		s.replan("refusals-malformed", `resourceQuota: {hard: {pods: "1.5"}}`)
		s.says(early, kleffv1.ConditionPlanApplied, "False/PlanInvalid", "integer")
	}
	// A plan that has tenants becomes malformed: they keep what they have, and it is reported to none of them.
	s.replan("refusals", `resourceQuota: {hard: {"no name": "1"}}`)
	s.says(plan("refusals"), kleffv1.ConditionReady, "False/PlanInvalid", `spec.resourceQuota.hard: "no name"`, "requests.memory")
	s.keepsSaying(first, kleffv1.ConditionTenantReady, "True/Ready")

	if diff := cmp.Diff(before, s.steady(s.others)); diff != "" {
		t.Errorf("the cluster changed (-before +after):\n%s", diff)
	}

	// One of the waiting tenants gets the namespace that the first one leaves.
	s.delete(first)
	s.gone(first)
	s.eventually(func(g gomega.Gomega) {
		second, explicit := tenant("refusals-second"), tenant("refusals-explicit")
		s.read(second)
		s.read(explicit)
		got := []string{stated(condition(second, kleffv1.ConditionNamespaceReady)), stated(condition(explicit, kleffv1.ConditionNamespaceReady))}
		g.Expect(got).To(gomega.ConsistOf("True/Provisioned", "False/NamespaceConflict"))
	})
}

// steady takes a dump once the control plane has nothing left to do.
func (s *scene) steady(dump func() map[string]string) map[string]string {
	s.t.Helper()
	last := dump()
	s.eventually(func(g gomega.Gomega) {
		now := dump()
		diff := cmp.Diff(last, now)
		last = now
		g.Expect(diff).To(gomega.BeEmpty(), "it still changes")
	})
	return last
}

// others is all of the cluster, but for tenants, plans, events and leases.
func (s *scene) others() map[string]string {
	s.t.Helper()
	return s.list(func(r schema.GroupVersionResource) bool {
		return r.Group != kleffv1.GroupName && r.Resource != "events" && r.Resource != "leases"
	})
}

// list is everything of the kinds that are wanted, as text, by kind, namespace and name.
func (s *scene) list(wanted func(schema.GroupVersionResource) bool) map[string]string {
	s.t.Helper()
	all, err := everything(s.t.Context(), wanted)
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// everything lists all objects of the kinds that are wanted.
func everything(ctx context.Context, wanted func(schema.GroupVersionResource) bool) (map[string]string, error) {
	c, err := discovery.NewDiscoveryClientForConfig(host.RESTConfig())
	if err != nil {
		return nil, err
	}
	lists, err := c.ServerPreferredResources()
	if err != nil {
		return nil, fmt.Errorf("finding out which kinds there are: %w", err)
	}
	out := map[string]string{}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, r := range list.APIResources {
			if !slices.Contains(r.Verbs, "list") || !wanted(gv.WithResource(r.Name)) {
				continue
			}
			objects := &unstructured.UnstructuredList{}
			objects.SetGroupVersionKind(gv.WithKind(r.Kind + "List"))
			if err := kube.List(ctx, objects); err != nil {
				return nil, fmt.Errorf("listing %s: %w", r.Name, err)
			}
			if err := meta.EachListItem(objects, func(o runtime.Object) error { return put(out, r.Name, o) }); err != nil {
				return nil, err
			}
		}
	}
	if len(out) < 100 {
		return nil, errors.New("there are hardly any objects, so that nothing is compared")
	}
	return out, nil
}

func put(out map[string]string, resource string, o runtime.Object) error {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("listing %s brought a %T", resource, o)
	}
	text, err := json.Marshal(u)
	out[strings.Join([]string{resource, u.GetNamespace(), u.GetName()}, " ")] = string(text)
	return err
}

// Pods in an ingress namespace of a plan reach the customers of that plan, so no tenant of any plan may have it. It is
// the tenant's as soon as no plan has it.
func TestAnIngressNamespaceIsNoTenants(t *testing.T) {
	s := newScene(t, "ingress")
	s.plan("ingress-edge", `{networkIsolation: NamespaceAndIngress, ingressNamespaces: [ingress-gateways]}`)
	s.plan("ingress-basic", `resourceQuota: {hard: {pods: "3"}}`)
	o := s.tenant("ingress-first", "ingress-basic", func(o *kleffv1.Tenant) { o.Spec.Namespace = "ingress-gateways" })
	for _, kind := range []string{kleffv1.ConditionNamespaceReady, kleffv1.ConditionTenantReady} {
		s.says(o, kind, "False/InvalidName", `spec.namespace "ingress-gateways" is an ingress namespace of the TenantPlan "ingress-edge"`, "spec.ingressNamespaces")
	}
	s.replan("ingress-edge", `{networkIsolation: NamespaceAndIngress, ingressNamespaces: [ingress-system]}`)
	s.says(o, kleffv1.ConditionTenantReady, "True/Ready")
	// A plan that takes it afterwards is told of, too.
	s.replan("ingress-edge", `{networkIsolation: NamespaceAndIngress, ingressNamespaces: [ingress-system, ingress-gateways]}`)
	s.says(o, kleffv1.ConditionTenantReady, "False/InvalidName", `"ingress-edge"`)
	s.replan("ingress-edge", `{networkIsolation: NamespaceAndIngress, ingressNamespaces: [ingress-system]}`)
	s.says(o, kleffv1.ConditionTenantReady, "True/Ready")
}
