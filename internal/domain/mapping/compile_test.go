package mapping_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

func TestCompileNamesTheMistake(t *testing.T) {
	label := func(key, value string) func(*mapping.Config) {
		return func(c *mapping.Config) { c.Template.Labels = map[string]string{key: value} }
	}
	for name, tt := range map[string]struct {
		config mapping.Config
		// want is all of the error, or its beginning where it ends with three dots.
		want string
	}{
		"a field that there is not":   {config(mapped("plan", "parameter[plan]")), `spec.mapping[plan]: "parameter[plan]" is not a field that a row can set: use one of name, metadata.labels[<key>], metadata.annotations[<key>], domains, ...`},
		"a field that only AWS sets":  {config(mapped("plan", "status.id")), `spec.mapping[plan]: "status.id" is not a field that a row can set: ...`},
		"a block is no field":         {config(expression("dns", `row.dns`)), `spec.expressions[dns]: "dns" is not a field that a row can set: ...`},
		"a field without its key":     {config(mapped("plan", "parameters")), `spec.mapping[plan]: "parameters" needs a key: write parameters[<name>]`},
		"a key that does not end":     {config(mapped("plan", "parameters[plan")), `spec.mapping[plan]: "parameters[plan" needs a key: write parameters[<name>]`},
		"a key where there is none":   {config(mapped("plan", "domains[0]")), `spec.mapping[plan]: "domains[0]" takes no key: write domains`},
		"a key that is no parameter":  {config(mapped("plan", "parameters[a b]")), `spec.mapping[plan]: "parameters[a b]": the key "a b" is not a valid parameter name: use 1 to 128 letters, digits, hyphens and underscores`},
		"a key that is empty":         {config(mapped("plan", "tags[]")), `spec.mapping[plan]: "tags[]": the key "" is not a valid tag key: use 1 to 128 letters, digits, spaces and _ . : / = + - @`},
		"a key of AWS":                {config(mapped("plan", "tags[AWS:x]")), `spec.mapping[plan]: "tags[AWS:x]": the key "AWS:x" starts with aws:, which is reserved by AWS: use another key`},
		"a key of the operator":       {config(mapped("plan", "tags[cloudfront-tenant-operator.io/uid]")), `spec.mapping[plan]: "tags[cloudfront-tenant-operator.io/uid]": the key "cloudfront-tenant-operator.io/uid" starts with cloudfront-tenant-operator.io/, which the operator reserves for its owner tags: use another key`},
		"a label of the operator":     {config(mapped("x", "metadata.labels[cloudfront-tenant-operator.io/source]")), `spec.mapping[x]: "metadata.labels[cloudfront-tenant-operator.io/source]": the key "cloudfront-tenant-operator.io/source" is in cloudfront-tenant-operator.io, which is reserved: use a key without a domain prefix, or with a domain of your own`},
		"a label in an expression":    {config(expression("metadata.annotations[kubectl.kubernetes.io/x]", `"a"`)), `spec.expressions[metadata.annotations[kubectl.kubernetes.io/x]]: "metadata.annotations[kubectl.kubernetes.io/x]": the key "kubectl.kubernetes.io/x" is in kubernetes.io, which is reserved: ...`},
		"a label in the template":     {config(label("k8s.io/x", "a")), `spec.template.metadata.labels: "metadata.labels[k8s.io/x]": the key "k8s.io/x" is in k8s.io, which is reserved: ...`},
		"no key of a label":           {config(label("/x", "a")), `spec.template.metadata.labels: "metadata.labels[/x]": the key "/x" is not a valid key of a label or an annotation: ...`},
		"no value of a label":         {config(label("x", "a b")), `spec.template.metadata.labels[x]: "a b" is not a valid label value: use at most 63 letters, digits and inner - _ . , or use an annotation`},
		"a column without a name":     {config(mapped("", "tags[a]")), `spec.mapping[]: the column for "tags[a]" is empty: name the column`},
		"a field that is named twice": {config(mapped("a", "enabled"), expression("enabled", "true")), `spec.expressions[enabled]: "enabled" is already set by spec.mapping[a]: remove one of the two`},
		"a value of the template that is out of range": {config(template(tree{"dns": tree{"provider": "route53", "ttl": 5}})),
			`spec.template.spec.dns.ttl: the number 5 is not allowed: use a whole number from 60 to 172800`},
		"a field of the template that there is not": {config(template(tree{"dns": tree{"zone": "a"}})), `spec.template.spec.dns.zone: there is no such field, or it is not an object: use one of name, ...`},
		"a block of the template that is none":      {config(template(tree{"dns": "route53"})), `spec.template.spec.dns: there is no such field, or it is not an object: ...`},
		"a list of the template that is none":       {config(template(tree{"tags": tree{}})), `spec.template.spec.tags: an object has the wrong type: use a list of objects with key and value`},
		"an element without a key":                  {config(template(tree{"parameters": []any{tree{"value": "a"}}})), `spec.template.spec.parameters[0]: "parameters[]": the key "" is not a valid parameter name: ...`},
		"a parameter without a value":               {config(template(tree{"parameters": []any{tree{"name": "a"}}})), `spec.template.spec.parameters[a].value is empty: set a value, or remove the element`},
		"a domain of the template that is none":     {config(template(tree{"domains": domainList("a")})), `spec.template.spec.domains: "a" is not a domain name: ` + domainCure},
		"a request that asks for what is not": {config(func(c *mapping.Config) { c.ManagedCertificate = tree{"validationTokenHost": "me"} }),
			`spec.managedCertificateRequest.validationTokenHost: "me" is not allowed: use one of cloudfront, self-hosted`},
		"nothing fills the name":       {mapping.Config{DistributionID: "E1", Mapping: []mapping.Mapping{{Column: "d", Field: "domains"}}}, `spec.mapping: nothing sets name, which every row needs: map a column to name, or add an expression for it`},
		"nothing fills the domains":    {mapping.Config{DistributionID: "E1", Mapping: []mapping.Mapping{{Column: "n", Field: "name"}}}, `spec: nothing sets domains, which is required: set it in spec.template, from a column or with an expression`},
		"nothing sets a distribution":  {config(func(c *mapping.Config) { c.DistributionID = "" }), `spec: nothing sets distributionId, which is required: ...`},
		"a block without what it must": {config(mapped("z", "dns.zoneName")), `spec: nothing sets dns.provider, which is required: ...`},
		"two mistakes are both named":  {config(mapped("a", "x"), mapped("b", "tags[]")), "spec.mapping[a]: \"x\" is not a field...\nspec.mapping[b]: \"tags[]\": ..."},

		"an expression that is no CEL":          {config(expression("enabled", "row.a =")), `spec.expressions[enabled]: "row.a =": 1:7: Syntax error: ...`},
		"a variable that there is not":          {config(expression("enabled", "\n rows.a")), `spec.expressions[enabled]: "\n rows.a": 2:2: undeclared reference to 'rows' (in container ''): correct the expression`},
		"a type that the field does not take":   {config(expression("parameters[n]", "1 > 1")), `spec.expressions[parameters[n]]: "1 > 1": it returns bool, but the field takes text of at most 256 characters, or a number: convert the value, as in string(row.id)`},
		"a text for a boolean":                  {config(expression("enabled", `"yes"`)), `spec.expressions[enabled]: "\"yes\"": it returns string, but the field takes true or false...`},
		"a text for a number":                   {config(expression("dns.ttl", `"60"`)), `spec.expressions[dns.ttl]: "\"60\"": it returns string, but the field takes a whole number...`},
		"a list of numbers for domains":         {config(expression("domains", `[1]`)), `spec.expressions[domains]: "[1]": it returns list(int), but the field takes a list of at most 100 domain names...`},
		"a map for domains":                     {config(expression("domains", `row`)), `spec.expressions[domains]: "row": it returns map(string, dyn), but the field takes...`},
		"an optional of the wrong type":         {config(expression("enabled", `optional.of(1)`)), `spec.expressions[enabled]: "optional.of(1)": it returns optional_type(int), but the field takes...`},
		"a regular expression that is none":     {config(expression("enabled", `row.a.matches("(")`)), `spec.expressions[enabled]: "row.a.matches(\"(\")": 1:15: invalid matches argument: correct the expression`},
		"a time that is none":                   {config(expression("enabled", `timestamp("x") == row.t`)), `spec.expressions[enabled]: "timestamp(\"x\") == row.t": 1:11: invalid timestamp argument: correct the expression`},
		"an expression of many pages":           {config(expression("enabled", `row.a == "`+strings.Repeat("a", 5000)+`"`)), `spec.expressions[enabled]: "row.a == \"` + strings.Repeat("a", 90) + `…": it has 5011 characters, but at most 4096 are allowed: ...`},
		"a macro that copies again and again":   {config(expression("enabled", "optional.of(1)"+strings.Repeat(".optMap(a, a)", 5))), `spec.expressions[enabled]: "optional.of(1).optMap...": it uses optMap and optFlatMap 5 times, but at most 4 are allowed: use orValue or has() instead`},
		"an expression with too many parts":     {config(expression("domains", "["+strings.Repeat(`"",`, 1200)+"]")), `spec.expressions[domains]: "[...": it has 1201 parts after macro expansion, but at most 1000 are allowed: ...`},
		"brackets without end":                  {config(expression("enabled", strings.Repeat("(", 2000)+"true"+strings.Repeat(")", 2000))), `spec.expressions[enabled]: "((...": ...recursion...`},
		"a regular expression of the row's own": {config(expression("enabled", `row.a.matches(row.b)`)), `spec.expressions[enabled]: "row.a.matches(row.b)": the regular expression of matches must be a short literal: write it into the expression`},
		"a regular expression that is large":    {config(expression("enabled", `row.a.matches("(a{900}){1,1}b{900}")`)), `spec.expressions[enabled]: "row.a.matches(...": the regular expression of matches must be a short literal: ...`},
		"a format of the row's own":             {config(expression("tags[a]", `row.a.format([1])`)), `spec.expressions[tags[a]]: "row.a.format([1])": the string that format is called on must be a literal, with a precision below 100: write it into the expression`},
		"a format that is wide":                 {config(expression("tags[a]", `"%.999999f".format([1.0])`)), `spec.expressions[tags[a]]: "\"%.999999f\".format([1.0])": 1:19: could not parse formatting clause: ...precision 999999 exceeds maximum allowed precision 100: correct the expression`},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := mapping.Compile(tt.config)
			if err == nil {
				t.Fatalf("compiled: %+v", p)
			}
			if got := err.Error(); !resembles(got, tt.want) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// resembles reports whether a text is the other one, whose dots stand for anything.
func resembles(got, want string) bool {
	parts := strings.Split(want, "...")
	if !strings.HasPrefix(got, parts[0]) {
		return false
	}
	for _, part := range parts {
		_, rest, found := strings.Cut(got, part)
		if !found {
			return false
		}
		got = rest
	}
	return got == "" || len(parts) > 1 && parts[len(parts)-1] == ""
}

func TestColumns(t *testing.T) {
	type columns struct {
		Required, Optional []string
		All                bool
	}
	for name, tt := range map[string]struct {
		expressions []string
		want        columns
	}{
		"columns are needed unless they are optional": {nil, columns{[]string{"domain", "name"}, []string{"connection_group_id", "enabled"}, false}},
		"both ways to name a column":                  {[]string{`row.a + row["b c"]`}, columns{[]string{"a", "b c"}, nil, false}},
		"has makes it optional":                       {[]string{`has(row.a) ? row.a : row.b`}, columns{[]string{"b"}, []string{"a"}, false}},
		"so does the question mark":                   {[]string{`row.?a.orValue("x") + row[?"b"].orValue("")`}, columns{nil, []string{"a", "b"}, false}},
		"and in":                                      {[]string{`"a" in row ? row.a : "x"`}, columns{nil, []string{"a"}, false}},
		"but not for another expression":              {[]string{`has(row.a) ? row.a : ""`, `row.a`}, columns{[]string{"a"}, nil, false}},
		"a part of a column needs the column":         {[]string{`has(row.a.b) ? row.a.b.c : ""`}, columns{[]string{"a"}, nil, false}},
		"a part that may be missing":                  {[]string{`row.?a.?b.orValue("")`}, columns{nil, []string{"a"}, false}},
		"the row as a whole":                          {[]string{`size(row) > 3 ? row.a : ""`}, columns{[]string{"a"}, nil, true}},
		"a column whose name is computed":             {[]string{`row["a" + row.b]`}, columns{[]string{"b"}, nil, true}},
		"a loop over the row":                         {[]string{`row.map(k, k).join(",")`}, columns{nil, nil, true}},
		"a loop over a column":                        {[]string{`row.tags.filter(t, t != row.a).join(",")`}, columns{[]string{"a", "tags"}, nil, false}},
		"a variable that hides the row":               {[]string{`row.list.map(row, row.a).join(",")`}, columns{[]string{"list"}, nil, false}},
		"and one of optMap":                           {[]string{`row.?list.optMap(row, row.a).orValue("")`}, columns{nil, []string{"list"}, false}},
		"in lists, maps and texts":                    {[]string{`[row.a, "row.x"].join("") + {"k": row.b}["k"]`}, columns{[]string{"a", "b"}, nil, false}},
	} {
		t.Run(name, func(t *testing.T) {
			c := mapping.Config{DistributionID: "E1", Template: mapping.Template{Spec: tree{"domains": domainList("a.example.com")}}}
			c.Expressions = append(c.Expressions, mapping.Expression{Field: "name", Expression: `"fix"`})
			for i, text := range tt.expressions {
				expression(fmt.Sprintf("tags[%d]", i), text)(&c)
			}
			if tt.expressions == nil {
				c = config()
			}
			var got columns
			got.Required, got.Optional, got.All = compile(t, c).Columns()
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A mapping that may be missing and one that may not: the column is needed.
func TestAColumnThatIsNeededOnceIsNeeded(t *testing.T) {
	c := config(mapped("enabled", "tags[enabled]"))
	required, optional, _ := compile(t, c).Columns()
	if diff := cmp.Diff([][]string{{"domain", "enabled", "name"}, {"connection_group_id"}}, [][]string{required, optional}); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
