package convert_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
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

// constants reads the string constants of a package, given by its folder, whose names have the prefix.
func constants(t *testing.T, folder, prefix string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			maps.Copy(out, constantsOf(t, file, prefix))
		}
	}
	if len(out) == 0 {
		t.Fatalf("%s has no constant %s...", folder, prefix)
	}
	return out
}

// constantsOf reads the string constants of one file whose names have the prefix.
func constantsOf(t *testing.T, file, prefix string) map[string]string {
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
	return out
}

// steps are the words of the steps of a deletion, by their names without the prefix.
func steps(t *testing.T, folder, prefix string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, value := range constants(t, folder, prefix) {
		out[strings.TrimPrefix(name, prefix)] = value
	}
	return out
}

// The domain may not import the API, so that it spells the contract's words a second
// time. They have to be the same words.
func TestTheDomainSpeaksTheContractsWords(t *testing.T) {
	api := constants(t, "../../api/cloudfront/v1alpha1", "Reason")
	for _, folder := range []string{
		"../domain/resource", "../domain/distributiontenant", "../domain/distribution", "../domain/certificate", "../domain/publication", "../domain/invalidation",
	} {
		for name, value := range constants(t, folder, "Reason") {
			switch contract, ok := api[name]; {
			case !ok:
				t.Errorf("%s (%q) of %s is not part of the contract", name, value, folder)
			case contract != value:
				t.Errorf("%s of %s is %q, the contract says %q", name, folder, value, contract)
			}
		}
	}
	for domain, contract := range map[string]string{
		string(chain.Ready): v1alpha1.ConditionReady, string(chain.Synced): v1alpha1.ConditionSynced,
		string(chain.Stalled):                       v1alpha1.ConditionStalled,
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
	contract, domain := steps(t, "../../api/cloudfront/v1alpha1", "DeletionStep"), steps(t, "../domain/distribution", "Step")
	if d := cmp.Diff(contract, domain); d != "" {
		t.Errorf("the steps of a deletion (-contract +domain):\n%s", d)
	}
	if !strings.HasPrefix(v1alpha1.Finalizer, ownership.Prefix) {
		t.Errorf("the finalizer %s and the owner tags %s... have different homes", v1alpha1.Finalizer, ownership.Prefix)
	}
}
