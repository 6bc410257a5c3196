package publication_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
)

// Records that have come to DNS or left it are reported once: when the ledger shows it first.
func TestChanges(t *testing.T) {
	address := dns.RecordSet{Key: dns.Key{Name: alpha, Type: dns.A}, TTL: 60, Values: []string{"192.0.2.99"}}
	replacing := func(s dns.State) dns.Entry {
		e := entry(alpha, s)
		e.Replaced = dns.Replacing([]dns.RecordSet{address})
		return e
	}
	former := entry(alpha, dns.Retracting)
	former.Value = "d0.cloudfront.net"
	type ledger = []dns.Entry
	published := func(text string) []chain.Event { return []chain.Event{{Reason: "Published", Message: text}} }
	withdrawn := func(text string) []chain.Event { return []chain.Event{{Reason: "Withdrawn", Message: text}} }
	left := []chain.Event{{Warning: true, Reason: "RecordLeft", Message: "Left in DNS, because the operator does not own them: " +
		"CNAME alpha.example.com -> d1.cloudfront.net, CNAME beta.example.com -> d1.cloudfront.net. " +
		"They lead to CloudFront, where nothing answers for them once the distribution tenant is deleted. Delete them at the DNS service. " +
		"If spec.dns.takeover is true before the deletion, the operator deletes such records itself."}}
	for name, test := range map[string]struct {
		before, after ledger
		left          []dns.Record
		standing      dns.Standing
		want          []chain.Event
	}{
		"a quiet ledger has no news":          {before: ledger{entry(alpha, dns.Published)}, after: ledger{entry(alpha, dns.Published)}},
		"an intent is none":                   {after: ledger{entry(alpha, dns.Intended)}},
		"a record that has come is":           {before: ledger{entry(alpha, dns.Intended)}, after: ledger{entry(alpha, dns.Published)}, want: published("Published CNAME alpha.example.com -> d1.cloudfront.net.")},
		"one event tells of several":          {before: ledger{entry(alpha, dns.Intended), entry(beta, dns.Intended)}, after: ledger{entry(alpha, dns.Published), entry(beta, dns.Published)}, want: published("Published CNAME alpha.example.com -> d1.cloudfront.net, CNAME beta.example.com -> d1.cloudfront.net.")},
		"what it has replaced is named":       {before: ledger{replacing(dns.Intended)}, after: ledger{replacing(dns.Published)}, want: published("Published CNAME alpha.example.com -> d1.cloudfront.net instead of A 192.0.2.99 (TTL 60).")},
		"so is a former record of the name":   {before: ledger{former, entry(alpha, dns.Intended)}, after: ledger{entry(alpha, dns.Published)}, want: published("Published CNAME alpha.example.com -> d1.cloudfront.net instead of CNAME d0.cloudfront.net (TTL 300).")},
		"a record that is deleted is":         {before: ledger{entry(alpha, dns.Retracting)}, standing: dns.Standing{Phase: dns.Absent}, want: withdrawn("Deleted CNAME alpha.example.com -> d1.cloudfront.net from DNS.")},
		"with what was put back":              {before: ledger{replacing(dns.Retracting)}, standing: dns.Standing{Phase: dns.Blocked, Found: address.String()}, want: withdrawn("Deleted CNAME alpha.example.com -> d1.cloudfront.net (A 192.0.2.99 (TTL 60) was put back) from DNS.")},
		"what others have replaced is not":    {before: ledger{entry(alpha, dns.Retracting)}, standing: dns.Standing{Phase: dns.Blocked, Found: "A 192.0.2.1"}},
		"nor is what another object has":      {before: ledger{entry(alpha, dns.Retracting)}, standing: dns.Standing{Phase: dns.Occupied}},
		"nor a record that is handed over":    {before: ledger{entry(alpha, dns.Published)}, standing: dns.Standing{Phase: dns.Occupied, HandedOver: true}},
		"nor one that was abandoned":          {before: ledger{entry(alpha, dns.Retracting)}, standing: dns.Standing{Phase: dns.There}},
		"nor one that is still to be deleted": {before: ledger{entry(alpha, dns.Published)}, after: ledger{entry(alpha, dns.Retracting)}, standing: dns.Standing{Phase: dns.There}},
		"a record that stays is":              {left: []dns.Record{record(alpha), record(beta)}, want: left},
	} {
		t.Run(name, func(t *testing.T) {
			view := dns.View{Records: map[dns.Record]dns.Standing{record(alpha): test.standing}}
			if d := cmp.Diff(test.want, publication.Changes(test.before, test.after, test.left, view)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
