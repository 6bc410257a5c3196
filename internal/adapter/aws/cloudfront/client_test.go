package cloudfront_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/canned"
)

func full(name string) distributiontenant.Tenant {
	t := tenant(name)
	t.Domains = []string{name + ".example.com", "also-" + name + ".example.com"}
	t.ConnectionGroupID = groupID
	t.Parameters = map[string]string{"tier": "gold", "origin": "o.example.com"}
	t.Customizations = distributiontenant.Customizations{
		WebACL:         distributiontenant.WebACL{Action: "disable"},
		CertificateARN: certificateARN,
		Geo:            distributiontenant.Geo{Type: "whitelist", Locations: []string{"ES", "DE"}},
	}
	return t
}

func TestCreateSendsTheWholeTenant(t *testing.T) {
	w := newWorld(t)
	want := full("shop").Normalize()
	created, err := w.client.CreateTenant(t.Context(), full("shop"), map[string]string{"team": "a", "env": ""}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, created.Tenant); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"team": "a", "env": ""}, created.Tags); diff != "" {
		t.Errorf("tags of the answer (-want +got):\n%s", diff)
	}
	if created.Status != distributiontenant.InProgress || created.ETag == "" || created.Created.IsZero() {
		t.Errorf("status %q, ETag %q, created %v", created.Status, created.ETag, created.Created)
	}
	for _, identifier := range []string{created.ID, created.ARN, "shop"} {
		got, err := w.client.GetTenant(t.Context(), identifier)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(created, got, cmpopts.IgnoreFields(distributiontenant.Observed{}, "Tags")); diff != "" {
			t.Errorf("got by %s (-created +got):\n%s", identifier, diff)
		}
		if got.Tags != nil {
			t.Errorf("tags %v of a Get that shows none, want nil: unknown", got.Tags)
		}
	}
	byDomain, err := w.client.GetTenantByDomain(t.Context(), "also-shop.example.com")
	if err != nil || byDomain.ID != created.ID {
		t.Errorf("by domain: %q, %v", byDomain.ID, err)
	}
}

func TestUpdateTakesAwayWhatIsEmpty(t *testing.T) {
	w := newWorld(t)
	w.ChangeSwitches(func(s *sim.Switches) { s.Allowed.EmptyBlocks = true })
	created, err := w.client.CreateTenant(t.Context(), full("shop"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	bare := tenant("shop")
	updated, err := w.client.UpdateTenant(t.Context(), created, bare, nil)
	if err != nil {
		t.Fatal(err)
	}
	// The connection group is what no one can ask to be chosen again.
	bare.ConnectionGroupID = groupID
	if diff := cmp.Diff(bare.Normalize(), updated.Tenant); diff != "" {
		t.Errorf("updated (-want +got):\n%s", diff)
	}
	if updated.ETag == created.ETag {
		t.Error("the ETag is still the old one")
	}
	moved := full("shop")
	moved.ConnectionGroupID = "cg_second"
	back, err := w.client.UpdateTenant(t.Context(), updated, moved, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(moved.Normalize(), back.Tenant); diff != "" {
		t.Errorf("updated back (-want +got):\n%s", diff)
	}
}

// An empty block that AWS does not take holds nothing else up, and costs one call more.
func TestARefusedEmptyBlockIsLeftOut(t *testing.T) {
	bare := tenant("shop")
	for name, c := range map[string]struct {
		change func(*distributiontenant.Tenant)
		fault  *sim.Fault
		want   func(*distributiontenant.Tenant)
		kind   fault.Kind
		calls  int
		says   string
	}{
		"the rest arrives": {
			change: func(t *distributiontenant.Tenant) { *t = bare; t.Domains = []string{"new.example.com"} },
			want:   func(t *distributiontenant.Tenant) { t.Domains = []string{"new.example.com"} }, calls: 2,
		},
		"another block arrives": {
			change: func(t *distributiontenant.Tenant) {
				t.Parameters = nil
				t.Customizations = distributiontenant.Customizations{WebACL: distributiontenant.WebACL{Action: "disable"}}
			},
			want: func(t *distributiontenant.Tenant) {
				t.Customizations = distributiontenant.Customizations{WebACL: distributiontenant.WebACL{Action: "disable"}}
			},
			calls: 2,
		},
		"nothing would be left to send": {
			change: func(t *distributiontenant.Tenant) { t.Parameters = nil }, kind: fault.Invalid, calls: 1,
			says: "name one of the parameters",
		},
		"the last customization is to be removed": {
			change: func(t *distributiontenant.Tenant) { t.Customizations = distributiontenant.Customizations{} }, kind: fault.Invalid, calls: 1,
			says: "set customizations.geoRestrictions.restrictionType to none",
		},
		"it was refused for something else as well": {
			change: func(t *distributiontenant.Tenant) { t.Parameters = nil; t.Domains = []string{"no domain"} }, kind: fault.Invalid, calls: 2,
		},
		"no empty block was sent": {
			change: func(t *distributiontenant.Tenant) { t.Domains = []string{"no domain"} }, kind: fault.Invalid, calls: 1,
		},
		"it was refused for another reason": {
			change: func(t *distributiontenant.Tenant) { t.Parameters = nil; t.Domains = []string{"elsewhere.test"} },
			fault:  &sim.Fault{Kind: sim.Instead, Error: &sim.FaultError{Status: 400, Code: "InvalidArgument", Message: "We could not verify domain name ownership."}},
			kind:   fault.DomainUnverified, calls: 1,
		},
		"the answer is lost": {
			change: func(t *distributiontenant.Tenant) { t.Parameters = nil; t.Domains = []string{"new.example.com"} },
			fault:  &sim.Fault{Effect: sim.EffectReset}, kind: fault.Transient, calls: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			created, err := w.client.CreateTenant(t.Context(), full("shop"), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if c.fault != nil {
				c.fault.Operation = "UpdateDistributionTenant"
				w.inject(t, *c.fault)
			}
			next, want := created.Tenant, created.Tenant
			c.change(&next)
			if c.want != nil {
				c.want(&want)
			}
			_, err = w.client.UpdateTenant(t.Context(), created, next, nil)
			if got := fault.KindOf(err); err != nil && got != c.kind || (err != nil) != (c.kind != fault.None) {
				t.Errorf("updating: %v, want kind %v", err, c.kind)
			}
			if err != nil && (!strings.Contains(err.Error(), c.says) || c.says == "" && strings.Contains(err.Error(), "In the spec")) {
				t.Errorf("the error %q should say %q", err, c.says)
			}
			got, err := w.client.GetTenant(t.Context(), "shop")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Normalize(), got.Tenant); diff != "" {
				t.Errorf("the tenant (-want +got):\n%s", diff)
			}
			if n := w.calls("UpdateDistributionTenant"); n != c.calls {
				t.Errorf("%d calls, want %d", n, c.calls)
			}
		})
	}
}

func TestDisableChangesNothingElse(t *testing.T) {
	w := newWorld(t)
	created, err := w.client.CreateTenant(t.Context(), full("shop"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	disabled, err := w.client.DisableTenant(t.Context(), created.ID, created.ETag)
	if err != nil {
		t.Fatal(err)
	}
	want := full("shop").Normalize()
	want.Enabled = false
	if diff := cmp.Diff(want, disabled.Tenant); diff != "" {
		t.Errorf("disabled (-want +got):\n%s", diff)
	}
}

func TestDelete(t *testing.T) {
	w := newWorld(t)
	created := w.create(t, "shop")
	if err := w.client.DeleteTenant(t.Context(), created.ID, created.ETag); !fault.Is(err, fault.NotDisabled) {
		t.Fatalf("deleting an enabled tenant: %v, want NotDisabled", err)
	}
	disabled, err := w.client.DisableTenant(t.Context(), created.ID, created.ETag)
	if err != nil {
		t.Fatal(err)
	}
	w.Advance(time.Hour)
	if err := w.client.DeleteTenant(t.Context(), created.ID, created.ETag); !fault.Is(err, fault.Conflict) {
		t.Fatalf("deleting with an old ETag: %v, want Conflict", err)
	}
	if err := w.client.DeleteTenant(t.Context(), created.ID, disabled.ETag); err != nil {
		t.Fatal(err)
	}
	if _, err := w.client.GetTenant(t.Context(), created.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("reading it afterwards: %v, want NotFound", err)
	}
	if err := w.client.DeleteTenant(t.Context(), created.ID, disabled.ETag); !fault.Is(err, fault.NotFound) {
		t.Errorf("deleting it again: %v, want NotFound", err)
	}
}

func TestListWalksAllPages(t *testing.T) {
	w := newWorld(t, func(o *sim.Options) { o.PageSize = 2 })
	want := map[string]string{}
	for i := range 5 {
		o := w.create(t, fmt.Sprintf("shop-%d", i))
		want[o.ID] = o.ETag
	}
	got, pages := map[string]string{}, 0
	for marker := ""; ; {
		page, next, err := w.client.ListTenants(t.Context(), marker)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		for _, o := range page {
			got[o.ID] = o.ETag
			if o.Tags != nil || o.Parameters != nil || o.Status != distributiontenant.Deployed || len(o.DomainStates) != 1 {
				t.Errorf("summary %+v", o)
			}
		}
		if marker = next; next == "" {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || pages != 3 {
		t.Errorf("%d pages, tenants (-want +got):\n%s", pages, diff)
	}
}

func TestAnAccountWithoutTenantsHasAnEmptyList(t *testing.T) {
	page, next, err := newWorld(t).client.ListTenants(t.Context(), "")
	if len(page) != 0 || next != "" || err != nil {
		t.Errorf("page %v, next %q, error %v", page, next, err)
	}
}

func TestTags(t *testing.T) {
	w := newWorld(t)
	o := w.create(t, "shop")
	read := func(want map[string]string) {
		t.Helper()
		got, err := w.client.ListTags(t.Context(), o.ARN)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("tags (-want +got):\n%s", diff)
		}
	}
	read(map[string]string{"team": "a"})
	if err := w.client.Tag(t.Context(), o.ARN, map[string]string{"env": "prod", "team": "b"}); err != nil {
		t.Fatal(err)
	}
	read(map[string]string{"team": "b", "env": "prod"})
	if err := w.client.Untag(t.Context(), o.ARN, []string{"team", "env", "team"}); err != nil {
		t.Fatal(err)
	}
	read(map[string]string{})
	before := len(w.Journal())
	if err := w.client.Tag(t.Context(), o.ARN, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.client.Untag(t.Context(), o.ARN, nil); err != nil {
		t.Fatal(err)
	}
	if n := len(w.Journal()) - before; n != 0 {
		t.Errorf("%d calls to change no tag", n)
	}
	_, err := w.client.ListTags(t.Context(), arnPrefix+"dt_absent")
	if !fault.Is(err, fault.NotFound) {
		t.Errorf("tags of what does not exist: %v, want NotFound", err)
	}
}

func TestManagedCertificate(t *testing.T) {
	w := newWorld(t)
	plain := w.create(t, "shop")
	if _, err := w.client.GetManagedCertificate(t.Context(), plain.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("a tenant without one: %v, want NotFound", err)
	}
	asked := tenant("live")
	asked.Domains = []string{"live.customer.test"}
	o, err := w.client.CreateTenant(t.Context(), asked, nil, &certificate.Request{
		ValidationTokenHost: "cloudfront", PrimaryDomainName: "live.customer.test", TransparencyLoggingPref: "disabled",
	})
	if err != nil {
		t.Fatal(err)
	}
	managed, err := w.client.GetManagedCertificate(t.Context(), o.ID)
	if err != nil || managed.ARN == "" || managed.State != certificate.Pending && managed.State != certificate.Issued {
		t.Errorf("certificate %+v, error %v", managed, err)
	}
	if diff := cmp.Diff([]string{"live.customer.test"}, managed.Domains()); diff != "" || managed.Host != "cloudfront" {
		t.Errorf("host %q, domains (-want +got):\n%s", managed.Host, diff)
	}
}

// The challenge for a user's web server has one form, whichever AWS has chosen.
func TestTokens(t *testing.T) {
	answer := &canned.Transport{Status: http.StatusOK, Body: `<R>
		<CertificateStatus>pending-validation</CertificateStatus><ValidationTokenHost>self-hosted</ValidationTokenHost>
		<ValidationTokenDetails>
			<member><Domain>Shop.example.com</Domain>
				<RedirectFrom>http://shop.example.com/.well-known/pki-validation/a.txt</RedirectFrom>
				<RedirectTo>https://validation.example.net/a.txt</RedirectTo></member>
			<member><Domain>api.example.com</Domain>
				<RedirectFrom>api.example.com/.well-known/pki-validation/b.txt</RedirectFrom>
				<RedirectTo>validation.example.net/b.txt</RedirectTo></member>
			<member><RedirectFrom>of.nobody.example.com/c.txt</RedirectFrom></member>
		</ValidationTokenDetails></R>`}
	client, _, _ := newClient(t, answer, 10)
	got, err := client.GetManagedCertificate(t.Context(), "dt_1")
	want := certificate.Managed{State: certificate.Pending, Host: certificate.SelfHosted, Tokens: []certificate.Token{
		{Domain: "api.example.com", RedirectFrom: "api.example.com/.well-known/pki-validation/b.txt", RedirectTo: "validation.example.net/b.txt"},
		{Domain: "shop.example.com", RedirectFrom: "shop.example.com/.well-known/pki-validation/a.txt", RedirectTo: "validation.example.net/a.txt"},
	}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, certificate (-want +got):\n%s", err, diff)
	}
}

func TestADomainThatCannotBeProvenIsNotAMistake(t *testing.T) {
	w := newWorld(t)
	asked := tenant("dark")
	asked.Domains = []string{"dark.customer.test"}
	_, err := w.client.CreateTenant(t.Context(), asked, nil, &certificate.Request{ValidationTokenHost: "cloudfront"})
	if !fault.Is(err, fault.DomainUnverified) {
		t.Errorf("creating with a domain that leads elsewhere: %v, want DomainUnverified", err)
	}
}

func TestParents(t *testing.T) {
	w := newWorld(t, func(o *sim.Options) { o.PageSize = 2 })
	got, err := w.client.GetDistribution(t.Context(), distributionID)
	if err != nil {
		t.Fatal(err)
	}
	want := distributiontenant.Distribution{
		ID: distributionID, MultiTenant: true, CertificateARN: certificateARN,
		Parameters: []distributiontenant.ParameterDefinition{{Name: "tier", Default: "basic"}, {Name: "origin"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("distribution (-want +got):\n%s", diff)
	}
	if direct, err := w.client.GetDistribution(t.Context(), "E2DIRECT"); err != nil || direct.MultiTenant {
		t.Errorf("standard distribution %+v, error %v", direct, err)
	}
	if _, err := w.client.GetDistribution(t.Context(), "E2ABSENT"); !fault.Is(err, fault.NotFound) {
		t.Errorf("absent distribution: %v, want NotFound", err)
	}
	groups, err := w.client.ListConnectionGroups(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantGroups := []port.ConnectionGroup{
		{ID: groupID, Name: "main", RoutingEndpoint: "dmain.cloudfront.net", IsDefault: true},
		{ID: "cg_second", Name: "second", RoutingEndpoint: "dsecond.cloudfront.net"},
		{ID: "cg_third", Name: "third", RoutingEndpoint: "dthird.cloudfront.net"},
	}
	byID := cmpopts.SortSlices(func(a, b port.ConnectionGroup) bool { return a.ID < b.ID })
	if diff := cmp.Diff(wantGroups, groups, byID); diff != "" {
		t.Errorf("connection groups (-want +got):\n%s", diff)
	}
}

func TestAnEmptyIdentifierIsNotAnAbsentTenant(t *testing.T) {
	w := newWorld(t)
	before := len(w.Journal())
	if _, err := w.client.GetTenant(t.Context(), ""); !fault.Is(err, fault.Invalid) {
		t.Errorf("reading an empty name: %v, want Invalid", err)
	}
	if err := w.client.DeleteTenant(t.Context(), "", "E1"); !fault.Is(err, fault.Invalid) {
		t.Errorf("deleting an empty name: %v, want Invalid", err)
	}
	if n := len(w.Journal()) - before; n != 0 {
		t.Errorf("%d calls were sent", n)
	}
}

func TestACancelledCallIsTransient(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.client.GetTenant(ctx, "shop"); !fault.Is(err, fault.Transient) {
		t.Errorf("error %v, want Transient", err)
	}
}
