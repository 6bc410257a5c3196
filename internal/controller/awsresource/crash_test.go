package awsresource_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// ending renders a world after a life, without what differs between two runs of it.
func (a *audit) ending(t *testing.T) string {
	t.Helper()
	end := struct {
		Status    *v1alpha1.ResourceStatus
		Resources []thing
		Committed map[string]int
	}{Resources: a.k.all(a.w), Committed: map[string]int{}}
	names := []string{a.w.Namespace, "the namespace", string(a.o.GetUID()), "the uid"}
	if end.Status = a.w.ParentStatus(a.o); end.Status != nil {
		s := end.Status
		s.ETag, s.LastModifiedTime = "", nil
		for n := range s.Conditions {
			s.Conditions[n].LastTransitionTime = metav1.Time{}
		}
	}
	for n := range end.Resources {
		r := &end.Resources[n]
		names = append(names, r.ID, "the id", r.Endpoint, "the endpoint")
		r.ETag = ""
	}
	for operation, c := range a.w.Sim.Calls() {
		if c.Committed > 0 {
			end.Committed[operation] = c.Committed
		}
	}
	text, err := json.MarshalIndent(end, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(names...).Replace(string(text))
}

// life is a piece of an object's life: prepared undisturbed, then played with crashes.
type life struct {
	object        []policies
	prepare, play func(t *testing.T, a *audit)
	// kept means that the resource outlives the object.
	kept bool
}

// lives have every write that there is.
func lives(k kind) map[string]life {
	created := func(t *testing.T, a *audit) { t.Helper(); a.create(t) }
	return map[string]life{
		"create, change and delete": {
			object: []policies{tags("team", "web", "cost", "42")},
			play: func(t *testing.T, a *audit) {
				t.Helper()
				apply(t, a.w, a.o)
				a.w.Advance(settle)
				edit(t, a.w, a.o, func(o client.Object) { k.setMark(o, true) })
				editPolicies(t, a.w, a.o, tags("team", "api", "stage", "live"))
				a.w.Advance(settle)
				if r := k.only(t, a.w); !r.Marked || r.Tags["stage"] != "live" || r.Tags["cost"] != "" {
					t.Errorf("after the edit AWS has %+v", r)
				}
				remove(t, a.w, a.o)
			},
		},
		"create, and delete at once": {play: func(t *testing.T, a *audit) {
			t.Helper()
			apply(t, a.w, a.o)
			a.w.Advance(time.Second)
			remove(t, a.w, a.o)
		}},
		"correct drift": {prepare: created, play: func(t *testing.T, a *audit) {
			t.Helper()
			k.change(t, a.w, k.only(t, a.w).ID, func(r *thing) { r.Marked, r.Enabled = true, false })
		}},
		"create again what was deleted outside": {prepare: created, play: func(t *testing.T, a *audit) {
			t.Helper()
			k.destroy(t, a.w, k.only(t, a.w).ID)
		}},
		"adopt": {
			object: []policies{adoption(v1alpha1.AdoptionPolicyIfUnowned), tags("team", "web")},
			prepare: func(t *testing.T, a *audit) {
				t.Helper()
				k.foreign(t, a.w, a.o, nil)
			},
			play: func(t *testing.T, a *audit) { t.Helper(); apply(t, a.w, a.o) },
		},
		"retain": {
			object: []policies{retain}, prepare: created, kept: true,
			play: func(t *testing.T, a *audit) { t.Helper(); remove(t, a.w, a.o) },
		},
	}
}

// longEnough lets a look at what rests, the grace period and the deployments pass.
const longEnough = 12 * time.Minute

// run plays a life without an API server, with the crashes that arm sets up.
func (l life) run(t *testing.T, k kind, arm func(a *audit)) (end string, writes int) {
	t.Helper()
	return l.playIn(t, audited(t, k, world.Options{}, l.object...), arm)
}

// undisturbed plays a life without an API server, and then with one, which must lead to the same by as many writes.
func (l life) undisturbed(t *testing.T, k kind) (end string, writes int) {
	t.Helper()
	undisturbed := func(*audit) {}
	end, writes = l.run(t, k, undisturbed)
	served, writesServed := l.playIn(t, auditedServed(t, k, world.Options{}, l.object...), undisturbed)
	if d := cmp.Diff(served, end); d != "" || writesServed != writes {
		t.Errorf("%d writes with an API server, %d without; the worlds (-with +without):\n%s", writesServed, writes, d)
	}
	return end, writes
}

func (l life) playIn(t *testing.T, a *audit, arm func(a *audit)) (end string, writes int) {
	t.Helper()
	a.kept = l.kept
	if l.prepare != nil {
		l.prepare(t, a)
	}
	made := a.w.Writes()
	arm(a)
	l.play(t, a)
	a.w.Advance(longEnough)
	if !a.w.Crashed() {
		t.Error("the crash did not come")
	}
	return a.ending(t), a.w.Writes() - made
}

// The process can end before or after any of its writes. The next one must come to the same world, with one resource at
// most and with no more changes than were needed.
func TestACrashAtAnyWriteLeadsToTheSameWorld(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for name, l := range lives(k) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				want, writes := l.undisturbed(t, k)
				if writes == 0 {
					t.Fatal("the life makes no write")
				}
				t.Logf("%d writes", writes)
				for n := 1; n <= writes; n++ {
					for _, after := range []bool{false, true} {
						t.Run(fmt.Sprintf("write %d, after it %t", n, after), func(t *testing.T) {
							t.Parallel()
							got, _ := l.run(t, k, func(a *audit) { a.w.CrashAt(n, after) })
							if d := cmp.Diff(want, got); d != "" {
								t.Errorf("the world without a crash and with it (-want +got):\n%s", d)
							}
						})
					}
				}
			})
		}
	})
}

// The second process may find half of what the first one left.
func TestTwoCrashesInOneLife(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		l := lives(k)["create, and delete at once"]
		want, writes := l.undisturbed(t, k)
		for first := 1; first <= writes; first++ {
			for second := 1; second <= writes-first; second++ {
				// Before and after alternate, so that every pair of writes is met in one of the ways.
				after := (first+second)%2 == 0
				t.Run(fmt.Sprintf("write %d and %d after it, carried out %t", first, second, after), func(t *testing.T) {
					t.Parallel()
					got, _ := l.run(t, k, func(a *audit) {
						a.w.CrashAt(first, after)
						a.w.CrashAgainAt(second, !after)
					})
					if d := cmp.Diff(want, got); d != "" {
						t.Errorf("the world without a crash and with two (-want +got):\n%s", d)
					}
				})
			}
		}
	})
}

// Whatever becomes of a write to Kubernetes, AWS must end the same: a status that was lost after a create is what
// leaves an orphan behind.
func TestAFailingWriteToKubernetesLeadsToTheSameWorld(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		unavailable := apierrors.NewInternalError(errors.New("etcd is busy"))
		ways := map[string]func(t *testing.T, a *audit, write func() error) error{
			"fails": func(*testing.T, *audit, func() error) error { return unavailable },
			"is stored, and reported as failed": func(_ *testing.T, _ *audit, write func() error) error {
				if err := write(); err != nil {
					return err
				}
				return unavailable
			},
			"meets another writer": func(t *testing.T, a *audit, write func() error) error {
				t.Helper()
				if o := a.o.DeepCopyObject().(client.Object); a.w.ParentStatus(o) != nil {
					annotate(t, a.w, o, "example.com/touched", "yes")
				}
				return write()
			},
		}
		l, kube := lives(k)["create, and delete at once"], 0
		around := func(a *audit, hook func(n int, write func() error) error) {
			a.w.AroundKubeWrites(func(n int, write func() error) error {
				err := hook(n, write)
				a.stored()
				return err
			})
		}
		want, _ := l.run(t, k, func(a *audit) {
			around(a, func(n int, write func() error) error { kube = n; return write() })
		})
		for how, fails := range ways {
			for n := 1; n <= kube; n++ {
				t.Run(fmt.Sprintf("write %d %s", n, how), func(t *testing.T) {
					t.Parallel()
					got, _ := l.run(t, k, func(a *audit) {
						around(a, func(i int, write func() error) error {
							if i == n {
								return fails(t, a, write)
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

// While Kubernetes takes no status, AWS is not asked for more than it would be otherwise.
func TestAStatusThatCannotBeStoredCostsNoWritesToAWS(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		a := audited(t, k, world.Options{})
		w := a.w
		forbidden := apierrors.NewForbidden(schema.GroupResource{Group: v1alpha1.GroupName, Resource: "parents"}, "shop", errors.New("no"))
		w.AroundKubeWrites(func(n int, write func() error) error {
			if n > 1 { // the finalizer and the create mark are stored
				return forbidden
			}
			return write()
		})
		apply(t, w, a.o)
		w.Advance(30 * time.Minute)
		if d := cmp.Diff(map[string]int{k.create: 1}, k.mutations(w.Calls())); d != "" {
			t.Errorf("changes in AWS (-want +got):\n%s", d)
		}
		remove(t, w, a.o)
		w.Advance(30 * time.Minute)
		if n := world.Sum(w.Calls()); n > 300 {
			t.Errorf("%d calls in an hour: %v", n, w.Calls())
		}
		w.AroundKubeWrites(func(_ int, write func() error) error { return write() })
		w.Advance(10 * time.Minute)
		k.gone(t, w, a.o)
		if d := cmp.Diff(map[string]int{k.create: 1, k.update: 1, k.delete: 1}, k.mutations(w.Calls())); d != "" {
			t.Errorf("changes in AWS (-want +got):\n%s", d)
		}
	})
}

// A new tag is the operator's to remove from when it is sent, whether or not the answer comes.
func TestATagWhoseAnswerIsLostIsRemovedWhenItIsDropped(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for restart, restarts := range map[string]bool{"": false, "the operator restarts": true} {
			t.Run(restart, func(t *testing.T) {
				t.Parallel()
				a := audited(t, k, world.Options{}, tags("team", "web"))
				a.create(t)
				fault(t, a.w, sim.Fault{Operation: "TagResource", Kind: sim.AfterCommit, Effect: sim.EffectReset})
				editPolicies(t, a.w, a.o, tags("team", "web", "stage", "test"))
				a.w.Advance(100 * time.Millisecond)
				if r := k.only(t, a.w); r.Tags["stage"] != "test" || len(a.w.Sim.Faults()) > 0 {
					t.Fatalf("the tag was not sent: %v", r.Tags)
				}
				if restarts {
					a.w.Restart()
				}
				editPolicies(t, a.w, a.o, tags("team", "web"))
				a.w.Advance(settle)
				is(t, a.w, a.o, readyTrue, syncedTrue)
				wanted := owner(a.o).Tags()
				wanted["team"] = "web"
				if d := cmp.Diff(wanted, k.only(t, a.w).Tags); d != "" {
					t.Errorf("tags (-want +got):\n%s", d)
				}
			})
		}
	})
}
