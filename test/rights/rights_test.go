package rights_test

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/rights"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// unused are grants that this run does not use, with the reason why they are there.
var unused = map[string]string{
	"list cloudfront-tenant-operator.io/tenantsources":    firstList,
	"list cloudfront-tenant-operator.io/distributions":    firstList,
	"list cloudfront-tenant-operator.io/connectiongroups": firstList,
	"list cloudfront-tenant-operator.io/domainclaims":     firstList,
	"list cloudfront-tenant-operator.io/edgegrants":       firstList,
	"list cloudfront-tenant-operator.io/invalidations":    firstList,
	"list /namespaces": firstList,
	"get cloudfront-tenant-operator.io/domainclaims":           "only a claim that exists already is read",
	"patch cloudfront-tenant-operator.io/domainclaims":         "only a claim that ends soon is extended",
	"delete cloudfront-tenant-operator.io/domainclaims":        "a claim ends after days",
	"delete cloudfront-tenant-operator.io/invalidations":       "a finished invalidation is kept for a minute at least",
	"create cloudfront-tenant-operator.io/distributiontenants": "an apply that creates is a patch in the audit log; the API server asks for this right, too",
}

const firstList = "a watch brings the first list along, unless the API server is too old for that or has it turned off"

// asInstalled are the chart's own settings where the stack has others, and those that let drift be found and deletions
// settle while a test waits.
var asInstalled = []string{"--leader-elect=true", "--metrics-secure=true", "--deletion-budget=true", "--domain-claims=true", "--deletion-budget-settle=1s", "--sweep-interval=10s"}

// inAllNamespaces is the chart with rights everywhere. Its operator takes care of what other tests have made, too: they
// run before or after. It may read the Secrets of one namespace.
func inAllNamespaces(t *testing.T) (i *install.Installation, namespace string) {
	t.Helper()
	namespace = newNamespace(t)
	return installed(t, install.Options{}, namespace), namespace
}

// inOneNamespace is the chart with rights there, and to read its Secrets.
func inOneNamespace(t *testing.T) (i *install.Installation, namespace string) {
	t.Helper()
	namespace = newNamespace(t)
	return installed(t, install.Options{
		Release: namespace, Namespace: namespace + "-home", Values: slices.Concat(ofItsOwn, []string{"watchNamespaces={" + namespace + "}"}),
	}, namespace), namespace
}

// unguarded is the chart without what the operator keeps in its own namespace, but the lease.
func unguarded(t *testing.T) (i *install.Installation, namespace string) {
	t.Helper()
	namespace = newNamespace(t)
	return installed(t, install.Options{
		Release: namespace, Namespace: namespace + "-home", Values: slices.Concat(ofItsOwn, []string{"deletionBudget.enabled=false", "clusterCheck.enabled=false"}),
	}, namespace), namespace
}

// ofItsOwn are values of a release that is there at the same time as the documentation's: the policy of one would keep
// the operator of the other from deleting.
var ofItsOwn = []string{"deletionProtection.enabled=false"}

// together are values of all releases here: only one operator of a cluster may change what operators remember.
var together = []string{"restrictedActions.abandon.enabled=false"}

// removeAbandon removes the policy that an installation without these values has brought.
func removeAbandon(ctx context.Context) error {
	return client.IgnoreNotFound(kube.Delete(ctx, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "cloudfront-tenant-operator-abandon"}}))
}

// installed installs the chart, with the right to read the Secrets of some namespaces.
func installed(t *testing.T, o install.Options, secrets ...string) *install.Installation {
	t.Helper()
	o.Values = slices.Concat(o.Values, together)
	o.Values = append(o.Values, "crds.install=false", "rbac.secretNamespaces={"+strings.Join(secrets, ",")+"}")
	i, err := host.Install(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// In a run of everything that the operator does no request is refused, and each right is used.
func TestEveryRightIsUsedAndEnough(t *testing.T) { everyRightIsUsedAndEnough(t, inAllNamespaces) }

func TestEveryRightInOneNamespaceIsUsedAndEnough(t *testing.T) {
	t.Parallel()
	everyRightIsUsedAndEnough(t, inOneNamespace)
}

func everyRightIsUsedAndEnough(t *testing.T, installation func(*testing.T) (*install.Installation, string)) {
	t.Helper()
	i, namespace := installation(t)
	r := newRig(t, i, namespace)
	r.live()
	checkWhatStays(t, i)

	requests, err := host.ControlPlane.Audit(i.User())
	if err != nil {
		t.Fatal(err)
	}
	if len(requests) < 30 {
		t.Fatalf("the audit log has %d requests of %s: the operator had another identity", len(requests), i.User())
	}
	grants := withoutRepeated(grantsOf(t, i))
	used := map[grant]bool{}
	for _, r := range requests {
		if r.Forbidden || r.Code == http.StatusUnauthorized {
			t.Errorf("refused: %+v", r)
		}
		for _, g := range grants {
			used[g] = used[g] || g.covers(r)
		}
	}
	for _, g := range grants {
		reason := g.idleAtHome()
		if reason == "" {
			reason = unused[g.String()]
		}
		if !used[g] && reason == "" {
			t.Errorf("the chart grants %q in %s, and nothing uses it", g, g.Role)
		} else if used[g] && reason != "" && !g.copied() {
			t.Errorf("%q is used, and should not be in the list of what is not", g)
		}
	}
}

// checkWhatStays compares what the operator itself has made, which Helm does not know and leaves, with the page for that.
func checkWhatStays(t *testing.T, i *install.Installation) {
	t.Helper()
	page, err := os.ReadFile(host.Path("docs", "uninstall.md"))
	if err != nil {
		t.Fatal(err)
	}
	var stays []string
	for _, list := range []client.ObjectList{&corev1.ConfigMapList{}, &corev1.SecretList{}, &coordinationv1.LeaseList{}} {
		if err := kube.List(t.Context(), list, client.InNamespace(i.Namespace)); err != nil {
			t.Fatal(err)
		}
		err := meta.EachListItem(list, func(o runtime.Object) error {
			name := fmt.Sprintf("%T %s", o, o.(client.Object).GetName())
			ofRelease := func(u *unstructured.Unstructured) bool {
				return u.GetNamespace() == i.Namespace && "*v1."+u.GetKind()+" "+u.GetName() == name
			}
			if name != "*v1.ConfigMap kube-root-ca.crt" && !slices.ContainsFunc(i.Objects, ofRelease) {
				stays = append(stays, name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	const name = "cloudfront-tenant-operator"
	if diff := cmp.Diff([]string{"*v1.ConfigMap " + name + "-cluster", "*v1.ConfigMap " + name + "-deletion-budget", "*v1.Lease " + name}, stays); diff != "" {
		t.Errorf("an uninstall leaves, in the operator's namespace (-want +got):\n%s", diff)
	}
	for _, o := range stays {
		if _, name, _ := strings.Cut(o, " "); !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/uninstall.md does not say that %s stays", o)
		}
	}
}

// At its start the operator asks for exactly the rights that the chart grants, except for those that only objects name:
// in which namespaces sources need Secrets, and which ClusterRoles and constraints plans name.
func TestCheckedRightsAreTheCharts(t *testing.T) {
	for name, installation := range map[string]func(*testing.T) (*install.Installation, string){
		"in all namespaces": inAllNamespaces, "in one namespace": inOneNamespace, "without what guards a fleet": unguarded,
	} {
		t.Run(name, func(t *testing.T) {
			i, _ := installation(t)
			compareRights(t, i)
		})
	}
}

func compareRights(t *testing.T, i *install.Installation) {
	t.Helper()
	var c config.Config
	flags := flag.NewFlagSet("operator", flag.ContinueOnError)
	c.Bind(flags)
	(&zap.Options{}).BindFlags(flags)
	if err := flags.Parse(i.Args()); err != nil {
		t.Fatal(err)
	}
	var checked, granted []string
	for _, r := range rights.Needed(c) {
		checked = append(checked, r.Namespace+": "+grant{Group: r.Group, Resource: r.Resource, Verb: r.Verb, Name: r.Name}.String())
	}
	for _, g := range grantsOf(t, i) {
		if g.ofSecrets() || g.ofPlans() {
			continue
		}
		granted = append(granted, g.Namespace+": "+g.String())
	}
	slices.Sort(checked)
	slices.Sort(granted)
	if diff := cmp.Diff(granted, checked); diff != "" {
		t.Errorf("rights (-granted by the chart +checked by the operator):\n%s", diff)
	}
}

// consequences are what is missed without a right that the operator can do without. Without any
// other it ends.
var consequences = map[string]func(r *rig, op *stack.Operator){
	"create authentication.k8s.io/tokenreviews": func(r *rig, op *stack.Operator) { r.scrapes(op, http.StatusInternalServerError) },
	"create authorization.k8s.io/subjectaccessreviews": func(r *rig, op *stack.Operator) {
		r.scrapes(op, http.StatusInternalServerError)
	},
	"create events.k8s.io/events": func(r *rig, op *stack.Operator) {
		r.logs(op, "An event could not be recorded")
		var events eventsv1.EventList
		if err := kube.List(r.t.Context(), &events, client.InNamespace(r.namespace)); err != nil || len(events.Items) > 0 {
			r.t.Errorf("%d events, %v; want none", len(events.Items), err)
		}
	},
	"get /secrets": func(r *rig, _ *stack.Operator) {
		r.waitsFor(r.follow("customers", newTable(r.t, "customer", 1)), v1alpha1.ReasonInvalidConfig,
			`the operator is not allowed to read Secrets in namespace "`+r.namespace+`": add the namespace to the chart value rbac.secretNamespaces`)
	},
	"create /events": func(r *rig, op *stack.Operator) { r.logs(op, "is forbidden") },
	// The copy in kube-system only helps an installation into another namespace.
	"get /configmaps cloudfront-tenant-operator-cluster in kube-system":    func(*rig, *stack.Operator) {},
	"update /configmaps cloudfront-tenant-operator-cluster in kube-system": func(*rig, *stack.Operator) {},
}

// consequence is that of the grant, if the operator can do without.
func (g grant) consequence() (seen func(r *rig, op *stack.Operator), optional bool) {
	key := g.String()
	if g.Namespace == "kube-system" {
		key += " in kube-system"
	}
	seen, optional = consequences[key]
	return seen, optional
}

// A right that is taken away is named, with the rule to add, before anything else fails.
func TestEachRightTakenAway(t *testing.T) {
	i, namespace := inAllNamespaces(t)
	eachTakenAway(t, i, namespace, withoutRepeated(grantsOf(t, i)))
}

// Everything outside the watched namespace is the same in both forms.
func TestEachRightInOneNamespaceTakenAway(t *testing.T) {
	t.Parallel()
	i, namespace := inOneNamespace(t)
	eachTakenAway(t, i, namespace, slices.DeleteFunc(grantsOf(t, i), func(g grant) bool { return g.Namespace != namespace }))
}

func eachTakenAway(t *testing.T, i *install.Installation, namespace string, grants []grant) {
	t.Helper()
	for _, g := range grants {
		t.Run(g.String(), func(t *testing.T) {
			r := newRig(t, i, namespace)
			r.takeAway(g)
			op, err := r.stack.StartOperator(t.Context(), stack.OperatorOptions{Installation: i, Flags: asInstalled})
			if !g.ofSecrets() {
				r.logs(op, i.User()+" is not allowed to", `resources: [\"`+g.Resource+`\"], verbs: [\"`+g.Verb+`\"]`)
			}
			if seen, optional := g.consequence(); optional {
				if err != nil {
					t.Fatalf("it does not start: %v", err)
				}
				r.create()
				seen(r, op)
				return
			}
			if err == nil {
				t.Fatal("it runs")
			}
			if status, err := op.Wait(t.Context()); err != nil || status != 1 {
				t.Errorf("it ends with status %d, %v; want 1", status, err)
			}
		})
	}
}

// rig is an installation with a simulated AWS of its own.
type rig struct {
	t         *testing.T
	i         *install.Installation
	namespace string
	stack     *stack.Stack
}

// newRig starts an AWS that deploys at once: what is asked of Kubernetes is the same.
func newRig(t *testing.T, i *install.Installation, namespace string) *rig {
	t.Helper()
	return newRigIn(t, stack.Options{}, i, namespace)
}

func newRigIn(t *testing.T, o stack.Options, i *install.Installation, namespace string) *rig {
	t.Helper()
	s, err := host.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, i: i, namespace: namespace, stack: s}
	t.Cleanup(r.leave)
	return r
}

func newNamespace(t *testing.T) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "rights-"}}
	if err := kube.Create(t.Context(), ns); err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	return ns.Name
}

// leave ends the operators and lets no object or event behind.
func (r *rig) leave() {
	if err := r.stack.Stop(); err != nil {
		r.t.Error(err)
	}
	for _, op := range r.stack.Operators() {
		if log, err := op.Log(); err != nil || r.t.Failed() {
			r.t.Logf("%v; the end of the operator's log:\n%s", err, log[max(0, len(log)-4000):])
		}
	}
	ctx := context.Background() // the test's own has ended
	var tenants v1alpha1.DistributionTenantList
	var sources v1alpha1.TenantSourceList
	var distributions v1alpha1.DistributionList
	var groups v1alpha1.ConnectionGroupList
	for _, list := range []client.ObjectList{&tenants, &sources, &distributions, &groups} {
		if err := kube.List(ctx, list, client.InNamespace(r.namespace)); err != nil {
			r.t.Error(err)
		}
	}
	for n := range distributions.Items {
		r.remove(ctx, &distributions.Items[n])
	}
	for n := range groups.Items {
		r.remove(ctx, &groups.Items[n])
	}
	for n := range sources.Items {
		r.remove(ctx, &sources.Items[n])
	}
	for n := range tenants.Items {
		r.remove(ctx, &tenants.Items[n])
	}
	if err := kube.DeleteAllOf(ctx, &v1alpha1.Invalidation{}, client.InNamespace(r.namespace)); err != nil {
		r.t.Error(err)
	}
	if err := kube.DeleteAllOf(ctx, &eventsv1.Event{}, client.InNamespace(r.namespace)); err != nil {
		r.t.Error(err)
	}
}

// remove deletes an object that no controller takes care of.
func (r *rig) remove(ctx context.Context, o client.Object) {
	base := o.DeepCopyObject().(client.Object)
	o.SetFinalizers(nil)
	labels := o.GetLabels()
	delete(labels, v1alpha1.LabelSourceUID) // which protects it in a namespace that is on its way out
	o.SetLabels(labels)
	err := kube.Patch(ctx, o, client.MergeFrom(base))
	if err == nil {
		err = kube.Delete(ctx, o)
	}
	if client.IgnoreNotFound(err) != nil {
		r.t.Error(err)
	}
}

// live does everything that needs a right: it leads, is scraped, creates, updates, corrects and deletes, does so again
// after a restart, follows a table, and plays the life of what tenants refer to.
func (r *rig) live() {
	t := r.t
	t.Helper()
	op, err := r.stack.StartOperator(t.Context(), stack.OperatorOptions{Installation: r.i, Flags: asInstalled})
	if err != nil {
		t.Fatal(err)
	}
	r.scrapes(op, http.StatusOK)
	grantEverything(t, r.namespace)
	r.writesGrant()
	// All begin at once: what takes time are looks at what rests.
	customers, table := r.beginToFollow()
	distribution, group := r.beginParents()
	o := r.create()
	base := o.DeepCopy()
	o.Spec.Tags = []v1alpha1.Tag{{Key: "team", Value: "edge"}}
	if err := kube.Patch(t.Context(), o, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
	r.reaches(o, func(o *v1alpha1.DistributionTenant) bool {
		return o.Status.ObservedGeneration == o.Generation && meta.IsStatusConditionTrue(o.Status.Conditions, v1alpha1.ConditionSynced)
	})
	if status, err := op.Stop(t.Context()); err != nil || status != 0 {
		t.Fatalf("stopping: status %d, %v", status, err)
	}
	if err := op.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.stack.AWS.Disable(t.Context(), o.Name); err != nil {
		t.Fatal(err)
	}
	r.eventually(func(g gomega.Gomega) {
		tenants := r.inAWS(g, o.Name)
		g.Expect(len(tenants) == 1 && tenants[0].Enabled).To(gomega.BeTrue(), "the drift is set back")
	})
	if err := kube.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	r.eventually(func(g gomega.Gomega) { g.Expect(r.inAWS(g, o.Name)).To(gomega.BeEmpty()) })
	r.followAndLeave(customers, table)
	r.leaveParents(distribution, group)
	r.eventually(func(g gomega.Gomega) {
		var events eventsv1.EventList
		g.Expect(kube.List(t.Context(), &events, client.InNamespace(r.namespace))).To(gomega.Succeed())
		g.Expect(events.Items).NotTo(gomega.BeEmpty())
	})
}

// inAWS are the tenants of that name.
func (r *rig) inAWS(g gomega.Gomega, name string) []sim.TenantState {
	r.t.Helper()
	tenants, err := r.stack.AWS.Tenants(r.t.Context())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return slices.DeleteFunc(tenants, func(s sim.TenantState) bool { return s.Name != name })
}

// beginParents creates a distribution and a connection group.
func (r *rig) beginParents() (*v1alpha1.Distribution, *v1alpha1.ConnectionGroup) {
	r.t.Helper()
	distribution := &v1alpha1.Distribution{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "shop"},
		Spec: v1alpha1.DistributionSpec{DistributionConfig: v1alpha1.DistributionConfig{
			Origins:              []v1alpha1.Origin{{ID: "app", DomainName: "app.example.com", CustomOriginConfig: &v1alpha1.CustomOriginConfig{}}},
			DefaultCacheBehavior: &v1alpha1.CacheBehaviorSettings{TargetOriginID: "app", ViewerProtocolPolicy: "https-only", CachePolicyID: "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"},
		}},
	}
	group := &v1alpha1.ConnectionGroup{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "shop"}}
	page := &v1alpha1.Invalidation{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "page"},
		Spec:       v1alpha1.InvalidationSpec{TenantRef: &v1alpha1.InvalidationTenantReference{Name: "none"}, Paths: []string{"/"}},
	}
	for _, o := range []client.Object{distribution, group, page} {
		if err := kube.Create(r.t.Context(), o); err != nil {
			r.t.Fatal(err)
		}
	}
	return distribution, group
}

// leaveParents deletes them when they are Ready.
func (r *rig) leaveParents(distribution *v1alpha1.Distribution, group *v1alpha1.ConnectionGroup) {
	t := r.t
	t.Helper()
	for o, status := range map[client.Object]*v1alpha1.ResourceStatus{distribution: &distribution.Status.ResourceStatus, group: &group.Status.ResourceStatus} {
		r.eventually(func(g gomega.Gomega) {
			g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(o), o)).To(gomega.Succeed())
			g.Expect(meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionReady)).To(gomega.BeTrue(), "%T: %v", o, status.Conditions)
		})
		r.unmark(o)
		if err := kube.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	r.gone(distribution)
	r.gone(group)
	r.eventually(func(g gomega.Gomega) {
		var page v1alpha1.Invalidation
		g.Expect(kube.Get(t.Context(), client.ObjectKey{Namespace: r.namespace, Name: "page"}, &page)).To(gomega.Succeed())
		g.Expect(meta.FindStatusCondition(page.Status.Conditions, v1alpha1.ConditionReady)).To(gomega.HaveField("Reason", v1alpha1.ReasonReferenceNotReady))
	})
}

// unmark removes the mark of what serves: one that was just created is looked for in AWS for two minutes before it is
// believed to be gone.
func (r *rig) unmark(o client.Object) {
	r.t.Helper()
	base := o.DeepCopyObject().(client.Object)
	annotations := o.GetAnnotations()
	delete(annotations, v1alpha1.AnnotationCreatePending)
	o.SetAnnotations(annotations)
	if err := kube.Patch(r.t.Context(), o, client.MergeFrom(base)); err != nil {
		r.t.Fatal(err)
	}
}

// grantEverything gives the namespace a grant of its own, by its labels, for what a test does there.
func grantEverything(t *testing.T, namespace string) {
	t.Helper()
	o := &v1alpha1.EdgeGrant{ObjectMeta: metav1.ObjectMeta{Name: namespace}, Spec: v1alpha1.EdgeGrantSpec{
		Namespaces: v1alpha1.GrantedNamespaces{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}},
		Kinds: []v1alpha1.GrantedKind{
			v1alpha1.GrantedDistributionTenants, v1alpha1.GrantedDistributionObjects, v1alpha1.GrantedConnectionGroups, v1alpha1.GrantedTenantSources, v1alpha1.GrantedInvalidations,
		},
		Distributions: []v1alpha1.GrantedDistribution{{ID: "*"}}, Domains: []v1alpha1.GrantedDomain{{Suffix: "example.com"}},
		Sources: &v1alpha1.GrantedSources{Hosts: []string{"*"}},
	}}
	if err := kube.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"finalizers": null}}`))
		if err := errors.Join(kube.Patch(ctx, o, patch), client.IgnoreNotFound(kube.Delete(ctx, o))); err != nil {
			t.Error(err)
		}
	})
}

// writesGrant changes the namespace's grant until this operator has written to it. The operators of parallel tests see the grant,
// too, and the first of them to write leaves nothing for the others.
func (r *rig) writesGrant() {
	r.t.Helper()
	key := client.ObjectKey{Name: r.namespace}
	wrote := func(subresource string) bool {
		requests, err := host.ControlPlane.Audit(r.i.User())
		if err != nil {
			r.t.Fatal(err)
		}
		return slices.ContainsFunc(requests, func(q controlplane.Request) bool {
			return q.Verb == "patch" && q.Resource == "edgegrants" && q.Subresource == subresource && q.Object == key.Name
		})
	}
	const rounds = 200
	for round := range rounds {
		if wrote("") && wrote("status") {
			return
		}
		change := fmt.Sprintf(`{"metadata": {"finalizers": null}, "spec": {"domains": [{"suffix": "example.com"}, {"suffix": "round-%d.example.com"}]}}`, round)
		o := &v1alpha1.EdgeGrant{ObjectMeta: metav1.ObjectMeta{Name: key.Name}}
		if err := kube.Patch(r.t.Context(), o, client.RawPatch(types.MergePatchType, []byte(change))); err != nil {
			r.t.Fatal(err)
		}
		r.eventually(func(g gomega.Gomega) {
			g.Expect(kube.Get(r.t.Context(), key, o)).To(gomega.Succeed())
			ready := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionReady)
			g.Expect(ready != nil && ready.ObservedGeneration == o.Generation && len(o.Finalizers) > 0).To(gomega.BeTrue(), "%+v", o)
		})
	}
	r.t.Errorf("in %d rounds, other operators were always first to write to the grant", rounds)
}

// create makes a tenant and waits until it is Ready.
func (r *rig) create() *v1alpha1.DistributionTenant {
	r.t.Helper()
	o := &v1alpha1.DistributionTenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "acme"},
		Spec: v1alpha1.DistributionTenantSpec{
			DistributionID: stack.DistributionID, Domains: []v1alpha1.TenantDomain{{Domain: r.namespace + ".example.com"}},
		},
	}
	if err := kube.Create(r.t.Context(), o); err != nil {
		r.t.Fatal(err)
	}
	r.reaches(o, func(o *v1alpha1.DistributionTenant) bool {
		return meta.IsStatusConditionTrue(o.Status.Conditions, v1alpha1.ConditionReady)
	})
	return o
}

func (r *rig) reaches(o *v1alpha1.DistributionTenant, reached func(*v1alpha1.DistributionTenant) bool) {
	r.t.Helper()
	r.eventually(func(g gomega.Gomega) {
		g.Expect(kube.Get(r.t.Context(), client.ObjectKeyFromObject(o), o)).To(gomega.Succeed())
		g.Expect(reached(o)).To(gomega.BeTrue(), "conditions %v", o.Status.Conditions)
	})
}

// scrapes waits for the status of a scrape by a user who may read metrics.
func (r *rig) scrapes(op *stack.Operator, want int) {
	r.t.Helper()
	c := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, // it signs its own certificate
	}}
	r.eventually(func(g gomega.Gomega) {
		request, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, "https://"+op.MetricsURL(), nil)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		request.Header.Set("Authorization", "Bearer "+host.RESTConfig().BearerToken)
		response, err := c.Do(request)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(response.Body.Close()).To(gomega.Succeed())
		g.Expect(response.StatusCode).To(gomega.Equal(want))
	})
}

// logs waits until the operator has said all that. A log in JSON quotes quotes, and the last words
// of an operator that ends are plain text.
func (r *rig) logs(op *stack.Operator, texts ...string) {
	r.t.Helper()
	r.eventually(func(g gomega.Gomega) {
		log, err := op.Log()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		for _, text := range texts {
			g.Expect(strings.ReplaceAll(log, `\"`, `"`)).To(gomega.ContainSubstring(strings.ReplaceAll(text, `\"`, `"`)))
		}
	})
}

func (r *rig) eventually(check func(g gomega.Gomega)) {
	r.t.Helper()
	gomega.NewWithT(r.t).Eventually(r.t.Context(), check).WithTimeout(patience).WithPolling(50 * time.Millisecond).Should(gomega.Succeed())
}

// takeAway removes one grant until the end of the test.
func (r *rig) takeAway(g grant) {
	r.t.Helper()
	all := grantsOf(r.t, r.i)
	r.setRules(r.t.Context(), g, without(all, g))
	r.authorizerSays(r.t.Context(), g, false)
	r.t.Cleanup(func() {
		ctx := context.Background() // the test's own has ended
		r.setRules(ctx, g, without(all, grant{Role: g.Role, Namespace: g.Namespace}))
		r.authorizerSays(ctx, g, true)
	})
}

func (r *rig) setRules(ctx context.Context, g grant, rules []rbacv1.PolicyRule) {
	r.t.Helper()
	var role client.Object = &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: g.Role}, Rules: rules}
	if g.Namespace != "" {
		role = &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: g.Role, Namespace: g.Namespace}, Rules: rules}
	}
	if err := kube.Update(ctx, role); err != nil {
		r.t.Fatalf("changing the role %s: %v", g.Role, err)
	}
}

// authorizerSays waits until the API server has heard of a change of a role.
func (r *rig) authorizerSays(ctx context.Context, g grant, allowed bool) {
	r.t.Helper()
	resource, subresource, _ := strings.Cut(g.Resource, "/")
	gomega.NewWithT(r.t).Eventually(ctx, func(check gomega.Gomega) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: r.i.User(),
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Group: g.Group, Resource: resource, Subresource: subresource, Verb: g.Verb, Name: g.Name, Namespace: g.Namespace,
			},
		}}
		check.Expect(kube.Create(ctx, review)).To(gomega.Succeed())
		check.Expect(review.Status.Allowed).To(gomega.Equal(allowed))
	}).WithTimeout(patience).WithPolling(20 * time.Millisecond).Should(gomega.Succeed())
}
