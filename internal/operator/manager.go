package operator

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/access"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
)

// shutdownTimeout is how long a stopping operator waits for the passes in flight. It is
// above what one pass may take from its last call on, and below the 30 s that Kubernetes
// gives a pod.
const shutdownTimeout = 25 * time.Second

func managerOptions(c config.Config, scheme *runtime.Scheme) ctrl.Options {
	timeout := shutdownTimeout
	o := ctrl.Options{
		Scheme:                        scheme,
		Metrics:                       metricsOptions(c),
		HealthProbeBindAddress:        c.ProbeAddress,
		PprofBindAddress:              c.PprofAddress,
		LeaderElection:                c.LeaderElect,
		LeaderElectionID:              leaderElectionID,
		LeaderElectionNamespace:       c.LeaderElectionNamespace,
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       &timeout,
		Cache:                         cache.Options{DefaultTransform: newSlimmer().slim},
	}
	cacheBudget(c, &o.Cache)
	if len(c.WatchNamespaces) > 0 {
		o.Cache.DefaultNamespaces = map[string]cache.Config{}
		for _, ns := range c.WatchNamespaces {
			o.Cache.DefaultNamespaces[ns] = cache.Config{}
		}
	}
	return o
}

func metricsOptions(c config.Config) metricsserver.Options {
	o := metricsserver.Options{
		BindAddress: c.MetricsAddress, SecureServing: c.MetricsSecure,
		CertDir: c.MetricsCertPath, CertName: c.MetricsCertName, KeyName: c.MetricsCertKey,
	}
	if c.MetricsSecure {
		o.FilterProvider = access.Filter
	}
	if !c.EnableHTTP2 {
		// HTTP/2 has let strangers exhaust servers (CVE-2023-44487); a scraper needs none.
		o.TLSOpts = append(o.TLSOpts, func(t *tls.Config) { t.NextProtos = []string{"http/1.1"} })
	}
	return o
}

// clusterID defaults to the one id that a cluster keeps for its whole life.
func clusterID(ctx context.Context, r client.Reader, given string) (string, error) {
	if given != "" {
		return given, nil
	}
	var ns corev1.Namespace
	if err := r.Get(ctx, client.ObjectKey{Name: "kube-system"}, &ns); err != nil {
		return "", fmt.Errorf("reading the kube-system namespace to get the cluster ID (alternatively, set --cluster-id): %w", err)
	}
	return string(ns.UID), nil
}

func addProbes(mgr ctrl.Manager) error {
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("adding the health check: %w", err)
	}
	synced := func(r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return fmt.Errorf("the cache of Kubernetes objects is not synced yet")
		}
		return nil
	}
	if err := mgr.AddReadyzCheck("cache", synced); err != nil {
		return fmt.Errorf("adding the readiness check: %w", err)
	}
	return nil
}
