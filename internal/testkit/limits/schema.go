package limits

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// limit is one thing that a schema refuses, and how the refusal is known.
type limit struct {
	name    string
	refuses *regexp.Regexp
}

// ofSchema are all limits of the schema of spec, rules in CEL among them.
func ofSchema(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, elsewhere []string) []limit {
	t.Helper()
	var found []limit
	add := func(path, what, refusal string) {
		where := strings.NewReplacer(`\[\]`, `\[[^\]]+\]`, `\{\}`, `[^:]+?`).Replace(regexp.QuoteMeta(path))
		found = append(found, limit{name: path + ": " + what, refuses: regexp.MustCompile(where + refusal)})
	}
	var walk func(path string, schema *apiextensionsv1.JSONSchemaProps)
	walk = func(path string, schema *apiextensionsv1.JSONSchemaProps) {
		if slices.Contains(elsewhere, path) {
			return
		}
		for _, rule := range schema.XValidations {
			text := longestText(rule)
			// The path of a rule is where it stands or a field below.
			add(path, text, "[^:]*: .*"+regexp.QuoteMeta(text))
		}
		for _, bound := range bounds(schema) {
			add(path, bound.what, ": "+bound.refusal)
		}
		for _, field := range schema.Required {
			add(path+"."+field, "required", ": Required value")
		}
		for name, property := range schema.Properties {
			walk(path+"."+name, &property)
		}
		if schema.Items != nil {
			if schema.XListType != nil && *schema.XListType != "atomic" {
				add(path+"[]", "listed once", ": Duplicate value")
			}
			walk(path+"[]", schema.Items.Schema)
		}
		if schema.AdditionalProperties != nil {
			walk(path+".{}", schema.AdditionalProperties.Schema)
		}
	}
	root := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	spec := root.Properties["spec"]
	spec.XValidations = append(spec.XValidations, root.XValidations...)
	walk("spec", &spec)
	if len(found) < 10 {
		t.Fatalf("found %d limits only: the walk over the schema is broken", len(found))
	}
	return found
}

// bound is a limit of one value, and the words in which the API server refuses a value beyond it.
type bound struct{ what, refusal string }

func bounds(schema *apiextensionsv1.JSONSchemaProps) []bound {
	var found []bound
	add := func(is bool, what, refusal string) {
		if is {
			found = append(found, bound{what, refusal})
		}
	}
	above := func(n *int64) bool { return n != nil && *n > 0 }
	add(len(schema.Enum) > 0, "one of a few values", "Unsupported value")
	add(schema.Pattern != "", "a form", "Invalid value: .*should match")
	add(above(schema.MinLength), "a shortest length", "Invalid value: .*at least [0-9]+ chars")
	add(schema.MaxLength != nil, "a longest length", "Too long")
	add(above(schema.MinItems), "a least number of items", "Invalid value: .*at least [0-9]+ items")
	add(schema.MaxItems != nil, "a greatest number of items", "Too many")
	add(above(schema.MinProperties), "a least number of entries", "Invalid value: .*at least [0-9]+ properties")
	add(schema.MaxProperties != nil, "a greatest number of entries", "Too many")
	add(schema.Minimum != nil, "a least value", "Invalid value: .*greater than or equal to")
	add(schema.Maximum != nil, "a greatest value", "Invalid value: .*less than or equal to")
	return found
}

var celString = regexp.MustCompile(`'[^']*'`)

// longestText returns the longest piece of text that a rule's message always has.
func longestText(rule apiextensionsv1.ValidationRule) string {
	if rule.MessageExpression == "" {
		return rule.Message
	}
	longest := ""
	for _, text := range celString.FindAllString(rule.MessageExpression, -1) {
		// A regular expression is not said, but computed with.
		if text = strings.Trim(text, "'"); len(text) > len(longest) && !strings.HasPrefix(text, "^") {
			longest = text
		}
	}
	return longest
}
