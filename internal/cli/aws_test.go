package cli_test

import (
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// account is a world whose AWS the command reaches with credentials of its own.
func account(t *testing.T) *world.World {
	t.Helper()
	w := world.New(t, plane.RESTConfig(), world.Options{Shared: true})
	server := httptest.NewServer(w.Sim)
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": server.URL, "AWS_ACCESS_KEY_ID": "AKIATEST", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_CONFIG_FILE": filepath.Join(t.TempDir(), "none"), "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
	return w
}

// awsVerb runs a verb that reads AWS.
func awsVerb(t *testing.T, args ...string) result {
	t.Helper()
	return command(t, "", append(args, "--cluster-id", world.ClusterID)...)
}

// settled applies a tenant and waits until it is ready.
func settled(t *testing.T, w *world.World, name string) {
	t.Helper()
	w.Apply(w.Tenant(name))
	w.Advance(5 * time.Minute)
	if got := w.Condition(name, v1alpha1.ConditionReady); got != "Ready=True/Deployed" {
		t.Fatal(got)
	}
}

func TestDiffComparesAWSWithTheSpec(t *testing.T) {
	w := account(t)
	settled(t, w, "alpha")
	before := w.AllInAWS()
	r := awsVerb(t, "diff", "alpha", "-n", w.Namespace)
	if r.failure != nil {
		t.Fatal(r.failure)
	}
	shows(t, r.out, "1 tenant is in AWS as in the spec")

	r = awsVerb(t, "diff", "-n", w.Namespace, "-f", manifest(t, `
apiVersion: cloudfront-tenant-operator.io/v1alpha1
kind: DistributionTenant
metadata: {name: alpha}
spec:
  distributionId: E2EXAMPLE1
  domains: [{domain: alpha.example.com}]
  parameters: [{name: tier, value: gold}]
---
apiVersion: cloudfront-tenant-operator.io/v1alpha1
kind: DistributionTenant
metadata: {name: beta}
spec:
  distributionId: E2EXAMPLE1
  domains: [{domain: beta.example.com}]
`))
	if !errors.As(r.failure, &cli.Differs{}) {
		t.Errorf("a manifest that changes something ends with %v", r.failure)
	}
	shows(t, r.out, w.Namespace+"/alpha   would be updated", "parameters[tier]   nothing   gold", w.Namespace+"/beta   would be created")
	if o, _ := w.Get("alpha"); len(o.Spec.Parameters) > 0 {
		t.Error("the manifest was stored")
	}
	if d := cmp.Diff(before, w.AllInAWS()); d != "" {
		t.Errorf("diff has changed AWS (-before +after):\n%s", d)
	}

	tenant, _ := w.InAWS("alpha")
	if _, err := w.AWS().UpdateDistributionTenant(t.Context(), &cloudfront.UpdateDistributionTenantInput{
		Id: &tenant.ID, IfMatch: &tenant.ETag, Parameters: []types.Parameter{{Name: awssdk.String("tier"), Value: awssdk.String("lead")}},
	}); err != nil {
		t.Fatal(err)
	}
	r = awsVerb(t, "diff", "alpha", "-n", w.Namespace)
	if !errors.As(r.failure, &cli.Differs{}) {
		t.Errorf("a tenant that was changed in AWS ends with %v", r.failure)
	}
	shows(t, r.out, "parameters[tier]   lead   nothing")
	r = awsVerb(t, "diff", "alpha", "-n", w.Namespace, "-o", "jsonpath={.tenants[0].action} {.tenants[0].changes[0].aws}")
	if r.out != "Update lead" {
		t.Errorf("as JSON: %s", r.out)
	}
}

func TestDiffSaysWhoseTheTenantIs(t *testing.T) {
	w := account(t)
	create := &cloudfront.CreateDistributionTenantInput{
		DistributionId: awssdk.String(world.DistributionID), Name: awssdk.String("alpha"), Domains: []types.DomainItem{{Domain: awssdk.String("alpha.example.com")}},
	}
	if _, err := w.AWS().CreateDistributionTenant(t.Context(), create); err != nil {
		t.Fatal(err)
	}
	w.Apply(w.Tenant("alpha"))
	w.Apply(w.Tenant("beta", func(o *v1alpha1.DistributionTenant) {
		o.Spec.DistributionID, o.Spec.DistributionRef = "", &v1alpha1.ObjectReference{Name: "missing"}
	}))
	r := awsVerb(t, "diff", "-n", w.Namespace)
	shows(t, r.out, "a distribution tenant named alpha exists and is not the object's: set spec.adoptionPolicy", "missing")
	w.Edit("alpha", func(o *v1alpha1.DistributionTenant) { o.Spec.AdoptionPolicy = v1alpha1.AdoptionPolicyIfUnowned })
	shows(t, awsVerb(t, "diff", "alpha", "-n", w.Namespace).out, "would be adopted")
}

func TestOrphansAreThoseOfThisCluster(t *testing.T) {
	w := account(t)
	settled(t, w, "alpha")
	tags := func(cluster, name string) *types.Tags {
		var items []types.Tag
		for key, value := range map[string]string{"cluster": cluster, "namespace": w.Namespace, "name": name, "uid": "uid-" + name} {
			items = append(items, types.Tag{Key: awssdk.String("cloudfront-tenant-operator.io/" + key), Value: &value})
		}
		return &types.Tags{Items: items}
	}
	for name, of := range map[string]*types.Tags{"lost": tags(world.ClusterID, "lost"), "theirs": tags("staging", "theirs"), "console": nil} {
		if _, err := w.AWS().CreateDistributionTenant(t.Context(), &cloudfront.CreateDistributionTenantInput{
			DistributionId: awssdk.String(world.DistributionID), Name: &name, Tags: of, Domains: []types.DomainItem{{Domain: awssdk.String(name + ".example.com")}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	// Reads lag behind.
	w.Advance(5 * time.Minute)
	r := awsVerb(t, "orphans")
	if r.failure != nil {
		t.Fatal(r.failure)
	}
	shows(t, r.out, "lost", "orphaned: its object no longer exists", "lost.example.com")
	for _, other := range []string{"alpha", "theirs", "console"} {
		if strings.Contains(r.out, other) {
			t.Errorf("%s is no orphan:\n%s", other, r.out)
		}
	}
	shows(t, awsVerb(t, "orphans", "--all").out, "of cluster staging", "no owner tags")
}

func manifest(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
