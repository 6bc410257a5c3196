// Package route53 speaks to Route 53, with the operator's own identity and with roles that it
// assumes. It implements the ports for DNS.
package route53

import (
	"sync"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/route53"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Config is what a DNS is made of.
type Config struct {
	// SDK has the operator's own credentials, the endpoint and the HTTP client.
	SDK awssdk.Config
	// Roles has the credentials of the others.
	Roles *aws.Roles
	// Limiters are those of Route 53, one for each account.
	Limiters *aws.Limiters
	Metrics  *aws.Metrics
	Clock    clock.PassiveClock
}

// DNS is Route 53 under different identities. It is safe for concurrent use.
type DNS struct {
	config Config

	mu         sync.Mutex
	byAccess   map[dns.Access]*Zones
	allowances map[string]*allowance
}

// Zones is Route 53 as one identity sees it. It is safe for concurrent use.
type Zones struct {
	api *sdk.Client
	// read and write are the options of calls that are, and are not, tried again.
	read, write func(*sdk.Options)
	allowance   *allowance
}

var (
	_ port.DNS   = (*DNS)(nil)
	_ port.Zones = (*Zones)(nil)
)

// New returns Route 53. It makes no call.
func New(c Config) *DNS {
	return &DNS{config: c, byAccess: map[dns.Access]*Zones{}, allowances: map[string]*allowance{}}
}

// As implements port.DNS. The clients of one account share its limits.
func (d *DNS) As(access dns.Access) port.Zones {
	if access.RoleARN == "" {
		access.Namespace = ""
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	known, ok := d.byAccess[access]
	if !ok {
		known = d.zones(access)
		d.byAccess[access] = known
	}
	return known
}

// Traits implements port.DNS.
func (d *DNS) Traits() dns.Traits {
	return dns.Traits{
		Batch:    dns.Limits{Records: recordsPerBatch, Characters: charactersPerBatch},
		PageSize: recordsPerPage, ListZones: opListZones, ListRecords: opListRecords,
	}
}

func (d *DNS) zones(access dns.Access) *Zones {
	config := d.config.SDK.Copy()
	if access.RoleARN != "" {
		config.Credentials = d.config.Roles.Credentials(access.RoleARN, identity.OfNamespace(access.Namespace))
	}
	account := resource.AccountOf(access.RoleARN)
	limiter := d.config.Limiters.For(account)
	if d.allowances[account] == nil {
		d.allowances[account] = newAllowance(d.config.Clock)
	}
	readRetryer, noRetryer := aws.RetryRead(limiter), aws.NoRetry()
	return &Zones{
		api: sdk.NewFromConfig(config, func(o *sdk.Options) {
			// With an endpoint of its own the SDK would sign for the configured region, which a
			// proxy in front of Route 53 can't pass on.
			o.Region = aws.GlobalRegion
			o.APIOptions = append(o.APIOptions, aws.Instrument(limiter, d.config.Metrics)...)
			o.APIOptions = append(o.APIOptions, aws.RefusePages())
		}),
		read:      func(o *sdk.Options) { o.Retryer = readRetryer },
		write:     func(o *sdk.Options) { o.Retryer = noRetryer },
		allowance: d.allowances[account],
	}
}
