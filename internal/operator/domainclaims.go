package operator

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/domainclaim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/claims"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
)

// addDomainClaims adds the registry of who has which domain, unless there is none to be.
func addDomainClaims(ctx context.Context, mgr ctrl.Manager, c config.Config, env *environment) error {
	if !c.JudgesDomains() {
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
	for _, k := range keys {
		if wake := env.claimants[k.Kind]; wake != nil {
			wake(ctx, types.NamespacedName{Namespace: k.Namespace, Name: k.Name})
		}
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
