package distributiontenant_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// failingWrite is what can happen to a write to Kubernetes.
type failingWrite func(w *world.World, n int, write func() error) error

func failingWrites() map[string]failingWrite {
	unavailable := func() error { return apierrors.NewInternalError(errors.New("etcd is busy")) }
	return map[string]failingWrite{
		"fails": func(*world.World, int, func() error) error { return unavailable() },
		"is stored, and reported as failed": func(_ *world.World, _ int, write func() error) error {
			if err := write(); err != nil {
				return err
			}
			return unavailable()
		},
		"meets another writer": func(w *world.World, n int, write func() error) error {
			if _, found := w.Get("alpha"); found {
				annotate(w, "alpha", "example.com/touched", fmt.Sprint(n))
			}
			return write()
		},
	}
}

// Whatever becomes of a write to Kubernetes, AWS must end the same: a status that was lost
// after a create is what leaves an orphan behind in other operators.
func TestAFailingWriteToKubernetesLeadsToTheSameWorld(t *testing.T) {
	t.Parallel()
	all := lifecycles()
	for _, name := range []string{"create", "update", "adopt", "delete", "retain", "create, and delete at once", "create with a managed certificate and delete"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, kube := all[name], 0
			_, want, _ := l.run(t, func(w *world.World) {
				w.AroundKubeWrites(func(n int, write func() error) error { kube = n; return write() })
			})
			for how, fails := range failingWrites() {
				for n := 1; n <= kube; n++ {
					t.Run(fmt.Sprintf("write %d %s", n, how), func(t *testing.T) {
						t.Parallel()
						_, got, _ := l.run(t, func(w *world.World) {
							w.AroundKubeWrites(func(i int, write func() error) error {
								if i == n {
									return fails(w, n, write)
								}
								return write()
							})
						})
						if d := cmp.Diff(want, got); d != "" {
							t.Errorf("the world without the failure and with it (-want +got):\n%s", d)
						}
					})
				}
			}
		})
	}
}

// A writer that touches the object before each of our writes must not keep us from ending.
func TestAWriterThatIsAlwaysFasterOnlyDelays(t *testing.T) {
	t.Parallel()
	w := world.NewOffline(t, world.Options{})
	meets := failingWrites()["meets another writer"]
	touches := 0
	w.AroundKubeWrites(func(n int, write func() error) error {
		if touches++; touches <= 10 {
			return meets(w, n, write)
		}
		return write()
	})
	w.Apply(w.Tenant("alpha", rich))
	w.Advance(10 * time.Minute)
	is(t, w, "alpha", readyTrue, syncedTrue)
	tenants(t, w, "alpha")
	if n := w.Calls()["CreateDistributionTenant"]; n != 1 {
		t.Errorf("%d creates", n)
	}
}

// While Kubernetes takes no status, AWS is not asked for more than it would be otherwise.
func TestAStatusThatCannotBeStoredCostsNoWritesToAWS(t *testing.T) {
	t.Parallel()
	w := world.NewOffline(t, world.Options{})
	w.AroundKubeWrites(func(n int, write func() error) error {
		if n > 1 { // the finalizer and the create mark are stored
			return apierrors.NewForbidden(schema.GroupResource{Group: v1alpha1.GroupName, Resource: "distributiontenants"}, "alpha", errors.New("no"))
		}
		return write()
	})
	w.Apply(w.Tenant("alpha", rich))
	w.Advance(time.Hour)
	if d := cmp.Diff(map[string]int{"CreateDistributionTenant": 1}, mutations(w.Calls())); d != "" {
		t.Errorf("changes in AWS (-want +got):\n%s", d)
	}
	if n := world.Sum(w.Calls()); n > 200 {
		t.Errorf("%d calls in an hour: %v", n, w.Calls())
	}
	w.AroundKubeWrites(func(_ int, write func() error) error { return write() })
	w.Advance(10 * time.Minute)
	is(t, w, "alpha", readyTrue, syncedTrue)
	tenants(t, w, "alpha")
}
