package awsresource_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// Shorthands of the tests.
const (
	readyTrue = "Ready=True/Deployed"
	// disabledAsAsked is a resource that the spec disables.
	disabledAsAsked = "Ready=False/Disabled"
	syncedTrue      = "Synced=True/InSync"
)

// settle is long enough for a change to be noticed, sent and deployed.
const settle = 3 * time.Minute

// aLook is long enough for an object that rests to be looked at, corrected and deployed.
const aLook = 9 * time.Minute

// apply creates the object.
func apply(t *testing.T, w *world.World, o client.Object) client.Object {
	t.Helper()
	if err := w.Kube.Create(t.Context(), o); err != nil {
		t.Fatalf("creating %s: %v", o.GetName(), err)
	}
	return o
}

// remove deletes it.
func remove(t *testing.T, w *world.World, o client.Object) {
	t.Helper()
	if err := w.Kube.Delete(t.Context(), o); err != nil {
		t.Fatalf("deleting %s: %v", o.GetName(), err)
	}
}

// edit changes the object as a user would.
func edit(t *testing.T, w *world.World, o client.Object, change func(client.Object)) {
	t.Helper()
	if w.ParentStatus(o) == nil {
		t.Fatalf("%s is gone", o.GetName())
	}
	base := o.DeepCopyObject().(client.Object)
	change(o)
	if err := w.Kube.Patch(t.Context(), o, client.MergeFrom(base)); err != nil {
		t.Fatalf("changing %s: %v", o.GetName(), err)
	}
}

// editPolicies changes what both kinds have in their spec.
func editPolicies(t *testing.T, w *world.World, o client.Object, change policies) {
	t.Helper()
	edit(t, w, o, func(o client.Object) {
		switch o := o.(type) {
		case *v1alpha1.Distribution:
			change(&o.Spec.ResourcePolicies)
		case *v1alpha1.ConnectionGroup:
			change(&o.Spec.ResourcePolicies)
		}
	})
}

func annotate(t *testing.T, w *world.World, o client.Object, key, value string) {
	t.Helper()
	edit(t, w, o, func(o client.Object) {
		all := map[string]string{}
		maps.Copy(all, o.GetAnnotations())
		all[key] = value
		o.SetAnnotations(all)
	})
}

// nudge asks to look at once.
func nudge(t *testing.T, w *world.World, o client.Object, token string) {
	t.Helper()
	annotate(t, w, o, v1alpha1.AnnotationReconcileNow, token)
}

func pause(t *testing.T, w *world.World, o client.Object, value string) {
	t.Helper()
	annotate(t, w, o, v1alpha1.AnnotationPaused, value)
}

// editStatus writes status, which only the operator should do.
func editStatus(t *testing.T, w *world.World, o client.Object, change func(*v1alpha1.ResourceStatus)) {
	t.Helper()
	status := w.ParentStatus(o)
	if status == nil {
		t.Fatalf("%s is gone", o.GetName())
	}
	base := o.DeepCopyObject().(client.Object)
	change(status)
	if err := w.Kube.Status().Patch(t.Context(), o, client.MergeFrom(base)); err != nil {
		t.Fatalf("changing the status of %s: %v", o.GetName(), err)
	}
}

// status is what the object says; it has to be there.
func status(t *testing.T, w *world.World, o client.Object) v1alpha1.ResourceStatus {
	t.Helper()
	s := w.ParentStatus(o)
	if s == nil {
		t.Fatalf("the object %s is gone", o.GetName())
	}
	return *s.DeepCopy()
}

// is checks conditions, each written as Type=Status/Reason.
func is(t *testing.T, w *world.World, o client.Object, conditions ...string) {
	t.Helper()
	for _, c := range conditions {
		name, _, _ := strings.Cut(c, "=")
		if got := w.ParentCondition(o, name); got != c {
			t.Errorf("%s: %s, want %s\n%s", o.GetName(), got, c, w.ParentConditions(o))
		}
	}
}

// says checks that the message of a condition has all the parts.
func says(t *testing.T, w *world.World, o client.Object, condition string, parts ...string) {
	t.Helper()
	c := meta.FindStatusCondition(status(t, w, o).Conditions, condition)
	if c == nil {
		t.Errorf("there is no %s", condition)
		return
	}
	for _, p := range parts {
		if !strings.Contains(c.Message, p) {
			t.Errorf("%s does not say %q: %s", condition, p, c.Message)
		}
	}
}

// atStep checks how far the deletion is.
func atStep(t *testing.T, w *world.World, o client.Object, want v1alpha1.DeletionStep) {
	t.Helper()
	d := status(t, w, o).Deletion
	if d == nil || d.Step != want {
		t.Errorf("the deletion is at %+v, want %s\n%s", d, want, w.ParentConditions(o))
	}
}

// quickly does something while AWS deploys at once.
func quickly(w *world.World, do func()) {
	deploy := func(delay time.Duration) {
		w.Sim.ChangeSwitches(func(s *sim.Switches) { s.DeployDelay = delay })
	}
	deploy(0)
	do()
	deploy(world.DeployDelay)
}

// ready makes an object and waits until it is Ready.
func (k kind) ready(t *testing.T, w *world.World, name string, change ...policies) client.Object {
	t.Helper()
	o := k.object(w, name, change...)
	quickly(w, func() {
		apply(t, w, o)
		w.Advance(time.Second)
	})
	is(t, w, o, readyTrue, syncedTrue)
	return o
}

// gone checks that neither the object nor a resource is left.
func (k kind) gone(t *testing.T, w *world.World, o client.Object) {
	t.Helper()
	released(t, w, o)
	k.none(t, w)
}

// released checks that the object is gone.
func released(t *testing.T, w *world.World, o client.Object) {
	t.Helper()
	if s := w.ParentStatus(o); s != nil {
		t.Errorf("the object %s is still there, at %+v:\n%s", o.GetName(), s.Deletion, w.ParentConditions(o))
	}
}

// untouched checks that a resource is byte for byte what it was.
func (k kind) untouched(t *testing.T, w *world.World, before thing) {
	t.Helper()
	after, found := k.find(w, before.ID)
	if !found {
		t.Errorf("the %s %s is gone", k.name, before.ID)
		return
	}
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("the %s %s was changed (-before +after):\n%s", k.name, before.ID, d)
	}
}

// owner is who the operator's tags name for an object.
func owner(o client.Object) ownership.Owner {
	return ownership.Owner{Cluster: world.ClusterID, Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID())}
}

// fault makes calls fail.
func fault(t *testing.T, w *world.World, f sim.Fault) (id string) {
	t.Helper()
	id, err := w.Sim.AddFault(f)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// refusing answers every call of the operation with an error, until it is removed.
func refusing(t *testing.T, w *world.World, operation string, e sim.FaultError) (allow func()) {
	t.Helper()
	id := fault(t, w, sim.Fault{Operation: operation, Times: -1, Kind: sim.Instead, Error: &e})
	return func() { w.Sim.RemoveFault(id) }
}

// denied is what AWS says to a caller who may not.
func denied(operation string) sim.FaultError {
	return sim.FaultError{Status: 403, Code: "AccessDenied", Message: "User: arn:aws:iam::111122223333:user/op is not authorized to perform: cloudfront:" + operation}
}

// mutations are the calls of the operator's kinds that change something.
func (k kind) mutations(counts map[string]int) map[string]int {
	out := map[string]int{}
	for _, o := range []string{k.create, k.update, k.delete, "TagResource", "UntagResource"} {
		if n := counts[o]; n > 0 {
			out[o] = n
		}
	}
	return out
}

// refusals counts how AWS refused this kind's updates and deletions.
func (k kind) refusals(w *world.World) map[string]int {
	out := map[string]int{}
	for _, operation := range []string{k.update, k.delete} {
		for code, n := range w.Sim.Calls()[operation].Errors {
			out[operation+": "+code] = n
		}
	}
	return out
}

// once checks that an event was told exactly once.
func once(t *testing.T, w *world.World, o client.Object, reasons ...string) {
	t.Helper()
	all := w.Reasons(o.GetName())
	for _, reason := range reasons {
		n := len(slices.DeleteFunc(slices.Clone(all), func(r string) bool { return r != reason }))
		if n != 1 {
			t.Errorf("%d events say %s: %v", n, reason, all)
		}
	}
}

func drift(p v1alpha1.DriftPolicy) policies {
	return func(s *v1alpha1.ResourcePolicies) { s.DriftPolicy = p }
}

func adoption(p v1alpha1.AdoptionPolicy) policies {
	return func(s *v1alpha1.ResourcePolicies) { s.AdoptionPolicy = p }
}

func retain(s *v1alpha1.ResourcePolicies) { s.DeletionPolicy = v1alpha1.DeletionPolicyRetain }

// tags sets the tags of the spec, given as key and value in turn.
func tags(list ...string) policies {
	return func(s *v1alpha1.ResourcePolicies) {
		s.Tags = nil
		for n := 0; n < len(list); n += 2 {
			s.Tags = append(s.Tags, v1alpha1.Tag{Key: list[n], Value: list[n+1]})
		}
	}
}

// wireTags renders tags for the SDK.
func wireTags(all map[string]string) *types.Tags {
	out := &types.Tags{}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		out.Items = append(out.Items, types.Tag{Key: awssdk.String(key), Value: awssdk.String(all[key])})
	}
	return out
}

func wireKeys(keys []string) *types.TagKeys { return &types.TagKeys{Items: keys} }
