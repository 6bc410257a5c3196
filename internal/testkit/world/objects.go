package world

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// Tenant builds a minimal object with the domain <name>.example.com. Its tenant's name
// carries the world's namespace, so that tests do not meet in one.
func (w *World) Tenant(name string, change ...func(*v1alpha1.DistributionTenant)) *v1alpha1.DistributionTenant {
	o := &v1alpha1.DistributionTenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name},
		Spec: v1alpha1.DistributionTenantSpec{
			DistributionID: DistributionID,
			Domains:        []v1alpha1.TenantDomain{{Domain: name + ".example.com"}},
		},
	}
	for _, c := range change {
		c(o)
	}
	return o
}

// Apply creates the object.
func (w *World) Apply(o *v1alpha1.DistributionTenant) *v1alpha1.DistributionTenant {
	w.t.Helper()
	if err := w.Kube.Create(w.t.Context(), o); err != nil {
		w.t.Fatalf("creating %s: %v", o.Name, err)
	}
	return o
}

// Get reads an object; found is false when it is gone. Its name is <namespace>/<name> where that is not the world's own.
func (w *World) Get(name string) (o *v1alpha1.DistributionTenant, found bool) {
	w.t.Helper()
	o = &v1alpha1.DistributionTenant{}
	key := client.ObjectKey{Namespace: w.Namespace, Name: name}
	if namespace, rest, other := strings.Cut(name, "/"); other {
		key = client.ObjectKey{Namespace: namespace, Name: rest}
	}
	err := w.Kube.Get(w.t.Context(), key, o)
	if client.IgnoreNotFound(err) != nil {
		w.t.Fatalf("reading %s: %v", name, err)
	}
	return o, err == nil
}

// Edit changes an object's spec or metadata as a user would.
func (w *World) Edit(name string, change func(*v1alpha1.DistributionTenant)) {
	w.t.Helper()
	o, found := w.Get(name)
	if !found {
		w.t.Fatalf("%s is gone", name)
	}
	base := o.DeepCopy()
	change(o)
	if err := w.Kube.Patch(w.t.Context(), o, client.MergeFrom(base)); err != nil {
		w.t.Fatalf("changing %s: %v", name, err)
	}
}

// Delete deletes an object.
func (w *World) Delete(name string) {
	w.t.Helper()
	o, found := w.Get(name)
	if !found {
		w.t.Fatalf("%s is gone", name)
	}
	if err := w.Kube.Delete(w.t.Context(), o); err != nil {
		w.t.Fatalf("deleting %s: %v", name, err)
	}
}

// Condition renders a condition as Type=Status/Reason, or says that there is none.
func (w *World) Condition(name, conditionType string) string {
	w.t.Helper()
	o, found := w.Get(name)
	if !found {
		return "object is gone"
	}
	c := meta.FindStatusCondition(o.Status.Conditions, conditionType)
	if c == nil {
		return conditionType + " is not there"
	}
	return conditionType + "=" + string(c.Status) + "/" + c.Reason
}

// Message is the message of a condition.
func (w *World) Message(name, conditionType string) string {
	w.t.Helper()
	o, _ := w.Get(name)
	if c := meta.FindStatusCondition(o.Status.Conditions, conditionType); c != nil {
		return c.Message
	}
	return ""
}

// InAWS is the tenant of that name; found is false when there is none.
func (w *World) InAWS(name string) (t sim.TenantState, found bool) {
	return w.Sim.Tenant(sim.DefaultAccount, name)
}

// AllInAWS are all tenants of the account.
func (w *World) AllInAWS() []sim.TenantState { return w.Sim.Tenants(sim.DefaultAccount) }

// Calls counts the calls since the world began, by operation.
func (w *World) Calls() map[string]int {
	counts := map[string]int{}
	for operation, c := range w.Sim.Calls() {
		counts[operation] = c.Total
	}
	return counts
}

// Reasons lists the reasons of the events about an object.
func (w *World) Reasons(name string) []string {
	var out []string
	for _, e := range w.Events {
		if e.Object == name {
			out = append(out, e.Reason)
		}
	}
	return out
}

// Since subtracts counts, leaving out what did not move.
func Since(before, now map[string]int) map[string]int {
	diff := map[string]int{}
	for k, n := range now {
		if n != before[k] {
			diff[k] = n - before[k]
		}
	}
	return diff
}

// Sum adds counts up.
func Sum(counts map[string]int) int {
	total := 0
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		total += counts[k]
	}
	return total
}

// Describe renders what a failing test should show.
func (w *World) Describe(name string) string {
	w.t.Helper()
	o, found := w.Get(name)
	if !found {
		return name + " is gone"
	}
	var b strings.Builder
	for _, c := range o.Status.Conditions {
		b.WriteString(c.Type + "=" + string(c.Status) + "/" + c.Reason + ": " + c.Message + "\n")
	}
	return b.String()
}
