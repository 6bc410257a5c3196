package main

import (
	"fmt"
	"slices"
	"strings"
)

// byHand are fields of the spec that mapping has its own lines for.
var byHand = []string{"domains", "enabled", "distributionId", "connectionGroupId", "parameters", "tags"}

// rows are the lines of the domain's table.
func rows(list []field) (string, error) {
	var out strings.Builder
	for _, f := range list {
		if slices.Contains(byHand, f.path) {
			continue
		}
		row, err := rows(f.below)
		if f.below == nil {
			row, err = rowOf(f)
		}
		if err != nil {
			return "", err
		}
		out.WriteString(row)
	}
	return out.String(), nil
}

func rowOf(f field) (string, error) {
	var takes string
	switch {
	case f.values != "":
		takes = fmt.Sprintf("values: %#v", strings.Split(f.values, ";"))
	case f.typ == "string":
		takes = "max: " + f.marker("MaxLength")
	case f.typ == "*bool":
		takes = "kind: kindBoolean"
	case f.typ == "bool":
		takes = "kind: kindBoolean, falseIsAbsent: true"
	case f.typ == "int32":
		takes = fmt.Sprintf("kind: kindNumber, low: %s, high: %s", f.marker("Minimum"), f.marker("Maximum"))
	case f.typ == "[]CountryCode":
		takes = "kind: kindCountries, most: " + f.marker("MaxItems")
	default:
		return "", fmt.Errorf("%s: mapping has no kind for a field of type %s", f.path, f.typ)
	}
	if slices.Contains(f.about, "+required") {
		takes += ", required: true"
	}
	return fmt.Sprintf("{path: %q, %s},\n", f.path, takes), nil
}

// fieldPath is the type of a path, with the rule that knows them all.
func fieldPath(spec field) string {
	var top, blocks []string
	for _, f := range spec.below {
		switch {
		case slices.Contains(byHand, f.path) || f.path == "tenantName":
		case f.below != nil:
			blocks = append(blocks, pattern(f))
		default:
			top = append(top, f.path)
		}
	}
	return strings.NewReplacer("TOP", strings.Join(top, "|"), "BLOCKS", strings.Join(blocks, "|")).Replace(fieldPathType)
}

// pattern matches a field and what is below it.
func pattern(f field) string {
	var below []string
	for _, b := range f.below {
		below = append(below, pattern(b))
	}
	switch len(below) {
	case 0:
		return f.json()
	case 1:
		return f.json() + "[.]" + below[0]
	}
	return f.json() + "[.](" + strings.Join(below, "|") + ")"
}

const fieldPathType = `
// FieldPath is a field of a tenant that a row can set.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=400
// +kubebuilder:validation:XValidation:rule="self.matches('^(name|tenantName|domains|enabled|distributionId|connectionGroupId|TOP|parameters[[][a-zA-Z0-9_-]{1,128}[]]|tags[[][\\\\p{L}\\\\p{Z}\\\\p{N}_.:/=+@-]{1,128}[]]|metadata[.](labels|annotations)[[]([a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)*/)?[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?[]]|BLOCKS)$') && !self.matches('^metadata[.][a-z]+[[][^/]{254}')",messageExpression="'\"' + self + '\" is not a field that a row can set: use name, domains, enabled, parameters[<name>], tags[<key>], metadata.labels[<key>] or another path of a DistributionTenant spec'",message="is not a field that a row can set: use name, domains, enabled, parameters[<name>], tags[<key>], metadata.labels[<key>] or another path of a DistributionTenant spec"
// +kubebuilder:validation:XValidation:rule="!self.matches('^(tags[[]([aA][wW][sS]:|cloudfront-tenant-operator[.]io/)|metadata[.](labels|annotations)[[]([a-z0-9.-]*[.])?(cloudfront-tenant-operator[.]io|kleff[.]io|kubernetes[.]io|k8s[.]io)/)')",messageExpression="'\"' + self + '\" has a prefix that is reserved for AWS, Kubernetes or the operator: use another key'",message="has a prefix that is reserved for AWS, Kubernetes or the operator: use another key"
type FieldPath string
`
