package v1alpha1_test

import (
	"fmt"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/limits"
)

const leastGrant = `{namespaces: {names: [shop]}}`

// grantCases are those of an EdgeGrant.
func grantCases() map[string]limits.Case {
	in := limits.In
	adopt := in("adopt: %s")
	object := func(list string) limits.Setter { return in(list + ": [{object: %s}]") }
	parameters := in("distributions: [{id: E1, parameters: %s}]")
	names := in("namespaces: {names: %s}")
	role := in("account: {id: '111122223333', roleArn: %s}").Text
	return limits.Merged(grantRules, limits.Lists(
		limits.ListBound{Field: "kinds", Set: in("kinds: %s"), Most: 5, Item: "Kind%d"}.Taking("DistributionTenant", "Distribution", "ConnectionGroup", "TenantSource", "Invalidation"),
		limits.ListBound{Field: "distributions", Set: in("distributions: %s"), Most: 100, Item: "{id: E%d}"},
		limits.ListBound{Field: "distributions[0].parameters", Set: parameters, Most: 50, Item: "{name: p%d, values: [a]}"},
		limits.ListBound{Field: "distributions[0].parameters[0].values", Set: parameters.Into("[{name: p, values: %s}]"), Most: 64, Item: "v%d"},
		limits.ListBound{Field: "connectionGroups", Set: in("connectionGroups: %s"), Most: 100, Item: "{id: cg_%d}"},
		limits.ListBound{Field: "domains", Set: in("domains: %s"), Most: 256, Item: "{suffix: a%d.example.com}"},
		limits.ListBound{Field: "domains[0].except", Set: in(`domains: [{suffix: "*", except: %s}]`), Most: 64, Item: "a%d.example.com"},
		limits.ListBound{Field: "dns.zones", Set: in("dns: {zones: %s}"), Most: 256, Item: "{id: Z%d}"},
		limits.ListBound{Field: "roles", Set: in("roles: %s"), Most: 32, Item: "role%d"},
		limits.ListBound{Field: "certificates", Set: in("certificates: %s"), Most: 256, Item: "arn%d"},
		limits.ListBound{Field: "webAcls.arns", Set: in("webAcls: {arns: %s}"), Most: 64, Item: "arn%d"},
		limits.ListBound{Field: "origins.domains", Set: in("origins: {domains: %s}"), Most: 256, Item: "a%d.example.com"},
		limits.ListBound{Field: "origins.vpcOrigins", Set: in("origins: {vpcOrigins: %s}"), Most: 64, Item: "vo_%d"},
		limits.ListBound{Field: "origins.accessControls", Set: in("origins: {accessControls: %s}"), Most: 64, Item: "E%d"},
		limits.ListBound{Field: "functions", Set: in("functions: %s"), Most: 256, Item: "arn%d"},
		limits.ListBound{Field: "keyGroups", Set: in("keyGroups: %s"), Most: 256, Item: "key%d"},
		limits.ListBound{Field: "fieldLevelEncryptions", Set: in("fieldLevelEncryptions: %s"), Most: 64, Item: "E%d"},
		limits.ListBound{Field: "keyValueStores", Set: in("keyValueStores: %s"), Most: 64, Item: "{arn: arn%d}"},
		limits.ListBound{Field: "keyValueStores[0].keys", Set: in("keyValueStores: [{arn: a, keys: %s}]"), Most: 64, Item: "key%d"},
		limits.ListBound{Field: "logBuckets", Set: in("logBuckets: %s"), Most: 64, Item: "logs%d.s3.amazonaws.com"},
		limits.ListBound{Field: "sources.tables", Set: in("sources: {tables: %s}"), Most: 64, Item: "table%d"},
		limits.ListBound{Field: "sources.writeTables", Set: in("sources: {writeTables: %s}"), Most: 64, Item: "table%d"},
		limits.ListBound{Field: "sources.hosts", Set: in("sources: {hosts: %s}"), Most: 64, Item: "host%d"},
		limits.ListBound{Field: "sources.logins", Set: in("sources: {logins: %s}"), Most: 64, Item: "user@host%d"},
		limits.ListBound{Field: "adopt.names", Set: adopt.Into("{policy: IfUnowned, names: %s}"), Most: 256, Item: "name%d"},
		limits.ListBound{Field: "adopt.fromClusters", Set: adopt.Into("{policy: Force, names: [a], fromClusters: %s}"), Most: 16, Item: "cluster%d"},
		limits.ListBound{Field: "namespaces.names", Set: names, Most: 256, Item: "shop-%d"},
	), limits.Texts(
		limits.TextBound{Field: "account.roleArn", Set: role, Longest: 2048, Start: "arn:aws:iam::111122223333:role/", Shortest: "arn:aws:iam::111122223333:role/r"},
		limits.TextBound{Field: "namespaces.names[0]", Set: names.Into("[%s]").Text, Longest: 63, Shortest: "s"},
		limits.TextBound{Field: "distributions[0].id", Set: in("distributions: [{id: %s}]").Text, Longest: 32, Start: "E", Shortest: "E", Valid: "E" + strings.Repeat("1", 31)},
		limits.TextBound{Field: "connectionGroups[0].id", Set: in("connectionGroups: [{id: %s}]").Text, Longest: 64, Start: "cg_", Shortest: "*"},
		limits.TextBound{Field: "distributions[0].object.namespace", Set: object("distributions").Into("{name: a, namespace: %s}").Text, Longest: 63, Shortest: "n"},
		limits.TextBound{Field: "distributions[0].object.name", Set: object("distributions").Into("{namespace: a, name: %s}").Text, Longest: 253, Shortest: "n"},
		limits.TextBound{Field: "connectionGroups[0].object.namespace", Set: object("connectionGroups").Into("{name: a, namespace: %s}").Text, Longest: 63, Shortest: "n"},
		limits.TextBound{Field: "connectionGroups[0].object.name", Set: object("connectionGroups").Into("{namespace: a, name: %s}").Text, Longest: 253, Shortest: "n"},
		limits.TextBound{Field: "distributions[0].parameters[0].name", Set: parameters.Into("[{values: [a], name: %s}]").Text, Longest: 128, Shortest: "n"},
		limits.TextBound{Field: "distributions[0].parameters[0].values[0]", Set: parameters.Into("[{name: p, values: [%s]}]").Text, Longest: 256, Shortest: "v"},
		limits.TextBound{Field: "domains[0].suffix", Set: in("domains: [{suffix: %s}]").Text, Longest: 253, Shortest: "c", Valid: longDomain(253)},
		limits.TextBound{Field: "domains[0].except[0]", Set: in(`domains: [{suffix: "*", except: [%s]}]`).Text, Longest: 253, Shortest: "c"},
		limits.TextBound{Field: "dns.zones[0].id", Set: in("dns: {zones: [{id: %s}]}").Text, Longest: 400, Shortest: "Z", Valid: "Z" + strings.Repeat("1", 399)},
		limits.TextBound{Field: "dns.zones[0].account", Set: in("dns: {zones: [{provider: azure, id: '*', account: %s}]}").Text, Longest: 63, Shortest: "a"},
		limits.TextBound{Field: "roles[0]", Set: in("roles: [%s]").Text, Longest: 2048, Shortest: "r"},
		limits.TextBound{Field: "certificates[0]", Set: in("certificates: [%s]").Text, Longest: 2048, Shortest: "*"},
		limits.TextBound{Field: "webAcls.arns[0]", Set: in("webAcls: {arns: [%s]}").Text, Longest: 2048, Shortest: "*"},
		limits.TextBound{Field: "origins.domains[0]", Set: in("origins: {domains: [%s]}").Text, Longest: 253, Shortest: "*"},
		limits.TextBound{Field: "origins.vpcOrigins[0]", Set: in("origins: {vpcOrigins: [%s]}").Text, Longest: 64, Shortest: "*"},
		limits.TextBound{Field: "origins.accessControls[0]", Set: in("origins: {accessControls: [%s]}").Text, Longest: 64, Shortest: "*"},
		limits.TextBound{Field: "functions[0]", Set: in("functions: [%s]").Text, Longest: 2048, Shortest: "*"},
		limits.TextBound{Field: "keyGroups[0]", Set: in("keyGroups: [%s]").Text, Longest: 128, Shortest: "*"},
		limits.TextBound{Field: "fieldLevelEncryptions[0]", Set: in("fieldLevelEncryptions: [%s]").Text, Longest: 128, Shortest: "*"},
		limits.TextBound{Field: "keyValueStores[0].arn", Set: in("keyValueStores: [{arn: %s}]").Text, Longest: 200, Shortest: "*"},
		limits.TextBound{Field: "keyValueStores[0].keys[0]", Set: in("keyValueStores: [{arn: a, keys: [%s]}]").Text, Longest: 512, Shortest: "*"},
		limits.TextBound{Field: "logBuckets[0]", Set: in("logBuckets: [%s]").Text, Longest: 253, Shortest: "*"},
		limits.TextBound{Field: "sources.tables[0]", Set: in("sources: {tables: [%s]}").Text, Longest: 2048, Shortest: "*"},
		limits.TextBound{Field: "sources.writeTables[0]", Set: in("sources: {writeTables: [%s]}").Text, Longest: 2048, Shortest: "*"},
		limits.TextBound{Field: "sources.hosts[0]", Set: in("sources: {hosts: [%s]}").Text, Longest: 300, Shortest: "*"},
		limits.TextBound{Field: "sources.logins[0]", Set: in("sources: {logins: [%s]}").Text, Longest: 400, Shortest: "*"},
		limits.TextBound{Field: "adopt.names[0]", Set: adopt.Into("{policy: IfUnowned, names: [%s]}").Text, Longest: 128, Shortest: "*"},
		limits.TextBound{Field: "adopt.fromClusters[0]", Set: adopt.Into("{policy: Force, names: [a], fromClusters: [%s]}").Text, Longest: 256, Shortest: "c"},
	), limits.Choices(
		limits.Choice("dns.takeover", in("dns: {zones: [{id: Z1}], takeover: %s}"), []string{"Never", "CloudFront", "Any"}, "Always"),
		limits.Choice("dns.zones[0].provider", in("dns: {zones: [{id: '*', provider: %s}]}"), []string{"route53", "cloudflare", "azure", "rfc2136", "externaldns"}, "bind"),
		limits.Choice("domains[0].proof", in("domains: [{suffix: example.com, proof: %s}]"), []string{"TXT"}, "HTTP"),
		limits.Choice("adopt.policy", adopt.Into("{names: [a], policy: %s}"), []string{"IfUnowned"}, "Never"),
		limits.Choice("kinds[0]", in("kinds: [%s]"), []string{"DistributionTenant", "Distribution", "ConnectionGroup", "TenantSource", "Invalidation"}, "Tenant"),
	), limits.Required("adopt.", adopt, "{policy: IfUnowned, names: [a]}", "policy", "names"),
		limits.Required("keyValueStores[0].", in("keyValueStores: [%s]"), "{arn: a}", "arn"),
		limits.Required("dns.", in("dns: %s"), "{zones: [{id: Z1}]}", "zones"),
		limits.Required("dns.zones[0].", in("dns: {zones: [%s]}"), "{id: Z1}", "id"),
		limits.Required("account.", in("account: %s"), "{id: '111122223333'}", "id"),
		limits.Required("domains[0].", in("domains: [%s]"), "{suffix: example.com}", "suffix"),
		limits.Required("distributions[0].object.", object("distributions"), "{namespace: a, name: b}", "namespace", "name"),
		limits.Required("connectionGroups[0].object.", object("connectionGroups"), "{namespace: a, name: b}", "namespace", "name"),
		limits.Required("distributions[0].parameters[0].", parameters.Into("[%s]"), "{name: a, values: [b]}", "name", "values"),
		grantNumbers(),
	)
}

// grantNumbers are the least of the limits: there is no greatest.
func grantNumbers() map[string]limits.Case {
	cases := map[string]limits.Case{}
	for _, limit := range []string{"tenants", "domains", "sources"} {
		cases[limit+" may be none"] = limits.Case{
			Accepted: fmt.Sprintf("limits: {%s: 0}", limit), Refused: fmt.Sprintf("limits: {%s: -1}", limit),
			Says: []string{"spec.limits." + limit, "greater than or equal to 0"},
		}
	}
	return cases
}

// longDomain is a domain of that many characters.
func longDomain(n int) string {
	label := strings.Repeat("a", 62) + "."
	domain := strings.Repeat(label, n/len(label))
	return domain + strings.Repeat("a", n-len(domain))
}

var grantRules = map[string]limits.Case{
	"an account has twelve digits": {
		Accepted: `account: {id: "111122223333"}`, Refused: `account: {id: "11112222333a"}`,
		Says: []string{"spec.account.id", "11112222333a", "12 digits"},
	},
	"an account is no shorter": {
		Accepted: `account: {id: "111122223333"}`, Refused: `account: {id: "11112222333"}`, Says: []string{"spec.account.id", "at least 12"},
	},
	"an account is no longer": {
		Accepted: `account: {id: "111122223333"}`, Refused: `account: {id: "1111222233334"}`, Says: []string{"spec.account.id", "12"},
	},
	"the role is one": {
		Accepted: `account: {id: "111122223333", roleArn: "arn:aws:iam::111122223333:role/team/shop"}`,
		Refused:  `account: {id: "111122223333", roleArn: "arn:aws:iam::111122223333:user/shop"}`,
		Says:     []string{"spec.account.roleArn", "arn:aws:iam::111122223333:user/shop", "not the ARN of an IAM role"},
	},
	"the role is in the account": {
		Accepted: `account: {id: "111122223333", roleArn: "arn:aws:iam::111122223333:role/shop"}`,
		Refused:  `account: {id: "111122223333", roleArn: "arn:aws:iam::444455556666:role/shop"}`,
		Says:     []string{"spec.account.roleArn", "arn:aws:iam::444455556666:role/shop", "not in the account 111122223333"},
	},
	"the account stays": {
		Stored: `account: {id: "111122223333"}`, Accepted: `account: {id: "111122223333", roleArn: "arn:aws:iam::111122223333:role/shop"}`,
		Refused: `account: {id: "444455556666"}`, Says: []string{"spec.account", "create another grant"},
	},
	"the account is not removed": {
		Stored: `account: {id: "111122223333"}`, Accepted: `account: {id: "111122223333"}`, Refused: `account: null`, Says: []string{"spec.account", "create another grant"},
	},
	"kinds are some": {
		Accepted: `kinds: [TenantSource]`, Refused: `kinds: []`, Says: []string{"spec.kinds", "at least 1 items"},
	},
	"origins are some": {
		Accepted: `origins: {vpcOrigins: ["*"]}`, Refused: `origins: {domains: []}`, Says: []string{"spec.origins.domains", "at least 1 items"},
	},
	"origins are named somehow": {
		Accepted: `origins: {accessControls: []}`, Refused: `origins: {}`, Says: []string{"spec.origins", "at least 1 properties"},
	},
	"zones are some": {
		Accepted: `dns: {zones: [{id: Z1}]}`, Refused: `dns: {zones: []}`, Says: []string{"spec.dns.zones", "at least 1 items"},
	},
	"names to adopt are some": {
		Accepted: `adopt: {policy: IfUnowned, names: ["*"]}`, Refused: `adopt: {policy: IfUnowned, names: []}`, Says: []string{"spec.adopt.names", "at least 1 items"},
	},
	"values of a parameter are some": {
		Accepted: `distributions: [{id: E1, parameters: [{name: p, values: ["*"]}]}]`,
		Refused:  `distributions: [{id: E1, parameters: [{name: p, values: []}]}]`,
		Says:     []string{"spec.distributions[0].parameters[0].values", "at least 1 items"},
	},
	"an expression has a key": {
		Accepted: `namespaces: {selector: {matchExpressions: [{key: team, operator: Exists}]}}`,
		Refused:  `namespaces: {selector: {matchExpressions: [{operator: Exists}]}}`,
		Says:     []string{"spec.namespaces.selector.matchExpressions[0].key", "Required"},
	},
	"an expression has an operator": {
		Accepted: `namespaces: {selector: {matchExpressions: [{key: team, operator: DoesNotExist}]}}`,
		Refused:  `namespaces: {selector: {matchExpressions: [{key: team}]}}`,
		Says:     []string{"spec.namespaces.selector.matchExpressions[0].operator", "Required"},
	},
	"namespaces are required": {
		Accepted: `{}`, Refused: `namespaces: null`, Says: []string{"spec.namespaces", "Required"},
	},
	"namespaces are selected somehow": {
		Accepted: `namespaces: {names: null, selector: {matchLabels: {team: shop}}}`,
		Refused:  `namespaces: {names: []}`,
		Says:     []string{"spec.namespaces.names", "a grant needs namespaces: set names, selector or both"},
	},
	"a namespace is selected by its name or a prefix": {
		Accepted: `namespaces: {names: [shop, shop-*, "*"]}`,
		Refused:  `namespaces: {names: ["*-shop"]}`,
		Says:     []string{"spec.namespaces.names", "the name of a namespace, or a prefix followed by a star"},
	},
	"a distribution is named once": {
		Accepted: `distributions: [{object: {namespace: platform, name: main}}]`,
		Refused:  `distributions: [{id: E1, object: {namespace: platform, name: main}}]`,
		Says:     []string{"spec.distributions[0].id", "set id or object"},
	},
	"a distribution has an ID": {
		Accepted: `distributions: [{id: "*"}]`,
		Refused:  `distributions: [{id: main}]`,
		Says:     []string{"spec.distributions[0].id", `"main" is not a distribution ID`, "or * for all"},
	},
	"a connection group is named once": {
		Accepted: `connectionGroups: [{id: "*"}]`,
		Refused:  `connectionGroups: [{}]`,
		Says:     []string{"spec.connectionGroups[0].id", "set id or object"},
	},
	"a connection group has an ID": {
		Accepted: `connectionGroups: [{id: cg_1}]`,
		Refused:  `connectionGroups: [{id: main}]`,
		Says:     []string{"spec.connectionGroups[0].id", `"main" is not a connection group ID`, "or * for all"},
	},
	"a suffix is a domain": {
		Accepted: `domains: [{suffix: shop.example.com}, {suffix: com}]`,
		Refused:  `domains: [{suffix: "*.example.com"}]`,
		Says:     []string{"spec.domains[0].suffix", `"*.example.com" is not a domain name`, "without a wildcard"},
	},
	"every domain is a star": {
		Accepted: `domains: [{suffix: "*", except: [example.com]}]`,
		Refused:  `domains: [{suffix: "**"}]`,
		Says:     []string{"spec.domains[0].suffix", "or * for every domain"},
	},
	"a zone has an ID": {
		Accepted: `dns: {zones: [{id: "*"}]}`,
		Refused:  `dns: {zones: [{id: /hostedzone/Z1}]}`,
		Says:     []string{"spec.dns.zones[0].id", `"/hostedzone/Z1" is not the ID of a hosted zone`, "without /hostedzone/"},
	},
	"a zone has the ID that its provider gives": {
		Accepted: `dns: {zones: [{provider: azure, id: edge_(eu)/example.com}]}`,
		Refused:  `dns: {zones: [{provider: cloudflare, id: "a b"}]}`,
		Says:     []string{"spec.dns.zones[0].id", `"a b" is not the ID of a zone`, "or * for all"},
	},
	"a zone of Route 53 has no account": {
		Accepted: `dns: {zones: [{provider: rfc2136, account: lab, id: lab.example.com}]}`,
		Refused:  `dns: {zones: [{account: lab, id: Z1}]}`,
		Says:     []string{"spec.dns.zones[0].account", "not possible with provider route53", "set provider"},
	},
	"wildcards are allowed or not": {
		Accepted: `wildcards: true`, Refused: `wildcards: "yes"`, Says: []string{"spec.wildcards", "boolean"},
	},
	"a web ACL may be disabled or not": {
		Accepted: `webAcls: {disable: true}`, Refused: `webAcls: {disable: "yes"}`, Says: []string{"spec.webAcls.disable", "boolean"},
	},
	"only Force adopts from other clusters": {
		Accepted: `adopt: {policy: IfUnowned, names: [a]}`,
		Refused:  `adopt: {policy: IfUnowned, names: [a], fromClusters: [old]}`,
		Says:     []string{"spec.adopt.fromClusters", "only policy Force adopts from other clusters"},
	},
	"Force says from which": {
		Accepted: `adopt: {policy: Force, names: [a], fromClusters: [old]}`,
		Refused:  `adopt: {policy: Force, names: [a]}`,
		Says:     []string{"spec.adopt.fromClusters", "set fromClusters to their cluster IDs"},
	},
	"limits limit something": {
		Accepted: `limits: {tenants: 5}`, Refused: `limits: {}`, Says: []string{"spec.limits", "at least 1 properties"},
	},
}
