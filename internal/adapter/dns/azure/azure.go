// Package azure speaks to Azure DNS through Azure Resource Manager. It implements the ports for DNS.
package azure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/dns/armdns"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Cloud names one of Azure's clouds.
type Cloud string

// The clouds.
const (
	Public     Cloud = ""
	China      Cloud = "China"
	Government Cloud = "Government"
)

var clouds = map[Cloud]cloud.Configuration{
	Public: cloud.AzurePublic, China: cloud.AzureChina, Government: cloud.AzureGovernment,
}

// Config is what a DNS is made of.
type Config struct {
	SubscriptionID string
	// ResourceGroup has the zones. Empty: all zones of the subscription.
	ResourceGroup string
	Credential    Credential
	Cloud         Cloud
	// Endpoint and Authority replace the cloud's Resource Manager and Entra ID, in private clouds. Both have to be
	// https. Audience is who tokens for this Resource Manager are for. Empty: that of the cloud.
	Endpoint, Authority, Audience string
	// HTTPClient is the SDK's own if nil.
	HTTPClient *http.Client
	// NameServers are asked whether a change is visible, each a host with a port. Empty: the ones that Azure names for a
	// zone, as the system's resolver finds them.
	NameServers []string
	// ClusterID is in the note that each record has.
	ClusterID string
	Gate      *calls.Gate
	Clock     clock.PassiveClock
}

// DNS is Azure DNS as one account sees it. It is safe for concurrent use.
type DNS struct {
	config  Config
	zones   *armdns.ZonesClient
	records *armdns.RecordSetsClient

	changes calls.Numbers

	mu sync.Mutex
	// servers are the name servers of the zones that were read.
	servers map[string][]string
}

var (
	_ port.DNS   = (*DNS)(nil)
	_ port.Zones = (*DNS)(nil)
)

// New returns the account. It makes no call.
func New(c Config) (*DNS, error) {
	if c.SubscriptionID == "" {
		return nil, errors.New("subscriptionId is empty: set the ID of the subscription that has the zones")
	}
	base, err := c.cloud()
	if err != nil {
		return nil, err
	}
	options := policy.ClientOptions{
		Cloud: base,
		// The worker tries again, and knows what a lost answer may mean.
		Retry: policy.RetryOptions{MaxRetries: -1},
	}
	if c.HTTPClient != nil {
		options.Transport = c.HTTPClient
	}
	token, err := c.Credential.source(options, c.Authority != "")
	if err != nil {
		return nil, err
	}
	// To register the provider would take rights that the operator must not have.
	arms := &arm.ClientOptions{ClientOptions: options, DisableRPRegistration: true}
	zones, records, err := clients(c.SubscriptionID, token, arms)
	if err != nil {
		return nil, err
	}
	return &DNS{config: c, zones: zones, records: records, servers: map[string][]string{}}, nil
}

func clients(subscription string, token azcore.TokenCredential, o *arm.ClientOptions) (*armdns.ZonesClient, *armdns.RecordSetsClient, error) {
	zones, err := armdns.NewZonesClient(subscription, token, o)
	if err != nil {
		return nil, nil, fmt.Errorf("creating a client for zones: %w", err)
	}
	records, err := armdns.NewRecordSetsClient(subscription, token, o)
	if err != nil {
		return nil, nil, fmt.Errorf("creating a client for record sets: %w", err)
	}
	return zones, records, nil
}

// cloud returns where the services are.
func (c Config) cloud() (cloud.Configuration, error) {
	base, known := clouds[c.Cloud]
	if !known {
		return base, fmt.Errorf("cloud %q is not known: use %s or %s, or leave it empty", c.Cloud, China, Government)
	}
	if c.Authority != "" {
		base.ActiveDirectoryAuthorityHost = c.Authority
	}
	if c.Endpoint != "" {
		audience := cmp.Or(c.Audience, base.Services[cloud.ResourceManager].Audience)
		base.Services = map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: {Endpoint: c.Endpoint, Audience: audience}}
	}
	return base, nil
}

// As implements port.DNS. An account has one identity.
func (d *DNS) As(dns.Access) port.Zones { return d }

// Traits implements port.DNS.
func (d *DNS) Traits() dns.Traits {
	list := opListZones
	if d.config.ResourceGroup != "" {
		list = opListZonesOfGroup
	}
	return dns.Traits{
		Batch:    dns.Limits{Records: 1, Characters: longestText},
		PageSize: pageSize, ListZones: list, ListRecords: opListRecords, Apex: dns.NoApex, Stepwise: true,
	}
}

// write makes a call that may change something.
func (d *DNS) write(ctx context.Context, operation string, send func(context.Context) error) error {
	return d.config.Gate.Bounded(ctx, calls.Call{Operation: operation, Changes: true}, classify, send)
}

// read makes a call that changes nothing. It is made twice where the first fails for no reason of ours.
func (d *DNS) read(ctx context.Context, operation string, send func(context.Context) error) error {
	err := d.config.Gate.Bounded(ctx, calls.Call{Operation: operation}, classify, send)
	if fault.Is(err, fault.Transient) && ctx.Err() == nil {
		err = d.config.Gate.Bounded(ctx, calls.Call{Operation: operation}, classify, send)
	}
	return err
}
