package tenantsource

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// createdAt is a resource version that no object has. The API server accepts an apply with it for an object that does
// not exist, and answers 409 when there is one: an apply without it would take over an object that someone else created
// under that name a moment ago.
const createdAt = "1"

// writeOne carries out one change. An object that has changed meanwhile may have been changed by a process that leads since,
// after a newer read of the table.
func (p writing) writeOne(ctx context.Context, c tenantsource.Change) (r outcome) {
	for range tries {
		if r = p.tryWrite(ctx, c); r.version == "" {
			return r
		}
		if err := p.current(ctx); err != nil {
			return outcome{err: err}
		}
		c.Version = r.version
	}
	return r
}

func (p writing) tryWrite(ctx context.Context, c tenantsource.Change) outcome {
	u := p.target.named(c.Name)
	var err error
	if c.Applies() {
		var o mapping.Object
		if o, err = c.Object(); err != nil {
			return outcome{err: err}
		}
		u = p.target.rendered(o, c)
		err = p.target.applyObject(ctx, u, p.target.manager)
	}
	if err == nil && (c.Action == tenantsource.Enable || c.Unmark) {
		// Not before, or a customer whose row is back and says that they are switched off would be served for a moment.
		u, err = p.target.enable(ctx, c)
	}
	r := p.target.outcomeOf(ctx, c, err)
	if r.done && c.Approved {
		r.item = p.approvedChange(c.Name, c.UID, u.GetGeneration())
	}
	return r
}

// rendered is the object as it is applied. The UID and the version make sure that it is the one that was read:
// otherwise labels that a user has removed meanwhile, to release the object, would come back. The finalizer is there
// from the first moment, and in every apply, or the next one would remove it.
func (t target) rendered(o mapping.Object, c tenantsource.Change) *unstructured.Unstructured {
	u := t.named(c.Name)
	if c.Action == tenantsource.Create {
		u.SetResourceVersion(createdAt)
	} else {
		u.SetUID(types.UID(c.UID))
		u.SetResourceVersion(c.Version)
	}
	u.SetFinalizers([]string{v1alpha1.Finalizer})
	labels := map[string]string{}
	maps.Copy(labels, o.Labels)
	maps.Copy(labels, t.labels)
	u.SetLabels(labels)
	annotations := map[string]string{v1alpha1.AnnotationSourceHash: o.Hash()}
	if o.Key != "" {
		annotations[v1alpha1.AnnotationSourceRowKey] = o.Key
	}
	maps.Copy(annotations, o.Annotations)
	u.SetAnnotations(annotations)
	u.Object["spec"] = o.Spec
	return u
}

// enable reverts what disabling did, and nothing else: the fields return to any other owner that sets them, or to their
// defaults.
func (t target) enable(ctx context.Context, c tenantsource.Change) (*unstructured.Unstructured, error) {
	u := t.named(c.Name)
	u.SetUID(types.UID(c.UID))
	return u, t.applyObject(ctx, u, t.disabler)
}

// mark says since when the row of the object is gone. It is taken off by enable, and by disable.
func (t target) mark(ctx context.Context, live *v1alpha1.DistributionTenant) error {
	u := t.named(live.Name)
	u.SetUID(live.UID)
	u.SetResourceVersion(live.ResourceVersion)
	u.SetAnnotations(map[string]string{v1alpha1.AnnotationSourceGone: t.Clock.Now().UTC().Format(time.RFC3339)})
	return t.applyObject(ctx, u, t.disabler)
}

// disable is the other end of enable.
func (t target) disable(ctx context.Context, live *v1alpha1.DistributionTenant) (generation int64, err error) {
	u := t.named(live.Name)
	u.SetUID(live.UID)
	u.SetResourceVersion(live.ResourceVersion)
	u.SetAnnotations(map[string]string{v1alpha1.AnnotationSourceDisabled: v1alpha1.SourceDisabledTrue})
	u.Object["spec"] = map[string]any{"enabled": false}
	err = t.applyObject(ctx, u, t.disabler)
	return u.GetGeneration(), err
}

func (t target) named(name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("DistributionTenant"))
	u.SetNamespace(t.namespace)
	u.SetName(name)
	return u
}

func (t target) applyObject(ctx context.Context, u *unstructured.Unstructured, manager string) error {
	return t.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(manager), client.ForceOwnership)
}

// outcomeOf distinguishes a mistake in the row from a failure of the API server.
func (t target) outcomeOf(ctx context.Context, c tenantsource.Change, err error) outcome {
	if err == nil {
		return outcome{done: true}
	}
	switch answer, message := t.AnswerOf(err); answer {
	case port.Changed:
		return t.meeting(ctx, c)
	case port.Missing:
		return outcome{refused: fmt.Sprintf("the namespace %q does not exist: create it", t.namespace), denied: true}
	case port.KindMissing:
		return outcome{refused: "the cluster has no DistributionTenant CRD: install it again, with the operator's chart or the crds.yaml of its release", denied: true}
	default:
		return refusedOr(err, answer, message)
	}
}

// refusedOr tells a refusal from a failure that may pass.
func refusedOr(err error, answer port.Answer, message string) outcome {
	if answer == port.RefusedOne || answer == port.RefusedAll {
		return outcome{refused: message, denied: answer == port.RefusedAll}
	}
	return outcome{err: err}
}

// meeting finds out which object has the name. An object that the cache did not show yet is no conflict.
func (t target) meeting(ctx context.Context, c tenantsource.Change) outcome {
	var live v1alpha1.DistributionTenant
	err := t.Live.Get(ctx, client.ObjectKey{Namespace: t.namespace, Name: c.Name}, &live)
	if apierrors.IsNotFound(err) {
		return outcome{}
	}
	if err != nil {
		return outcome{err: err}
	}
	switch o := tenantOf(&live, t.labels); {
	case o.Relation == tenantsource.Foreign:
		return outcome{conflict: true, refused: o.Conflict(c.Name)}
	case o.UID == c.UID && !o.Deleting:
		return outcome{version: o.Version}
	}
	return outcome{}
}

// inParallel runs n pieces of work, some at a time, and stops beginning new ones when the time for a pass is up.
// It returns the results of those that were begun, which are the first ones.
func inParallel(ctx context.Context, n int, work func(context.Context, int) outcome) []outcome {
	ctx, cancel := context.WithTimeout(ctx, batchBudget)
	defer cancel()
	results := make([]outcome, n)
	var mu sync.Mutex
	next := 0
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == n || next > 0 && ctx.Err() != nil {
			return 0, false
		}
		next++
		return next - 1, true
	}
	var workers sync.WaitGroup
	for range min(atOnce, n) {
		workers.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				results[i] = work(context.WithoutCancel(ctx), i)
			}
		})
	}
	workers.Wait()
	return results[:next]
}
