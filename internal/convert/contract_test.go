package convert_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/edge"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
)

// constants reads the string constants of a file whose names have the prefix.
func constants(t *testing.T, file, prefix string) map[string]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, name := range spec.Names {
			if i >= len(spec.Values) || !strings.HasPrefix(name.Name, prefix) {
				continue
			}
			if literal, ok := spec.Values[i].(*ast.BasicLit); ok {
				value, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatalf("%s: %v", name.Name, err)
				}
				out[name.Name] = value
			}
		}
		return true
	})
	if len(out) == 0 {
		t.Fatalf("%s has no constant %s...", file, prefix)
	}
	return out
}

// The domain may not import the API, so that it spells the contract's words a second
// time. They have to be the same words.
func TestTheDomainSpeaksTheContractsWords(t *testing.T) {
	api := constants(t, "../../api/cloudfront/v1alpha1/conditions.go", "Reason")
	for name, value := range constants(t, "../domain/edge/condition.go", "Reason") {
		switch contract, ok := api[name]; {
		case !ok:
			t.Errorf("edge.%s (%q) is not part of the contract", name, value)
		case contract != value:
			t.Errorf("edge.%s is %q, the contract says %q", name, value, contract)
		}
	}
	for domain, contract := range map[string]string{
		string(edge.Ready): v1alpha1.ConditionReady, string(edge.Synced): v1alpha1.ConditionSynced,
		string(edge.CertificateReady): v1alpha1.ConditionCertificateReady, string(edge.DNSReady): v1alpha1.ConditionDNSReady,
		string(edge.DriftEnforce): string(v1alpha1.DriftPolicyEnforce), string(edge.DriftReport): string(v1alpha1.DriftPolicyReport),
		string(edge.DriftSuspend): string(v1alpha1.DriftPolicySuspend),
		string(edge.AdoptNever):   string(v1alpha1.AdoptionPolicyNever), string(edge.AdoptIfUnowned): string(v1alpha1.AdoptionPolicyIfUnowned),
		string(edge.AdoptForce): string(v1alpha1.AdoptionPolicyForce),
	} {
		if domain != contract {
			t.Errorf("the domain says %q, the contract %q", domain, contract)
		}
	}
	if !strings.HasPrefix(v1alpha1.Finalizer, ownership.Prefix) {
		t.Errorf("the finalizer %s and the owner tags %s... have different homes", v1alpha1.Finalizer, ownership.Prefix)
	}
}
