package v1alpha1_test

import "strings"

const leastGroup = `{}`

// groupCases are those of a ConnectionGroup.
func groupCases() map[string]validationCase {
	return merged(groupRules, resourceCases(), textCases(
		textBound{field: "name", set: in("name: %s").text, longest: 128, shortest: "g"},
		textBound{field: "anycastIpListId", set: in("anycastIpListId: %s").text, longest: 64, shortest: "a"},
	))
}

var groupRules = map[string]validationCase{
	"a group is enabled or not": {
		accepted: `enabled: false`,
		refused:  `enabled: "no"`,
		says:     []string{"spec.enabled", "boolean"},
	},
	"a group has IPv6 addresses or not": {
		accepted: `ipv6Enabled: false`,
		refused:  `ipv6Enabled: dualstack`,
		says:     []string{"spec.ipv6Enabled", "boolean"},
	},
	"a list of addresses is named by its ID": {
		accepted: `anycastIpListId: aip_2whCJoXMYCjHcxaLGrkllvyABC`,
		refused:  `anycastIpListId: "arn:aws:cloudfront::111122223333:anycast-ip-list/aip_1"`,
		says:     []string{"spec.anycastIpListId", `anycast-ip-list/aip_1" is not the ID of an Anycast static IP list`, "give the ID"},
	},
	"the name of a group has no spaces": {
		accepted: `name: CreatedByCloudFront-1.eu/west_2`,
		refused:  `name: my group`,
		says:     []string{"spec.name", `"my group" is no name for a connection group`, "without spaces"},
	},
	"the name of a group is ASCII": {
		accepted: `name: "!~"`,
		refused:  `name: größe`,
		says:     []string{"spec.name", `"größe" is no name for a connection group`, "128 ASCII characters"},
	},
	"an object name that is too long for a group needs spec.name": {
		name:     strings.Repeat("n", 129),
		accepted: `name: short`,
		refused:  `{}`,
		says:     []string{"spec.name", "at most 128 characters", "set spec.name"},
	},
	"an object name that is just short enough needs none": {
		name:     strings.Repeat("n", 128),
		accepted: `{}`,
		refused:  `name: ""`,
		says:     []string{"spec.name", "at least 1"},
	},
	"the name of a group is fixed": {
		stored:   `name: static`,
		accepted: `{name: static, ipv6Enabled: false}`,
		refused:  `name: moving`,
		says:     []string{"spec.name", `can not be changed and is "static": put that value back, or delete this object and create another`},
	},
	"the name of a group is not taken from another place later": {
		stored:   `name: static`,
		accepted: `{name: static, enabled: false}`,
		refused:  `{}`,
		says:     []string{"spec.name", `is "static"`},
	},
	"a routing endpoint is CloudFront's to choose": {
		accepted: `{}`,
		refused:  `routingEndpoint: d111111abcdef8.cloudfront.net`,
		says:     []string{`unknown field "spec.routingEndpoint"`},
	},
	"the default group is AWS's to choose": {
		accepted: `{}`,
		refused:  `isDefault: true`,
		says:     []string{`unknown field "spec.isDefault"`},
	},
}

// resourceCases are those of the policies and tags that a Distribution and a ConnectionGroup share.
func resourceCases() map[string]validationCase {
	return merged(
		about(sharedCases, "tags", "driftPolicy", "deletionPolicy", "adoptionPolicy"),
		map[string]validationCase{
			"a deletion may take a minute before somebody is told": {
				accepted: `deletionTimeout: 1m`,
				refused:  `deletionTimeout: 59s`,
				says:     []string{"spec.deletionTimeout", `"59s" is not a duration of 1m to 168h`, "write it like 30m"},
			},
			"somebody is told of a deletion after a week": {
				accepted: `deletionTimeout: 168h`,
				refused:  `deletionTimeout: 168h1s`,
				says:     []string{"spec.deletionTimeout", `"168h1s" is not a duration`},
			},
			"the time of a deletion has a unit": {
				accepted: `deletionTimeout: 1h30m`,
				refused:  `deletionTimeout: "30"`,
				says:     []string{"spec.deletionTimeout", `"30" is not a duration`},
			},
			"the time of a deletion is short to write": {
				accepted: `deletionTimeout: ` + strings.Repeat("0", 30) + `5m`,
				refused:  `deletionTimeout: ` + strings.Repeat("0", 31) + `5m`,
				says:     []string{"spec.deletionTimeout", "Too long", "32"},
			},
		},
	)
}
