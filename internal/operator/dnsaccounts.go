package operator

import (
	"cmp"
	"fmt"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/accounts"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/azure"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/cloudflare"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/externaldns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/rfc2136"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cloud"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

// dnsRates are how many calls a second go to a service with one account, and how many at once, unless the account says
// otherwise. Cloudflare allows 1,200 in five minutes for all clients of a user together, and Azure 500 reads in five minutes of
// a subscription, or more: it says when to come back.
var dnsRates = map[dns.Service]cloud.Limit{
	dns.Cloudflare: {Rate: 2, Burst: 100}, dns.Azure: {Rate: 1.5, Burst: 40}, dns.RFC2136: {Rate: 50, Burst: 100},
	dns.ExternalDNS: {Rate: 20, Burst: 100},
}

// DNSAccounts makes the clients of DNS accounts.
type DNSAccounts struct {
	ClusterID string
	// Kube reads and writes DNSEndpoints, past any cache.
	Kube    client.Client
	Metrics *calls.Metrics
	Clock   clock.WithTicker
	// Halted says why nothing may be changed, nil while it may.
	Halted func() *chain.Halt
}

// Open makes the client of an account, without a call.
func (d DNSAccounts) Open(a accounts.Account) (port.DNS, error) {
	gate := d.gate(a)
	switch a.Provider {
	case dns.Cloudflare:
		return d.cloudflare(a, gate)
	case dns.Azure:
		return d.azure(a, gate)
	case dns.RFC2136:
		return d.rfc2136(a, gate)
	case dns.ExternalDNS:
		return d.externalDNS(a, gate)
	case dns.Route53:
	}
	return nil, fmt.Errorf("the DNS provider %s needs no account", a.Provider)
}

func (d DNSAccounts) gate(a accounts.Account) *calls.Gate {
	limit := dnsRates[a.Provider]
	if a.Rate > 0 {
		limit.Rate = a.Rate
	}
	if a.Burst > 0 {
		limit.Burst = a.Burst
	}
	return calls.New(calls.Config{
		Provider: dns.Provider{Service: a.Provider, Account: a.Name}, Rate: limit.Rate, Burst: limit.Burst,
		Clock: d.Clock, Metrics: d.Metrics, Halted: d.Halted,
	})
}

// dnsProviders are Route 53 and the accounts, as they are now.
func dnsProviders(route53 port.DNS, all *accounts.Accounts) func() zone.Providers {
	return func() zone.Providers {
		out := zone.Providers{{}: route53}
		for name, entry := range all.All() {
			out[name] = entry.DNS
			if entry.Err != nil {
				out[name] = zone.Refusing(&fault.Error{
					Kind: fault.Invalid, Operation: "spec.dns", Message: fmt.Sprintf("the account %s is not valid: %s", name, entry.Err),
				})
			}
		}
		return out
	}
}

// addDNSAccounts follows the file of accounts.
func addDNSAccounts(mgr ctrl.Manager, c config.Config, env *environment, onChange func()) (*accounts.Accounts, error) {
	metrics, err := calls.NewMetrics(ctrlmetrics.Registry)
	if err != nil {
		return nil, err
	}
	wall, log := clock.RealClock{}, ctrl.Log.WithName("dns-accounts")
	opens := DNSAccounts{ClusterID: c.ClusterID, Kube: mgr.GetClient(), Metrics: metrics, Clock: wall, Halted: env.halted}
	all := accounts.New(accounts.Options{
		File: c.DNSAccounts, Open: opens.Open, Clock: wall, OnChange: onChange,
		OnError: func(err error) { log.Error(err, "The DNS accounts stay as they were") },
	})
	if err := mgr.Add(all); err != nil {
		return nil, fmt.Errorf("adding the DNS accounts: %w", err)
	}
	env.gauges.DNSAccounts = all.All
	return all, nil
}

// secret returns what reads a key of the account's Secret for each call, so that a credential can be rotated. A Secret that
// lacks the key makes the account unusable now; later it is an empty credential, which the service refuses.
func secret(a accounts.Account, key string) (func() string, error) {
	if _, err := a.Secret(key); err != nil {
		return nil, err
	}
	return func() string {
		text, _ := a.Secret(key)
		return text
	}, nil
}

func (d DNSAccounts) cloudflare(a accounts.Account, gate *calls.Gate) (port.DNS, error) {
	token, err := secret(a, "token")
	if err != nil {
		return nil, err
	}
	config := cloudflare.Config{Token: token, NameServers: a.NameServers, ClusterID: d.ClusterID, Gate: gate, Clock: d.Clock}
	if a.Cloudflare != nil {
		config.BaseURL = a.Cloudflare.BaseURL
	}
	return cloudflare.New(config)
}

func (d DNSAccounts) rfc2136(a accounts.Account, gate *calls.Gate) (port.DNS, error) {
	key, err := secret(a, "tsigSecret")
	if err != nil {
		return nil, err
	}
	return rfc2136.New(rfc2136.Config{
		Server: a.RFC2136.Server, Secondaries: a.RFC2136.Secondaries, Zones: a.RFC2136.Zones,
		TSIG:      rfc2136.TSIG{Name: a.RFC2136.TSIG.Name, Algorithm: a.RFC2136.TSIG.Algorithm, Secret: key},
		ClusterID: d.ClusterID, Gate: gate, Clock: d.Clock,
	})
}

func (d DNSAccounts) externalDNS(a accounts.Account, gate *calls.Gate) (port.DNS, error) {
	return externaldns.New(externaldns.Config{
		Client: d.Kube, Namespace: a.ExternalDNS.Namespace, Labels: a.ExternalDNS.Labels, Domains: a.ExternalDNS.Domains,
		NameServers: a.NameServers, ClusterID: d.ClusterID, Gate: gate, Clock: d.Clock,
	})
}

func (d DNSAccounts) azure(a accounts.Account, gate *calls.Gate) (port.DNS, error) {
	kind := azure.CredentialKind(cmp.Or(a.Azure.Credential, string(azure.WorkloadIdentity)))
	credential := azure.Credential{Kind: kind, TenantID: a.Azure.TenantID, ClientID: a.Azure.ClientID}
	if kind == azure.ClientSecret {
		var err error
		if credential.Secret, err = secret(a, "clientSecret"); err != nil {
			return nil, err
		}
	}
	cloud := azure.Cloud(a.Azure.Cloud)
	if a.Azure.Cloud == "Public" {
		cloud = azure.Public
	}
	return azure.New(azure.Config{
		SubscriptionID: a.Azure.SubscriptionID, ResourceGroup: a.Azure.ResourceGroup, Credential: credential, Cloud: cloud,
		Endpoint: a.Azure.ResourceManagerEndpoint, Authority: a.Azure.AuthorityHost, Audience: cmp.Or(a.Azure.Audience, a.Azure.ResourceManagerEndpoint),
		NameServers: a.NameServers, ClusterID: d.ClusterID, Gate: gate, Clock: d.Clock,
	})
}
