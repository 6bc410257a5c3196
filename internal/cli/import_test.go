package cli_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// The contents of the manifests are tested where they are made. These tests show that the command reaches AWS and the
// cluster.
func TestImportWritesWhatHasNoObject(t *testing.T) {
	w := account(t)
	settled(t, w, "alpha")
	if _, err := w.AWS().CreateDistributionTenant(t.Context(), &cloudfront.CreateDistributionTenantInput{
		DistributionId: awssdk.String(world.DistributionID), Name: awssdk.String("Console"), Domains: []types.DomainItem{{Domain: awssdk.String("console.example.com")}},
	}); err != nil {
		t.Fatal(err)
	}
	w.Advance(5 * time.Minute)
	folder := filepath.Join(t.TempDir(), "fleet")
	args := []string{"import", "--distribution", world.DistributionID, "-n", w.Namespace, "--output-dir", folder}
	r := awsVerb(t, args...)
	if r.failure != nil {
		t.Fatal(r.failure)
	}
	shows(t, r.out, "1 Distribution, 1 DistributionTenant", "2 would change nothing but owner tags", "managed by objects of this cluster", "kubectl apply -k "+folder)
	text, err := os.ReadFile(filepath.Join(folder, "tenants", "console.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	shows(t, string(text), "tenantName: Console", "namespace: "+w.Namespace, "adoptionPolicy: IfUnowned")
	if r := awsVerb(t, args...); r.failure == nil {
		t.Error("it is written once more into the folder")
	} else {
		shows(t, r.failure.Error(), "is not empty", "--overwrite")
	}
	if r := awsVerb(t, append(args, "--overwrite")...); r.failure != nil {
		t.Error(r.failure)
	}
}
