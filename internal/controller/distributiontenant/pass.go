package distributiontenant

import (
	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/account"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// pass is one reconcile of one object. It implements reconcile.Pass.
type pass struct {
	*Controller
	object *v1alpha1.DistributionTenant
	in     distributiontenant.Input
	out    distributiontenant.Outcome
	// calls are those of this pass to AWS.
	calls port.Pass
	// granted is what the namespace may have. Nil: everything.
	granted *grant.Grant
	// account is where the tenant is, or will be.
	account account.Place
	// targets are the customer targets that lead to an endpoint.
	targets map[string][]string
}

// look reads: it is a pass that needs to know more, and adds it to the world.
type look struct{ *pass }

// act changes something outside: it is a pass with what stands between it and its first write.
type act struct {
	*pass

	keeper reconcile.Keeper
}
