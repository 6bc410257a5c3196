package distributiontenant_test

import (
	"net/http"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	faults "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// The additions to the usual seed in these tests.
const (
	strictDistribution = "ESTRICT1"
	bareDistribution   = "EBARE1"
	directDistribution = "EDIRECT1"
	otherAccount       = "444455556666"
	otherKey           = "AKIAOTHER"
	pendingCertificate = "arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-4000-8000-00000000000a"
)

// hostileSeed has something of everything that a spec can be wrong about.
func hostileSeed() *sim.Seed {
	s := world.Seed()
	s.Accounts = append(s.Accounts, sim.SeedAccount{ID: otherAccount, AccessKeys: []string{otherKey}})
	s.Certificates = append(s.Certificates, sim.SeedCertificate{ARN: pendingCertificate, Names: []string{"*.example.com"}, Status: "PENDING_VALIDATION"})
	s.Distributions = append(s.Distributions,
		sim.SeedDistribution{ID: strictDistribution, CertificateARN: sim.DefaultCertificateARN, Parameters: []sim.SeedParameter{{Name: "customer", Required: true}}},
		sim.SeedDistribution{ID: bareDistribution},
		sim.SeedDistribution{ID: directDistribution, ConnectionMode: "direct"},
		sim.SeedDistribution{ID: "EOTHER1", Account: otherAccount},
	)
	s.Tenants = append(s.Tenants, sim.SeedTenant{
		Account: otherAccount, Name: "stranger", DistributionID: "EOTHER1", Domains: []string{"stolen.example.com"},
	})
	return &s
}

// stranger is a client of the other account.
func stranger(w *world.World) *cloudfront.Client {
	return cloudfront.NewFromConfig(awssdk.Config{
		Region: "us-east-1", BaseEndpoint: awssdk.String("http://aws.test"),
		Credentials: credentials.NewStaticCredentialsProvider(otherKey, "secret", ""),
		HTTPClient:  &http.Client{Transport: w.Sim.Transport()},
	})
}

// of names another distribution.
func of(id string) edit { return func(o *v1alpha1.DistributionTenant) { o.Spec.DistributionID = id } }

func certificate(arn string) edit {
	return func(o *v1alpha1.DistributionTenant) {
		o.Spec.Customizations = &v1alpha1.Customizations{Certificate: &v1alpha1.CertificateCustomization{ARN: arn}}
	}
}

// wrong is an object that can't become Ready, and the change that fixes it.
type wrong struct {
	// arrange causes the problem in AWS and returns the fix there; it may be nil.
	arrange func(t *testing.T, w *world.World) (cure func())
	// object causes the problem in the spec, edit fixes it there; either may be nil.
	object, edit edit
	reason       string
	says         []string
}

func wrongs() map[string]wrong {
	const denied = "User: arn:aws:iam::111122223333:user/op is not authorized to perform: cloudfront:CreateDistributionTenant"
	return map[string]wrong{
		"a required parameter is missing": {
			object: of(strictDistribution), edit: params("customer", "acme"),
			reason: "MissingParameters", says: []string{"spec.parameters", "customer", strictDistribution},
			arrange: func(t *testing.T, w *world.World) func() {
				t.Helper()
				return func() { undeclare(t, w, strictDistribution) }
			},
		},
		"a parameter is not declared by the distribution": {
			object: params("colour", "red"), edit: params("tier", "red"),
			reason: "ValidationFailed", says: []string{"spec.parameters", "colour", world.DistributionID, "origin, tier"},
		},
		"nothing has a certificate": {
			object: of(bareDistribution), edit: certificate(sim.DefaultCertificateARN),
			reason: "MissingCertificate", says: []string{"alpha.example.com", bareDistribution, "spec.customizations.certificate.arn", "spec.managedCertificateRequest"},
		},
		"the certificate does not exist": {
			object: certificate("arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-4000-8000-0000000000ff"),
			edit:   func(o *v1alpha1.DistributionTenant) { o.Spec.Customizations = nil },
			reason: "MissingCertificate", says: []string{"spec.customizations.certificate.arn: the certificate", "0000000000ff", "us-east-1"},
		},
		"the certificate is not issued": {
			object: certificate(pendingCertificate), edit: certificate(sim.DefaultCertificateARN),
			reason: "MissingCertificate", says: []string{pendingCertificate, "PENDING_VALIDATION"},
		},
		"no certificate covers a domain": {
			object: domains("alpha.example.com", "a.b.example.com"), edit: domains("alpha.example.com", "b.example.com"),
			reason: "CertificateSANMismatch", says: []string{"spec.domains", "a.b.example.com", "*.example.com", "one label"},
		},
		"the distribution is unknown": {
			object: of("ENOSUCH1"), edit: of(world.DistributionID),
			reason: "ValidationFailed", says: []string{"spec.distributionId", "ENOSUCH1"},
		},
		"the distribution takes no tenants": {
			object: of(directDistribution), edit: of(world.DistributionID),
			reason: "ValidationFailed", says: []string{"spec.distributionId", directDistribution, "multi-tenant"},
		},
		"the connection group is unknown": {
			object: func(o *v1alpha1.DistributionTenant) { o.Spec.ConnectionGroupID = "cg_nosuch" },
			edit:   func(o *v1alpha1.DistributionTenant) { o.Spec.ConnectionGroupID = "" },
			reason: "InvalidSpec", says: []string{"cg_nosuch"},
		},
		"the account is full": {
			reason: "QuotaExceeded", says: []string{"quota"},
			arrange: func(t *testing.T, w *world.World) func() {
				t.Helper()
				foreign(t, w, "filler")
				w.Sim.SetQuotas(sim.Quotas{Tenants: 1})
				return func() { w.Sim.SetQuotas(sim.Quotas{Tenants: 100}) }
			},
		},
		"the operator may not create": {
			reason: "AccessDenied", says: []string{"CreateDistributionTenant", "is not authorized to perform"},
			arrange: func(t *testing.T, w *world.World) func() {
				t.Helper()
				return refusing(t, w, "CreateDistributionTenant", http.StatusForbidden, "AccessDenied", denied)
			},
		},
		"the domain is held by a foreign tenant": {
			reason: "DomainConflict", says: []string{"alpha.example.com", "that no operator owns", "platform team"},
			edit: domains("beta.example.com"),
			arrange: func(t *testing.T, w *world.World) func() {
				t.Helper()
				s := foreign(t, w, "squatter", func(in *cloudfront.CreateDistributionTenantInput) {
					in.Domains = []types.DomainItem{{Domain: awssdk.String("alpha.example.com")}}
				})
				return func() { untouched(t, w, s); removeOutOfBand(t, w, "squatter") }
			},
		},
		"the domain is held in another account": {
			object: domains("stolen.example.com"), edit: domains("beta.example.com"),
			reason: "DomainConflict", says: []string{"stolen.example.com", "UpdateDomainAssociation"},
			arrange: func(t *testing.T, w *world.World) func() {
				t.Helper()
				return func() {
					s, _ := w.Sim.Tenant(otherAccount, "stranger")
					_, err := stranger(w).UpdateDistributionTenant(t.Context(), &cloudfront.UpdateDistributionTenantInput{
						Id: &s.ID, IfMatch: &s.ETag, ManagedCertificateRequest: &types.ManagedCertificateRequest{ValidationTokenHost: "self-hosted"},
						Domains: []types.DomainItem{{Domain: awssdk.String("free.example.com")}},
					})
					if err != nil {
						t.Fatalf("giving the domain up: %v", err)
					}
				}
			},
		},
		"the name is taken by a foreign tenant": {
			object: domains("beta.example.com"), edit: adoption(v1alpha1.AdoptionPolicyIfUnowned),
			reason: "AdoptionRequired", says: []string{`"alpha"`, "no owner tags", "spec.adoptionPolicy to IfUnowned", "spec.tenantName"},
			arrange: func(t *testing.T, w *world.World) func() {
				t.Helper()
				s := foreign(t, w, "alpha")
				return func() { untouched(t, w, s); removeOutOfBand(t, w, "alpha") }
			},
		},
	}
}

// undeclare takes a distribution's parameters away.
func undeclare(t *testing.T, w *world.World, id string) {
	t.Helper()
	out, err := w.AWS().GetDistributionConfig(t.Context(), &cloudfront.GetDistributionConfigInput{Id: &id})
	if err != nil {
		t.Fatalf("reading the distribution: %v", err)
	}
	out.DistributionConfig.TenantConfig = nil
	_, err = w.AWS().UpdateDistribution(t.Context(), &cloudfront.UpdateDistributionInput{Id: &id, IfMatch: out.ETag, DistributionConfig: out.DistributionConfig})
	if err != nil {
		t.Fatalf("changing the distribution: %v", err)
	}
}

// A refusal ends no pass with an error, and alerts have to see it all the same: it is counted with each try.
func TestRefusalsAreCounted(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]faults.Kind{
		"the operator may not create": faults.Denied, "the account is full": faults.Quota, "the domain is held by a foreign tenant": faults.DomainTaken,
		"the connection group is unknown": faults.Invalid, "the distribution is unknown": faults.None,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := broken(t, wrongs()[name])
			want := map[faults.Kind]int{}
			if n := w.Calls()["CreateDistributionTenant"]; kind != faults.None {
				want[kind] = n
			}
			if kind == faults.DomainTaken || kind == faults.Quota {
				want[kind]-- // the foreign tenant's own create
			}
			if d := cmp.Diff(want, w.Failures, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("counted (-want +got):\n%s", d)
			}
		})
	}
}

func TestAWrongObjectSaysWhatIsWrongAndRecovers(t *testing.T) {
	t.Parallel()
	for name, c := range wrongs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("when the spec is fixed, at once", func(t *testing.T) {
				t.Parallel()
				if c.edit == nil {
					t.Skip("nothing in the spec can fix it")
				}
				w, _ := broken(t, c)
				w.Edit("alpha", c.edit)
				w.Advance(5 * time.Second)
				is(t, w, "alpha", syncedTrue)
				w.Advance(settle)
				is(t, w, "alpha", readyTrue)
			})
			t.Run("when AWS is fixed, by the schedule", func(t *testing.T) {
				t.Parallel()
				w, cure := broken(t, c)
				if cure == nil {
					t.Skip("nothing in AWS can fix it")
				}
				cure()
				w.Advance(25 * time.Minute)
				is(t, w, "alpha", syncedTrue, readyTrue)
			})
			t.Run("when AWS is fixed and a person asks to look again, at once", func(t *testing.T) {
				t.Parallel()
				w, cure := broken(t, c)
				if cure == nil {
					t.Skip("nothing in AWS can fix it")
				}
				// Whatever was looked up a moment ago must not stand in the way either.
				nudge(w, "alpha", "before")
				w.Advance(time.Second)
				cure()
				nudge(w, "alpha", "after")
				w.Advance(5 * time.Second)
				is(t, w, "alpha", syncedTrue)
				w.Advance(settle)
				is(t, w, "alpha", readyTrue)
			})
		})
	}
}

// broken plays twenty minutes of the problem and checks that it is reported, once, and costs little.
func broken(t *testing.T, c wrong) (w *world.World, cure func()) {
	t.Helper()
	w = world.NewOffline(t, world.Options{Seed: hostileSeed()})
	if c.arrange != nil {
		cure = c.arrange(t, w)
	}
	foreign := w.AllInAWS()
	change := c.object
	if change == nil {
		change = func(*v1alpha1.DistributionTenant) {}
	}
	w.Apply(w.Tenant("alpha", change))
	w.Advance(5 * time.Minute)
	is(t, w, "alpha", "Ready=False/"+c.reason, "Synced=False/UpdatePending")
	says(t, w, "alpha", "Ready", c.says...)
	version := get(t, w, "alpha").Status
	calls := w.Calls()
	w.Advance(15 * time.Minute)
	if after := get(t, w, "alpha").Status; !sameStatus(t, version, after) {
		t.Errorf("the status of a standing failure moves")
	}
	if n := world.Since(calls, w.Calls())["CreateDistributionTenant"]; n > 3 {
		t.Errorf("%d creates were tried in fifteen minutes", n)
	}
	for _, s := range foreign {
		untouched(t, w, s)
	}
	if reasons := w.Reasons("alpha"); len(reasons) != 1 || reasons[0] != c.reason {
		t.Errorf("events: %v", reasons)
	}
	return w, cure
}
