package convert_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
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

// steps are the words of the steps of a deletion, by their names without the prefix.
func steps(t *testing.T, file, prefix string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, value := range constants(t, file, prefix) {
		out[strings.TrimPrefix(name, prefix)] = value
	}
	return out
}

// The domain may not import the API, so that it spells the contract's words a second
// time. They have to be the same words.
func TestTheDomainSpeaksTheContractsWords(t *testing.T) {
	api := constants(t, "../../api/cloudfront/v1alpha1/conditions.go", "Reason")
	for _, file := range []string{
		"../domain/resource/reason.go", "../domain/distributiontenant/condition.go", "../domain/distribution/conclude.go",
		"../domain/certificate/condition.go", "../domain/publication/condition.go",
	} {
		for name, value := range constants(t, file, "Reason") {
			switch contract, ok := api[name]; {
			case !ok:
				t.Errorf("%s (%q) of %s is not part of the contract", name, value, file)
			case contract != value:
				t.Errorf("%s of %s is %q, the contract says %q", name, file, value, contract)
			}
		}
	}
	for domain, contract := range map[string]string{
		string(chain.Ready): v1alpha1.ConditionReady, string(chain.Synced): v1alpha1.ConditionSynced,
		string(distributiontenant.CertificateReady): v1alpha1.ConditionCertificateReady, string(distributiontenant.DNSReady): v1alpha1.ConditionDNSReady,
		string(distribution.DeletionStalled): v1alpha1.ConditionDeletionStalled,
		string(resource.DriftEnforce):        string(v1alpha1.DriftPolicyEnforce), string(resource.DriftReport): string(v1alpha1.DriftPolicyReport),
		string(resource.DriftSuspend): string(v1alpha1.DriftPolicySuspend),
		string(resource.AdoptNever):   string(v1alpha1.AdoptionPolicyNever), string(resource.AdoptIfUnowned): string(v1alpha1.AdoptionPolicyIfUnowned),
		string(resource.AdoptForce): string(v1alpha1.AdoptionPolicyForce),
	} {
		if domain != contract {
			t.Errorf("the domain says %q, the contract %q", domain, contract)
		}
	}
	contract, domain := steps(t, "../../api/cloudfront/v1alpha1/resource_types.go", "DeletionStep"), steps(t, "../domain/distribution/input.go", "Step")
	if d := cmp.Diff(contract, domain); d != "" {
		t.Errorf("the steps of a deletion (-contract +domain):\n%s", d)
	}
	if !strings.HasPrefix(v1alpha1.Finalizer, ownership.Prefix) {
		t.Errorf("the finalizer %s and the owner tags %s... have different homes", v1alpha1.Finalizer, ownership.Prefix)
	}
}
