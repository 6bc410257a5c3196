package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

// resourceTypes are from the reference of CloudFormation's resource types.
var resourceTypes = map[string]arguments{
	"AWS::IAM::Role": {
		Required: []string{"AssumeRolePolicyDocument"},
		Optional: []string{"Description", "ManagedPolicyArns", "MaxSessionDuration", "Path", "PermissionsBoundary", "Policies", "RoleName", "Tags"},
	},
	"AWS::EKS::PodIdentityAssociation": {
		Required: []string{"ClusterName", "Namespace", "RoleArn", "ServiceAccount"}, Optional: []string{"DisableSessionTags", "Tags", "TargetRoleArn"},
	},
}

// stack evaluates a template as CloudFormation does, and refuses what it does not know.
type stack struct {
	t          rapid.TB
	parameters map[string]any // strings, and lists of them
	conditions map[string]*yaml.Node
	resources  map[string]*yaml.Node
}

// noValue removes what has it.
type noValue struct{}

// fields are the values of a mapping by their keys.
func fields(n *yaml.Node) map[string]*yaml.Node {
	out := map[string]*yaml.Node{}
	for i := 0; n != nil && i+1 < len(n.Content); i += 2 {
		out[n.Content[i].Value] = n.Content[i+1]
	}
	return out
}

// deployed are the policies of the role by their names, of a stack with these parameters.
func deployed(t rapid.TB, o order) map[string]any {
	t.Helper()
	text, err := renderTemplate(cloudFormationPath, cloudFormationText)
	if err != nil {
		t.Fatal(err)
	}
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(text), &root); err != nil {
		t.Fatal(err)
	}
	template := fields(root.Content[0])
	s := stack{t, map[string]any{}, fields(template["Conditions"]), fields(template["Resources"])}
	given := map[string]string{"ClusterName": "my-cluster"}
	if len(o.Features) > 0 {
		given["Features"] = strings.Join(o.Features, ", ")
	}
	for name, list := range o.Lists {
		given[name] = strings.Join(list, ",")
	}
	s.parameterize(fields(template["Parameters"]), given)
	policies := map[string]any{}
	for name, r := range s.resources {
		properties := s.resource(name, fields(r))
		list, _ := properties["Policies"].([]any)
		for _, p := range list {
			policy, _ := p.(map[string]any)
			policies[fmt.Sprint(policy["PolicyName"])] = policy["PolicyDocument"]
		}
	}
	for name, output := range fields(template["Outputs"]) {
		if v := s.eval(fields(output)["Value"]); v != "Role.Arn" {
			t.Errorf("the output %s is %v", name, v)
		}
	}
	return policies
}

func (s stack) resource(name string, r map[string]*yaml.Node) map[string]any {
	properties, ok := s.eval(r["Properties"]).(map[string]any)
	if !ok || len(r) != 2 {
		s.t.Fatalf("the resource %s has %v", name, keys(r))
	}
	checkArguments(s.t, r["Type"].Value, keys(properties), resourceTypes)
	return properties
}

// parameterize takes the given parameters, and the defaults of others. Each element of a list is trimmed.
func (s stack) parameterize(declared map[string]*yaml.Node, given map[string]string) {
	for name, n := range declared {
		p := fields(n)
		value, ok := given[name]
		if !ok && p["Default"] == nil {
			s.t.Fatalf("%s has no value and no default", name)
		} else if !ok {
			value = p["Default"].Value
		}
		delete(given, name)
		if p["Type"].Value == "String" {
			s.parameters[name] = value
			continue
		}
		list := []any{}
		for e := range strings.SplitSeq(value, ",") {
			e = strings.TrimSpace(e)
			if allowed := p["AllowedValues"]; allowed != nil && !slices.ContainsFunc(allowed.Content, func(a *yaml.Node) bool { return a.Value == e }) {
				s.t.Fatalf("%s does not allow %q", name, e)
			}
			list = append(list, e)
		}
		s.parameters[name] = list
	}
	if len(given) > 0 {
		s.t.Fatalf("the template has no parameters %v", slices.Sorted(maps.Keys(given)))
	}
}

// eval evaluates a value with its functions. Both branches of a condition have to be valid.
func (s stack) eval(n *yaml.Node) any {
	if function, ok := strings.CutPrefix(n.Tag, "!"); ok && !strings.HasPrefix(function, "!") {
		return s.call(function, n)
	}
	switch n.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		for k, v := range fields(n) {
			out[k] = s.eval(v)
		}
		return out
	case yaml.SequenceNode:
		out := []any{}
		for _, e := range n.Content {
			if v := s.eval(e); v != (any)(noValue{}) {
				out = append(out, v)
			}
		}
		return out
	default:
		return n.Value
	}
}

func (s stack) call(function string, n *yaml.Node) any {
	var args []any
	for _, e := range n.Content {
		args = append(args, s.eval(e))
	}
	switch {
	case function == "Ref":
		return s.ref(n.Value)
	case function == "GetAtt":
		name, _, _ := strings.Cut(n.Value, ".")
		if s.resources[name] == nil || n.Value != "Role.Arn" {
			s.t.Fatalf("!GetAtt %s", n.Value)
		}
		return n.Value
	case function == "Sub" && len(args) == 2:
		text := s.text(args[0])
		for name, v := range args[1].(map[string]any) {
			text = strings.ReplaceAll(text, "${"+name+"}", s.text(v))
		}
		if strings.Contains(text, "${") {
			s.t.Fatalf("!Sub leaves %s", text)
		}
		return text
	case function == "Join" && len(args) == 2:
		var parts []string
		for _, p := range args[1].([]any) {
			parts = append(parts, s.text(p))
		}
		return strings.Join(parts, s.text(args[0]))
	case function == "Split" && len(args) == 2:
		var parts []any
		for p := range strings.SplitSeq(s.text(args[1]), s.text(args[0])) {
			parts = append(parts, p)
		}
		return parts
	case function == "Equals" && len(args) == 2:
		return s.text(args[0]) == s.text(args[1])
	case function == "Not" && len(args) == 1:
		return args[0] == false
	case function == "If" && len(args) == 3:
		condition := s.conditions[s.text(args[0])]
		if condition == nil {
			s.t.Fatalf("there is no condition %v", args[0])
		}
		if s.eval(condition) == true {
			return args[1]
		}
		return args[2]
	}
	s.t.Fatalf("this test does not know !%s with %d arguments", function, len(args))
	return nil
}

func (s stack) ref(name string) any {
	if name == "AWS::NoValue" {
		return noValue{}
	}
	v, ok := s.parameters[name]
	if !ok {
		s.t.Fatalf("!Ref %s", name)
	}
	return v
}

// text is a value that has to be a string.
func (s stack) text(v any) string {
	text, ok := v.(string)
	if !ok {
		s.t.Fatalf("%v is no string", v)
	}
	return text
}
