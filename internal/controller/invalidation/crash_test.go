package invalidation_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// lifeOf plays an invalidation of two tenants, and says how many writes that took.
func lifeOf(t *testing.T, w *world.World) (writes int) {
	t.Helper()
	before := w.Writes()
	apply(t, w, w.Invalidation("gold", "", ofGold))
	w.Advance(2 * settle)
	is(t, w, "gold", "True/Completed")
	inAWS(t, w, "one /index.html", "two /index.html")
	return w.Writes() - before
}

// The process can end before or after any of its writes: the next one asks for the same, and AWS has one invalidation for
// each tenant.
func TestACrashAtAnyWriteAsksAWSOnce(t *testing.T) {
	writes := lifeOf(t, tenants(t, world.New(t, kubeConfig, world.Options{}), "one", "two"))
	if writes != 7 {
		t.Errorf("%d writes, want 7: the tenants, two requests with two IDs, and two ends", writes)
	}
	for n := 1; n <= writes; n++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("write %d, after it %t", n, after), func(t *testing.T) {
				t.Parallel()
				w := offline(t, world.Options{}, "one", "two")
				w.CrashAt(n, after)
				lifeOf(t, w)
				if !w.Crashed() {
					t.Error("the crash did not come")
				}
			})
		}
	}
}

// The second process may find half of what the first one left.
func TestTwoCrashesAskAWSOnce(t *testing.T) {
	for first := 1; first <= 6; first++ {
		for second := 1; second <= 7-first; second++ {
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d and %d, after it %t", first, second, after), func(t *testing.T) {
					t.Parallel()
					w := offline(t, world.Options{}, "one", "two")
					w.CrashAt(first, after)
					w.CrashAgainAt(second, !after)
					lifeOf(t, w)
				})
			}
		}
	}
}

// An answer that is lost tells nothing of the request: it may have been carried out, or not.
func TestALostAnswerAsksAWSOnce(t *testing.T) {
	for name, f := range map[string]sim.Fault{
		"the request is lost":                       {Kind: sim.BeforeCommit, Effect: sim.EffectReset},
		"the answer is lost":                        {Kind: sim.AfterCommit, Effect: sim.EffectReset},
		"the answer breaks off":                     {Kind: sim.AfterCommit, Effect: sim.EffectTruncate},
		"AWS fails before":                          {Kind: sim.BeforeCommit},
		"AWS fails after":                           {Kind: sim.AfterCommit},
		"AWS throttles":                             {Kind: sim.Instead, Error: &sim.FaultError{Status: 400, Code: "Throttling", Message: "Rate exceeded"}},
		"the answer to the second request is lost":  {Kind: sim.AfterCommit, Effect: sim.EffectReset, Nth: 2},
		"three answers in a row are lost":           {Kind: sim.AfterCommit, Effect: sim.EffectReset, Nth: 1, Times: 3},
		"the state can't be read, three times":      {Operation: follow, Times: 3, Nth: 1},
		"the tags can't be read, three times":       {Operation: tags, Times: 3, Nth: 1},
		"reads don't know the invalidation at once": {Operation: follow, Kind: sim.Instead, Times: 2, Nth: 1, Error: &sim.FaultError{Status: 404, Code: "NoSuchInvalidation"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := offline(t, world.Options{}, "one", "two")
			if f.Operation == "" {
				f.Operation = create
			}
			inject(t, w, f)
			lifeOf(t, w)
			if n := len(w.Sim.Faults()); n != 0 {
				t.Errorf("%d faults did not strike", n)
			}
		})
	}
}

// Whatever becomes of a write to Kubernetes, AWS has one invalidation for each tenant.
func TestAFailingWriteToKubernetesAsksAWSOnce(t *testing.T) {
	unavailable := apierrors.NewInternalError(errors.New("etcd is busy"))
	for n := 1; n <= 5; n++ {
		for _, stored := range []bool{false, true} {
			t.Run(fmt.Sprintf("write %d, stored %t", n, stored), func(t *testing.T) {
				t.Parallel()
				w := offline(t, world.Options{}, "one", "two")
				w.AroundKubeWrites(func(i int, write func() error) error {
					if i != n {
						return write()
					}
					if stored {
						if err := write(); err != nil {
							return err
						}
					}
					return unavailable
				})
				lifeOf(t, w)
			})
		}
	}
}

// A replica whose cache is behind asks for what was asked for before, with the same reference.
func TestAStaleCacheAsksAWSOnce(t *testing.T) {
	w := offline(t, world.Options{}, "one", "two")
	o := w.Invalidation("gold", "", ofGold)
	apply(t, w, o)
	w.FreezeCache(o)
	w.Advance(time.Minute)
	inAWS(t, w) // the tenants are not stored as far as it sees
	w.ThawCache()
	w.Advance(2 * settle)
	is(t, w, "gold", "True/Completed")
	inAWS(t, w, "one /index.html", "two /index.html")
}
