// Package cloudflare publishes records in zones at Cloudflare. It implements the ports for DNS.
//
// Cloudflare has no conditions for changes: a batch is carried out as a whole or not at all, and refuses an address or
// CNAME record where one is. This package refuses what Cloudflare does not (a second TXT value, a record that was
// edited), after a read right before the batch.
package cloudflare

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const (
	usualURL = "https://api.cloudflare.com/client/v4/"
	// userAgent tells Cloudflare whose calls these are.
	userAgent = "cloudfront-tenant-operator"
)

// Config is what an account is made of.
type Config struct {
	// Token returns the API token. It is called for each call, so that a token that was replaced is used at once.
	Token func() string
	// BaseURL is where the API is, up to and including its version; empty for Cloudflare's.
	BaseURL string
	// HTTPClient is nil for one of this package's.
	HTTPClient *http.Client
	// NameServers are asked whether a change is in effect, each a host or address with or without a port. Empty for those
	// that Cloudflare assigned to the zone.
	NameServers []string
	// ClusterID is in the note on each record.
	ClusterID string
	Gate      *calls.Gate
	Clock     clock.PassiveClock
}

// DNS is Cloudflare as one API token sees it. It is safe for concurrent use.
type DNS struct {
	config Config

	mu    sync.Mutex
	known map[string]zoneInfo
}

var (
	_ port.DNS   = (*DNS)(nil)
	_ port.Zones = (*DNS)(nil)
)

// New returns an account at Cloudflare. It makes no call.
func New(c Config) (*DNS, error) {
	c.BaseURL = cmp.Or(c.BaseURL, usualURL)
	u, err := url.Parse(c.BaseURL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return nil, fmt.Errorf("%q is not the URL of an API: use one such as %s", c.BaseURL, usualURL)
	}
	if c.Token == nil || c.Gate == nil || c.Clock == nil {
		return nil, errors.New("an account at Cloudflare needs a token, a gate and a clock")
	}
	c.NameServers = slices.Clone(c.NameServers)
	for i, s := range c.NameServers {
		if _, _, err := net.SplitHostPort(s); err != nil {
			c.NameServers[i] = net.JoinHostPort(strings.Trim(s, "[]"), dnsPort)
		}
	}
	if c.HTTPClient == nil {
		c.HTTPClient = &http.Client{}
	}
	c.BaseURL = strings.TrimSuffix(c.BaseURL, "/") + "/"
	return &DNS{config: c, known: map[string]zoneInfo{}}, nil
}

// As implements port.DNS. An account has one identity, its token.
func (d *DNS) As(dns.Access) port.Zones { return d }

// Traits implements port.DNS.
func (d *DNS) Traits() dns.Traits {
	return dns.Traits{
		Batch:    dns.Limits{Records: recordsPerBatch, Characters: charactersPerBatch},
		PageSize: recordsPerPage, ListZones: opListZones, ListRecords: opListRecords,
		Apex: dns.FlattenedApex,
	}
}

// The operations.
const (
	opListZones   = "ListZones"
	opGetZone     = "GetZone"
	opListRecords = "ListRecords"
	opBatch       = "BatchRecords"
)

// request is a call of the API. The body is JSON; without one the method is GET.
type request struct {
	path  string
	query url.Values
	body  any
}

// call makes one call, and decodes what it answers. There is no second try here: of a change whose answer was lost, the
// caller has to see first what became of it.
//
// The SDK is not used: its decoder embeds reflect.Type, so that the linker keeps every method of every type in the
// operator, which then is half as large again.
func (d *DNS) call(ctx context.Context, operation string, r request, into any) error {
	token := strings.TrimSpace(d.config.Token())
	if token == "" {
		return fault.New(fault.Denied, operation, "the account has no API token: add one to its Secret")
	}
	return d.config.Gate.Bounded(ctx, calls.Call{Operation: operation, Changes: operation == opBatch}, classify, func(ctx context.Context) error {
		return d.send(ctx, token, r, into)
	})
}

func (d *DNS) send(ctx context.Context, token string, r request, into any) error {
	out, err := r.build(ctx, d.config.BaseURL)
	if err != nil {
		return err
	}
	out.Header.Set("Authorization", "Bearer "+token)
	answer, err := d.config.HTTPClient.Do(out)
	if err != nil {
		return fmt.Errorf("sending the request: %w", err)
	}
	return readAnswer(answer, into)
}

func (r request) build(ctx context.Context, base string) (*http.Request, error) {
	method, body := http.MethodGet, []byte(nil)
	if r.body != nil {
		var err error
		if body, err = json.Marshal(r.body); err != nil {
			return nil, fmt.Errorf("encoding the request: %w", err)
		}
		method = http.MethodPost
	}
	out, err := http.NewRequestWithContext(ctx, method, base+r.path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("creating the request: %w", err)
	}
	out.URL.RawQuery = r.query.Encode()
	out.Header.Set("Accept", "application/json")
	out.Header.Set("User-Agent", userAgent)
	if r.body != nil {
		out.Header.Set("Content-Type", "application/json")
	}
	return out, nil
}
