package invalidation_test

import (
	"testing"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// A tenant is invalidated in the account of its namespace's grant. Once the grant puts the namespace into another account,
// nothing is requested any more.
func TestAnInvalidationIsInTheAccountOfItsTenant(t *testing.T) {
	const theirs, role = "444455556666", "arn:aws:iam::444455556666:role/tenants"
	const certificate = "arn:aws:acm:us-east-1:" + theirs + ":certificate/blue"
	seed := world.Seed()
	seed.Accounts = []sim.SeedAccount{{ID: sim.DefaultAccount, Default: true}, {ID: theirs}}
	seed.Roles = []sim.SeedRole{{ARN: role, ExternalID: world.ClusterID + "/grant:blue"}}
	seed.Certificates = append(seed.Certificates, sim.SeedCertificate{ARN: certificate, Names: []string{"*.example.com"}})
	seed.Distributions = append(seed.Distributions, sim.SeedDistribution{ID: "EBLUE", Account: theirs, CertificateARN: certificate})
	blue := grant.Grant{
		Name: "blue", Version: "1", Namespaces: grant.Namespaces{Names: []string{"*"}}, Kinds: []string{"DistributionTenant", "Invalidation"},
		Distributions: []grant.Distribution{{Is: "*"}}, Domains: []grant.Domain{{Suffix: "*"}}, Account: grant.Account{ID: theirs, RoleARN: role},
	}
	w := world.NewOffline(t, world.Options{Seed: &seed, Grants: grants.Enforce, Granted: []grant.Grant{blue}})
	w.Apply(w.Tenant("shop", func(o *v1alpha1.DistributionTenant) { o.Spec.DistributionID = "EBLUE" }))
	w.Advance(settle)
	apply(t, w, w.Invalidation("first", "shop"))
	w.Advance(settle)
	is(t, w, "first", "True/Completed")
	if own, other := len(w.Sim.Invalidations(sim.DefaultAccount)), len(w.Sim.Invalidations(theirs)); own != 0 || other != 1 {
		t.Errorf("%d invalidations in the operator's account, %d in that of the grant", own, other)
	}
	home := blue
	home.Version, home.Account = "2", grant.Account{}
	w.Grant(home)
	w.Advance(time.Minute)
	apply(t, w, w.Invalidation("second", "shop"))
	w.Advance(settle)
	if ready, message := w.InvalidationReady("second"); ready != "False/WrongAccount" && ready != "False/ReferenceNotReady" {
		t.Errorf("Ready is %s: %s", ready, message)
	}
	if own, other := len(w.Sim.Invalidations(sim.DefaultAccount)), len(w.Sim.Invalidations(theirs)); own != 0 || other != 1 {
		t.Errorf("%d invalidations in the operator's account, %d in that of the grant", own, other)
	}
}
