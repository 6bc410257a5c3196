package hostile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// world is what customers depend on: the tenants with their domains, and all records in DNS.
func (f *fleet) world() map[string]any {
	f.t.Helper()
	state, err := f.AWS.State(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	out := map[string]any{"zones": state.HostedZones}
	for _, d := range state.Distributions {
		out["distribution "+d.ID] = d.Enabled
	}
	for _, t := range state.Tenants {
		t.Tags = nil
		out["tenant "+t.Name] = t
	}
	return out
}

// look asks for a look at every object at once, which comes within a day otherwise.
func (f *fleet) look(token string) {
	f.t.Helper()
	f.kubectl("annotate", "cfdt", "--all", v1alpha1.AnnotationReconcileNow+"="+token, "--overwrite")
}

// say waits until every object has the reason and the text in a condition.
func (f *fleet) say(condition, reason, text string) {
	f.t.Helper()
	f.eventually(func(g gomega.Gomega) {
		objects := f.objects(g)
		g.Expect(objects).To(gomega.HaveLen(*size))
		for i := range objects {
			c := meta.FindStatusCondition(objects[i].Status.Conditions, condition)
			g.Expect(c).NotTo(gomega.BeNil(), objects[i].Name)
			g.Expect(c.Reason).To(gomega.Equal(reason), "%s: %s", objects[i].Name, c.Message)
			g.Expect(c.Message).To(gomega.ContainSubstring(text), objects[i].Name)
		}
	})
}

// same checks that customers have what they had.
func (f *fleet) same(before map[string]any) {
	f.t.Helper()
	if d := cmp.Diff(before, f.world()); d != "" {
		f.t.Errorf("what customers depend on (-before +now):\n%s", d)
	}
}

// Owner tags that are removed in AWS take no name out of DNS, and many at once are adopted by no policy before an
// administrator says so.
func TestAFleetThatLosesItsTagsKeepsServing(t *testing.T) {
	f := newFleet(t, "untagged")
	f.kubectl("patch", "cfdt", f.tenants.Name(0), "--type=merge", "-p", `{"spec":{"adoptionPolicy":"IfUnowned"}}`)
	f.say(v1alpha1.ConditionSynced, v1alpha1.ReasonInSync, "")
	before := f.world()
	for _, s := range f.tenantsWithTags() {
		if err := f.AWS.RemoveTags(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	_, _, last := f.changes(0)
	f.look("untagged")
	f.say(v1alpha1.ConditionReady, v1alpha1.ReasonAdoptionRequired, fmt.Sprintf("%d losses of owner tags of %d distribution tenants in namespace untagged", *size, *size))
	f.same(before)
	if changes, tags, _ := f.changes(last); len(changes)+tags > 0 {
		t.Errorf("%d calls change AWS, such as %v, and %d tags", len(changes), changes[:min(3, len(changes))], tags)
	}
	m, err := f.operator.Metrics(t.Context())
	if err != nil || m.Sum("cloudfront_tenant_operator_deletions_held", "kind", "Ownership") != float64(*size) {
		t.Errorf("the metric does not say that %d tenants are held (%v)", *size, err)
	}
}

// tenantsWithTags are the tenants in AWS as they are.
func (f *fleet) tenantsWithTags() []sim.TenantState {
	f.t.Helper()
	list, err := f.AWS.Tenants(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return list
}

// Domains that tenants were given in AWS, while drift was only reported, are not taken back from all of them when it is
// enforced. That is also how a restored etcd snapshot looks.
func TestEnforcingDriftTakesNothingFromAFleet(t *testing.T) {
	f := newFleet(t, "drifted", "--drift-policy=report")
	for _, s := range f.tenantsWithTags() {
		if err := f.AWS.AddDomain(t.Context(), s, "new-"+s.Name+".example.com"); err != nil {
			t.Fatal(err)
		}
	}
	f.say(v1alpha1.ConditionSynced, v1alpha1.ReasonDriftDetected, "")
	before := f.world()
	_, _, last := f.changes(0)
	f.restartWith("--drift-policy=enforce")
	f.say(v1alpha1.ConditionReady, v1alpha1.ReasonDeletionHeld, fmt.Sprintf("%d harmful changes of %d distribution tenants", *size, *size))
	f.same(before)
	if changes, tags, _ := f.changes(last); len(changes)+tags > 0 {
		t.Errorf("%d calls change AWS, such as %v, and %d tags", len(changes), changes[:min(3, len(changes))], tags)
	}
}

// restartWith starts the operator again with other flags.
func (f *fleet) restartWith(flags ...string) {
	f.t.Helper()
	if _, err := f.operator.Stop(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	f.operator.Flags(flags...)
	if err := f.operator.Start(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// One boolean of the shared distribution is worth all of its customers.
func TestASharedDistributionIsNotDisabledByMistake(t *testing.T) {
	f := newFleet(t, "parent", "--grants=Audit")
	f.kubectl("apply", "-f", host.Path("config", "samples", "distribution", "adoption.yaml"))
	parent := &v1alpha1.Distribution{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "adoption"}}
	ready := func(o client.Object, conditions *[]metav1.Condition, reason, text string) {
		t.Helper()
		f.eventually(func(g gomega.Gomega) {
			g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(o), o)).To(gomega.Succeed())
			c := meta.FindStatusCondition(*conditions, v1alpha1.ConditionReady)
			g.Expect(c).NotTo(gomega.BeNil())
			g.Expect(c.Reason).To(gomega.Equal(reason), c.Message)
			g.Expect(c.Message).To(gomega.ContainSubstring(text))
		})
	}
	says := func(reason, text string) { t.Helper(); ready(parent, &parent.Status.Conditions, reason, text) }
	says(v1alpha1.ReasonDeployed, "")
	// One customer more follows the object.
	follower := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "follower"}, Spec: v1alpha1.DistributionTenantSpec{
		DistributionRef: &v1alpha1.ObjectReference{Name: parent.Name}, Domains: []v1alpha1.TenantDomain{{Domain: "follower.example.com"}},
	}}
	if err := kube.Create(t.Context(), follower); err != nil {
		t.Fatal(err)
	}
	follows := func(reason string) { t.Helper(); ready(follower, &follower.Status.Conditions, reason, "") }
	follows(v1alpha1.ReasonDeployed)
	before := f.world()
	f.kubectl("patch", "cfd", "adoption", "--type=merge", "-p", `{"spec":{"enabled":false}}`)
	customers := fmt.Sprintf("would take %d customers out of service", *size+1)
	says(v1alpha1.ReasonDeletionHeld, customers)
	f.same(before)
	follows(v1alpha1.ReasonDeployed)

	_, rest, _ := strings.Cut(meta.FindStatusCondition(parent.Status.Conditions, v1alpha1.ConditionReady).Message, "This is plan ")
	plan, _, _ := strings.Cut(rest, ".")
	// The annotation of a team on the object is not enough.
	f.kubectl("annotate", "cfd", "adoption", v1alpha1.AnnotationApproveDeletions+"="+plan)
	says(v1alpha1.ReasonDeletionHeld, customers)
	f.same(before)
	f.answer(v1alpha1.AnnotationApproveDeletions, plan)
	says(v1alpha1.ReasonDisabled, "does not answer requests")
	if enabled := f.world()["distribution "+stack.DistributionID]; enabled != false {
		t.Errorf("after the approval, the distribution is enabled: %v", enabled)
	}
	follows(v1alpha1.ReasonDistributionDisabled)
}
