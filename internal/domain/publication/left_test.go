package publication_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
)

// deleted is the first pass over an object that is being deleted, and that was Ready with its record in DNS.
func deleted(changes ...func(*publication.Case)) publication.Case {
	c := served(phase(alpha, dns.There), func(c *publication.Case) {
		c.Publishes, c.Deleting, c.Generation = false, true, 3
		c.Before = &chain.Condition{Type: publication.Ready, Status: true, Reason: publication.ReasonDNSReady, Message: "As before.", Generation: 2}
	})
	for _, change := range changes {
		change(&c)
	}
	return c
}

// The records that were there before the object stay when the tenant goes. That is told once, and costs no look.
func TestLeft(t *testing.T) {
	before := func(reason chain.Reason) func(*publication.Case) {
		return func(c *publication.Case) { c.Before.Reason = reason }
	}
	retained := func(c *publication.Case) { c.Retained = true }
	unread := func(c *publication.Case) {
		c.Tenant = publication.Tenant{Unknown: true, Remembered: true, Perhaps: true}
	}
	address := dns.Record{ZoneID: "Z1", Name: alpha, Type: dns.A, Value: "d1.cloudfront.net"}
	address6, challenge := address, dns.Record{ZoneID: "Z1", Name: "_cf-challenge." + alpha, Type: dns.TXT, Value: "d1.cloudfront.net", TTL: 300}
	address6.Type = dns.AAAA
	one := []dns.Record{record(alpha)}
	for name, test := range map[string]struct {
		in          publication.Case
		wants, left []dns.Record
		ledger      []dns.Entry
		reason      chain.Reason
	}{
		"a record that was there before":          {in: deleted(), wants: one, left: one, reason: publication.ReasonDNSNotConfigured},
		"beside one of its own":                   {in: deleted(wants(alpha, beta), led(entry(beta, dns.Published)), phase(beta, dns.There)), wants: one, left: one, ledger: []dns.Entry{entry(beta, dns.Retracting)}, reason: publication.ReasonDNSPropagating},
		"that a takeover came too late for":       {in: deleted(func(c *publication.Case) { c.Spec.Takeover = true }), wants: one, left: one, reason: publication.ReasonDNSNotConfigured},
		"of a tenant that is gone already":        {in: deleted(unborn), wants: one, left: one, reason: publication.ReasonDNSNotConfigured},
		"told already":                            {in: deleted(before(publication.ReasonDNSNotConfigured)), reason: publication.ReasonDNSNotConfigured},
		"told while its own are still deleted":    {in: deleted(before(publication.ReasonDNSPropagating), wants(alpha, beta), led(entry(beta, dns.Retracting)), phase(beta, dns.Leaving)), ledger: []dns.Entry{entry(beta, dns.Retracting)}, reason: publication.ReasonDNSPropagating},
		"no record of its own":                    {in: deleted(led(entry(alpha, dns.Published))), ledger: []dns.Entry{entry(alpha, dns.Retracting)}, reason: publication.ReasonDNSPropagating},
		"none that is given up on purpose":        {in: deleted(led(entry(alpha, dns.Published)), func(c *publication.Case) { c.Abandoned = true }), reason: publication.ReasonDNSNotConfigured},
		"none that is not there":                  {in: deleted(phase(alpha, dns.Absent)), wants: one, reason: publication.ReasonDNSNotConfigured},
		"none that is another object's":           {in: deleted(phase(alpha, dns.Occupied)), wants: one, reason: publication.ReasonDNSNotConfigured},
		"none that was changed":                   {in: deleted(phase(alpha, dns.Blocked)), wants: one, reason: publication.ReasonDNSNotConfigured},
		"none in a zone that was not read":        {in: deleted(phase(alpha, dns.Unknown)), wants: one, reason: publication.ReasonDNSNotConfigured},
		"none of a tenant that stays":             {in: deleted(retained), reason: publication.ReasonDNSNotConfigured},
		"none yet of one that may stay":           {in: deleted(retained, unread, func(c *publication.Case) { c.Blind = true }), wants: one, reason: publication.ReasonDNSReady},
		"none of a tenant that is someone else's": {in: deleted(func(c *publication.Case) { c.Tenant.Ours = false }), reason: publication.ReasonDNSNotConfigured},
		"none before the deletion goes on":        {in: deleted(func(c *publication.Case) { c.Held = true }), wants: one, reason: publication.ReasonDNSReady},
		"none while paused":                       {in: deleted(func(c *publication.Case) { c.Still = true }), wants: one, reason: publication.ReasonDNSReady},
		"none while the tenant can't be read":     {in: deleted(func(c *publication.Case) { c.Blind = true }), wants: one, reason: publication.ReasonDNSReady},
		"none with a role that is not granted":    {in: deleted(func(c *publication.Case) { c.DeniedRole = "arn:role" }), reason: publication.ReasonRoleNotAllowed},
		"none where the zones are not known":      {in: deleted(func(c *publication.Case) { c.ZonesKnown = false }), reason: publication.ReasonDNSNotConfigured},
		"none where no records are asked for":     {in: deleted(func(c *publication.Case) { c.Spec = nil }), reason: publication.ReasonDNSNotConfigured},
		"the group is not asked for IPv6": {
			in: deleted(func(c *publication.Case) {
				c.Spec.Type, c.IPv6Known = dns.Alias, false
				c.View.Records[address], c.View.Records[challenge] = dns.Standing{Phase: dns.There}, dns.Standing{Phase: dns.There}
				c.View.Records[address6] = dns.Standing{Phase: dns.Absent}
			}),
			wants: []dns.Record{challenge, address, address6}, left: []dns.Record{challenge, address}, reason: publication.ReasonDNSNotConfigured,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := publication.Judge(test.in)
			for what, d := range map[string]string{
				"wants": cmp.Diff(none(test.wants), none(f.Wants)), "left": cmp.Diff(none(test.left), none(f.Left)), "ledger": cmp.Diff(none(test.ledger), none(f.Ledger)),
			} {
				if d != "" {
					t.Errorf("%s (-want +got):\n%s", what, d)
				}
			}
			if f.Ready.Reason != test.reason || f.Lacks != publication.LacksNothing || f.Ready.Generation != 3 {
				t.Errorf("it is %+v and lacks %d, want %s", f.Ready, f.Lacks, test.reason)
			}
		})
	}
}

// Nothing is left while the object lives, and the condition names what would be.
func TestNothingIsLeftByALivingObject(t *testing.T) {
	if f := publication.Judge(served(phase(alpha, dns.There))); len(f.Left) > 0 || len(f.Wants) != 1 {
		t.Errorf("left %v, wants %v", f.Left, f.Wants)
	}
}
