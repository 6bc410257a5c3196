// Package azuredns_test shows that the simulator speaks what the real SDK speaks, and refuses what Azure refuses.
package azuredns_test

import (
	"errors"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/dns/armdns"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/azuredns"
)

const (
	group  = "DNS-Group"
	zone   = "test.example"
	client = "33333333-3333-3333-3333-333333333333"
	secret = "right"
)

var subscriptionScope = "/subscriptions/" + sim.DefaultSubscription

// fixedClock is a clock that tests move.
type fixedClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *fixedClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fixedClock) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// world is a simulator behind a real socket, with the clients of the real SDK.
type world struct {
	*sim.Sim
	clock   *fixedClock
	server  *httptest.Server
	options policy.ClientOptions
}

func newWorld(t *testing.T, change ...func(*sim.Options)) *world {
	t.Helper()
	clock := &fixedClock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	options := sim.Options{
		Clock:      clock,
		Principals: []sim.Principal{{ClientID: client, Secret: secret, Grants: []sim.Grant{{Role: sim.DNSZoneContributor, Scope: subscriptionScope}}}},
		Zones:      []sim.Zone{{ResourceGroup: group, Name: zone}, {ResourceGroup: group, Name: "private.example", Private: true}},
	}
	for _, c := range change {
		c(&options)
	}
	w := &world{Sim: sim.New(options), clock: clock}
	w.server = httptest.NewTLSServer(w.Sim)
	t.Cleanup(w.server.Close)
	w.options = policy.ClientOptions{
		Cloud: cloud.Configuration{
			ActiveDirectoryAuthorityHost: w.server.URL,
			Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
				cloud.ResourceManager: {Endpoint: w.server.URL, Audience: "https://management.core.windows.net/"},
			},
		},
		Transport: w.server.Client(), Retry: policy.RetryOptions{MaxRetries: -1},
	}
	return w
}

func (w *world) credential(t *testing.T, clientID, secret string) azcore.TokenCredential {
	t.Helper()
	c, err := azidentity.NewClientSecretCredential(sim.DefaultTenant, clientID, secret,
		&azidentity.ClientSecretCredentialOptions{ClientOptions: w.options, DisableInstanceDiscovery: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// records is a client for record sets, as the principal of all tests.
func (w *world) records(t *testing.T) *armdns.RecordSetsClient {
	t.Helper()
	c, err := armdns.NewRecordSetsClient(sim.DefaultSubscription, w.credential(t, client, secret), &arm.ClientOptions{ClientOptions: w.options, DisableRPRegistration: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (w *world) zones(t *testing.T, subscription string) *armdns.ZonesClient {
	t.Helper()
	c, err := armdns.NewZonesClient(subscription, w.credential(t, client, secret), &arm.ClientOptions{ClientOptions: w.options, DisableRPRegistration: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// put writes a set, with the conditions of HTTP if there are any.
func (w *world) put(t *testing.T, name string, kind armdns.RecordType, p *armdns.RecordSetProperties, match, noneMatch string) (string, error) {
	t.Helper()
	o := &armdns.RecordSetsClientCreateOrUpdateOptions{}
	if match != "" {
		o.IfMatch = &match
	}
	if noneMatch != "" {
		o.IfNoneMatch = &noneMatch
	}
	out, err := w.records(t).CreateOrUpdate(t.Context(), group, zone, name, kind, armdns.RecordSet{Properties: p}, o)
	if err != nil {
		return "", err
	}
	return *out.Etag, nil
}

func (w *world) remove(t *testing.T, name string, kind armdns.RecordType, match string) error {
	t.Helper()
	_, err := w.records(t).Delete(t.Context(), group, zone, name, kind, &armdns.RecordSetsClientDeleteOptions{IfMatch: &match})
	return err
}

func cname(target string) *armdns.RecordSetProperties {
	return &armdns.RecordSetProperties{TTL: to.Ptr[int64](300), CnameRecord: &armdns.CnameRecord{Cname: &target}}
}

func address(values ...string) *armdns.RecordSetProperties {
	p := &armdns.RecordSetProperties{TTL: to.Ptr[int64](300)}
	for _, v := range values {
		p.ARecords = append(p.ARecords, &armdns.ARecord{IPv4Address: &v})
	}
	return p
}

func text(texts ...string) *armdns.RecordSetProperties {
	return &armdns.RecordSetProperties{TTL: to.Ptr[int64](300), TxtRecords: []*armdns.TxtRecord{{Value: to.SliceOfPtrs(texts...)}}}
}

// refused checks the status and the code of an error.
func refused(t *testing.T, err error, status int, code string) {
	t.Helper()
	var answer *azcore.ResponseError
	if !errors.As(err, &answer) || answer.StatusCode != status || answer.ErrorCode != code {
		t.Errorf("error %v, want %d %s", err, status, code)
	}
}
