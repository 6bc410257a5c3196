package operator

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/domainclaim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/claims"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
)

// DomainClaims says whether it is judged who may have a domain, and how long it is held after its release.
type DomainClaims struct {
	Enabled            bool
	Hold, HoldCustomer time.Duration
}

func (c *Config) bindDomainClaims(f *flag.FlagSet) {
	d := &c.DomainClaims
	f.BoolVar(&d.Enabled, "domain-claims", true, "Let only one namespace have a domain, with the wildcards that cover it, and hold it for this namespace for a while after its release. Needs the CRD of DomainClaim.")
	f.DurationVar(&d.Hold, "domain-hold", 72*time.Hour, "Time for which a released domain is held for its namespace, if its DNS records are published by the operator. 0: not held.")
	f.DurationVar(&d.HoldCustomer, "domain-hold-customer", 720*time.Hour, "Time for which a released domain is held for its namespace, if the object has no spec.dns: the customer's record may point to CloudFront for longer. 0: not held.")
}

func (c *Config) validateDomainClaims() error {
	switch d := c.DomainClaims; {
	case d.Hold < 0:
		return fmt.Errorf("--domain-hold=%s: use a time that is not negative", d.Hold)
	case d.HoldCustomer < 0:
		return fmt.Errorf("--domain-hold-customer=%s: use a time that is not negative", d.HoldCustomer)
	}
	return nil
}

// claims reports whether domains are judged: a controller of objects that have some runs.
func (c Config) claims() bool {
	return c.DomainClaims.Enabled && (slices.Contains(c.Controllers, config.DistributionTenant) || slices.Contains(c.Controllers, config.Distribution))
}

// addDomainClaims adds the registry of who has which domain, unless there is none to be.
func addDomainClaims(ctx context.Context, mgr ctrl.Manager, c Config, env *environment) error {
	if !c.claims() {
		return nil
	}
	log := ctrl.Log.WithName("claims")
	_, err := mgr.GetRESTMapper().RESTMapping(v1alpha1.SchemeGroupVersion.WithKind("DomainClaim").GroupKind(), v1alpha1.SchemeGroupVersion.Version)
	if meta.IsNoMatchError(err) {
		log.Error(errors.New("the CustomResourceDefinition domainclaims.cloudfront-tenant-operator.io is not installed"),
			"--domain-claims has no effect: any namespace may have any domain. Install the CRD and restart the operator")
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking for the kind DomainClaim: %w", err)
	}
	informer, err := mgr.GetCache().GetInformer(ctx, &v1alpha1.DomainClaim{})
	if err != nil {
		return fmt.Errorf("watching the DomainClaims: %w", err)
	}
	synced := make(chan toolscache.ResourceEventHandlerRegistration, 1)
	r := claims.New(claims.Options{
		Store: domainclaim.Store{Client: mgr.GetClient(), Live: mgr.GetAPIReader()}, Clock: clock.RealClock{},
		Hold: c.DomainClaims.Hold, HoldCustomer: c.DomainClaims.HoldCustomer, Wake: func(keys ...claim.Key) { env.wakeClaimants(ctx, keys) },
		Synced: func(ctx context.Context) error {
			handler := <-synced
			synced <- handler
			if !toolscache.WaitForCacheSync(ctx.Done(), handler.HasSynced) {
				return errors.New("the DomainClaims could not be read")
			}
			return nil
		},
		Failed: func(err error) { log.Error(err, "A DomainClaim could not be kept. The operator tries again") },
	})
	handler, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { told(o, r.Changed) }, UpdateFunc: func(_, o any) { told(o, r.Changed) },
		DeleteFunc: func(o any) { told(o, r.Gone) },
	})
	if err != nil {
		return fmt.Errorf("watching the DomainClaims: %w", err)
	}
	synced <- handler
	if err := mgr.Add(r); err != nil {
		return fmt.Errorf("adding the keeper of the DomainClaims: %w", err)
	}
	env.domains = r
	return nil
}

// wakeClaimants queues objects, each with the controller of its kind.
func (env *environment) wakeClaimants(ctx context.Context, keys []claim.Key) {
	for kind, wake := range env.claimants {
		wake(ctx, slices.DeleteFunc(slices.Clone(keys), func(k claim.Key) bool { return k.Kind != kind }))
	}
}

// told hands on the claim that an event is about.
func told(o any, to func(claim.Claim)) {
	if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
		o = gone.Obj
	}
	if c, ok := o.(*v1alpha1.DomainClaim); ok {
		to(domainclaim.Of(c))
	}
}
