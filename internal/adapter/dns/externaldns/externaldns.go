// Package externaldns hands records to ExternalDNS, as DNSEndpoint objects in the cluster that it publishes at whatever
// service it is configured for. It implements the ports for DNS.
//
// Each name has an object of its own. To delete its records the object is emptied first, and deleted once the name servers
// show the records no more: an operator that starts in between finds it, and waits as well.
package externaldns

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	wire "github.com/miekg/dns"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/kubename"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Config is what a DNS is made of.
type Config struct {
	// Client reads and writes DNSEndpoints, past any cache.
	Client client.Client
	// Namespace has the DNSEndpoints.
	Namespace string
	// Labels are what else they have, for an ExternalDNS that takes only some.
	Labels map[string]string
	// Domains are the names of the zones.
	Domains []string
	// NameServers are those of the zones, each a host with a port. They are asked what is in effect.
	NameServers []string
	// ClusterID is the operator's, to tell its objects from those that a backup has brought from another cluster.
	ClusterID string
	Gate      *calls.Gate
	Clock     clock.PassiveClock
}

// DNS is one account. It is safe for concurrent use.
type DNS struct {
	config  Config
	domains []string

	changes calls.Numbers

	mu sync.Mutex
	// taken are the names, by zone, that were found to have records of others. They are the only ones of others that are in
	// listings: name servers don't tell what they have.
	taken map[string]map[string]bool
}

var (
	_ port.DNS   = (*DNS)(nil)
	_ port.Zones = (*DNS)(nil)
)

// New returns an account. It makes no call.
func New(c Config) (*DNS, error) {
	d := &DNS{config: c, taken: map[string]map[string]bool{}}
	for _, domain := range c.Domains {
		name, err := dns.Canonical(domain)
		if _, ok := wire.IsDomainName(name); err != nil || !ok || name == "." || name == "" {
			return nil, fmt.Errorf("the domain %q is not a domain name", domain)
		}
		d.domains = append(d.domains, name)
	}
	slices.Sort(d.domains)
	d.domains = slices.Compact(d.domains)
	switch {
	case len(d.domains) == 0:
		return nil, errors.New("the account has no domains: name the zones that ExternalDNS publishes records in")
	case len(c.NameServers) == 0:
		return nil, errors.New("the account has no nameServers: name some of the zones' own, as host:port: ExternalDNS does not tell what it has published")
	}
	for key, value := range c.Labels {
		if !kubename.IsQualified(key) || !kubename.IsLabelValue(value) {
			return nil, fmt.Errorf("the label %q=%q is not valid: use a key and a value that Kubernetes takes", key, value)
		}
		if key == labelManagedBy {
			return nil, fmt.Errorf("the label %s is the operator's own: remove it", key)
		}
	}
	return d, nil
}

// As implements port.DNS. An account has one identity.
func (d *DNS) As(dns.Access) port.Zones { return d }

// pageSize is how many objects are listed at once.
const pageSize = 500

// Traits implements port.DNS.
func (d *DNS) Traits() dns.Traits {
	return dns.Traits{
		Batch: dns.Limits{Records: 1, Characters: longestName}, PageSize: pageSize, ListZones: opZone, ListRecords: opList,
		// Even where a service takes a CNAME there: what goes with it is a TXT record, which ExternalDNS never deletes.
		Apex: dns.NoApex, Anonymous: true, Unlisted: true,
	}
}

// longestName is more than the name that a CNAME leads to can have, in quotes.
const longestName = 300
