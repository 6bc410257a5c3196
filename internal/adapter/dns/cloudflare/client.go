// Package cloudflare publishes records in zones at Cloudflare. It implements the ports for DNS.
//
// Cloudflare has no conditions for changes: a batch is carried out as a whole or not at all, and refuses an address or
// CNAME record where one is. What it does not refuse (a second TXT value, a record that was edited) this package
// refuses after a read right before the batch.
package cloudflare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	sdkdns "github.com/cloudflare/cloudflare-go/v6/dns"
	"github.com/cloudflare/cloudflare-go/v6/option"
	sdkzones "github.com/cloudflare/cloudflare-go/v6/zones"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/calls"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const (
	usualURL = "https://api.cloudflare.com/client/v4/"
	// patience is for one call. A page of 5,000 records takes a few seconds.
	patience = 30 * time.Second
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
type DNS struct{ zones *Zones }

// Zones are the zones at Cloudflare that the token is for. It is safe for concurrent use.
type Zones struct {
	config  Config
	records *sdkdns.RecordService
	zones   *sdkzones.ZoneService

	mu    sync.Mutex
	known map[string]zoneInfo
}

var (
	_ port.DNS   = (*DNS)(nil)
	_ port.Zones = (*Zones)(nil)
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
	options := []option.RequestOption{
		option.WithBaseURL(c.BaseURL), option.WithHTTPClient(c.HTTPClient),
		// The caller tries again: of a change whose answer was lost it has to see first what became of it.
		option.WithMaxRetries(0),
		option.WithMiddleware(readAnswer),
	}
	return &DNS{zones: &Zones{
		config: c, records: sdkdns.NewRecordService(options...), zones: sdkzones.NewZoneService(options...), known: map[string]zoneInfo{},
	}}, nil
}

// As implements port.DNS. An account has one identity, its token.
func (d *DNS) As(dns.Access) port.Zones { return d.zones }

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

// errand is all that one question or change takes.
type errand struct {
	*Zones

	passes *calls.Errand
}

func (z *Zones) errand() *errand { return &errand{Zones: z, passes: z.config.Gate.Errand()} }

// call makes one call, and decodes what it answers into a struct of this package: the SDK's types fail where Cloudflare
// adds a type of records, and leave out how many there are.
func (e *errand) call(ctx context.Context, operation string, into any, send func(context.Context, ...option.RequestOption) error) error {
	token := strings.TrimSpace(e.config.Token())
	if token == "" {
		return &fault.Error{Kind: fault.Denied, Operation: operation, Message: "the account has no API token: add one to its Secret"}
	}
	bounded := func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		return classify(operation, send(ctx, option.WithAPIToken(token), option.WithResponseBodyInto(into)))
	}
	return e.passes.Do(ctx, calls.Call{Operation: operation, Changes: operation == opBatch}, bounded)
}
