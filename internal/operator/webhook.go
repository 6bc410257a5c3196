package operator

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/resolver"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/advice"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/webhook"
)

// webhookSuffix ends the names of the webhook's Service and Secret.
const webhookSuffix = "-webhook"

// Webhook is how the admission webhook is served.
type Webhook struct {
	Address string
	Name    string
	Deny    List
	DNS     List
}

func (w Webhook) enabled() bool { return w.Address != "" && w.Address != "0" }

// denies are the checks that refuse.
func (w Webhook) denies() []advice.Check {
	var out []advice.Check
	for _, name := range w.Deny {
		out = append(out, advice.Check(name))
	}
	return out
}

func (c *Config) bindWebhook(f *flag.FlagSet) {
	f.StringVar(&c.Webhook.Address, "webhook-bind-address", "", "Address of the admission webhook for DistributionTenant objects, for example :9443. Empty: no webhook.")
	f.StringVar(&c.Webhook.Name, "webhook-name", "cloudfront-tenant-operator",
		"Name of the ValidatingWebhookConfiguration. The webhook's Service and its Secret, in the operator's own namespace, have this name followed by -webhook.")
	f.Var(&c.Webhook.Deny, "webhook-deny", "Comma-separated list of the webhook's checks that reject an object instead of warning: "+checkNames()+". Empty: none.")
	f.Var(&c.Webhook.DNS, "webhook-dns",
		"Comma-separated list of DNS servers (host:port) that the webhook asks where the domains of an object lead, three domains and 1.5 seconds at most. Empty: no check.")
}

func checkNames() string {
	var names []string
	for _, c := range advice.Checks {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

func (c *Config) validateWebhook() error {
	for _, name := range c.Webhook.Deny {
		if !slices.Contains(advice.Checks, advice.Check(name)) {
			return fmt.Errorf("--webhook-deny=%s: there is no check %q; use %s", c.Webhook.Deny.String(), name, checkNames())
		}
	}
	if len(c.Webhook.DNS) > 0 {
		if _, err := resolver.New(c.Webhook.DNS); err != nil {
			return fmt.Errorf("--webhook-dns: %w", err)
		}
	}
	if !c.Webhook.enabled() {
		return nil
	}
	if problems := validation.IsDNS1035Label(c.Webhook.Name + webhookSuffix); len(problems) > 0 {
		return fmt.Errorf("--webhook-name=%s: %q is not a valid name for a Service: %s", c.Webhook.Name, c.Webhook.Name+webhookSuffix, strings.Join(problems, "; "))
	}
	if !slices.Contains(c.Controllers, config.DistributionTenant) {
		return fmt.Errorf("--webhook-bind-address needs the controller %s: add it to --controllers, or leave the webhook out", config.DistributionTenant)
	}
	return nil
}

// webhookNamespace is where the Service and the Secret are.
func (c Config) webhookNamespace() string {
	if own := ownNamespace(); own != "" {
		return own
	}
	return c.LeaderElectionNamespace
}

// addWebhook serves the webhook in every replica, and renews its certificate in the leader.
func (c Config) addWebhook(ctx context.Context, mgr ctrl.Manager, env *environment) error {
	if !c.Webhook.enabled() {
		return nil
	}
	namespace := c.webhookNamespace()
	if namespace == "" {
		return fmt.Errorf("--webhook-bind-address needs a namespace for its Secret: set --leader-election-namespace, or run the operator in a pod")
	}
	handler, err := c.webhookHandler(ctx, mgr, env)
	if err != nil {
		return err
	}
	keeper := webhook.NewKeeper(webhook.KeeperOptions{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Clock: clock.RealClock{}, Elected: mgr.Elected(),
		Secret: client.ObjectKey{Namespace: namespace, Name: c.Webhook.Name + webhookSuffix}, Configuration: c.Webhook.Name,
		Host: fmt.Sprintf("%s%s.%s.svc", c.Webhook.Name, webhookSuffix, namespace),
	})
	if err := mgr.Add(keeper); err != nil {
		return fmt.Errorf("adding the certificate of the webhook: %w", err)
	}
	server, err := c.webhookServer(keeper)
	if err != nil {
		return err
	}
	server.Register(webhook.Path, &admission.Webhook{Handler: handler})
	if err := mgr.Add(server); err != nil {
		return fmt.Errorf("adding the webhook: %w", err)
	}
	return nil
}

func (c Config) webhookServer(keeper *webhook.Keeper) (ctrlwebhook.Server, error) {
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

// ungranted says why the namespace may not have what the object asks for. What can't be read is not said.
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

func (c Config) webhookHandler(ctx context.Context, mgr ctrl.Manager, env *environment) (*webhook.Handler, error) {
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
		Deny:      c.Webhook.denies(), Self: self(ctx, kube), Observer: observer,
	}
	if c.DomainClaims.Enabled {
		// Without the rights for claims each lookup would wait in vain.
		o.Claims = mgr.GetCache()
	}
	if len(c.Webhook.DNS) > 0 {
		if o.DNS, err = resolver.New(c.Webhook.DNS); err != nil {
			return nil, err
		}
	}
	return webhook.New(o), nil
}
