package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"
)

// The templates make the role of the operator with the policies of the chosen features, and its association with EKS Pod
// Identity.
const (
	cloudFormationPath = policyDir + "/cloudformation.yaml"
	terraformPath      = policyDir + "/terraform/main.tf"
)

//go:embed cloudformation.yaml.tmpl
var cloudFormationText string

//go:embed main.tf.tmpl
var terraformText string

// List is a parameter with resources of the user. The features whose resources are an example in the policies are
// chosen by a list that is not empty.
type List struct {
	// Parameter is its name in CloudFormation, Variable in Terraform.
	Parameter, Variable string
	// All is true where the list allows every resource unless it is set.
	All bool
	For string
}

// The lists.
var (
	zoneIDs = List{
		"HostedZoneIds", "hosted_zone_ids", true,
		"IDs of the Route 53 hosted zones in which the feature dns may write records.",
	}
	roleARNs = List{
		"AssumableRoleArns", "assumable_role_arns", false,
		"ARNs of the roles that the operator may assume, for zones, tables and accounts of others. Also allow them in the chart (aws.allowedRoles).",
	}
	storeARNs = List{
		"KeyValueStoreArns", "key_value_store_arns", false,
		"ARNs of the CloudFront key value stores that spec.keyValues of tenants may write.",
	}
	tableARNs = List{
		"TableArns", "table_arns", false,
		"ARNs of the DynamoDB tables that a TenantSource may read and watch.",
	}
	stateTableARNs = List{
		"StateTableArns", "state_table_arns", false,
		"ARNs of the DynamoDB tables that a TenantSource may write state to. Never name a table of customers here.",
	}
	loginARNs = List{
		"DatabaseLoginArns", "database_login_arns", false,
		"ARNs of the database users (rds-db) and of the caches and their users (elasticache) for a TenantSource that logs in with AWS IAM.",
	}
	functionARNs = List{
		"EdgeFunctionArns", "edge_function_arns", false,
		"ARNs of the Lambda@Edge functions of a Distribution. End each with :* for all its versions.",
	}
	bucketARNs = List{
		"LogBucketArns", "log_bucket_arns", false,
		"ARNs of the S3 buckets for access logs of a Distribution.",
	}
)

// lists are in the order of the templates.
var lists = []List{zoneIDs, roleARNs, storeARNs, tableARNs, stateTableARNs, loginARNs, functionARNs, bucketARNs}

// element makes the ARN of a resource from an element of a list.
type element struct {
	List
	Before, After string
}

// asked are the resources of the policies that the templates ask for.
var asked = map[string]element{
	zones: {List: zoneIDs, Before: strings.TrimSuffix(zones, "*")},
	roles: {List: roleARNs}, stores: {List: storeARNs},
	tables: {List: tableARNs}, tableStreams: {List: tableARNs, After: "/stream/*"},
	stateTables: {List: stateTableARNs}, databaseUsers: {List: loginARNs}, caches: {List: loginARNs}, cacheUsers: {List: loginARNs},
	functions: {List: functionARNs}, buckets: {List: bucketARNs},
}

// choice is the list that chooses a feature. Without one, the feature is chosen by its name.
func (f Feature) choice() (List, bool) {
	for _, p := range f.permissions() {
		if e, ok := asked[p.Resource]; ok && !e.All {
			return e.List, true
		}
	}
	return List{}, false
}

// offered are the features of the templates. A role that only reads has no other policy, and has no template.
func offered() []Feature {
	var out []Feature
	for _, f := range features {
		if f.Feature != ReadOnly && f.Feature != Standard {
			out = append(out, f.Feature)
		}
	}
	return out
}

// byName are the offered features that are chosen by their name.
func byName() []Feature {
	return slices.DeleteFunc(offered(), func(f Feature) bool {
		_, listed := f.choice()
		return listed
	})
}

// chosenBy are the features that a list chooses.
func (l List) chosenBy() []Feature {
	return slices.DeleteFunc(offered(), func(f Feature) bool {
		by, listed := f.choice()
		return !listed || by != l
	})
}

// statements are those of the policy of a feature, where those that name one list are one.
func (f Feature) statements() []Statement {
	var out []Statement
	at := map[element]int{}
	for _, s := range policy(f).Statement {
		e, ok := asked[s.Resource]
		if i, again := at[e]; ok && again {
			out[i].Action = slices.Compact(slices.Sorted(slices.Values(append(out[i].Action, s.Action...))))
			continue
		}
		at[e] = len(out)
		out = append(out, s)
	}
	return out
}

// condition is the name of the condition under which CloudFormation has the policy of a feature.
func (f Feature) condition() string {
	if l, listed := f.choice(); listed {
		return "Has" + l.Parameter
	}
	var name strings.Builder
	for part := range strings.SplitSeq(string(f), "-") {
		name.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return name.String()
}

// cloudFormationResource is the resource of a statement, as CloudFormation reads it.
func cloudFormationResource(resource string) string {
	e, ok := asked[resource]
	switch {
	case !ok:
		return fmt.Sprintf("%q", resource)
	case e.Before == "" && e.After == "":
		return "!Ref " + e.Parameter
	}
	return fmt.Sprintf(`!Split [",", !Sub ["%s${List}%s", {List: !Join ["%s,%s", !Ref %s]}]]`, e.Before, e.After, e.After, e.Before, e.Parameter)
}

// terraformResource is the resource of a statement, as Terraform reads it.
func terraformResource(resource string) string {
	e, ok := asked[resource]
	switch {
	case !ok:
		return fmt.Sprintf("%q", resource)
	case e.Before == "" && e.After == "":
		return "var." + e.Variable
	}
	return fmt.Sprintf(`[for element in var.%s : "%s${element}%s"]`, e.Variable, e.Before, e.After)
}

// quoted lists strings as both templates read them.
func quoted[T ~string](list []T) string {
	var out []string
	for _, s := range list {
		out = append(out, fmt.Sprintf("%q", string(s)))
	}
	return strings.Join(out, ", ")
}

// renderTemplate fills one of the two templates in.
func renderTemplate(name, text string) (string, error) {
	t, err := template.New(name).Funcs(template.FuncMap{
		"features":               offered,
		"byName":                 byName,
		"standard":               func() []Feature { return standard },
		"lists":                  func() []List { return lists },
		"chosenBy":               List.chosenBy,
		"condition":              Feature.condition,
		"statements":             Feature.statements,
		"quoted":                 quoted[Feature],
		"actions":                quoted[string],
		"cloudFormationResource": cloudFormationResource,
		"terraformResource":      terraformResource,
	}).Parse(text)
	if err != nil {
		return "", fmt.Errorf("reading the template %s: %w", name, err)
	}
	var b strings.Builder
	if err := t.Execute(&b, nil); err != nil {
		return "", fmt.Errorf("filling in the template %s: %w", name, err)
	}
	return b.String(), nil
}
