package distributiontenant_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// mainDistribution is an object that stands for the distribution of the quiet world.
func mainDistribution() distributiontenant.Reference {
	return distributiontenant.Reference{Field: distributiontenant.DistributionRef, Kind: "Distribution", Namespace: "shop", Name: "main", Found: true, ID: "E1"}
}

func staticGroup() distributiontenant.Reference {
	return distributiontenant.Reference{Field: distributiontenant.ConnectionGroupRef, Kind: "ConnectionGroup", Namespace: "shop", Name: "static", Found: true, ID: "cg_1"}
}

// referring makes the spec name its distribution by an object, to which the changes happened since it was last applied.
func referring(changes ...func(*distributiontenant.Reference)) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		if in.Deleting {
			return
		}
		r := mainDistribution()
		for _, change := range changes {
			change(&r)
		}
		in.Desired.DistributionID = ""
		if in.Memory.AppliedGeneration > 0 {
			in.Memory.Parents = distributiontenant.Parents{DistributionID: "E1"}
		}
		in.Refer([]distributiontenant.Reference{r})
	}
}

// grouped makes the spec name both parents by objects.
func grouped(changes ...func(*distributiontenant.Reference)) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		r := staticGroup()
		for _, change := range changes {
			change(&r)
		}
		referring()(in)
		in.Memory.Parents.ConnectionGroupID = "cg_1"
		in.Refer([]distributiontenant.Reference{mainDistribution(), r})
	}
}

// The problems of an object that the spec names.
func notFound(r *distributiontenant.Reference) {
	*r = distributiontenant.Reference{Field: r.Field, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
}
func goingAway(r *distributiontenant.Reference)     { r.Deleting = true }
func notCreated(r *distributiontenant.Reference)    { r.ID, r.NotReady = "", resource.ReasonQuotaExceeded }
func neverSeen(r *distributiontenant.Reference)     { r.ID = "" }
func direct(r *distributiontenant.Reference)        { r.Direct = true }
func disabledGroup(r *distributiontenant.Reference) { r.Disabled = true }

func replacedBy(id string) func(*distributiontenant.Reference) {
	return func(r *distributiontenant.Reference) { r.ID = id }
}

func TestReferences(t *testing.T) {
	for name, q := range referenceCases() {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}

func referenceCases() map[string]question {
	waits := func(in distributiontenant.Input, reason chain.Reason) question {
		return question{in: in, rule: "Referenced", step: distributiontenant.Rest{}, reason: reason}
	}
	moved := with(quiet(), referring(replacedBy("E2")))
	move := target(moved)
	move.DistributionID = "E2"
	update := distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: move}
	regrouped := with(quiet(), grouped(replacedBy("cg_2")))
	follow := distributiontenant.Rest{Follow: true, After: 2 * retry.FollowEvery}
	nudged := func(in *distributiontenant.Input) {
		in.Nudged, in.World.TenantFresh, in.World.TagsFresh = true, true, true
	}
	fallenOut := func(in *distributiontenant.Input) {
		in.Memory.Conditions = map[chain.ConditionType]chain.Condition{
			chain.Ready:  {Type: chain.Ready, Status: true, Reason: resource.ReasonDeployed, Generation: 2},
			chain.Synced: {Type: chain.Synced, Reason: distributiontenant.ReasonReferenceNotReady, Generation: 2},
		}
	}
	return map[string]question{
		"a reference that leads to what is in AWS changes nothing": {in: with(quiet(), grouped()), rule: "Idle", step: distributiontenant.Rest{}},
		"a new tenant is created with what its reference leads to": {in: with(unborn(), referring()), rule: "TenantPresent", step: createIn("E1")},
		"a new tenant waits for an object that does not exist":     waits(with(unborn(), referring(notFound)), distributiontenant.ReasonReferenceNotReady),
		"a new tenant waits for one that is not in AWS":            waits(with(unborn(), referring(neverSeen)), distributiontenant.ReasonReferenceNotReady),
		"a new tenant does not use one that is being deleted":      waits(with(unborn(), referring(goingAway)), distributiontenant.ReasonReferenceNotReady),
		"a standard distribution has no tenants":                   waits(with(unborn(), referring(direct)), resource.ReasonValidationFailed),
		"a disabled group takes no tenants":                        waits(with(unborn(), grouped(disabledGroup)), distributiontenant.ReasonReferenceNotReady),
		"a tenant whose parent is lost stays as it is":             waits(with(quiet(), referring(notFound)), distributiontenant.ReasonReferenceNotReady),
		"and so it stays whatever else has changed":                waits(with(quiet(), referring(notFound), edited, drifted), distributiontenant.ReasonReferenceNotReady),
		"and when its tags drift":                                  waits(with(quiet(), referring(goingAway), tagged(me.Tags())), distributiontenant.ReasonReferenceNotReady),
		"and when the list shows that it moved":                    waits(with(quiet(), referring(goingAway), listed, movedETag), distributiontenant.ReasonReferenceNotReady),
		"and when a certificate is asked for":                      waits(with(quiet(), referring(goingAway), requested, edited, func(in *distributiontenant.Input) { in.World.ManagedKnown = true }), distributiontenant.ReasonReferenceNotReady),
		"a tenant that was deleted outside is not created again":   waits(with(quiet(), referring(notFound), absent), distributiontenant.ReasonReferenceNotReady),
		"a person who asks gets a fresh look, and no write":        waits(with(quiet(), referring(notFound), nudged, drifted), distributiontenant.ReasonReferenceNotReady),
		"a tenant that may be adopted is not, before it is known what it should be": waits(
			with(quiet(), referring(notFound), tagged(nil), freshTags, adoption(resource.AdoptIfUnowned)), distributiontenant.ReasonReferenceNotReady,
		).by("Owned"),
		"a tenant without our finalizer gets it all the same": {
			in: with(quiet(), referring(notFound), func(in *distributiontenant.Input) { in.HasFinalizer = false }), rule: "Finalized", step: distributiontenant.EnsureFinalizer{},
		},
		"a deployment is followed meanwhile": {
			in: with(quiet(), referring(notFound), inProgress), rule: "Referenced", step: follow, reason: distributiontenant.ReasonReferenceNotReady,
		},
		"a certificate that is underway is looked at meanwhile": {
			in: with(quiet(), referring(notFound), requested, edited, pendingCertificate), rule: "Referenced",
			step: distributiontenant.Rest{After: 5 * time.Minute}, reason: distributiontenant.ReasonReferenceNotReady,
		},
		"a tenant moves to what its reference leads to now":                    {in: moved, rule: "InSync", step: update},
		"and does so under every drift policy":                                 {in: with(moved, drift(resource.DriftReport)), rule: "InSync", step: update},
		"and the list proves nothing then":                                     {in: with(moved, listed), rule: "Fresh", step: distributiontenant.Look{At: distributiontenant.LookTenant}},
		"and it does so although the generation was corrected often":           {in: with(quiet(), worn, referring(replacedBy("E2"))), rule: "InSync", step: update},
		"a tenant moves to the group that its reference leads to now":          {in: regrouped, rule: "InSync", step: distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: groupOf(target(regrouped), "cg_2")}},
		"a move to another distribution in AWS is corrected":                   {in: with(quiet(), referring(), strayed), rule: "InSync", step: distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: target(quiet()), Drift: []resource.Difference{{Field: "distributionId", Desired: "E1", Observed: "E9"}}}},
		"or left there under driftPolicy report":                               {in: with(quiet(), referring(), strayed, drift(resource.DriftReport)), rule: "Idle", step: distributiontenant.Rest{}},
		"a parent that comes back costs no read of a tenant that stayed":       {in: with(quiet(), referring(), fallenOut, listed), rule: "Idle", step: distributiontenant.Rest{}},
		"one that moved meanwhile is read":                                     {in: with(quiet(), referring(), fallenOut, listed, movedETag), rule: "Fresh", step: distributiontenant.Look{At: distributiontenant.LookTenant}},
		"a parent that AWS does not know is called by the name that it has":    {in: with(unborn(), referring(), missingDistribution), rule: "TenantPresent", step: distributiontenant.Rest{}, reason: resource.ReasonValidationFailed, stuck: true},
		"what failed with another parent is tried at once":                     {in: with(unborn(), referring(), failing(now, now), referring(replacedBy("E2"))), rule: "TenantPresent", step: createIn("E2")},
		"what failed with this one waits for its turn":                         {in: with(unborn(), referring(), failing(now, now), referring()), rule: "TenantPresent", step: distributiontenant.Rest{After: 5 * time.Second, KeepConditions: true}},
		"a paused tenant is paused, whatever its references lead to":           {in: with(quiet(), referring(notFound), func(in *distributiontenant.Input) { in.Paused = true }), rule: "Paused", step: distributiontenant.Rest{}},
		"names are not published for a tenant whose parent does not exist":     waits(with(unborn(), referring(notFound), requested, asksForDNS), distributiontenant.ReasonReferenceNotReady),
		"a foreign tenant of that name is reported before a missing reference": {in: with(quiet(), referring(notFound), taggedFor(other), freshTags), rule: "Owned", step: distributiontenant.Rest{}, reason: resource.ReasonAdoptionRequired, stuck: true},
	}
}

func (q question) by(rule string) question {
	q.rule = rule
	return q
}

func groupOf(t distributiontenant.Tenant, id string) distributiontenant.Tenant {
	t.ConnectionGroupID = id
	return t
}

func createIn(distribution string) distributiontenant.Create {
	t := spec().Tenant
	t.DistributionID = distribution
	return distributiontenant.Create{Tenant: t, Tags: quiet().World.Tags}
}

func worn(in *distributiontenant.Input) {
	in.Attempts = distributiontenant.Attempts{Tries: resource.Tries{AcceptedFor: in.Generation, Corrections: resource.MaxCorrections, LastCorrection: now}}
}

func strayed(in *distributiontenant.Input) {
	change(in, func(t *distributiontenant.Observed) { t.DistributionID = "E9" })
}

func missingDistribution(in *distributiontenant.Input) {
	in.World.Distribution = &distributiontenant.Distribution{Missing: true}
}

func asksForDNS(in *distributiontenant.Input) {
	in.Desired.DNS = &publication.Spec{Zone: dns.Selector{Name: "example.com"}}
}

// An object that is being deleted does not look at its references, even if they are lost.
func TestDeletionResolvesNoReference(t *testing.T) {
	for name, q := range removeCases() {
		t.Run(name, func(t *testing.T) {
			// This is what an object is like that names its parents by objects only.
			q.in.Desired.DistributionID, q.in.Desired.ConnectionGroupID = "", ""
			q.in.Memory.Parents = distributiontenant.Parents{DistributionID: "E1", ConnectionGroupID: "cg_1"}
			ask(t, q)
			r := distributiontenant.Conclude(q.in, distributiontenant.Outcome{Decision: distributiontenant.Decide(q.in)})
			if r.Parents != q.in.Memory.Parents {
				t.Errorf("status forgets the parents: %+v", r.Parents)
			}
		})
	}
}

func TestConditionsOfReferences(t *testing.T) {
	tests := map[string]struct {
		in            distributiontenant.Input
		ready, synced string
		says          []string
	}{
		"a missing object is named": {
			in: with(unborn(), referring(notFound)), ready: "false/ReferenceNotReady", synced: "false/UpdatePending",
			says: []string{"spec.distributionRef", "Distribution shop/main", "does not exist", "Create it"},
		},
		"one that is being deleted is reported": {
			in: with(unborn(), referring(goingAway)), ready: "false/ReferenceNotReady", synced: "false/UpdatePending",
			says: []string{"Distribution shop/main", "is being deleted"},
		},
		"one that is not in AWS has its own reason repeated": {
			in: with(unborn(), referring(notCreated)), ready: "false/ReferenceNotReady", synced: "false/UpdatePending",
			says: []string{"Distribution shop/main", "does not exist in AWS yet", "QuotaExceeded"},
		},
		"a standard distribution names the field to change": {
			in: with(unborn(), referring(direct)), ready: "false/ValidationFailed", synced: "false/UpdatePending",
			says: []string{"connectionMode direct", "tenant-only"},
		},
		"a disabled group names the field to change": {
			in: with(unborn(), grouped(disabledGroup)), ready: "false/ReferenceNotReady", synced: "false/UpdatePending",
			says: []string{"spec.connectionGroupRef", "ConnectionGroup shop/static", "spec.enabled"},
		},
		"a tenant that serves stays ready": {
			in: with(quiet(), referring(notFound)), ready: "true/Deployed", synced: "false/ReferenceNotReady",
			says: []string{"Distribution shop/main", "the distribution tenant is not changed"},
		},
		"also on a distribution that is none for tenants by now": {
			in: with(quiet(), referring(direct)), ready: "true/Deployed", synced: "false/ValidationFailed",
		},
		"a tenant that is being deployed is not":    {in: with(quiet(), referring(notFound), inProgress), ready: "false/Deploying", synced: "false/ReferenceNotReady"},
		"a tenant that was disabled outside is not": {in: with(quiet(), referring(notFound), disabledTenant), ready: "false/AWSError", synced: "false/ReferenceNotReady"},
		"a move is pending until it was sent":       {in: with(quiet(), referring(replacedBy("E2"))), ready: "true/Deployed", synced: "false/UpdatePending"},
		"a tenant that hangs where it should is in sync": {
			in: with(quiet(), grouped()), ready: "true/Deployed", synced: "true/InSync",
		},
		"a new domain is published when it is known where": {
			in: with(quiet(), referring(notFound), asksForDNS, edited), ready: "false/DNSRecordCreating", synced: "false/ReferenceNotReady",
			says: []string{"alpha.example.com is published once the objects that the spec references"},
		},
		"a parent that AWS does not know is called by its name and its ID": {
			in: with(unborn(), referring(), missingDistribution), ready: "false/ValidationFailed", synced: "false/UpdatePending",
			says: []string{"spec.distributionRef main (E1)"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := conclude(test.in)
			got := conditions(r)
			if got[chain.Ready] != test.ready || got[chain.Synced] != test.synced {
				t.Errorf("Ready %s, Synced %s, want %s and %s", got[chain.Ready], got[chain.Synced], test.ready, test.synced)
			}
			var text []string
			for _, c := range r.Conditions {
				text = append(text, c.Message)
			}
			for _, piece := range test.says {
				if !strings.Contains(strings.Join(text, "\n"), piece) {
					t.Errorf("nothing says %q: %q", piece, text)
				}
			}
		})
	}
}

// Status remembers the parents that AWS was made equal to, and the ETag that was compared.
func TestMemoryOfReferences(t *testing.T) {
	accepted := func(in *distributiontenant.Input) {
		in.Attempts.AcceptedFor, in.Attempts.Accepted = in.Generation, resource.WroteConfig
	}
	tests := map[string]struct {
		in      distributiontenant.Input
		parents distributiontenant.Parents
		eTag    string
	}{
		"equal":                          {with(quiet(), grouped()), distributiontenant.Parents{DistributionID: "E1", ConnectionGroupID: "cg_1"}, "E-1"},
		"by ID":                          {quiet(), distributiontenant.Parents{DistributionID: "E1"}, "E-1"},
		"not moved yet":                  {with(quiet(), referring(replacedBy("E2"))), distributiontenant.Parents{DistributionID: "E1"}, "E-1"},
		"moved":                          {with(quiet(), referring(replacedBy("E2")), accepted), distributiontenant.Parents{DistributionID: "E2"}, "E-1"},
		"accepted for the parent before": {with(quiet(), referring(), accepted, referring(replacedBy("E2"))), distributiontenant.Parents{DistributionID: "E1"}, "E-1"},
		"lost":                           {with(quiet(), referring(notFound)), distributiontenant.Parents{DistributionID: "E1"}, "E-1"},
		"lost, and changed in AWS":       {with(quiet(), referring(notFound), movedETag), distributiontenant.Parents{DistributionID: "E1"}, ""},
		"lost when it had drifted": {
			with(quiet(), referring(notFound), func(in *distributiontenant.Input) {
				in.Memory.Conditions = map[chain.ConditionType]chain.Condition{chain.Synced: {Type: chain.Synced, Reason: resource.ReasonDriftDetected, Generation: 2}}
			}), distributiontenant.Parents{DistributionID: "E1"}, "",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := conclude(test.in)
			if d := cmp.Diff(test.parents, r.Parents); d != "" {
				t.Errorf("parents (-want +got):\n%s", d)
			}
			if r.ETag != test.eTag {
				t.Errorf("ETag %q, want %q", r.ETag, test.eTag)
			}
			if test.in.Unresolved() && len(r.Drift) > 0 {
				t.Errorf("drift from an unknown value is reported: %v", r.Drift)
			}
		})
	}
}

// While it is unknown what is asked for, no name is published, and the only one that is deleted leads to nothing.
func TestDNSWhileAReferenceLeadsNowhere(t *testing.T) {
	record := func(name string) dns.Record {
		return dns.Record{ZoneID: playedZone, Name: name, Type: "CNAME", Value: endpoint, TTL: 300}
	}
	entry := func(name string, s dns.State) dns.Entry { return dns.Entry{Record: record(name), State: s} }
	led := func(entries ...dns.Entry) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) {
			asksForDNS(in)
			in.World.ZonesKnown, in.World.Zones = true, []dns.Zone{{ID: playedZone, Name: "example.com"}}
			in.World.DNS = dns.View{Records: map[dns.Record]dns.Standing{}}
			for _, e := range entries {
				in.World.DNS.Records[e.Record] = dns.Standing{Phase: dns.There}
			}
			in.Memory.Ledger = entries
		}
	}
	const alpha, beta = "alpha.example.com", "beta.example.com"
	without := func(in *distributiontenant.Input) { in.Desired.DNS = nil }
	tests := map[string]struct {
		in   distributiontenant.Input
		want []dns.Entry
	}{
		"what the tenant has stays":                       {with(quiet(), led(entry(alpha, dns.Published)), referring(notFound)), []dns.Entry{entry(alpha, dns.Published)}},
		"also when the spec asks for no DNS":              {with(quiet(), led(entry(alpha, dns.Published)), without, edited, referring(notFound)), []dns.Entry{entry(alpha, dns.Published)}},
		"nothing new comes":                               {with(quiet(), led(), referring(notFound)), nil},
		"a name without a tenant is deleted":              {with(unborn(), led(entry(alpha, dns.Published)), func(in *distributiontenant.Input) { in.HasFinalizer = true }, requested, referring(notFound)), []dns.Entry{entry(alpha, dns.Retracting)}},
		"a name that the tenant does not have is deleted": {with(quiet(), led(entry(beta, dns.Published)), referring(notFound)), []dns.Entry{entry(beta, dns.Retracting)}},
		"nothing is concluded from not knowing":           {with(quiet(), unknown, led(entry(alpha, dns.Published)), referring(notFound)), []dns.Entry{entry(alpha, dns.Published)}},
		"nor while a create may be on its way":            {with(unborn(), marked(time.Second), led(entry(alpha, dns.Published)), func(in *distributiontenant.Input) { in.HasFinalizer = true }, referring(notFound)), []dns.Entry{entry(alpha, dns.Published)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(test.want, test.in.NextLedger()); d != "" && len(test.want)+len(test.in.NextLedger()) > 0 {
				t.Errorf("ledger (-want +got):\n%s", d)
			}
			if _, extent := test.in.Wants(); extent != dns.Whole {
				t.Error("the zones would keep to what was declared before")
			}
		})
	}
}

// A claim that replaced a whole one before each look, and was replaced after it, would wake its object again and again.
func TestWhatIsDeclaredBeforeTheTenantWasLookedFor(t *testing.T) {
	ends := func(in *distributiontenant.Input) { in.Deleting = true }
	published := func(in *distributiontenant.Input) { in.Desired.DNS = &publication.Spec{TTL: 300} }
	for name, test := range map[string]struct {
		in   distributiontenant.Input
		want dns.Extent
	}{
		"a tenant that is known":                        {quiet(), dns.Whole},
		"one that was not looked for yet, without DNS":  {with(quiet(), unknown), dns.Whole},
		"at the end of the object":                      {with(quiet(), unknown, ends), dns.Blind},
		"unless the records are abandoned":              {with(quiet(), unknown, ends, func(in *distributiontenant.Input) { in.Policy.AbandonDNS = true }), dns.Whole},
		"also while a create may be on its way":         {with(unborn(), marked(time.Second), ends), dns.Blind},
		"one that was never created":                    {with(unborn(), ends), dns.Whole},
		"one that is gone, at the end of the object":    {with(quiet(), absent, ends), dns.Whole},
		"one that was not looked for yet, with records": {with(quiet(), published, unknown), dns.Blind},
	} {
		if _, got := test.in.Wants(); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}
