package crash_test

import (
	"slices"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// lifecycle is what people do with an object or some, and what has to come of it.
type lifecycle struct {
	name, about string
	seed        func(*sim.Seed)
	// prepare happens before any fault.
	prepare func(s *stage)
	// parks leaves the prepared world alone, without an operator, until no create mark is
	// fresh any more.
	parks bool
	// slow means that the operator itself has to wait for a create mark to grow old.
	slow bool
	// hasty means that the object may be deleted before the create was sent: then there is none.
	hasty bool
	steps []step
	// adopts names the tenant that may be taken over.
	adopts string
	// meddles means that a user changes AWS, so that for a while status can't know.
	meddles bool
	// dns is what the lifecycle is about where there is a zone; nil where there is none.
	dns *dnsLifecycle
	// uncounted means that it depends on the clock how many writes it takes.
	uncounted bool
	// parents means that objects of the kinds that tenants refer to take part.
	parents bool
	// crowd means that there are many objects. Single faults are played with each kind alone.
	crowd bool
	// invalidates means that there are invalidations.
	invalidates bool
	// keyed means that tenants have keys in a key value store.
	keyed bool
	// sourced means that tenants follow the rows of a table.
	sourced bool
	// polls means that the lifecycle ends once a process has polled several times, and none other in between.
	polls bool
	// rollsOut means that a change is rolled out to the tenants.
	rollsOut bool
	// handsOver means that a domain is handed over.
	handsOver bool
	// retains means that a resource outlives its object.
	retains bool
	// untags means that tags are taken away.
	untags bool
	// flags are for the operator.
	flags []string
	// provider is where records are, nil where they are at Route 53 only.
	provider *provider
	// movesBack means that the records are there first, and move to Route 53.
	movesBack bool
	// moves is the name whose records move between providers: once it is served it always is. Empty: there is none.
	moves string
}

// step is one thing that people do, and what they wait for before the next.
type step struct {
	do    func(s *stage)
	until func(s *stage) bool
}

type tenantObject = v1alpha1.DistributionTenant

// prepared makes an object that is Ready before the first fault.
func prepared(change ...func(*tenantObject)) func(*stage) {
	return func(s *stage) {
		s.create("acme", change...)
		s.await("the prepared object to be Ready", func() bool { return ready(s) })
	}
}

func makes(change ...func(*tenantObject)) func(*stage) {
	return func(s *stage) { s.create("acme", change...) }
}

func edits(change func(*tenantObject)) func(*stage) {
	return func(s *stage) { s.edit("acme", change) }
}

func deletes(s *stage) { s.remove("acme") }

// lifecycles in a fixed order: the numbers of cases follow from it.
func lifecycles() []*lifecycle {
	return slices.Concat(plainLifecycles(), dnsLifecycles(), parentLifecycles(), mistakeLifecycles(), grantLifecycles(), providerLifecycles(), invalidationLifecycles(), sourceLifecycles(), handOverLifecycles(), keyLifecycles())
}

// plainLifecycles are those without DNS.
func plainLifecycles() []*lifecycle {
	return []*lifecycle{
		{name: "create", about: "An object with no more than it needs.", steps: []step{{makes(), ready}}},
		{name: "create-full", about: "An object with parameters, tags, a certificate and countries of its own.",
			steps: []step{{makes(everything), ready}}},
		{name: "create-fixed", about: "A domain belongs to someone else, and AWS refuses; then the spec is fixed.", steps: []step{
			{makes(func(o *tenantObject) { setDomains(o, "acme.example.com", "theirs.example.com") }), says(v1alpha1.ConditionReady, v1alpha1.ReasonDomainConflict)},
			{edits(func(o *tenantObject) { setDomains(o, "acme.example.com") }), ready},
		}},
		{name: "edit-domains", about: "A domain goes, two come.", prepare: prepared(), steps: []step{
			{edits(func(o *tenantObject) { setDomains(o, "new.example.com", "newer.example.com") }), ready},
		}},
		{name: "edit-tags", about: "Parameters and tags are changed, added and removed.", untags: true, prepare: prepared(everything), steps: []step{
			{edits(func(o *tenantObject) {
				o.Spec.Parameters = []v1alpha1.Parameter{{Name: "tier", Value: "silver"}}
				o.Spec.Tags = []v1alpha1.Tag{{Key: "team", Value: "core"}, {Key: "stage", Value: "test"}}
			}), ready},
		}},
		{name: "disable", about: "The tenant is switched off, and on again.", prepare: prepared(), steps: []step{
			{edits(func(o *tenantObject) { o.Spec.Enabled = awssdk.Bool(false) }), ready},
			{edits(func(o *tenantObject) { o.Spec.Enabled = awssdk.Bool(true) }), ready},
		}},
		{name: "move", about: "The tenant moves to another distribution.", prepare: prepared(), steps: []step{
			{edits(func(o *tenantObject) { o.Spec.DistributionID = otherDistribution }), ready},
		}},
		{name: "drift", about: "Someone changes the tenant in AWS, and it is set back.", meddles: true, prepare: prepared(everything), steps: []step{
			{(*stage).meddle, setBack},
		}},
		{name: "recreate", about: "Someone deletes the tenant in AWS, and it is created again.", meddles: true, slow: true, prepare: prepared(), steps: []step{
			{(*stage).deleteOutside, recreated},
		}},
		{name: "adopt", about: "A tenant of the name is there and has no owner; the policy then allows to take it.", adopts: "acme",
			seed: func(seed *sim.Seed) {
				seed.Tenants = append(seed.Tenants, sim.SeedTenant{Name: "acme", DistributionID: distribution, Domains: []string{"acme.example.com"}, Tags: map[string]string{"team": "legacy"}})
			},
			steps: []step{
				{makes(), says(v1alpha1.ConditionReady, v1alpha1.ReasonAdoptionRequired)},
				{edits(func(o *tenantObject) { o.Spec.AdoptionPolicy = v1alpha1.AdoptionPolicyIfUnowned }), ready},
			}},
		{name: "pause", about: "A paused object is changed; the change is made when it goes on.", prepare: prepared(), steps: []step{
			{edits(func(o *tenantObject) {
				o.Annotations = map[string]string{v1alpha1.AnnotationPaused: v1alpha1.PausedTrue}
				setDomains(o, "acme.example.com", "new.example.com")
			}), says(v1alpha1.ConditionSynced, v1alpha1.ReasonPaused)},
			{edits(func(o *tenantObject) { delete(o.Annotations, v1alpha1.AnnotationPaused) }), ready},
		}},
		{name: "delete", about: "The object is deleted, and the tenant with it.", prepare: prepared(), parks: true, steps: []step{{deletes, gone}}},
		{name: "retain", about: "The object is deleted, and the tenant stays.", parks: true,
			prepare: prepared(func(o *tenantObject) { o.Spec.DeletionPolicy = v1alpha1.DeletionPolicyRetain }), steps: []step{{deletes, gone}}},
		{name: "create-delete", about: "The object is deleted before its tenant is there.", slow: true, hasty: true, steps: []step{
			{makes(), func(s *stage) bool { return s.gate.seen(awsSide, "CreateDistributionTenant") > 0 }},
			{deletes, gone},
		}},
		{name: "replace", about: "The object is deleted and created again under the same name.", prepare: prepared(ofItsCase), parks: true, steps: []step{
			{deletes, gone}, {makes(ofItsCase), ready},
		}},
		{name: "orphan", about: "Someone removes the finalizer while no operator runs, and later creates the object again.", prepare: prepared(), steps: []step{
			{func(s *stage) { s.whileDown(func() { s.orphan("acme") }) }, orphaned},
			{makes(func(o *tenantObject) { o.Spec.AdoptionPolicy = v1alpha1.AdoptionPolicyIfUnowned }), ready},
		}},
		{name: "unhold", about: "Someone removes the finalizer from a live object, and the operator adds it again.", prepare: prepared(), steps: []step{
			{edits(func(o *tenantObject) { o.Finalizers = nil }), func(s *stage) bool {
				o, found := s.get("acme")
				return found && len(o.Finalizers) == 1 && ready(s)
			}},
		}},
	}
}

func everything(o *tenantObject) {
	setDomains(o, "acme.example.com", "acme.example.net")
	o.Spec.Parameters = []v1alpha1.Parameter{{Name: "tier", Value: "gold"}, {Name: "origin", Value: "acme"}}
	o.Spec.Tags = []v1alpha1.Tag{{Key: "team", Value: "edge"}, {Key: "cost", Value: "4711"}}
	o.Spec.Customizations = &v1alpha1.Customizations{
		Certificate:     &v1alpha1.CertificateCustomization{ARN: otherCertificate},
		GeoRestrictions: &v1alpha1.GeoRestrictionCustomization{RestrictionType: v1alpha1.GeoRestrictionWhitelist, Locations: []v1alpha1.CountryCode{"DE", "FR"}},
	}
}

// ofItsCase gives an object a domain that no other case has: a domain that it loses stays claimed for its namespace.
func ofItsCase(o *tenantObject) { setDomains(o, ownDomain(o.Name, o.Namespace)) }

func setDomains(o *tenantObject, domains ...string) {
	o.Spec.Domains = nil
	for _, d := range domains {
		o.Spec.Domains = append(o.Spec.Domains, v1alpha1.TenantDomain{Domain: d})
	}
}

// ready is when status says, of the present spec, that all is done.
func ready(s *stage) bool { return s.isReady("acme") }

func (s *stage) isReady(name string) bool {
	o, found := s.rig.views.object(s.namespace, name)
	if !found || !claims(o) {
		return false
	}
	// Our view may be older than the last action of the user.
	now, found := s.get(name)
	return found && claims(now)
}

// claims reports whether the object says that it is Ready and Synced as it stands.
func claims(o *tenantObject) bool {
	return isTrue(o, v1alpha1.ConditionReady) && isTrue(o, v1alpha1.ConditionSynced) && o.Status.ObservedGeneration == o.Generation &&
		o.DeletionTimestamp.IsZero()
}

func isTrue(o *tenantObject, conditionType string) bool {
	c := meta.FindStatusCondition(o.Status.Conditions, conditionType)
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == o.Generation
}

// says is when a condition of the present generation has a reason.
func says(conditionType, reason string) func(*stage) bool {
	return saysOf("acme", conditionType, reason)
}

func saysOf(name, conditionType, reason string) func(*stage) bool {
	return func(s *stage) bool {
		o, found := s.get(name)
		if !found {
			return false
		}
		c := meta.FindStatusCondition(o.Status.Conditions, conditionType)
		return c != nil && c.Reason == reason && c.ObservedGeneration == o.Generation
	}
}

func gone(s *stage) bool { return s.isGone("acme") }

func (s *stage) isGone(name string) bool {
	if _, found := s.rig.views.object(s.namespace, name); found {
		return false
	}
	_, found := s.get(name)
	return !found
}

// orphaned is when operators have listed the account after the object went.
func orphaned(s *stage) bool { return s.gate.seen(awsSide, "ListDistributionTenants") >= 1 }

// setBack is when the tenant is again as the spec asks, and status shows it.
func setBack(s *stage) bool {
	o, found := s.get("acme")
	t, there := s.tenant("acme")
	return found && there && s.unlike(o, t) == "" && t.Status == "Deployed" && ready(s)
}

// recreated is when there is another tenant than before, and status knows it.
func recreated(s *stage) bool {
	o, found := s.get("acme")
	t, there := s.tenant("acme")
	return found && there && o.Status.ID == t.ID && ready(s)
}

// meddle changes the tenant in AWS behind the operator's back.
func (s *stage) meddle() {
	t, _ := s.tenant("acme")
	s.gate.note("a person changes %s in AWS", t.Name)
	_, err := s.cloud().UpdateDistributionTenant(s.ctx, &cloudfront.UpdateDistributionTenantInput{
		Id: &t.ID, IfMatch: &t.ETag, Enabled: awssdk.Bool(false),
		Parameters: []types.Parameter{{Name: awssdk.String("tier"), Value: awssdk.String("theirs")}},
	})
	s.must("changing the tenant", err)
}

// deleteOutside deletes the tenant in AWS behind the operator's back.
func (s *stage) deleteOutside() {
	t, _ := s.tenant("acme")
	s.gate.note("a person deletes %s in AWS", t.Name)
	// No one may set back what is on its way out, or the deletion would depend on who is faster.
	s.sim.ChangeSwitches(func(sw *sim.Switches) { sw.DeleteNeedsDeployed = false })
	out, err := s.cloud().UpdateDistributionTenant(s.ctx, &cloudfront.UpdateDistributionTenantInput{Id: &t.ID, IfMatch: &t.ETag, Enabled: awssdk.Bool(false)})
	s.must("disabling the tenant", err)
	_, err = s.cloud().DeleteDistributionTenant(s.ctx, &cloudfront.DeleteDistributionTenantInput{Id: &t.ID, IfMatch: out.ETag})
	s.must("deleting the tenant", err)
	s.sim.ChangeSwitches(func(sw *sim.Switches) { sw.DeleteNeedsDeployed = true })
}

// whileDown does something while no operator runs.
func (s *stage) whileDown(do func()) {
	for _, r := range s.replicas {
		r.down()
		defer r.up()
	}
	do()
}

// park waits until no create mark is fresh any more. Nothing runs meanwhile.
func (s *stage) park(wait func(time.Duration)) {
	for _, r := range s.replicas {
		r.down()
	}
	var youngest time.Time
	for _, o := range s.all() {
		mark, err := time.Parse(time.RFC3339, o.GetAnnotations()[v1alpha1.AnnotationCreatePending])
		s.must("reading the create mark", err)
		if mark.After(youngest) {
			youngest = mark
		}
	}
	wait(time.Until(youngest.Add(gracePeriod + time.Second)))
}
