package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	"pgregory.net/rapid"
)

// providerTypes are from the documentation of the provider aws 5.29.
var providerTypes = map[string]arguments{
	"aws_iam_role": {
		Required: []string{"assume_role_policy"},
		Optional: []string{"description", "name", "name_prefix", "path", "permissions_boundary", "tags"},
	},
	"aws_iam_role_policy": {Required: []string{"policy", "role"}, Optional: []string{"for_each", "name"}},
	"aws_eks_pod_identity_association": {
		Required: []string{"cluster_name", "namespace", "role_arn", "service_account"}, Optional: []string{"tags"},
	},
}

// functions of Terraform that the module uses.
var terraformFunctions = map[string]function.Function{
	"jsonencode": stdlib.JSONEncodeFunc, "length": stdlib.LengthFunc, "concat": stdlib.ConcatFunc, "contains": stdlib.ContainsFunc,
	"toset": stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)),
	"alltrue": function.New(&function.Spec{
		Params: []function.Parameter{{Name: "list", Type: cty.List(cty.Bool)}},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			all := true
			for _, v := range args[0].AsValueSlice() {
				all = all && v.True()
			}
			return cty.BoolVal(all), nil
		},
	}),
}

// module evaluates the module as Terraform does.
type module struct {
	t     rapid.TB
	scope *hcl.EvalContext
}

// moduleBody is the generated module.
func moduleBody(t rapid.TB) hclsyntax.Blocks {
	t.Helper()
	text, err := renderTemplate(terraformPath, terraformText)
	if err != nil {
		t.Fatal(err)
	}
	file, diagnostics := hclsyntax.ParseConfig([]byte(text), "main.tf", hcl.InitialPos)
	if diagnostics.HasErrors() {
		t.Fatal(diagnostics)
	}
	return file.Body.(*hclsyntax.Body).Blocks
}

// applied are the policies of the role by their names, of the module with these variables.
func applied(t rapid.TB, o order) map[string]any {
	t.Helper()
	given := map[string]cty.Value{"cluster_name": cty.StringVal("my-cluster")}
	if len(o.Features) > 0 {
		given["features"] = texts(o.Features)
	}
	for _, l := range lists {
		if list, ok := o.Lists[l.Parameter]; ok {
			given[l.Variable] = texts(list)
		}
	}
	m := module{t, &hcl.EvalContext{Functions: terraformFunctions, Variables: map[string]cty.Value{
		"aws_iam_role": object("operator", object("id", cty.StringVal("id"), "arn", cty.StringVal("arn"))),
	}}}
	blocks := moduleBody(t)
	m.scope.Variables["var"] = m.variables(blocks, given)
	policies := map[string]any{}
	for _, b := range blocks {
		switch b.Type {
		case "locals":
			m.scope.Variables["local"] = m.attributes(b.Body, m.scope)
		case "resource":
			m.resource(b, policies)
		case "output":
			if v := m.eval(b.Body.Attributes["value"].Expr, m.scope); v.AsString() != "arn" {
				t.Errorf("the output %s is %v", b.Labels[0], v)
			}
		}
	}
	return policies
}

// variables are those of the module, each with what was given or its default.
func (m module) variables(blocks hclsyntax.Blocks, given map[string]cty.Value) cty.Value {
	values := map[string]cty.Value{}
	for _, b := range blocks {
		if b.Type != "variable" {
			continue
		}
		value, ok := given[b.Labels[0]]
		if !ok {
			value = m.eval(b.Body.Attributes["default"].Expr, m.scope)
		}
		if value.Type().IsTupleType() {
			value = listOf(value.AsValueSlice())
		}
		values[b.Labels[0]] = value
		delete(given, b.Labels[0])
		scope := m.scope.NewChild()
		scope.Variables = map[string]cty.Value{"var": cty.ObjectVal(values)}
		for _, inner := range b.Body.Blocks {
			if inner.Type == "validation" && m.eval(inner.Body.Attributes["condition"].Expr, scope).False() {
				m.t.Fatalf("the validation of %s fails", b.Labels[0])
			}
		}
	}
	if len(given) > 0 {
		m.t.Fatalf("the module has no variables %v", keys(given))
	}
	return cty.ObjectVal(values)
}

// resource checks a resource, and takes its policies from it.
func (m module) resource(b *hclsyntax.Block, policies map[string]any) {
	checkArguments(m.t, b.Labels[0], keys(b.Body.Attributes), providerTypes)
	each := b.Body.Attributes["for_each"]
	if each == nil {
		m.attributes(b.Body, m.scope)
		return
	}
	for _, key := range m.eval(each.Expr, m.scope).AsValueSlice() {
		scope := m.scope.NewChild()
		scope.Variables = map[string]cty.Value{"each": object("key", key)}
		values := m.attributes(b.Body, scope).AsValueMap()
		policies[values["name"].AsString()] = values["policy"].AsString()
	}
}

// attributes evaluates all of a block.
func (m module) attributes(body *hclsyntax.Body, scope *hcl.EvalContext) cty.Value {
	values := map[string]cty.Value{}
	for name, a := range body.Attributes {
		values[name] = m.eval(a.Expr, scope)
	}
	return cty.ObjectVal(values)
}

func (m module) eval(e hclsyntax.Expression, scope *hcl.EvalContext) cty.Value {
	v, diagnostics := e.Value(scope)
	if diagnostics.HasErrors() {
		m.t.Fatal(diagnostics)
	}
	return v
}

// texts is a list of strings.
func texts(list []string) cty.Value {
	var out []cty.Value
	for _, s := range list {
		out = append(out, cty.StringVal(s))
	}
	return listOf(out)
}

// listOf is a list of strings, which may be empty.
func listOf(list []cty.Value) cty.Value {
	if len(list) == 0 {
		return cty.ListValEmpty(cty.String)
	}
	return cty.ListVal(list)
}

// object has these names and values.
func object(pairs ...any) cty.Value {
	out := map[string]cty.Value{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i].(string)] = pairs[i+1].(cty.Value)
	}
	return cty.ObjectVal(out)
}

// The module looks as terraform fmt writes it.
func TestModuleIsFormatted(t *testing.T) {
	t.Parallel()
	text, err := renderTemplate(terraformPath, terraformText)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(hclwrite.Format([]byte(text))), text); d != "" {
		t.Errorf("-formatted +generated:\n%s", d)
	}
}

// The names of policies are known before the ARNs are: Terraform needs them to plan.
func TestModulePlansWithUnknownARNs(t *testing.T) {
	t.Parallel()
	m := module{t, &hcl.EvalContext{Functions: terraformFunctions, Variables: map[string]cty.Value{}}}
	blocks := moduleBody(t)
	m.scope.Variables["var"] = m.variables(blocks, map[string]cty.Value{
		"cluster_name": cty.StringVal("my-cluster"), "table_arns": cty.ListVal([]cty.Value{cty.UnknownVal(cty.String)}),
	})
	for _, b := range blocks {
		if b.Type == "locals" && !m.eval(b.Body.Attributes["chosen"].Expr, m.scope).IsWhollyKnown() {
			t.Error("local.chosen depends on the ARN of a table")
		}
	}
}
