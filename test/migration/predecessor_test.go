package migration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// oldObject is what the predecessor leaves of a Ready tenant: its finalizer, and its status
// with fields that we do not have.
const oldObject = `
apiVersion: cloudfront-tenant-operator.io/v1alpha1
kind: DistributionTenant
metadata:
  name: %[1]s
  finalizers: [cloudfront-tenant-operator.io/finalizer]
spec:
  distributionId: E2EXAMPLE1
  domains: [{domain: %[1]s.example.com}]
  enabled: true
  parameters: [{name: tier, value: gold}]
  tags: [{key: team, value: web}]
`

const oldStatus = `
status:
  observedGeneration: 1
  id: %[1]s
  arn: %[2]s
  eTag: %[3]s
  distributionTenantStatus: Deployed
  domainResults: [{domain: %[4]s.example.com, status: active}]
  lastDriftCheckTime: "2026-01-01T00:00:00Z"
  driftDetected: false
  conditions:
    - {type: Ready, status: "True", reason: Deployed, message: deployed, observedGeneration: 1, lastTransitionTime: "2026-01-01T00:00:00Z"}
    - {type: Synced, status: "True", reason: InSync, message: in sync, observedGeneration: 1, lastTransitionTime: "2026-01-01T00:00:00Z"}
`

// teamWeb are the tags that the objects ask for.
var teamWeb = map[string]string{"team": "web"}

// byPredecessor makes a tenant and its object as the predecessor leaves them.
func byPredecessor(r *reader, w *world.World, name string, change ...func(*cloudfront.CreateDistributionTenantInput)) sim.TenantState {
	r.t.Helper()
	s := leave(r.t, w, name, teamWeb, change...)
	r.write(name+".yaml", fmt.Sprintf(oldObject, name))
	r.write(name+"-status.yaml", fmt.Sprintf(oldStatus, s.ID, s.ARN, s.ETag, name))
	r.run(fmt.Sprintf("kubectl apply -f %[1]s.yaml && kubectl patch distributiontenants.cloudfront-tenant-operator.io %[1]s --subresource=status --type=merge --patch-file %[1]s-status.yaml", name))
	return s
}

func TestFromThePredecessor(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "testdata/predecessor-crd.yaml")
	w := world.New(t, c.config, world.Options{Shared: true})
	// Whether AWS takes an empty block is not documented. Where it does not, the web ACL has to be removed there.
	w.Sim.ChangeSwitches(func(s *sim.Switches) { s.Allowed.EmptyBlocks = true })
	r := newReader(t, c, w)
	plain := byPredecessor(r, w, "plain")
	more := byPredecessor(r, w, "more", attachWebACL)
	before := writes(w)

	r.follow("predecessor/save")
	if out := r.follow("predecessor/look"); !strings.Contains(out, plain.ID) {
		t.Errorf("the id does not show:\n%s", out)
	}
	if err := c.apply(t.Context(), newCRD); err != nil {
		t.Fatal(err)
	}
	w.Advance(time.Hour)
	wrote(t, w, before, nil)
	r.follow("predecessor/check")
	w.Advance(time.Minute)
	r.follow("predecessor/allow")
	w.Advance(time.Minute)
	r.follow("predecessor/done")

	adopted(t, w, "plain", plain)
	adopted(t, w, "more", more)
	wrote(t, w, before, map[string]int{"TagResource": 2})
	is(t, w, "plain", syncedTrue)
	is(t, w, "more", "Synced=False/DriftDetected")
	if out := r.follow("predecessor/drift"); !strings.Contains(out, "customizations.webAcl") {
		t.Errorf("the drift does not show:\n%s", out)
	}
	// The page on the next change of the spec.
	r.follow("predecessor/forbid")
	w.Advance(settle)
	is(t, w, "plain", readyTrue, syncedTrue)
	is(t, w, "more", readyTrue, syncedTrue)
	wrote(t, w, before, map[string]int{"TagResource": 2, "UpdateDistributionTenant": 1})
	w.Delete("plain")
	w.Advance(settle)
	gone(t, w, "plain", "plain")
}

func TestForgettingOnTheWayFromThePredecessor(t *testing.T) {
	t.Parallel()
	for name, play := range map[string]func(*testing.T, *reader, *world.World, sim.TenantState){
		"allowing the adoption": func(t *testing.T, _ *reader, w *world.World, s sim.TenantState) {
			t.Helper()
			w.Advance(25 * time.Hour)
			is(t, w, "acme", "Ready=False/AdoptionRequired")
			untouched(t, w, s)
		},
		"allowing the adoption, and the spec changes": func(t *testing.T, _ *reader, w *world.World, s sim.TenantState) {
			t.Helper()
			w.Advance(time.Minute)
			w.Edit("acme", tier("silver"))
			w.Advance(time.Minute)
			is(t, w, "acme", "Ready=False/AdoptionRequired")
			untouched(t, w, s)
		},
		"allowing it before the object is deleted": func(t *testing.T, _ *reader, w *world.World, s sim.TenantState) {
			t.Helper()
			w.Advance(time.Minute)
			w.Delete("acme")
			w.Advance(settle)
			if _, found := w.Get("acme"); found {
				t.Errorf("the object is still there:\n%s", w.Describe("acme"))
			}
			untouched(t, w, s)
		},
		"waiting for a deletion": func(t *testing.T, _ *reader, w *world.World, s sim.TenantState) {
			t.Helper()
			w.Delete("acme")
			w.Advance(settle)
			if _, found := w.Get("acme"); found {
				t.Errorf("the object is still there:\n%s", w.Describe("acme"))
			}
			untouched(t, w, s)
		},
		"stopping the old operator": func(t *testing.T, _ *reader, w *world.World, s sim.TenantState) {
			t.Helper()
			w.Edit("acme", adopting)
			before := writes(w)
			kubeWrites := w.KubeWrites()
			for range 30 {
				w.Advance(5 * time.Minute)
				predecessorPass(t, w, "acme")
			}
			wrote(t, w, before, map[string]int{"TagResource": 1})
			// Its writes to status do not wake us: each look of ours has a cause of its own.
			if n := w.KubeWrites() - kubeWrites; n > 40 {
				t.Errorf("%d writes to Kubernetes in 150 minutes", n)
			}
			w.Edit("acme", func(o *v1alpha1.DistributionTenant) {
				o.Annotations = map[string]string{v1alpha1.AnnotationReconcileNow: "1"}
			})
			w.Advance(settle)
			adopted(t, w, "acme", s)
			is(t, w, "acme", syncedTrue)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t, shared.config, world.Options{Shared: true})
			r := newReader(t, shared, w)
			play(t, r, w, byPredecessor(r, w, "acme"))
		})
	}
}

// predecessorPass is what the predecessor does to a tenant that equals its spec: it reads,
// and writes what it saw to status, with its own words and the time.
func predecessorPass(t *testing.T, w *world.World, name string) {
	t.Helper()
	o, found := w.Get(name)
	if !found {
		return
	}
	out, err := w.AWS().GetDistributionTenant(t.Context(), &cloudfront.GetDistributionTenantInput{Identifier: awssdk.String(o.Status.ID)})
	if err != nil {
		t.Fatal(err)
	}
	now := metav1.NewTime(w.Clock.Now()).UTC().Format(time.RFC3339)
	patch := fmt.Sprintf(`{"status":{"eTag":%q,"observedGeneration":%d,"distributionTenantStatus":%q,"conditions":[
		{"type":"Ready","status":"True","reason":"Deployed","message":"Distribution tenant is deployed","observedGeneration":%[2]d,"lastTransitionTime":%[4]q},
		{"type":"Synced","status":"True","reason":"InSync","message":"In sync","observedGeneration":%[2]d,"lastTransitionTime":%[4]q}]}}`,
		*out.ETag, o.Generation, *out.DistributionTenant.Status, now)
	if err := w.Kube.Status().Patch(t.Context(), o, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
}

// Someone deletes the old CRDs and with them the objects; the finalizer holds them until an operator runs again. It
// removes the finalizers, and the tenants stay.
func TestTheOldCRDsAreDeleted(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "testdata/predecessor-crd.yaml")
	w := world.New(t, c.config, world.Options{Shared: true})
	r := newReader(t, c, w)
	s := byPredecessor(r, w, "acme")
	r.follow("predecessor/save")
	r.run("kubectl delete crd distributiontenants.cloudfront-tenant-operator.io --wait=false")
	r.run("kubectl wait distributiontenants acme --for=jsonpath='{.metadata.deletionTimestamp}' --timeout=50s")
	w.Advance(settle)
	untouched(t, w, s)
	r.run("kubectl wait crd distributiontenants.cloudfront-tenant-operator.io --for=delete --timeout=50s")
	if err := c.apply(t.Context(), newCRD); err != nil {
		t.Fatal(err)
	}
	r.run("kubectl apply -f tenants.yaml")
	w.Advance(settle)
	is(t, w, "acme", "Ready=False/AdoptionRequired")
	r.follow("predecessor/allow")
	w.Advance(settle)
	adopted(t, w, "acme", s)
	is(t, w, "acme", syncedTrue)
}
