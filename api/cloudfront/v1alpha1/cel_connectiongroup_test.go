package v1alpha1_test

import (
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/limits"
)

const leastGroup = `{}`

// groupCases are those of a ConnectionGroup.
func groupCases() map[string]limits.Case {
	return limits.Merged(groupRules, inTarget(tenantCases), inTarget(sharedCases), resourceCases(), limits.Lists(
		limits.ListBound{Field: "customerTargets", Set: limits.In("customerTargets: %s"), Item: "{name: t%d.shop.example, dns: {provider: route53}}", Least: 0, Most: 16},
	), limits.Texts(
		limits.TextBound{
			Field: "customerTargets[0].name", Set: limits.In("customerTargets: [{name: %s, dns: {provider: route53}}]").Text, Longest: 253, Shortest: "a.io", Valid: longestDomain,
		},
		limits.TextBound{Field: "name", Set: limits.In("name: %s").Text, Longest: 128, Shortest: "g"},
		limits.TextBound{Field: "anycastIpListId", Set: limits.In("anycastIpListId: %s").Text, Longest: 64, Shortest: "a"},
	))
}

// inTarget makes the cases of spec.dns of a tenant those of a customer target.
func inTarget(cases map[string]limits.Case) map[string]limits.Case {
	nested := map[string]limits.Case{}
	for name, tc := range cases {
		if !strings.HasPrefix(tc.Refused, "dns: {") {
			continue
		}
		says := slices.Clone(tc.Says)
		says[0] = strings.Replace(says[0], "spec.dns", "spec.customerTargets[0].dns", 1)
		nested["customer target: "+name] = limits.Case{
			Accepted: "customerTargets: [{name: t.shop.example, " + tc.Accepted + "}]",
			Refused:  "customerTargets: [{name: t.shop.example, " + tc.Refused + "}]",
			Says:     says,
		}
	}
	return nested
}

var groupRules = map[string]limits.Case{
	"a group is enabled or not": {
		Accepted: `enabled: false`,
		Refused:  `enabled: "no"`,
		Says:     []string{"spec.enabled", "boolean"},
	},
	"a group has IPv6 addresses or not": {
		Accepted: `ipv6Enabled: false`,
		Refused:  `ipv6Enabled: dualstack`,
		Says:     []string{"spec.ipv6Enabled", "boolean"},
	},
	"a list of addresses is named by its ID": {
		Accepted: `anycastIpListId: aip_2whCJoXMYCjHcxaLGrkllvyABC`,
		Refused:  `anycastIpListId: "arn:aws:cloudfront::111122223333:anycast-ip-list/aip_1"`,
		Says:     []string{"spec.anycastIpListId", `anycast-ip-list/aip_1" is not the ID of an Anycast static IP list`, "use the ID"},
	},
	"a customer target has a name in a zone": {
		Accepted: `customerTargets: [{name: cname.shop.example, dns: {provider: route53}}, {name: shop.example, dns: {provider: cloudflare}}]`,
		Refused:  `customerTargets: [{name: "*.shop.example", dns: {provider: route53}}]`,
		Says:     []string{"spec.customerTargets[0].name", `"*.shop.example" is not a fully qualified domain name`, "no wildcard"},
	},
	"a customer target does not lead to itself": {
		Accepted: `customerTargets: [{name: cloudfront.net.shop.example, dns: {provider: route53}}]`,
		Refused:  `customerTargets: [{name: d111.cloudfront.net, dns: {provider: route53}}]`,
		Says:     []string{"spec.customerTargets[0].name", `"d111.cloudfront.net" is a name of CloudFront`, "zone of your own"},
	},
	"a customer target is listed once": {
		Accepted: `customerTargets: [{name: a.shop.example, dns: {provider: route53}}, {name: b.shop.example, dns: {provider: route53}}]`,
		Refused:  `customerTargets: [{name: a.shop.example, dns: {provider: route53}}, {name: a.shop.example, dns: {provider: route53}}]`,
		Says:     []string{"spec.customerTargets[1]", "Duplicate value"},
	},
	"a customer target says where it is published": {
		Accepted: `customerTargets: [{name: a.shop.example, dns: {provider: azure, account: main, zoneName: shop.example}}]`,
		Refused:  `customerTargets: [{name: a.shop.example}]`,
		Says:     []string{"spec.customerTargets[0].dns", "Required value"},
	},
	"a customer target has a name": {
		Accepted: `customerTargets: []`,
		Refused:  `customerTargets: [{dns: {provider: route53}}]`,
		Says:     []string{"spec.customerTargets[0].name", "Required value"},
	},
	"the name of a group has no spaces": {
		Accepted: `name: CreatedByCloudFront-1.eu/west_2`,
		Refused:  `name: my group`,
		Says:     []string{"spec.name", `"my group" is not a connection group name`, "without spaces"},
	},
	"the name of a group is ASCII": {
		Accepted: `name: "!~"`,
		Refused:  `name: größe`,
		Says:     []string{"spec.name", `"größe" is not a connection group name`, "128 ASCII characters"},
	},
	"an object name that is too long for a group needs spec.name": {
		Name:     strings.Repeat("n", 129),
		Accepted: `name: short`,
		Refused:  `{}`,
		Says:     []string{"spec.name", "at most 128 characters", "set spec.name"},
	},
	"an object name that is just short enough needs none": {
		Name:     strings.Repeat("n", 128),
		Accepted: `{}`,
		Refused:  `name: ""`,
		Says:     []string{"spec.name", "at least 1"},
	},
	"the name of a group is fixed": {
		Stored:   `name: static`,
		Accepted: `{name: static, ipv6Enabled: false}`,
		Refused:  `name: moving`,
		Says:     []string{"spec.name", `cannot be changed and is "static": restore that value, or delete this object and create a new one`},
	},
	"the name of a group is not taken from another place later": {
		Stored:   `name: static`,
		Accepted: `{name: static, enabled: false}`,
		Refused:  `{}`,
		Says:     []string{"spec.name", `is "static"`},
	},
	"a routing endpoint is CloudFront's to choose": {
		Accepted: `{}`,
		Refused:  `routingEndpoint: d111111abcdef8.cloudfront.net`,
		Says:     []string{`unknown field "spec.routingEndpoint"`},
	},
	"the default group is AWS's to choose": {
		Accepted: `{}`,
		Refused:  `isDefault: true`,
		Says:     []string{`unknown field "spec.isDefault"`},
	},
}

// resourceCases are those of the policies and tags that a Distribution and a ConnectionGroup share.
func resourceCases() map[string]limits.Case {
	return limits.Merged(
		limits.About(sharedCases, "tags", "driftPolicy", "deletionPolicy", "adoptionPolicy"),
		map[string]limits.Case{
			"a deletion may take a minute before anyone is told": {
				Accepted: `deletionTimeout: 1m`,
				Refused:  `deletionTimeout: 59s`,
				Says:     []string{"spec.deletionTimeout", `"59s" is not a duration of 1m to 168h`, "write it like 30m"},
			},
			"someone is told of a deletion after a week": {
				Accepted: `deletionTimeout: 168h`,
				Refused:  `deletionTimeout: 168h1s`,
				Says:     []string{"spec.deletionTimeout", `"168h1s" is not a duration`},
			},
			"the time of a deletion has a unit": {
				Accepted: `deletionTimeout: 1h30m`,
				Refused:  `deletionTimeout: "30"`,
				Says:     []string{"spec.deletionTimeout", `"30" is not a duration`},
			},
			"the time of a deletion is short to write": {
				Accepted: `deletionTimeout: ` + strings.Repeat("0", 30) + `5m`,
				Refused:  `deletionTimeout: ` + strings.Repeat("0", 31) + `5m`,
				Says:     []string{"spec.deletionTimeout", "Too long", "32"},
			},
		},
	)
}
