package dnssuite

import (
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// variant is a kind of provider that the toy can be.
type variant struct {
	traits dns.Traits
	one    bool
	can    Can
}

var variants = map[string]variant{
	"in batches, with aliases": {
		dns.Traits{Batch: dns.Limits{Records: 100, Characters: 10_000}, PageSize: 5, ListZones: "zones", ListRecords: "records"}, false,
		Can{Batch: 100, Page: 5, Atomic: true},
	},
	"in batches, flattened": {
		dns.Traits{Batch: dns.Limits{Records: 200, Characters: 20_000}, PageSize: 5, ListZones: "zones", ListRecords: "records", Apex: dns.FlattenedApex}, false,
		Can{Batch: 200, Page: 5, Atomic: true, NoAlias: "the DNS provider toy has no alias records for a.toy.example: use Auto or CNAME"},
	},
	"one by one": {
		dns.Traits{Batch: dns.Limits{Records: 50, Characters: 10_000}, PageSize: 5, ListZones: "zones", ListRecords: "records", Apex: dns.NoApex}, true,
		Can{
			Batch: 1, Page: 5,
			NoAlias: "the DNS provider toy has no alias records for a.toy.example: use Auto or CNAME",
			NoApex: "toy.example is the apex of its zone, and the DNS provider toy can't lead an apex to CloudFront: " +
				"use a name below it such as www.toy.example, or host the zone at a provider that can, for example route53 or cloudflare",
		},
	},
}

// The second subject, in all kinds.
func TestTheToy(t *testing.T) {
	for name, v := range variants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			Run(t, func(t *testing.T) *Subject {
				t.Helper()
				return newToy(v.traits, v.one).subject(t, v.can)
			})
		})
	}
}
