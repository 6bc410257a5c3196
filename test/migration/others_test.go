package migration

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// ackTags are what ACK writes on each of its resources.
var ackTags = map[string]string{
	"services.k8s.aws/controller-version": "cloudfront-v1.7.1", "services.k8s.aws/namespace": "shop",
}

// ackObject is ACK's object of a tenant, with the finalizer that its controller holds.
const ackObject = `
apiVersion: cloudfront.services.k8s.aws/v1alpha1
kind: DistributionTenant
metadata:
  name: acme
spec:
  name: acme-prod
  distributionID: E2EXAMPLE1
  domains: [{domain: acme-prod.example.com}]
status:
  id: %s
`

// ourObject is what a reader writes for the same tenant.
const ourObject = `
apiVersion: cloudfront-tenant-operator.io/v1alpha1
kind: DistributionTenant
metadata:
  name: acme
spec:
  tenantName: %[1]s
  distributionId: E2EXAMPLE1
  domains: [{domain: %[1]s.example.com}]
  parameters: [{name: tier, value: gold}]
  adoptionPolicy: IfUnowned
`

// playing follows a step that waits for the operator: up to the waiting, then the
// operator's part, then all of it.
func playing(r *reader, w *world.World, step string) {
	r.t.Helper()
	r.followUntilWait(step)
	w.Advance(time.Minute)
	r.follow(step)
}

func TestFromACK(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "testdata/ack-crd.yaml", newCRD)
	w := world.New(t, c.config, world.Options{Shared: true})
	r := newReader(t, c, w)
	s := leave(t, w, "acme-prod", ackTags)
	r.write("ack.yaml", fmt.Sprintf(ackObject, s.ID))
	r.run("kubectl apply -f ack.yaml")
	before := writes(w)

	r.follow("ack/retain")
	if out := r.run("kubectl get distributiontenants.cloudfront.services.k8s.aws acme -o jsonpath='{.metadata.annotations}'"); !strings.Contains(out, `"services.k8s.aws/deletion-policy":"retain"`) {
		t.Errorf("the annotation is not there: %s", out)
	}
	r.follow("ack/release")
	r.write("tenants.yaml", fmt.Sprintf(ourObject, "acme-prod"))
	playing(r, w, "ack/apply")
	adopted(t, w, "acme", s)
	is(t, w, "acme", syncedTrue)
	wrote(t, w, before, map[string]int{"TagResource": 1})
	w.Delete("acme")
	w.Advance(settle)
	gone(t, w, "acme", "acme-prod")
}

func TestFromTerraform(t *testing.T) {
	t.Parallel()
	c := newCluster(t, newCRD)
	w := world.New(t, c.config, world.Options{Shared: true})
	// Whether AWS takes an empty block is not documented. Where it does not, the web ACL has to be removed there.
	w.Sim.ChangeSwitches(func(s *sim.Switches) { s.Allowed.EmptyBlocks = true })
	r := newReader(t, c, w)
	s := leave(t, w, "acme", map[string]string{"managed-by": "terraform"}, attachWebACL)
	before := writes(w)
	r.write("acme.yaml", fmt.Sprintf(ourObject, "acme"))
	playing(r, w, "terraform/apply")
	adopted(t, w, "acme", s)
	is(t, w, "acme", "Synced=False/DriftDetected")
	if out := r.follow("terraform/drift"); !strings.Contains(out, "customizations.webAcl") {
		t.Errorf("the drift does not show: %s", out)
	}
	w.Advance(25 * time.Hour)
	wrote(t, w, before, map[string]int{"TagResource": 1})

	w.Edit("acme", tier("silver"))
	w.Advance(settle)
	is(t, w, "acme", readyTrue, syncedTrue)
	if after := inAWS(t, w, "acme"); !cmp.Equal(after.Customizations, sim.CustomizationState{}) {
		t.Errorf("the web ACL is still there: %+v", after.Customizations)
	}
}

// ourDistribution is what a reader writes for the distribution, and forgets to say everything.
const ourDistribution = `
apiVersion: cloudfront-tenant-operator.io/v1alpha1
kind: Distribution
metadata:
  name: platform
spec:
  distributionId: E2EXAMPLE1
  adoptionPolicy: IfUnowned
  deletionPolicy: Retain
  origins: [{id: app, domainName: app.example.com, customOriginConfig: {}}]
  defaultCacheBehavior: {targetOriginId: app, viewerProtocolPolicy: redirect-to-https, cachePolicyId: 4135ea2d-6df8-44a3-9df3-4b5a84be39ad}
`

func TestDistributionFromTerraform(t *testing.T) {
	t.Parallel()
	w := world.New(t, shared.config, world.Options{Shared: true})
	r := newReader(t, shared, w)
	state, before := w.Sim.Distributions("")[0], writes(w)
	r.write("platform.yaml", ourDistribution)
	r.followUntilWait("terraform/distribution")
	w.Advance(time.Minute)
	if out := r.follow("terraform/distribution"); !strings.Contains(out, "origins[origin]") || strings.Contains(out, "viewerCertificate") {
		t.Errorf("the drift does not show what the spec lacks, or a certificate that stays: %s", out)
	}
	w.Advance(25 * time.Hour)
	wrote(t, w, before, map[string]int{"TagResource": 1})
	r.run("kubectl delete cfd platform --wait=false")
	w.Advance(settle)
	wrote(t, w, before, map[string]int{"TagResource": 1, "UntagResource": 1})
	if d := cmp.Diff(state, w.Sim.Distributions("")[0]); d != "" {
		t.Errorf("the distribution is another after it was adopted and retained (-before +after):\n%s", d)
	}
}

// strip takes tags off that a tool does not know, as ACK and Terraform do.
func strip(t *testing.T, w *world.World, name string) {
	t.Helper()
	s := inAWS(t, w, name)
	_, err := w.AWS().UntagResource(t.Context(), &cloudfront.UntagResourceInput{
		Resource: &s.ARN, TagKeys: &types.TagKeys{Items: ownership.Keys()},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// destroy disables and deletes a tenant as its former owner does.
func destroy(t *testing.T, w *world.World, name string) {
	t.Helper()
	s := inAWS(t, w, name)
	out, err := w.AWS().UpdateDistributionTenant(t.Context(), &cloudfront.UpdateDistributionTenantInput{
		Id: &s.ID, IfMatch: &s.ETag, Enabled: awssdk.Bool(false),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Clock.Step(2 * world.DeployDelay)
	if _, err := w.AWS().DeleteDistributionTenant(t.Context(), &cloudfront.DeleteDistributionTenantInput{Id: &s.ID, IfMatch: out.ETag}); err != nil {
		t.Fatal(err)
	}
}

func TestForgettingOnTheWayFromOtherTools(t *testing.T) {
	t.Parallel()
	never := func(o *v1alpha1.DistributionTenant) { o.Spec.AdoptionPolicy = v1alpha1.AdoptionPolicyNever }
	reporting := func(o *v1alpha1.DistributionTenant) { o.Spec.DriftPolicy = v1alpha1.DriftPolicyReport }
	for name, c := range map[string]struct {
		change edit
		play   func(*testing.T, *world.World, sim.TenantState)
	}{
		"allowing the adoption": {never, func(t *testing.T, w *world.World, s sim.TenantState) {
			t.Helper()
			w.Advance(25 * time.Hour)
			is(t, w, "acme", "Ready=False/AdoptionRequired")
			untouched(t, w, s)
		}},
		"the other tool takes our tags off, once": {adopting, func(t *testing.T, w *world.World, s sim.TenantState) {
			t.Helper()
			w.Advance(time.Minute)
			strip(t, w, "acme")
			w.Advance(25 * time.Hour)
			adopted(t, w, "acme", s)
			is(t, w, "acme", syncedTrue)
		}},
		"the other tool takes our tags off, and adoption is not allowed any more": {adopting, func(t *testing.T, w *world.World, s sim.TenantState) {
			t.Helper()
			w.Advance(time.Minute)
			w.Edit("acme", never)
			w.Advance(time.Minute)
			strip(t, w, "acme")
			w.Advance(25 * time.Hour)
			is(t, w, "acme", "Ready=False/AdoptionRequired")
			untouched(t, w, s)
		}},
		"the other tool deletes the tenant": {adopting, func(t *testing.T, w *world.World, s sim.TenantState) {
			t.Helper()
			w.Advance(time.Minute)
			destroy(t, w, "acme")
			w.Advance(10 * time.Minute)
			is(t, w, "acme", readyTrue, syncedTrue)
			if after := inAWS(t, w, "acme"); after.ID == s.ID {
				t.Errorf("the tenant still has the id %s", s.ID)
			}
			if !slices.Contains(w.Reasons("acme"), "ExternalDeletion") {
				t.Errorf("events: %v", w.Reasons("acme"))
			}
		}},
		"the other tool deletes the tenant, under report": {reporting, func(t *testing.T, w *world.World, _ sim.TenantState) {
			t.Helper()
			w.Edit("acme", adopting)
			w.Advance(time.Minute)
			destroy(t, w, "acme")
			w.Advance(10 * time.Minute)
			is(t, w, "acme", "Ready=False/AWSError", "Synced=False/DriftDetected")
			if s, found := w.InAWS("acme"); found {
				t.Errorf("the tenant was created again: %+v", s)
			}
		}},
		"the other tool keeps setting its own value": {adopting, func(t *testing.T, w *world.World, _ sim.TenantState) {
			t.Helper()
			w.Advance(time.Minute)
			before := writes(w)["UpdateDistributionTenant"]
			theirs := 0
			for range 48 {
				s := inAWS(t, w, "acme")
				if s.Parameters["tier"] != "bronze" {
					_, err := w.AWS().UpdateDistributionTenant(t.Context(), &cloudfront.UpdateDistributionTenantInput{
						Id: &s.ID, IfMatch: &s.ETag,
						Parameters: []types.Parameter{{Name: awssdk.String("tier"), Value: awssdk.String("bronze")}},
					})
					if err != nil {
						t.Fatal(err)
					}
					theirs++
				}
				w.Advance(5 * time.Minute)
			}
			if !slices.Contains(w.Reasons("acme"), "DriftNotConverging") {
				t.Errorf("events: %v", w.Reasons("acme"))
			}
			if ours := writes(w)["UpdateDistributionTenant"] - before - theirs; ours > 20 {
				t.Errorf("%d corrections against %d changes in four hours", ours, theirs)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t, shared.config, world.Options{Shared: true})
			s := leave(t, w, "acme", maps.Clone(ackTags))
			w.Apply(w.Tenant("acme", tier("gold"), c.change))
			c.play(t, w, s)
		})
	}
}
