package distributiontenant_test

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// Write access to status must not give a way to change zones: an entry that could never have been published is not part
// of a ledger. The rig watches the records of others.
func TestAForgedLedgerIsNotBelieved(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.serving("alpha", withDNS())
	forged := func(state v1alpha1.RecordState) []v1alpha1.DNSRecord {
		return []v1alpha1.DNSRecord{
			{ZoneID: coveredZone, Name: "other.example.com", Type: "CNAME", Value: "elsewhere.example.org", TTL: 77, State: state},
			{ZoneID: coveredZone, Name: "_dmarc.example.com", Type: "TXT", Value: "v=DMARC1; p=none", TTL: 300, State: state},
			{ZoneID: coveredZone, Name: "new.example.com", Type: "CNAME", Value: "attacker.example.org", TTL: 300, State: state},
		}
	}
	for _, state := range []v1alpha1.RecordState{"Retracting", "Published", "Intended"} {
		setStatus(t, r.World, "alpha", func(s *v1alpha1.DistributionTenantStatus) {
			s.DNS.Records = append(s.DNS.Records, forged(state)...)
		})
		nudge(r.World, "alpha", string(state))
		r.Advance(10 * time.Minute)
		r.has(coveredZone, "CNAME alpha.example.com "+mainEndpoint+" 300")
		if n := len(get(t, r.World, "alpha").Status.DNS.Records); n != 1 {
			t.Errorf("status has %d records", n)
		}
	}
	r.removed("alpha")
}

// An object that takes another one's place before that was seen to be gone gets its records.
func TestAnObjectThatTookThePlaceOfAnother(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.serving("alpha", withDNS())
	former := r.freed("alpha")
	adopts := func(o *v1alpha1.DistributionTenant) { o.Spec.AdoptionPolicy = v1alpha1.AdoptionPolicyIfUnowned }
	r.Apply(r.Tenant("alpha", withDNS(), adopts))
	r.Advance(10 * time.Minute)
	if now := get(t, r.World, "alpha"); now.UID == former.UID {
		t.Fatal("it is the same object")
	}
	is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
}

// freed deletes an object at once, as removing its finalizer does.
func (r *rig) freed(name string) *v1alpha1.DistributionTenant {
	r.t.Helper()
	o := get(r.t, r.World, name)
	base := o.DeepCopy()
	o.Finalizers = nil
	if err := r.Kube.Patch(r.t.Context(), o, client.MergeFrom(base)); err != nil {
		r.t.Fatal(err)
	}
	if err := r.Kube.Delete(r.t.Context(), o); err != nil {
		r.t.Fatal(err)
	}
	return o
}
