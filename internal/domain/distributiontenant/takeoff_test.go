package distributiontenant_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

const (
	departs = "beta.example.com"
	oldID   = "E2OLD"
)

// gives has a claim for the second domain of the spec, which the distribution had when it was last read.
func gives(in *distributiontenant.Input) {
	names(ledName, departs)(in)
	in.World.Moves, in.World.Givers = []string{departs}, map[string]claim.Giver{departs: {Distribution: oldID}}
}

// giverRead has read the distribution in this pass, with those aliases, and the tenant's own one.
func giverRead(aliases ...string) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		in.World.Aliases = map[string][]string{oldID: aliases}
		d := *in.World.Distribution
		d.CertificateARN, in.World.Distribution = ownARN, &d
		in.World.Certificates = map[string]distributiontenant.Certificate{ownARN: {ARN: ownARN, Status: distributiontenant.CertificateIssued, Names: []string{"*.example.com"}}}
	}
}

func takeOffCases() map[string]question {
	ready := func(changes ...func(*distributiontenant.Input)) distributiontenant.Input {
		return with(with(quiet(), edited, gives, giverRead("other.example.com", "Beta.example.com")), changes...)
	}
	waits := distributiontenant.Rest{After: 5 * time.Minute}
	t := quiet().World.Tenant
	const held = distributiontenant.ReasonDomainChangeHeld
	return map[string]question{
		"the distribution is read first": {
			in: with(quiet(), edited, gives), rule: "TakenOff", step: distributiontenant.Look{At: distributiontenant.LookGiver, Distribution: oldID},
		},
		"a new tenant needs another domain": {
			in: with(unborn(), gives, names(departs), giverRead(departs)), rule: "Accompanied", step: distributiontenant.Rest{}, reason: claim.ReasonDomainClaimed, stuck: true,
		},
		"the domain is moved": {in: ready(), rule: "TakenOff", step: distributiontenant.Move{ID: t.ID, ETag: t.ETag, Domain: departs, From: oldID}},
		"where the drift policy writes nothing, too": {
			in: ready(drift(resource.DriftReport)), rule: "TakenOff", step: distributiontenant.Move{ID: t.ID, ETag: t.ETag, Domain: departs, From: oldID},
		},
		"wherever its DNS leads": {
			in: ready(watched(onboarding.Here), func(in *distributiontenant.Input) {
				in.Desired.Request = &certificate.Request{ValidationTokenHost: "cloudfront"}
				in.World.Sights[departs] = onboarding.Sight{Way: onboarding.Edge}
			}, sent, managed(newARN, certificate.Issued), has(ledName), func(in *distributiontenant.Input) {
				change(in, func(t *distributiontenant.Observed) { t.Customizations.CertificateARN = newARN })
				in.World.Certificates[newARN] = in.World.Certificates[ownARN]
			}), rule: "TakenOff", step: distributiontenant.Move{ID: t.ID, ETag: t.ETag, Domain: departs, From: oldID},
		},
		"as one that another tenant has": {
			in: with(quiet(), edited, names(ledName, departs), requested, sent, managed(newARN, certificate.Issued), has(ledName), watched(onboarding.Here), askedAWS(time.Minute), func(in *distributiontenant.Input) {
				in.World.Moves = []string{departs}
				in.World.Sights[departs] = onboarding.Sight{Way: onboarding.Edge}
			}), rule: "InSync", step: distributiontenant.Move{ID: t.ID, ETag: t.ETag, Domain: departs},
		},
		"a domain that the distribution lost is added": {
			in: ready(giverRead("other.example.com")), rule: "InSync",
			step: func() distributiontenant.Step {
				return distributiontenant.Decide(with(quiet(), edited, names(ledName, departs), giverRead())).Step
			}(),
		},
		"not to a tenant that is disabled": {
			in: ready(func(in *distributiontenant.Input) {
				in.Desired.Enabled = false
				change(in, func(t *distributiontenant.Observed) { t.Enabled = false })
			}), rule: "TakenOff", step: waits, reason: held,
		},
		"nor to one that someone has disabled": {
			in: ready(drift(resource.DriftReport), func(in *distributiontenant.Input) {
				in.Memory.AppliedGeneration = in.Generation
				change(in, func(t *distributiontenant.Observed) { t.Enabled = false })
			}), rule: "TakenOff", step: waits, reason: held,
		},
		"nor to one of a distribution that is disabled": {
			in: ready(func(in *distributiontenant.Input) { in.World.Distribution.Disabled = true }), rule: "TakenOff", step: waits, reason: held,
		},
		"nor to one of another distribution": {
			in: ready(drift(resource.DriftReport), func(in *distributiontenant.Input) {
				in.Memory.AppliedGeneration = in.Generation
				change(in, func(t *distributiontenant.Observed) { t.DistributionID = "E9" })
			}), rule: "TakenOff", step: waits, reason: held,
		},
		"nor while a certificate is pending": {
			in: ready(requested, sent, managed(newARN, certificate.Pending)), rule: "TakenOff", step: waits, reason: held,
		},
		"nor without a certificate that covers it": {
			in: ready(func(in *distributiontenant.Input) {
				in.World.Certificates[ownARN] = distributiontenant.Certificate{ARN: ownARN, Status: distributiontenant.CertificateIssued, Names: []string{ledName}}
			}), rule: "TakenOff", step: distributiontenant.Rest{}, reason: distributiontenant.ReasonCertificateSANMismatch, stuck: true,
		},
		"nor from the object that has it as an alias": {
			in: ready(func(in *distributiontenant.Input) {
				in.World.Givers = map[string]claim.Giver{departs: {Distribution: oldID, Declared: claim.Key{Kind: claim.KindDistribution, Namespace: "shop", Name: "old"}}}
			}), rule: "TakenOff", step: waits, reason: claim.ReasonDomainClaimed,
		},
		"nor while the tenant is deployed": {
			in: ready(deploying), rule: "Settled", step: distributiontenant.Rest{Follow: true, After: distributiontenant.Decide(with(quiet(), deploying)).Step.(distributiontenant.Rest).After}, reason: resource.ReasonCreating,
		},
	}
}

func deploying(in *distributiontenant.Input) {
	change(in, func(t *distributiontenant.Observed) { t.Status = "InProgress" })
}

// A record of the domain that is in DNS already stays, and no other is published before the move.
func TestTheRecordOfADomainThatDeparts(t *testing.T) {
	departing := with(quiet(), edited, publishing, gives, giverRead(departs), func(in *distributiontenant.Input) { in.World.Distribution.Disabled = true })
	for name, tt := range map[string]struct {
		in   distributiontenant.Input
		want []string
	}{
		"one that stands stays": {with(departing, ledger(dns.There, entry(ledName, dns.Published), entry(departs, dns.Published))), []string{ledName, departs}},
		"no other is published": {with(departing, ledger(dns.There, entry(ledName, dns.Published))), []string{ledName}},
	} {
		t.Run(name, func(t *testing.T) {
			records, _ := tt.in.Wants()
			var got []string
			for _, r := range records {
				got = append(got, r.Name)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
		})
	}
}

// A customer is not asked for a DNS record before the domain is moved.
func TestADomainThatDepartsAsksForNoRecord(t *testing.T) {
	in := with(quiet(), edited, gives, requested, watched(onboarding.Nowhere), giverRead(departs), func(in *distributiontenant.Input) {
		in.World.Sights[departs] = onboarding.Sight{Way: onboarding.Edge, At: now}
		in.World.Distribution.Disabled = true
	})
	r := distributiontenant.Conclude(in, distributiontenant.Outcome{Decision: distributiontenant.Decide(in)})
	i := slices.IndexFunc(r.Domains, func(d onboarding.Domain) bool { return d.Domain == departs })
	if i < 0 || r.Domains[i].State != onboarding.Deploying || r.Domains[i].WaitsFor != onboarding.Operator {
		t.Errorf("status says %+v", r.Domains)
	}
}

func TestTakeOff(t *testing.T) {
	for name, q := range takeOffCases() {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}
