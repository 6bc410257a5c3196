// Package cloud puts the adapters of AWS together: for each account its clients, limiters, references and inventory.
package cloud

import (
	"context"
	"sync"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/account"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/acm"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/cloudfront"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/keyvaluestore"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/route53"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/servicequotas"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/sts"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Options are what a Cloud is made from.
type Options struct {
	SDK     awssdk.Config
	Metrics *aws.Metrics
	Clock   clock.WithTicker
	// ClusterID is the first part of the external id, AllowedRoles are those that objects may name.
	ClusterID    string
	AllowedRoles identity.RolePatterns
	// The operator's own limits.
	CloudFront, Invalidations, ACM, Route53, STS Limit
	// Halted says why nothing may be changed in AWS, nil while it may. It may be nil itself.
	Halted func() *chain.Halt
	// Sweep is what the inventory of each account is made from, but for its tenants.
	Sweep inventory.Options
	// Accesses are the accounts that grants give access to. Nil: none but the operator's own.
	Accesses func(ctx context.Context) ([]grant.Access, error)
}

// Limit is a number of calls a second, and how many of them may go at once.
type Limit struct {
	Rate  float64
	Burst int
}

// Cloud are the adapters of AWS, as the operator and the worlds of its tests put them together.
type Cloud struct {
	Accounts *account.Registry

	options Options
	// roles are those of grants.
	roles *aws.Roles
	// cloudFront and those after it have a limiter for each account.
	cloudFront, invalidations, certificates, quotas, stores *aws.Limiters
	stsLimiter                                              *aws.Limiter

	mu sync.Mutex
	// onOpen are called with every account but the operator's own before it is used.
	onOpen []func(*account.Account)
}

// quotaLimit is that of Service Quotas, which is read a few times a day.
var quotaLimit = Limit{Rate: 1, Burst: 5}

// storeLimit is that of CloudFront KeyValueStore, for which AWS documents no rate. A call carries up to 50 keys.
var storeLimit = Limit{Rate: 5, Burst: 20}

// New puts the adapters together.
func New(o Options) *Cloud {
	c := &Cloud{options: o}
	c.cloudFront, c.certificates = aws.NewLimiters(c.limits("cloudfront", o.CloudFront)), aws.NewLimiters(c.limits("acm", o.ACM))
	c.quotas = aws.NewLimiters(c.limits("servicequotas", quotaLimit))
	c.stores = aws.NewLimiters(c.limits("keyvaluestore", storeLimit))
	c.invalidations = aws.NewLimiters(c.limits("invalidations", o.Invalidations))
	c.stsLimiter = aws.NewLimiter(c.limits("sts", o.STS))
	c.roles = c.Roles()
	c.Accounts = account.New(account.Options{Own: c.account("", o.SDK), Open: c.open(), Accesses: o.Accesses})
	return c
}

// OnOpen has opened called with every account but the operator's own, before it is used.
func (c *Cloud) OnOpen(opened func(*account.Account)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onOpen = append(c.onOpen, opened)
}

// account makes an account that is reached with the SDK's credentials.
func (c *Cloud) account(id string, sdk awssdk.Config) *account.Account {
	o, limiter := c.options, c.cloudFront.For(id)
	front, requests := cloudfront.New(cloudfront.Config{SDK: sdk, Limiter: limiter, Metrics: o.Metrics}), c.invalidations.For(id)
	certificates := acm.New(acm.Config{SDK: sdk, Limiter: c.certificates.For(id), Metrics: o.Metrics})
	caller := sts.New(sts.Config{SDK: sdk, Limiter: c.stsLimiter, Metrics: o.Metrics})
	sweep := o.Sweep
	sweep.Tenants, sweep.Clock = front, o.Clock
	return &account.Account{
		ID: id, CloudFront: front, Certificates: certificates, Identity: caller, Rate: limiter,
		Quotas:           servicequotas.New(servicequotas.Config{SDK: sdk, Limiter: c.quotas.For(id), Metrics: o.Metrics}),
		Invalidations:    cloudfront.NewInvalidations(front, cloudfront.Config{SDK: sdk, Limiter: requests, Metrics: o.Metrics}),
		InvalidationRate: requests,
		KeyValues:        keyvaluestore.New(keyvaluestore.Config{SDK: sdk, Limiter: c.stores.For(id), Metrics: o.Metrics}),
		References:       inventory.NewReferences(front, certificates, caller, o.Clock), Inventory: inventory.New(sweep),
	}
}

// open returns what makes an account that is reached with the roles of grants. A call is made with the role of the grant
// that the call is for.
func (c *Cloud) open() func(id string) *account.Account {
	return func(id string) *account.Account {
		sdk := c.options.SDK.Copy()
		sdk.Credentials = awssdk.CredentialsProviderFunc(func(ctx context.Context) (awssdk.Credentials, error) {
			access, err := c.Accounts.Access(ctx, id, port.CallOf(ctx).Grant)
			if err != nil {
				return awssdk.Credentials{}, err
			}
			return c.roles.Credentials(access.RoleARN, identity.OfGrant(access.Grant)).Retrieve(ctx)
		})
		a := c.account(id, sdk)
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, opened := range c.onOpen {
			opened(a)
		}
		return a
	}
}

// RoleRefused says why AWS refuses the role of a grant: as far as is known or, if it asks, after a call.
func (c *Cloud) RoleRefused(ctx context.Context, access grant.Access, asks bool) error {
	subject := identity.OfGrant(access.Grant)
	if !asks {
		return c.roles.Refusal(access.RoleARN, subject)
	}
	_, err := c.roles.Credentials(access.RoleARN, subject).Retrieve(ctx)
	return err
}

func (c *Cloud) limits(api string, l Limit) aws.LimiterConfig {
	return aws.LimiterConfig{API: api, Rate: l.Rate, Burst: l.Burst, Clock: c.options.Clock, Metrics: c.options.Metrics, Halted: c.options.Halted}
}

// Roles are the credentials of the roles that are assumed.
func (c *Cloud) Roles() *aws.Roles {
	o := c.options
	return aws.NewRoles(aws.RolesConfig{
		SDK: o.SDK, ClusterID: o.ClusterID, Allowed: o.AllowedRoles, Limiter: c.stsLimiter, Metrics: o.Metrics, Clock: o.Clock,
	})
}

// Route53 is the DNS service that needs no account: it has the credentials of AWS.
func (c *Cloud) Route53() port.DNS {
	o := c.options
	return route53.New(route53.Config{
		SDK: o.SDK, Roles: c.Roles(), Limiters: aws.NewLimiters(c.limits("route53", o.Route53)), Metrics: o.Metrics, Clock: o.Clock,
	})
}
