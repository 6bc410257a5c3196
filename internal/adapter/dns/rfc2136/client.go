// Package rfc2136 speaks to a primary name server that takes dynamic updates (RFC 2136) signed with a shared key (TSIG,
// RFC 8945), such as BIND. Zones are listed by transfer, and a batch is one message with prerequisites: the server carries
// out all of it or none. It implements the ports for DNS.
package rfc2136

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	wire "github.com/miekg/dns"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Config is what a DNS is made of.
type Config struct {
	// Server is the primary of the zones, as host:port. Everything but the questions of InSync is asked over TCP.
	Server string
	// Secondaries are the name servers that have to have a change before it counts as published, as host:port.
	Secondaries []string
	// Zones are the names of the account's zones.
	Zones []string
	TSIG  TSIG
	// ClusterID is the operator's, for the notes next to records.
	ClusterID string
	Gate      *calls.Gate
	// Clock has the time that messages are signed with.
	Clock clock.PassiveClock
	// DialTimeout is for a connection to be made; 5 s if zero.
	DialTimeout time.Duration
}

// TSIG is the key that messages are signed with.
type TSIG struct {
	// Name is the name of the key as the server knows it.
	Name string
	// Algorithm is one of hmac-sha224, hmac-sha256, hmac-sha384 and hmac-sha512; hmac-sha256 if empty.
	Algorithm string
	// Secret returns what the Secret holds now, in base64.
	Secret func() string
}

// The most that fits well into one message, which has 64 KiB: each record comes with its prerequisites and a note. A batch
// that is too long all the same is refused as Invalid before it is sent, which has it divided.
const (
	recordsPerBatch    = 100
	charactersPerBatch = 16_000
)

// recordsPerTransfer is how many records cost about as much to transfer as a question: a transfer has all of a zone.
const recordsPerTransfer = 10_000

const dialTimeout = 5 * time.Second

// DNS is one account. It is safe for concurrent use.
type DNS struct {
	config Config
	zones  []string
}

var (
	_ port.DNS   = (*DNS)(nil)
	_ port.Zones = (*DNS)(nil)
)

var algorithms = []string{wire.HmacSHA224, wire.HmacSHA256, wire.HmacSHA384, wire.HmacSHA512}

// New returns an account. It makes no call.
func New(c Config) (*DNS, error) {
	d := &DNS{config: c}
	d.config.DialTimeout = cmp.Or(c.DialTimeout, dialTimeout)
	for _, address := range append([]string{c.Server}, c.Secondaries...) {
		host, number, err := net.SplitHostPort(address)
		if err != nil || host == "" || number == "" {
			return nil, fmt.Errorf("the server %q is not a host with a port, for example ns1.example.com:53", address)
		}
	}
	for _, zone := range c.Zones {
		name, err := dns.Canonical(zone)
		if _, ok := wire.IsDomainName(name); err != nil || !ok || name == "." {
			return nil, fmt.Errorf("the zone %q is not a domain name", zone)
		}
		d.zones = append(d.zones, name)
	}
	slices.Sort(d.zones)
	d.zones = slices.Compact(d.zones)
	if len(d.zones) == 0 {
		return nil, errors.New("the account has no zones: name those that its server is the primary of")
	}
	if _, ok := wire.IsDomainName(c.TSIG.Name); !ok || strings.TrimSuffix(c.TSIG.Name, ".") == "" {
		return nil, fmt.Errorf("the name of the TSIG key, %q, is not a domain name", c.TSIG.Name)
	}
	d.config.TSIG.Name = wire.CanonicalName(c.TSIG.Name)
	d.config.TSIG.Algorithm = wire.CanonicalName(cmp.Or(c.TSIG.Algorithm, wire.HmacSHA256))
	if !slices.Contains(algorithms, d.config.TSIG.Algorithm) {
		return nil, fmt.Errorf("the TSIG algorithm %q is not supported: use one of hmac-sha224, hmac-sha256, hmac-sha384, hmac-sha512", c.TSIG.Algorithm)
	}
	if c.TSIG.Secret == nil {
		return nil, errors.New("the TSIG key has no secret")
	}
	return d, nil
}

// As implements port.DNS. An account has one identity.
func (d *DNS) As(dns.Access) port.Zones { return d }

// Traits implements port.DNS.
func (d *DNS) Traits() dns.Traits {
	return dns.Traits{
		Batch:    dns.Limits{Records: recordsPerBatch, Characters: charactersPerBatch},
		PageSize: recordsPerTransfer, ListZones: opZone, ListRecords: opTransfer,
		// Servers know no alias of a name elsewhere, and the addresses of CloudFront change.
		Apex: dns.NoApex,
		// A server may leave a part of a change out.
		Stepwise: true,
	}
}
