package tenantsource_test

import (
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

func TestHarm(t *testing.T) {
	domains := func(names ...string) []any {
		var out []any
		for _, name := range names {
			out = append(out, tree{"domain": name})
		}
		return out
	}
	zone := func(id string) tree { return tree{"provider": "route53", "hostedZoneId": id} }
	values := func(store, key string) tree {
		if key == "" {
			return tree{"storeArn": store, "value": "v"}
		}
		return tree{"storeArn": store, "key": key, "value": "v"}
	}
	for name, c := range map[string]struct {
		live, want tree
		// same is set where the row and the template are what was applied last: someone else has changed the object.
		same bool
		// waits is set where the tenant is not in AWS yet, as it waits for the object that it names.
		waits bool
		harm  string
	}{
		"a tenant that is disabled":                             {live: tree{"enabled": true}, want: tree{"enabled": false}, harm: "disables the tenant"},
		"one that is enabled by default":                        {live: tree{}, want: tree{"enabled": false}, harm: "disables the tenant"},
		"a person had enabled it":                               {live: tree{"enabled": true}, want: tree{"enabled": false}, same: true, harm: "disables the tenant"},
		"one that is disabled already":                          {live: tree{"enabled": false}, want: tree{"enabled": false}},
		"one that is enabled":                                   {live: tree{"enabled": false}, want: tree{"enabled": true}},
		"one whose row says nothing any more":                   {live: tree{"enabled": true}, want: tree{}},
		"a domain that is dropped":                              {live: tree{"domains": domains("a", "b")}, want: tree{"domains": domains("b")}, harm: "removes a"},
		"domains that are replaced":                             {live: tree{"domains": domains("b", "a")}, want: tree{"domains": domains("c")}, harm: "removes a, b"},
		"a domain that is added":                                {live: tree{"domains": domains("a")}, want: tree{"domains": domains("a", "b")}},
		"a domain that a person has added stays":                {live: tree{"domains": domains("a", "b")}, want: tree{"domains": domains("a")}, same: true},
		"dns that is dropped":                                   {live: tree{"dns": zone("Z1")}, want: tree{}, harm: "removes the DNS records"},
		"dns of a person stays":                                 {live: tree{"dns": zone("Z1")}, want: tree{}, same: true},
		"dns in whichever zone":                                 {live: tree{"dns": zone("Z1")}, want: tree{"dns": tree{"provider": "route53"}}, harm: "moves the DNS records to whichever zone has the names"},
		"dns with the zone that another sets":                   {live: tree{"dns": zone("Z1")}, want: tree{"dns": tree{"provider": "route53"}}, same: true, harm: ""},
		"dns with another role":                                 {live: tree{"dns": tree{"provider": "route53"}}, want: tree{"dns": tree{"provider": "route53", "assumeRoleArn": "arn"}}, harm: "moves the DNS records to the zones of another role"},
		"dns in another zone":                                   {live: tree{"dns": zone("Z1")}, want: tree{"dns": zone("Z2")}, harm: "moves the DNS records to the zone Z2"},
		"dns that is new":                                       {live: tree{}, want: tree{"dns": zone("Z1")}},
		"dns with another time to live":                         {live: tree{"dns": tree{"hostedZoneId": "Z1", "ttl": int64(60)}}, want: tree{"dns": zone("Z1")}},
		"key values that are dropped":                           {live: tree{"keyValues": values("s", "")}, want: tree{}, harm: "removes the key values"},
		"key values of a person stay":                           {live: tree{"keyValues": values("s", "")}, want: tree{}, same: true},
		"key values in another store":                           {live: tree{"keyValues": values("s", "")}, want: tree{"keyValues": values("t", "")}, harm: "moves the key values to another store"},
		"key values with another key":                           {live: tree{"keyValues": values("s", "k")}, want: tree{"keyValues": values("s", "")}, harm: "moves the key values to other keys"},
		"the key of a person stays":                             {live: tree{"keyValues": values("s", "k")}, want: tree{"keyValues": values("s", "")}, same: true},
		"another value":                                         {live: tree{"keyValues": values("s", "k")}, want: tree{"keyValues": tree{"storeArn": "s", "key": "k", "value": "w"}}},
		"key values that are new":                               {live: tree{}, want: tree{"keyValues": values("s", "")}},
		"another distribution":                                  {live: tree{"distributionId": "E1"}, want: tree{"distributionId": "E2"}, harm: "moves the tenant to the distribution E2"},
		"a person had moved it":                                 {live: tree{"distributionId": "E1"}, want: tree{"distributionId": "E2"}, same: true, harm: "moves the tenant to the distribution E2"},
		"the same distribution":                                 {live: tree{"distributionId": "E1"}, want: tree{"distributionId": "E1"}},
		"another connection group":                              {live: tree{"connectionGroupId": "c1"}, want: tree{"connectionGroupId": "c2"}, harm: "moves the tenant to the connection group c2"},
		"a connection group after the default one":              {live: tree{}, want: tree{"connectionGroupId": "c2"}, harm: "moves the tenant to the connection group c2"},
		"the default connection group":                          {live: tree{"connectionGroupId": "c1"}, want: tree{}, harm: "moves the tenant to the default connection group"},
		"a connection group that a person has set":              {live: tree{"connectionGroupId": "c1"}, want: tree{}, same: true},
		"an object that leads to the same distribution":         {live: tree{"distributionId": "E1"}, want: tree{"distributionRef": tree{"name": "main"}}},
		"the same distribution by its ID again":                 {live: tree{"distributionRef": tree{"name": "main"}}, want: tree{"distributionId": "E1"}},
		"an object that leads to another distribution":          {live: tree{"distributionId": "E1"}, want: tree{"distributionRef": tree{"name": "other"}}, harm: "moves the tenant to the distribution E2"},
		"an object that leads nowhere":                          {live: tree{"distributionId": "E1"}, want: tree{"distributionRef": tree{"name": "new", "namespace": "shop"}}, harm: "moves the tenant to the distribution shop/new"},
		"another object of another distribution":                {live: tree{"distributionRef": tree{"name": "main"}}, want: tree{"distributionRef": tree{"name": "other"}}, harm: "moves the tenant to the distribution E2"},
		"the same object, in so many words":                     {live: tree{"distributionRef": tree{"name": "main"}}, want: tree{"distributionRef": tree{"name": "main", "namespace": "shop"}}},
		"the same object, which is gone":                        {live: tree{"distributionRef": tree{"name": "gone"}}, want: tree{"distributionRef": tree{"name": "gone"}}},
		"an object for one that was waited for":                 {live: tree{"distributionRef": tree{"name": "typo"}}, want: tree{"distributionRef": tree{"name": "other"}}, waits: true},
		"the ID of an object that a tenant has not reached yet": {live: tree{"distributionRef": tree{"name": "other"}}, want: tree{"distributionId": "E2"}},
		"a young tenant that AWS may have already":              {live: tree{"distributionRef": tree{"name": "main"}}, want: tree{"distributionId": "E2"}, waits: true, harm: "moves the tenant to the distribution E2"},
		"a group for one that was waited for":                   {live: tree{"connectionGroupRef": tree{"name": "typo"}}, want: tree{"connectionGroupId": "c2"}, waits: true},
		"an object that leads to the same group":                {live: tree{"connectionGroupId": "c1"}, want: tree{"connectionGroupRef": tree{"name": "static"}}},
		"the default group after an object":                     {live: tree{"connectionGroupRef": tree{"name": "static"}}, want: tree{}, harm: "moves the tenant to the default connection group"},
		"an object that a person has set":                       {live: tree{"connectionGroupRef": tree{"name": "static"}}, want: tree{}, same: true},
		"a tenant that goes with its object now":                {live: tree{"deletionPolicy": "Retain"}, want: tree{"deletionPolicy": "Delete"}, harm: "no longer retains the tenant in AWS"},
		"by default":                                            {live: tree{"deletionPolicy": "Retain"}, want: tree{}, harm: "no longer retains the tenant in AWS"},
		"a tenant that a person retains":                        {live: tree{"deletionPolicy": "Retain"}, want: tree{}, same: true},
		"a tenant that is retained":                             {live: tree{"deletionPolicy": "Delete"}, want: tree{"deletionPolicy": "Retain"}},
		"another parameter":                                     {live: tree{"parameters": []any{tree{"name": "a", "value": "1"}}}, want: tree{"parameters": []any{tree{"name": "a", "value": "2"}}}},
		"all at once, as one text that is always the same":      {live: tree{"domains": domains("a"), "dns": zone("Z1"), "connectionGroupId": "c1"}, want: tree{"enabled": false}, harm: "disables the tenant, removes a, removes the DNS records, moves the tenant to the default connection group"},
	} {
		t.Run(name, func(t *testing.T) {
			led := tenantsource.Parents{DistributionID: "E1", ConnectionGroupID: "c1"}
			if c.waits {
				led = tenantsource.Parents{}
			}
			led.Lead = func(field, _, name string) string {
				return map[string]string{"distributionRef/main": "E1", "distributionRef/other": "E2", "connectionGroupRef/static": "c1"}[field+"/"+name]
			}
			if got := tenantsource.HarmOf(c.live, mapping.Object{Spec: c.want}, !c.same, led); got != c.harm {
				t.Errorf("%q, want %q", got, c.harm)
			}
		})
	}
}
