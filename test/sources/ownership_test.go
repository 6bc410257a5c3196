package sources_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/sourceworld"
)

// ownerships are cases of whose an object is, and who may do what to it.
var ownerships = map[string]struct {
	setup setup
	test  func(*cell)
}{
	"other users' objects are met and left alone":        {test: testForeign},
	"a label removed by hand takes a tenant out":         {test: testLabelRemoved},
	"a person's own fields stay, those of the row don't": {test: testFields},
	"an object that is being deleted is skipped":         {test: testBeingDeleted},
	"two sources do not share a name":                    {test: testTwoSources},
	"a source made again takes its tenants over":         {setup: setup{source: policy(v1alpha1.SourceDeletionPolicyRetain)}, test: testMadeAgain},
	"a source made again does not delete what has no row": {
		setup: setup{interval: time.Hour, source: policy(v1alpha1.SourceDeletionPolicyRetain)}, test: testMadeAgainEmpty,
	},
	"a source deleted in the foreground holds its tenants": {test: testForeground},
	"a source deleted in the background holds its tenants": {test: func(c *cell) { c.deleteSource(client.PropagationPolicy(metav1.DeletePropagationBackground)) }},
	"a source deleted as an orphan holds its tenants":      {test: func(c *cell) { c.deleteSource(client.PropagationPolicy(metav1.DeletePropagationOrphan)) }},
	"a deleted source can let its tenants stay":            {test: testDeletedRetains},
	"a deleted source with few tenants takes them along":   {setup: setup{rows: usual(0, 3)}, test: testDeletedSmall},
	"a deleted source with Disable disables":               {setup: setup{rows: usual(0, 3), source: policy(v1alpha1.SourceDeletionPolicyDisable)}, test: testDeletedDisables},
}

func TestOwnership(t *testing.T) {
	for caseName, tt := range ownerships {
		t.Run(caseName, func(t *testing.T) {
			t.Parallel()
			tt.setup.rows = tt.setup.rowsOr(usual(0, fleet))
			engines["postgres"].play(t, tt.setup, tt.test)
		})
	}
}

func (c *cell) create(o client.Object) {
	c.t.Helper()
	must(c.t, c.w.Kube.Create(c.t.Context(), o))
}

func testForeign(c *cell) {
	o, _ := c.w.Get(customers)
	c.create(c.somebodys(name(fleet), nil))
	c.create(c.somebodys(name(fleet+1), map[string]string{v1alpha1.LabelSource: customers}))
	c.create(c.somebodys(name(fleet+2), map[string]string{v1alpha1.LabelSource: customers, v1alpha1.LabelSourceUID: string(o.UID)}))
	c.create(c.somebodys(name(fleet+3), map[string]string{
		v1alpha1.LabelSource: "others", v1alpha1.LabelSourceNamespace: c.w.Namespace, v1alpha1.LabelSourceUID: "b4f51734-b6f5-4ba1-8a4a-000000000000",
	}))
	c.create(c.somebodys("nobody", map[string]string{v1alpha1.LabelSource: customers, v1alpha1.LabelSourceUID: string(o.UID)}))
	before := c.objects()
	c.put(usual(fleet, fleet+5)...)
	c.poll()
	c.expect("Ready=False/Conflict", "Synced=False/RowsRejected")
	c.says("4 rows have the names of objects that belong to another owner: see status.rejectedRows. All other rows are applied")
	c.rejectedAre(map[string]string{
		name(fleet):     fmt.Sprintf("the DistributionTenant %q exists and does not belong to this source (it has no labels of a TenantSource): rename the row, or delete the object", name(fleet)),
		name(fleet + 1): "it has no labels of a TenantSource",
		name(fleet + 2): "does not belong to this source",
		name(fleet + 3): fmt.Sprintf("it belongs to the TenantSource %s/others", c.w.Namespace),
	})
	c.untouched(before, name(fleet+4))
	c.living(append(names(0, fleet+5), "nobody"))
	c.remove(names(fleet, fleet+5)...)
	c.w.Advance(2 * interval)
	c.living(append(names(0, fleet+4), "nobody"))
	c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
	c.deletedAre(1, 1)
}

func testLabelRemoved(c *cell) {
	for i, label := range []string{v1alpha1.LabelSource, v1alpha1.LabelSourceNamespace, v1alpha1.LabelSourceUID} {
		c.byHand(name(i), func(o *v1alpha1.DistributionTenant) { delete(o.Labels, label) })
	}
	before := c.objects()
	c.poll()
	c.expect("Ready=False/Conflict")
	c.remove(names(0, 4)...)
	c.stay(4 * time.Minute)
	c.w.Advance(time.Hour)
	c.living(append(names(0, 3), names(4, fleet)...))
	c.untouched(before, name(3))
	c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")

	o, _ := c.w.Get(customers)
	for i := range 3 {
		c.byHand(name(i), func(tenant *v1alpha1.DistributionTenant) {
			tenant.Labels = map[string]string{
				v1alpha1.LabelSource: customers, v1alpha1.LabelSourceNamespace: c.w.Namespace, v1alpha1.LabelSourceUID: string(o.UID),
			}
		})
	}
	c.put(usual(0, 3)...)
	c.poll()
	c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
	c.living(append(names(0, 3), names(4, fleet)...))
}

func testFields(c *cell) {
	c.byHand(name(3), func(o *v1alpha1.DistributionTenant) {
		o.Labels["mine"], o.Annotations["mine"] = "label", "annotation"
		o.Spec.Parameters = []v1alpha1.Parameter{{Name: "mine", Value: "parameter"}}
		o.Spec.Tags = []v1alpha1.Tag{{Key: "mine", Value: "tag"}}
	})
	off := false
	c.byHand(name(4), func(o *v1alpha1.DistributionTenant) {
		o.Spec.Enabled, o.Spec.ConnectionGroupID = &off, "cg_mine"
		o.Spec.Domains = append(o.Spec.Domains, v1alpha1.TenantDomain{Domain: "mine.example.com"})
		o.Spec.DistributionID = "E9MINE"
	})
	c.byHand(name(5), func(o *v1alpha1.DistributionTenant) { o.Finalizers = nil })
	before := c.objects()
	for range 2 {
		c.poll()
		c.untouched(before, name(4), name(5))
		c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
	}
	o := c.tenant(name(4))
	if !*o.Spec.Enabled || o.Spec.ConnectionGroupID != "cg_1" || o.Spec.DistributionID != sourceworld.DistributionID {
		c.t.Errorf("what the row says was not put back: %s", dump(c.t, o.Spec))
	}
	c.domainsAre(name(4), name(4)+".example.com mine.example.com")
	if len(c.tenant(name(5)).Finalizers) != 1 {
		c.t.Errorf("the finalizer was not put back")
	}
	// A change of the row keeps them, too.
	c.put(with(row(3), "domain", "changed.example.com"))
	c.poll()
	o = c.tenant(name(3))
	if o.Labels["mine"] != "label" || o.Annotations["mine"] != "annotation" || len(o.Spec.Parameters) != 1 || len(o.Spec.Tags) != 1 {
		c.t.Errorf("a person's own fields are gone: %s", dump(c.t, o))
	}
	c.domainsAre(name(3), "changed.example.com")
}

func testBeingDeleted(c *cell) {
	deleted := c.tenant(name(3))
	must(c.t, c.w.Kube.Delete(c.t.Context(), &deleted))
	waiting := dump(c.t, c.tenant(name(3)))
	before := c.objects()
	c.put(with(row(3), "domain", "changed.example.com"))
	c.stay(time.Hour)
	c.untouched(before)
	c.expect("Ready=True/PollSucceeded")
	if now := dump(c.t, c.tenant(name(3))); now != waiting {
		c.t.Errorf("what was being deleted was written:\n%s", cmp.Diff(waiting, now))
	}
	c.w.Bury()
	c.poll()
	c.living(names(0, fleet))
	c.domainsAre(name(3), "changed.example.com")
	c.nothingDeleted()
}

func testTwoSources(c *cell) {
	other := c.newTable(with(row(3), "domain", "theirs.example.com"), with(row(fleet), "domain", "theirs-too.example.com"))
	c.w.Source("others", c.provider, other.Query())
	before := c.objects()
	c.settle()
	c.w.Advance(time.Hour)
	c.untouched(before, name(fleet))
	if got := c.w.Condition("others", v1alpha1.ConditionReady); got != "Ready=False/Conflict" {
		c.t.Errorf("the other source says %s\n%s", got, c.w.Describe("others"))
	}
	if text := c.w.Describe("others"); !strings.Contains(text, "it belongs to the TenantSource "+c.w.Namespace+"/"+customers) {
		c.t.Errorf("the other source says\n%s", text)
	}
	c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
	must(c.t, other.Truncate(c.t.Context()))
	c.stay(time.Hour)
	c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
	c.nothingDeleted()
	c.noSecret(dump(c.t, c.w.Events))
}

// madeAgain deletes the source, which lets its tenants stay, and makes one of its name.
func (c *cell) madeAgain() {
	c.t.Helper()
	c.w.Delete(customers)
	c.settle()
	if _, found := c.w.Get(customers); found {
		c.t.Fatalf("the source is still there\n%s", c.w.Describe(customers))
	}
	must(c.t, c.w.Kube.Delete(c.t.Context(), c.secret()))
	c.w.Source(customers, c.provider, c.table.Query(), func(o *v1alpha1.TenantSource) {
		o.Spec.PollInterval = &metav1.Duration{Duration: c.interval}
	})
}

// uids are the UIDs of the living objects, by name.
func (c *cell) uids() map[string]string {
	c.t.Helper()
	out := map[string]string{}
	for _, o := range c.w.AllTenants() {
		if o.DeletionTimestamp.IsZero() {
			out[o.Name] = string(o.UID)
		}
	}
	return out
}

func testMadeAgain(c *cell) {
	before := c.uids()
	c.madeAgain()
	c.settle()
	c.expect("Ready=True/PollSucceeded", "Synced=True/InSync")
	if diff := cmp.Diff(before, c.uids()); diff != "" {
		c.t.Errorf("tenants (-before +now):\n%s", diff)
	}
	o, _ := c.w.Get(customers)
	for _, tenant := range c.w.AllTenants() {
		if tenant.Labels[v1alpha1.LabelSourceUID] != string(o.UID) {
			c.t.Errorf("%s was not taken over", tenant.Name)
		}
	}
	c.nothingDeleted()
	c.removalTakesTwoPolls(name(3))
}

func testMadeAgainEmpty(c *cell) {
	before := c.objects()
	must(c.t, c.table.Truncate(c.t.Context()))
	c.madeAgain()
	c.w.Advance(25 * time.Hour)
	c.untouched(before)
	c.nothingDeleted()
}

func testForeground(c *cell) {
	c.deleteSource(client.PropagationPolicy(metav1.DeletePropagationForeground))
}

// deleteSource deletes the source, and sees its tenants wait for approval.
func (c *cell) deleteSource(options ...client.DeleteOption) {
	c.t.Helper()
	before := c.objects()
	c.w.Delete(customers, options...)
	c.w.Advance(3 * time.Hour)
	c.untouched(before)
	c.expect("Ready=False/DeletionHeld")
	c.says(fmt.Sprintf("This source was deleted, and %d tenants would be deleted with it", fleet), "set spec.deletionPolicy to Retain")
	c.w.Restart()
	c.w.Advance(time.Hour)
	c.untouched(before)
	c.nothingDeleted()
	c.approve()
	c.w.Advance(time.Minute)
	c.living([]string{})
	// The garbage collector removes what it added to a source in its own time.
	c.eventually("the source goes", func() error {
		if _, found := c.w.Get(customers); found {
			return errors.New("the source is still there")
		}
		return nil
	})
}

func testDeletedRetains(c *cell) {
	before := c.objects()
	c.w.Delete(customers)
	c.w.Advance(time.Hour)
	c.w.Edit(customers, func(o *v1alpha1.TenantSource) { o.Spec.DeletionPolicy = v1alpha1.SourceDeletionPolicyRetain })
	c.settle()
	if _, found := c.w.Get(customers); found {
		c.t.Errorf("the source is still there\n%s", c.w.Describe(customers))
	}
	c.untouched(before)
}

func testDeletedSmall(c *cell) {
	c.w.Delete(customers)
	c.w.Advance(time.Minute)
	c.living([]string{})
	if _, found := c.w.Get(customers); found {
		c.t.Errorf("the source is still there\n%s", c.w.Describe(customers))
	}
}

func testDeletedDisables(c *cell) {
	c.w.Delete(customers)
	c.w.Advance(time.Minute)
	c.living(names(0, 3))
	for _, name := range names(0, 3) {
		c.enabledAre(map[string]bool{name: false})
	}
	if _, found := c.w.Get(customers); found {
		c.t.Errorf("the source is still there\n%s", c.w.Describe(customers))
	}
}

// eventually waits for something that another process does.
func (c *cell) eventually(what string, check func() error) {
	c.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(time.Minute)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("waiting until %s: %v", what, err)
		}
		<-tick.C
	}
}

// elsewhereCell has a source with tenants in another namespace.
func elsewhereCell(t *testing.T, granted bool) (c *cell, namespace string) {
	t.Helper()
	e := engines["postgres"]
	c = e.cell(t, setup{world: sourceworld.Options{Grant: func(from, to string) error {
		if from == to || granted {
			return nil
		}
		return fmt.Errorf("sources in the namespace %q are not allowed to have tenants in %q: ask the administrator", from, to)
	}}, source: func(_ *database.Table, o *v1alpha1.TenantSource) { o.Spec.Suspend = true }})
	must(t, c.w.Kube.Delete(t.Context(), &v1alpha1.TenantSource{ObjectMeta: metav1.ObjectMeta{Namespace: c.w.Namespace, Name: customers}}))
	namespace = c.w.AddNamespace()
	c.w.Source(customers, mapping.Postgres, c.table.Query(), func(o *v1alpha1.TenantSource) { o.Spec.TargetNamespace = namespace })
	c.settle()
	return c, namespace
}

// livingIn are the names of the tenants in a namespace that were not deleted.
func (c *cell) livingIn(namespace string) []string {
	c.t.Helper()
	var list v1alpha1.DistributionTenantList
	must(c.t, c.w.Kube.List(c.t.Context(), &list, client.InNamespace(namespace)))
	out := []string{}
	for _, o := range list.Items {
		if o.DeletionTimestamp.IsZero() {
			out = append(out, o.Name)
		}
	}
	return out
}

func TestAnotherNamespaceHasToBeGranted(t *testing.T) {
	t.Parallel()
	c, namespace := elsewhereCell(t, false)
	c.w.Advance(time.Hour)
	c.expect("Ready=False/InvalidConfig")
	c.says("spec.targetNamespace: ", "are not allowed to have tenants in", "ask the administrator")
	if got := append(c.livingIn(namespace), c.w.Living()...); len(got) > 0 {
		t.Errorf("tenants without a grant: %v", got)
	}
	if sent := c.table.Wire().Sent(); sent > 0 {
		t.Errorf("%d bytes were read without a grant", sent)
	}
}

// TestTheNamespaceOfTheSourceIsDeleted deletes everything around a source whose tenants are in another namespace.
func TestTheNamespaceOfTheSourceIsDeleted(t *testing.T) {
	t.Parallel()
	c, namespace := elsewhereCell(t, true)
	if diff := cmp.Diff(names(0, size), c.livingIn(namespace)); diff != "" {
		t.Fatalf("tenants (-want +got):\n%s%s", diff, c.w.Describe(customers))
	}
	must(t, c.w.Kube.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.w.Namespace}}))
	c.eventually("the namespace controller has deleted the source", func() error {
		if o, found := c.w.Get(customers); found && o.DeletionTimestamp.IsZero() {
			return errors.New("it has not")
		}
		return nil
	})
	c.w.Advance(3 * time.Hour)
	c.expect("Ready=False/DeletionHeld")
	if diff := cmp.Diff(names(0, size), c.livingIn(namespace)); diff != "" {
		t.Errorf("tenants (-want +got):\n%s", diff)
	}
	c.nothingDeleted()
	c.approve()
	c.w.Advance(time.Minute)
	if got := c.livingIn(namespace); len(got) > 0 {
		t.Errorf("tenants after the approval: %v", got)
	}
	c.eventually("the namespace is gone", func() error {
		err := c.w.Kube.Get(t.Context(), client.ObjectKey{Name: c.w.Namespace}, &corev1.Namespace{})
		if err == nil {
			return errors.New("it is there")
		}
		return client.IgnoreNotFound(err)
	})
}
