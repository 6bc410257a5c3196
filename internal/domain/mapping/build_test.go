package mapping_test

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// config is one with the default columns of a store.
func config(change ...func(*mapping.Config)) mapping.Config {
	c := mapping.Config{
		DistributionID: "E1",
		Defaults: []mapping.Mapping{
			{Column: "name", Field: "name"},
			{Column: "domain", Field: "domains"},
			{Column: "enabled", Field: "enabled", Optional: true},
			{Column: "connection_group_id", Field: "connectionGroupId", Optional: true},
		},
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

func mapped(column, field string) func(*mapping.Config) {
	return func(c *mapping.Config) { c.Mapping = append(c.Mapping, mapping.Mapping{Column: column, Field: field}) }
}

func expression(field, text string) func(*mapping.Config) {
	return func(c *mapping.Config) {
		c.Expressions = append(c.Expressions, mapping.Expression{Field: field, Expression: text})
	}
}

func template(spec map[string]any) func(*mapping.Config) {
	return func(c *mapping.Config) { c.Template.Spec = spec }
}

func compile(t rapid.TB, c mapping.Config) *mapping.Program {
	t.Helper()
	p, err := mapping.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

type tree = map[string]any

// acme is a row that is a tenant, with more columns.
func acme(more tree) mapping.Row {
	values := tree{"name": "acme", "domain": "acme.example.com"}
	maps.Copy(values, more)
	return mapping.Row{Values: values}
}

// spec is what acme becomes, with more fields.
func spec(more tree) tree {
	out := tree{"distributionId": "E1", "domains": domainList("acme.example.com")}
	maps.Copy(out, more)
	return out
}

func domainList(names ...string) []any {
	out := []any{}
	for _, name := range names {
		out = append(out, tree{"domain": name})
	}
	return out
}

// named is what acme becomes where its distribution is an object.
func named(ref tree, more ...tree) tree {
	out := tree{"distributionRef": ref, "domains": domainList("acme.example.com")}
	for _, m := range more {
		maps.Copy(out, m)
	}
	return out
}

func byObject(ref tree) func(*mapping.Config) {
	return func(c *mapping.Config) { c.DistributionID, c.DistributionRef = "", ref }
}

func home(namespace string) func(*mapping.Config) {
	return func(c *mapping.Config) { c.Home = namespace }
}

// A parent is named in one way, or the API server would refuse the object.
func TestAParentThatIsNamedTwice(t *testing.T) {
	for name, test := range map[string]struct {
		config mapping.Config
		row    mapping.Row
		says   string
	}{
		"by the template": {config(template(tree{"distributionId": "E1", "distributionRef": tree{"name": "main"}})), acme(nil), "distributionId and distributionRef are both set"},
		"by a row": {
			config(mapped("id", "connectionGroupId"), mapped("object", "connectionGroupRef.name")), acme(tree{"id": "cg_1", "object": "static"}),
			"connectionGroupId and connectionGroupRef are both set",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, rejected := compile(t, test.config).Build(1, test.row)
			if rejected == nil || !strings.Contains(rejected.Reason, test.says) {
				t.Errorf("%+v, want that %s", rejected, test.says)
			}
		})
	}
}

const arn = "arn:aws:acm:us-east-1:111122223333:certificate/one"

func TestARowBecomesAnObject(t *testing.T) {
	request := tree{"validationTokenHost": "cloudfront"}
	requests := func(c *mapping.Config) { c.ManagedCertificate = request }
	for name, tt := range map[string]struct {
		config mapping.Config
		row    mapping.Row
		want   mapping.Object
	}{
		"the default columns": {
			config(), acme(tree{"enabled": false, "connection_group_id": "cg_1"}),
			mapping.Object{Name: "acme", Spec: spec(tree{"enabled": false, "connectionGroupId": "cg_1"})},
		},
		"null, the empty text and a missing optional column set nothing": {
			config(), acme(tree{"enabled": nil, "connection_group_id": ""}), mapping.Object{Name: "acme", Spec: spec(nil)},
		},
		"then the rest comes from the template": {
			config(template(tree{"enabled": true, "connectionGroupId": "cg_t"})), acme(tree{"enabled": nil, "connection_group_id": ""}),
			mapping.Object{Name: "acme", Spec: spec(tree{"enabled": true, "connectionGroupId": "cg_t"})},
		},
		"a row beats the template, and the template beats the source": {
			config(mapped("dist", "distributionId"), template(tree{"distributionId": "E2"})), acme(tree{"dist": "E3"}),
			mapping.Object{Name: "acme", Spec: spec(tree{"distributionId": "E3"})},
		},
		"the template beats the source": {
			config(mapped("dist", "distributionId"), template(tree{"distributionId": "E2"})), acme(tree{"dist": nil}),
			mapping.Object{Name: "acme", Spec: spec(tree{"distributionId": "E2"})},
		},
		"the source names an object": {
			config(byObject(tree{"name": "main"})), acme(nil), mapping.Object{Name: "acme", Spec: named(tree{"name": "main"})},
		},
		"in the namespace of the source, which is not that of the tenants": {
			config(byObject(tree{"name": "main"}), home("platform"), template(tree{"connectionGroupRef": tree{"name": "static", "namespace": "edge"}})), acme(nil),
			mapping.Object{Name: "acme", Spec: named(tree{"name": "main", "namespace": "platform"}, tree{"connectionGroupRef": tree{"name": "static", "namespace": "edge"}})},
		},
		"the template names an object, and the source has an ID": {
			config(template(tree{"distributionRef": tree{"name": "main"}})), acme(nil), mapping.Object{Name: "acme", Spec: named(tree{"name": "main"})},
		},
		"the template has an ID, and the source names an object": {
			config(byObject(tree{"name": "main"}), template(tree{"distributionId": "E2"})), acme(nil),
			mapping.Object{Name: "acme", Spec: spec(tree{"distributionId": "E2"})},
		},
		"the template names another object": {
			config(byObject(tree{"name": "main", "namespace": "platform"}), template(tree{"distributionRef": tree{"name": "other"}})), acme(nil),
			mapping.Object{Name: "acme", Spec: named(tree{"name": "other"})},
		},
		"a row names objects, and the source and the template have IDs": {
			config(mapped("dist", "distributionRef.name"), mapped("group", "connectionGroupRef.name"), template(tree{"connectionGroupId": "cg_t"})),
			acme(tree{"dist": "gold", "group": "static"}),
			mapping.Object{Name: "acme", Spec: named(tree{"name": "gold"}, tree{"connectionGroupRef": tree{"name": "static"}})},
		},
		"a row has IDs, and the source and the template name objects": {
			config(byObject(tree{"name": "main"}), mapped("dist", "distributionId"), template(tree{"connectionGroupRef": tree{"name": "static"}})),
			acme(tree{"dist": "E3", "connection_group_id": "cg_1"}),
			mapping.Object{Name: "acme", Spec: spec(tree{"distributionId": "E3", "connectionGroupId": "cg_1"})},
		},
		"a row names another object of the namespace in the template": {
			config(mapped("dist", "distributionRef.name"), template(tree{"distributionRef": tree{"name": "main", "namespace": "platform"}})), acme(tree{"dist": "gold"}),
			mapping.Object{Name: "acme", Spec: named(tree{"name": "gold", "namespace": "platform"})},
		},
		"parameters and tags are merged by their key, and sorted": {
			config(mapped("plan", "parameters[plan]"), mapped("team", "tags[team]"), template(tree{
				"parameters": []any{tree{"name": "zone", "value": "eu"}, tree{"name": "plan", "value": "free"}},
				"tags":       []any{tree{"key": "x", "value": "1"}, tree{"key": "empty"}},
			})),
			acme(tree{"plan": "gold", "team": "blue"}),
			mapping.Object{Name: "acme", Spec: spec(tree{
				"parameters": []any{tree{"name": "plan", "value": "gold"}, tree{"name": "zone", "value": "eu"}},
				"tags":       []any{tree{"key": "empty", "value": ""}, tree{"key": "team", "value": "blue"}, tree{"key": "x", "value": "1"}},
			})},
		},
		"labels and annotations are merged too": {
			config(mapped("plan", "metadata.labels[example.com/plan]"), mapped("note", "metadata.annotations[note]"), func(c *mapping.Config) {
				c.Template.Labels = map[string]string{"fleet": "one", "example.com/plan": "free", "mark": ""}
				c.Template.Annotations = map[string]string{"note": "none"}
			}),
			acme(tree{"plan": int64(3), "note": "a b"}),
			mapping.Object{
				Name: "acme", Labels: map[string]string{"fleet": "one", "example.com/plan": "3", "mark": ""},
				Annotations: map[string]string{"note": "a b"}, Spec: spec(nil),
			},
		},
		"a block is merged field by field": {
			config(mapped("ttl", "dns.ttl"), template(tree{"dns": tree{"provider": "route53", "ttl": int32(60), "takeover": false}})),
			acme(tree{"ttl": "120"}),
			mapping.Object{Name: "acme", Spec: spec(tree{"dns": tree{"provider": "route53", "ttl": int64(120), "takeover": false}})},
		},
		"the domains of a row replace those of the template": {
			config(template(tree{"domains": domainList("all.example.com")})), acme(nil), mapping.Object{Name: "acme", Spec: spec(nil)},
		},
		"a row without a certificate asks for a managed one": {
			config(requests, mapped("cert", "customizations.certificate.arn")), acme(tree{"cert": nil}),
			mapping.Object{Name: "acme", Spec: spec(tree{"managedCertificateRequest": request})},
		},
		"a row with a certificate does not, no matter where it is requested": {
			config(requests, mapped("cert", "customizations.certificate.arn"), mapped("host", "managedCertificateRequest.validationTokenHost"),
				template(tree{"managedCertificateRequest": tree{"deleteOnTenantDeletion": false}})),
			acme(tree{"cert": arn, "host": "self-hosted"}),
			mapping.Object{Name: "acme", Spec: spec(tree{"customizations": tree{"certificate": tree{"arn": arn}}})},
		},
		"a certificate of the template beats the request of the source": {
			config(requests, template(tree{"customizations": tree{"certificate": tree{"arn": arn}}})), acme(nil),
			mapping.Object{Name: "acme", Spec: spec(tree{"customizations": tree{"certificate": tree{"arn": arn}}})},
		},
		"a template that has both means both": {
			config(requests, template(tree{
				"customizations": tree{"certificate": tree{"arn": arn}}, "managedCertificateRequest": tree{"validationTokenHost": "self-hosted"},
			})), acme(nil),
			mapping.Object{Name: "acme", Spec: spec(tree{
				"customizations": tree{"certificate": tree{"arn": arn}}, "managedCertificateRequest": tree{"validationTokenHost": "self-hosted"},
			})},
		},
		"a row that needs no web ACL drops that of the template": {
			config(mapped("acl", "customizations.webAcl.action"), template(tree{"customizations": tree{"webAcl": tree{"action": "override", "arn": "arn:x"}}})),
			acme(tree{"acl": "disable"}),
			mapping.Object{Name: "acme", Spec: spec(tree{"customizations": tree{"webAcl": tree{"action": "disable"}}})},
		},
		"a row without geographic restrictions drops those of the template": {
			config(mapped("geo", "customizations.geoRestrictions.restrictionType"),
				template(tree{"customizations": tree{"geoRestrictions": tree{"restrictionType": "whitelist", "locations": []any{"DE"}}}})),
			acme(tree{"geo": "none"}),
			mapping.Object{Name: "acme", Spec: spec(tree{"customizations": tree{"geoRestrictions": tree{"restrictionType": "none"}}})},
		},
		"a row that names its zone drops the zone of the template": {
			config(mapped("zone", "dns.zoneName"), template(tree{"dns": tree{"provider": "route53", "hostedZoneId": "Z1"}})),
			acme(tree{"zone": "example.com"}),
			mapping.Object{Name: "acme", Spec: spec(tree{"dns": tree{"provider": "route53", "zoneName": "example.com"}})},
		},
		"and so does one that gives its ID": {
			config(mapped("zone", "dns.hostedZoneId"), template(tree{"dns": tree{"provider": "route53", "zoneName": "example.com"}})),
			acme(tree{"zone": "Z2"}),
			mapping.Object{Name: "acme", Spec: spec(tree{"dns": tree{"provider": "route53", "hostedZoneId": "Z2"}})},
		},
		"a name that AWS does not accept is fine together with a name in AWS": {
			config(mapped("aws", "tenantName")), mapping.Row{Values: tree{"name": "ab", "domain": "acme.example.com", "aws": "ab-tenant"}},
			mapping.Object{Name: "ab", Spec: spec(tree{"tenantName": "ab-tenant"})},
		},
		"an ID is a name": {
			config(), mapping.Row{Values: tree{"name": int64(1042), "domain": "acme.example.com"}}, mapping.Object{Name: "1042", Spec: spec(nil)},
		},
		"an expression replaces a default mapping": {
			config(expression("name", `"t-" + string(row.id)`), expression("domains", `[row.slug + ".example.com", "www." + row.slug + ".example.com"]`)),
			mapping.Row{Values: tree{"id": int64(7), "slug": "acme"}},
			mapping.Object{Name: "t-7", Spec: spec(tree{"domains": domainList("acme.example.com", "www.acme.example.com")})},
		},
		"an expression that gives null, none or nothing sets nothing": {
			config(expression("enabled", `row.state == "off" ? dyn(false) : dyn(null)`), expression("connectionGroupId", `row.?group`), expression("tags[a]", `""`)),
			acme(tree{"state": "on"}), mapping.Object{Name: "acme", Spec: spec(nil)},
		},
		"an expression may give what a column gives": {
			config(expression("parameters[id]", `row.id`), expression("dns.ttl", `row.ttl * 60`), expression("enabled", `row.enabled`),
				template(tree{"dns": tree{"provider": "route53"}})),
			acme(tree{"id": int64(42), "ttl": int64(5), "enabled": "yes"}),
			mapping.Object{Name: "acme", Spec: spec(tree{
				"parameters": []any{tree{"name": "id", "value": "42"}}, "enabled": true, "dns": tree{"provider": "route53", "ttl": int64(300)},
			})},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, rejection := compile(t, tt.config).Build(1, tt.row)
			if rejection != nil {
				t.Fatalf("rejected: %+v", *rejection)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// full is a template in which every field may be set alone.
var full = tree{
	"customizations": tree{"webAcl": tree{"action": "override"}, "geoRestrictions": tree{"restrictionType": "whitelist"}},
	"dns":            tree{"provider": "route53"}, "managedCertificateRequest": tree{"validationTokenHost": "cloudfront"},
	"keyValues": tree{"storeArn": "s", "value": "v"}, "distributionRef": tree{"name": "main"}, "connectionGroupRef": tree{"name": "static"},
}

func TestFieldsTakeWhatTheirSentenceSays(t *testing.T) {
	hundred := make([]any, 101)
	for i := range hundred {
		hundred[i] = fmt.Sprintf("d%d.example.com", i)
	}
	for name, tt := range map[string]struct {
		field string
		value any
		// want is the value in the spec; a rejection otherwise.
		want   any
		reason string
	}{
		"a text":                       {field: "connectionGroupId", value: "cg_1", want: "cg_1"},
		"a number for a text":          {field: "connectionGroupId", value: int64(42), want: "42"},
		"a large number for a text":    {field: "connectionGroupId", value: float64(1 << 60), want: "1152921504606846976"},
		"a fraction for a text":        {field: "connectionGroupId", value: 1.5, want: "1.5"},
		"no number for a text":         {field: "connectionGroupId", value: math.NaN(), reason: "the number NaN has the wrong type: use text of at most 64 characters, or a number, or convert it in an expression"},
		"a boolean for a text":         {field: "connectionGroupId", value: true, reason: "the boolean true has the wrong type: use text of at most 64 characters, or a number, or convert it in an expression"},
		"a list for a text":            {field: "connectionGroupId", value: []any{"a"}, reason: "a list of 1 has the wrong type: use text of at most 64 characters, or a number, or convert it in an expression"},
		"an object for a text":         {field: "connectionGroupId", value: tree{"a": "b"}, reason: "an object has the wrong type: use text of at most 64 characters, or a number, or convert it in an expression"},
		"a time for a text":            {field: "connectionGroupId", value: time.Unix(0, 0), reason: "the time 1970-01-01T00:00:00Z has the wrong type: use text of at most 64 characters, or a number, or convert it in an expression"},
		"what no field takes":          {field: "connectionGroupId", value: mapping.Unsupported("bytea"), reason: `a value of type "bytea" can't be used: convert it in the query or in the store to text of at most 64 characters, or a number`},
		"a text that is too long":      {field: "connectionGroupId", value: strings.Repeat("ü", 120), reason: `"` + strings.Repeat("ü", 100) + `…" has 120 characters: use at most 64`},
		"as many characters as fit":    {field: "connectionGroupId", value: strings.Repeat("ü", 64), want: strings.Repeat("ü", 64)},
		"bytes that are no text":       {field: "connectionGroupId", value: "\xff", reason: `"\xff" is not valid UTF-8: convert it in the query or in the store`},
		"one of a few texts":           {field: "driftPolicy", value: "report", want: "report"},
		"none of a few texts":          {field: "driftPolicy", value: "Report", reason: `"Report" is not allowed: use one of enforce, report, suspend`},
		"a boolean":                    {field: "enabled", value: false, want: false},
		"a boolean as a letter":        {field: "enabled", value: "F", want: false},
		"a boolean as a word":          {field: "enabled", value: " Yes ", want: true},
		"a boolean as on and off":      {field: "enabled", value: "OFF", want: false},
		"a boolean as a number":        {field: "enabled", value: int64(1), want: true},
		"a boolean as a float":         {field: "enabled", value: 0.0, want: false},
		"a boolean as a text of 1":     {field: "enabled", value: "1", want: true},
		"a number that is no boolean":  {field: "enabled", value: int64(2), reason: "the number 2 has the wrong type: use true or false, also as text (true, false, yes, no, on, off, t, f, 1, 0) or as the numbers 1 and 0, or convert it in an expression"},
		"a text that is no boolean":    {field: "enabled", value: "active", reason: `the string "active" has the wrong type: use true or false, also as text (true, false, yes, no, on, off, t, f, 1, 0) or as the numbers 1 and 0, or convert it in an expression`},
		"a number":                     {field: "dns.ttl", value: int64(60), want: int64(60)},
		"a whole float":                {field: "dns.ttl", value: 172800.0, want: int64(172800)},
		"a number as text":             {field: "dns.ttl", value: " 300 ", want: int64(300)},
		"a number that is too small":   {field: "dns.ttl", value: int64(59), reason: "the number 59 is not allowed: use a whole number from 60 to 172800"},
		"a number that is too large":   {field: "dns.ttl", value: "172801", reason: `the string "172801" is not allowed: use a whole number from 60 to 172800`},
		"a fraction":                   {field: "dns.ttl", value: 60.5, reason: "the number 60.5 is not allowed: use a whole number from 60 to 172800"},
		"a boolean for a number":       {field: "dns.ttl", value: true, reason: "the boolean true has the wrong type: use a whole number from 60 to 172800, or convert it in an expression"},
		"a list of domains":            {field: "domains", value: []any{"b.example.com", nil, "", "a.example.com"}, want: domainList("a.example.com", "b.example.com")},
		"domains with commas":          {field: "domains", value: "b.example.com, a.example.com,", want: domainList("a.example.com", "b.example.com")},
		"domains with spaces":          {field: "domains", value: "b.example.com\n a.example.com", want: domainList("a.example.com", "b.example.com")},
		"domains that are the same":    {field: "domains", value: "A.example.com,a.EXAMPLE.com.", want: domainList("a.example.com")},
		"a domain outside of ASCII":    {field: "domains", value: "bücher.example.com", want: domainList("xn--bcher-kva.example.com")},
		"a wildcard":                   {field: "domains", value: "*.Example.com", want: domainList("*.example.com")},
		"a hundred domains":            {field: "domains", value: hundred[:100], want: nil},
		"more than a hundred domains":  {field: "domains", value: hundred, reason: "a list of 101 has more than 100 different elements: use a list of at most 100 domain names, or a text with commas or spaces between them"},
		"a wildcard in the middle":     {field: "domains", value: "a.*.example.com", reason: `"a.*.example.com" has a wildcard that is not the entire leftmost label: ` + domainCure},
		"a wildcard in a label":        {field: "domains", value: "a*.example.com", reason: `"a*.example.com" has a wildcard that is not the entire leftmost label: ` + domainCure},
		"a wildcard for the world":     {field: "domains", value: "*.com", reason: `"*.com" is not a domain name: ` + domainCure},
		"a URL":                        {field: "domains", value: "https://a.example.com", reason: `"https://a.example.com" is not a domain name: ` + domainCure},
		"an address":                   {field: "domains", value: "10.0.0.1", reason: `"10.0.0.1" is not a domain name: ` + domainCure},
		"one label":                    {field: "domains", value: "localhost", reason: `"localhost" is not a domain name: ` + domainCure},
		"two dots":                     {field: "domains", value: "a..example.com", reason: `"a..example.com" is not a domain name: ` + domainCure},
		"a label that is too long":     {field: "domains", value: strings.Repeat("a", 64) + ".com", reason: `"` + strings.Repeat("a", 64) + `.com" is not a domain name: ` + domainCure},
		"a domain that is too long":    {field: "domains", value: strings.Repeat("a.", 130) + "com", reason: `"` + strings.Repeat("a.", 50) + `…" has 263 characters, but at most 253 are allowed: ` + domainCure},
		"a text that looks like JSON":  {field: "domains", value: `["a.example.com"]`, reason: `"[\"a.example.com\"]" is not a domain name: ` + domainCure},
		"a list of numbers":            {field: "domains", value: []any{int64(1)}, reason: "a list of 1 has the wrong type: use a list of at most 100 domain names, or a text with commas or spaces between them, or convert it in an expression"},
		"a number for domains":         {field: "domains", value: int64(1), reason: "the number 1 has the wrong type: use a list of at most 100 domain names, or a text with commas or spaces between them, or convert it in an expression"},
		"no domains":                   {field: "domains", value: " , ", reason: "empty"},
		"a domain":                     {field: "managedCertificateRequest.primaryDomainName", value: "Acme.example.com.", want: "acme.example.com"},
		"no domain":                    {field: "managedCertificateRequest.primaryDomainName", value: "acme", reason: `"acme" is not a domain name: ` + domainCure},
		"a number for a domain":        {field: "managedCertificateRequest.primaryDomainName", value: int64(1), reason: "the number 1 has the wrong type: use a domain name, or convert it in an expression"},
		"countries":                    {field: "customizations.geoRestrictions.locations", value: "US, DE,US", want: []any{"DE", "US"}},
		"a country that is none":       {field: "customizations.geoRestrictions.locations", value: []any{"de"}, reason: `"de" is not a country code: use two capital letters, such as DE`},
		"a parameter":                  {field: "parameters[plan]", value: "gold", want: []any{tree{"name": "plan", "value": "gold"}}},
		"a tag":                        {field: "tags[cost center]", value: int64(7), want: []any{tree{"key": "cost center", "value": "7"}}},
		"the action for a web ACL":     {field: "customizations.webAcl.action", value: "disable", want: "disable"},
		"a web ACL":                    {field: "customizations.webAcl.arn", value: "arn:x", want: "arn:x"},
		"a certificate":                {field: "customizations.certificate.arn", value: arn, want: arn},
		"a type of restriction":        {field: "customizations.geoRestrictions.restrictionType", value: "blacklist", want: "blacklist"},
		"who answers challenges":       {field: "managedCertificateRequest.validationTokenHost", value: "self-hosted", want: "self-hosted"},
		"public logs":                  {field: "managedCertificateRequest.certificateTransparencyLoggingPreference", value: "disabled", want: "disabled"},
		"the end of a certificate":     {field: "managedCertificateRequest.deleteOnTenantDeletion", value: "no", want: false},
		"a DNS service":                {field: "dns.provider", value: "route53", want: "route53"},
		"a zone":                       {field: "dns.hostedZoneId", value: "Z1", want: "Z1"},
		"a zone by its name":           {field: "dns.zoneName", value: "example.com", want: "example.com"},
		"a type of record":             {field: "dns.recordType", value: "Alias", want: "Alias"},
		"a takeover":                   {field: "dns.takeover", value: "t", want: true},
		"a role":                       {field: "dns.assumeRoleArn", value: "arn:aws:iam::111122223333:role/dns", want: "arn:aws:iam::111122223333:role/dns"},
		"a name in AWS":                {field: "tenantName", value: "Acme", want: "Acme"},
		"a distribution":               {field: "distributionId", value: "E9", want: "E9"},
		"a distribution's object":      {field: "distributionRef.name", value: "gold", want: "gold"},
		"a connection group's object":  {field: "connectionGroupRef.name", value: "gold", want: "gold"},
		"what becomes of the tenant":   {field: "deletionPolicy", value: "Retain", want: "Retain"},
		"what may be taken over":       {field: "adoptionPolicy", value: "IfUnowned", want: "IfUnowned"},
		"an illegal value for a label": {field: "metadata.labels[a]", value: "a b", reason: `"a b" is not a valid label value: use at most 63 letters, digits and inner - _ . , or use an annotation`},
	} {
		t.Run(name, func(t *testing.T) {
			o, rejection := compile(t, config(mapped("c", tt.field), template(full))).Build(1, acme(tree{"c": tt.value}))
			switch {
			case tt.reason == "empty":
				if want := `column "c" for domains is empty, and nothing else sets domains: give the row a value, or set it in spec.template`; rejection == nil || rejection.Reason != want {
					t.Fatalf("got %+v, want %s", rejection, want)
				}
			case tt.reason != "":
				if want := (mapping.Rejection{Row: "acme", Name: "acme", Reason: fmt.Sprintf("column %q for %s: %s", "c", tt.field, tt.reason)}); rejection == nil || *rejection != want {
					t.Fatalf("got  %+v\nwant %+v", rejection, want)
				}
			case rejection != nil:
				t.Fatalf("rejected: %+v", *rejection)
			case tt.want != nil:
				if diff := cmp.Diff(tt.want, at(o.Spec, tt.field)); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			default:
				if n := len(o.Domains()); n != 100 {
					t.Errorf("%d domains", n)
				}
			}
		})
	}
}

const domainCure = "write names like shop.example.com or *.example.com, without scheme, port, path, underscore or brackets"

// at is what stands at a path of a spec; of a list with keys, the list.
func at(v any, path string) any {
	path, _, _ = strings.Cut(path, "[")
	for name := range strings.SplitSeq(path, ".") {
		block, _ := v.(tree)
		v = block[name]
	}
	return v
}

func TestRejections(t *testing.T) {
	for name, tt := range map[string]struct {
		config mapping.Config
		row    mapping.Row
		want   mapping.Rejection
	}{
		"a row without a name is known by its number, and belongs to no tenant": {
			config(), mapping.Row{Values: tree{"name": nil, "domain": "a.example.com"}},
			mapping.Rejection{Row: "row 7", Reason: `column "name" is empty, but every row needs a name: add one, or leave the row out`},
		},
		"a row without the column of the name, too": {
			config(), mapping.Row{Values: tree{"domain": "a.example.com"}},
			mapping.Rejection{Row: "row 7", Reason: `column "name": the row has no such column: add it, or correct the column name`},
		},
		"the key of the store is how people find a row": {
			config(), mapping.Row{Key: "customer:7", Values: tree{"name": true}},
			mapping.Rejection{Row: "customer:7", Reason: `column "name": the boolean true has the wrong type: use text of at most 253 characters, or a number, or convert it in an expression`},
		},
		"capital letters in a name": {
			config(), mapping.Row{Values: tree{"name": "Acme", "domain": "a.example.com"}},
			mapping.Rejection{Row: "Acme", Reason: `column "name": "Acme" is not a valid object name (lower-case letters, digits, and inner hyphens and dots): it has capital letters; change the row, or use an expression for the name, such as row.name.lowerAscii()`},
		},
		"a name with spaces": {
			config(), mapping.Row{Values: tree{"name": "acme inc", "domain": "a.example.com"}},
			mapping.Rejection{Row: "acme inc", Reason: `column "name": "acme inc" is not a valid object name (lower-case letters, digits, and inner hyphens and dots): use an expression for the name, such as "t-" + string(row.id)`},
		},
		"a name that AWS does not take": {
			config(), mapping.Row{Values: tree{"name": "ab", "domain": "a.example.com"}},
			mapping.Rejection{Row: "ab", Reason: `column "name": "ab" has 2 characters, but the name of a tenant in AWS must have 3 to 128: set tenantName as well, or use an expression, such as "t-" + string(row.id)`},
		},
		"a known name is reported": {
			config(), mapping.Row{Values: tree{"name": "acme", "domain": nil}},
			mapping.Rejection{Row: "acme", Name: "acme", Reason: `column "domain" for domains is empty, and nothing else sets domains: give the row a value, or set it in spec.template`},
		},
		"a required column that the row does not have": {
			config(mapped("plan", "parameters[plan]")), acme(nil),
			mapping.Rejection{Row: "acme", Name: "acme", Reason: `column "plan" for parameters[plan]: the row has no such column: add it, or correct the column name`},
		},
		"a block without a required field": {
			config(mapped("p", "dns.provider"), mapped("z", "dns.zoneName")), acme(tree{"p": nil, "z": "example.com"}),
			mapping.Rejection{Row: "acme", Name: "acme", Reason: `column "p" for dns.provider is empty, and nothing else sets dns.provider: give the row a value, or set it in spec.template`},
		},
		"an expression without the column that it needs": {
			config(expression("parameters[plan]", "row.plan")), acme(nil),
			mapping.Rejection{Row: "acme", Name: "acme", Reason: `the expression for parameters[plan]: 1:4: no such key: plan: change the row, or handle this in the expression, as in has(row.plan) or row.?plan.orValue("")`},
		},
		"an expression for the name that fails": {
			config(expression("name", `"t-" + row.id`)), acme(tree{"id": int64(1)}),
			mapping.Rejection{Row: "row 7", Reason: `the expression for name: 1:6: no such overload: change the row, or handle this in the expression, as in has(row.plan) or row.?plan.orValue("")`},
		},
		"an expression that touches what it can't use": {
			config(expression("parameters[photo]", `row.photo == "" ? "none" : "some"`)), acme(tree{"photo": mapping.Unsupported("bytea")}),
			mapping.Rejection{Row: "acme", Name: "acme", Reason: `the expression for parameters[photo]: 1:4: a value of type "bytea" can't be used, convert it in the query or in the store: change the row, or handle this in the expression, as in has(row.plan) or row.?plan.orValue("")`},
		},
		"an expression that gives another type": {
			config(expression("parameters[plan]", `row.plan`)), acme(tree{"plan": true}),
			mapping.Rejection{Row: "acme", Name: "acme", Reason: `the expression for parameters[plan]: the boolean true has the wrong type: use text of at most 256 characters, or a number, or convert it in an expression`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o, got := compile(t, tt.config).Build(7, tt.row)
			if got == nil {
				t.Fatalf("accepted: %+v", o)
			}
			if diff := cmp.Diff(tt.want, *got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestCovers(t *testing.T) {
	want := mapping.Object{Name: "acme", Spec: tree{
		"distributionId": "E1", "enabled": false, "domains": domainList("a.example.com"),
		"parameters":     []any{tree{"name": "plan", "value": "gold"}},
		"tags":           []any{tree{"key": "team", "value": ""}},
		"dns":            tree{"provider": "route53", "takeover": false, "ttl": int64(300)},
		"customizations": tree{"geoRestrictions": tree{"restrictionType": "whitelist", "locations": []any{"DE"}}},
	}}
	live := func(change func(tree)) tree {
		t := tree{
			"distributionId": "E1", "enabled": false, "domains": domainList("b.example.com", "a.example.com"),
			"parameters":     []any{tree{"name": "zone", "value": "eu"}, tree{"name": "plan", "value": "gold"}},
			"tags":           []any{tree{"key": "team"}},
			"dns":            tree{"provider": "route53", "ttl": float64(300), "recordType": "Auto"},
			"customizations": tree{"geoRestrictions": tree{"restrictionType": "whitelist", "locations": []any{"US", "DE"}}},
			"deletionPolicy": "Delete",
		}
		change(t)
		return t
	}
	for name, tt := range map[string]struct {
		change func(tree)
		want   bool
	}{
		"what others set besides does not matter": {func(tree) {}, true},
		"another value": {func(t tree) { t["distributionId"] = "E2" }, false},
		"no value":      {func(t tree) { delete(t, "distributionId") }, false},
		"enabled has a default, so absent is true":   {func(t tree) { delete(t, "enabled") }, false},
		"a domain is missing":                        {func(t tree) { t["domains"] = domainList("b.example.com") }, false},
		"no domains at all":                          {func(t tree) { delete(t, "domains") }, false},
		"another value of a parameter":               {func(t tree) { t["parameters"] = []any{tree{"name": "plan", "value": "free"}} }, false},
		"an empty value of a tag is often left out":  {func(t tree) { t["tags"] = []any{tree{"key": "team", "value": ""}} }, true},
		"another value of a tag":                     {func(t tree) { t["tags"] = []any{tree{"key": "team", "value": "x"}} }, false},
		"false that others made true":                {func(t tree) { t["dns"].(tree)["takeover"] = true }, false},
		"another number":                             {func(t tree) { t["dns"].(tree)["ttl"] = int64(60) }, false},
		"no number":                                  {func(t tree) { delete(t["dns"].(tree), "ttl") }, false},
		"a whole block is missing":                   {func(t tree) { delete(t, "customizations") }, false},
		"a country is missing":                       {func(t tree) { at(t, "customizations.geoRestrictions").(tree)["locations"] = []any{"US"} }, false},
		"something of another form where a block is": {func(t tree) { t["dns"] = "route53" }, false},
		"something of another form where a list is":  {func(t tree) { t["domains"] = "a.example.com" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := mapping.Covers(live(tt.change), want); got != tt.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestHashTellsObjectsApart(t *testing.T) {
	base := func() mapping.Object {
		return mapping.Object{Name: "acme", Labels: map[string]string{"a": "b"}, Spec: spec(tree{"enabled": true})}
	}
	seen := map[string]string{}
	for name, change := range map[string]func(*mapping.Object){
		"as it is":                        func(*mapping.Object) {},
		"another name":                    func(o *mapping.Object) { o.Name = "acm" },
		"another label":                   func(o *mapping.Object) { o.Labels["a"] = "c" },
		"a label as an annotation":        func(o *mapping.Object) { o.Labels, o.Annotations = nil, o.Labels },
		"another domain":                  func(o *mapping.Object) { o.Spec["domains"] = domainList("b.example.com") },
		"one domain more":                 func(o *mapping.Object) { o.Spec["domains"] = domainList("acme.example.com", "b.example.com") },
		"another boolean":                 func(o *mapping.Object) { o.Spec["enabled"] = false },
		"a text that looks like it":       func(o *mapping.Object) { o.Spec["enabled"] = "true" },
		"a field less":                    func(o *mapping.Object) { delete(o.Spec, "enabled") },
		"the same value in another field": func(o *mapping.Object) { o.Spec["distributionId"], o.Spec["connectionGroupId"] = "", "E1" },
	} {
		o := base()
		change(&o)
		hash := o.Hash()
		if other, taken := seen[hash]; taken {
			t.Errorf("%q and %q have the hash %s", name, other, hash)
		}
		if seen[hash] = name; len(hash) != 16 || hash != o.Hash() {
			t.Errorf("%q: %s", name, hash)
		}
	}
	if got, want := base().Hash(), base().Hash(); got != want {
		t.Errorf("%s and %s of equal objects", got, want)
	}
}

func TestDomains(t *testing.T) {
	o, _ := compile(t, config()).Build(1, mapping.Row{Values: tree{"name": "acme", "domain": "b.example.com a.example.com"}})
	if diff := cmp.Diff([]string{"a.example.com", "b.example.com"}, o.Domains()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := (mapping.Object{}).Domains(); len(got) != 0 {
		t.Errorf("an object without domains has %v", got)
	}
}

// The objects of two rows share nothing, so changing one does not change the other.
func TestObjectsShareNothing(t *testing.T) {
	c := config(template(full))
	c.Template.Labels = map[string]string{"fleet": "one"}
	p := compile(t, c)
	first, _ := p.Build(1, acme(nil))
	first.Spec["dns"].(tree)["provider"] = "spoiled"
	first.Labels["fleet"] = "spoiled"
	second, _ := p.Build(1, acme(nil))
	if second.Labels["fleet"] != "one" || at(second.Spec, "dns.provider") != "route53" {
		t.Errorf("changed by another: %+v", second)
	}
}

func BenchmarkBuild(b *testing.B) {
	row := acme(tree{"enabled": int64(1), "connection_group_id": "cg_1", "plan": "gold", "team": "blue", "slug": "acme", "id": int64(7)})
	t := template(tree{"dns": tree{"provider": "route53"}, "parameters": []any{tree{"name": "zone", "value": "eu"}}, "tags": []any{tree{"key": "x", "value": "1"}}})
	for name, c := range map[string]mapping.Config{
		"columns":     config(t, mapped("plan", "parameters[plan]"), mapped("team", "tags[team]")),
		"expressions": config(t, expression("name", `"t-" + string(row.id)`), expression("domains", `row.slug + ".example.com"`)),
	} {
		p := compile(b, c)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, rejection := p.Build(1, row); rejection != nil {
					b.Fatal(rejection.Reason)
				}
			}
		})
	}
	o, _ := compile(b, config(t)).Build(1, row)
	b.Run("hash", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			o.Hash()
		}
	})
	b.Run("covers", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			mapping.Covers(o.Spec, o)
		}
	})
}
