package cloudfront_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/cloudfront"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/canned"
)

// operation is one method of the client, called on the tenant o.
type operation struct {
	name string
	call func(ctx context.Context, c *cloudfront.Client, o distributiontenant.Observed) error
}

var writes = []operation{
	{"CreateDistributionTenant", func(ctx context.Context, c *cloudfront.Client, _ distributiontenant.Observed) error {
		_, err := c.CreateTenant(ctx, tenant("second"), nil, nil)
		return err
	}},
	{"UpdateDistributionTenant", func(ctx context.Context, c *cloudfront.Client, o distributiontenant.Observed) error {
		_, err := c.UpdateTenant(ctx, o, full("shop"), nil)
		return err
	}},
	{"UpdateDistributionTenant", func(ctx context.Context, c *cloudfront.Client, o distributiontenant.Observed) error {
		_, err := c.DisableTenant(ctx, o.ID, o.ETag)
		return err
	}},
	{"DeleteDistributionTenant", func(ctx context.Context, c *cloudfront.Client, o distributiontenant.Observed) error {
		return c.DeleteTenant(ctx, o.ID, o.ETag)
	}},
	{"TagResource", func(ctx context.Context, c *cloudfront.Client, o distributiontenant.Observed) error {
		return c.Tag(ctx, o.ARN, map[string]string{"a": "b"})
	}},
	{"UntagResource", func(ctx context.Context, c *cloudfront.Client, o distributiontenant.Observed) error {
		return c.Untag(ctx, o.ARN, []string{"team"})
	}},
	{"CreateDistributionWithTags", func(ctx context.Context, c *cloudfront.Client, _ distributiontenant.Observed) error {
		_, err := c.CreateDistribution(ctx, "uid-1", plain("tenant-only"), map[string]string{"a": "b"})
		return err
	}},
	{"UpdateDistribution", func(ctx context.Context, c *cloudfront.Client, _ distributiontenant.Observed) error {
		_, err := c.UpdateDistribution(ctx, seededDistribution, plain("tenant-only"))
		return err
	}},
	{"UpdateDistribution", func(ctx context.Context, c *cloudfront.Client, _ distributiontenant.Observed) error {
		_, err := c.DisableDistribution(ctx, seededDistribution)
		return err
	}},
	{"DeleteDistribution", func(ctx context.Context, c *cloudfront.Client, _ distributiontenant.Observed) error {
		return c.DeleteDistribution(ctx, seededDistribution.ID, seededDistribution.ETag)
	}},
	{"CreateConnectionGroup", func(ctx context.Context, c *cloudfront.Client, _ distributiontenant.Observed) error {
		_, err := c.CreateGroup(ctx, "new", v1alpha1.ConnectionGroupConfig{}, map[string]string{"a": "b"})
		return err
	}},
	{"UpdateConnectionGroup", func(ctx context.Context, c *cloudfront.Client, _ distributiontenant.Observed) error {
		_, err := c.UpdateGroup(ctx, seededGroup, v1alpha1.ConnectionGroupConfig{})
		return err
	}},
	{"UpdateConnectionGroup", func(ctx context.Context, c *cloudfront.Client, _ distributiontenant.Observed) error {
		_, err := c.DisableGroup(ctx, seededGroup.ID, seededGroup.ETag)
		return err
	}},
	{"DeleteConnectionGroup", func(ctx context.Context, c *cloudfront.Client, _ distributiontenant.Observed) error {
		return c.DeleteGroup(ctx, seededGroup.ID, seededGroup.ETag)
	}},
}

var reads = []operation{
	{"GetDistributionTenant", func(ctx context.Context, c *cloudfront.Client, o distributiontenant.Observed) error {
		_, err := c.GetTenant(ctx, o.ID)
		return err
	}},
	{"GetDistributionTenantByDomain", func(ctx context.Context, c *cloudfront.Client, _ distributiontenant.Observed) error {
		_, err := c.GetTenantByDomain(ctx, "shop.example.com")
		return err
	}},
	{"ListDistributionTenants", func(ctx context.Context, c *cloudfront.Client, _ distributiontenant.Observed) error {
		_, _, err := c.ListTenants(ctx, "")
		return err
	}},
	{"ListTagsForResource", func(ctx context.Context, c *cloudfront.Client, o distributiontenant.Observed) error {
		_, err := c.ListTags(ctx, o.ARN)
		return err
	}},
	{"GetManagedCertificateDetails", func(ctx context.Context, c *cloudfront.Client, o distributiontenant.Observed) error {
		_, err := c.GetManagedCertificate(ctx, o.ID)
		if fault.Is(err, fault.NotFound) {
			return nil // the tenant of these tests has none
		}
		return err
	}},
	{"GetDistribution", func(ctx context.Context, c *cloudfront.Client, _ distributiontenant.Observed) error {
		_, err := c.GetDistribution(ctx, distributionID)
		return err
	}},
	{"ListConnectionGroups", func(ctx context.Context, c *cloudfront.Client, _ distributiontenant.Observed) error {
		_, err := c.ListConnectionGroups(ctx)
		return err
	}},
	{"GetDistribution", func(ctx context.Context, c *cloudfront.Client, _ distributiontenant.Observed) error {
		_, err := c.ReadDistribution(ctx, distributionID)
		return err
	}},
	{"ListDistributionsByConnectionMode", func(ctx context.Context, c *cloudfront.Client, _ distributiontenant.Observed) error {
		_, err := c.FindDistribution(ctx, "tenant-only", "uid-1", time.Now().AddDate(100, 0, 0))
		if fault.Is(err, fault.NotFound) {
			return nil // nothing is that young, so that the list alone is read
		}
		return err
	}},
	{"GetConnectionGroup", func(ctx context.Context, c *cloudfront.Client, _ distributiontenant.Observed) error {
		_, err := c.ReadGroup(ctx, "second")
		return err
	}},
	{"GetAnycastIpList", func(ctx context.Context, c *cloudfront.Client, _ distributiontenant.Observed) error {
		_, err := c.AnycastAddresses(ctx, "aip_1")
		if fault.Is(err, fault.NotFound) {
			return nil // no group of these tests has one
		}
		return err
	}},
	{"ListDistributionTenants", func(ctx context.Context, c *cloudfront.Client, _ distributiontenant.Observed) error {
		_, _, err := c.TenantsOf(ctx, distributionID, "")
		return err
	}},
	{"VerifyDnsConfiguration", func(ctx context.Context, c *cloudfront.Client, o distributiontenant.Observed) error {
		_, err := c.VerifyDNS(ctx, o.ID, "")
		return err
	}},
	{"ListDomainConflicts", func(ctx context.Context, c *cloudfront.Client, o distributiontenant.Observed) error {
		_, err := c.DomainConflicts(ctx, "shop.example.com", o.ID)
		return err
	}},
}

// failures are the ways in which a call can fail that a retry might fix, and how often a read is sent then. A write is
// sent once, whatever happens.
var failures = []struct {
	name  string
	fault sim.Fault
	kind  fault.Kind
	sends int
}{
	{"the service is unavailable", sim.Fault{}, fault.Transient, 2},
	{"the service breaks", sim.Fault{Error: &sim.FaultError{Status: 500, Code: "InternalError"}}, fault.Transient, 2},
	{"the connection is reset", sim.Fault{Effect: sim.EffectReset}, fault.Transient, 2},
	{"the answer breaks off", sim.Fault{Kind: sim.AfterCommit, Effect: sim.EffectTruncate}, fault.Transient, 2},
	{"the answer is lost", sim.Fault{Kind: sim.AfterCommit, Effect: sim.EffectReset}, fault.Transient, 2},
	{"the call is too fast", sim.Fault{Error: &sim.FaultError{Status: 400, Code: "Throttling"}}, fault.Throttled, 1},
	{"the service asks to slow down", sim.Fault{Error: &sim.FaultError{Status: 503, Code: "SlowDown"}}, fault.Throttled, 1},
	{"too many requests, in an unknown spelling", sim.Fault{Error: &sim.FaultError{Status: 429, Code: "NewCode"}}, fault.Throttled, 1},
	{"the caller is denied", sim.Fault{Error: &sim.FaultError{Status: 403, Code: "AccessDenied"}}, fault.Denied, 1},
}

func TestWritesAreSentOnce(t *testing.T) {
	for _, op := range writes {
		for _, failure := range failures {
			t.Run(op.name+": "+failure.name, func(t *testing.T) {
				w := newWorld(t)
				o := w.create(t, "shop")
				before := w.calls(op.name)
				f := failure.fault
				f.Operation, f.Times = op.name, -1
				w.inject(t, f)
				err := op.call(t.Context(), w.client, o)
				if got := fault.KindOf(err); got != failure.kind {
					t.Errorf("kind %v of %v, want %v", got, err, failure.kind)
				}
				if n := w.calls(op.name) - before; n != 1 {
					t.Errorf("sent %d times", n)
				}
			})
		}
	}
}

func TestReadsAreSentOnceMoreIfThatMayHelp(t *testing.T) {
	for _, op := range reads {
		for _, failure := range failures {
			t.Run(op.name+": "+failure.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					o := w.create(t, "shop")
					f := failure.fault
					f.Operation, f.Times = op.name, -1
					w.inject(t, f)
					start := time.Now()
					err := op.call(t.Context(), w.client, o)
					if got := fault.KindOf(err); got != failure.kind {
						t.Errorf("kind %v of %v, want %v", got, err, failure.kind)
					}
					if n := w.calls(op.name); n != failure.sends {
						t.Errorf("sent %d times, want %d", n, failure.sends)
					}
					if took := time.Since(start); took > 200*time.Millisecond {
						t.Errorf("slept %v in a reconcile", took)
					}
				})
			})
		}
	}
}

func TestASecondTryHealsARead(t *testing.T) {
	for _, op := range reads {
		t.Run(op.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				o := w.create(t, "shop")
				w.inject(t, sim.Fault{Operation: op.name, Times: 1})
				if err := op.call(t.Context(), w.client, o); err != nil {
					t.Errorf("error %v although the second try is answered", err)
				}
			})
		})
	}
}

func TestALostAnswerIsAmbiguous(t *testing.T) {
	w := newWorld(t)
	w.inject(t, sim.Fault{Operation: "CreateDistributionTenant", Kind: sim.AfterCommit, Effect: sim.EffectReset})
	_, err := w.client.CreateTenant(t.Context(), tenant("shop"), nil, nil)
	if !fault.Ambiguous(err) {
		t.Fatalf("error %v, want an ambiguous one", err)
	}
	if _, err := w.client.GetTenant(t.Context(), "shop"); err != nil {
		t.Fatalf("the tenant was created all the same, but: %v", err)
	}
	if _, err := w.client.CreateTenant(t.Context(), tenant("shop"), nil, nil); !fault.Is(err, fault.Exists, fault.DomainTaken) {
		t.Errorf("creating it again: %v, want Exists or DomainTaken", err)
	}
}

func TestAHangEndsWithTheContextAndIsNotRepeated(t *testing.T) {
	for _, op := range append(append([]operation{}, reads...), writes...) {
		t.Run(op.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				o := w.create(t, "shop")
				before := w.calls(op.name)
				w.inject(t, sim.Fault{Operation: op.name, Times: -1, Effect: sim.EffectHang})
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				err := op.call(ctx, w.client, o)
				if !fault.Is(err, fault.Transient) || !strings.HasSuffix(err.Error(), "no response within the time limit") {
					t.Errorf("error %v, want a transient one that speaks of time", err)
				}
				if n := w.calls(op.name) - before; n != 1 {
					t.Errorf("sent %d times", n)
				}
			})
		})
	}
}

// A proxy's answer is not CloudFront's: it proves neither that something is absent, nor that there is nothing.
func TestStrangeAnswersProveNothing(t *testing.T) {
	const html = `<!DOCTYPE html><html><head><title>x</title></head><body><p>Log in</p></body></html>`
	tests := []struct {
		name   string
		status int
		body   string
	}{
		{"a page instead of an answer", http.StatusOK, html},
		{"an empty answer", http.StatusOK, ""},
		{"white space", http.StatusOK, " \n"},
		{"an answer of another kind", http.StatusOK, `{"tenants":[]}`},
		{"a document that breaks off at its start", http.StatusOK, `<ListDistributionTenantsResult><Dist`},
		{"a page that says not found", http.StatusNotFound, html},
		{"not found without a word", http.StatusNotFound, ""},
		{"an error without a code", http.StatusNotFound, `<ErrorResponse><Error><Message>EntityNotFound</Message></Error></ErrorResponse>`},
		{"an error that breaks off", http.StatusNotFound, `<ErrorResponse><Error><Code>EntityNot`},
		{"an unknown code", http.StatusBadRequest, `<ErrorResponse><Error><Code>Brandnew</Code></Error></ErrorResponse>`},
		{"a bad gateway", http.StatusBadGateway, html},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, op := range append(append([]operation{}, reads...), writes...) {
				bodyless := strings.HasPrefix(op.name, "Delete") || strings.HasPrefix(op.name, "Tag") || strings.HasPrefix(op.name, "Untag")
				if bodyless && tt.status == http.StatusOK {
					continue // a success without a document is what they answer
				}
				synctest.Test(t, func(t *testing.T) {
					client, _, _ := newClient(t, &canned.Transport{Status: tt.status, Body: tt.body}, 100)
					o := distributiontenant.Observed{ID: "dt_1", ARN: arnPrefix + "dt_1", ETag: "E1"}
					err := op.call(t.Context(), client, o)
					if err == nil || !fault.Is(err, fault.Transient) {
						t.Errorf("%s: error %v, want a transient one", op.name, err)
					}
				})
			}
		})
	}
}

// Documents that are whole but without what matters.
func TestAnswersThatLackSomethingAreTransient(t *testing.T) {
	bodies := map[string]string{
		"GetDistributionTenant":             `<DistributionTenant><Id>dt_1</Id></DistributionTenant>`,
		"GetDistributionTenantByDomain":     `<DistributionTenant></DistributionTenant>`,
		"ListDistributionTenants":           `<R><DistributionTenantList><DistributionTenantSummary><Enabled>true</Enabled></DistributionTenantSummary></DistributionTenantList></R>`,
		"GetManagedCertificateDetails":      `<ManagedCertificateDetails><CertificateStatus>issued</CertificateStatus></ManagedCertificateDetails>`,
		"GetDistribution":                   `<Distribution><Id>E1</Id></Distribution>`,
		"ListConnectionGroups":              `<R><ConnectionGroups><ConnectionGroupSummary><Name>a</Name></ConnectionGroupSummary></ConnectionGroups></R>`,
		"ListDistributionsByConnectionMode": `<DistributionList><Quantity>1</Quantity></DistributionList>`,
		"VerifyDnsConfiguration":            `<R><DnsConfigurationList><DnsConfiguration><Domain>a</Domain></DnsConfiguration></DnsConfigurationList></R>`,
		"ListDomainConflicts":               `<R><DomainConflicts><DomainConflicts><Domain>a</Domain></DomainConflicts></DomainConflicts></R>`,
		"GetConnectionGroup":                `<ConnectionGroup><Id>cg_1</Id></ConnectionGroup>`,
	}
	for _, op := range reads {
		body, ok := bodies[op.name]
		if !ok {
			continue
		}
		t.Run(op.name, func(t *testing.T) {
			client, _, _ := newClient(t, &canned.Transport{Status: http.StatusOK, Body: body}, 100)
			err := op.call(t.Context(), client, distributiontenant.Observed{ID: "dt_1", ARN: arnPrefix + "dt_1"})
			if err == nil || !fault.Is(err, fault.Transient) || !strings.Contains(err.Error(), "the response does not contain") {
				t.Errorf("error %v, want a transient one that says what is missing", err)
			}
		})
	}
}

// Right after a request AWS may have nothing to show of the certificate, which is an answer.
func TestACertificateWithoutAStatusIsNone(t *testing.T) {
	for body, want := range map[string]fault.Kind{
		`<ManagedCertificateDetails></ManagedCertificateDetails>`:                                                          fault.NotFound,
		`<ManagedCertificateDetails><ValidationTokenHost>cloudfront</ValidationTokenHost></ManagedCertificateDetails>`:     fault.NotFound,
		`<ManagedCertificateDetails><CertificateStatus>pending-validation</CertificateStatus></ManagedCertificateDetails>`: fault.None,
		``:                                fault.Transient,
		`<html><body>hello</body></html>`: fault.Transient,
	} {
		synctest.Test(t, func(t *testing.T) {
			client, _, _ := newClient(t, &canned.Transport{Status: http.StatusOK, Body: body}, 100)
			if _, err := client.GetManagedCertificate(t.Context(), "dt_1"); fault.KindOf(err) != want {
				t.Errorf("%q: %v, want kind %v", body, err, want)
			}
		})
	}
}

func TestAListThatGoesInCirclesEnds(t *testing.T) {
	answer := &canned.Transport{Status: http.StatusOK, Body: `<R><NextMarker>m</NextMarker></R>`}
	client, _, _ := newClient(t, answer, 100)
	if _, _, err := client.ListTenants(t.Context(), "m"); !fault.Is(err, fault.Transient) {
		t.Errorf("the page after m is m: %v, want a transient error", err)
	}
	if _, err := client.ListConnectionGroups(t.Context()); !fault.Is(err, fault.Transient) {
		t.Errorf("connection groups: %v, want a transient error", err)
	}
	if answer.Requests() != 3 {
		t.Errorf("%d requests, want one for tenants and two for groups", answer.Requests())
	}
}

func TestTheSameFailureReadsTheSame(t *testing.T) {
	w := newWorld(t)
	refused := map[string]bool{}
	for range 3 {
		_, err := w.client.GetTenant(t.Context(), "absent")
		refused[err.Error()] = true
	}
	entries := w.Journal()
	for text := range refused {
		for _, e := range entries {
			if strings.Contains(text, e.RequestID) {
				t.Errorf("%q names the request id %s", text, e.RequestID)
			}
		}
	}
	if len(refused) != 1 {
		t.Errorf("three texts for one failure: %s", cmp.Diff(nil, refused))
	}
}
