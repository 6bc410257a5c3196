package v1alpha1_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/limits"
)

// sourceCases are those of a TenantSource without its template.
func sourceCases() map[string]limits.Case {
	return limits.Merged(pollCases, rowCases, guardCases, watchCases(), writeBackCases(), limits.Rollouts(1000), providerCases(), iamCases(), lengthCases())
}

var pollCases = map[string]limits.Case{
	"a source names its provider": {
		Accepted: `provider: dynamodb`,
		Refused:  `provider: null`,
		Says:     []string{"spec.provider", "Required"},
	},
	"a provider is one of five": {
		Accepted: `provider: dynamodb`,
		Refused:  `provider: postgresql`,
		Says:     []string{"spec.provider", `"postgresql"`, `"dynamodb", "postgres", "mysql", "mongodb", "redis"`},
	},
	"a source has a distribution, by its ID or by the name of its object": {
		Accepted: `distributionId: E2EXAMPLE1`,
		Refused:  `distributionId: null`,
		Says:     []string{"spec.distributionId", "needs a multi-tenant distribution", "set distributionRef", "distributionId to an ID"},
	},
	"a source names its distribution once": {
		Accepted: `{distributionId: null, distributionRef: {name: shop}}`,
		Refused:  `distributionRef: {name: shop}`,
		Says:     []string{"spec.distributionRef", `by distributionId "E2EXAMPLE1" and by distributionRef "shop"`, "remove one of the two"},
	},
	"a source changes from the ID to the object": {
		Stored:   `distributionId: E2EXAMPLE1`,
		Accepted: `{distributionId: null, distributionRef: {name: shop}}`,
		Refused:  `distributionRef: {name: shop}`,
		Says:     []string{"spec.distributionRef", "set twice"},
	},
	"a source changes from the object to the ID": {
		Stored:   `{distributionId: null, distributionRef: {name: shop}}`,
		Accepted: `distributionId: E2EXAMPLE2`,
		Refused:  `distributionId: null`,
		Says:     []string{"spec.distributionId", "needs a multi-tenant distribution"},
	},
	"a source that names an object has its name": {
		Accepted: `{distributionId: null, distributionRef: {name: shop}}`,
		Refused:  `{distributionId: null, distributionRef: {namespace: shop}}`,
		Says:     []string{"spec.distributionRef.name", "Required"},
	},
	"a source names an object and not an ID": {
		Accepted: `{distributionId: null, distributionRef: {name: shop.v2-b, namespace: other}}`,
		Refused:  `{distributionId: null, distributionRef: {name: E2EXAMPLE1}}`,
		Says:     []string{"spec.distributionRef.name", `"E2EXAMPLE1" is not a valid object name`, "metadata.name"},
	},
	"a source names the object's namespace": {
		Accepted: `{distributionId: null, distributionRef: {name: shop, namespace: other}}`,
		Refused:  `{distributionId: null, distributionRef: {name: shop, namespace: Other}}`,
		Says:     []string{"spec.distributionRef.namespace", `"Other" is not a valid namespace name`},
	},
	"a source names its distribution by the ID": {
		Accepted: `distributionId: E1A2B3C4D5E6F7`,
		Refused:  `distributionId: d111111abcdef8.cloudfront`,
		Says:     []string{"spec.distributionId", `"d111111abcdef8.cloudfront" is not a distribution ID`, "use the ID"},
	},
	"a table is polled every ten seconds at most": {
		Accepted: `pollInterval: 10s`,
		Refused:  `pollInterval: 9s`,
		Says:     []string{"spec.pollInterval", `"9s" is not a duration of 10s to 24h`, "write it like 5m"},
	},
	"a table is polled once a day at least": {
		Accepted: `pollInterval: 24h`,
		Refused:  `pollInterval: 24h1s`,
		Says:     []string{"spec.pollInterval", `"24h1s" is not a duration of 10s to 24h`},
	},
	"an interval has a unit": {
		Accepted: `pollInterval: 1h30m`,
		Refused:  `pollInterval: "300"`,
		Says:     []string{"spec.pollInterval", `"300" is not a duration`},
	},
	"an interval is not negative": {
		Accepted: `pollInterval: 1.5h`,
		Refused:  `pollInterval: -5m`,
		Says:     []string{"spec.pollInterval", `"-5m" is not a duration`},
	},
	"an interval is short to write": {
		Accepted: `pollInterval: ` + strings.Repeat("0", 30) + `5m`,
		Refused:  `pollInterval: ` + strings.Repeat("0", 31) + `5m`,
		Says:     []string{"spec.pollInterval", "Too long", "32"},
	},
	"a target namespace has the name of one": {
		Accepted: `targetNamespace: edge-1`,
		Refused:  `targetNamespace: Edge_1`,
		Says:     []string{"spec.targetNamespace", `"Edge_1" is not the name of a namespace`, "lower-case letters"},
	},
	"a target namespace stays": {
		Stored:   `targetNamespace: edge`,
		Accepted: `{targetNamespace: edge, dryRun: true}`,
		Refused:  `targetNamespace: other`,
		Says:     []string{"spec.targetNamespace", `targetNamespace was "edge"`, "restore it, or create a new source"},
	},
	"a target namespace is not added later": {
		Stored:   `{}`,
		Accepted: `suspend: true`,
		Refused:  `targetNamespace: other`,
		Says:     []string{"spec.targetNamespace", "targetNamespace was absent"},
	},
	"a target namespace is not removed": {
		Stored:   `targetNamespace: edge`,
		Accepted: `targetNamespace: edge`,
		Refused:  `{}`,
		Says:     []string{"spec.targetNamespace", `targetNamespace was "edge"`},
	},
	"a dry run is true or false": {
		Accepted: `dryRun: true`,
		Refused:  `dryRun: "yes"`,
		Says:     []string{"spec.dryRun", "boolean"},
	},
	"a field of a source is spelled right": {
		Accepted: `{}`,
		Refused:  `interval: 5m`,
		Says:     []string{`unknown field "spec.interval"`},
	},
	"an endpoint is the administrator's": {
		Accepted: `{}`,
		Refused:  `dynamodb: {tableName: customers, endpoint: "http://localhost:8000"}`,
		Says:     []string{`unknown field "spec.dynamodb.endpoint"`},
	},
	"a certificate request of a source names who answers": {
		Accepted: `managedCertificateRequest: {validationTokenHost: self-hosted}`,
		Refused:  `managedCertificateRequest: {}`,
		Says:     []string{"spec.managedCertificateRequest.validationTokenHost", "Required"},
	},
	"in a certificate request of a source one of two answers": {
		Accepted: `managedCertificateRequest: {validationTokenHost: cloudfront}`,
		Refused:  `managedCertificateRequest: {validationTokenHost: dns}`,
		Says:     []string{"spec.managedCertificateRequest.validationTokenHost", `"dns"`, `"cloudfront", "self-hosted"`},
	},
	"a certificate request of a source logs or doesn't": {
		Accepted: `managedCertificateRequest: {validationTokenHost: cloudfront, certificateTransparencyLoggingPreference: disabled}`,
		Refused:  `managedCertificateRequest: {validationTokenHost: cloudfront, certificateTransparencyLoggingPreference: "no"}`,
		Says:     []string{"spec.managedCertificateRequest.certificateTransparencyLoggingPreference", `"no"`, `"enabled", "disabled"`},
	},
}

var rowCases = map[string]limits.Case{
	"a mapping has a column": {
		Accepted: `mapping: [{column: slug, field: name}]`,
		Refused:  `mapping: [{field: name}]`,
		Says:     []string{"spec.mapping[0].column", "Required"},
	},
	"a mapping has a field": {
		Accepted: `mapping: [{column: slug, field: name}]`,
		Refused:  `mapping: [{column: slug}]`,
		Says:     []string{"spec.mapping[0].field", "Required"},
	},
	"a mapping fills a field that rows can fill": {
		Accepted: `mapping: [{column: plan, field: "parameters[plan]"}]`,
		Refused:  `mapping: [{column: plan, field: spec.parameters.plan}]`,
		Says:     []string{"spec.mapping[0].field", `"spec.parameters.plan" is not a field that a row can set`, "use name, domains"},
	},
	"a mapping fills no label that marks what the operator owns": {
		Accepted: `mapping: [{column: team, field: "metadata.labels[example.com/team]"}]`,
		Refused:  `mapping: [{column: team, field: "metadata.labels[cloudfront-tenant-operator.io/source-uid]"}]`,
		Says:     []string{"spec.mapping[0].field", "source-uid", "is reserved", "use another key"},
	},
	"a field is mapped once": {
		Accepted: `mapping: [{column: slug, field: name}, {column: slug, field: "tags[slug]"}]`,
		Refused:  `mapping: [{column: slug, field: name}, {column: id, field: name}]`,
		Says:     []string{"spec.mapping[1]", "Duplicate value", "name"},
	},
	"a source maps at most 100 fields": {
		Accepted: list("mapping", 100, `{column: c, field: "parameters[p%d]"}`),
		Refused:  list("mapping", 101, `{column: c, field: "parameters[p%d]"}`),
		Says:     []string{"spec.mapping", "Too many: 101", "at most 100"},
	},
	"a computed field has an expression": {
		Accepted: `expressions: [{field: name, expression: row.slug}]`,
		Refused:  `expressions: [{field: name}]`,
		Says:     []string{"spec.expressions[0].expression", "Required"},
	},
	"an expression has a field": {
		Accepted: `expressions: [{field: name, expression: row.slug}]`,
		Refused:  `expressions: [{expression: row.slug}]`,
		Says:     []string{"spec.expressions[0].field", "Required"},
	},
	"an expression fills a field that rows can fill": {
		Accepted: `expressions: [{field: domains, expression: row.slug}]`,
		Refused:  `expressions: [{field: domain, expression: row.slug}]`,
		Says:     []string{"spec.expressions[0].field", `"domain" is not a field that a row can set`},
	},
	"an expression fills no tag that AWS reserves": {
		Accepted: `expressions: [{field: "tags[Cost Center]", expression: row.slug}]`,
		Refused:  `expressions: [{field: "tags[aws:team]", expression: row.slug}]`,
		Says:     []string{"spec.expressions[0].field", `"tags[aws:team]" has a prefix that is reserved`},
	},
	"a field is computed once": {
		Accepted: `expressions: [{field: name, expression: row.a}, {field: domains, expression: row.a}]`,
		Refused:  `expressions: [{field: name, expression: row.a}, {field: name, expression: row.b}]`,
		Says:     []string{"spec.expressions[1]", "Duplicate value", "name"},
	},
	"a source computes at most 50 fields": {
		Accepted: list("expressions", 50, `{field: "parameters[p%d]", expression: row.a}`),
		Refused:  list("expressions", 51, `{field: "parameters[p%d]", expression: row.a}`),
		Says:     []string{"spec.expressions", "Too many: 51", "at most 50"},
	},
	"a field is mapped or computed": {
		Accepted: `{mapping: [{column: a, field: name}], expressions: [{field: domains, expression: row.a}]}`,
		Refused:  `{mapping: [{column: a, field: name}], expressions: [{field: name, expression: row.a}]}`,
		Says:     []string{"spec.expressions", "by a column or by an expression, not by both", "remove it"},
	},
	"a label of a template has a key that Kubernetes takes": {
		Accepted: `template: {metadata: {labels: {example.com/team: edge}}}`,
		Refused:  `template: {metadata: {labels: {"my team": edge}}}`,
		Says:     []string{"spec.template.metadata.labels", `"my team" or its value`, "at most 63"},
	},
	"a label of a template has a value that Kubernetes takes": {
		Accepted: `template: {metadata: {labels: {team: ""}}}`,
		Refused:  `template: {metadata: {labels: {a: b, team: "the edge"}}}`,
		Says:     []string{"spec.template.metadata.labels", `"team" or its value`},
	},
	"a label of a template has a short value": {
		Accepted: `template: {metadata: {labels: {team: ` + strings.Repeat("v", 63) + `}}}`,
		Refused:  `template: {metadata: {labels: {team: ` + strings.Repeat("v", 64) + `}}}`,
		Says:     []string{"spec.template.metadata.labels.team", "Too long", "63"},
	},
	"a label of a template is not the operator's": {
		Accepted: `template: {metadata: {labels: {example.com/source: edge}}}`,
		Refused:  `template: {metadata: {labels: {cloudfront-tenant-operator.io/source: edge}}}`,
		Says:     []string{"spec.template.metadata.labels", `"cloudfront-tenant-operator.io/source" has a prefix that is reserved`, "use another key"},
	},
	"a template has at most 50 labels": {
		Accepted: `template: {metadata: {` + object("labels", 50) + `}}`,
		Refused:  `template: {metadata: {` + object("labels", 51) + `}}`,
		Says:     []string{"spec.template.metadata.labels", "Too many: 51", "at most 50"},
	},
	"an annotation of a template has a key that Kubernetes takes": {
		Accepted: `template: {metadata: {annotations: {example.com/note: "any text, of course"}}}`,
		Refused:  `template: {metadata: {annotations: {Example.com/note: x}}}`,
		Says:     []string{"spec.template.metadata.annotations", `"Example.com/note" is not a valid annotation key`},
	},
	"an annotation of a template has a value that is not huge": {
		Accepted: `template: {metadata: {annotations: {note: ` + strings.Repeat("v", 4096) + `}}}`,
		Refused:  `template: {metadata: {annotations: {note: ` + strings.Repeat("v", 4097) + `}}}`,
		Says:     []string{"spec.template.metadata.annotations.note", "Too long", "4096"},
	},
	"an annotation of a template is not that of kubectl": {
		Accepted: `template: {metadata: {annotations: {note: x}}}`,
		Refused:  `template: {metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: x}}}`,
		Says:     []string{"spec.template.metadata.annotations", "has a prefix that is reserved", "use another key"},
	},
	"a template has at most 50 annotations": {
		Accepted: `template: {metadata: {` + object("annotations", 50) + `}}`,
		Refused:  `template: {metadata: {` + object("annotations", 51) + `}}`,
		Says:     []string{"spec.template.metadata.annotations", "Too many: 51", "at most 50"},
	},
	"domains are the row's alone": {
		Accepted: `template: {spec: {enabled: false}}`,
		Refused:  `template: {spec: {domains: [{domain: shop.example.com}]}}`,
		Says:     []string{`unknown field "spec.template.spec.domains"`},
	},
	"a template leaves to the row what belongs together": {
		Accepted: `template: {spec: {dns: {ttl: 60}, customizations: {webAcl: {action: override}, geoRestrictions: {locations: [DE]}}, managedCertificateRequest: {}}}`,
		Refused:  `template: {spec: {dns: {provider: bind}}}`,
		Says:     []string{"spec.template.spec.dns.provider", `"bind"`},
	},
}

// watched are the fields of the least source of a provider, with spec.watch.
func watched(provider, watch string) string {
	return strings.TrimSuffix(store(provider, nil), "}") + ", watch: " + watch + "}"
}

func watchCases() map[string]limits.Case {
	return limits.Merged(map[string]limits.Case{
		"a table of PostgreSQL is watched by a channel": {
			Accepted: watched("postgres", `{channel: customers}`),
			Refused:  watched("postgres", `{}`),
			Says:     []string{"spec.watch", `channel belongs to provider postgres, and provider is "postgres"`, "set spec.watch.channel to the channel that the trigger of the table notifies"},
		},
		"no other table is": {
			Accepted: `watch: {}`, Refused: `watch: {channel: customers}`,
			Says: []string{"spec.watch", `channel belongs to provider postgres, and provider is "dynamodb"`, "remove spec.watch.channel"},
		},
		"a table of MySQL is watched by a query": {
			Accepted: watched("mysql", `{query: SELECT 1}`),
			Refused:  watched("mysql", `{}`),
			Says:     []string{"spec.watch", `query belongs to provider mysql, and provider is "mysql"`, "set spec.watch.query to a query whose result changes with the table"},
		},
		"a table of Redis is watched by none": {
			Accepted: watched("redis", `{}`), Refused: watched("redis", `{query: SELECT 1}`),
			Says: []string{"spec.watch", `query belongs to provider mysql, and provider is "redis"`, "remove spec.watch.query"},
		},
	}, limits.Texts(
		limits.TextBound{Field: "watch.channel", Set: func(text string) string { return watched("postgres", "{channel: "+limits.Quote(text)+"}") }, Longest: 63, Shortest: "c"},
		limits.TextBound{Field: "watch.query", Set: func(text string) string { return watched("mysql", "{query: "+limits.Quote(text)+"}") }, Longest: 16384, Shortest: "0"},
	))
}

// writesBack are the fields of the least source of a provider, with spec.writeBack.
func writesBack(provider, writeBack string) string {
	return strings.TrimSuffix(store(provider, nil), "}") + ", writeBack: " + writeBack + "}"
}

// states are the fields of a source whose state table says so, too.
func states(field string) func(text string) string {
	return func(text string) string {
		return writesBack("postgres", "{table: edge_state, connectionSecretRef: {name: db}, "+field+": "+limits.Quote(text)+"}")
	}
}

func writeBackCases() map[string]limits.Case {
	const role = "arn:aws:iam::111122223333:role/r"
	return limits.Merged(map[string]limits.Case{
		"a state table of a database has a connection string": {
			Accepted: writesBack("postgres", `{table: edge_state, connectionSecretRef: {name: db}}`),
			Refused:  writesBack("postgres", `{table: edge_state}`),
			Says:     []string{"spec.writeBack", `provider is "postgres"`, "set either spec.writeBack.connectionSecretRef to a Secret with a connection string, or spec.writeBack.iam"},
		},
		"a state table has one way to log in": {
			Accepted: writesBack("postgres", `{table: edge_state, iam: {host: db, user: u, database: d}}`),
			Refused:  writesBack("postgres", `{table: edge_state, connectionSecretRef: {name: db}, iam: {host: db, user: u, database: d}}`),
			Says:     []string{"spec.writeBack", `provider is "postgres"`, "set either"},
		},
		"one of DynamoDB has no login": {
			Accepted: `writeBack: {table: edge_state}`,
			Refused:  `writeBack: {table: edge_state, iam: {host: db, user: u, cacheName: c}}`,
			Says:     []string{"spec.writeBack", `provider is "dynamodb"`, "remove spec.writeBack.connectionSecretRef and spec.writeBack.iam"},
		},
		"a state table of MySQL is in a database": {
			Accepted: writesBack("mysql", `{table: edge_state, iam: {host: db, user: u, database: d}}`),
			Refused:  writesBack("mysql", `{table: edge_state, iam: {host: db, user: u, cacheName: c}}`),
			Says:     []string{"spec.writeBack", `provider is "mysql"`, "iam.database"},
		},
		"a state table of Redis is in a cache": {
			Accepted: writesBack("redis", `{table: edge_state, iam: {host: db, user: u, cacheName: c}}`),
			Refused:  writesBack("redis", `{table: edge_state, iam: {host: db, user: u, database: d}}`),
			Says:     []string{"spec.writeBack", `provider is "redis"`, "iam.cacheName"},
		},
		"MongoDB has no IAM": {
			Accepted: writesBack("mongodb", `{table: edge_state, connectionSecretRef: {name: db}}`),
			Refused:  writesBack("mongodb", `{table: edge_state, iam: {host: db, user: u, database: d}}`),
			Says:     []string{"spec.writeBack", "mongodb needs a connection string"},
		},
		"one of DynamoDB has none": {
			Accepted: `writeBack: {table: edge_state}`,
			Refused:  `writeBack: {table: edge_state, connectionSecretRef: {name: db}}`,
			Says:     []string{"spec.writeBack", `provider is "dynamodb"`, "remove spec.writeBack.connectionSecretRef"},
		},
		"only DynamoDB assumes a role": {
			Accepted: `writeBack: {table: edge_state, assumeRoleArn: "` + role + `"}`,
			Refused:  writesBack("redis", `{table: edge_state, connectionSecretRef: {name: db}, assumeRoleArn: "`+role+`"}`),
			Says:     []string{"spec.writeBack", `provider is "redis"`, "remove spec.writeBack.assumeRoleArn"},
		},
		"the role is one": {
			Accepted: `writeBack: {table: edge_state, assumeRoleArn: "` + role + `"}`,
			Refused:  `writeBack: {table: edge_state, assumeRoleArn: "arn:aws:iam::111122223333:user/edge"}`,
			Says:     []string{"spec.writeBack.assumeRoleArn", "user/edge", "is not the ARN of an IAM role"},
		},
		"the table that is read is never written": {
			Accepted: `writeBack: {table: customers_state}`,
			Refused:  `writeBack: {table: customers}`,
			Says:     []string{"spec.writeBack.table", `"customers" is the table that is read`, "a table of its own"},
		},
		"a state table has a plain name": {
			Accepted: writesBack("postgres", `{table: edge.edge_state, connectionSecretRef: {name: db}}`),
			Refused:  writesBack("postgres", `{table: 'edge"; DROP TABLE customers; --', connectionSecretRef: {name: db}}`),
			Says:     []string{"spec.writeBack.table", "DROP TABLE", "is not the name of a state table", "use letters, digits and _ . / : -"},
		},
		"a state table has a name": {
			Accepted: `writeBack: {table: edge_state}`, Refused: `writeBack: {}`, Says: []string{"spec.writeBack.table", "Required value"},
		},
		"its Secret has a name": {
			Accepted: writesBack("postgres", `{table: edge_state, connectionSecretRef: {name: db}}`),
			Refused:  writesBack("postgres", `{table: edge_state, connectionSecretRef: {}}`),
			Says:     []string{"spec.writeBack.connectionSecretRef.name", "Required value"},
		},
		"the row of a deleted tenant stays or goes": {
			Accepted: `writeBack: {table: edge_state, deleted: Remove}`,
			Refused:  `writeBack: {table: edge_state, deleted: Archive}`,
			Says:     []string{"spec.writeBack.deleted", `"Archive"`, `"Keep", "Remove"`},
		},
	}, limits.Texts(
		limits.TextBound{Field: "writeBack.table", Set: func(text string) string { return `writeBack: {table: ` + limits.Quote(text) + `}` }, Longest: 255, Shortest: "t"},
		limits.TextBound{Field: "writeBack.revisionColumn", Set: states("revisionColumn"), Longest: 255, Shortest: "c"},
		limits.TextBound{Field: "writeBack.assumeRoleArn", Set: func(text string) string {
			return `writeBack: {table: edge_state, assumeRoleArn: ` + limits.Quote(text) + `}`
		}, Longest: 640, Start: "arn:aws:iam::111122223333:role/", Shortest: role},
		limits.TextBound{Field: "writeBack.connectionSecretRef.name", Set: func(text string) string {
			return writesBack("postgres", `{table: edge_state, connectionSecretRef: {name: `+limits.Quote(text)+`}}`)
		}, Longest: 253, Shortest: "s"},
	))
}

var guardCases = map[string]limits.Case{
	"what becomes of a tenant without a row is one of three": {
		Accepted: `deletionPolicy: Disable`,
		Refused:  `deletionPolicy: Orphan`,
		Says:     []string{"spec.deletionPolicy", `"Orphan"`, `"Delete", "Disable", "Retain"`},
	},
	"an absence is confirmed at least once": {
		Accepted: `deletionGuard: {confirmPolls: 2}`,
		Refused:  `deletionGuard: {confirmPolls: 1}`,
		Says:     []string{"spec.deletionGuard.confirmPolls", "greater than or equal to 2"},
	},
	"an absence is confirmed in the end": {
		Accepted: `deletionGuard: {confirmPolls: 100}`,
		Refused:  `deletionGuard: {confirmPolls: 101}`,
		Says:     []string{"spec.deletionGuard.confirmPolls", "less than or equal to 100"},
	},
	"a budget of deletions is not negative": {
		Accepted: `deletionGuard: {maxDeletes: 0}`,
		Refused:  `deletionGuard: {maxDeletes: -1}`,
		Says:     []string{"spec.deletionGuard.maxDeletes", "greater than or equal to 0"},
	},
	"a budget of deletions has an end": {
		Accepted: `deletionGuard: {maxDeletes: 1000000}`,
		Refused:  `deletionGuard: {maxDeletes: 1000001}`,
		Says:     []string{"spec.deletionGuard.maxDeletes", "less than or equal to 1000000"},
	},
	"a share of deletions is not negative": {
		Accepted: `deletionGuard: {maxDeletePercent: 0}`,
		Refused:  `deletionGuard: {maxDeletePercent: -1}`,
		Says:     []string{"spec.deletionGuard.maxDeletePercent", "greater than or equal to 0"},
	},
	"a share of deletions is of a hundred": {
		Accepted: `deletionGuard: {maxDeletePercent: 100}`,
		Refused:  `deletionGuard: {maxDeletePercent: 101}`,
		Says:     []string{"spec.deletionGuard.maxDeletePercent", "less than or equal to 100"},
	},
	"a row key is a column": {
		Accepted: `rowKey: i`,
		Refused:  `rowKey: ""`,
		Says:     []string{"spec.rowKey", "should be at least 1 chars long"},
	},
	"a row key is as long as a column": {
		Accepted: `rowKey: ` + strings.Repeat("i", 255),
		Refused:  `rowKey: ` + strings.Repeat("i", 256),
		Says:     []string{"spec.rowKey", "Too long", "255"},
	},
	"a grace is at least a minute": {
		Accepted: `deletionGuard: {grace: 1m}`,
		Refused:  `deletionGuard: {grace: 59s}`,
		Says:     []string{"spec.deletionGuard.grace", `"59s" is not a duration of 1m to 720h`, "write it like 24h"},
	},
	"a grace is at most thirty days": {
		Accepted: `deletionGuard: {grace: 720h}`,
		Refused:  `deletionGuard: {grace: 721h}`,
		Says:     []string{"spec.deletionGuard.grace", `"721h" is not a duration of 1m to 720h`},
	},
	"a grace has a unit": {
		Accepted: `deletionGuard: {grace: 24h}`,
		Refused:  `deletionGuard: {grace: "24"}`,
		Says:     []string{"spec.deletionGuard.grace", `"24" is not a duration`},
	},
	"a grace is short to write": {
		Accepted: `deletionGuard: {grace: ` + strings.Repeat("0", 30) + `5m}`,
		Refused:  `deletionGuard: {grace: ` + strings.Repeat("0", 31) + `5m}`,
		Says:     []string{"spec.deletionGuard.grace", "Too long", "32"},
	},
	"a window is at least an hour": {
		Accepted: `deletionGuard: {window: 1h}`,
		Refused:  `deletionGuard: {window: 59m}`,
		Says:     []string{"spec.deletionGuard.window", `"59m" is not a duration of 1h to 720h`, "write it like 24h"},
	},
	"a window is at most thirty days": {
		Accepted: `deletionGuard: {window: 720h}`,
		Refused:  `deletionGuard: {window: 30d}`,
		Says:     []string{"spec.deletionGuard.window", `"30d" is not a duration of 1h to 720h`},
	},
	"a window is short to write": {
		Accepted: `deletionGuard: {window: ` + strings.Repeat("0", 29) + `24h}`,
		Refused:  `deletionGuard: {window: ` + strings.Repeat("0", 30) + `24h}`,
		Says:     []string{"spec.deletionGuard.window", "Too long", "32"},
	},
}

// providerCases are those of the blocks of the providers.
func providerCases() map[string]limits.Case {
	cases := map[string]limits.Case{
		"a table has a name": {
			Accepted: `dynamodb: {tableName: abc}`,
			Refused:  `dynamodb: {region: eu-central-1}`,
			Says:     []string{"spec.dynamodb.tableName", "Required"},
		},
		"a table has a name that DynamoDB takes": {
			Accepted: `dynamodb: {tableName: My_table.1-a}`,
			Refused:  `dynamodb: {tableName: my table}`,
			Says:     []string{"spec.dynamodb.tableName", `"my table" is neither a table name`, "nor a table ARN"},
		},
		"a table is named by its ARN": {
			Accepted: `dynamodb: {tableName: "arn:aws:dynamodb:eu-central-1:111122223333:table/customers"}`,
			Refused:  `dynamodb: {tableName: "arn:aws:dynamodb:eu-central-1:111122223333:table/customers/index/by-name"}`,
			Says:     []string{"spec.dynamodb.tableName", "index/by-name", "is neither a table name"},
		},
		"a region is one of AWS": {
			Accepted: `dynamodb: {tableName: customers, region: us-gov-west-1}`,
			Refused:  `dynamodb: {tableName: customers, region: Frankfurt}`,
			Says:     []string{"spec.dynamodb.region", `"Frankfurt" is not an AWS region`, "write it like eu-central-1"},
		},
		"a role for a table is an IAM role": {
			Accepted: `dynamodb: {tableName: customers, assumeRoleArn: ` + limits.Quote(role) + `}`,
			Refused:  `dynamodb: {tableName: customers, assumeRoleArn: "arn:aws:iam::111122223333:user/edge"}`,
			Says:     []string{"spec.dynamodb.assumeRoleArn", "user/edge", "is not the ARN of an IAM role"},
		},
		"a table is read in one part at least": {
			Accepted: `dynamodb: {tableName: customers, segments: 1}`,
			Refused:  `dynamodb: {tableName: customers, segments: 0}`,
			Says:     []string{"spec.dynamodb.segments", "greater than or equal to 1"},
		},
		"a table is read in 64 parts at most": {
			Accepted: `dynamodb: {tableName: customers, segments: 64}`,
			Refused:  `dynamodb: {tableName: customers, segments: 65}`,
			Says:     []string{"spec.dynamodb.segments", "less than or equal to 64"},
		},
		"attribute names and values are only used in a filter": {
			Accepted: `dynamodb: {tableName: customers, filterExpression: "#a = :a", expressionAttributeNames: [{placeholder: "#a", attribute: active}], expressionAttributeValues: [{placeholder: ":a", bool: true}]}`,
			Refused:  `dynamodb: {tableName: customers, expressionAttributeNames: [{placeholder: "#a", attribute: active}]}`,
			Says:     []string{"spec.dynamodb.filterExpression", "attribute names and values are only used in a filter", "set filterExpression, or remove"},
		},
		"a name in a filter starts with #": {
			Accepted: filtered(`expressionAttributeNames: [{placeholder: "#a_1", attribute: active}]`),
			Refused:  filtered(`expressionAttributeNames: [{placeholder: "a", attribute: active}]`),
			Says:     []string{"spec.dynamodb.expressionAttributeNames[0].placeholder", `"a" is not a name placeholder`, "use #"},
		},
		"a name in a filter has a placeholder": {
			Accepted: filtered(`expressionAttributeNames: [{placeholder: "#a", attribute: active}]`),
			Refused:  filtered(`expressionAttributeNames: [{attribute: active}]`),
			Says:     []string{"spec.dynamodb.expressionAttributeNames[0].placeholder", "Required"},
		},
		"a name in a filter has an attribute": {
			Accepted: filtered(`expressionAttributeNames: [{placeholder: "#a", attribute: active}]`),
			Refused:  filtered(`expressionAttributeNames: [{placeholder: "#a"}]`),
			Says:     []string{"spec.dynamodb.expressionAttributeNames[0].attribute", "Required"},
		},
		"a name in a filter is given once": {
			Accepted: filtered(`expressionAttributeNames: [{placeholder: "#a", attribute: a}, {placeholder: "#b", attribute: a}]`),
			Refused:  filtered(`expressionAttributeNames: [{placeholder: "#a", attribute: a}, {placeholder: "#a", attribute: b}]`),
			Says:     []string{"spec.dynamodb.expressionAttributeNames[1]", "Duplicate value", "#a"},
		},
		"a filter has at most 50 names": {
			Accepted: filtered(list("expressionAttributeNames", 50, `{placeholder: "#a%d", attribute: a}`)),
			Refused:  filtered(list("expressionAttributeNames", 51, `{placeholder: "#a%d", attribute: a}`)),
			Says:     []string{"spec.dynamodb.expressionAttributeNames", "Too many: 51", "at most 50"},
		},
		"a value in a filter starts with a colon": {
			Accepted: filtered(`expressionAttributeValues: [{placeholder: ":v_1", string: ""}]`),
			Refused:  filtered(`expressionAttributeValues: [{placeholder: "v", string: x}]`),
			Says:     []string{"spec.dynamodb.expressionAttributeValues[0].placeholder", `"v" is not a value placeholder`, "use a colon"},
		},
		"a value in a filter has a placeholder": {
			Accepted: filtered(`expressionAttributeValues: [{placeholder: ":v", bool: false}]`),
			Refused:  filtered(`expressionAttributeValues: [{bool: false}]`),
			Says:     []string{"spec.dynamodb.expressionAttributeValues[0].placeholder", "Required"},
		},
		"a value in a filter is given once": {
			Accepted: filtered(`expressionAttributeValues: [{placeholder: ":v", bool: false}, {placeholder: ":w", bool: false}]`),
			Refused:  filtered(`expressionAttributeValues: [{placeholder: ":v", bool: false}, {placeholder: ":v", bool: true}]`),
			Says:     []string{"spec.dynamodb.expressionAttributeValues[1]", "Duplicate value", ":v"},
		},
		"a filter has at most 50 values": {
			Accepted: filtered(list("expressionAttributeValues", 50, `{placeholder: ":v%d", string: x}`)),
			Refused:  filtered(list("expressionAttributeValues", 51, `{placeholder: ":v%d", string: x}`)),
			Says:     []string{"spec.dynamodb.expressionAttributeValues", "Too many: 51", "at most 50"},
		},
		"a value in a filter is something": {
			Accepted: filtered(`expressionAttributeValues: [{placeholder: ":v", number: "-1.5e3"}]`),
			Refused:  filtered(`expressionAttributeValues: [{placeholder: ":v"}]`),
			Says:     []string{"spec.dynamodb.expressionAttributeValues[0]", "set exactly one of string, number and bool"},
		},
		"a value in a filter is one thing": {
			Accepted: filtered(`expressionAttributeValues: [{placeholder: ":v", string: "1"}]`),
			Refused:  filtered(`expressionAttributeValues: [{placeholder: ":v", string: "1", number: "1"}]`),
			Says:     []string{"spec.dynamodb.expressionAttributeValues[0]", "set exactly one"},
		},
		"a number in a filter is one": {
			Accepted: filtered(`expressionAttributeValues: [{placeholder: ":v", number: "42"}]`),
			Refused:  filtered(`expressionAttributeValues: [{placeholder: ":v", number: "0x2a"}]`),
			Says:     []string{"spec.dynamodb.expressionAttributeValues[0].number", `"0x2a" is not a decimal number`},
		},
	}
	for provider, fields := range connected {
		is := "a source of " + provider + ": "
		cases[is+"the block of that name is there"] = limits.Case{
			Accepted: store(provider, nil),
			Refused:  `provider: ` + provider + "\ndynamodb: null",
			Says:     []string{"spec." + provider, "belong together", `provider is "` + provider + `"`, "add spec." + provider},
		}
		cases[is+"a block of another name is not"] = limits.Case{
			Accepted: store(provider, nil),
			Refused:  strings.Replace(store(provider, nil), `"dynamodb":null`, `"dynamodb":{"tableName":"customers"}`, 1),
			Says:     []string{"spec.dynamodb", "belong together", `provider is "` + provider + `"`, "remove spec.dynamodb"},
		}
		cases[is+"a Secret is named"] = limits.Case{
			Accepted: store(provider, nil),
			Refused:  store(provider, map[string]any{secretRef: map[string]any{}}),
			Says:     []string{"spec." + provider + ".connectionSecretRef.name", "Required"},
		}
		cases[is+"a Secret is in its own namespace"] = limits.Case{
			Accepted: store(provider, nil),
			Refused:  store(provider, map[string]any{secretRef: map[string]any{"name": "db", "namespace": "kube-system"}}),
			Says:     []string{`unknown field "spec.` + provider + `.connectionSecretRef.namespace"`},
		}
		for _, field := range fields {
			cases[is+field+" is required"] = limits.Case{
				Accepted: store(provider, nil),
				Refused:  store(provider, map[string]any{field: nil}),
				Says:     []string{"spec." + provider + "." + field, "Required"},
			}
		}
		says := "Required"
		if provider != "mongodb" {
			says = "set either connectionSecretRef, for a connection string, or iam"
		}
		cases[is+"a connection string is required"] = limits.Case{
			Accepted: store(provider, nil),
			Refused:  store(provider, map[string]any{secretRef: nil}),
			Says:     []string{"spec." + provider + ".connectionSecretRef", says},
		}
	}
	return cases
}

const secretRef = "connectionSecretRef"

// iamLogins are the least logins with IAM.
var iamLogins = map[string]map[string]any{
	"postgres": {"host": "db", "user": "u", "database": "d"}, "mysql": {"host": "db", "user": "u", "database": "d"}, "redis": {"host": "db", "user": "u", "cacheName": "c"},
}

// iamPlace is where a login with IAM may be, with the name of the field that it has not.
type iamPlace struct{ provider, field, others string }

var iamPlaces = []iamPlace{
	{"postgres", "spec.postgres.iam", "cacheName"}, {"mysql", "spec.mysql.iam", "cacheName"}, {"redis", "spec.redis.iam", "database"},
	{"postgres", "spec.writeBack.iam", "cacheName"}, {"redis", "spec.writeBack.iam", "database"},
}

// with are the fields of a source with the least login there, of which some are set, or taken away.
func (p iamPlace) with(fields map[string]any) string {
	login := maps.Clone(iamLogins[p.provider])
	for name, value := range fields {
		login[name] = value
		if value == nil {
			delete(login, name)
		}
	}
	if p.field != "spec.writeBack.iam" {
		return store(p.provider, map[string]any{secretRef: nil, "iam": login})
	}
	text, err := json.Marshal(map[string]any{"table": "edge_state", "iam": login})
	if err != nil {
		panic(err)
	}
	return writesBack(p.provider, string(text))
}

// iamCases are those of logins with IAM.
func iamCases() map[string]limits.Case {
	all := []map[string]limits.Case{}
	for _, p := range iamPlaces {
		all = append(all, p.rules(), p.bounds())
	}
	return limits.Merged(all...)
}

func (p iamPlace) rules() map[string]limits.Case {
	least, cases := p.with(nil), map[string]limits.Case{}
	add := func(name string, fields map[string]any, says ...string) {
		cases["a login with IAM in "+p.field+" of "+p.provider+": "+name] = limits.Case{Accepted: least, Refused: p.with(fields), Says: append([]string{p.field}, says...)}
	}
	add("its host is required", map[string]any{"host": nil}, p.field+".host", "Required")
	add("its user is required", map[string]any{"user": nil}, p.field+".user", "Required")
	add("a database and a cache exclude each other", map[string]any{"database": "d", "cacheName": "c"}, "set database for PostgreSQL and MySQL, or cacheName for Redis")
	for text, is := range map[string]struct{ field, says string }{
		"db.example.com/x": {"host", "is not a host: use name or name:port"}, "user@db.example.com": {"host", "is not a host"}, "db.example.com:0": {"host", "is not a host"},
		"tenant@source": {"user", "is not the name of a database user"}, "*": {"user", "is not the name of a database user"},
		"Shop/*": {"cacheName", "is not the ID of a replication group"}, "Frankfurt": {"region", "is not an AWS region"},
		"arn:aws:iam::111122223333:user/edge": {"assumeRoleArn", "is not the ARN of an IAM role"},
	} {
		add("the form of its "+is.field+" is not "+text, map[string]any{is.field: text}, p.field+"."+is.field, text, is.says)
	}
	if p.field == "spec.writeBack.iam" {
		return cases
	}
	add("it is one of the provider", map[string]any{"database": nil, "cacheName": nil, p.others: "x"}, "set iam.")
	both := store(p.provider, map[string]any{"iam": iamLogins[p.provider]})
	cases["a login with IAM to "+p.provider+": there is no connection string"] = limits.Case{Accepted: least, Refused: both, Says: []string{"set either connectionSecretRef"}}
	return cases
}

func (p iamPlace) bounds() map[string]limits.Case {
	const role = "arn:aws:iam::111122223333:role/"
	bound := func(b limits.TextBound) limits.TextBound {
		name := b.Field
		b.Field = strings.TrimPrefix(p.field, "spec.") + "." + name
		b.Set = func(text string) string { return p.with(map[string]any{name: text}) }
		return b
	}
	cases := limits.Texts(
		bound(limits.TextBound{Field: "host", Longest: 260, Shortest: "a"}),
		bound(limits.TextBound{Field: "user", Longest: 63, Shortest: "u"}),
		bound(limits.TextBound{Field: "database", Longest: 64, Shortest: "d"}),
		bound(limits.TextBound{Field: "cacheName", Longest: 40, Start: "c", Shortest: "c"}),
		bound(limits.TextBound{Field: "region", Longest: 32, Start: "eu-central-", Shortest: "eu-a-1"}),
		bound(limits.TextBound{Field: "assumeRoleArn", Longest: 640, Start: role, Shortest: role + "r"}),
	)
	named := map[string]limits.Case{}
	for name, c := range cases {
		if strings.Contains(name, "."+p.others+" ") {
			c.Accepted = p.with(nil) // no length of it is
		}
		named[p.provider+": "+name] = c
	}
	return named
}

// connected are the providers that log in with a connection string, and what else their blocks need.
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
func lengthCases() map[string]limits.Case {
	table := func(field string) func(string) string {
		return func(text string) string {
			return `dynamodb: {tableName: customers, ` + field + `: ` + limits.Quote(text) + `}`
		}
	}
	filter := func(list, format string) func(string) string {
		return func(text string) string {
			return filtered(list + ": [" + fmt.Sprintf(format, limits.Quote(text)) + "]")
		}
	}
	texts := []limits.TextBound{
		{Field: "distributionRef.name", Set: limits.In("{distributionId: null, distributionRef: {name: %s}}").Text, Longest: 253, Shortest: "o"},
		{Field: "distributionRef.namespace", Set: limits.In("{distributionId: null, distributionRef: {name: main, namespace: %s}}").Text, Longest: 63, Shortest: "o"},
		{Field: "template.spec.distributionRef.namespace", Set: limits.In("template: {spec: {distributionRef: {name: main, namespace: %s}}}").Text, Longest: 63, Shortest: "o"},
		{Field: "template.spec.connectionGroupRef.namespace", Set: limits.In("template: {spec: {connectionGroupRef: {name: static, namespace: %s}}}").Text, Longest: 63, Shortest: "o"},
		{Field: "distributionId", Set: func(text string) string { return "distributionId: " + limits.Quote(text) }, Longest: 32, Shortest: "1"},
		{Field: "targetNamespace", Set: func(text string) string { return "targetNamespace: " + limits.Quote(text) }, Longest: 63, Shortest: "1"},
		{Field: "dynamodb.tableName", Set: func(text string) string { return "dynamodb: {tableName: " + limits.Quote(text) + "}" }, Longest: 1024, Shortest: "000"},
		{Field: "dynamodb.region", Set: table("region"), Longest: 32, Start: "eu-central-", Shortest: "eu-a-1"},
		{Field: "dynamodb.nameAttribute", Set: table("nameAttribute"), Longest: 255, Shortest: "0"},
		{Field: "dynamodb.domainAttribute", Set: table("domainAttribute"), Longest: 255, Shortest: "0"},
		{Field: "dynamodb.enabledAttribute", Set: table("enabledAttribute"), Longest: 255, Shortest: "0"},
		{Field: "dynamodb.connectionGroupIdAttribute", Set: table("connectionGroupIdAttribute"), Longest: 255, Shortest: "0"},
		{Field: "dynamodb.certificateArnAttribute", Set: table("certificateArnAttribute"), Longest: 255, Shortest: "0"},
		{Field: "dynamodb.filterExpression", Set: table("filterExpression"), Longest: 4096, Shortest: "0"},
		{Field: "dynamodb.assumeRoleArn", Set: table("assumeRoleArn"), Longest: 640, Start: role, Shortest: role},
		{Field: "dynamodb.expressionAttributeNames[0].placeholder", Set: filter("expressionAttributeNames", "{placeholder: %s, attribute: a}"), Longest: 255, Start: "#", Shortest: "#a"},
		{Field: "dynamodb.expressionAttributeNames[0].attribute", Set: filter("expressionAttributeNames", `{placeholder: "#a", attribute: %s}`), Longest: 255, Shortest: "a"},
		{Field: "dynamodb.expressionAttributeValues[0].placeholder", Set: filter("expressionAttributeValues", "{placeholder: %s, bool: true}"), Longest: 255, Start: ":", Shortest: ":a"},
		{Field: "dynamodb.expressionAttributeValues[0].string", Set: filter("expressionAttributeValues", `{placeholder: ":a", string: %s}`), Longest: 1024},
		{Field: "dynamodb.expressionAttributeValues[0].number", Set: filter("expressionAttributeValues", `{placeholder: ":a", number: %s}`), Longest: 64, Shortest: "1"},
		{Field: "mongodb.filter", Set: func(text string) string { return store("mongodb", map[string]any{"filter": text}) }, Longest: 16384, Shortest: "0"},
		{Field: "mongodb.database", Set: func(text string) string { return store("mongodb", map[string]any{"database": text}) }, Longest: 63, Shortest: "0"},
		{Field: "mongodb.collection", Set: func(text string) string { return store("mongodb", map[string]any{"collection": text}) }, Longest: 255, Shortest: "0"},
		{Field: "postgres.query", Set: func(text string) string { return store("postgres", map[string]any{"query": text}) }, Longest: 16384, Shortest: "0"},
		{Field: "mysql.query", Set: func(text string) string { return store("mysql", map[string]any{"query": text}) }, Longest: 16384, Shortest: "0"},
		{Field: "redis.keyPattern", Set: func(text string) string { return store("redis", map[string]any{"keyPattern": text}) }, Longest: 1024, Shortest: "*"},
		{Field: "mapping[0].column", Set: func(text string) string { return "mapping: [{field: name, column: " + limits.Quote(text) + "}]" }, Longest: 255, Shortest: "c"},
		{Field: "mapping[0].field", Set: func(text string) string { return "mapping: [{column: c, field: " + limits.Quote(text) + "}]" }, Longest: 400, Start: "metadata.labels[0123456789", End: "]", Shortest: "name"},
		{Field: "expressions[0].field", Set: func(text string) string {
			return "expressions: [{expression: row.a, field: " + limits.Quote(text) + "}]"
		}, Longest: 400, Start: "metadata.labels[0123456789", End: "]", Shortest: "name"},
		{Field: "expressions[0].expression", Set: func(text string) string {
			return "expressions: [{field: name, expression: " + limits.Quote(text) + "}]"
		}, Longest: 2048, Shortest: "1"},
	}
	for provider := range connected {
		name := func(text string) string {
			return store(provider, map[string]any{secretRef: map[string]any{"name": text}})
		}
		texts = append(texts, texts[0])
		last := &texts[len(texts)-1]
		last.Field, last.Set, last.Longest, last.Shortest = provider+".connectionSecretRef.name", name, 253, "s"
	}
	for i := range texts {
		texts[i].Accepts = shorter[texts[i].Field]
	}
	return limits.Texts(texts...)
}

// shorter are the texts whose form allows less than their bound in characters.
var shorter = map[string]int{
	"dynamodb.tableName":   255,
	"mapping[0].field":     len("metadata.labels[]") + 63,
	"expressions[0].field": len("metadata.labels[]") + 63,
}
