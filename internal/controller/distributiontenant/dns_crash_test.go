package distributiontenant_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// dnsLife is what a life with DNS has led to.
type dnsLife struct {
	// Served is the zone, the ledger and the conditions before the object was deleted.
	Served, Ledger, Conditions []string
	// Left is the zone after it.
	Left []string
	Gone bool
}

// dnsLives are lives in which records are published, changed and retracted.
func dnsLives() map[string]struct {
	zone         string
	proves       []string
	before       func(*rig)
	begin, amend edit
	left         []string
} {
	type life = struct {
		zone   string
		proves []string
		// before is what others do first, and left what has to be there in the end.
		before       func(*rig)
		begin, amend edit
		left         []string
	}
	return map[string]life{
		"a certificate covers it": {
			zone: coveredZone, begin: withDNS(),
			amend: all(domains("beta.example.com"), withDNS(ofType(v1alpha1.RecordTypeAlias))),
		},
		"CloudFront validates it": {
			zone: openZone, proves: []string{"one.example.net", "two.example.net"},
			begin: all(withDNS(), managed(v1alpha1.ValidationTokenHostCloudFront), domains("one.example.net")),
			amend: domains("two.example.net"),
		},
		"it replaces the records of others": {
			zone: coveredZone, before: addressed, begin: withDNS(withTakeover), amend: withDNS(withTakeover, ofType(v1alpha1.RecordTypeAlias)),
			left: []string{formerA, formerAAAA},
		},
	}
}

// The process can end before or after any of its writes: between intent, batch and
// bookkeeping. The next one must come to the same world.
func TestACrashBetweenIntentBatchAndBookkeeping(t *testing.T) {
	t.Parallel()
	for name, l := range dnsLives() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play := func(t *testing.T, served bool, arm func(r *rig)) (*rig, dnsLife, int) {
				t.Helper()
				r := newRig(t, rigOptions{proves: l.proves, served: served})
				if l.before != nil {
					l.before(r)
				}
				arm(r)
				r.Apply(r.Tenant("alpha", l.begin))
				r.Advance(12 * time.Minute)
				r.Edit("alpha", l.amend)
				r.Advance(22 * time.Minute)
				var end dnsLife
				end.Served, end.Ledger = r.ours(l.zone), r.ledger("alpha")
				if o, found := r.Get("alpha"); found {
					for _, c := range o.Status.Conditions {
						end.Conditions = append(end.Conditions, c.Type+"="+string(c.Status)+"/"+c.Reason)
					}
					if meta.IsStatusConditionTrue(o.Status.Conditions, "Ready") {
						slices.Sort(end.Conditions)
					}
				}
				r.Delete("alpha")
				r.Advance(25 * time.Minute)
				_, found := r.Get("alpha")
				end.Left, end.Gone = r.ours(l.zone), !found && len(r.AllInAWS()) == 0
				return r, end, r.Writes()
			}
			_, want, writes := play(t, false, func(*rig) {})
			_, served, writesServed := play(t, true, func(*rig) {})
			if d := cmp.Diff(served, want); d != "" || writesServed != writes {
				t.Errorf("%d writes with an API server, %d without; the lives (-with +without):\n%s", writesServed, writes, d)
			}
			if !want.Gone || !slices.Equal(want.Left, l.left) || len(want.Served) == 0 {
				t.Fatalf("without a crash: %+v", want)
			}
			t.Logf("%d writes", writes)
			for n := 1; n <= writes; n++ {
				for _, after := range []bool{false, true} {
					t.Run(fmt.Sprintf("write %d, after it %t", n, after), func(t *testing.T) {
						t.Parallel()
						r, got, _ := play(t, false, func(r *rig) { r.CrashAt(n, after) })
						if !r.Crashed() {
							t.Fatal("the crash did not come")
						}
						if d := cmp.Diff(want, got); d != "" {
							t.Errorf("the life without a crash and with it (-want +got):\n%s\n%s", d, r.story())
						}
					})
				}
			}
		})
	}
}
