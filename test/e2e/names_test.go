package e2e_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// namedZone is a zone that no certificate covers.
const namedZone = "customers.example.net"

// wakeInterval is more than the time between the portions in which objects are woken to write their certificate.
const wakeInterval = 8 * time.Second

// The cost of a fleet whose tenants have a managed certificate and a DNS record each, all in one zone under Route 53's
// own limits, and its remains.
func TestFleetWithCertificatesAndDNS(t *testing.T) {
	t.Parallel()
	s := newScene(t, stack.Options{DeployDelay: 2 * time.Second, PageSize: pageSize})
	group := s.prepareNames()
	f := newFleet(t, s)
	f.Shape = func(o *v1alpha1.DistributionTenant) {
		o.Spec.ConnectionGroupID = group
		o.Spec.Domains = []v1alpha1.TenantDomain{{Domain: o.Name + "." + namedZone}}
		o.Spec.ManagedCertificateRequest = &v1alpha1.ManagedCertificateRequest{ValidationTokenHost: v1alpha1.ValidationTokenHostCloudFront}
		o.Spec.DNS = &v1alpha1.DNS{Provider: v1alpha1.DNSProviderRoute53}
	}
	op := s.operator(stack.OperatorOptions{Flags: []string{"--aws-rate=100", "--acm-rate=100", "--sweep-interval=10s"}})

	// How many of the states between "created" and Ready a tenant is seen in, each a write, and how often the account is
	// listed meanwhile, depends on how quick the machine is.
	begun := time.Now()
	f.create(budget{calls: 4.4, writes: 9, events: 3}) // Created, Published, and Updated with the certificate
	s.batched(time.Since(begun))
	f.settle(op)
	f.certificatesInStatus()
	f.rest("ListCertificates")

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := f.Delete(ctx); err != nil {
		t.Fatal(err)
	}
	s.eventually(func(g gomega.Gomega) {
		g.Expect(s.inAWS()).To(gomega.BeEmpty())
		g.Expect(s.namesLeft()).To(gomega.BeEmpty())
	})
}

// prepareNames makes the zone and the connection group of the fleet, and returns the group's id.
func (s *scene) prepareNames() string {
	s.t.Helper()
	ctx := s.t.Context()
	group, err := s.AWS.CreateConnectionGroup(ctx, "fleet")
	for _, prepare := range []func() error{
		func() error { return s.AWS.CreateZone(ctx, namedZone) },
		func() error { return s.AWS.LimitRoute53(ctx) },
		func() error {
			return s.AWS.Switch(ctx, map[string]any{"route53SyncDelay": "1s", "certificateIssueDelay": "3s"})
		},
	} {
		if err == nil {
			err = prepare()
		}
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return group
}

// batched wants the records to have come in batches, within Route 53's limits. The more time the
// certificates take to come one by one, the smaller the batches: on a slow machine there may be one in each second, but never one for each record.
func (s *scene) batched(took time.Duration) {
	s.t.Helper()
	uses, err := s.AWS.LimitUses(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	refused := map[string]int{}
	for _, u := range uses {
		if u.Refused > 0 {
			refused[u.Operation] = u.Refused
		}
	}
	if diff := cmp.Diff(map[string]int{}, refused); diff != "" {
		s.t.Errorf("calls that Route 53 refused for their rate (-want +got):\n%s", diff)
	}
	if batches := s.calls()["ChangeResourceRecordSets"].Committed; batches > min(fleetSize/2, max(fleetSize/5, int(took.Seconds()))) {
		s.t.Errorf("%d records took %d batches in %s", fleetSize, batches, took)
	}
}

// certificatesInStatus waits until what the hourly list of certificates shows is in the status of the objects, a few at a time. An object that got its
// certificate after that list waits for the next one.
func (f *fleet) certificatesInStatus() {
	f.s.t.Helper()
	f.s.eventually(func(g gomega.Gomega) {
		g.Expect(f.s.calls()["ListCertificates"].OK).NotTo(gomega.BeZero())
		before := f.tally()
		pause(f.s.t, wakeInterval)
		g.Expect(f.tally()).To(gomega.Equal(before))
	})
}

// namesLeft lists the records of the fleet and the certificates that CloudFront manages.
func (s *scene) namesLeft() (left []string) {
	s.t.Helper()
	state, err := s.AWS.State(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, z := range state.HostedZones {
		for _, r := range z.Records {
			if strings.HasSuffix(r.Name, "."+namedZone) {
				left = append(left, r.Type+" "+r.Name)
			}
		}
	}
	for _, c := range state.Certificates {
		if c.ManagedBy != "" {
			left = append(left, c.ARN)
		}
	}
	return left
}
