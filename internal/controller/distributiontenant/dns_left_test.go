package distributiontenant_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// secondLife publishes a record for an object whose finalizer is then removed by hand before it is deleted, and creates the
// object again, so that it adopts the tenant. The record is in DNS as wanted, and in no ledger.
func secondLife(t *testing.T, change ...func(*v1alpha1.DNS)) *rig {
	t.Helper()
	r := newRig(t, rigOptions{served: true})
	first := r.serving("alpha", withDNS())
	r.Edit("alpha", func(o *v1alpha1.DistributionTenant) { o.Finalizers = nil })
	r.Delete("alpha")
	r.Advance(aSweep)
	if _, found := r.Get("alpha"); found {
		t.Fatalf("the object is still there:\n%s", r.Describe("alpha"))
	}
	inAWS(t, r.World, "alpha")
	r.has(coveredZone, alphaRecord)
	second := r.serving("alpha", withDNS(change...), adoption(v1alpha1.AdoptionPolicyIfUnowned))
	if second.UID == first.UID || !slices.Contains(r.Reasons("alpha"), "Adopted") {
		t.Fatalf("the tenant was not adopted: %v", r.Reasons("alpha"))
	}
	return r
}

// told are the messages of the events with that reason.
func told(w *world.World, reason string) (messages []string) {
	for _, e := range w.Events {
		if e.Reason == reason {
			messages = append(messages, e.Message)
		}
	}
	return messages
}

// The record of an earlier life stays when the object is deleted. The condition says so as long as the object lives, and
// an event when it goes.
func TestTheRecordOfAnEarlierLifeStays(t *testing.T) {
	t.Parallel()
	r := secondLife(t)
	r.hasLedger("alpha")
	says(t, r.World, "alpha", "DNSReady", "left there when it is deleted: CNAME "+alphaDomain+".", "spec.dns.takeover")
	r.exempt[alphaDomain] = true
	r.Delete("alpha")
	r.Advance(5 * time.Minute)
	gone(t, r.World, "alpha")
	r.has(coveredZone, alphaRecord)
	messages := told(r.World, "RecordLeft")
	if len(messages) != 1 || !strings.Contains(messages[0], "CNAME "+alphaDomain+" -> "+mainEndpoint) {
		t.Errorf("events: %q", messages)
	}
}

// With a takeover, the object owns the record of its earlier life, and deletes it.
func TestTheRecordOfAnEarlierLifeIsTakenOver(t *testing.T) {
	t.Parallel()
	r := secondLife(t, withTakeover)
	r.hasLedger("alpha", "Published "+alphaRecord)
	if message := r.Message("alpha", "DNSReady"); strings.Contains(message, "left there") {
		t.Errorf("the condition names a record of the object's own: %s", message)
	}
	r.removed("alpha")
	if messages := told(r.World, "RecordLeft"); len(messages) > 0 {
		t.Errorf("events: %q", messages)
	}
}

// A record that leads to a tenant which is kept should stay, and is not worth a warning.
func TestTheRecordOfATenantThatIsKept(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.changeRecord(coveredZone, r53types.ChangeActionCreate, cname(mainEndpoint, 300))
	r.serving("alpha", withDNS(), retain)
	r.Delete("alpha")
	r.Advance(10 * time.Minute)
	if _, found := r.Get("alpha"); found {
		t.Errorf("the object is still there:\n%s", r.Describe("alpha"))
	}
	inAWS(t, r.World, "alpha")
	r.has(coveredZone, alphaRecord)
	if messages := told(r.World, "RecordLeft"); len(messages) > 0 {
		t.Errorf("events: %q", messages)
	}
}

// To find out that a record stays takes no call to Route 53, and no write to the API server.
func TestARecordThatStaysCostsNothing(t *testing.T) {
	t.Parallel()
	writes := map[bool]int{}
	for _, stays := range []bool{true, false} {
		r := newRig(t, rigOptions{})
		r.changeRecord(coveredZone, r53types.ChangeActionCreate, cname(mainEndpoint, 300))
		spec := withoutDNS
		if stays {
			spec = withDNS()
		}
		r.Apply(r.Tenant("alpha", spec))
		r.Advance(10 * time.Minute)
		is(t, r.World, "alpha", readyTrue, syncedTrue)
		calls, before := route53Calls(r.Calls()), r.KubeWrites()
		r.Delete("alpha")
		r.Advance(4 * time.Minute)
		gone(t, r.World, "alpha")
		if tells := len(told(r.World, "RecordLeft")) > 0; tells != stays {
			t.Errorf("told %t, want %t", tells, stays)
		}
		if d := cmp.Diff(calls, route53Calls(r.Calls())); d != "" {
			t.Errorf("calls (-before +after):\n%s", d)
		}
		writes[stays] = r.KubeWrites() - before
	}
	if writes[true] != writes[false] {
		t.Errorf("%d writes with a record that stays, and %d without", writes[true], writes[false])
	}
}
