package invalidation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

const (
	create = "CreateInvalidationForDistributionTenant"
	follow = "GetInvalidationForDistributionTenant"
	tags   = "ListTagsForResource"
)

// settle is long enough for tenants to be deployed, and for an invalidation to end.
const settle = 5 * time.Minute

// tenants makes worlds with deployed tenants that have the label tier=gold.
func tenants(t *testing.T, w *world.World, names ...string) *world.World {
	t.Helper()
	for _, name := range names {
		w.Apply(w.Tenant(name, func(o *v1alpha1.DistributionTenant) { o.Labels = map[string]string{"tier": "gold"} }))
	}
	w.Advance(settle)
	for _, name := range names {
		if got := w.Condition(name, "Ready"); got != "Ready=True/Deployed" {
			t.Fatalf("%s: %s", name, got)
		}
	}
	return w
}

func offline(t *testing.T, o world.Options, names ...string) *world.World {
	t.Helper()
	return tenants(t, world.NewOffline(t, o), names...)
}

func apply(t *testing.T, w *world.World, o *v1alpha1.Invalidation) {
	t.Helper()
	if err := w.Kube.Create(t.Context(), o); err != nil {
		t.Fatalf("creating %s: %v", o.Name, err)
	}
}

// ofGold selects the tenants with the label.
func ofGold(o *v1alpha1.Invalidation) {
	o.Spec.TenantRef = nil
	o.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}
}

func paths(list ...string) func(*v1alpha1.Invalidation) {
	return func(o *v1alpha1.Invalidation) { o.Spec.Paths = list }
}

func numbered(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("/%d", i))
	}
	return list
}

// is checks Ready of an invalidation, as Status/Reason, and pieces of its message.
func is(t *testing.T, w *world.World, name, want string, pieces ...string) {
	t.Helper()
	ready, message := w.InvalidationReady(name)
	if ready != want {
		t.Errorf("%s: Ready is %s, want %s: %s", name, ready, want, message)
	}
	for _, piece := range pieces {
		if !strings.Contains(message, piece) {
			t.Errorf("%s does not say %q: %s", name, piece, message)
		}
	}
}

// inAWS checks which invalidations AWS has, each as the name of its tenant and its paths.
func inAWS(t *testing.T, w *world.World, want ...string) {
	t.Helper()
	got := w.Invalidated()
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("invalidations in AWS (-want +got):\n%s", diff)
	}
}

func inject(t *testing.T, w *world.World, f sim.Fault) (id string) {
	t.Helper()
	id, err := w.Sim.AddFault(f)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// states are those of the tenants of an invalidation.
func states(w *world.World, name string) map[string]string {
	out := map[string]string{}
	if s := w.InvalidationStatus(name); s != nil {
		for _, t := range s.Tenants {
			out[t.Name] = string(t.State)
		}
	}
	return out
}
