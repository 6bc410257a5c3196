package operator

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"

	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/resolver"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/rights"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/webhook"
)

// addWebhook serves the webhook in every replica, and renews its certificate in the leader.
func addWebhook(ctx context.Context, mgr ctrl.Manager, c config.Config, env *environment) error {
	if !c.Webhook.Enabled() {
		return nil
	}
	namespace := c.WebhookNamespace()
	if namespace == "" {
		return fmt.Errorf("--webhook-bind-address needs a namespace for its Secret: set --leader-election-namespace, or run the operator in a pod")
	}
	handler, err := webhookHandler(ctx, mgr, c, env)
	if err != nil {
		return err
	}
	keeper := webhook.NewKeeper(webhook.KeeperOptions{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Clock: clock.RealClock{}, Elected: mgr.Elected(),
		Secret: client.ObjectKey{Namespace: namespace, Name: c.Webhook.ServiceName()}, Configuration: c.Webhook.Name,
		Host: fmt.Sprintf("%s.%s.svc", c.Webhook.ServiceName(), namespace),
	})
	if err := mgr.Add(keeper); err != nil {
		return fmt.Errorf("adding the certificate of the webhook: %w", err)
	}
	server, err := webhookServer(c, keeper)
	if err != nil {
		return err
	}
	server.Register(webhook.Path, webhook.Serve(handler))
	if err := mgr.AddReadyzCheck("webhook", keeper.Ready); err != nil {
		return fmt.Errorf("adding the readiness check of the webhook: %w", err)
	}
	if err := mgr.Add(server); err != nil {
		return fmt.Errorf("adding the webhook: %w", err)
	}
	return nil
}

func webhookServer(c config.Config, keeper *webhook.Keeper) (ctrlwebhook.Server, error) {
	host, port, err := net.SplitHostPort(c.Webhook.Address)
	if err != nil {
		return nil, fmt.Errorf("--webhook-bind-address=%s: %w", c.Webhook.Address, err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return nil, fmt.Errorf("--webhook-bind-address=%s: %w", c.Webhook.Address, err)
	}
	return ctrlwebhook.NewServer(ctrlwebhook.Options{Host: host, Port: number, TLSOpts: []func(*tls.Config){func(t *tls.Config) {
		t.GetCertificate = keeper.GetCertificate
		t.NextProtos = []string{"http/1.1"}
	}}}), nil
}

// ungranted says why the namespace may not have what the object asks for. Nothing is said of what can't be read.
func ungranted(ctx context.Context, r *grants.Registry, o *v1alpha1.DistributionTenant) string {
	v, err := r.Judge(ctx, grants.Asker{Namespace: o.Namespace, Wants: convert.TenantWants(o)})
	if err != nil || v.Refused == nil {
		return ""
	}
	return v.Refused.Message
}

// remembered is what was read of the AWS account of a namespace, nil if nothing was.
func (env *environment) remembered(ctx context.Context, namespace string) *inventory.References {
	granted, err := env.grants.Access(ctx, namespace)
	if err != nil {
		return nil
	}
	return env.Accounts.Known(granted)
}

func webhookHandler(ctx context.Context, mgr ctrl.Manager, c config.Config, env *environment) (*webhook.Handler, error) {
	if err := webhook.Follow(ctx, mgr.GetCache()); err != nil {
		return nil, err
	}
	observer, err := metrics.NewWebhook(ctrlmetrics.Registry)
	if err != nil {
		return nil, err
	}
	kube, err := kubernetes.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	o := webhook.Options{
		Cache: mgr.GetCache(), Scheme: mgr.GetScheme(),
		Distribution: func(ctx context.Context, namespace, id string) (d distributiontenant.Distribution, known bool) {
			if r := env.remembered(ctx, namespace); r != nil {
				return r.KnownDistribution(id)
			}
			return d, false
		},
		Endpoint: func(ctx context.Context, namespace, group string) string {
			if r := env.remembered(ctx, namespace); r != nil {
				return r.KnownEndpoint(group)
			}
			return ""
		},
		Ungranted: func(ctx context.Context, o *v1alpha1.DistributionTenant) string { return ungranted(ctx, env.grants, o) },
		Deny:      c.Webhook.Denies(), Self: rights.Self(ctx, kube), Observer: observer,
	}
	if c.DomainClaims.Enabled {
		// Without the rights for claims each lookup would wait for nothing.
		o.Claims = mgr.GetCache()
	}
	if len(c.Webhook.DNS) > 0 {
		if o.DNS, err = resolver.New(c.Webhook.DNS); err != nil {
			return nil, err
		}
	}
	return webhook.New(o), nil
}
