package distributiontenant_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// record is the one that publishes a domain of these tests.
func record(domain string) dns.Record {
	return dns.Record{ZoneID: "Z1", Name: domain, Type: dns.CNAME, Value: "d1.cloudfront.net", TTL: 300}
}

func entry(domain string, state dns.State) dns.Entry {
	return dns.Entry{Record: record(domain), State: state}
}

const alphaName, betaName = "alpha.example.com", "beta.example.com"

// deniedRole is one that the administrator has not granted.
const deniedRole = "arn:aws:iam::111122223333:role/denied"

// published asks for DNS in a zone that was read.
func publishing(in *distributiontenant.Input) {
	in.Desired.DNS = &publication.Spec{Zone: dns.Selector{Name: "example.com"}, TTL: 300}
	in.World.Zones, in.World.ZonesKnown, in.World.IPv6Known = []dns.Zone{{ID: "Z1", Name: "example.com"}}, true, true
}

// ledger is what is ours, and phase where all of it stands.
func ledger(phase dns.Phase, entries ...dns.Entry) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		in.Memory.Ledger = entries
		for _, e := range entries {
			stands(e.Name, dns.Standing{Phase: phase})(in)
		}
	}
}

func stands(domain string, s dns.Standing) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		records := map[dns.Record]dns.Standing{record(domain): s}
		for r, old := range in.World.DNS.Records {
			if r != record(domain) {
				records[r] = old
			}
		}
		in.World.DNS.Records = records
	}
}

func names(domains ...string) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) { in.Desired.Domains = domains }
}

// has gives the tenant those domains, all served.
func has(domains ...string) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		change(in, func(t *distributiontenant.Observed) {
			t.Domains, t.DomainStates = domains, map[string]string{}
			for _, d := range domains {
				t.DomainStates[d] = distributiontenant.DomainActive
			}
		})
	}
}

// validated is a tenant with a certificate that CloudFront manages.
func validated(in *distributiontenant.Input) {
	sent(in)
	serving(in)
	managed(newARN, certificate.Issued)(in)
	attachedTo(newARN)(in)
}

// aliased asks for alias records.
func aliased(in *distributiontenant.Input) {
	in.Desired.DNS = &publication.Spec{Zone: dns.Selector{Name: "example.com"}, TTL: 300, Type: dns.Alias}
}

func holding(in *distributiontenant.Input) { in.HasFinalizer = true }

func TestPublishing(t *testing.T) {
	for name, q := range publishCases() {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}

func publishCases() map[string]question {
	early := with(unborn(), requested, publishing, holding)
	there := ledger(dns.There, entry(alphaName, dns.Published))
	create := distributiontenant.Decide(with(unborn(), requested)).Step
	waits := func(in distributiontenant.Input, reason chain.Reason) question {
		return question{in: in, rule: "PublishedFirst", step: distributiontenant.Rest{}, reason: reason}
	}
	refusedSince := func(reason chain.Reason) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) {
			in.Memory.Failure = &resource.Failure{Reason: reason, Generation: in.Generation, Since: now.Add(-time.Minute)}
			in.Attempts.Last = now.Add(-10 * time.Second)
		}
	}
	due := func(in *distributiontenant.Input) {
		in.Memory.Failure.Since, in.Attempts.Last = now.Add(-6*time.Minute), now.Add(-4*time.Minute)
	}
	held := distributiontenant.Rest{After: 20 * time.Second, KeepConditions: true}
	asks := func(in *distributiontenant.Input) { in.World.AsksResolvers = true }
	takeover := func(in *distributiontenant.Input) {
		in.Desired.DNS = &publication.Spec{Zone: in.Desired.DNS.Zone, TTL: 300, Takeover: true}
	}
	live := with(quiet(), validated, publishing, there)
	added := with(live, names(alphaName, betaName), edited)
	wanted := target(quiet())
	wanted.Domains, wanted.Customizations.CertificateARN = []string{alphaName, betaName}, newARN
	without := wanted
	without.Domains = []string{alphaName}
	both := ledger(dns.There, entry(alphaName, dns.Published), entry(betaName, dns.Published))
	leaving := with(quiet(), publishing, has(alphaName, betaName), edited, both)
	replaced := with(live, names(betaName), edited, ledger(dns.Leaving, entry(alphaName, dns.Retracting)), stands(betaName, dns.Standing{Phase: dns.There}))
	swapped := wanted
	swapped.Domains = []string{betaName}
	return map[string]question{
		// Domains that CloudFront proves come first.
		"an object gets its finalizer before anything is published": {in: with(early, func(in *distributiontenant.Input) { in.HasFinalizer = false }), rule: "PublishedFirst", step: distributiontenant.EnsureFinalizer{}},
		"a mistake in the spec is reported before anything is published": {
			in: with(early, func(in *distributiontenant.Input) { in.Desired.Parameters = map[string]string{"no": "such"} }), rule: "PublishedFirst",
			step: distributiontenant.Rest{}, reason: resource.ReasonValidationFailed, stuck: true,
		},
		"the zones are looked up":                  {in: with(early, func(in *distributiontenant.Input) { in.World.ZonesKnown = false }), rule: "PublishedFirst", step: distributiontenant.Look{At: distributiontenant.LookZones}},
		"and where they have to lead":              {in: with(early, func(in *distributiontenant.Input) { in.World.RoutingKnown, in.World.RoutingEndpoint = false, "" }), rule: "PublishedFirst", step: distributiontenant.Look{At: distributiontenant.LookRouting}},
		"for an alias also which addresses it has": {in: with(early, func(in *distributiontenant.Input) { in.World.IPv6Known = false }, aliased), rule: "PublishedFirst", step: distributiontenant.Look{At: distributiontenant.LookIPv6}},
		"a tenant waits for its records":           waits(with(early, stands(alphaName, dns.Standing{Phase: dns.Absent})), publication.ReasonDNSRecordCreating),
		"until they are in sync":                   waits(with(early, ledger(dns.Coming, entry(alphaName, dns.Intended))), publication.ReasonDNSPropagating),
		"a zone that is not there":                 waits(with(early, func(in *distributiontenant.Input) { in.World.Zones = nil }), publication.ReasonZoneNotFound),
		"two that could be meant": waits(with(early, func(in *distributiontenant.Input) {
			in.World.Zones = append(in.World.Zones, dns.Zone{ID: "Z2", Name: "example.com"})
		}), publication.ReasonZoneAmbiguous),
		"a name that is about to be taken over": waits(with(early, stands(alphaName, dns.Standing{Phase: dns.Blocked, Found: "CNAME x"}), takeover), publication.ReasonDNSRecordCreating),
		"a name that no takeover replaces":      waits(with(early, stands(alphaName, dns.Standing{Phase: dns.Blocked, Found: "MX x", Fixed: true}), takeover), publication.ReasonDNSConflict),
		"a name that is taken":                  waits(with(early, stands(alphaName, dns.Standing{Phase: dns.Blocked, Found: "CNAME x"})), publication.ReasonDNSConflict),
		"zones that can't be read": waits(with(early, func(in *distributiontenant.Input) {
			in.World.Zones, in.World.Unlisted = nil, &fault.Error{Kind: fault.Denied, Operation: "ListHostedZones"}
		}), publication.ReasonDNSError),
		"a role that was not granted can't publish it": {in: with(early, func(in *distributiontenant.Input) { in.Policy.DeniedRole = deniedRole }), rule: "PublishedFirst", step: distributiontenant.Rest{}, reason: publication.ReasonRoleNotAllowed},
		"then it is created":                           {in: with(early, there), rule: "TenantPresent", step: create},
		"a record that is to be deleted has to stay first": {
			in: with(early, ledger(dns.There, entry(alphaName, dns.Retracting))), rule: "PublishedFirst",
			step: distributiontenant.Rest{Store: true}, reason: publication.ReasonDNSRecordCreating,
		},
		"also before the next try of what was refused": {
			in: with(early, ledger(dns.There, entry(alphaName, dns.Retracting)), refusedSince(resource.ReasonDomainConflict), due), rule: "PublishedFirst",
			step: distributiontenant.Rest{Store: true, KeepConditions: true},
		},
		"once that is stored it is created":                {in: with(early, ledger(dns.There, entry(alphaName, dns.Intended))), rule: "TenantPresent", step: create},
		"public DNS is asked where that was set up":        {in: with(early, there, asks), rule: "PublishedFirst", step: distributiontenant.Look{At: distributiontenant.LookVisible}},
		"and waited for":                                   {in: with(early, there, asks, func(in *distributiontenant.Input) { in.World.VisibleKnown = true }), rule: "PublishedFirst", step: distributiontenant.Rest{After: 10 * time.Second}, reason: publication.ReasonDNSPropagating},
		"until it sees the records":                        {in: with(early, there, asks, func(in *distributiontenant.Input) { in.World.VisibleKnown, in.World.Visible = true, true }), rule: "TenantPresent", step: create},
		"what AWS refused waits with its names out of DNS": {in: with(early, refusedSince(resource.ReasonQuotaExceeded)), rule: "TenantPresent", step: distributiontenant.Rest{After: 4 * time.Minute, KeepConditions: true}},
		"what AWS does not see yet waits with them in":     {in: with(early, there, refusedSince(resource.ReasonDomainValidationPending)), rule: "TenantPresent", step: held},
		"when it is due the names come first again, and what was refused stays said": {
			in: with(early, refusedSince(resource.ReasonQuotaExceeded), due, stands(alphaName, dns.Standing{Phase: dns.Absent})), rule: "PublishedFirst", step: distributiontenant.Rest{KeepConditions: true},
		},
		"unless it is DNS now":                  waits(with(early, refusedSince(resource.ReasonQuotaExceeded), due, stands(alphaName, dns.Standing{Phase: dns.Blocked, Found: "CNAME x"})), publication.ReasonDNSConflict),
		"what others prove needs no DNS before": {in: with(unborn(), publishing, func(in *distributiontenant.Input) { in.World.ZonesKnown = false }), rule: "TenantPresent", step: distributiontenant.Decide(unborn()).Step},
		"what the user's host proves neither": {
			in: with(early, func(in *distributiontenant.Input) {
				in.Desired.Request = &certificate.Request{ValidationTokenHost: certificate.SelfHosted}
			}), rule: "TenantPresent",
			step: distributiontenant.Create{Tenant: spec().Tenant, Tags: distributiontenant.Decide(unborn()).Step.(distributiontenant.Create).Tags, Request: &certificate.Request{ValidationTokenHost: certificate.SelfHosted}},
		},

		// A tenant that is there.
		"the zones of a live tenant are looked up": {in: with(quiet(), publishing, func(in *distributiontenant.Input) { in.World.ZonesKnown = false }), rule: "ZonesKnown", step: distributiontenant.Look{At: distributiontenant.LookZones}},
		"and not once all is published": {
			in: with(live, func(in *distributiontenant.Input) {
				in.World.ZonesKnown = false
				in.Memory.Conditions[distributiontenant.DNSReady] = chain.Condition{Type: distributiontenant.DNSReady, Status: true, Reason: publication.ReasonDNSReady, Generation: in.Generation}
			}),
			rule: "Idle", step: distributiontenant.Rest{},
		},
		"what differs is corrected before any zone is": {
			in: with(quiet(), publishing, drifted, func(in *distributiontenant.Input) { in.World.ZonesKnown = false }), rule: "InSync", step: distributiontenant.Decide(with(quiet(), drifted)).Step,
		},
		"a new domain waits for its record": {in: with(added, stands(betaName, dns.Standing{Phase: dns.Absent})), rule: "DomainsHeld", step: distributiontenant.Rest{}, reason: distributiontenant.ReasonDomainChangeHeld},
		"what else has changed does not wait, and is only a part": {
			in: with(added, drifted, stands(betaName, dns.Standing{Phase: dns.Absent})), rule: "InSync",
			step: distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: without, Partial: true},
		},
		"then it comes with a request of its own": {in: with(added, both), rule: "InSync", step: distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: wanted, Request: added.Desired.Request}},
		"a domain whose record is to be deleted waits": {
			in: with(added, ledger(dns.There, entry(alphaName, dns.Published), entry(betaName, dns.Retracting))), rule: "DomainsHeld",
			step: distributiontenant.Rest{Store: true}, reason: distributiontenant.ReasonDomainChangeHeld,
		},
		"one that AWS refused waits out of DNS":    {in: with(added, refusedSince(resource.ReasonDomainConflict)), rule: "DomainsHeld", step: held},
		"also while an earlier change is deployed": {in: with(added, inProgress, refusedSince(resource.ReasonDomainConflict)), rule: "DomainsHeld", step: held},
		"and until its record is there for the next try": {
			in: with(added, inProgress, refusedSince(resource.ReasonDomainConflict), due, stands(betaName, dns.Standing{Phase: dns.Absent})), rule: "DomainsHeld", step: distributiontenant.Rest{KeepConditions: true},
		},
		"one that was not refused lets a deployment speak": {in: with(added, inProgress, stands(betaName, dns.Standing{Phase: dns.Absent})), rule: "Settled", step: distributiontenant.Rest{Follow: true, After: 20 * time.Second}, reason: resource.ReasonDeploying},
		"a domain is removed when its record is gone":      {in: leaving, rule: "DomainsHeld", step: distributiontenant.Rest{}, reason: resource.ReasonUpdatePending},
		"not while any server still has it":                {in: with(leaving, ledger(dns.Leaving, entry(betaName, dns.Retracting))), rule: "DomainsHeld", step: distributiontenant.Rest{}, reason: resource.ReasonUpdatePending},
		"and then at once":                                 {in: with(leaving, ledger(dns.There, entry(alphaName, dns.Published))), rule: "InSync", step: distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: target(quiet())}},
		"a zone that is gone has no record":                {in: with(leaving, ledger(dns.NoZone, entry(betaName, dns.Retracting))), rule: "InSync", step: distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: target(quiet())}},
		"one that replaces another waits for it":           {in: replaced, rule: "DomainsHeld", step: distributiontenant.Rest{}, reason: distributiontenant.ReasonDomainChangeHeld},
		"and both change with one request":                 {in: with(replaced, ledger(dns.There, entry(betaName, dns.Published))), rule: "InSync", step: distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: swapped, Request: live.Desired.Request}},
		"a tenant keeps its last domain until then":        {in: with(live, names(betaName), edited, ledger(dns.Absent), stands(betaName, dns.Standing{Phase: dns.Blocked})), rule: "DomainsHeld", step: distributiontenant.Rest{}, reason: distributiontenant.ReasonDomainChangeHeld},
	}
}

// The ledger is stored before anything is done in a zone, and says all that may be done.
func TestLedger(t *testing.T) {
	absentThere := stands(alphaName, dns.Standing{Phase: dns.Absent})
	ours := entry(alphaName, dns.Published)
	there := ledger(dns.There, ours)
	early := with(unborn(), requested, publishing, holding)
	covered := with(quiet(), publishing)
	deny := func(in *distributiontenant.Input) { in.Policy.DeniedRole = deniedRole }
	fresh := func(in *distributiontenant.Input) {
		in.World.DNS, in.World.ZonesKnown, in.World.Zones = dns.View{}, false, nil
	}
	failing := func(reason chain.Reason) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) {
			in.Memory.Failure = &resource.Failure{Reason: reason, Generation: in.Generation, Since: now.Add(-time.Minute)}
			in.Attempts.Last = now
		}
	}
	account := func(mine, caller string) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) {
			in.Memory.Account, in.World.Account = mine, caller
			change(in, func(t *distributiontenant.Observed) {
				t.ARN = "arn:aws:cloudfront::" + caller + ":distribution-tenant/dt_1"
			})
		}
	}
	alias := dns.Record{ZoneID: "Z1", Name: alphaName, Type: dns.A, Value: "d1.cloudfront.net"}
	six := alias
	six.Type = dns.AAAA
	text := dns.Record{ZoneID: "Z1", Name: "_cf-challenge." + alphaName, Type: dns.TXT, Value: "d1.cloudfront.net", TTL: 300}
	aliases := []dns.Entry{{Record: text, State: dns.Published}, {Record: alias, State: dns.Published}, {Record: six, State: dns.Published}}
	for name, test := range map[string]struct {
		in   distributiontenant.Input
		want []dns.Entry
	}{
		"what CloudFront proves is intended before the tenant": {with(early, absentThere), []dns.Entry{entry(alphaName, dns.Intended)}},
		"not for an object that could go without being asked":  {with(early, absentThere, func(in *distributiontenant.Input) { in.HasFinalizer = false }), nil},
		"not for a spec that AWS would refuse": {with(early, absentThere, func(in *distributiontenant.Input) {
			in.Desired.DistributionID, in.World.Distribution = "E2", &distributiontenant.Distribution{Missing: true}
		}), nil},
		"what a certificate covers waits for the tenant": {with(unborn(), publishing, holding, absentThere), nil},
		"for CloudFront to answer": {with(covered, absentThere, func(in *distributiontenant.Input) {
			change(in, func(t *distributiontenant.Observed) { t.DomainStates = nil })
		}), nil},
		"and for the deployment":                         {with(covered, absentThere, inProgress), nil},
		"then it is intended":                            {with(covered, absentThere), []dns.Entry{entry(alphaName, dns.Intended)}},
		"an intent that is there is published":           {with(covered, ledger(dns.There, entry(alphaName, dns.Intended))), []dns.Entry{ours}},
		"what is published stays through a deployment":   {with(covered, there, inProgress), []dns.Entry{ours}},
		"and through a deletion outside, to be put back": {with(covered, ledger(dns.Absent, ours)), []dns.Entry{ours}},
		"a foreign record is not taken":                  {with(covered, stands(alphaName, dns.Standing{Phase: dns.Blocked})), nil},
		"unless that was asked for": {with(covered, stands(alphaName, dns.Standing{Phase: dns.Blocked}), func(in *distributiontenant.Input) {
			in.Desired.DNS = &publication.Spec{Zone: in.Desired.DNS.Zone, TTL: 300, Takeover: true}
		}), []dns.Entry{entry(alphaName, dns.Intended)}},
		"what another object holds is left to it": {with(covered, stands(alphaName, dns.Standing{Phase: dns.Occupied})), nil},
		"a fresh process changes nothing":         {with(covered, there, fresh), []dns.Entry{ours}},
		"also before the list was read":           {with(covered, there, fresh, unknown), []dns.Entry{ours}},
		"also being deleted":                      {with(dying(), publishing, there, fresh, unknown), []dns.Entry{ours}},
		"and nothing while all writes are halted": {with(dying(), publishing, there, func(in *distributiontenant.Input) {
			in.Halt = &chain.Halt{Reason: "ClusterMoved", Message: "Look here."}
		}), []dns.Entry{ours}},
		"a paused object changes nothing": {with(dying(), publishing, there, func(in *distributiontenant.Input) { in.Paused = true }), []dns.Entry{ours}},
		"nor one that can't be read": {with(dying(), publishing, there, func(in *distributiontenant.Input) {
			in.World.Unreadable = &fault.Error{Kind: fault.Denied, Operation: "ListHostedZones"}
		}), []dns.Entry{ours}},
		"nor one with another account's credentials":          {with(dying(), publishing, there, account("111", "222")), []dns.Entry{ours}},
		"nor one that is absent in an unknown account":        {with(dying(), publishing, there, absent, account("111", "")), []dns.Entry{ours}},
		"nor one whose role is not granted":                   {with(dying(), publishing, there, deny), []dns.Entry{ours}},
		"one that is abandoned has none":                      {with(dying(), publishing, there, deny, func(in *distributiontenant.Input) { in.Policy.AbandonDNS = true }), nil},
		"abandoning means nothing to an object that lives":    {with(covered, there, deny, func(in *distributiontenant.Input) { in.Policy.AbandonDNS = true }), []dns.Entry{ours}},
		"a tenant that is deleted is removed from DNS":        {with(dying(), publishing, there), []dns.Entry{entry(alphaName, dns.Retracting)}},
		"what is kept stays in":                               {with(dying(), publishing, there, func(in *distributiontenant.Input) { in.Policy.Retain = true }), []dns.Entry{ours}},
		"not what was never there to be kept":                 {with(dying(), publishing, there, absent, func(in *distributiontenant.Input) { in.Policy.Retain = true }), []dns.Entry{entry(alphaName, dns.Retracting)}},
		"nor the records of a foreign tenant":                 {with(dying(), publishing, there, taggedFor(other), func(in *distributiontenant.Input) { in.Policy.Retain = true }), []dns.Entry{entry(alphaName, dns.Retracting)}},
		"records are deleted when DNS is no longer asked for": {with(quiet(), edited, there), []dns.Entry{entry(alphaName, dns.Retracting)}},
		"a tenant that AWS refuses takes its names back":      {with(early, there, absent, refused(fault.Quota)), []dns.Entry{entry(alphaName, dns.Retracting)}},
		"and keeps them back until the next try":              {with(early, ledger(dns.Absent), absentThere, failing(resource.ReasonQuotaExceeded)), nil},
		"one whose domain AWS does not see yet leaves them":   {with(early, there, absent, refused(fault.DomainUnverified)), []dns.Entry{ours}},
		"one that is gone and not known yet changes nothing":  {with(covered, ledger(dns.Leaving, entry(alphaName, dns.Retracting)), unknown, failing(resource.ReasonQuotaExceeded)), []dns.Entry{entry(alphaName, dns.Retracting)}},
		"a foreign tenant of our name takes them back": {with(early, there, func(in *distributiontenant.Input) {
			in.World.Knowledge, in.World.Tenant = resource.Whole, quiet().World.Tenant
		}, taggedFor(other), freshTags), []dns.Entry{entry(alphaName, dns.Retracting)}},
		"what serves while it is in doubt whose the tenant is stays: all tags are gone": {with(covered, there, tagged(nil), freshTags), []dns.Entry{ours}},
		"or replaced by those of a policy":                                              {with(covered, there, tagged(map[string]string{"team": "web"}), freshTags, failing(resource.ReasonAdoptionRequired)), []dns.Entry{ours}},
		"or name an object of this name that is gone":                                   {with(covered, there, taggedFor(ownership.Owner{Cluster: "c1", Namespace: "shop", Name: "alpha", UID: "u0"}), freshTags), []dns.Entry{ours}},
		"or another cluster ID":                                                         {with(covered, there, taggedFor(ownership.Owner{Cluster: "c2", Namespace: "shop", Name: "alpha", UID: "u1"}), freshTags), []dns.Entry{ours}},
		"also what the spec does not ask for any more":                                  {with(quiet(), edited, there, tagged(nil), freshTags), []dns.Entry{ours}},
		"and what was being deleted is not deleted":                                     {with(covered, ledger(dns.There, entry(alphaName, dns.Retracting)), tagged(nil), freshTags), []dns.Entry{entry(alphaName, dns.Retracting)}},
		"nothing new is published meanwhile":                                            {with(covered, there, names(alphaName, betaName), edited, stands(betaName, dns.Standing{Phase: dns.Absent}), tagged(nil), freshTags), []dns.Entry{ours}},
		"a live object that owns the tenant has its names":                              {with(covered, there, taggedFor(other), freshTags, ownerAlive), []dns.Entry{entry(alphaName, dns.Retracting)}},
		"another tenant under our name serves none of ours":                             {with(covered, there, tagged(nil), freshTags, func(in *distributiontenant.Input) { in.Memory.ID = "dt_0" }), []dns.Entry{entry(alphaName, dns.Retracting)}},
		"an object that is deleted takes its names back, whoever has the tenant":        {with(dying(), publishing, there, tagged(nil), freshTags), []dns.Entry{entry(alphaName, dns.Retracting)}},
		"a new domain is intended before the tenant has it":                             {with(quiet(), validated, publishing, there, names(alphaName, betaName), edited, stands(betaName, dns.Standing{Phase: dns.Absent})), []dns.Entry{ours, entry(betaName, dns.Intended)}},
		"not while a request is pending, which may take days":                           {with(quiet(), sent, managed(newARN, certificate.Pending), publishing, there, names(alphaName, betaName), edited, stands(betaName, dns.Standing{Phase: dns.Absent})), []dns.Entry{ours}},
		"one that AWS refuses is taken back":                                            {with(quiet(), validated, publishing, names(alphaName, betaName), edited, ledger(dns.There, ours, entry(betaName, dns.Published)), refused(fault.DomainTaken), func(in *distributiontenant.Input) { in.World.HolderKnown = true }), []dns.Entry{ours, entry(betaName, dns.Retracting)}},
		"a failed certificate takes nothing back":                                       {with(quiet(), sent, managed(newARN, certificate.TimedOut), publishing, there, failedSince(time.Hour, time.Minute)), []dns.Entry{ours}},
		"whether there is IPv6 is known before an address is deleted":                   {with(covered, aliased, func(in *distributiontenant.Input) { in.World.IPv6Known, in.Memory.Ledger = false, aliases }), aliases},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(test.want, conclude(test.in).Ledger, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// A process that has just begun says what the one before it said, until it has seen for itself.
func TestAFreshProcessChangesNoCondition(t *testing.T) {
	fresh := func(in *distributiontenant.Input) {
		in.World.DNS, in.World.ManagedKnown, in.World.Managed, in.Attempts = dns.View{}, false, nil, distributiontenant.Attempts{}
	}
	there := ledger(dns.There, entry(alphaName, dns.Published))
	for name, in := range map[string]distributiontenant.Input{
		"published":          with(quiet(), publishing, there),
		"on its way":         with(quiet(), publishing, ledger(dns.Coming, entry(alphaName, dns.Intended))),
		"taken":              with(quiet(), publishing, stands(alphaName, dns.Standing{Phase: dns.Blocked, Found: "CNAME x"})),
		"refused":            with(quiet(), publishing, ledger(dns.Refused, entry(alphaName, dns.Intended)), stands(alphaName, dns.Standing{Phase: dns.Refused, Err: &fault.Error{Kind: fault.Invalid}})),
		"with a certificate": with(quiet(), validated, publishing, there),
	} {
		t.Run(name, func(t *testing.T) {
			before := distributiontenant.Outcome{Decision: distributiontenant.Decide(in)}
			first := distributiontenant.Conclude(in, before)
			again := writtenBack(in, before, first)
			again.Memory.Ledger, again.Memory.Certificate, again.Memory.Certificates, again.Memory.Requested = first.Ledger, first.Certificate, first.Certificates, first.Requested
			fresh(&again)
			second := conclude(again)
			if d := cmp.Diff(first.Conditions, second.Conditions); d != "" {
				t.Errorf("conditions (-before +after):\n%s", d)
			}
			if d := cmp.Diff(first.Ledger, second.Ledger); d != "" {
				t.Errorf("ledger (-before +after):\n%s", d)
			}
		})
	}
}

func TestRetracting(t *testing.T) {
	for name, q := range retractCases() {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}

func retractCases() map[string]question {
	leaving := ledger(dns.Leaving, entry(alphaName, dns.Retracting))
	broken := stands(alphaName, dns.Standing{Phase: dns.Unknown, Err: &fault.Error{Kind: fault.Denied, Operation: "ListHostedZones"}})
	retain := func(in *distributiontenant.Input) { in.Policy.Retain = true }
	owning := with(dying(), requested, disabledTenant, attachedTo(newARN))
	seen := func(in *distributiontenant.Input) {
		in.World.ManagedKnown, in.World.Managed = true, &certificate.Managed{ARN: newARN, State: certificate.Issued}
	}
	stored := func(in *distributiontenant.Input) { in.Memory.Certificates = []string{newARN} }
	unseen := func(ago time.Duration) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) {
			in.Memory.Requested = &certificate.Sent{At: now.Add(-ago)}
			in.World.ManagedKnown, in.Attempts.CertificateSeen = true, now
		}
	}
	left := with(dying(), requested, absent, stored)
	acm := func(c distributiontenant.Certificate) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) {
			in.World.Certificates = map[string]distributiontenant.Certificate{newARN: c}
		}
	}
	ours := distributiontenant.Certificate{ARN: newARN, CloudFrontManaged: true}
	used, hidden, theirs := ours, ours, ours
	used.InUse, hidden.Unreadable, theirs.CloudFrontManaged = true, true, false
	keep := func(in *distributiontenant.Input) { in.Policy.RetainCertificates = true }
	look := distributiontenant.Look{At: distributiontenant.LookCertificates, ARNs: []string{newARN}}
	del := distributiontenant.Delete{ID: tenantID, ETag: "E-1"}
	waits := func(in distributiontenant.Input, reason chain.Reason) question {
		return question{in: in, rule: "DNSRemoved", step: distributiontenant.Rest{}, reason: reason}
	}
	gone := func(in distributiontenant.Input) question {
		return question{in: in, rule: "Gone", step: distributiontenant.LetGo{}}
	}
	return map[string]question{
		"where the tenant is comes before all":         {in: with(dying(), publishing, leaving, unknown), rule: "Located", step: distributiontenant.Look{At: distributiontenant.LookTenant}},
		"nothing happens under a name that leads here": waits(with(dying(), publishing, ledger(dns.There, entry(alphaName, dns.Published))), resource.ReasonDeleting),
		"nor while any server still has it":            waits(with(dying(), publishing, leaving), resource.ReasonDeleting),
		"also where DNS is not in the spec any more":   waits(with(dying(), leaving), resource.ReasonDeleting),
		"also where there never was a tenant":          waits(with(dying(), publishing, leaving, absent), resource.ReasonDeleting),
		"a zone that can't be changed is reported":     waits(with(dying(), publishing, leaving, broken), publication.ReasonDNSError),
		"a role that was not granted too":              waits(with(dying(), publishing, leaving, func(in *distributiontenant.Input) { in.Policy.DeniedRole = deniedRole }), publication.ReasonRoleNotAllowed),
		"a person may abandon the records":             {in: with(dying(), publishing, leaving, broken, func(in *distributiontenant.Input) { in.Policy.AbandonDNS = true }), rule: "Disabled", step: distributiontenant.Disable{ID: tenantID, ETag: "E-1"}},
		"a tenant that is kept keeps its names":        {in: with(dying(), publishing, ledger(dns.There, entry(alphaName, dns.Published)), retain), rule: "Retained", step: distributiontenant.Decide(with(dying(), retain)).Step},
		"a zone that is gone has no record":            {in: with(dying(), publishing, ledger(dns.NoZone, entry(alphaName, dns.Retracting))), rule: "Disabled", step: distributiontenant.Disable{ID: tenantID, ETag: "E-1"}},

		"which certificate is the tenant's is read while AWS can tell": {in: owning, rule: "CertificatesLearned", step: distributiontenant.Look{At: distributiontenant.LookManaged}},
		"also where one was only assumed": {
			in: with(owning, func(in *distributiontenant.Input) {
				in.Attempts.CertificateSeen, in.Attempts.CertificateETag, in.Attempts.Certificate = now, "E-1", &certificate.Managed{State: certificate.Pending}
			}),
			rule: "CertificatesLearned", step: distributiontenant.Look{At: distributiontenant.LookManaged},
		},
		"also where the request is in the spec no more": {
			in: with(owning, func(in *distributiontenant.Input) {
				in.Memory.Requested = &certificate.Sent{}
				in.Desired.Request = nil
			}), rule: "CertificatesLearned", step: distributiontenant.Look{At: distributiontenant.LookManaged},
		},
		"one that was requested a moment ago may not show yet": {
			in: with(owning, unseen(5*time.Second)), rule: "CertificatesLearned", step: distributiontenant.Rest{After: 10 * time.Second}, reason: resource.ReasonDeleting,
		},
		"one that never shows was not made":                    {in: with(owning, unseen(5*time.Minute)), rule: "Deleted", step: del},
		"it is stored":                                         {in: with(owning, seen), rule: "CertificatesLearned", step: distributiontenant.Rest{Store: true}},
		"and then the tenant is deleted":                       {in: with(owning, seen, stored), rule: "Deleted", step: del},
		"no one is asked where they are kept":                  {in: with(owning, keep), rule: "Deleted", step: del},
		"then they are looked at":                              {in: left, rule: "CertificatesGone", step: look},
		"and deleted":                                          {in: with(left, acm(ours)), rule: "CertificatesGone", step: distributiontenant.DeleteCertificate{ARN: newARN}},
		"one in use is waited for, ever longer":                {in: with(left, acm(used)), rule: "CertificatesGone", step: distributiontenant.Rest{}, reason: resource.ReasonDeleting, stuck: true},
		"also where ACM reports that for the deletion":         {in: with(left, acm(ours), refused(fault.InUse)), rule: "CertificatesGone", step: distributiontenant.Rest{}, reason: resource.ReasonDeleting, stuck: true},
		"any other refusal is reported":                        {in: with(left, acm(ours), refused(fault.Denied)), rule: "CertificatesGone", step: distributiontenant.Rest{}, reason: resource.ReasonAccessDenied, stuck: true},
		"one that can't be read is reported":                   {in: with(left, acm(hidden)), rule: "CertificatesGone", step: distributiontenant.Rest{}, reason: resource.ReasonAccessDenied, stuck: true},
		"one that CloudFront does not manage is never deleted": gone(with(left, acm(theirs))),
		"one that is gone is gone":                             gone(with(left, acm(distributiontenant.Certificate{ARN: newARN, Missing: true}))),
		"one that the spec names is the user's":                gone(with(left, func(in *distributiontenant.Input) { in.Desired.Customizations.CertificateARN = newARN })),
		"all stay where they are kept":                         gone(with(left, keep)),
		"and under Retain":                                     gone(with(left, retain)),
	}
}

// The role that is missing need not be the one that the spec names.
func TestWhichRoleIsMissing(t *testing.T) {
	denied := func(in *distributiontenant.Input) { in.Policy.DeniedRole = deniedRole }
	named := func(role string) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) { in.Desired.DNS.RoleARN = role }
	}
	left := ledger(dns.Unknown, entry(alphaName, dns.Published))
	const change, remove = "use another role in spec.dns.assumeRoleArn", "needed to remove DNS records"
	for name, test := range map[string]struct {
		in   distributiontenant.Input
		says string
	}{
		"the one that the spec names":                 {with(quiet(), publishing, named(deniedRole), denied), change},
		"the one that the spec named before":          {with(quiet(), publishing, named("arn:aws:iam::111122223333:role/granted"), left, denied), remove},
		"one of a ledger, where no DNS is asked for":  {with(quiet(), left, denied), remove},
		"one of a ledger, where the object is to go":  {with(dying(), left, denied), "abandon-dns"},
		"the one that the spec names, where it is so": {with(dying(), publishing, named(deniedRole), left, denied), "abandon-dns"},
	} {
		t.Run(name, func(t *testing.T) {
			d := distributiontenant.Decide(test.in)
			report := distributiontenant.Conclude(test.in, distributiontenant.Outcome{Decision: d})
			text := ""
			if d.Problem != nil {
				text = d.Problem.Message
			}
			for _, c := range report.Conditions {
				if c.Type != distributiontenant.DNSReady {
					continue
				}
				text += c.Message
				if c.Status || c.Reason != publication.ReasonRoleNotAllowed {
					t.Errorf("DNSReady is %t, %s", c.Status, c.Reason)
				}
			}
			if !strings.Contains(text, test.says) || !strings.Contains(text, deniedRole) {
				t.Errorf("it says %q", text)
			}
		})
	}
}
