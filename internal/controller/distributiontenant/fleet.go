package distributiontenant

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	domain "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/rollout"
)

// Fleet tells the order of changes what the cache knows of the objects and of their sources.
type Fleet struct {
	Client   client.Reader
	Clock    clock.PassiveClock
	Defaults convert.Defaults
	// Sources says that there are TenantSources, which may be read.
	Sources bool
}

// Known is an Options.Fleet of the order. Where the cache can't be read, nothing is known: more tenants then wait for
// their turn.
func (f Fleet) Known(ctx context.Context, source string, changes []resource.Difference) (out []domain.Known) {
	var list v1alpha1.DistributionTenantList
	if err := f.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Can't list the distribution tenants for the order of changes")
		return nil
	}
	byUID := f.sources(ctx)
	for n := range list.Items {
		o := &list.Items[n]
		of := byUID[convert.SourceUID(o.Labels)]
		if of.name() != source {
			continue
		}
		if k, has := convert.Known(o, f.Defaults, changes, f.Clock.Now()); has {
			out = append(out, k)
		} else if k, opens := convert.OpenCanary(o, of.Canaries); opens {
			out = append(out, k)
		}
	}
	return out
}

// sourceOf is a source with a rollout; the zero value stands for the objects without one.
type sourceOf struct{ rollout.Source }

func (s sourceOf) name() string {
	if s.Key.Name == "" {
		return ""
	}
	return s.Key.String()
}

// sources are those with a rollout, by their UID.
func (f Fleet) sources(ctx context.Context) map[string]sourceOf {
	out := map[string]sourceOf{}
	if !f.Sources {
		return out
	}
	var list v1alpha1.TenantSourceList
	if err := f.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Can't list the tenant sources for the order of changes")
		return out
	}
	for n := range list.Items {
		o := &list.Items[n]
		if limits, canaries, has := convert.SourceLimits(o); has {
			out[string(o.UID)] = sourceOf{rollout.Source{Key: client.ObjectKeyFromObject(o), Limits: limits, Canaries: canaries}}
		}
	}
	return out
}

// SourceOf is an Options.SourceOf of the order.
func (f Fleet) SourceOf(ctx context.Context, labels map[string]string) (rollout.Source, bool) {
	uid := convert.SourceUID(labels)
	if uid == "" {
		return rollout.Source{}, false
	}
	s, has := f.sources(ctx)[uid]
	return s.Source, has
}

// Source is an Options.Source of the order.
func (f Fleet) Source(ctx context.Context, key types.NamespacedName) (rollout.Source, bool) {
	for _, s := range f.sources(ctx) {
		if s.Key == key {
			return s.Source, true
		}
	}
	return rollout.Source{}, false
}
