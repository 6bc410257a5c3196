package distributiontenant_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

const (
	blueAccount  = "444455556666"
	greenAccount = "777788889999"
)

// homes is a world with two accounts besides the operator's own. A role of each trusts the grant of the team only.
type homes struct {
	*world.World

	t *testing.T
}

func newHomes(t *testing.T, more world.Options) *homes {
	t.Helper()
	seed := world.Seed()
	seed.Accounts = []sim.SeedAccount{{ID: sim.DefaultAccount, Default: true}, {ID: blueAccount}, {ID: greenAccount}}
	for team, id := range map[string]string{"blue": blueAccount, "green": greenAccount} {
		certificate := "arn:aws:acm:us-east-1:" + id + ":certificate/" + team
		seed.Roles = append(seed.Roles, sim.SeedRole{ARN: roleIn(id), ExternalID: world.ClusterID + "/grant:" + team})
		seed.Certificates = append(seed.Certificates, sim.SeedCertificate{ARN: certificate, Names: []string{"*.example.com"}})
		seed.Distributions = append(seed.Distributions, sim.SeedDistribution{
			ID: distributionIn(id), Account: id, CertificateARN: certificate, Parameters: seed.Distributions[0].Parameters,
		})
	}
	more.Seed, more.Grants = &seed, grants.Enforce
	return &homes{World: world.NewOffline(t, more), t: t}
}

func roleIn(id string) string { return "arn:aws:iam::" + id + ":role/tenants" }

// distributionIn is the distribution of each account.
func distributionIn(id string) string {
	switch id {
	case blueAccount:
		return "EBLUE"
	case greenAccount:
		return "EGREEN"
	}
	return world.DistributionID
}

// team is a grant for everything in an account, the operator's own one if the ID is empty.
func team(name, id string, namespaces ...string) grant.Grant {
	g := grant.Grant{
		Name: name, Version: "1/" + id, Namespaces: grant.Namespaces{Names: namespaces}, Kinds: []string{"DistributionTenant"},
		Distributions: []grant.Distribution{{Is: "*"}}, Domains: []grant.Domain{{Suffix: "*"}}, Adoption: &grant.Adoption{Names: []string{"*"}},
	}
	if id != "" {
		g.Account = grant.Account{ID: id, RoleARN: roleIn(id)}
	}
	return g
}

// in is an object of a namespace for the distribution of an account.
func (h *homes) in(namespace, account, name string, change ...edit) *v1alpha1.DistributionTenant {
	h.t.Helper()
	o := h.Tenant(name, change...)
	o.Namespace, o.Spec.DistributionID, o.Spec.TenantName = namespace, distributionIn(account), name
	return o
}

// names are those of the tenants of an account.
func (h *homes) names(account string) []string {
	var out []string
	for _, s := range h.Sim.Tenants(account) {
		out = append(out, s.Name)
	}
	return out
}

func (h *homes) want(when, account string, names ...string) {
	h.t.Helper()
	if d := cmp.Diff(names, h.names(account)); d != "" {
		h.t.Errorf("%s, account %s has other tenants (-want +got):\n%s", when, account, d)
	}
}

// of reads an object of any namespace.
func (h *homes) of(namespace, name string) *v1alpha1.DistributionTenant {
	h.t.Helper()
	var o v1alpha1.DistributionTenant
	if err := h.Kube.Get(h.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &o); err != nil {
		h.t.Fatal(err)
	}
	return &o
}

// synced is the condition of an object of any namespace.
func (h *homes) synced(namespace, name string) metav1.Condition {
	h.t.Helper()
	c := meta.FindStatusCondition(h.of(namespace, name).Status.Conditions, v1alpha1.ConditionSynced)
	if c == nil {
		h.t.Fatalf("%s/%s has no condition yet", namespace, name)
	}
	return *c
}

func (h *homes) delete(namespace, name string) {
	h.t.Helper()
	if err := h.Kube.Delete(h.t.Context(), h.of(namespace, name)); err != nil {
		h.t.Fatal(err)
	}
}

// Each team has its tenants in its own account, where a tenant may have the same name as that of another team, and the
// role of a team is assumed with the external ID of its grant.
func TestATenantIsInTheAccountOfItsGrant(t *testing.T) {
	t.Parallel()
	h := newHomes(t, world.Options{})
	blue, green := h.AddNamespace(), h.AddNamespace()
	h.Grant(team("own", "", h.Namespace), team("blue", blueAccount, blue), team("green", greenAccount, green))
	spaces := map[string]string{h.Namespace: sim.DefaultAccount, blue: blueAccount, green: greenAccount}
	for namespace, account := range spaces {
		h.Apply(h.in(namespace, account, "alpha", domains(account+".example.com")))
	}
	h.Advance(15 * time.Minute)
	for namespace, account := range spaces {
		o := h.of(namespace, "alpha")
		if c := h.synced(namespace, "alpha"); c.Status != metav1.ConditionTrue {
			t.Errorf("account %s: %s: %s", account, c.Reason, c.Message)
		}
		h.want("after the creation", account, "alpha")
		s := h.Sim.Tenants(account)[0]
		if owner, _ := ownership.FromTags(s.Tags); owner.UID != string(o.UID) || o.Status.ARN != s.ARN {
			t.Errorf("account %s: %s is owned by %s, want %s", account, s.ARN, owner.UID, o.UID)
		}
	}

	before := h.Calls()
	h.Advance(aSweep)
	quiet := without(world.Since(before, h.Calls()), "ListDistributionTenants", "GetCallerIdentity", "AssumeRole")
	if len(mutations(quiet)) > 0 {
		t.Errorf("at rest something is changed: %v", quiet)
	}

	h.delete(blue, "alpha")
	h.Advance(30 * time.Minute)
	h.want("after the deletion", blueAccount)
	h.want("after the deletion in another account", greenAccount, "alpha")
	h.want("after the deletion in another account", sim.DefaultAccount, "alpha")
}

// An object whose namespace gets a grant for another account stays where it is, and is frozen there. It can be deleted, and
// nothing is ever made in the other account.
func TestAnObjectNeverMovesBetweenAccounts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		from, to string
		// reached means that a grant of other namespaces still gives access to the former account.
		reached bool
	}{
		"from one account to another":                      {blueAccount, greenAccount, true},
		"from an account to the operator's own":            {blueAccount, "", true},
		"from the operator's own account to another":       {"", greenAccount, false},
		"from an account that no grant gives access to":    {blueAccount, greenAccount, false},
		"from one without access to the operator's own":    {blueAccount, "", false},
		"from the operator's own, which others reach, too": {"", blueAccount, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHomes(t, world.Options{})
			other := h.AddNamespace()
			home := func(id string) string {
				if id == "" {
					return sim.DefaultAccount
				}
				return id
			}
			name := func(id string) string {
				return map[string]string{"": "own", blueAccount: "blue", greenAccount: "green"}[id]
			}
			h.Grant(team(name(tt.from), tt.from, h.Namespace))
			h.Apply(h.in(h.Namespace, home(tt.from), "alpha"))
			h.Advance(15 * time.Minute)
			is(t, h.World, "alpha", readyTrue, syncedTrue)
			before := h.Sim.Tenants(home(tt.from))

			to := team(name(tt.to), tt.to, h.Namespace)
			if tt.reached {
				h.Grant(to, team(name(tt.from), tt.from, other))
			} else {
				h.Grant(to)
			}
			h.Advance(time.Hour)
			h.Edit("alpha", domains("alpha.example.com", "beta.example.com"))
			h.Advance(time.Hour)
			is(t, h.World, "alpha", "Synced=False/WrongAccount", "Stalled=True/WrongAccount")
			says(t, h.World, "alpha", "Synced", home(tt.from))
			if d := cmp.Diff(before, h.Sim.Tenants(home(tt.from))); d != "" {
				t.Errorf("the tenant was changed (-before +after):\n%s", d)
			}
			h.want("after the move", home(tt.to))

			h.Delete("alpha")
			h.Advance(time.Hour)
			if !tt.reached && tt.from != "" {
				is(t, h.World, "alpha", "Synced=False/WrongAccount")
				h.Grant(to, team(name(tt.from), tt.from, other))
				h.Advance(time.Hour)
			}
			gone(t, h.World, "alpha")
			h.want("after the deletion", home(tt.from))
		})
	}
}

// What was created or adopted in an account is found there, although the answer was lost and its namespace has a grant for
// another account from then on.
func TestALostAnswerLosesNoAccount(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		operation, path string
		change          edit
		restarts        bool
	}{
		"a creation":                 {"CreateDistributionTenant", "/distribution-tenant", func(*v1alpha1.DistributionTenant) {}, false},
		"a creation and a restart":   {"CreateDistributionTenant", "/distribution-tenant", func(*v1alpha1.DistributionTenant) {}, true},
		"an adoption":                {"TagResource", "/tagging", adoption(v1alpha1.AdoptionPolicyIfUnowned), false},
		"an adoption with a restart": {"TagResource", "/tagging", adoption(v1alpha1.AdoptionPolicyIfUnowned), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var h *homes
			moves := true
			h = newHomes(t, world.Options{BeforeAWS: func(r *http.Request, writes bool) {
				if writes && moves && strings.HasSuffix(r.URL.Path, tt.path) {
					moves = false
					h.Grant(team("green", greenAccount, h.Namespace), team("blue", blueAccount, "others"))
				}
			}})
			h.Grant(team("blue", blueAccount, h.Namespace))
			if tt.operation == "TagResource" {
				seedTenant(t, h, blueAccount, "alpha")
			}
			lost := fault(t, h.World, sim.Fault{Operation: tt.operation, Kind: sim.AfterCommit, Effect: sim.EffectReset})
			h.Apply(h.in(h.Namespace, blueAccount, "alpha", domains("alpha.example.com"), tt.change))
			h.Advance(30 * time.Second)
			h.Sim.RemoveFault(lost)
			if tt.restarts {
				h.Restart()
			}
			h.Advance(2 * time.Hour)
			is(t, h.World, "alpha", "Ready=False/WrongAccount")
			h.want("after the move", greenAccount)
			h.want("after the move", blueAccount, "alpha")
			h.Delete("alpha")
			h.Advance(2 * time.Hour)
			gone(t, h.World, "alpha")
			h.want("after the deletion", blueAccount)
		})
	}
}

// seedTenant makes a tenant in an account that the operator did not make.
func seedTenant(t *testing.T, h *homes, account, name string) {
	t.Helper()
	if err := h.Sim.Load(sim.Seed{Tenants: []sim.SeedTenant{
		{Name: name, Account: account, DistributionID: distributionIn(account), Domains: []string{name + ".example.com"}},
	}}); err != nil {
		t.Fatal(err)
	}
	h.want("before the adoption", account, name)
}

// A grant may name the operator's own account without a role. Nothing is written before it is known to be that one.
func TestTheOwnAccountIsCheckedBeforeTheFirstWrite(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		id    string
		right bool
	}{
		"the operator's own": {sim.DefaultAccount, true},
		"another one":        {blueAccount, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHomes(t, world.Options{})
			g := team("shop", "", h.Namespace)
			g.Account.ID = tt.id
			h.Grant(g)
			h.Apply(h.in(h.Namespace, sim.DefaultAccount, "alpha"))
			h.Advance(15 * time.Minute)
			if tt.right {
				is(t, h.World, "alpha", readyTrue, syncedTrue)
				return
			}
			is(t, h.World, "alpha", "Ready=False/WrongAccount", "Synced=False/WrongAccount")
			says(t, h.World, "alpha", "Synced", "EdgeGrant shop", blueAccount, sim.DefaultAccount, "roleArn")
			h.want("never", sim.DefaultAccount)
		})
	}
}

// A role that does not trust the grant is the trouble of its own namespaces only.
func TestARoleThatIsRefusedStopsNoOtherAccount(t *testing.T) {
	t.Parallel()
	h := newHomes(t, world.Options{})
	blue, green := h.AddNamespace(), h.AddNamespace()
	wrong := team("not-blue", blueAccount, blue)
	h.Grant(team("own", "", h.Namespace), wrong, team("green", greenAccount, green))
	h.Apply(h.in(blue, blueAccount, "refused"))
	h.Apply(h.in(green, greenAccount, "fine"))
	h.Advance(30 * time.Minute)
	h.want("with a role that does not trust the grant", blueAccount)
	h.want("in another account", greenAccount, "fine")
	is(t, h.World, blue+"/refused", "Ready=False/AccessDenied")
	says(t, h.World, blue+"/refused", "Ready", "EdgeGrant not-blue", world.ClusterID+"/grant:not-blue")

	// The sweep of an account may use the role of any of its grants, and objects use that of their own.
	right := team("blue", blueAccount, blue)
	h.Grant(team("own", "", h.Namespace), team("not-blue", blueAccount, "others"), right, team("green", greenAccount, green))
	h.Advance(time.Hour)
	h.want("with the right grant", blueAccount, "refused")
}

// In Audit the accounts count, too: what is only audited must not be made in the wrong one.
func TestAccountsCountInAudit(t *testing.T) {
	t.Parallel()
	h := newHomes(t, world.Options{})
	h.Grants = grants.New(grants.Options{Mode: grants.Audit, Clock: h.Clock, Objects: none, Grants: func(context.Context) ([]grant.Grant, error) {
		return []grant.Grant{team("blue", blueAccount, h.Namespace), team("green", greenAccount, h.Namespace)}, nil
	}})
	h.Restart()
	h.Apply(h.in(h.Namespace, blueAccount, "alpha"))
	h.Advance(30 * time.Minute)
	is(t, h.World, "alpha", "Ready=False/NotGranted")
	for _, account := range []string{sim.DefaultAccount, blueAccount, greenAccount} {
		h.want("while two grants name an account", account)
	}
}

func none(context.Context) ([]grants.Object, error) { return nil, nil }
