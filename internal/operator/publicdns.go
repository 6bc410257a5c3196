package operator

import (
	"context"
	"fmt"
	"math/rand/v2"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/publicdns"
)

// addWatcher adds the worker that looks where the domains of customers lead. Without DNS servers there is none, as with
// --watch-domains=false.
func addWatcher(mgr ctrl.Manager, c config.Config, wake func(context.Context, ...types.NamespacedName)) (*publicdns.Watcher, error) {
	guide, err := c.Guide()
	if err != nil {
		ctrl.Log.WithName("publicdns").Error(err, "The domains of customers are not looked up in public DNS. Set --dns-resolvers, or --watch-domains=false")
	}
	if guide == nil {
		return nil, nil // a nil one watches nothing
	}
	questions, err := metrics.NewPublicDNS(ctrlmetrics.Registry)
	if err != nil {
		return nil, err
	}
	watcher := publicdns.New(publicdns.Options{
		Guide: guide.Counting(questions.Asked), Clock: clock.RealClock{}, Random: rand.Float64,
		OnChange: func(ctx context.Context, owners []types.NamespacedName) { wake(ctx, owners...) },
	})
	if err := mgr.Add(watcher); err != nil {
		return nil, fmt.Errorf("adding the watcher of domains: %w", err)
	}
	return watcher, nil
}
