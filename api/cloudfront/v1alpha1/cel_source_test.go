package v1alpha1_test

import (
	"encoding/json"
	"fmt"
	"strings"
)

// sourceCases are those of a TenantSource without its template.
func sourceCases() map[string]validationCase {
	return merged(pollCases, rowCases, guardCases, providerCases(), lengthCases())
}

var pollCases = map[string]validationCase{
	"a source names its provider": {
		accepted: `provider: dynamodb`,
		refused:  `provider: null`,
		says:     []string{"spec.provider", "Required"},
	},
	"a provider is one of five": {
		accepted: `provider: dynamodb`,
		refused:  `provider: postgresql`,
		says:     []string{"spec.provider", `"postgresql"`, `"dynamodb", "postgres", "mysql", "mongodb", "redis"`},
	},
	"a source has a distribution": {
		accepted: `distributionId: E2EXAMPLE1`,
		refused:  `distributionId: null`,
		says:     []string{"spec.distributionId", "Required"},
	},
	"a source names its distribution by the ID": {
		accepted: `distributionId: E1A2B3C4D5E6F7`,
		refused:  `distributionId: d111111abcdef8.cloudfront`,
		says:     []string{"spec.distributionId", `"d111111abcdef8.cloudfront" is not the ID of a distribution`, "give the ID"},
	},
	"a table is polled every ten seconds at most": {
		accepted: `pollInterval: 10s`,
		refused:  `pollInterval: 9s`,
		says:     []string{"spec.pollInterval", `"9s" is not a duration of 10s to 24h`, "write it like 5m"},
	},
	"a table is polled once a day at least": {
		accepted: `pollInterval: 24h`,
		refused:  `pollInterval: 24h1s`,
		says:     []string{"spec.pollInterval", `"24h1s" is not a duration of 10s to 24h`},
	},
	"an interval has a unit": {
		accepted: `pollInterval: 1h30m`,
		refused:  `pollInterval: "300"`,
		says:     []string{"spec.pollInterval", `"300" is not a duration`},
	},
	"an interval is not negative": {
		accepted: `pollInterval: 1.5h`,
		refused:  `pollInterval: -5m`,
		says:     []string{"spec.pollInterval", `"-5m" is not a duration`},
	},
	"an interval is short to write": {
		accepted: `pollInterval: ` + strings.Repeat("0", 30) + `5m`,
		refused:  `pollInterval: ` + strings.Repeat("0", 31) + `5m`,
		says:     []string{"spec.pollInterval", "Too long", "32"},
	},
	"a target namespace has the name of one": {
		accepted: `targetNamespace: edge-1`,
		refused:  `targetNamespace: Edge_1`,
		says:     []string{"spec.targetNamespace", `"Edge_1" is not the name of a namespace`, "lower-case letters"},
	},
	"a target namespace stays": {
		stored:   `targetNamespace: edge`,
		accepted: `{targetNamespace: edge, dryRun: true}`,
		refused:  `targetNamespace: other`,
		says:     []string{"spec.targetNamespace", `targetNamespace was "edge"`, "put that back, or create another source"},
	},
	"a target namespace is not added later": {
		stored:   `{}`,
		accepted: `suspend: true`,
		refused:  `targetNamespace: other`,
		says:     []string{"spec.targetNamespace", "targetNamespace was absent"},
	},
	"a target namespace is not removed": {
		stored:   `targetNamespace: edge`,
		accepted: `targetNamespace: edge`,
		refused:  `{}`,
		says:     []string{"spec.targetNamespace", `targetNamespace was "edge"`},
	},
	"a dry run is true or false": {
		accepted: `dryRun: true`,
		refused:  `dryRun: "yes"`,
		says:     []string{"spec.dryRun", "boolean"},
	},
	"a field of a source is spelled right": {
		accepted: `{}`,
		refused:  `interval: 5m`,
		says:     []string{`unknown field "spec.interval"`},
	},
	"an endpoint is the administrator's": {
		accepted: `{}`,
		refused:  `dynamodb: {tableName: customers, endpoint: "http://localhost:8000"}`,
		says:     []string{`unknown field "spec.dynamodb.endpoint"`},
	},
	"a certificate request of a source names who answers": {
		accepted: `managedCertificateRequest: {validationTokenHost: self-hosted}`,
		refused:  `managedCertificateRequest: {}`,
		says:     []string{"spec.managedCertificateRequest.validationTokenHost", "Required"},
	},
	"in a certificate request of a source one of two answers": {
		accepted: `managedCertificateRequest: {validationTokenHost: cloudfront}`,
		refused:  `managedCertificateRequest: {validationTokenHost: dns}`,
		says:     []string{"spec.managedCertificateRequest.validationTokenHost", `"dns"`, `"cloudfront", "self-hosted"`},
	},
	"a certificate request of a source logs or doesn't": {
		accepted: `managedCertificateRequest: {validationTokenHost: cloudfront, certificateTransparencyLoggingPreference: disabled}`,
		refused:  `managedCertificateRequest: {validationTokenHost: cloudfront, certificateTransparencyLoggingPreference: "no"}`,
		says:     []string{"spec.managedCertificateRequest.certificateTransparencyLoggingPreference", `"no"`, `"enabled", "disabled"`},
	},
}

var rowCases = map[string]validationCase{
	"a mapping has a column": {
		accepted: `mapping: [{column: slug, field: name}]`,
		refused:  `mapping: [{field: name}]`,
		says:     []string{"spec.mapping[0].column", "Required"},
	},
	"a mapping has a field": {
		accepted: `mapping: [{column: slug, field: name}]`,
		refused:  `mapping: [{column: slug}]`,
		says:     []string{"spec.mapping[0].field", "Required"},
	},
	"a mapping fills a field that rows can fill": {
		accepted: `mapping: [{column: plan, field: "parameters[plan]"}]`,
		refused:  `mapping: [{column: plan, field: spec.parameters.plan}]`,
		says:     []string{"spec.mapping[0].field", `"spec.parameters.plan" is not a field that a row can fill`, "use name, domains"},
	},
	"a mapping fills no label that marks what the operator owns": {
		accepted: `mapping: [{column: team, field: "metadata.labels[example.com/team]"}]`,
		refused:  `mapping: [{column: team, field: "metadata.labels[cloudfront-tenant-operator.io/source-uid]"}]`,
		says:     []string{"spec.mapping[0].field", "source-uid", "is reserved", "choose another key"},
	},
	"a field is mapped once": {
		accepted: `mapping: [{column: slug, field: name}, {column: slug, field: "tags[slug]"}]`,
		refused:  `mapping: [{column: slug, field: name}, {column: id, field: name}]`,
		says:     []string{"spec.mapping[1]", "Duplicate value", "name"},
	},
	"a source maps at most 100 fields": {
		accepted: list("mapping", 100, `{column: c, field: "parameters[p%d]"}`),
		refused:  list("mapping", 101, `{column: c, field: "parameters[p%d]"}`),
		says:     []string{"spec.mapping", "Too many: 101", "at most 100"},
	},
	"a computed field has an expression": {
		accepted: `expressions: [{field: name, expression: row.slug}]`,
		refused:  `expressions: [{field: name}]`,
		says:     []string{"spec.expressions[0].expression", "Required"},
	},
	"an expression has a field": {
		accepted: `expressions: [{field: name, expression: row.slug}]`,
		refused:  `expressions: [{expression: row.slug}]`,
		says:     []string{"spec.expressions[0].field", "Required"},
	},
	"an expression fills a field that rows can fill": {
		accepted: `expressions: [{field: domains, expression: row.slug}]`,
		refused:  `expressions: [{field: domain, expression: row.slug}]`,
		says:     []string{"spec.expressions[0].field", `"domain" is not a field that a row can fill`},
	},
	"an expression fills no tag that AWS reserves": {
		accepted: `expressions: [{field: "tags[Cost Center]", expression: row.slug}]`,
		refused:  `expressions: [{field: "tags[aws:team]", expression: row.slug}]`,
		says:     []string{"spec.expressions[0].field", `"tags[aws:team]" has a prefix that is reserved`},
	},
	"a field is computed once": {
		accepted: `expressions: [{field: name, expression: row.a}, {field: domains, expression: row.a}]`,
		refused:  `expressions: [{field: name, expression: row.a}, {field: name, expression: row.b}]`,
		says:     []string{"spec.expressions[1]", "Duplicate value", "name"},
	},
	"a source computes at most 50 fields": {
		accepted: list("expressions", 50, `{field: "parameters[p%d]", expression: row.a}`),
		refused:  list("expressions", 51, `{field: "parameters[p%d]", expression: row.a}`),
		says:     []string{"spec.expressions", "Too many: 51", "at most 50"},
	},
	"a field is mapped or computed": {
		accepted: `{mapping: [{column: a, field: name}], expressions: [{field: domains, expression: row.a}]}`,
		refused:  `{mapping: [{column: a, field: name}], expressions: [{field: name, expression: row.a}]}`,
		says:     []string{"spec.expressions", "by a column or by an expression, not by both", "remove it"},
	},
	"a label of a template has a key that Kubernetes takes": {
		accepted: `template: {metadata: {labels: {example.com/team: edge}}}`,
		refused:  `template: {metadata: {labels: {"my team": edge}}}`,
		says:     []string{"spec.template.metadata.labels", `"my team" or its value`, "at most 63"},
	},
	"a label of a template has a value that Kubernetes takes": {
		accepted: `template: {metadata: {labels: {team: ""}}}`,
		refused:  `template: {metadata: {labels: {a: b, team: "the edge"}}}`,
		says:     []string{"spec.template.metadata.labels", `"team" or its value`},
	},
	"a label of a template has a short value": {
		accepted: `template: {metadata: {labels: {team: ` + strings.Repeat("v", 63) + `}}}`,
		refused:  `template: {metadata: {labels: {team: ` + strings.Repeat("v", 64) + `}}}`,
		says:     []string{"spec.template.metadata.labels.team", "Too long", "63"},
	},
	"a label of a template is not the operator's": {
		accepted: `template: {metadata: {labels: {example.com/source: edge}}}`,
		refused:  `template: {metadata: {labels: {cloudfront-tenant-operator.io/source: edge}}}`,
		says:     []string{"spec.template.metadata.labels", `"cloudfront-tenant-operator.io/source" has a prefix that is reserved`, "choose another key"},
	},
	"a template has at most 50 labels": {
		accepted: `template: {metadata: {` + object("labels", 50) + `}}`,
		refused:  `template: {metadata: {` + object("labels", 51) + `}}`,
		says:     []string{"spec.template.metadata.labels", "Too many: 51", "at most 50"},
	},
	"an annotation of a template has a key that Kubernetes takes": {
		accepted: `template: {metadata: {annotations: {example.com/note: "any text, of course"}}}`,
		refused:  `template: {metadata: {annotations: {Example.com/note: x}}}`,
		says:     []string{"spec.template.metadata.annotations", `"Example.com/note" is no key`},
	},
	"an annotation of a template has a value that is not huge": {
		accepted: `template: {metadata: {annotations: {note: ` + strings.Repeat("v", 4096) + `}}}`,
		refused:  `template: {metadata: {annotations: {note: ` + strings.Repeat("v", 4097) + `}}}`,
		says:     []string{"spec.template.metadata.annotations.note", "Too long", "4096"},
	},
	"an annotation of a template is not that of kubectl": {
		accepted: `template: {metadata: {annotations: {note: x}}}`,
		refused:  `template: {metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: x}}}`,
		says:     []string{"spec.template.metadata.annotations", "has a prefix that is reserved", "choose another key"},
	},
	"a template has at most 50 annotations": {
		accepted: `template: {metadata: {` + object("annotations", 50) + `}}`,
		refused:  `template: {metadata: {` + object("annotations", 51) + `}}`,
		says:     []string{"spec.template.metadata.annotations", "Too many: 51", "at most 50"},
	},
	"domains are the row's alone": {
		accepted: `template: {spec: {enabled: false}}`,
		refused:  `template: {spec: {domains: [{domain: shop.example.com}]}}`,
		says:     []string{`unknown field "spec.template.spec.domains"`},
	},
	"a template leaves to the row what belongs together": {
		accepted: `template: {spec: {dns: {ttl: 60}, customizations: {webAcl: {action: override}, geoRestrictions: {locations: [DE]}}, managedCertificateRequest: {}}}`,
		refused:  `template: {spec: {dns: {provider: bind}}}`,
		says:     []string{"spec.template.spec.dns.provider", `"bind"`},
	},
}

var guardCases = map[string]validationCase{
	"what becomes of a tenant without a row is one of three": {
		accepted: `deletionPolicy: Disable`,
		refused:  `deletionPolicy: Orphan`,
		says:     []string{"spec.deletionPolicy", `"Orphan"`, `"Delete", "Disable", "Retain"`},
	},
	"an absence is confirmed at least once": {
		accepted: `deletionGuard: {confirmPolls: 2}`,
		refused:  `deletionGuard: {confirmPolls: 1}`,
		says:     []string{"spec.deletionGuard.confirmPolls", "greater than or equal to 2"},
	},
	"an absence is confirmed in the end": {
		accepted: `deletionGuard: {confirmPolls: 100}`,
		refused:  `deletionGuard: {confirmPolls: 101}`,
		says:     []string{"spec.deletionGuard.confirmPolls", "less than or equal to 100"},
	},
	"a budget of deletions is not negative": {
		accepted: `deletionGuard: {maxDeletes: 0}`,
		refused:  `deletionGuard: {maxDeletes: -1}`,
		says:     []string{"spec.deletionGuard.maxDeletes", "greater than or equal to 0"},
	},
	"a budget of deletions has an end": {
		accepted: `deletionGuard: {maxDeletes: 1000000}`,
		refused:  `deletionGuard: {maxDeletes: 1000001}`,
		says:     []string{"spec.deletionGuard.maxDeletes", "less than or equal to 1000000"},
	},
	"a share of deletions is not negative": {
		accepted: `deletionGuard: {maxDeletePercent: 0}`,
		refused:  `deletionGuard: {maxDeletePercent: -1}`,
		says:     []string{"spec.deletionGuard.maxDeletePercent", "greater than or equal to 0"},
	},
	"a share of deletions is of a hundred": {
		accepted: `deletionGuard: {maxDeletePercent: 100}`,
		refused:  `deletionGuard: {maxDeletePercent: 101}`,
		says:     []string{"spec.deletionGuard.maxDeletePercent", "less than or equal to 100"},
	},
	"a window is at least an hour": {
		accepted: `deletionGuard: {window: 1h}`,
		refused:  `deletionGuard: {window: 59m}`,
		says:     []string{"spec.deletionGuard.window", `"59m" is not a duration of 1h to 720h`, "write it like 24h"},
	},
	"a window is at most thirty days": {
		accepted: `deletionGuard: {window: 720h}`,
		refused:  `deletionGuard: {window: 30d}`,
		says:     []string{"spec.deletionGuard.window", `"30d" is not a duration of 1h to 720h`},
	},
	"a window is short to write": {
		accepted: `deletionGuard: {window: ` + strings.Repeat("0", 29) + `24h}`,
		refused:  `deletionGuard: {window: ` + strings.Repeat("0", 30) + `24h}`,
		says:     []string{"spec.deletionGuard.window", "Too long", "32"},
	},
}

// providerCases are those of the blocks of the providers.
func providerCases() map[string]validationCase {
	cases := map[string]validationCase{
		"a table has a name": {
			accepted: `dynamodb: {tableName: abc}`,
			refused:  `dynamodb: {region: eu-central-1}`,
			says:     []string{"spec.dynamodb.tableName", "Required"},
		},
		"a table has a name that DynamoDB takes": {
			accepted: `dynamodb: {tableName: My_table.1-a}`,
			refused:  `dynamodb: {tableName: my table}`,
			says:     []string{"spec.dynamodb.tableName", `"my table" is neither the name of a table`, "nor the ARN"},
		},
		"a table is named by its ARN": {
			accepted: `dynamodb: {tableName: "arn:aws:dynamodb:eu-central-1:111122223333:table/customers"}`,
			refused:  `dynamodb: {tableName: "arn:aws:dynamodb:eu-central-1:111122223333:table/customers/index/by-name"}`,
			says:     []string{"spec.dynamodb.tableName", "index/by-name", "is neither the name of a table"},
		},
		"a region is one of AWS": {
			accepted: `dynamodb: {tableName: customers, region: us-gov-west-1}`,
			refused:  `dynamodb: {tableName: customers, region: Frankfurt}`,
			says:     []string{"spec.dynamodb.region", `"Frankfurt" is not an AWS region`, "write it like eu-central-1"},
		},
		"a role for a table is an IAM role": {
			accepted: `dynamodb: {tableName: customers, assumeRoleArn: ` + q(role) + `}`,
			refused:  `dynamodb: {tableName: customers, assumeRoleArn: "arn:aws:iam::111122223333:user/edge"}`,
			says:     []string{"spec.dynamodb.assumeRoleArn", "user/edge", "is not the ARN of an IAM role"},
		},
		"a table is read in one part at least": {
			accepted: `dynamodb: {tableName: customers, segments: 1}`,
			refused:  `dynamodb: {tableName: customers, segments: 0}`,
			says:     []string{"spec.dynamodb.segments", "greater than or equal to 1"},
		},
		"a table is read in 64 parts at most": {
			accepted: `dynamodb: {tableName: customers, segments: 64}`,
			refused:  `dynamodb: {tableName: customers, segments: 65}`,
			says:     []string{"spec.dynamodb.segments", "less than or equal to 64"},
		},
		"names and values belong to a filter": {
			accepted: `dynamodb: {tableName: customers, filterExpression: "#a = :a", expressionAttributeNames: [{placeholder: "#a", attribute: active}], expressionAttributeValues: [{placeholder: ":a", bool: true}]}`,
			refused:  `dynamodb: {tableName: customers, expressionAttributeNames: [{placeholder: "#a", attribute: active}]}`,
			says:     []string{"spec.dynamodb.filterExpression", "names and values belong to a filter", "set filterExpression, or remove"},
		},
		"a name in a filter starts with #": {
			accepted: filtered(`expressionAttributeNames: [{placeholder: "#a_1", attribute: active}]`),
			refused:  filtered(`expressionAttributeNames: [{placeholder: "a", attribute: active}]`),
			says:     []string{"spec.dynamodb.expressionAttributeNames[0].placeholder", `"a" is not a placeholder of a name`, "write #"},
		},
		"a name in a filter has a placeholder": {
			accepted: filtered(`expressionAttributeNames: [{placeholder: "#a", attribute: active}]`),
			refused:  filtered(`expressionAttributeNames: [{attribute: active}]`),
			says:     []string{"spec.dynamodb.expressionAttributeNames[0].placeholder", "Required"},
		},
		"a name in a filter has an attribute": {
			accepted: filtered(`expressionAttributeNames: [{placeholder: "#a", attribute: active}]`),
			refused:  filtered(`expressionAttributeNames: [{placeholder: "#a"}]`),
			says:     []string{"spec.dynamodb.expressionAttributeNames[0].attribute", "Required"},
		},
		"a name in a filter is given once": {
			accepted: filtered(`expressionAttributeNames: [{placeholder: "#a", attribute: a}, {placeholder: "#b", attribute: a}]`),
			refused:  filtered(`expressionAttributeNames: [{placeholder: "#a", attribute: a}, {placeholder: "#a", attribute: b}]`),
			says:     []string{"spec.dynamodb.expressionAttributeNames[1]", "Duplicate value", "#a"},
		},
		"a filter has at most 50 names": {
			accepted: filtered(list("expressionAttributeNames", 50, `{placeholder: "#a%d", attribute: a}`)),
			refused:  filtered(list("expressionAttributeNames", 51, `{placeholder: "#a%d", attribute: a}`)),
			says:     []string{"spec.dynamodb.expressionAttributeNames", "Too many: 51", "at most 50"},
		},
		"a value in a filter starts with a colon": {
			accepted: filtered(`expressionAttributeValues: [{placeholder: ":v_1", string: ""}]`),
			refused:  filtered(`expressionAttributeValues: [{placeholder: "v", string: x}]`),
			says:     []string{"spec.dynamodb.expressionAttributeValues[0].placeholder", `"v" is not a placeholder of a value`, "write a colon"},
		},
		"a value in a filter has a placeholder": {
			accepted: filtered(`expressionAttributeValues: [{placeholder: ":v", bool: false}]`),
			refused:  filtered(`expressionAttributeValues: [{bool: false}]`),
			says:     []string{"spec.dynamodb.expressionAttributeValues[0].placeholder", "Required"},
		},
		"a value in a filter is given once": {
			accepted: filtered(`expressionAttributeValues: [{placeholder: ":v", bool: false}, {placeholder: ":w", bool: false}]`),
			refused:  filtered(`expressionAttributeValues: [{placeholder: ":v", bool: false}, {placeholder: ":v", bool: true}]`),
			says:     []string{"spec.dynamodb.expressionAttributeValues[1]", "Duplicate value", ":v"},
		},
		"a filter has at most 50 values": {
			accepted: filtered(list("expressionAttributeValues", 50, `{placeholder: ":v%d", string: x}`)),
			refused:  filtered(list("expressionAttributeValues", 51, `{placeholder: ":v%d", string: x}`)),
			says:     []string{"spec.dynamodb.expressionAttributeValues", "Too many: 51", "at most 50"},
		},
		"a value in a filter is something": {
			accepted: filtered(`expressionAttributeValues: [{placeholder: ":v", number: "-1.5e3"}]`),
			refused:  filtered(`expressionAttributeValues: [{placeholder: ":v"}]`),
			says:     []string{"spec.dynamodb.expressionAttributeValues[0]", "a string, a number or a bool: set exactly one"},
		},
		"a value in a filter is one thing": {
			accepted: filtered(`expressionAttributeValues: [{placeholder: ":v", string: "1"}]`),
			refused:  filtered(`expressionAttributeValues: [{placeholder: ":v", string: "1", number: "1"}]`),
			says:     []string{"spec.dynamodb.expressionAttributeValues[0]", "set exactly one"},
		},
		"a number in a filter is one": {
			accepted: filtered(`expressionAttributeValues: [{placeholder: ":v", number: "42"}]`),
			refused:  filtered(`expressionAttributeValues: [{placeholder: ":v", number: "0x2a"}]`),
			says:     []string{"spec.dynamodb.expressionAttributeValues[0].number", `"0x2a" is not a decimal number`},
		},
	}
	for provider, fields := range connected {
		is := "a source of " + provider + ": "
		cases[is+"the block of that name is there"] = validationCase{
			accepted: store(provider, nil),
			refused:  `provider: ` + provider + "\ndynamodb: null",
			says:     []string{"spec." + provider, "belong together", `provider is "` + provider + `"`, "add spec." + provider},
		}
		cases[is+"a block of another name is not"] = validationCase{
			accepted: store(provider, nil),
			refused:  strings.Replace(store(provider, nil), `"dynamodb":null`, `"dynamodb":{"tableName":"customers"}`, 1),
			says:     []string{"spec.dynamodb", "belong together", `provider is "` + provider + `"`, "remove spec.dynamodb"},
		}
		cases[is+"a Secret is named"] = validationCase{
			accepted: store(provider, nil),
			refused:  store(provider, map[string]any{secretRef: map[string]any{}}),
			says:     []string{"spec." + provider + ".connectionSecretRef.name", "Required"},
		}
		cases[is+"a Secret is in its own namespace"] = validationCase{
			accepted: store(provider, nil),
			refused:  store(provider, map[string]any{secretRef: map[string]any{"name": "db", "namespace": "kube-system"}}),
			says:     []string{`unknown field "spec.` + provider + `.connectionSecretRef.namespace"`},
		}
		for _, field := range append([]string{secretRef}, fields...) {
			cases[is+field+" is required"] = validationCase{
				accepted: store(provider, nil),
				refused:  store(provider, map[string]any{field: nil}),
				says:     []string{"spec." + provider + "." + field, "Required"},
			}
		}
	}
	return cases
}

const secretRef = "connectionSecretRef"

// connected are the providers that log in with a connection string, and what their blocks need beside it.
var connected = map[string][]string{
	"postgres": {"query"}, "mysql": {"query"}, "mongodb": {"database", "collection"}, "redis": {"keyPattern"},
}

// store are the fields of the least source of such a provider, with some in its block that are set, or taken away.
func store(provider string, fields map[string]any) string {
	block := map[string]any{secretRef: map[string]any{"name": "db"}}
	for _, name := range connected[provider] {
		block[name] = "x"
	}
	for name, value := range fields {
		block[name] = value
		if value == nil {
			delete(block, name)
		}
	}
	text, err := json.Marshal(map[string]any{"provider": provider, "dynamodb": nil, provider: block})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// filtered are the fields of a source with a filter.
func filtered(rest string) string {
	return `dynamodb: {tableName: customers, filterExpression: f, ` + rest + `}`
}

// object writes an object of n entries into a field.
func object(field string, n int) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = fmt.Sprintf("k%d: x", i)
	}
	return field + ": {" + strings.Join(entries, ", ") + "}"
}

// lengthCases show the shortest and the longest of each text.
func lengthCases() map[string]validationCase {
	table := func(field string) func(string) string {
		return func(text string) string { return `dynamodb: {tableName: customers, ` + field + `: ` + q(text) + `}` }
	}
	filter := func(list, format string) func(string) string {
		return func(text string) string { return filtered(list + ": [" + fmt.Sprintf(format, q(text)) + "]") }
	}
	texts := []textBound{
		{field: "distributionId", set: func(text string) string { return "distributionId: " + q(text) }, longest: 32, shortest: "1"},
		{field: "targetNamespace", set: func(text string) string { return "targetNamespace: " + q(text) }, longest: 63, shortest: "1"},
		{field: "dynamodb.tableName", set: func(text string) string { return "dynamodb: {tableName: " + q(text) + "}" }, longest: 1024, shortest: "000"},
		{field: "dynamodb.region", set: table("region"), longest: 32, start: "eu-central-", shortest: "eu-a-1"},
		{field: "dynamodb.nameAttribute", set: table("nameAttribute"), longest: 255, shortest: "0"},
		{field: "dynamodb.domainAttribute", set: table("domainAttribute"), longest: 255, shortest: "0"},
		{field: "dynamodb.enabledAttribute", set: table("enabledAttribute"), longest: 255, shortest: "0"},
		{field: "dynamodb.connectionGroupIdAttribute", set: table("connectionGroupIdAttribute"), longest: 255, shortest: "0"},
		{field: "dynamodb.certificateArnAttribute", set: table("certificateArnAttribute"), longest: 255, shortest: "0"},
		{field: "dynamodb.filterExpression", set: table("filterExpression"), longest: 4096, shortest: "0"},
		{field: "dynamodb.assumeRoleArn", set: table("assumeRoleArn"), longest: 640, start: role, shortest: role},
		{field: "dynamodb.expressionAttributeNames[0].placeholder", set: filter("expressionAttributeNames", "{placeholder: %s, attribute: a}"), longest: 255, start: "#", shortest: "#a"},
		{field: "dynamodb.expressionAttributeNames[0].attribute", set: filter("expressionAttributeNames", `{placeholder: "#a", attribute: %s}`), longest: 255, shortest: "a"},
		{field: "dynamodb.expressionAttributeValues[0].placeholder", set: filter("expressionAttributeValues", "{placeholder: %s, bool: true}"), longest: 255, start: ":", shortest: ":a"},
		{field: "dynamodb.expressionAttributeValues[0].string", set: filter("expressionAttributeValues", `{placeholder: ":a", string: %s}`), longest: 1024},
		{field: "dynamodb.expressionAttributeValues[0].number", set: filter("expressionAttributeValues", `{placeholder: ":a", number: %s}`), longest: 64, shortest: "1"},
		{field: "mongodb.filter", set: func(text string) string { return store("mongodb", map[string]any{"filter": text}) }, longest: 16384, shortest: "0"},
		{field: "mongodb.database", set: func(text string) string { return store("mongodb", map[string]any{"database": text}) }, longest: 63, shortest: "0"},
		{field: "mongodb.collection", set: func(text string) string { return store("mongodb", map[string]any{"collection": text}) }, longest: 255, shortest: "0"},
		{field: "postgres.query", set: func(text string) string { return store("postgres", map[string]any{"query": text}) }, longest: 16384, shortest: "0"},
		{field: "mysql.query", set: func(text string) string { return store("mysql", map[string]any{"query": text}) }, longest: 16384, shortest: "0"},
		{field: "redis.keyPattern", set: func(text string) string { return store("redis", map[string]any{"keyPattern": text}) }, longest: 1024, shortest: "*"},
		{field: "mapping[0].column", set: func(text string) string { return "mapping: [{field: name, column: " + q(text) + "}]" }, longest: 255, shortest: "c"},
		{field: "mapping[0].field", set: func(text string) string { return "mapping: [{column: c, field: " + q(text) + "}]" }, longest: 400, start: "metadata.labels[0123456789", end: "]", shortest: "name"},
		{field: "expressions[0].field", set: func(text string) string { return "expressions: [{expression: row.a, field: " + q(text) + "}]" }, longest: 400, start: "metadata.labels[0123456789", end: "]", shortest: "name"},
		{field: "expressions[0].expression", set: func(text string) string { return "expressions: [{field: name, expression: " + q(text) + "}]" }, longest: 2048, shortest: "1"},
	}
	for provider := range connected {
		name := func(text string) string {
			return store(provider, map[string]any{secretRef: map[string]any{"name": text}})
		}
		texts = append(texts, texts[0])
		last := &texts[len(texts)-1]
		last.field, last.set, last.longest, last.shortest = provider+".connectionSecretRef.name", name, 253, "s"
	}
	for i := range texts {
		texts[i].accepts = shorter[texts[i].field]
	}
	return textCases(texts...)
}

// shorter are the texts whose form allows less than their bound in characters.
var shorter = map[string]int{
	"dynamodb.tableName":   255,
	"mapping[0].field":     len("metadata.labels[]") + 63,
	"expressions[0].field": len("metadata.labels[]") + 63,
}
