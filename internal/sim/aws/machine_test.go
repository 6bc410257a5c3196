package aws_test

import (
	"fmt"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	sdkacm "github.com/aws/aws-sdk-go-v2/service/acm"
	acmtypes "github.com/aws/aws-sdk-go-v2/service/acm/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

const (
	issueDelay = 10 * time.Second
	day        = 24 * time.Hour
)

// asksFor makes a create ask for a managed certificate.
func asksFor(host types.ValidationTokenHost, names ...string) func(*createInput) {
	return func(in *createInput) {
		in.Domains = domains(names...)
		in.ManagedCertificateRequest = &types.ManagedCertificateRequest{ValidationTokenHost: host}
	}
}

func managedDetails(t *testing.T, sim *aws.Sim, identifier string) *types.ManagedCertificateDetails {
	t.Helper()
	out := must[*cloudfront.GetManagedCertificateDetailsOutput](t)(client(sim).GetManagedCertificateDetails(t.Context(), &cloudfront.GetManagedCertificateDetailsInput{Identifier: &identifier}))
	return out.ManagedCertificateDetails
}

func describe(t *testing.T, sim *aws.Sim, arn string) *acmtypes.CertificateDetail {
	t.Helper()
	return must[*sdkacm.DescribeCertificateOutput](t)(acmClient(sim).DescribeCertificate(t.Context(), &sdkacm.DescribeCertificateInput{CertificateArn: &arn})).Certificate
}

func certificateState(t *testing.T, sim *aws.Sim, arn string) aws.CertificateState {
	t.Helper()
	for _, a := range sim.State().Accounts {
		for _, c := range a.Certificates {
			if c.ARN == arn {
				return c
			}
		}
	}
	t.Fatalf("there is no certificate %s", arn)
	return aws.CertificateState{}
}

// attachManaged puts the managed certificate of a tenant into its customizations.
func attachManaged(t *testing.T, sim *aws.Sim, name string) {
	t.Helper()
	found := get(t, sim, name)
	update(t, sim, &cloudfront.UpdateDistributionTenantInput{Id: found.DistributionTenant.Id, IfMatch: found.ETag, Customizations: &types.Customizations{
		Certificate: &types.Certificate{Arn: managedDetails(t, sim, name).CertificateArn},
	}})
}

func issuedTenant(t *testing.T, sim *aws.Sim, name string) (arn string) {
	t.Helper()
	mustCreate(t, sim, name, asksFor(types.ValidationTokenHostCloudFront, "live.customer.org"))
	sim.Advance(issueDelay)
	details := managedDetails(t, sim, name)
	if details.CertificateStatus != types.ManagedCertificateStatusIssued {
		t.Fatalf("the certificate is %s", details.CertificateStatus)
	}
	return *details.CertificateArn
}

// customerZone is a hosted zone whose names lead to the two groups.
func customerZone(sim *aws.Sim) aws.Seed {
	endpoints := map[string]string{}
	for _, g := range sim.State().Accounts[0].ConnectionGroups {
		endpoints[g.ID] = g.RoutingEndpoint
	}
	return aws.Seed{HostedZones: []aws.SeedHostedZone{{Name: "zone.test", Records: []aws.SeedRecord{
		{Name: "home.zone.test", Type: "CNAME", Values: []string{endpoints[homeGroup]}},
		{Name: "other.zone.test", Type: "CNAME", Values: []string{endpoints[otherGroup]}},
	}}}}
}

// TestManagedCertificateIsIssued goes through what proves a name.
func TestManagedCertificateIsIssued(t *testing.T) {
	atHome := func(in *createInput) { in.ConnectionGroupId = sdk.String(homeGroup) }
	const cloud, self = types.ValidationTokenHostCloudFront, types.ValidationTokenHostSelfHosted
	for name, tc := range map[string]struct {
		ask    func(*createInput)
		then   func(*aws.Sim) error
		issued bool
	}{
		"DNS outside the simulator leads to CloudFront":          {ask: asksFor(cloud, "live.customer.org"), issued: true},
		"a record leads to the endpoint of the group":            {ask: asksFor(cloud, "home.zone.test"), issued: true},
		"a record leads to the endpoint of another group":        {ask: asksFor(cloud, "other.zone.test")},
		"one of two names is not proven":                         {ask: asksFor(cloud, "home.zone.test", "other.zone.test")},
		"both of two names are proven":                           {ask: asksFor(cloud, "home.zone.test", "live.customer.org"), issued: true},
		"a token that is not served":                             {ask: asksFor(self, "elsewhere.customer.org")},
		"a token that the customer serves":                       {ask: asksFor(self, "elsewhere.customer.org"), then: func(s *aws.Sim) error { return s.ServeToken("elsewhere.customer.org") }, issued: true},
		"DNS that leads to CloudFront, though self-hosted":       {ask: asksFor(self, "live.customer.org"), issued: true},
		"a token served for one of two names":                    {ask: asksFor(self, "elsewhere.customer.org", "b.customer.org"), then: func(s *aws.Sim) error { return s.ServeToken("b.customer.org") }},
		"a token that is not looked for, as CloudFront hosts it": {ask: asksFor(cloud, "other.zone.test"), then: func(s *aws.Sim) error { return s.ServeToken("other.zone.test") }},
		"DNS that led there and was turned away since":           {ask: asksFor(cloud, "live.customer.org"), then: func(s *aws.Sim) error { s.SetResolving(false, "live.customer.org"); return nil }},
		"DNS that leads there at last, for a self-hosted token":  {ask: asksFor(self, "elsewhere.customer.org"), then: func(s *aws.Sim) error { s.SetResolving(true, "elsewhere.customer.org"); return nil }, issued: true},
	} {
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			if err := sim.Load(customerZone(sim)); err != nil {
				t.Fatal(err)
			}
			tenant, etag := mustCreate(t, sim, "acme", atHome, tc.ask)
			if tc.then != nil {
				if err := tc.then(sim); err != nil {
					t.Fatal(err)
				}
			}
			sim.Advance(issueDelay - time.Second)
			if got := managedDetails(t, sim, "acme").CertificateStatus; got != types.ManagedCertificateStatusPendingValidation {
				t.Errorf("before the delay is over it is %s", got)
			}
			if got := get(t, sim, "acme"); *got.ETag != etag || *got.DistributionTenant.Domains[0].Domain != *tenant.Domains[0].Domain || got.DistributionTenant.Domains[0].Status != types.DomainStatusInactive {
				t.Errorf("the pending tenant: %+v", got)
			}
			sim.Advance(time.Second)
			details := managedDetails(t, sim, *tenant.Id)
			want := types.ManagedCertificateStatusPendingValidation
			if tc.issued {
				want = types.ManagedCertificateStatusIssued
			}
			if details.CertificateStatus != want {
				t.Errorf("it is %s, want %s", details.CertificateStatus, want)
			}
			if moved := *get(t, sim, "acme").ETag != etag; moved != tc.issued {
				t.Errorf("the ETag moved: %v", moved)
			}
			if cert := describe(t, sim, *details.CertificateArn); tc.issued && !cert.NotAfter.Equal(startTime.Add(issueDelay+198*day)) {
				t.Errorf("it ends at %v", cert.NotAfter)
			}
		})
	}
}

// TestManagedCertificateDelayStartsAgain takes a proof away for a moment.
func TestManagedCertificateDelayStartsAgain(t *testing.T) {
	sim := newSim(t)
	mustCreate(t, sim, "acme", asksFor(types.ValidationTokenHostCloudFront, "live.customer.org"))
	sim.Advance(issueDelay - time.Second)
	sim.SetResolving(false, "live.customer.org")
	sim.SetResolving(true, "live.customer.org")
	sim.Advance(time.Second)
	if got := managedDetails(t, sim, "acme").CertificateStatus; got != types.ManagedCertificateStatusPendingValidation {
		t.Errorf("it is %s", got)
	}
	sim.Advance(issueDelay)
	if got := managedDetails(t, sim, "acme").CertificateStatus; got != types.ManagedCertificateStatusIssued {
		t.Errorf("it is %s", got)
	}
}

// TestManagedCertificateIsAttached follows the domains of a tenant.
func TestManagedCertificateIsAttached(t *testing.T) {
	sim := newSim(t)
	arn := issuedTenant(t, sim, "acme")
	status := func() string {
		state, _ := sim.Tenant("", "acme")
		return state.Domains["live.customer.org"]
	}
	if status() != "inactive" {
		t.Error("the domain is active although the certificate was never attached")
	}
	attachManaged(t, sim, "acme")
	if status() != "active" {
		t.Error("the domain is inactive though the certificate is attached")
	}
	found := get(t, sim, "acme")
	update(t, sim, &cloudfront.UpdateDistributionTenantInput{Id: found.DistributionTenant.Id, IfMatch: found.ETag, Customizations: &types.Customizations{
		GeoRestrictions: &types.GeoRestrictionCustomization{RestrictionType: types.GeoRestrictionTypeNone},
	}})
	if state, _ := sim.Tenant("", "acme"); state.Customizations.CertificateARN != "" || status() != "active" {
		t.Errorf("after customizations without the certificate: %+v", state)
	}
	if cert := certificateState(t, sim, arn); len(cert.InUseBy) != 0 || cert.Status != "ISSUED" {
		t.Errorf("the detached certificate: %+v", cert)
	}
}

// TestManagedCertificateTimesOut lets 72 hours pass.
func TestManagedCertificateTimesOut(t *testing.T) {
	sim := newSim(t)
	tenant, etag := mustCreate(t, sim, "acme", asksFor(types.ValidationTokenHostSelfHosted, "a.customer.org"))
	first := *managedDetails(t, sim, "acme").CertificateArn
	sim.Advance(72*time.Hour - time.Second)
	if got := managedDetails(t, sim, "acme").CertificateStatus; got != types.ManagedCertificateStatusPendingValidation {
		t.Errorf("before 72 hours it is %s", got)
	}
	_, err := client(sim).UpdateDistributionTenant(t.Context(), &cloudfront.UpdateDistributionTenantInput{
		Id: tenant.Id, IfMatch: &etag, ManagedCertificateRequest: &types.ManagedCertificateRequest{ValidationTokenHost: types.ValidationTokenHostSelfHosted},
	})
	wantRefusal(t, err, 400, "InvalidArgument")
	sim.Advance(time.Second)
	if got := managedDetails(t, sim, "acme").CertificateStatus; got != types.ManagedCertificateStatusValidationTimedOut {
		t.Errorf("after 72 hours it is %s", got)
	}
	if got := describe(t, sim, first); got.Status != acmtypes.CertificateStatusValidationTimedOut || got.DomainValidationOptions[0].ValidationStatus != acmtypes.DomainStatusFailed {
		t.Errorf("ACM says %s, %s", got.Status, got.DomainValidationOptions[0].ValidationStatus)
	}
	if err := sim.ServeToken("a.customer.org"); err == nil {
		t.Error("a token that is not looked for any more was served")
	}
	found := get(t, sim, "acme")
	if *found.ETag == etag {
		t.Error("the ETag did not move")
	}
	update(t, sim, &cloudfront.UpdateDistributionTenantInput{
		Id: tenant.Id, IfMatch: found.ETag, ManagedCertificateRequest: &types.ManagedCertificateRequest{ValidationTokenHost: types.ValidationTokenHostSelfHosted},
	})
	second := managedDetails(t, sim, "acme")
	if *second.CertificateArn == first || second.CertificateStatus != types.ManagedCertificateStatusPendingValidation {
		t.Errorf("the new request: %+v", second)
	}
	if got := certificateState(t, sim, first); got.Status != "VALIDATION_TIMED_OUT" || got.RequestedBy != *tenant.Id || len(got.InUseBy) != 0 {
		t.Errorf("the superseded certificate: %+v", got)
	}
}

// TestManagedCertificateAfterALeap moves the clock beyond the window at once:
// what was proven in time was issued in time.
func TestManagedCertificateAfterALeap(t *testing.T) {
	sim := newSim(t)
	mustCreate(t, sim, "acme", asksFor(types.ValidationTokenHostCloudFront, "live.customer.org"))
	sim.Advance(100 * time.Hour)
	if got := describe(t, sim, *managedDetails(t, sim, "acme").CertificateArn); got.Status != acmtypes.CertificateStatusIssued || !got.IssuedAt.Equal(startTime.Add(issueDelay)) {
		t.Errorf("%s at %v", got.Status, got.IssuedAt)
	}
	if got, _ := sim.Tenant("", "acme"); !got.LastModifiedTime.Equal(startTime.Add(issueDelay)) {
		t.Errorf("the tenant moved at %v", got.LastModifiedTime)
	}
}

// TestManagedCertificateStates has AWS bring about what only it can.
func TestManagedCertificateStates(t *testing.T) {
	for name, tc := range map[string]struct {
		issued bool
		change aws.CertificateChange
		want   types.ManagedCertificateStatus
		acm    acmtypes.CertificateStatus
		reason acmtypes.FailureReason
	}{
		"a name that may not have one":  {false, aws.CertificateChange{Status: "FAILED", FailureReason: "DOMAIN_NOT_ALLOWED"}, types.ManagedCertificateStatusFailed, acmtypes.CertificateStatusFailed, acmtypes.FailureReasonDomainNotAllowed},
		"a failure without a reason":    {false, aws.CertificateChange{Status: "FAILED"}, types.ManagedCertificateStatusFailed, acmtypes.CertificateStatusFailed, acmtypes.FailureReasonCaaError},
		"a time-out before its time":    {false, aws.CertificateChange{Status: "VALIDATION_TIMED_OUT"}, types.ManagedCertificateStatusValidationTimedOut, acmtypes.CertificateStatusValidationTimedOut, ""},
		"an issue before its time":      {false, aws.CertificateChange{Status: "ISSUED"}, types.ManagedCertificateStatusIssued, acmtypes.CertificateStatusIssued, ""},
		"a revocation":                  {true, aws.CertificateChange{Status: "REVOKED"}, types.ManagedCertificateStatusRevoked, acmtypes.CertificateStatusRevoked, ""},
		"an end before its time":        {true, aws.CertificateChange{Status: "EXPIRED"}, types.ManagedCertificateStatusExpired, acmtypes.CertificateStatusExpired, ""},
		"one that is not in use by ACM": {true, aws.CertificateChange{Status: "INACTIVE"}, types.ManagedCertificateStatusInactive, acmtypes.CertificateStatusInactive, ""},
	} {
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			mustCreate(t, sim, "acme", asksFor(types.ValidationTokenHostCloudFront, "live.customer.org"))
			if tc.issued {
				sim.Advance(issueDelay)
				attachManaged(t, sim, "acme")
			}
			before := get(t, sim, "acme")
			tc.change.Tenant = "acme"
			body := fmt.Sprintf(`{"tenant":"acme","status":%q,"failureReason":%q}`, tc.change.Status, tc.change.FailureReason)
			ask[any](t, sim, "POST", "certificates", body)
			details := managedDetails(t, sim, "acme")
			cert := describe(t, sim, *details.CertificateArn)
			if details.CertificateStatus != tc.want || cert.Status != tc.acm || cert.FailureReason != tc.reason {
				t.Errorf("CloudFront says %s, ACM says %s %s", details.CertificateStatus, cert.Status, cert.FailureReason)
			}
			after := get(t, sim, "acme")
			if *after.ETag == *before.ETag {
				t.Error("the ETag did not move")
			}
			if tc.issued && (after.DistributionTenant.Domains[0].Status != types.DomainStatusActive || len(cert.InUseBy) != 1) {
				t.Errorf("the domain is %s, the certificate in use by %v", after.DistributionTenant.Domains[0].Status, cert.InUseBy)
			}
		})
	}
}

func TestChangeCertificateRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		change aws.CertificateChange
		want   string
	}{
		"neither a certificate nor a tenant":  {aws.CertificateChange{Status: "FAILED"}, "use one of them"},
		"both":                                {aws.CertificateChange{Status: "FAILED", Tenant: "acme", Certificate: wildcardARN}, "use one of them"},
		"a tenant that is not there":          {aws.CertificateChange{Status: "FAILED", Tenant: "nobody"}, `no tenant "nobody"`},
		"a tenant of another account":         {aws.CertificateChange{Status: "FAILED", Tenant: "acme", Account: foreignAcct}, foreignAcct},
		"a tenant without a certificate":      {aws.CertificateChange{Status: "FAILED", Tenant: "plain"}, "request one first"},
		"a certificate that is not there":     {aws.CertificateChange{Status: "FAILED", Certificate: certARN(9)}, "no certificate"},
		"a state that can't be brought about": {aws.CertificateChange{Status: "PENDING_VALIDATION", Tenant: "acme"}, "can't be brought about"},
		"a state that does not follow":        {aws.CertificateChange{Status: "REVOKED", Tenant: "acme"}, "does not follow PENDING_VALIDATION"},
		"a reason ACM does not have":          {aws.CertificateChange{Status: "FAILED", Tenant: "acme", FailureReason: "BAD_LUCK"}, "BAD_LUCK"},
		"a reason where nothing failed":       {aws.CertificateChange{Status: "ISSUED", Tenant: "acme", FailureReason: "CAA_ERROR"}, "only FAILED"},
	} {
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			mustCreate(t, sim, "plain")
			mustCreate(t, sim, "acme", asksFor(types.ValidationTokenHostSelfHosted, "a.customer.org"))
			before := sim.State()
			wantError(t, sim.ChangeCertificate(tc.change), tc.want)
			if diff := cmp.Diff(before, sim.State()); diff != "" {
				t.Errorf("a refused change did something:\n%s", diff)
			}
		})
	}
}

// TestPendingRequestIsTheOnlyOne tells what a tenant may do while it waits.
func TestPendingRequestIsTheOnlyOne(t *testing.T) {
	request := &types.ManagedCertificateRequest{ValidationTokenHost: types.ValidationTokenHostSelfHosted}
	for name, tc := range map[string]struct {
		in      cloudfront.UpdateDistributionTenantInput
		refused bool
	}{
		"asking again":                             {cloudfront.UpdateDistributionTenantInput{ManagedCertificateRequest: request}, true},
		"asking for a further domain":              {cloudfront.UpdateDistributionTenantInput{ManagedCertificateRequest: request, Domains: domains("a.customer.org", "b.customer.org")}, true},
		"a further domain that nothing covers":     {cloudfront.UpdateDistributionTenantInput{Domains: domains("a.customer.org", "b.customer.org")}, true},
		"a further domain the distribution covers": {cloudfront.UpdateDistributionTenantInput{Domains: domains("a.customer.org", "acme.example.com")}, false},
		"another domain in its place":              {cloudfront.UpdateDistributionTenantInput{Domains: domains("acme.example.com")}, false},
		"something else":                           {cloudfront.UpdateDistributionTenantInput{Enabled: sdk.Bool(false)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			tenant, etag := mustCreate(t, sim, "acme", asksFor(types.ValidationTokenHostSelfHosted, "a.customer.org"))
			tc.in.Id, tc.in.IfMatch = tenant.Id, &etag
			_, err := client(sim).UpdateDistributionTenant(t.Context(), &tc.in)
			if tc.refused {
				wantRefusal(t, err, 400, "InvalidArgument")
			} else if err != nil {
				t.Error(err)
			}
			if got := managedDetails(t, sim, "acme").CertificateStatus; got != types.ManagedCertificateStatusPendingValidation {
				t.Errorf("the request is %s", got)
			}
		})
	}
}

// TestLostRequest has ACM refuse what CloudFront asks of it: the tenant is there, the request is not retried, and an
// update repairs it.
func TestLostRequest(t *testing.T) {
	for name, tc := range map[string]struct {
		lose, restore func(*testing.T, *aws.Sim)
	}{
		"the caller may not make it": {
			func(_ *testing.T, s *aws.Sim) { s.ChangeSwitches(func(sw *aws.Switches) { sw.RequestLost = true }) },
			func(_ *testing.T, s *aws.Sim) { s.ChangeSwitches(func(sw *aws.Switches) { sw.RequestLost = false }) },
		},
		"a fault that names the tenant": {
			func(t *testing.T, s *aws.Sim) {
				t.Helper()
				must[string](t)(s.AddFault(aws.Fault{Operation: "RequestCertificate", Resource: "acme"}))
			},
			func(*testing.T, *aws.Sim) {},
		},
		"the account has as many certificates as it may": {
			func(_ *testing.T, s *aws.Sim) { s.SetQuotas(aws.Quotas{Certificates: 4}) },
			func(_ *testing.T, s *aws.Sim) { s.SetQuotas(aws.Quotas{Certificates: 5}) },
		},
		"the certificate would have more names than it may": {
			func(_ *testing.T, s *aws.Sim) { s.SetQuotas(aws.Quotas{NamesPerCertificate: 1}) },
			func(_ *testing.T, s *aws.Sim) { s.SetQuotas(aws.Quotas{NamesPerCertificate: 2}) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			tc.lose(t, sim)
			tenant, _ := mustCreate(t, sim, "acme", asksFor(types.ValidationTokenHostSelfHosted, "a.customer.org", "b.customer.org"))
			sim.Advance(time.Hour)
			_, err := client(sim).GetManagedCertificateDetails(t.Context(), &cloudfront.GetManagedCertificateDetailsInput{Identifier: tenant.Id})
			wantRefusal(t, err, 404, "EntityNotFound")
			state, _ := sim.Tenant("", "acme")
			if state.ManagedCertificate != "" || state.Domains["a.customer.org"] != "inactive" || state.Status != "Deployed" {
				t.Errorf("the tenant: %+v", state)
			}
			tc.restore(t, sim)
			update(t, sim, &cloudfront.UpdateDistributionTenantInput{
				Id: tenant.Id, IfMatch: &state.ETag, ManagedCertificateRequest: &types.ManagedCertificateRequest{ValidationTokenHost: types.ValidationTokenHostSelfHosted},
			})
			if got := managedDetails(t, sim, "acme").CertificateStatus; got != types.ManagedCertificateStatusPendingValidation {
				t.Errorf("the request that came through is %s", got)
			}
		})
	}
}

// TestAnyOperationIsNotRequestCertificate has a fault on everything strike what
// the client calls, not what CloudFront calls for it.
func TestAnyOperationIsNotRequestCertificate(t *testing.T) {
	sim := newSim(t)
	must[string](t)(sim.AddFault(aws.Fault{Resource: "a.customer.org"})) // a create mentions its name, not its domains
	mustCreate(t, sim, "acme", asksFor(types.ValidationTokenHostSelfHosted, "a.customer.org"))
	managedDetails(t, sim, "acme")
	if len(sim.Faults()) != 1 {
		t.Error("the fault struck")
	}
	if _, called := sim.Calls()["RequestCertificate"]; called {
		t.Error("the inner call was counted")
	}
}

// TestCertificateOutlivesItsTenant deletes a tenant in each state of its
// certificate.
func TestCertificateOutlivesItsTenant(t *testing.T) {
	t.Run("a pending one times out, wherever DNS leads", func(t *testing.T) {
		sim := newSim(t)
		mustCreate(t, sim, "acme", asksFor(types.ValidationTokenHostSelfHosted, "a.customer.org"))
		arn := *managedDetails(t, sim, "acme").CertificateArn
		_, err := acmClient(sim).DeleteCertificate(t.Context(), &sdkacm.DeleteCertificateInput{CertificateArn: &arn})
		wantRefusal(t, err, 400, "ResourceInUseException")
		removeTenant(t, sim, "acme")
		sim.SetResolving(true, "a.customer.org")
		sim.Advance(time.Hour)
		if got := certificateState(t, sim, arn); got.Status != "PENDING_VALIDATION" || len(got.InUseBy) != 0 {
			t.Errorf("after the tenant: %+v", got)
		}
		sim.Advance(72 * time.Hour)
		if got := certificateState(t, sim, arn); got.Status != "VALIDATION_TIMED_OUT" {
			t.Errorf("in the end: %+v", got)
		}
	})
	t.Run("an attached one is free, and its ARN is not used again", func(t *testing.T) {
		sim := newSim(t)
		arn := issuedTenant(t, sim, "acme")
		attachManaged(t, sim, "acme")
		_, err := acmClient(sim).DeleteCertificate(t.Context(), &sdkacm.DeleteCertificateInput{CertificateArn: &arn})
		wantRefusal(t, err, 400, "ResourceInUseException")
		removeTenant(t, sim, "acme")
		if again := issuedTenant(t, sim, "acme"); again == arn {
			t.Error("the next tenant of the name has the same certificate")
		}
		if _, err := acmClient(sim).DeleteCertificate(t.Context(), &sdkacm.DeleteCertificateInput{CertificateArn: &arn}); err != nil {
			t.Error(err)
		}
		_, err = acmClient(sim).DescribeCertificate(t.Context(), &sdkacm.DescribeCertificateInput{CertificateArn: &arn})
		wantRefusal(t, err, 400, "ResourceNotFoundException")
	})
	t.Run("one deleted under its tenant is no longer shown", func(t *testing.T) {
		sim := newSim(t)
		arn := issuedTenant(t, sim, "acme")
		if _, err := acmClient(sim).DeleteCertificate(t.Context(), &sdkacm.DeleteCertificateInput{CertificateArn: &arn}); err != nil {
			t.Fatal(err)
		}
		_, err := client(sim).GetManagedCertificateDetails(t.Context(), &cloudfront.GetManagedCertificateDetailsInput{Identifier: sdk.String("acme")})
		wantRefusal(t, err, 404, "EntityNotFound")
		found := get(t, sim, "acme")
		update(t, sim, &cloudfront.UpdateDistributionTenantInput{
			Id: found.DistributionTenant.Id, IfMatch: found.ETag, ManagedCertificateRequest: &types.ManagedCertificateRequest{ValidationTokenHost: types.ValidationTokenHostCloudFront},
		})
		if again := *managedDetails(t, sim, "acme").CertificateArn; again == arn {
			t.Error("the next request has the same certificate")
		}
	})
}

// TestRenewal lets a certificate come to its end.
func TestRenewal(t *testing.T) {
	const life = 198 * day
	for name, tc := range map[string]struct {
		attach   bool
		prepare  func(*aws.Sim)
		status   acmtypes.CertificateStatus
		renewal  acmtypes.RenewalStatus
		notAfter time.Time
	}{
		"one in use whose DNS leads there": {
			true, func(s *aws.Sim) { s.Advance(life) },
			acmtypes.CertificateStatusIssued, acmtypes.RenewalStatusSuccess, startTime.Add(issueDelay + 2*life - 45*day),
		},
		"the same after years": {
			true, func(s *aws.Sim) { s.Advance(4 * life) },
			acmtypes.CertificateStatusIssued, acmtypes.RenewalStatusSuccess, startTime.Add(issueDelay + 6*life - 5*45*day),
		},
		"one that was not attached": {
			false, func(s *aws.Sim) { s.Advance(life) },
			acmtypes.CertificateStatusExpired, acmtypes.RenewalStatusFailed, startTime.Add(issueDelay + life),
		},
		"one whose renewal has just begun": {
			true, func(s *aws.Sim) { s.Advance(life - 45*day); s.Advance(30 * time.Minute) },
			acmtypes.CertificateStatusIssued, acmtypes.RenewalStatusPendingAutoRenewal, startTime.Add(issueDelay + life),
		},
		"one that was taken off again": {
			true, func(s *aws.Sim) {
				found := get(t, allowing(s), "acme")
				update(t, s, &cloudfront.UpdateDistributionTenantInput{Id: found.DistributionTenant.Id, IfMatch: found.ETag, Customizations: &types.Customizations{}})
				s.Advance(life)
			},
			acmtypes.CertificateStatusExpired, acmtypes.RenewalStatusFailed, startTime.Add(issueDelay + life),
		},
		"one whose DNS went away": {
			true, func(s *aws.Sim) { s.SetResolving(false, "live.customer.org"); s.Advance(life) },
			acmtypes.CertificateStatusExpired, acmtypes.RenewalStatusFailed, startTime.Add(issueDelay + life),
		},
		"one whose DNS is away while it should be renewed": {
			true, func(s *aws.Sim) { s.SetResolving(false, "live.customer.org"); s.Advance(life - 44*day) },
			acmtypes.CertificateStatusIssued, acmtypes.RenewalStatusPendingValidation, startTime.Add(issueDelay + life),
		},
		"one whose DNS came back in time": {
			true, func(s *aws.Sim) {
				s.SetResolving(false, "live.customer.org")
				s.Advance(life - 44*day)
				s.SetResolving(true, "live.customer.org")
				s.Advance(2 * time.Hour)
			},
			acmtypes.CertificateStatusIssued, acmtypes.RenewalStatusSuccess, startTime.Add(issueDelay + 2*life - 44*day),
		},
		"one whose DNS came back too late": {
			true, func(s *aws.Sim) {
				s.SetResolving(false, "live.customer.org")
				s.Advance(life + time.Hour)
				s.SetResolving(true, "live.customer.org")
				s.Advance(day)
			},
			acmtypes.CertificateStatusExpired, acmtypes.RenewalStatusFailed, startTime.Add(issueDelay + life),
		},
	} {
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			arn := issuedTenant(t, sim, "acme")
			if got := describe(t, sim, arn); got.RenewalEligibility != acmtypes.RenewalEligibilityIneligible || got.RenewalSummary != nil {
				t.Errorf("a certificate that is not in use: %+v", got)
			}
			if tc.attach {
				attachManaged(t, sim, "acme")
				if got := describe(t, sim, arn); got.RenewalEligibility != acmtypes.RenewalEligibilityEligible {
					t.Errorf("an attached certificate is %s", got.RenewalEligibility)
				}
			}
			tc.prepare(sim)
			got := describe(t, sim, arn)
			if got.Status != tc.status || got.RenewalSummary == nil || got.RenewalSummary.RenewalStatus != tc.renewal || !got.NotAfter.Equal(tc.notAfter) {
				t.Errorf("%s, %+v, ends %v; want %s, %s, %v", got.Status, got.RenewalSummary, got.NotAfter, tc.status, tc.renewal, tc.notAfter)
			}
		})
	}
}

// TestARenewalSaysWhatKeepsItUp names the domains whose DNS does not lead to CloudFront any more.
func TestARenewalSaysWhatKeepsItUp(t *testing.T) {
	sim := newSim(t)
	end := startTime.Add(40 * day)
	if err := sim.Load(aws.Seed{Tenants: []aws.SeedTenant{
		{Name: "acme", DistributionID: "E2NOPARAMS", Domains: []string{"live.customer.org", "gone.customer.org"}, ManagedCertificate: &aws.SeedManagedCertificate{NotAfter: &end, Attached: true}},
		{Name: "spare", DistributionID: "E2NOPARAMS", Domains: []string{"spare.customer.org"}, ManagedCertificate: &aws.SeedManagedCertificate{NotAfter: &end}},
	}}); err != nil {
		t.Fatal(err)
	}
	arn := *managedDetails(t, sim, "acme").CertificateArn
	states := func() map[string]string {
		summary := describe(t, sim, arn).RenewalSummary
		got := map[string]string{"": string(summary.RenewalStatus), "reason": string(summary.RenewalStatusReason)}
		for _, option := range summary.DomainValidationOptions {
			got[*option.DomainName] = string(option.ValidationStatus)
		}
		return got
	}
	sim.Advance(time.Hour)
	waiting := map[string]string{"": "PENDING_VALIDATION", "reason": "", "live.customer.org": "SUCCESS", "gone.customer.org": "PENDING_VALIDATION"}
	if diff := cmp.Diff(waiting, states()); diff != "" {
		t.Errorf("while a name is away (-want +got):\n%s", diff)
	}
	if got := describe(t, sim, *managedDetails(t, sim, "spare").CertificateArn).RenewalSummary; got != nil {
		t.Errorf("a certificate that is not in use is renewed: %+v", got)
	}
	sim.Advance(40 * day)
	failed := map[string]string{"": "FAILED", "reason": "OTHER", "live.customer.org": "SUCCESS", "gone.customer.org": "FAILED"}
	if diff := cmp.Diff(failed, states()); diff != "" {
		t.Errorf("after its end (-want +got):\n%s", diff)
	}
}

// TestSeededCertificateEnds has a certificate end that CloudFront does not manage, and so does not renew.
func TestSeededCertificateEnds(t *testing.T) {
	sim := newSim(t)
	sim.Advance(366 * day)
	if got := describe(t, sim, wildcardARN); got.Status != acmtypes.CertificateStatusExpired {
		t.Errorf("after its end it is %s", got.Status)
	}
}

func TestServeTokenRefusals(t *testing.T) {
	sim := newSim(t)
	wantError(t, sim.ServeToken("a.customer.org"), "a.customer.org")
	status, text := raw(t, sim, "POST", "/_sim/serve-token", `{"domains":["a.customer.org"]}`)
	if status != 400 {
		t.Errorf("%d %s", status, text)
	}
	mustCreate(t, sim, "acme", asksFor(types.ValidationTokenHostSelfHosted, "a.customer.org"))
	ask[any](t, sim, "POST", "serve-token", `{"domains":["a.customer.org"]}`)
	sim.Advance(issueDelay)
	if got := managedDetails(t, sim, "acme").CertificateStatus; got != types.ManagedCertificateStatusIssued {
		t.Errorf("it is %s", got)
	}
}

// TestPendingDomainIsLocked keeps a domain at the tenant that waits for its
// certificate.
func TestPendingDomainIsLocked(t *testing.T) {
	sim := newSim(t)
	mustCreate(t, sim, "acme", asksFor(types.ValidationTokenHostSelfHosted, "shop.customer.test"))
	target, _ := mustCreate(t, sim, "target", func(in *createInput) {
		in.Customizations = &types.Customizations{Certificate: &types.Certificate{Arn: sdk.String(certARN(2))}}
	})
	move := &cloudfront.UpdateDomainAssociationInput{
		Domain: sdk.String("shop.customer.test"), TargetResource: &types.DistributionResourceId{DistributionTenantId: target.Id},
	}
	_, err := client(sim).UpdateDomainAssociation(t.Context(), move)
	wantRefusal(t, err, 400, "IllegalUpdate")
	if err := sim.ChangeCertificate(aws.CertificateChange{Tenant: "acme", Status: "FAILED"}); err != nil {
		t.Fatal(err)
	}
	if _, err := client(sim).UpdateDomainAssociation(t.Context(), move); err != nil {
		t.Errorf("moving a domain that waits for no certificate: %v", err)
	}
}

func TestSwitchCertificateMovesETag(t *testing.T) {
	for on, sim := range bothWays(t, "certificateMovesETag", func(sw *aws.Switches, on bool) { sw.CertificateMovesETag = on }) {
		_, etag := mustCreate(t, sim, "acme", asksFor(types.ValidationTokenHostCloudFront, "live.customer.org"))
		sim.Advance(time.Minute)
		if got := managedDetails(t, sim, "acme").CertificateStatus; got != types.ManagedCertificateStatusIssued {
			t.Errorf("it is %s", got)
		}
		after := get(t, sim, "acme")
		if moved := *after.ETag != etag; moved != on {
			t.Errorf("the ETag moved: %v", moved)
		}
		if *after.DistributionTenant.Status != "Deployed" || *list(t, sim)[0].ETag != *after.ETag {
			t.Errorf("after the certificate was issued: %+v", after.DistributionTenant)
		}
	}
}

func TestSwitchAttachesByItself(t *testing.T) {
	for on, sim := range bothWays(t, "attachesByItself", func(sw *aws.Switches, on bool) { sw.AttachesByItself = on }) {
		mustCreate(t, sim, "acme", asksFor(types.ValidationTokenHostCloudFront, "live.customer.org"), func(in *createInput) {
			in.Customizations = &types.Customizations{GeoRestrictions: &types.GeoRestrictionCustomization{RestrictionType: types.GeoRestrictionTypeNone}}
		})
		sim.Advance(issueDelay)
		got, _ := sim.Tenant("", "acme")
		attached := got.Customizations.CertificateARN == got.ManagedCertificate
		if attached != on || (got.Domains["live.customer.org"] == "active") != on || (got.Status == "InProgress") != on {
			t.Errorf("after the certificate was issued: %+v", got)
		}
		if got.Customizations.GeoRestrictionType != "none" {
			t.Error("the other customizations are gone")
		}
		if users := certificateState(t, sim, got.ManagedCertificate).InUseBy; (len(users) == 1) != on {
			t.Errorf("in use by %v", users)
		}
	}
}

func TestSwitchRequestLost(t *testing.T) {
	for on, sim := range bothWays(t, "requestLost", func(sw *aws.Switches, on bool) { sw.RequestLost = on }) {
		mustCreate(t, sim, "acme", asksFor(types.ValidationTokenHostCloudFront, "live.customer.org"))
		got, _ := sim.Tenant("", "acme")
		if lost := got.ManagedCertificate == ""; lost != on {
			t.Errorf("the request was lost: %v", lost)
		}
	}
}

func TestSwitchCertificateIssueDelay(t *testing.T) {
	sim := newSim(t)
	sim.ChangeSwitches(func(sw *aws.Switches) { sw.CertificateIssueDelay = time.Hour })
	mustCreate(t, sim, "acme", asksFor(types.ValidationTokenHostCloudFront, "live.customer.org"))
	sim.Advance(time.Hour - time.Second)
	if got := managedDetails(t, sim, "acme").CertificateStatus; got != types.ManagedCertificateStatusPendingValidation {
		t.Errorf("it is %s", got)
	}
	found := get(t, sim, "acme")
	updated := update(t, sim, &cloudfront.UpdateDistributionTenantInput{Id: found.DistributionTenant.Id, IfMatch: found.ETag, Enabled: sdk.Bool(false)}).DistributionTenant
	sim.ChangeSwitches(func(sw *aws.Switches) { sw.CertificateIssueDelay = 0 })
	if got := managedDetails(t, sim, "acme").CertificateStatus; got != types.ManagedCertificateStatusIssued {
		t.Errorf("without a delay it is %s", got)
	}
	if got := get(t, sim, "acme").DistributionTenant.LastModifiedTime; got.Before(*updated.LastModifiedTime) {
		t.Errorf("the tenant was changed at %v, and before that at %v", got, updated.LastModifiedTime)
	}
}

func TestSwitchCertificateLag(t *testing.T) {
	sim := newSim(t)
	sim.ChangeSwitches(func(sw *aws.Switches) { sw.CertificateLag = 5 * time.Second })
	mustCreate(t, sim, "acme", asksFor(types.ValidationTokenHostSelfHosted, "a.customer.org"))
	arn := managedDetails(t, sim, "acme").CertificateArn // CloudFront knows it at once
	_, err := acmClient(sim).DescribeCertificate(t.Context(), &sdkacm.DescribeCertificateInput{CertificateArn: arn})
	wantRefusal(t, err, 400, "ResourceNotFoundException")
	if got := listedCertificates(t, sim, &sdkacm.ListCertificatesInput{Includes: &acmtypes.Filters{ManagedBy: acmtypes.CertificateManagedByCloudfront}}); len(got) != 0 {
		t.Errorf("ACM lists %v", got)
	}
	sim.Advance(5 * time.Second)
	describe(t, sim, *arn)
}

// TestManyPendingCertificates makes sure that a fleet that waits gets its
// certificates, and not at the price of the calls meanwhile.
func TestManyPendingCertificates(t *testing.T) {
	const count = 10_000
	sim := newSim(t, func(o *aws.Options) { o.Quotas = aws.Quotas{Certificates: count + 100} })
	fleet := aws.Seed{ResolvingDomains: []string{"*.fleet.test"}}
	for i := range count {
		fleet.Tenants = append(fleet.Tenants, aws.SeedTenant{
			Name: fmt.Sprintf("t%05d", i), DistributionID: "E2NOPARAMS", Domains: []string{fmt.Sprintf("t%05d.fleet.test", i)},
			ManagedCertificate: &aws.SeedManagedCertificate{Status: "PENDING_VALIDATION"},
		})
	}
	if err := sim.Load(fleet); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		get(t, sim, "t00000")
	}
	sim.Advance(issueDelay)
	issued := listedCertificates(t, sim, &sdkacm.ListCertificatesInput{
		Includes: &acmtypes.Filters{ManagedBy: acmtypes.CertificateManagedByCloudfront}, CertificateStatuses: []acmtypes.CertificateStatus{"ISSUED"},
	})
	if len(issued) != count {
		t.Errorf("%d certificates are issued", len(issued))
	}
}
