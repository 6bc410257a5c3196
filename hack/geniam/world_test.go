package main

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	gocmp "github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// settle is long enough for a change to be noticed, sent and deployed.
const settle = 3 * time.Minute

type edit = func(*v1alpha1.DistributionTenant)

func domain(d string) edit {
	return func(o *v1alpha1.DistributionTenant) { o.Spec.Domains = []v1alpha1.TenantDomain{{Domain: d}} }
}

func tier(value string) edit {
	return func(o *v1alpha1.DistributionTenant) {
		o.Spec.Parameters = []v1alpha1.Parameter{{Name: "tier", Value: value}}
	}
}

func team(o *v1alpha1.DistributionTenant) { o.Spec.Tags = []v1alpha1.Tag{{Key: "team", Value: "web"}} }

func untagged(o *v1alpha1.DistributionTenant) { o.Spec.Tags = nil }

func retain(o *v1alpha1.DistributionTenant) { o.Spec.DeletionPolicy = v1alpha1.DeletionPolicyRetain }

func adopting(o *v1alpha1.DistributionTenant) {
	o.Spec.AdoptionPolicy = v1alpha1.AdoptionPolicyIfUnowned
}

func managed(o *v1alpha1.DistributionTenant) {
	o.Spec.ManagedCertificateRequest = &v1alpha1.ManagedCertificateRequest{ValidationTokenHost: v1alpha1.ValidationTokenHostSelfHosted}
}

// foreign makes a tenant as somebody else would.
func foreign(t *testing.T, w *world.World, name string) {
	t.Helper()
	_, err := w.AWS().CreateDistributionTenant(t.Context(), &cloudfront.CreateDistributionTenantInput{
		Name: &name, DistributionId: awssdk.String(world.DistributionID),
		Domains: []types.DomainItem{{Domain: awssdk.String(name + ".example.com")}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// disable is what somebody does in the console.
func disable(t *testing.T, w *world.World, name string) {
	t.Helper()
	s, _ := w.InAWS(name)
	_, err := w.AWS().UpdateDistributionTenant(t.Context(), &cloudfront.UpdateDistributionTenantInput{
		Id: &s.ID, IfMatch: &s.ETag, Enabled: awssdk.Bool(false),
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A life in which everything happens makes every call that the code has, and each of them is
// allowed by a policy: what the code says and what AWS sees are the same.
func TestALifeMakesTheCallsThatThePoliciesAllow(t *testing.T) {
	t.Parallel()
	w := world.NewOffline(t, world.Options{})
	w.Apply(w.Tenant("alpha", team))
	w.Apply(w.Tenant("beta", managed))
	w.Advance(settle)
	w.Edit("alpha", untagged)
	w.Edit("alpha", tier("gold"))
	w.Advance(10 * time.Minute)
	foreign(t, w, "gamma")
	w.Apply(w.Tenant("gamma", adopting))
	foreign(t, w, "holder")
	w.Apply(w.Tenant("rival", domain("holder.example.com")))
	w.Advance(settle)
	for _, name := range []string{"alpha", "beta", "gamma", "rival"} {
		w.Delete(name)
	}
	w.Advance(10 * time.Minute)
	var seen []string
	for operation := range w.Sim.Calls() {
		seen = append(seen, operation)
	}
	slices.Sort(seen)
	if d := gocmp.Diff(names(codeCalls(t)), seen); d != "" {
		t.Errorf("calls (-in the code +seen by AWS):\n%s", d)
	}
	actions := allowed()
	for _, operation := range seen {
		if !actions["cloudfront:"+operation] && !actions["acm:"+operation] && !free[Call("sts:"+operation)] {
			t.Errorf("no policy allows %s", operation)
		}
	}
}

// deny refuses an operation, as AWS does without the permission.
func deny(t *testing.T, w *world.World, operation string) {
	t.Helper()
	_, err := w.Sim.AddFault(sim.Fault{
		Operation: operation, Times: -1, Kind: sim.Instead,
		Error: &sim.FaultError{Status: 403, Code: "AccessDenied", Message: "not authorized"},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// story is what the page says of a permission, played.
type story struct {
	// before is played with the permission, after without it.
	before, after func(t *testing.T, w *world.World)
	// wants is what Ready of alpha has to be.
	wants string
	// says is part of the message.
	says string
	// wait is how long to wait before looking; an hour if zero.
	wait time.Duration
	// check looks at what is left.
	check func(t *testing.T, w *world.World)
}

const (
	ready  = "Ready=True/Deployed"
	denied = "Ready=False/AccessDenied"
)

func apply(name string, change ...edit) func(*testing.T, *world.World) {
	return func(_ *testing.T, w *world.World) { w.Apply(w.Tenant(name, change...)) }
}

func change(c edit) func(*testing.T, *world.World) {
	return func(_ *testing.T, w *world.World) { w.Edit("alpha", c) }
}

func disabledOutside(t *testing.T, w *world.World) {
	t.Helper()
	disable(t, w, "alpha")
}

func foreignAlpha(t *testing.T, w *world.World) {
	t.Helper()
	foreign(t, w, "alpha")
}

func remove(_ *testing.T, w *world.World) { w.Delete("alpha") }

func serves(want bool) func(*testing.T, *world.World) {
	return func(t *testing.T, w *world.World) {
		t.Helper()
		if s, found := w.InAWS("alpha"); !found || s.Enabled != want {
			t.Errorf("the tenant: found %t, enabled %t", found, s.Enabled)
		}
	}
}

var stories = map[string]map[string]story{
	"CreateDistributionTenant": {
		"new objects say so":            {after: apply("alpha"), wants: denied},
		"existing tenants are not hurt": {before: apply("alpha"), after: change(tier("gold")), wants: ready},
	},
	"GetDistributionTenant": {
		"new tenants become Ready":   {after: apply("alpha"), wants: ready},
		"a change can't be compared": {before: apply("alpha"), after: disabledOutside, wants: denied},
		"a deleted object stays":     {before: apply("alpha"), after: remove, wants: denied},
	},
	"ListDistributionTenants": {
		"the spec still arrives": {before: apply("alpha"), after: change(tier("gold")), wants: ready},
		"changes made in AWS go unnoticed": {
			before: apply("alpha"), after: disabledOutside, wants: ready, check: serves(false),
		},
	},
	"UpdateDistributionTenant": {
		"a changed spec stays out":           {before: apply("alpha"), after: change(tier("gold")), wants: denied},
		"a deleted object waits and serves":  {before: apply("alpha"), after: remove, wants: denied, check: serves(true)},
		"what needs no update goes on alone": {after: apply("alpha"), wants: ready},
	},
	"DeleteDistributionTenant": {
		"a deleted object waits, disabled": {before: apply("alpha"), after: remove, wants: denied, check: serves(false)},
	},
	"ListTagsForResource": {
		"creating works":    {after: apply("alpha"), wants: ready},
		"updating does not": {before: apply("alpha"), after: change(tier("gold")), wants: denied},
		"adopting does not": {before: foreignAlpha, after: apply("alpha", adopting), wants: denied},
		"deleting does not": {before: apply("alpha"), after: remove, wants: denied, check: serves(true)},
	},
	"TagResource": {
		"nothing is adopted": {before: foreignAlpha, after: apply("alpha", adopting), wants: denied},
	},
	"UntagResource": {
		"a tag can't be removed":                    {before: apply("alpha", team), after: change(untagged), wants: denied},
		"what is to be retained can't be deleted":   {before: apply("alpha", retain), after: remove, wants: denied, check: serves(true)},
		"an object without removed tags lives on":   {before: apply("alpha", team), after: change(tier("gold")), wants: ready},
		"what is not to be retained can be deleted": {before: apply("alpha"), after: remove, wants: "object is gone"},
	},
	"GetDistribution": {
		"AWS finds the mistakes": {after: apply("alpha", func(o *v1alpha1.DistributionTenant) { tier("gold")(o); o.Spec.Parameters[0].Name = "nosuch" }), wants: "Ready=False/ValidationFailed", says: "CreateDistributionTenant"},
	},
	"DescribeCertificate": {
		"AWS finds the mistakes": {after: apply("alpha", domain("shop.example.org")), wants: "Ready=False/DomainValidationPending", says: "CreateDistributionTenant"},
	},
	"ListConnectionGroups": {
		"the target of DNS is unknown": {after: apply("alpha"), wants: ready, check: func(t *testing.T, w *world.World) {
			t.Helper()
			if o, _ := w.Get("alpha"); o.Status.DNSTarget != "" {
				t.Errorf("status.dnsTarget is %s", o.Status.DNSTarget)
			}
		}},
	},
	"GetDistributionTenantByDomain": {
		"the holder has no name": {
			after: func(t *testing.T, w *world.World) {
				t.Helper()
				foreign(t, w, "holder")
				w.Apply(w.Tenant("alpha", domain("holder.example.com")))
			},
			// The next sweep would find the holder by itself.
			wants: "Ready=False/DomainConflict", says: "does not show", wait: time.Minute,
		},
	},
	"GetManagedCertificateDetails": {
		"a managed certificate can't be followed": {after: apply("alpha", managed), wants: denied},
		"other objects are not hurt":              {after: apply("alpha"), wants: ready},
	},
}

func TestWhatStopsWithoutAPermission(t *testing.T) {
	t.Parallel()
	for _, operation := range names(codeCalls(t)) {
		if len(stories[operation]) == 0 && !free[Call("sts:"+operation)] {
			t.Errorf("nothing shows what stops without %s", operation)
		}
	}
	for operation, list := range stories {
		for name, s := range list {
			t.Run(operation+": "+name, func(t *testing.T) {
				t.Parallel()
				w := world.NewOffline(t, world.Options{})
				w.Advance(time.Second)
				if s.before != nil {
					s.before(t, w)
					w.Advance(10 * time.Minute)
				}
				deny(t, w, operation)
				s.after(t, w)
				w.Advance(cmp.Or(s.wait, time.Hour))
				if got := w.Condition("alpha", v1alpha1.ConditionReady); got != s.wants {
					t.Errorf("got %s, want %s:\n%s", got, s.wants, w.Describe("alpha"))
				}
				message := w.Message("alpha", v1alpha1.ConditionReady)
				if s.wants == denied && !strings.Contains(message, operation) || !strings.Contains(message, s.says) {
					t.Errorf("the message does not name %s or %q: %s", operation, s.says, message)
				}
				if s.check != nil {
					s.check(t, w)
				}
			})
		}
	}
}
