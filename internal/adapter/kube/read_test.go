package kube_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
)

func names(list []plan.Live) []string {
	var out []string
	for _, l := range list {
		out = append(out, l.Name)
	}
	return out
}

// cached waits until the cache itself has an object.
func (r *rig) cached(t *testing.T, l plan.Live) {
	t.Helper()
	r.Eventually(func() []plan.Live { return r.told(l.Kind, l.Namespace, l.Name) }, eventually).Should(ContainElement(HaveField("ResourceVersion", l.ResourceVersion)))
}

func TestListIsOfOurs(t *testing.T) {
	r := start(t, plane.RESTConfig(), core...).ready(t, core...)
	one, other := newNamespace(t), newNamespace(t)
	create(t, &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: one, Name: "foreign"}})
	b, a := quota(one, "5"), quota(one, "0")
	a.Name = "a-suspended"
	for _, o := range []plan.Object{b, a, quota(other, "7")} {
		r.cached(t, must(t)(r.Create(t.Context(), o)))
	}
	list, err := r.List(t.Context(), plan.KindResourceQuota, one)
	if diff := cmp.Diff([]string{"a-suspended", "kleff-plan"}, names(list)); diff != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
	if found, err := r.Find(t.Context(), plan.KindResourceQuota, one, "foreign"); found != nil || err != nil {
		t.Errorf("the cache has what is not ours: %v, %v", found, err)
	}
	if read, err := r.Read(t.Context(), plan.KindResourceQuota, one, "foreign"); err != nil || read.UID == "" {
		t.Errorf("reading past the cache: %v, %v", read, err)
	}
	_, err = r.Read(t.Context(), plan.KindResourceQuota, one, "absent")
	refused(t, err, fault.NotFound)

	// Of namespaces it has all, to see which names are taken.
	r.Eventually(func() (*plan.Live, error) { return r.Find(t.Context(), plan.KindNamespace, "", one) }, eventually).ShouldNot(BeNil())
	list, err = r.List(t.Context(), plan.KindNamespace, "")
	if err != nil {
		t.Fatal(err)
	}
	r.Expect(names(list)).To(ContainElements("default", "kube-system", one, other))

	_, err = r.List(t.Context(), plan.Kind{Version: "v1", Kind: "Pod"}, one)
	refused(t, err, fault.Invalid, "not a cached kind")
}

// A controller that saw the namespaces and not what is in them would create it all again, and report that in each status.
func TestNothingIsReadBeforeAllIsListed(t *testing.T) {
	for _, resource := range []string{"resourcequotas", "customresourcedefinitions"} {
		t.Run(resource, func(t *testing.T) {
			w := &wire{}
			w.hold(resource)
			r := w.start(t, plane.RESTConfig(), append(core, plan.KindGateway)...)
			find := func() error {
				_, err := r.Find(t.Context(), plan.KindNamespace, "", "default")
				return err
			}
			r.Consistently(find, quiet).Should(MatchError(ContainSubstring("waiting for the list")))
			refused(t, find(), fault.Transient)
			if !r.Served(plan.KindGateway) {
				t.Error("a kind is said to be missing, although that is not known")
			}
			w.release()
			r.Eventually(find, eventually).Should(Succeed())
			r.absent(plan.KindGateway)
		})
	}
}

// A typed object of the cache looks like the answer of the API server, or it would be applied forever.
func TestCachedFormIsThatOfTheAPI(t *testing.T) {
	r := start(t, plane.RESTConfig(), core...).ready(t, core...)
	namespace := newNamespace(t)
	policy := object(plan.KindNetworkPolicy, namespace, "kleff-isolation", map[string]any{
		"podSelector": map[string]any{}, "policyTypes": []any{"Ingress"},
		"ingress": []any{map[string]any{
			"from":  []any{map[string]any{"podSelector": map[string]any{}}},
			"ports": []any{map[string]any{"port": int64(80), "protocol": "TCP"}, map[string]any{"port": "http", "protocol": "TCP"}},
		}},
	})
	binding := object(plan.KindRoleBinding, namespace, "kleff-owner", nil)
	binding.Body = map[string]any{
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
		"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "user-12345"}},
	}
	objects := map[string]plan.Object{
		"a namespace": object(plan.KindNamespace, "", namespace+"-sub", nil),
		"a quota":     quota(namespace, "5"),
		"limits": object(plan.KindLimitRange, namespace, "kleff-plan", map[string]any{
			"limits": []any{map[string]any{"type": "Container", "default": map[string]any{"cpu": "500m"}}},
		}),
		"a policy":  policy,
		"a binding": binding,
		"an edge tenant": object(plan.KindDistributionTenant, namespace, "acme", map[string]any{
			"distributionId": "EDFDVBD6EXAMPLE", "enabled": false, "domains": []any{map[string]any{"domain": "a.example.com"}},
			"dns": map[string]any{"provider": "route53", "ttl": int64(60), "hostedZoneId": "Z0123456789"},
		}),
	}
	delete(objects["a namespace"].Body, "spec")
	for name, o := range objects {
		t.Run(name, func(t *testing.T) {
			made := must(t)(r.Create(t.Context(), o))
			r.cached(t, made)
			found, err := r.Find(t.Context(), o.Kind, o.Namespace, o.Name)
			if err != nil || found == nil {
				t.Fatalf("found %v, %v", found, err)
			}
			if !found.UpToDate(o) || !made.UpToDate(o) {
				t.Errorf("neither of these should differ from what was applied:\n%v\n%v", found, made)
			}
			if diff := cmp.Diff(made.Object, found.Object); diff != "" && found.ResourceVersion == made.ResourceVersion {
				t.Errorf("-answer +cache:\n%s", diff)
			}

			// The result is a copy.
			found.Labels["spoilt"], found.Annotations["spoilt"], found.Body["spoilt"] = "yes", "yes", "yes"
			if spec, ok := found.Body["spec"].(map[string]any); ok {
				spec["spoilt"] = "yes"
			}
			again, err := r.Find(t.Context(), o.Kind, o.Namespace, o.Name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(made.Object, again.Object); diff != "" && again.ResourceVersion == made.ResourceVersion {
				t.Errorf("the cache was changed, -before +after:\n%s", diff)
			}
		})
	}
}

func TestChangesAreTold(t *testing.T) {
	r := start(t, plane.RESTConfig(), core...).ready(t, core...)
	namespace := newNamespace(t)
	key := client.ObjectKey{Namespace: namespace, Name: "edge-" + namespace}
	o := &v1alpha1.DistributionTenant{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{plan.LabelManagedBy: plan.ManagedBy, plan.LabelTenantUID: "uid-1"},
			Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: "{}", "kept": "yes"}, Finalizers: []string{"example.com/hold"},
		},
		Spec: v1alpha1.DistributionTenantSpec{DistributionID: "EDFDVBD6EXAMPLE", Domains: []v1alpha1.TenantDomain{{Domain: "a.example.com"}}},
	}
	create(t, o)
	told := func(matcher ...any) {
		t.Helper()
		r.Eventually(func() []plan.Live { return r.told(plan.KindDistributionTenant, namespace, key.Name) }, eventually).Should(HaveExactElements(matcher...))
	}
	added := And(HaveField("Labels", HaveKeyWithValue(plan.LabelTenantUID, "uid-1")), HaveField("Annotations", Equal(map[string]string{"kept": "yes"})), HaveField("Deleting", false))
	told(added)

	// Someone gives it to another tenant: both are woken.
	patch(t, o, `{"metadata":{"labels":{"kleff.io/tenant-uid":"uid-2"}}}`)
	relabelled := HaveField("Labels", HaveKeyWithValue(plan.LabelTenantUID, "uid-2"))
	told(added, added, relabelled)

	if err := admin.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	deleting := HaveField("Deleting", true)
	told(added, added, relabelled, deleting)

	// For the cache that is its end.
	patch(t, o, `{"metadata":{"labels":{"app.kubernetes.io/managed-by":null}}}`)
	told(added, added, relabelled, deleting, deleting)
	if found, err := r.Find(t.Context(), plan.KindDistributionTenant, key.Namespace, key.Name); found != nil || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
	patch(t, o, `{"metadata":{"finalizers":null}}`)
}

func patch(t *testing.T, o client.Object, text string) {
	t.Helper()
	if err := admin.Patch(context.WithoutCancel(t.Context()), o, client.RawPatch(types.MergePatchType, []byte(text))); err != nil {
		t.Fatalf("changing %s: %v", o.GetName(), err)
	}
}
