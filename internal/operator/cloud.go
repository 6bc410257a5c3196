package operator

import (
	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/acm"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/cloudfront"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/route53"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/sts"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

// CloudOptions are what a Cloud is made from.
type CloudOptions struct {
	SDK     awssdk.Config
	Metrics *aws.Metrics
	Clock   clock.Clock
	// ClusterID is the first part of the external id, AllowedRoles are those that objects may name.
	ClusterID    string
	AllowedRoles identity.RolePatterns
	// The operator's own limits.
	CloudFront, ACM, Route53, STS Limit
	// Halted says why nothing may be changed in AWS, nil while it may. It may be nil itself.
	Halted func() *chain.Halt
}

// Limit is a number of calls a second, and how many of them may go at once.
type Limit struct {
	Rate  float64
	Burst int
}

// Cloud are the adapters of AWS, as the operator and the worlds of its tests put them together.
type Cloud struct {
	CloudFront   *cloudfront.Client
	Certificates *acm.Client
	Caller       *sts.Client
	References   *inventory.References
	// Budget is that of the calls to CloudFront.
	Budget *aws.Limiter

	options    CloudOptions
	stsLimiter *aws.Limiter
}

// NewCloud puts the adapters together.
func NewCloud(o CloudOptions) *Cloud {
	c := &Cloud{options: o}
	c.Budget, c.stsLimiter = aws.NewLimiter(c.limits("cloudfront", o.CloudFront)), aws.NewLimiter(c.limits("sts", o.STS))
	c.CloudFront = cloudfront.New(cloudfront.Config{SDK: o.SDK, Limiter: c.Budget, Metrics: o.Metrics})
	c.Certificates = acm.New(acm.Config{SDK: o.SDK, Limiter: aws.NewLimiter(c.limits("acm", o.ACM)), Metrics: o.Metrics})
	c.Caller = sts.New(sts.Config{SDK: o.SDK, Limiter: c.stsLimiter, Metrics: o.Metrics})
	c.References = inventory.NewReferences(c.CloudFront, c.Certificates, c.Caller, o.Clock)
	return c
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

// DNSProviders are the DNS services that spec.dns.provider can name: a new one is its adapter and a line here. Status
// has to tell the records of two services apart before there is a second one: today what is stored there is Route 53's.
func (c *Cloud) DNSProviders() zone.Providers {
	o := c.options
	return zone.Providers{
		dns.Route53: route53.New(route53.Config{
			SDK: o.SDK, Roles: c.Roles(), Limiters: aws.NewLimiters(c.limits("route53", o.Route53)), Metrics: o.Metrics, Clock: o.Clock,
		}),
	}
}
