package distributiontenant_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// named overrides the tenant's name in AWS.
func named(name string) edit {
	return func(o *v1alpha1.DistributionTenant) { o.Spec.TenantName = name }
}

func TestAnOverriddenNameIsTheOneInAWS(t *testing.T) {
	t.Parallel()
	w := world.New(t, kubeConfig, world.Options{})
	ready(t, w, "alpha", named("customer-7"))
	tenants(t, w, "customer-7")
	if o := get(t, w, "alpha"); o.Status.TenantName != "customer-7" {
		t.Errorf("status names %q", o.Status.TenantName)
	}
	// A changed name would leave the old tenant behind. It is refused, not ignored.
	o := get(t, w, "alpha")
	base := o.DeepCopy()
	o.Spec.TenantName = "customer-8"
	if err := w.Kube.Patch(t.Context(), o, client.MergeFrom(base)); err == nil {
		t.Error("the name could be changed")
	}
	w.Delete("alpha")
	w.Advance(settle)
	gone(t, w, "alpha")
	tenants(t, w)
}

func TestTwoObjectsWithOneTenantName(t *testing.T) {
	t.Parallel()
	for name, apply := range map[string]func(w *world.World){
		"one after the other": func(w *world.World) {
			w.Apply(w.Tenant("first", named("shared")))
			w.Advance(settle)
			w.Apply(w.Tenant("second", named("shared")))
		},
		"at the same time": func(w *world.World) {
			w.Apply(w.Tenant("first", named("shared")))
			w.Apply(w.Tenant("second", named("shared")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t, kubeConfig, world.Options{})
			apply(w)
			w.Advance(15 * time.Minute)
			is(t, w, "first", readyTrue, syncedTrue)
			is(t, w, "second", "Ready=False/AdoptionRequired")
			says(t, w, "second", "Ready", w.Namespace+"/first", "That object exists")
			tenants(t, w, "shared")
			s := inAWS(t, w, "shared")
			w.Advance(2 * time.Hour)
			untouched(t, w, s)
			// When the first goes, the second takes its place at once.
			w.Delete("first")
			w.Advance(10 * time.Minute)
			is(t, w, "second", readyTrue, syncedTrue)
			tenants(t, w, "shared")
			if s := inAWS(t, w, "shared"); s.Domains["second.example.com"] != "active" {
				t.Errorf("the tenant is %+v", s)
			}
		})
	}
}

func TestTwoObjectsWithOneDomain(t *testing.T) {
	t.Parallel()
	w := world.New(t, kubeConfig, world.Options{})
	ready(t, w, "first", domains("shop.example.com", "first.example.com"))
	s := inAWS(t, w, "first")
	w.Apply(w.Tenant("second", domains("second.example.com", "shop.example.com")))
	w.Advance(15 * time.Minute)
	is(t, w, "second", "Ready=False/DomainConflict")
	says(t, w, "second", "Ready", "shop.example.com", `"first"`, w.Namespace+"/first")
	untouched(t, w, s)
	tenants(t, w, "first")

	// An object that is Ready already keeps serving what it has while it asks for too much.
	ready(t, w, "third")
	w.Edit("third", domains("third.example.com", "shop.example.com"))
	w.Advance(15 * time.Minute)
	is(t, w, "third", "Ready=False/DomainConflict", "Synced=False/UpdatePending")
	if s := inAWS(t, w, "third"); len(s.Domains) != 1 || !s.Enabled {
		t.Errorf("the third is %+v", s)
	}
	untouched(t, w, s)

	w.Edit("first", domains("first.example.com"))
	w.Advance(40 * time.Minute)
	holders := 0
	for _, name := range []string{"second", "third"} {
		if w.Condition(name, "Ready") == readyTrue {
			holders++
		}
	}
	if holders != 1 {
		t.Errorf("%d objects got the domain:\n%s\n%s", holders, w.Describe("second"), w.Describe("third"))
	}
}

func TestTwoNamespacesWithOneName(t *testing.T) {
	t.Parallel()
	w := world.New(t, kubeConfig, world.Options{})
	ready(t, w, "alpha", rich)
	s := inAWS(t, w, "alpha")
	elsewhere := w.AddNamespace()
	other := func(name, tenant string) *v1alpha1.DistributionTenant {
		o := w.Tenant(name, named(tenant), domains("other.example.com"), adoption(v1alpha1.AdoptionPolicyForce))
		o.Namespace = elsewhere
		return w.Apply(o)
	}
	reason := func(name string) string {
		o := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: elsewhere, Name: name}}
		if err := w.Kube.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Fatal(err)
		}
		n := slices.IndexFunc(o.Status.Conditions, func(c metav1.Condition) bool { return c.Type == "Ready" })
		return o.Status.Conditions[n].Reason
	}
	blocked := other("alpha", "")
	w.Advance(15 * time.Minute)
	if got := reason("alpha"); got != "AdoptionRequired" {
		t.Errorf("the object of the other namespace is at %s", got)
	}
	untouched(t, w, s)
	other("beta", "alpha-elsewhere")
	w.Advance(settle)
	if got := reason("beta"); got != "Deployed" {
		t.Errorf("the object with a name of its own is at %s", got)
	}
	tenants(t, w, "alpha", "alpha-elsewhere")
	if err := w.Kube.Delete(t.Context(), blocked); err != nil {
		t.Fatal(err)
	}
	w.Advance(settle)
	untouched(t, w, s)
	is(t, w, "alpha", readyTrue, syncedTrue)
}
