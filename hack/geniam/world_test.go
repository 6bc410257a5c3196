package main

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	gocmp "github.com/google/go-cmp/cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
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

const (
	zoneID       = "ZHOME"
	otherAccount = "444455556666"
	otherZoneID  = "ZOTHER"
	roleARN      = "arn:aws:iam::" + otherAccount + ":role/tenant-dns-shop"
)

// published asks for records in the zone of the operator's own account.
func published(o *v1alpha1.DistributionTenant) {
	o.Spec.DNS = &v1alpha1.DNS{Provider: v1alpha1.DNSProviderRoute53, RecordType: v1alpha1.RecordTypeAlias, TTL: 300}
}

// byID is the same with the zone's id.
func byID(o *v1alpha1.DistributionTenant) {
	published(o)
	o.Spec.DNS.HostedZoneID = zoneID
}

// elsewhere asks for records in another account, with its role.
func elsewhere(o *v1alpha1.DistributionTenant) {
	published(o)
	o.Spec.DNS.AssumeRoleARN = roleARN
}

// newWorld has a zone in the operator's account, and one in another with a role for it.
func newWorld(t *testing.T) *world.World {
	t.Helper()
	seed := world.Seed()
	seed.Accounts = append(seed.Accounts, sim.SeedAccount{ID: otherAccount})
	seed.HostedZones = []sim.SeedHostedZone{
		{ID: zoneID, Name: "example.com"}, {ID: otherZoneID, Name: "example.com", Account: otherAccount},
	}
	seed.Distributions = append(seed.Distributions, sim.SeedDistribution{ID: "EOTHER1", Account: otherAccount, ConnectionMode: "tenant-only"})
	seed.Tenants = append(seed.Tenants, sim.SeedTenant{Account: otherAccount, Name: "stranger", DistributionID: "EOTHER1", Domains: []string{"stolen.example.com"}})
	seed.ResolvingDomains = append(seed.ResolvingDomains, "strays.customer.test")
	seed.Roles = []sim.SeedRole{{ARN: roleARN}}
	seed.KeyValueStores = []sim.SeedKeyValueStore{{ARN: storeARN, Values: map[string]string{"default": "{}"}}}
	// The page says of roles what the policy has.
	allowed, err := identity.ParseRolePatterns([]string{roles})
	if err != nil {
		t.Fatal(err)
	}
	return world.NewOffline(t, world.Options{Seed: &seed, AllowedRoles: allowed, Expiry: true, Capacity: true, Claims: &world.Holds{}})
}

const storeARN = "arn:aws:cloudfront::111122223333:key-value-store/a"

// keyed asks for a key in a key value store.
func keyed(o *v1alpha1.DistributionTenant) {
	o.Spec.KeyValues = &v1alpha1.KeyValues{StoreARN: storeARN, Value: "{}"}
}

func hostedByAWS(o *v1alpha1.DistributionTenant) {
	o.Spec.ManagedCertificateRequest = &v1alpha1.ManagedCertificateRequest{ValidationTokenHost: v1alpha1.ValidationTokenHostCloudFront, PrimaryDomainName: "strays.customer.test"}
}

// foreign creates a tenant that is not the operator's.
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

// disable disables a tenant, as a user does in the console.
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
	w := newWorld(t)
	// The zone is read on its own as long as no list has shown it.
	w.Apply(w.Tenant("delta", byID))
	w.Advance(settle)
	w.Apply(w.Tenant("alpha", team, published, keyed))
	w.Apply(w.Tenant("beta", managed))
	w.Apply(w.Tenant("epsilon", elsewhere))
	w.Advance(settle)
	if err := w.Sim.ServeToken("beta.example.com"); err != nil {
		t.Fatal(err)
	}
	w.Advance(10 * time.Minute)
	invalidate(t, w)
	w.Edit("alpha", untagged)
	w.Edit("alpha", tier("gold"))
	w.Advance(10 * time.Minute)
	foreign(t, w, "gamma")
	w.Apply(w.Tenant("gamma", adopting))
	foreign(t, w, "holder")
	w.Apply(w.Tenant("rival", domain("holder.example.com")))
	w.Apply(w.Tenant("thief", domain("stolen.example.com")))
	// Its certificate is never issued, and AWS is asked why.
	w.Apply(w.Tenant("strays", hostedByAWS, domain("strays.customer.test")))
	w.Advance(time.Second)
	w.Sim.SetResolving(false, "strays.customer.test")
	w.Advance(time.Hour)
	givenAway(t, w)
	w.Apply(w.Tenant("zeta", takesOver))
	w.Advance(settle)
	askForList(t, w)
	for _, name := range []string{"alpha", "beta", "gamma", "rival", "thief", "strays", "delta", "epsilon", "zeta"} {
		w.Delete(name)
	}
	w.Advance(time.Hour)
	liveParents(t, w)
	var seen []string
	for operation := range w.Sim.Calls() {
		seen = append(seen, operation)
	}
	slices.Sort(seen)
	// The SDK makes that one automatically.
	want := names(append(codeCalls(t), "sts:AssumeRole"))
	if d := gocmp.Diff(want, seen); d != "" {
		t.Errorf("calls (-in the code +seen by AWS):\n%s", d)
	}
	actions := allowed()
	for _, operation := range seen {
		services := []string{"cloudfront:", "acm:", "route53:", "cloudfront-keyvaluestore:", "servicequotas:", "sts:"}
		if !slices.ContainsFunc(services, func(s string) bool { return actions[s+operation] || free[Call(s+operation)] }) {
			t.Errorf("no policy allows %s", operation)
		}
	}
}

// askForList reads an Anycast list, which no group of this world has.
func askForList(t *testing.T, w *world.World) {
	t.Helper()
	_, err := w.AWS().GetAnycastIpList(t.Context(), &cloudfront.GetAnycastIpListInput{Id: awssdk.String("aip_1")})
	if missing := (*types.EntityNotFound)(nil); !errors.As(err, &missing) {
		t.Errorf("reading an Anycast list: %v", err)
	}
}

// invalidate invalidates a page of alpha.
func invalidate(t *testing.T, w *world.World) {
	t.Helper()
	if err := w.Kube.Create(t.Context(), w.Invalidation("page", "alpha")); err != nil {
		t.Fatal(err)
	}
}

// invalidated checks Ready of that invalidation, and whether AWS has it.
func invalidated(ready string, there bool) func(*testing.T, *world.World) {
	return func(t *testing.T, w *world.World) {
		t.Helper()
		if got, message := w.InvalidationReady("page"); got != ready {
			t.Errorf("Ready of the invalidation is %s: %s", got, message)
		}
		if got := len(w.Invalidated()) == 1; got != there {
			t.Errorf("AWS has the invalidation: %t", got)
		}
	}
}

// movedDomain is handed over to an object of the world's namespace.
const movedDomain = "moved.example.com"

// givenAway has an object of another namespace that serves the domain, and the claim by which it is handed over.
func givenAway(t *testing.T, w *world.World) {
	t.Helper()
	giver := w.Tenant("giver", takesOver)
	giver.Namespace = w.AddNamespace()
	w.Apply(giver)
	w.Advance(settle)
	claim := &v1alpha1.DomainClaim{
		ObjectMeta: metav1.ObjectMeta{Name: movedDomain},
		Spec:       v1alpha1.DomainClaimSpec{Domain: movedDomain, Namespace: w.Namespace, HandOver: true},
	}
	if err := w.Kube.Create(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
}

// takesOver asks for the domain in addition to one of the object's own.
func takesOver(o *v1alpha1.DistributionTenant) {
	o.Spec.Domains = append(o.Spec.Domains, v1alpha1.TenantDomain{Domain: movedDomain})
}

// servesBoth checks that the domain is still served.
func servesBoth(t *testing.T, w *world.World) {
	t.Helper()
	for _, s := range w.AllInAWS() {
		if _, has := s.Domains[movedDomain]; has && s.Enabled && strings.HasSuffix(s.Name, "giver") {
			return
		}
	}
	t.Error("the domain is not served any more")
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

	dnsError = "Ready=False/DNSError"
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

func absent(t *testing.T, w *world.World) {
	t.Helper()
	if _, found := w.InAWS("alpha"); found {
		t.Error("the tenant is still there")
	}
}

// issued makes an object whose managed certificate is attached.
func issued(t *testing.T, w *world.World) {
	t.Helper()
	w.Apply(w.Tenant("alpha", managed))
	w.Advance(settle)
	if err := w.Sim.ServeToken("alpha.example.com"); err != nil {
		t.Fatal(err)
	}
}

// records checks what the zone has, in addition to its own NS and SOA.
func records(want ...string) func(*testing.T, *world.World) {
	return func(t *testing.T, w *world.World) {
		t.Helper()
		state, _ := w.Sim.HostedZone(zoneID)
		var got []string
		for _, r := range state.Records {
			if r.Type != "NS" && r.Type != "SOA" {
				got = append(got, r.Type+" "+r.Name)
			}
		}
		slices.Sort(got)
		if d := gocmp.Diff(want, got); d != "" {
			t.Errorf("records (-want +got):\n%s", d)
		}
	}
}

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
		"new tenants become Ready":            {after: apply("alpha"), wants: ready},
		"a change can't be compared":          {before: apply("alpha"), after: disabledOutside, wants: denied},
		"a tenant is deleted with its object": {before: apply("alpha"), after: remove, wants: "object is gone", check: absent},
	},
	"ListDistributionTenants": {
		"the spec still arrives": {before: apply("alpha"), after: change(tier("gold")), wants: ready},
		"Changes made in AWS are not detected": {
			before: apply("alpha"), after: disabledOutside, wants: ready, check: serves(false),
		},
	},
	"UpdateDistributionTenant": {
		"a changed spec stays out":           {before: apply("alpha"), after: change(tier("gold")), wants: denied},
		"a deleted object waits and serves":  {before: apply("alpha"), after: remove, wants: denied, check: serves(true)},
		"what needs no update goes on alone": {after: apply("alpha"), wants: ready},
	},
	"UpdateDomainAssociation": {
		"a domain that is handed over stays, and the object says so": {before: givenAway, after: apply("alpha", takesOver), wants: denied, check: servesBoth},
		"other domains need no move":                                 {after: apply("alpha"), wants: ready},
	},
	"DeleteDistributionTenant": {
		"a deleted object waits, disabled": {before: apply("alpha"), after: remove, wants: denied, check: serves(false)},
	},
	"ListTagsForResource": {
		"creating works":         {after: apply("alpha"), wants: ready},
		"updating does not":      {before: apply("alpha"), after: change(tier("gold")), wants: denied},
		"adopting does not":      {before: foreignAlpha, after: apply("alpha", adopting), wants: denied},
		"deleting does not":      {before: apply("alpha"), after: remove, wants: denied, check: serves(true)},
		"nothing is invalidated": {before: apply("alpha"), after: invalidate, wants: ready, check: invalidated("False/AccessDenied", false)},
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
	"CreateInvalidationForDistributionTenant": {
		"nothing is invalidated": {before: apply("alpha"), after: invalidate, wants: ready, check: invalidated("False/AccessDenied", false)},
	},
	"GetInvalidationForDistributionTenant": {
		"the paths are invalidated, and it is never known": {before: apply("alpha"), after: invalidate, wants: ready, check: invalidated("False/AccessDenied", true)},
	},
	"GetDistribution": {
		"Mistakes are only found by AWS": {after: apply("alpha", func(o *v1alpha1.DistributionTenant) { tier("gold")(o); o.Spec.Parameters[0].Name = "nosuch" }), wants: "Ready=False/InvalidSpec", says: "CreateDistributionTenant"},
	},
	"DescribeCertificate": {
		"Mistakes are only found by AWS":                      {after: apply("alpha", domain("shop.example.org")), wants: "Ready=False/DomainValidationPending", says: "AWS: "},
		"a managed certificate stays, and the object says so": {before: issued, after: remove, wants: denied, check: absent},
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
			// The next sweep would find the holder anyway.
			wants: "Ready=False/DomainConflict", says: "a distribution tenant of the AWS account", wait: time.Minute,
		},
	},
	"VerifyDnsConfiguration": {
		"nothing else needs it": {after: apply("alpha"), wants: ready},
	},
	"ListDomainConflicts": {
		"a domain that is taken is refused all the same": {
			after: func(t *testing.T, w *world.World) {
				t.Helper()
				foreign(t, w, "holder")
				w.Apply(w.Tenant("alpha", domain("holder.example.com")))
			},
			wants: "Ready=False/DomainConflict",
		},
	},
	"GetConnectionGroup": {
		"alias records of type A are published all the same": {after: apply("alpha", published), wants: ready, check: records("A alpha.example.com", "TXT _cf-challenge.alpha.example.com")},
	},
	"GetAnycastIpList": {
		"nothing else needs it": {after: apply("alpha"), wants: ready},
	},
	"ListHostedZones": {
		"the zone can't be found":         {after: apply("alpha", published), wants: dnsError, check: records()},
		"a zone that is named needs none": {after: apply("alpha", byID), wants: ready},
	},
	"GetHostedZone": {
		"a zone that is named can't be read": {after: apply("alpha", byID), wants: dnsError, check: records()},
		"a zone that is found needs none":    {after: apply("alpha", published), wants: ready},
	},
	"ListResourceRecordSets": {
		"nothing is published": {after: apply("alpha", published), wants: dnsError},
	},
	"ChangeResourceRecordSets": {
		"nothing is published":              {after: apply("alpha", published), wants: dnsError, check: records()},
		"a deleted object waits and serves": {before: apply("alpha", published), after: remove, wants: dnsError, check: serves(true)},
		"other objects are not hurt":        {after: apply("alpha"), wants: ready},
	},
	"GetChange": {
		"records are published and never known to be in sync": {after: apply("alpha", published), wants: dnsError},
	},
	"AssumeRole": {
		"the zone of another account is out of reach": {after: apply("alpha", elsewhere), wants: dnsError, says: roleARN},
		"our own zone is not":                         {after: apply("alpha", published), wants: ready},
	},
	"DeleteCertificate": {
		"a deleted object waits, without its tenant": {before: issued, after: remove, wants: denied, check: absent},
		"without a certificate it does not":          {before: apply("alpha"), after: remove, wants: "object is gone"},
	},
	"ListCertificates": {
		"nothing else needs it": {after: apply("alpha"), wants: ready},
	},
	"ListServiceQuotas": {
		"only metrics need it": {after: apply("alpha"), wants: ready},
	},
	"ListAWSDefaultServiceQuotas": {
		"only metrics need it": {after: apply("alpha"), wants: ready},
	},
	"DescribeKeyValueStore": {
		"a tenant with keys is not created": {after: apply("alpha", keyed), wants: denied, check: absent},
		"other tenants are not hurt":        {after: apply("alpha"), wants: ready},
	},
	"ListKeys": {
		"a tenant with keys is not created": {after: apply("alpha", keyed), wants: denied, check: absent},
	},
	"UpdateKeys": {
		"a tenant with keys is not created":      {after: apply("alpha", keyed), wants: denied, check: absent},
		"a deleted object waits, for its keys":   {before: apply("alpha", keyed), after: remove, wants: denied, check: absent},
		"what is written already stays as it is": {before: apply("alpha", keyed), after: change(tier("gold")), wants: ready},
	},
	"GetManagedCertificateDetails": {
		"a managed certificate can't be followed": {after: apply("alpha", managed), wants: denied},
		"other objects are not hurt":              {after: apply("alpha"), wants: ready},
	},
}

func TestWhatStopsWithoutAPermission(t *testing.T) {
	t.Parallel()
	parents := ofParents()
	for _, operation := range names(codeCalls(t)) {
		if len(stories[operation]) == 0 && !parents[operation] && !free[Call("sts:"+operation)] {
			t.Errorf("nothing shows what stops without %s", operation)
		}
	}
	for operation, list := range stories {
		for name, s := range list {
			t.Run(operation+": "+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
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
				if (s.wants == denied || s.wants == dnsError) && !strings.Contains(message, operation) || !strings.Contains(message, s.says) {
					t.Errorf("the message does not name %s or %q: %s", operation, s.says, message)
				}
				if s.check != nil {
					s.check(t, w)
				}
			})
		}
	}
}
