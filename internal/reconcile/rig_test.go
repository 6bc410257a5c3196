package reconcile_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

const finalizer = "example.com/finalizer"

var key = client.ObjectKey{Namespace: "shop", Name: "web"}

// step is what a pass asks for, and what comes of it.
type step struct {
	effect chain.Effect
	do     func(context.Context, reconcile.Keeper) error
}

// rig is a driver with a kind and a pass that do as the test says. Nothing is remembered but the log of what happened,
// in its order.
type rig struct {
	t      *testing.T
	driver *reconcile.Driver[*corev1.Pod]
	store  client.WithWatch
	log    []string

	// begin is how Begin ends, if set; steps are those of the pass, which then rests unless it is endless.
	begin   func(context.Context) error
	steps   []step
	endless bool
	// message is what Conclude reports in status, conclusion what it returns, concluded what it was told.
	message    string
	conclusion reconcile.Conclusion
	concluded  error

	// refuse is how the API server answers a request of the log, nil for as usual; patch is the last one that was sent.
	refuse map[string]error
	patch  string
	// idle means that patches change nothing, so that they make no version.
	idle bool
	// cached is what the cache shows, if it is behind.
	cached *corev1.Pod
	// live changes what a live read shows.
	live func(*corev1.Pod)

	object *corev1.Pod
	next   int
}

// pod is an object as the driver keeps it, but for the changes.
func pod(changes ...func(*corev1.Pod)) *corev1.Pod {
	o := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name, UID: "uid-1", Generation: 3, Finalizers: []string{finalizer},
		Annotations: map[string]string{"example.com/mark": "now", "other.org/note": "hello"},
	}}
	for _, change := range changes {
		change(o)
	}
	return o
}

func newRig(t *testing.T, objects ...client.Object) *rig {
	t.Helper()
	r := &rig{t: t, refuse: map[string]error{}}
	r.store = fake.NewClientBuilder().WithScheme(scheme.Scheme).WithStatusSubresource(&corev1.Pod{}).WithObjects(objects...).Build()
	r.driver = &reconcile.Driver[*corev1.Pod]{
		Client: interceptor.NewClient(r.store, interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				if err := r.refuse["get"]; err != nil {
					return err
				}
				if r.cached != nil {
					r.cached.DeepCopyInto(o.(*corev1.Pod))
					return nil
				}
				return c.Get(ctx, k, o, opts...)
			},
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				return r.sends("patch", o, p, func() error { return c.Patch(ctx, o, p, opts...) })
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				return r.sends("patch "+sub, o, p, func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
			},
		}),
		Live: interceptor.NewClient(r.store, interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				r.note("confirm")
				err := c.Get(ctx, k, o, opts...)
				if r.live != nil {
					r.live(o.(*corev1.Pod))
				}
				return err
			},
		}),
		Kind:    kind{r},
		Publish: func(_ *corev1.Pod, e reconcile.Event) { r.note("event " + e.Reason) },
		Failed:  func(k fault.Kind) { r.note("failed " + k.String()) },
	}
	return r
}

func (r *rig) note(what string) { r.log = append(r.log, what) }

func (r *rig) sends(what string, o client.Object, p client.Patch, send func() error) error {
	r.note(what)
	data, err := p.Data(o)
	if err != nil {
		return err
	}
	r.patch = string(data)
	if err := r.refuse[what]; err != nil || r.idle {
		return err
	}
	return send()
}

// reconcile runs one pass.
func (r *rig) reconcile(ctx context.Context) (ctrl.Result, error) {
	return r.driver.Reconcile(ctx, ctrl.Request{NamespacedName: key})
}

// stored is the object as the API server has it.
func (r *rig) stored() *corev1.Pod {
	r.t.Helper()
	var o corev1.Pod
	if err := r.store.Get(r.t.Context(), key, &o); err != nil {
		r.t.Fatalf("reading the object: %v", err)
	}
	return &o
}

// kind implements reconcile.Kind.
type kind struct{ r *rig }

func (kind) New() *corev1.Pod              { return &corev1.Pod{} }
func (kind) Finalizer() string             { return finalizer }
func (kind) Status(o *corev1.Pod) any      { return &o.Status }
func (k kind) Forget(key client.ObjectKey) { k.r.note("forget " + key.String()) }
func (k kind) Begin(ctx context.Context, o *corev1.Pod) (reconcile.Pass, error) {
	k.r.note("begin")
	k.r.object = o
	if k.r.begin != nil {
		return nil, k.r.begin(ctx)
	}
	return pass(k), nil
}

// pass implements reconcile.Pass.
type pass struct{ r *rig }

func (p pass) Decide() chain.Effect {
	switch {
	case p.r.endless:
		return chain.Read
	case p.r.next < len(p.r.steps):
		return p.r.steps[p.r.next].effect
	}
	return chain.Rest
}

func (p pass) Perform(ctx context.Context, k reconcile.Keeper) error {
	if p.r.endless {
		return nil
	}
	s := p.r.steps[p.r.next]
	p.r.next++
	p.r.note(fmt.Sprintf("perform %s", map[chain.Effect]string{
		chain.Read: "read", chain.Write: "write", chain.Apply: "apply", chain.Release: "release",
	}[s.effect]))
	if s.do == nil {
		return nil
	}
	return s.do(ctx, k)
}

func (p pass) Conclude(err error) reconcile.Conclusion {
	p.r.note("conclude")
	p.r.concluded = err
	if p.r.message != "" {
		p.r.object.Status.Message = p.r.message
	}
	return p.r.conclusion
}

// fails is a step that fails so.
func fails(err error) func(context.Context, reconcile.Keeper) error {
	return func(context.Context, reconcile.Keeper) error { return err }
}

// ensures is a step that stores the finalizer and the annotations.
func ensures(annotations map[string]string) func(context.Context, reconcile.Keeper) error {
	return func(ctx context.Context, k reconcile.Keeper) error { return k.EnsureFinalizer(ctx, annotations) }
}
