package distributiontenant_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// handover is a world in which a domain is handed over from an object of the world's namespace to one of another, or to
// another one of the same.
type handover struct {
	*rig

	t *testing.T
	// domain is handed over, with its record where records is true.
	domain   string
	records  bool
	receiver string
	// named is true where the claim names the receiver.
	named    bool
	sampling bool
	// unrecorded is true where the domain may be missing in DNS for a while.
	unrecorded bool
	gaps       []string
}

func newHandover(t *testing.T, domain string, records bool) *handover {
	t.Helper()
	h := &handover{t: t, domain: domain, records: records}
	h.rig = newRig(t, rigOptions{options: world.Options{Claims: &world.Holds{Own: holdOwn, Customer: holdCustomer}}})
	h.sampled = h.sample
	h.receiver = h.AddNamespace() + "/receiver"
	t.Cleanup(func() {
		if len(h.gaps) > 0 {
			t.Errorf("%s was not served, or not in DNS:\n%s", domain, strings.Join(h.gaps, "\n"))
		}
	})
	return h
}

// within has the receiver in the giver's namespace, where a claim has to name it.
func (h *handover) within() *handover {
	h.receiver, h.named = "receiver", true
	return h
}

// sample looks whether the domain is served, at every change of AWS.
func (h *handover) sample(v sim.View) {
	if !h.sampling {
		return
	}
	if v.Domains()[h.domain] == "" {
		h.gaps = append(h.gaps, fmt.Sprintf("%s: no tenant has it, around %s", v.Now.Format(time.TimeOnly), v.Operation))
	}
	if h.records && !h.unrecorded && v.PublicRouting()[h.domain] == "" {
		h.gaps = append(h.gaps, fmt.Sprintf("%s: it does not lead to CloudFront, around %s (after it: %t): %v", v.Now.Format(time.TimeOnly), v.Operation, v.After, v.PublicRouting()))
	}
}

// object is one with the domains, and records for them where the world has them.
func (h *handover) object(name string, change edit, list ...string) *v1alpha1.DistributionTenant {
	o := h.Tenant(name, domains(list...), change)
	if h.records {
		withDNS()(o)
	}
	if namespace, own, found := strings.Cut(h.receiver, "/"); found && own == name {
		o.Namespace = namespace
	}
	return o
}

func (h *handover) claim(change ...func(*v1alpha1.DomainClaim)) {
	h.t.Helper()
	namespace, receiver, found := strings.Cut(h.receiver, "/")
	if !found {
		namespace, receiver = h.Namespace, h.receiver
	}
	name := h.domain
	if name[0] == '*' {
		name = "0wildcard" + name[1:]
	}
	o := &v1alpha1.DomainClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.DomainClaimSpec{Domain: h.domain, Namespace: namespace, HandOver: true}}
	if h.named {
		o.Spec.TenantRef = &v1alpha1.DomainClaimTenantReference{Name: receiver}
	}
	for _, c := range change {
		c(o)
	}
	if err := h.Kube.Create(h.t.Context(), o); err != nil {
		h.t.Fatal(err)
	}
}

// holds reports whether the object's tenant has the domain in AWS, and whether its ledger has the record.
func (h *handover) holds(name string) (served, recorded bool) {
	h.t.Helper()
	o, found := h.Get(name)
	if !found {
		return false, false
	}
	for _, s := range h.AllInAWS() {
		if s.ARN == o.Status.ARN {
			_, served = s.Domains[h.domain]
		}
	}
	if o.Status.DNS != nil {
		recorded = slices.ContainsFunc(o.Status.DNS.Records, func(r v1alpha1.DNSRecord) bool { return strings.TrimSuffix(r.Name, ".") == h.domain })
	}
	return served, recorded
}

// handedOver checks that everything of the domain is the receiver's.
func (h *handover) handedOver() {
	h.t.Helper()
	is(h.t, h.World, h.receiver, readyTrue, syncedTrue)
	if served, recorded := h.holds(h.receiver); !served || recorded != h.records {
		h.t.Errorf("the receiver has the domain: %t, its record: %t", served, recorded)
	}
	if served, recorded := h.holds("giver"); served || recorded {
		h.t.Errorf("the giver still has the domain: %t, its record: %t", served, recorded)
	}
}

// A domain is handed over to an object of another namespace, or to a named one of the same. It is served, and leads there, at every moment, wherever the
// process ends, and nothing is left of it when both objects are gone.
func TestAHandedOverDomainIsAlwaysServed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		domain  string
		records bool
		change  edit
		within  bool
	}{
		"records of the customer":  {"moves.example.com", false, func(*v1alpha1.DistributionTenant) {}, false},
		"records of the operator":  {"moves.example.com", true, func(*v1alpha1.DistributionTenant) {}, false},
		"a wildcard":               {"*.shop.example.com", true, func(*v1alpha1.DistributionTenant) {}, false},
		"the apex":                 {"example.com", true, func(*v1alpha1.DistributionTenant) {}, false},
		"another connection group": {"moves.example.com", true, func(o *v1alpha1.DistributionTenant) { o.Spec.ConnectionGroupID = secondGroup }, false},
		"drift is only reported":   {"moves.example.com", true, drift(v1alpha1.DriftPolicyReport), false},

		"records of the customer, in one namespace":  {"moves.example.com", false, func(*v1alpha1.DistributionTenant) {}, true},
		"records of the operator, in one namespace":  {"moves.example.com", true, func(*v1alpha1.DistributionTenant) {}, true},
		"a wildcard, in one namespace":               {"*.shop.example.com", true, func(*v1alpha1.DistributionTenant) {}, true},
		"another connection group, in one namespace": {"moves.example.com", true, func(o *v1alpha1.DistributionTenant) { o.Spec.ConnectionGroupID = secondGroup }, true},
	} {
		for n := range 8 {
			t.Run(fmt.Sprintf("%s, crash %d", name, n), func(t *testing.T) {
				t.Parallel()
				h := newHandover(t, tt.domain, tt.records)
				if tt.within {
					h.within()
				}
				h.Apply(h.object("giver", func(*v1alpha1.DistributionTenant) {}, "giver.example.com", tt.domain))
				h.Advance(15 * time.Minute)
				is(t, h.World, "giver", readyTrue, syncedTrue)
				h.sampling = true
				h.claim()
				h.Apply(h.object("receiver", tt.change, "receiver.example.com", tt.domain))
				if n > 0 {
					h.CrashAt(n, n%2 == 0)
				}
				h.Advance(30 * time.Minute)
				h.handedOver()
				is(t, h.World, "giver", refusedHere)

				h.Edit("giver", domains("giver.example.com"))
				h.Advance(30 * time.Minute)
				is(t, h.World, "giver", readyTrue, syncedTrue)
				h.Delete("giver")
				h.Advance(time.Hour)
				gone(t, h.World, "giver")
				h.handedOver()
				h.sampling = false
				h.Delete(h.receiver)
				h.Advance(time.Hour)
				gone(t, h.World, h.receiver)
			})
		}
	}
}

// The giver's domain may be a stranger's by now, before the operator has seen it. A stranger's domain is never taken.
func TestADomainOfAStrangerIsNotHandedOver(t *testing.T) {
	t.Parallel()
	h := newHandover(t, "moves.example.com", false)
	h.Apply(h.object("giver", func(*v1alpha1.DistributionTenant) {}, "giver.example.com", h.domain))
	h.Advance(15 * time.Minute)
	stranger := foreign(t, h.World, "stranger")
	_, err := h.AWS().UpdateDomainAssociation(t.Context(), &cloudfront.UpdateDomainAssociationInput{
		Domain: &h.domain, IfMatch: &stranger.ETag, TargetResource: &types.DistributionResourceId{DistributionTenantId: &stranger.ID},
	})
	if err != nil {
		t.Fatal(err)
	}
	h.claim()
	h.Apply(h.object("receiver", func(*v1alpha1.DistributionTenant) {}, "receiver.example.com", h.domain))
	for range 60 {
		h.Advance(10 * time.Second)
		if now, _ := h.Sim.Tenant("", stranger.ID); now.Domains[h.domain] == "" {
			t.Fatal("the stranger has lost the domain")
		}
	}
	h.Advance(time.Hour)
	is(t, h.World, h.receiver, "Ready=False/DomainConflict", "Synced=False/UpdatePending")
}

// Domains that are not handed over are not moved, and nothing else happens to them.
func TestOnlyAHandOverTakesADomain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		claim func(*v1alpha1.DomainClaim)
		list  []string
		says  string
	}{
		"a reservation":        {func(o *v1alpha1.DomainClaim) { o.Spec.HandOver = false }, []string{"receiver.example.com", "moves.example.com"}, ""},
		"another namespace":    {func(o *v1alpha1.DomainClaim) { o.Spec.Namespace = "elsewhere" }, []string{"receiver.example.com", "moves.example.com"}, ""},
		"no domain of its own": {func(*v1alpha1.DomainClaim) {}, []string{"moves.example.com"}, "Add another domain to spec.domains"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHandover(t, "moves.example.com", true)
			h.Apply(h.object("giver", func(*v1alpha1.DistributionTenant) {}, "giver.example.com", h.domain))
			h.Advance(15 * time.Minute)
			h.sampling = true
			h.claim(tt.claim)
			change := func(*v1alpha1.DistributionTenant) {}
			h.Apply(h.object("receiver", change, tt.list...))
			h.Advance(time.Hour)
			if served, recorded := h.holds("giver"); !served || !recorded {
				t.Errorf("the giver has the domain: %t, its record: %t", served, recorded)
			}
			if tt.says != "" {
				says(t, h.World, h.receiver, "Ready", tt.says)
			}
		})
	}
}

// A claim that names its receiver, in the namespace of the one that has the domain. Another object that asks for it as well
// is told whose it is, and gets nothing.
func TestOnlyTheNamedReceiverTakesADomain(t *testing.T) {
	t.Parallel()
	h := newHandover(t, "moves.example.com", true).within()
	unchanged := func(*v1alpha1.DistributionTenant) {}
	h.Apply(h.object("giver", unchanged, "giver.example.com", h.domain))
	h.Advance(15 * time.Minute)
	h.sampling = true
	h.claim()
	h.Apply(h.object("bystander", unchanged, "bystander.example.com", h.domain))
	h.Advance(30 * time.Minute)
	if served, recorded := h.holds("giver"); !served || !recorded {
		t.Errorf("before the receiver exists, the giver has the domain: %t, its record: %t", served, recorded)
	}
	is(t, h.World, "giver", readyTrue, syncedTrue)
	is(t, h.World, "bystander", refusedHere)
	says(t, h.World, "bystander", "Synced", h.domain+", which is handed over to the DistributionTenant receiver of this namespace")

	h.Apply(h.object("receiver", unchanged, "receiver.example.com", h.domain))
	h.Advance(30 * time.Minute)
	h.handedOver()
	is(t, h.World, "giver", refusedHere)
	is(t, h.World, "bystander", refusedHere)
	if served, recorded := h.holds("bystander"); served || recorded {
		t.Errorf("the bystander has the domain: %t, its record: %t", served, recorded)
	}
}

// The claim is deleted at any time of the move, and made again: the domain is served all the time, and moves in the end.
func TestAClaimIsDeletedMidway(t *testing.T) {
	t.Parallel()
	for after := range 20 {
		t.Run(fmt.Sprintf("after %d looks", after), func(t *testing.T) {
			t.Parallel()
			h := newHandover(t, "moves.example.com", true)
			if after < 10 {
				// Without the claim, objects of one namespace take no records from each other: the giver removes its own, and
				// the receiver adds one.
				h.within().unrecorded = true
			}
			unchanged := func(*v1alpha1.DistributionTenant) {}
			h.Apply(h.object("giver", unchanged, "giver.example.com", h.domain))
			h.Apply(h.object("receiver", unchanged, "receiver.example.com"))
			h.Advance(15 * time.Minute)
			h.sampling = true
			h.claim()
			h.Edit(h.receiver, domains("receiver.example.com", h.domain))
			h.Advance(time.Duration(after%10) * 15 * time.Second)
			for _, o := range h.DomainClaims() {
				if err := h.Kube.Delete(t.Context(), o); err != nil {
					t.Fatal(err)
				}
			}
			h.Advance(30 * time.Minute)
			h.claim()
			h.Advance(time.Hour)
			h.Edit("giver", domains("giver.example.com"))
			h.Advance(30 * time.Minute)
			is(t, h.World, "giver", readyTrue, syncedTrue)
			h.handedOver()
		})
	}
}
