package operator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
)

// newGrants makes the registry of grants, nil where they are off. Its answers come from the cache.
func newGrants(mgr ctrl.Manager, c config.Config) *grants.Registry {
	// The flag was checked.
	fallback, _ := convert.DefaultGrant(c.Grants.Default)
	kube, labels := mgr.GetClient(), &namespaceLabels{cache: mgr.GetCache()}
	log := ctrl.Log.WithName("grants")
	r := grants.New(grants.Options{
		Mode: grants.Mode(c.Grants.Mode), Default: fallback, Clock: clock.RealClock{},
		Opened: func(context.Context) {
			log.Info("Warning: there are EdgeGrants, and every namespace that none of them selects has the default grant, which may allow more. A namespace that loses its EdgeGrant has it, too. Set grants.default.namespaces to those that need it, or grants.defaultEnabled to false")
		},
		Fell: func(_ context.Context, namespace, from string) {
			log.Info("Warning: a namespace has the default grant now, because its EdgeGrant does not select it any more", "namespace", namespace, "edgeGrant", from)
		},
		Grants:  func(ctx context.Context) ([]grant.Grant, error) { return listGrants(ctx, kube) },
		Labels:  labels.of,
		Objects: func(ctx context.Context) ([]grants.Object, error) { return grantedObjects(ctx, kube, c.Controllers) },
	})
	labels.changed = r.Changed
	return r
}

func listGrants(ctx context.Context, kube client.Reader) ([]grant.Grant, error) {
	var list v1alpha1.EdgeGrantList
	if err := kube.List(ctx, &list); err != nil {
		return nil, err
	}
	return convert.Grants(list.Items), nil
}

// grantedKind is one that grants are asked for, by its controller.
type grantedKind struct {
	controller string
	list       client.ObjectList
	see        func(o runtime.Object) grants.Object
}

// asking is a kind whose lists have objects of the type O.
func asking[O client.Object](controller string, list client.ObjectList, see func(o O) grants.Object) grantedKind {
	return grantedKind{controller, list, func(o runtime.Object) grants.Object {
		return see(o.(O)) //nolint:forcetypeassert // it is in the list
	}}
}

var grantedKinds = []grantedKind{
	asking(config.DistributionTenant, &v1alpha1.DistributionTenantList{}, func(o *v1alpha1.DistributionTenant) grants.Object {
		g := grantedObject(o, v1alpha1.GrantedDistributionTenants, o.Status.Conditions)
		g.Present, g.Account, g.Usage = convert.InAWS(o), convert.RecordedAccount(o, o.Status.ARN), convert.TenantUsage(o)
		g.Unproven = convert.Unproven(o)
		return g
	}),
	asking(config.TenantSource, &v1alpha1.TenantSourceList{}, func(o *v1alpha1.TenantSource) grants.Object {
		g := grantedObject(o, v1alpha1.GrantedTenantSources, o.Status.Conditions)
		g.Present, g.Usage = o.Status.LastPollTime != nil, grant.Usage{Sources: 1}
		return g
	}),
	asking(config.Distribution, &v1alpha1.DistributionList{}, func(o *v1alpha1.Distribution) grants.Object {
		return grantedParent(o, v1alpha1.GrantedDistributionObjects, &o.Status.ResourceStatus)
	}),
	asking(config.ConnectionGroup, &v1alpha1.ConnectionGroupList{}, func(o *v1alpha1.ConnectionGroup) grants.Object {
		return grantedParent(o, v1alpha1.GrantedConnectionGroups, &o.Status.ResourceStatus)
	}),
}

// grantedObjects are the objects of these kinds. Nothing is changed in them, and to copy all tenants costs more than to
// count them.
func grantedObjects(ctx context.Context, kube client.Reader, controllers []string) (out []grants.Object, err error) {
	for _, k := range grantedKinds {
		if !slices.Contains(controllers, k.controller) {
			continue
		}
		list := k.list.DeepCopyObject().(client.ObjectList) //nolint:forcetypeassert // a copy has the same type
		if err := kube.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return nil, err
		}
		if err := meta.EachListItem(list, func(o runtime.Object) error {
			out = append(out, k.see(o))
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// grantedObject is what objects of all kinds have.
func grantedObject(o client.Object, kind v1alpha1.GrantedKind, conditions []metav1.Condition) grants.Object {
	out := grants.Object{Kind: string(kind), Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID()), Refused: convert.NotGranted(conditions)}
	if o.GetDeletionTimestamp().IsZero() {
		out.Asks = func() []grant.Want { return convert.Wants(o) }
	}
	return out
}

func grantedParent(o client.Object, kind v1alpha1.GrantedKind, s *v1alpha1.ResourceStatus) grants.Object {
	g := grantedObject(o, kind, s.Conditions)
	g.Present, g.Account = convert.ParentInAWS(o, s), convert.RecordedAccount(o, s.ARN)
	return g
}

// follow tells of objects of a kind that come, go, or have changed so that it matters.
func follow(ctx context.Context, from cache.Cache, kind client.Object, matters func(before, after client.Object) bool, changed func(client.Object)) error {
	informer, err := from.GetInformer(ctx, kind)
	if err != nil {
		return fmt.Errorf("following %T: %w", kind, err)
	}
	tell := func(o any) {
		if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
			o = gone.Obj
		}
		if object, ok := o.(client.Object); ok {
			changed(object)
		}
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: tell, DeleteFunc: tell,
		UpdateFunc: func(before, after any) {
			a, okA := before.(client.Object)
			b, okB := after.(client.Object)
			if okA && okB && matters(a, b) {
				changed(b)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("following %T: %w", kind, err)
	}
	return nil
}

// namespaceLabels reads the labels of namespaces, and tells the registry of changes. Namespaces are followed from the
// first time on that a grant selects by labels.
type namespaceLabels struct {
	cache   cache.Cache
	changed func(namespaces ...string)

	mu       sync.Mutex
	followed bool
}

func (l *namespaceLabels) of(ctx context.Context, namespace string) (map[string]string, error) {
	ns := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
	if err := l.follow(ctx, ns); err != nil {
		return nil, err
	}
	err := l.cache.Get(ctx, client.ObjectKey{Name: namespace}, ns)
	return ns.Labels, client.IgnoreNotFound(err)
}

func (l *namespaceLabels) follow(ctx context.Context, kind client.Object) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.followed {
		return nil
	}
	differ := func(a, b client.Object) bool { return !maps.Equal(a.GetLabels(), b.GetLabels()) }
	if err := follow(ctx, l.cache, kind, differ, func(o client.Object) { l.changed(o.GetName()) }); err != nil {
		return err
	}
	l.followed = true
	return nil
}
