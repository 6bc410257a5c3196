package distributiontenant_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// ending is a world after a lifecycle, without what differs between two runs of it.
type ending struct {
	Object  *v1alpha1.DistributionTenant
	Tenants []sim.TenantState
	// Certificates are those that CloudFront manages.
	Certificates []string
	// Committed counts what was changed in AWS: a crash must not make it more.
	Committed map[string]int
}

func endingOf(w *world.World, name string, before map[string]sim.OperationCalls) ending {
	e := ending{Tenants: w.AllInAWS(), Committed: map[string]int{}}
	uid := ""
	if o, found := w.Get(name); found {
		uid = string(o.UID)
		e.Object = &v1alpha1.DistributionTenant{Spec: o.Spec, Status: o.Status}
		e.Object.Finalizers, e.Object.Generation = o.Finalizers, o.Generation
		status := &e.Object.Status
		status.ETag, status.LastDriftCheckTime, status.LastModifiedTime, status.CreatedTime = "", nil, nil, nil
		if status.Certificate != nil {
			status.Certificate.NotAfter.Reset()
		}
		if status.CertificateRequest != nil {
			status.CertificateRequest.Time.Reset()
		}
		for n := range status.Domains {
			status.Domains[n].Since.Reset()
		}
		for n := range status.Conditions {
			status.Conditions[n].LastTransitionTime = o.CreationTimestamp
			status.Conditions[n].LastTransitionTime.Reset()
		}
	}
	for n := range e.Tenants {
		s := &e.Tenants[n]
		s.ETag, s.CreatedTime, s.LastModifiedTime = "", time.Time{}, time.Time{}
		for _, k := range slices.Collect(maps.Keys(s.Tags)) {
			switch s.Tags[k] {
			case w.Namespace:
				s.Tags[k] = "the namespace"
			case uid:
				s.Tags[k] = "the uid"
			}
		}
	}
	for _, c := range managedIn(w) {
		e.Certificates = append(e.Certificates, c.ARN)
	}
	for operation, c := range w.Sim.Calls() {
		if n := c.Committed - before[operation].Committed; n > 0 {
			e.Committed[operation] = n
		}
	}
	return e
}

// lifecycle is a piece of an object's life: prepared undisturbed, then played with crashes.
type lifecycle struct {
	prepare func(t *testing.T, w *world.World)
	play    func(t *testing.T, w *world.World)
}

func lifecycles() map[string]lifecycle {
	object := func(change ...edit) func(*testing.T, *world.World) {
		return func(t *testing.T, w *world.World) { t.Helper(); ready(t, w, "alpha", change...) }
	}
	remove := func(_ *testing.T, w *world.World) { w.Delete("alpha") }
	return map[string]lifecycle{
		"create": {play: func(_ *testing.T, w *world.World) { w.Apply(w.Tenant("alpha", rich)) }},
		"update": {prepare: object(rich), play: func(_ *testing.T, w *world.World) {
			takesEmptyBlocks(w)
			w.Edit("alpha", func(o *v1alpha1.DistributionTenant) {
				params("tier", "silver")(o)
				tags("team", "api", "stage", "live")(o)
				domains("alpha.example.com", "www-alpha.example.com")(o)
				o.Spec.Customizations = nil
			})
		}},
		"correct drift": {prepare: object(rich), play: func(t *testing.T, w *world.World) {
			t.Helper()
			outOfBand(t, w, "alpha", func(in *cloudfront.UpdateDistributionTenantInput) {
				in.Enabled, in.Customizations = awssdk.Bool(false), &types.Customizations{}
			})
		}},
		"adopt": {
			prepare: func(t *testing.T, w *world.World) {
				t.Helper()
				foreign(t, w, "alpha", tagged(map[string]string{"kept": "yes"}))
			},
			play: func(_ *testing.T, w *world.World) {
				w.Apply(w.Tenant("alpha", params("tier", "gold"), tags("team", "web"), adoption(v1alpha1.AdoptionPolicyIfUnowned)))
			},
		},
		"create again what was deleted outside": {prepare: object(rich), play: func(t *testing.T, w *world.World) {
			t.Helper()
			removeOutOfBand(t, w, "alpha")
		}},
		"create with a managed certificate": {prepare: leadShop, play: func(_ *testing.T, w *world.World) { w.Apply(w.Tenant("alpha", furnishedShop)) }},
		"create with a managed certificate and delete": {prepare: leadShop, play: func(_ *testing.T, w *world.World) {
			w.Apply(w.Tenant("alpha", furnishedShop))
			w.Advance(issueSoon)
			w.Delete("alpha")
		}},
		"delete":                {prepare: object(rich), play: remove},
		"delete a disabled one": {prepare: object(func(o *v1alpha1.DistributionTenant) { o.Spec.Enabled = new(bool) }), play: remove},
		"retain":                {prepare: object(rich, retain), play: remove},
		"let go of what is not ours": {
			prepare: func(t *testing.T, w *world.World) {
				t.Helper()
				// It comes between our looking and our creating, so that we hold the object.
				allow := refusing(t, w, "CreateDistributionTenant", http.StatusForbidden, "AccessDenied", "no")
				w.Apply(w.Tenant("alpha"))
				w.Advance(settle)
				allow()
				foreign(t, w, "alpha")
				w.Advance(settle)
			},
			play: remove,
		},
		"create and delete": {play: func(_ *testing.T, w *world.World) {
			w.Apply(w.Tenant("alpha", rich))
			w.Advance(settle)
			w.Delete("alpha")
		}},
		"create, and delete at once": {play: func(_ *testing.T, w *world.World) {
			w.Apply(w.Tenant("alpha", rich))
			w.Advance(time.Second)
			w.Delete("alpha")
		}},
	}
}

// longEnough lets a sweep, the grace period and the deployments pass.
const longEnough = 20 * time.Minute

// run plays a lifecycle without an API server, with the crashes that arm sets up.
func (l lifecycle) run(t *testing.T, arm func(w *world.World)) (w *world.World, end ending, writes int) {
	t.Helper()
	return l.playIn(t, world.NewOffline(t, world.Options{Expiry: true}), arm)
}

// undisturbed plays a lifecycle without an API server, and then with one, which must lead to the same by as many writes.
func (l lifecycle) undisturbed(t *testing.T) (end ending, writes int) {
	t.Helper()
	undisturbed := func(*world.World) {}
	_, end, writes = l.run(t, undisturbed)
	_, served, writesServed := l.playIn(t, world.New(t, kubeConfig, world.Options{Expiry: true}), undisturbed)
	if served.Object != nil && end.Object != nil {
		served.Object.Spec = end.Object.Spec // an API server fills in defaults
	}
	if d := cmp.Diff(served, end); d != "" || writesServed != writes {
		t.Errorf("%d writes with an API server, %d without; the worlds (-with +without):\n%s", writesServed, writes, d)
	}
	return end, writes
}

func (l lifecycle) playIn(t *testing.T, w *world.World, arm func(w *world.World)) (_ *world.World, end ending, writes int) {
	t.Helper()
	bystander := foreign(t, w, "bystander", tagged(map[string]string{"owner": "somebody"}))
	if l.prepare != nil {
		l.prepare(t, w)
	}
	before, made := w.Sim.Calls(), w.Writes()
	arm(w)
	l.play(t, w)
	w.Advance(longEnough)
	untouched(t, w, bystander)
	return w, endingOf(w, "alpha", before), w.Writes() - made
}

// The process can end before or after any of its writes. The next one must come to the same world, with one tenant and
// with no more changes than were needed.
func TestACrashAtAnyWriteLeadsToTheSameWorld(t *testing.T) {
	t.Parallel()
	for name, l := range lifecycles() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, writes := l.undisturbed(t)
			if writes == 0 {
				t.Fatal("the lifecycle makes no write")
			}
			t.Logf("%d writes", writes)
			for n := 1; n <= writes; n++ {
				for _, after := range []bool{false, true} {
					t.Run(fmt.Sprintf("write %d, after it %t", n, after), func(t *testing.T) {
						t.Parallel()
						w, got, _ := l.run(t, func(w *world.World) { w.CrashAt(n, after) })
						if !w.Crashed() {
							t.Fatal("the crash did not come")
						}
						if d := cmp.Diff(want, got); d != "" {
							t.Errorf("the world without a crash and with it (-want +got):\n%s", d)
						}
					})
				}
			}
		})
	}
}

// The second process may find half of what the first one left.
func TestTwoCrashesInOneLife(t *testing.T) {
	t.Parallel()
	l := lifecycles()["create and delete"]
	want, writes := l.undisturbed(t)
	for first := 1; first <= writes; first++ {
		for second := 1; second <= writes-first+1; second++ {
			// Before and after alternate, so that every pair of writes is met in one of the ways.
			after := (first+second)%2 == 0
			t.Run(fmt.Sprintf("write %d and %d after it, carried out %t", first, second, after), func(t *testing.T) {
				t.Parallel()
				_, got, _ := l.run(t, func(w *world.World) {
					w.CrashAt(first, after)
					w.CrashAgainAt(second, !after)
				})
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("the world without a crash and with two (-want +got):\n%s", d)
				}
			})
		}
	}
}
