package kube_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/thirdparty"
)

// quiet is longer than the pause of a reflector that fails, before it tries again.
const quiet = 2500 * time.Millisecond

// absent waits until it is known that the cluster doesn't have the kind.
func (r *rig) absent(k plan.Kind) *rig {
	r.Eventually(func() bool { return r.Served(k) }, eventually).Should(BeFalse())
	return r
}

func (r *rig) present(k plan.Kind) *rig {
	r.Eventually(func() bool { return r.Served(k) }, eventually).Should(BeTrue())
	return r
}

func gateway(namespace string) plan.Object {
	return object(plan.KindGateway, namespace, "kleff-gateway", map[string]any{"servers": []any{map[string]any{"port": int64(443), "share": 0.5, "strict": true}}})
}

func TestKindComesAndGoes(t *testing.T) {
	namespace := newNamespace(t)
	r := start(t, plane.RESTConfig(), append(core, plan.KindGateway, plan.ConstraintKind(""))...).absent(plan.KindGateway)
	if list, err := r.List(t.Context(), plan.KindGateway, namespace); err != nil || len(list) != 0 {
		t.Fatalf("a kind that is not there has %v, %v, want none", list, err)
	}
	_, err := r.Create(t.Context(), gateway(namespace))
	refused(t, err, fault.NotFound, "Gateway", "networking.istio.io/v1", "install")

	for range 2 {
		before := r.appeared.Load()
		definition := define(t, plan.KindGateway, apiextensionsv1.NamespaceScoped, "v1")
		r.Eventually(r.appeared.Load, eventually).Should(BeNumerically(">", before), "its appearance is told")
		r.present(plan.KindGateway)
		if list, err := r.List(t.Context(), plan.KindGateway, namespace); err != nil || len(list) != 0 {
			t.Fatalf("got %v, %v when told, want a cache that is filled", list, err)
		}
		made := must(t)(r.Create(t.Context(), gateway(namespace)))
		r.Eventually(func() []plan.Live { return r.told(plan.KindGateway, namespace, "kleff-gateway") }, eventually).Should(ContainElement(made))
		if list, err := r.List(t.Context(), plan.KindGateway, namespace); err != nil || len(list) != 1 || !list[0].UpToDate(gateway(namespace)) {
			t.Errorf("got %v, %v, want the gateway", list, err)
		}

		before = r.appeared.Load()
		thirdparty.Uninstall(t, admin, definition)
		r.absent(plan.KindGateway)
		r.Eventually(r.appeared.Load, eventually).Should(BeNumerically(">", before), "its end is told")
		if list, err := r.List(t.Context(), plan.KindGateway, namespace); err != nil || len(list) != 0 {
			t.Errorf("got %v, %v, want none", list, err)
		}
		requests := r.wire.count("networking.istio.io/v1")
		r.Consistently(func() int { return r.wire.count("networking.istio.io/v1") }, quiet).Should(Equal(requests), "it is not asked for any more")
		// The client still believes that the cluster has it.
		_, err = r.Apply(t.Context(), gateway(namespace), "")
		refused(t, err, fault.NotFound, "the cluster has no CRD for Gateway", "networking.istio.io/v1", "install")
	}
}

// A definition is there before its kind is served, and maybe only in a version that is of no use.
func TestKindInAnotherVersion(t *testing.T) {
	k := plan.KindPeerAuthentication
	r := start(t, plane.RESTConfig(), k)
	definition := define(t, k, apiextensionsv1.NamespaceScoped, "v1beta1")
	r.Eventually(func() int { return r.wire.count("/apis/" + k.APIVersion()) }, eventually).Should(BeNumerically(">", 1), "it is asked for again")
	r.absent(k)

	before := definition.DeepCopy()
	definition.Spec.Versions = append(definition.Spec.Versions, servedVersion("v1", false))
	if err := admin.Patch(t.Context(), definition, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	r.present(k).ready(t, k)

	// Its definition stays, so that only the reflector notices.
	before = definition.DeepCopy()
	definition.Spec.Versions[1].Served = false
	if err := admin.Patch(t.Context(), definition, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	r.absent(k)
}

func TestKindsOfOneGroup(t *testing.T) {
	r := start(t, plane.RESTConfig(), plan.ConstraintKind("")).absent(plan.ConstraintKind("K8sAllowedRepos"))
	for _, kind := range []string{"K8sAllowedRepos", "K8sPSP"} {
		define(t, plan.ConstraintKind(kind), apiextensionsv1.ClusterScoped, "v1beta1")
		k := plan.ConstraintKind(kind)
		r.present(k).ready(t, k)
		must(t)(r.Create(t.Context(), object(k, "", "basic", map[string]any{"enforcementAction": "deny"})))
		if found, err := r.Find(t.Context(), k, "", "basic"); err != nil || found == nil {
			t.Errorf("found %v, %v", found, err)
		}
	}
	r.absent(plan.ConstraintKind("K8sOther"))
}

// While its objects are cleared away, a kind takes no new ones.
func TestKindThatIsGoing(t *testing.T) {
	k := plan.KindAuthorizationPolicy
	r := start(t, plane.RESTConfig(), k).absent(k)
	definition := define(t, k, apiextensionsv1.NamespaceScoped, "v1")
	r.present(k)
	patch(t, definition, `{"metadata":{"finalizers":["customresourcecleanup.apiextensions.k8s.io","example.com/hold"]}}`)
	t.Cleanup(func() { patch(t, definition, `{"metadata":{"finalizers":null}}`) })
	if err := admin.Delete(t.Context(), definition); err != nil {
		t.Fatal(err)
	}
	r.absent(k)
}

// The definitions of others come by the hundred.
func TestForeignDefinitionsAreOfNoInterest(t *testing.T) {
	r := start(t, plane.RESTConfig(), plan.KindAuthorizationPolicy).absent(plan.KindAuthorizationPolicy)
	told := r.appeared.Load()
	define(t, plan.Kind{Group: "example.com", Version: "v1", Kind: "Gizmo"}, apiextensionsv1.NamespaceScoped, "v1")
	define(t, plan.KindAuthorizationPolicy, apiextensionsv1.NamespaceScoped, "v1")
	r.present(plan.KindAuthorizationPolicy)
	r.Eventually(r.appeared.Load, eventually).Should(Equal(told + 1))
	if n := r.wire.count("example.com"); n > 0 {
		t.Errorf("%d requests about a kind that is not ours", n)
	}
}

func TestWithoutRightToListDefinitions(t *testing.T) {
	config, err := plane.AddUser("no-definitions")
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, config, plan.KindGateway)
	r.Eventually(func() error {
		_, err := r.List(t.Context(), plan.KindGateway, "default")
		return err
	}, eventually).Should(MatchError(ContainSubstring(`cannot list resource "customresourcedefinitions"`)))
	if !r.Served(plan.KindGateway) {
		t.Error("the kind is said to be missing, although that is not known")
	}
}

func TestWithoutRightToList(t *testing.T) {
	config, err := plane.AddUser("no-quotas")
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, config, core...)
	r.Eventually(func() error {
		_, err := r.List(t.Context(), plan.KindResourceQuota, "default")
		return err
	}, eventually).Should(MatchError(ContainSubstring(`cannot list resource "resourcequotas"`)))
	_, err = r.List(t.Context(), plan.KindResourceQuota, "default")
	refused(t, err, fault.Transient, "ListResourceQuota", "waiting for the list")
	_, err = r.Find(t.Context(), plan.KindNamespace, "", "default")
	refused(t, err, fault.Transient)
}
