package distributiontenant_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// The tenant is disabled when neither Cloudflare nor its name servers have the name any more.
func TestNamesLeaveCloudflareBeforeTheTenantIsDisabled(t *testing.T) {
	t.Parallel()
	r := newCFRig(t, rigOptions{served: true}, nil)
	r.serving("alpha", atCloudflare())
	disabled, sample := false, r.sampled
	r.sampled = func(v sim.View) {
		sample(v)
		if v.Operation == "UpdateDistributionTenant" && !v.After {
			disabled = true
			if held, shown := r.atCF(), r.shown(moving); len(held) > 0 || shown != "" {
				t.Errorf("the tenant is disabled, Cloudflare holds %v and shows %q", held, shown)
			}
		}
	}
	r.removed("alpha")
	r.cfHas()
	if !disabled {
		t.Error("the tenant was never disabled")
	}
}

// The process can end before or after any of its writes, those to Cloudflare included.
func TestACrashAtAnyWriteToCloudflare(t *testing.T) {
	t.Parallel()
	type life struct {
		Moved, Served, Ledger []string
		Gone                  bool
		Left                  []string
	}
	play := func(t *testing.T, arm func(r *cfRig)) (*cfRig, life) {
		t.Helper()
		r := newCFRig(t, rigOptions{}, nil)
		arm(r)
		r.Apply(r.Tenant("alpha", withDNS()))
		r.Advance(12 * time.Minute)
		r.always = []string{moving}
		r.Edit("alpha", atCloudflare())
		r.Advance(12 * time.Minute)
		l := life{Moved: r.ours(coveredZone), Served: r.atCF(), Ledger: r.ledger("alpha")}
		r.always = nil
		r.Delete("alpha")
		r.Advance(25 * time.Minute)
		_, found := r.Get("alpha")
		l.Gone, l.Left = !found && len(r.AllInAWS()) == 0, append(r.atCF(), r.ours(coveredZone)...)
		return r, l
	}
	undisturbed, want := play(t, func(*cfRig) {})
	if !want.Gone || len(want.Left) > 0 || len(want.Moved) > 0 || len(want.Served) != 1 {
		t.Fatalf("without a crash: %+v", want)
	}
	for n := 1; n <= undisturbed.Writes(); n++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("write %d, after it %t", n, after), func(t *testing.T) {
				t.Parallel()
				r, got := play(t, func(r *cfRig) { r.CrashAt(n, after) })
				if !r.Crashed() {
					t.Fatal("the crash did not come")
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("the life without a crash and with it (-want +got):\n%s\n%s", d, r.story())
				}
			})
		}
	}
}
