package distributiontenant_test

import (
	"fmt"
	"slices"

	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

const (
	oldDistribution = "E2OLD"
	live            = "live.example.com"
	moved           = "UpdateDomainAssociation"
)

// takeoff is a world with a standard distribution that serves customers.
type takeoff struct {
	*rig

	t *testing.T
	// holders are the resources that had the domain, in their order, at all changes of AWS. Empty: none had it.
	holders []string
	moves   []string
}

func newTakeoff(t *testing.T, options rigOptions) *takeoff {
	t.Helper()
	f := &takeoff{t: t}
	more := options.seed
	options.seed = func(s *sim.Seed) {
		s.Distributions = append(s.Distributions, sim.SeedDistribution{
			ID: oldDistribution, ConnectionMode: "direct", CertificateARN: broadCertificate, Aliases: []string{live, "second.example.com", "stays.example.com"},
		})
		if more != nil {
			more(s)
		}
	}
	options.options.Claims = &world.Holds{Own: holdOwn, Customer: holdCustomer}
	f.rig = newRig(t, options)
	f.sampled = f.sample
	return f
}

// sample notes what has the domain, and checks that CloudFront would answer for it there.
func (f *takeoff) sample(v sim.View) {
	holder := v.Domains()[live]
	if len(f.holders) == 0 || f.holders[len(f.holders)-1] != holder {
		f.holders = append(f.holders, holder)
	}
	if v.Operation == moved && !v.After {
		f.moves = append(f.moves, v.Now.Format(time.TimeOnly))
	}
}

func (f *takeoff) claim(domain string, change ...func(*v1alpha1.DomainClaim)) {
	f.t.Helper()
	o := &v1alpha1.DomainClaim{Spec: v1alpha1.DomainClaimSpec{Domain: domain, Namespace: f.Namespace, HandOver: true, FromDistributionID: oldDistribution}}
	o.Name = claim.Name(domain)
	for _, c := range change {
		c(o)
	}
	if err := f.Kube.Create(f.t.Context(), o); err != nil {
		f.t.Fatal(err)
	}
}

// unmoved checks that the distribution still has the domain, and has had it all the time.
func (f *takeoff) unmoved() {
	f.t.Helper()
	if old, _ := f.Sim.Distribution("", oldDistribution); len(f.moves) > 0 || len(f.holders) > 1 || !slices.Contains(old.Aliases, live) {
		f.t.Errorf("the domain was had by %q, and moved at %v: want it only on %s", f.holders, f.moves, oldDistribution)
	}
}

// arrived checks that the domain went from the distribution to the tenant, and was never without either.
func (f *takeoff) arrived(name string) {
	f.t.Helper()
	if want := []string{oldDistribution, inAWS(f.t, f.World, name).ID}; !slices.Equal(f.holders, want) {
		f.t.Errorf("the domain was had by %q, want %q", f.holders, want)
	}
}

// change changes a distribution, past the operator.
func (f *takeoff) change(id string, how func(*types.DistributionConfig)) {
	f.t.Helper()
	seen, err := f.AWS().GetDistributionConfig(f.t.Context(), &cloudfront.GetDistributionConfigInput{Id: &id})
	if err != nil {
		f.t.Fatal(err)
	}
	how(seen.DistributionConfig)
	if _, err = f.AWS().UpdateDistribution(f.t.Context(), &cloudfront.UpdateDistributionInput{
		Id: &id, IfMatch: seen.ETag, DistributionConfig: seen.DistributionConfig,
	}); err != nil {
		f.t.Fatal(err)
	}
}

func (f *takeoff) aliases(list ...string) {
	f.t.Helper()
	f.change(oldDistribution, func(c *types.DistributionConfig) {
		c.Aliases = &types.Aliases{Quantity: awssdk.Int32(int32(len(list))), Items: list}
	})
	f.holders = nil
}

func (f *takeoff) enable(id string, enabled bool) {
	f.t.Helper()
	f.change(id, func(c *types.DistributionConfig) { c.Enabled = &enabled })
}

func (f *takeoff) certificate(id, arn string) {
	f.t.Helper()
	f.change(id, func(c *types.DistributionConfig) {
		c.ViewerCertificate.ACMCertificateArn, c.ViewerCertificate.Certificate = &arn, &arn //nolint:staticcheck // AWS returns both, and they have to agree
	})
}

// leads has a customer set the record of a domain.
func (f *takeoff) leads(domain, target string) {
	f.t.Helper()
	f.exempt[domain] = true
	f.changeRecord(coveredZone, r53types.ChangeActionUpsert, plain(r53types.RRTypeCname, domain, target, 60))
}

// endpoint is the name of the standard distribution to which the customer's record leads.
func (f *takeoff) endpoint() string {
	f.t.Helper()
	old, found := f.Sim.Distribution("", oldDistribution)
	if !found {
		f.t.Fatal("the distribution is gone")
	}
	return old.DomainName
}

func disabledTenant(o *v1alpha1.DistributionTenant) { o.Spec.Enabled = awssdk.Bool(false) }

// A customer that is live on a standard distribution moves to a tenant. At every moment exactly one of both has the domain,
// wherever the process ends.
func TestADomainMovesFromAStandardDistribution(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]edit{
		"the customer's record":   func(*v1alpha1.DistributionTenant) {},
		"records of the operator": withDNS(),
		"drift is only reported":  drift(v1alpha1.DriftPolicyReport),
		"a managed certificate":   managed(v1alpha1.ValidationTokenHostCloudFront),
	} {
		for n := range 8 {
			t.Run(fmt.Sprintf("%s, crash %d", name, n), func(t *testing.T) {
				t.Parallel()
				f := newTakeoff(t, rigOptions{})
				f.leads(live, f.endpoint())
				if name == "a managed certificate" {
					f.leads("shop.example.com", mainEndpoint)
				}
				f.claim(live)
				if n > 0 {
					f.CrashAt(n, n%2 == 0)
				}
				f.Apply(f.Tenant("shop", domains("shop.example.com", live), change))
				f.Advance(30 * time.Minute)
				f.arrived("shop")
				if name == "a managed certificate" {
					f.leads(live, mainEndpoint)
					f.Advance(time.Hour)
				}
				is(t, f.World, "shop", readyTrue, syncedTrue)
				f.arrived("shop")
				if old, _ := f.Sim.Distribution("", oldDistribution); !slices.Equal(old.Aliases, []string{"second.example.com", "stays.example.com"}) {
					t.Errorf("the distribution has %v", old.Aliases)
				}
			})
		}
	}
}

// Two domains move, one after the other, and each once the tenant is deployed with the one before. The wildcard is not in the
// claims, and stays.
func TestTwoDomainsMoveOneAfterTheOther(t *testing.T) {
	t.Parallel()
	f := newTakeoff(t, rigOptions{})
	f.claim(live)
	f.claim("second.example.com")
	f.Apply(f.Tenant("shop", domains("shop.example.com", live, "second.example.com")))
	f.Advance(30 * time.Minute)
	is(t, f.World, "shop", readyTrue, syncedTrue)
	f.arrived("shop")
	if len(f.moves) != 2 || f.moves[0] == f.moves[1] {
		t.Errorf("moves at %v", f.moves)
	}
	if old, _ := f.Sim.Distribution("", oldDistribution); !slices.Equal(old.Aliases, []string{"stays.example.com"}) {
		t.Errorf("the distribution has %v", old.Aliases)
	}
}

// The certificate that covers the domain comes with the same change of the spec. It is attached first.
func TestADomainMovesAfterItsCertificateIsAttached(t *testing.T) {
	t.Parallel()
	const narrow = "arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-4000-8000-0000000000cc"
	f := newTakeoff(t, rigOptions{seed: func(s *sim.Seed) {
		s.Certificates = append(s.Certificates, sim.SeedCertificate{ARN: narrow, Names: []string{"shop.example.com"}})
		s.Distributions[0].CertificateARN = narrow
	}})
	f.claim(live)
	ready(t, f.World, "shop", domains("shop.example.com"))
	f.Edit("shop", all(domains("shop.example.com", live), func(o *v1alpha1.DistributionTenant) {
		o.Spec.Customizations = &v1alpha1.Customizations{Certificate: &v1alpha1.CertificateCustomization{ARN: broadCertificate}}
	}))
	f.Advance(30 * time.Minute)
	is(t, f.World, "shop", readyTrue, syncedTrue)
	f.arrived("shop")
	if len(f.moves) != 1 {
		t.Errorf("moves at %v", f.moves)
	}
}

// AWS may demand that the distribution is disabled first. The domain then stays, and the object has AWS's words.
func TestAMoveThatAWSRefusesChangesNothing(t *testing.T) {
	t.Parallel()
	f := newTakeoff(t, rigOptions{switches: func(s *sim.Switches) { s.MoveNeedsDisabledSource = true }})
	f.claim(live)
	f.Apply(f.Tenant("shop", domains("shop.example.com", live)))
	f.Advance(time.Hour)
	says(t, f.World, "shop", "Ready", "must be disabled first")
	if want := []string{oldDistribution}; !slices.Equal(f.holders, want) || len(f.moves) > 15 {
		t.Errorf("the domain was had by %q, after %d tries", f.holders, len(f.moves))
	}
}

// A domain is not moved while CloudFront would not answer for it on the tenant, or while something would move it back. The
// object says what it waits for, and continues when that has come.
func TestADomainStaysOnItsDistribution(t *testing.T) {
	t.Parallel()
	const second = "arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-4000-8000-0000000000cc"
	for name, tt := range map[string]struct {
		change edit
		before func(*takeoff)
		says   string
		// then makes the domain move.
		then func(*takeoff)
	}{
		"the tenant is disabled": {
			change: disabledTenant, says: "once this tenant is enabled",
			then: func(f *takeoff) {
				f.Edit("shop", func(o *v1alpha1.DistributionTenant) { o.Spec.Enabled = awssdk.Bool(true) })
			},
		},
		"its distribution is disabled": {
			before: func(f *takeoff) { f.enable(world.DistributionID, false) }, says: "once the distribution E2EXAMPLE1 of this tenant is enabled",
			then: func(f *takeoff) { f.enable(world.DistributionID, true) },
		},
		"no certificate covers it": {
			before: func(f *takeoff) { f.certificate(world.DistributionID, second) }, says: "no certificate covers " + live,
			then: func(f *takeoff) { f.certificate(world.DistributionID, broadCertificate) },
		},
		"a requested certificate is pending": {
			change: managed(v1alpha1.ValidationTokenHostCloudFront), says: "once the certificate that was requested for this tenant is attached",
			before: func(f *takeoff) {
				f.leads("shop.example.com", mainEndpoint)
				f.Sim.ChangeSwitches(func(s *sim.Switches) { s.CertificateIssueDelay = 3 * time.Hour })
			},
			then: func(f *takeoff) { f.Advance(3 * time.Hour) },
		},
		"it is the only domain": {
			change: domains(live), says: "Add another domain to spec.domains",
			then: func(f *takeoff) { f.Edit("shop", domains("shop.example.com", live)) },
		},
		"a Distribution object has it": {
			before: func(f *takeoff) {
				o := f.Distribution("old", func(o *v1alpha1.Distribution) { o.Spec.Aliases, o.Spec.DistributionID = []string{live}, "EGONE" })
				if err := f.Kube.Create(f.t.Context(), o); err != nil {
					f.t.Fatal(err)
				}
			},
			says: "a Distribution object has it in spec.aliases and would put it back",
			then: func(f *takeoff) {
				if err := f.Kube.Delete(f.t.Context(), f.Distribution("old")); err != nil {
					f.t.Fatal(err)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newTakeoff(t, rigOptions{seed: func(s *sim.Seed) {
				s.Certificates = append(s.Certificates, sim.SeedCertificate{ARN: second, Names: []string{"shop.example.com"}})
			}})
			if tt.before != nil {
				tt.before(f)
			}
			f.claim(live)
			change := tt.change
			if change == nil {
				change = func(*v1alpha1.DistributionTenant) {}
			}
			f.Apply(f.Tenant("shop", domains("shop.example.com", live), change))
			f.Advance(time.Hour)
			f.unmoved()
			says(t, f.World, "shop", "Ready", tt.says)
			if f.Condition("shop", "Ready") == "Ready=False/DomainChangeHeld" {
				says(t, f.World, "shop", "Synced", tt.says)
			}
			tt.then(f)
			f.Advance(time.Hour)
			f.arrived("shop")
			is(t, f.World, "shop", syncedTrue)
		})
	}
}

// A claim of another namespace, or for another object, moves nothing to this one.
func TestOnlyTheReceiverOfTheClaimTakesADomain(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*v1alpha1.DomainClaim){
		"another namespace": func(o *v1alpha1.DomainClaim) { o.Spec.Namespace = "elsewhere" },
		"another object": func(o *v1alpha1.DomainClaim) {
			o.Spec.TenantRef = &v1alpha1.DomainClaimTenantReference{Name: "another"}
		},
		"no hand-over":         func(o *v1alpha1.DomainClaim) { o.Spec.HandOver, o.Spec.FromDistributionID = false, "" },
		"another distribution": func(o *v1alpha1.DomainClaim) { o.Spec.FromDistributionID = "E2NOTHAS" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newTakeoff(t, rigOptions{seed: func(s *sim.Seed) {
				s.Distributions = append(s.Distributions, sim.SeedDistribution{ID: "E2NOTHAS", ConnectionMode: "direct"})
			}})
			f.claim(live, change)
			f.Apply(f.Tenant("shop", domains("shop.example.com", live)))
			f.Advance(time.Hour)
			f.unmoved()
		})
	}
}

// A distribution that does not have the domain gives nothing: a domain that is free is added, and one that something else
// has is a conflict, which names what has it.
func TestADistributionThatLacksTheDomainGivesNothing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		gone  bool
		third bool
		list  []string
	}{
		"it is free":                      {list: []string{"shop.example.com", live}},
		"it is free, and the only domain": {list: []string{live}},
		"the distribution is gone":        {list: []string{"shop.example.com", live}, gone: true},
		"another tenant has it":           {list: []string{"shop.example.com", live}, third: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newTakeoff(t, rigOptions{})
			f.aliases("stays.example.com")
			if tt.third {
				foreign(t, f.World, "third", func(in *cloudfront.CreateDistributionTenantInput) {
					in.Domains = []types.DomainItem{{Domain: awssdk.String(live)}}
				})
			}
			f.claim(live, func(o *v1alpha1.DomainClaim) {
				if tt.gone {
					o.Spec.FromDistributionID = "EGONE"
				}
			})
			f.Apply(f.Tenant("shop", domains(tt.list...)))
			f.Advance(time.Hour)
			if len(f.moves) > 0 {
				t.Errorf("moves at %v", f.moves)
			}
			if tt.third {
				is(t, f.World, "shop", "Ready=False/DomainConflict")
				if has := inAWS(t, f.World, "third").Domains; has[live] == "" {
					t.Errorf("the other tenant has %v", has)
				}
				return
			}
			is(t, f.World, "shop", readyTrue, syncedTrue)
		})
	}
}

// A customer whose DNS leads to the distribution is moved at once, where the operator looks at public DNS and CloudFront would
// refuse the domain in an update. Status then has the record that the customer sets.
func TestADomainThatLeadsElsewhereIsMoved(t *testing.T) {
	t.Parallel()
	c := &customers{ways: map[string]onboarding.Sight{live: {Way: onboarding.Edge, Seen: []string{"dold.cloudfront.net"}}}, looks: map[string]int{}}
	f := newTakeoff(t, rigOptions{options: world.Options{Guide: c}})
	f.leads("shop.example.com", mainEndpoint)
	f.leads(live, f.endpoint())
	f.Apply(f.Tenant("shop", domains("shop.example.com"), managed(v1alpha1.ValidationTokenHostCloudFront)))
	f.Advance(time.Hour)
	is(t, f.World, "shop", readyTrue, syncedTrue)
	f.claim(live)
	f.Edit("shop", domains("shop.example.com", live))
	f.Advance(10 * time.Minute)
	f.arrived("shop")
	status := get(t, f.World, "shop").Status.Domains
	i := slices.IndexFunc(status, func(d v1alpha1.DomainStatus) bool { return d.Domain == live })
	if i < 0 {
		t.Fatalf("status has no %s: %+v", live, status)
	}
	if d := status[i]; d.State != v1alpha1.DomainAwaitingDNS || !slices.ContainsFunc(d.Records, func(r v1alpha1.DomainRecord) bool { return r.Value == mainEndpoint && r.State == "Wrong" }) {
		t.Errorf("status says %+v", d)
	}
}
