package distributiontenant_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// Shorthands of the tests.
const (
	readyTrue  = "Ready=True/Deployed"
	syncedTrue = "Synced=True/InSync"
	webACL     = "arn:aws:wafv2:us-east-1:111122223333:global/webacl/edge/a1"
)

// edit is a change of an object.
type edit = func(*v1alpha1.DistributionTenant)

// settle is long enough for a change to be noticed, sent and deployed.
const settle = 3 * time.Minute

// is checks conditions, each written as Type=Status/Reason.
func is(t *testing.T, w *world.World, name string, conditions ...string) {
	t.Helper()
	for _, c := range conditions {
		kind, _, _ := strings.Cut(c, "=")
		want(t, w, name, kind, c)
	}
}

// says checks that the message of a condition has all the parts.
func says(t *testing.T, w *world.World, name, condition string, parts ...string) {
	t.Helper()
	message := w.Message(name, condition)
	for _, p := range parts {
		if !strings.Contains(message, p) {
			t.Errorf("%s: %s does not say %q: %s", name, condition, p, message)
		}
	}
}

// ready makes an object and waits until it is Ready.
func ready(t *testing.T, w *world.World, name string, change ...edit) *v1alpha1.DistributionTenant {
	t.Helper()
	w.Apply(w.Tenant(name, change...))
	w.Advance(settle)
	is(t, w, name, readyTrue, syncedTrue)
	return get(t, w, name)
}

func get(t *testing.T, w *world.World, name string) *v1alpha1.DistributionTenant {
	t.Helper()
	o, found := w.Get(name)
	if !found {
		t.Fatalf("the object %s is gone", name)
	}
	return o
}

// inAWS is the tenant of that name, which has to be there.
func inAWS(t *testing.T, w *world.World, name string) sim.TenantState {
	t.Helper()
	s, found := w.InAWS(name)
	if !found {
		t.Fatalf("the tenant %s is not in AWS", name)
	}
	return s
}

// gone checks that neither the object nor a tenant is left.
func gone(t *testing.T, w *world.World, name string) {
	t.Helper()
	if _, found := w.Get(name); found {
		t.Errorf("the object %s is still there:\n%s", name, w.Describe(name))
	}
	if s, found := w.InAWS(name); found {
		t.Errorf("the tenant %s is still in AWS: %+v", name, s)
	}
}

// tenants checks the names of all tenants of the account.
func tenants(t *testing.T, w *world.World, names ...string) {
	t.Helper()
	var got []string
	for _, s := range w.AllInAWS() {
		got = append(got, s.Name)
	}
	slices.Sort(got)
	slices.Sort(names)
	if d := cmp.Diff(names, got); d != "" {
		t.Errorf("tenants in AWS (-want +got):\n%s", d)
	}
}

// foreign creates a tenant out of band, and waits until it is deployed.
func foreign(t *testing.T, w *world.World, name string, change ...func(*cloudfront.CreateDistributionTenantInput)) sim.TenantState {
	t.Helper()
	in := &cloudfront.CreateDistributionTenantInput{
		Name: &name, DistributionId: awssdk.String(world.DistributionID), Enabled: awssdk.Bool(true),
		Domains: []types.DomainItem{{Domain: awssdk.String(name + ".example.com")}},
	}
	for _, c := range change {
		c(in)
	}
	if _, err := w.AWS().CreateDistributionTenant(t.Context(), in); err != nil {
		t.Fatalf("creating the foreign tenant %s: %v", name, err)
	}
	w.Clock.Step(2 * world.DeployDelay)
	return inAWS(t, w, name)
}

// tagged gives a foreign tenant tags.
func tagged(tags map[string]string) func(*cloudfront.CreateDistributionTenantInput) {
	return func(in *cloudfront.CreateDistributionTenantInput) {
		in.Tags = &types.Tags{}
		for _, k := range slices.Sorted(maps.Keys(tags)) {
			in.Tags.Items = append(in.Tags.Items, types.Tag{Key: awssdk.String(k), Value: awssdk.String(tags[k])})
		}
	}
}

// untouched checks that a tenant is byte for byte what it was.
func untouched(t *testing.T, w *world.World, before sim.TenantState) {
	t.Helper()
	after, found := w.InAWS(before.ID)
	if !found {
		t.Errorf("the tenant %s (%s) is gone", before.Name, before.ID)
		return
	}
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("the tenant %s was changed (-before +after):\n%s", before.Name, d)
	}
}

// outOfBand changes a tenant as in the AWS console, which has its own ways to empty a block.
func outOfBand(t *testing.T, w *world.World, name string, change func(*cloudfront.UpdateDistributionTenantInput)) {
	t.Helper()
	s := inAWS(t, w, name)
	in := &cloudfront.UpdateDistributionTenantInput{Id: &s.ID, IfMatch: &s.ETag}
	change(in)
	allowed := w.Sim.Switches().Allowed
	w.Sim.ChangeSwitches(func(s *sim.Switches) { s.Allowed = sim.AllAllowed() })
	defer w.Sim.ChangeSwitches(func(s *sim.Switches) { s.Allowed = allowed })
	if _, err := w.AWS().UpdateDistributionTenant(t.Context(), in); err != nil {
		t.Fatalf("changing %s out of band: %v", name, err)
	}
}

// takesEmptyBlocks makes AWS take an empty block that takes something away.
func takesEmptyBlocks(w *world.World) {
	w.Sim.ChangeSwitches(func(s *sim.Switches) { s.Allowed.EmptyBlocks = true })
}

// removeOutOfBand disables and deletes a tenant past the operator.
func removeOutOfBand(t *testing.T, w *world.World, name string) {
	t.Helper()
	s := inAWS(t, w, name)
	if s.Enabled {
		outOfBand(t, w, name, func(in *cloudfront.UpdateDistributionTenantInput) { in.Enabled = awssdk.Bool(false) })
		w.Clock.Step(2 * world.DeployDelay)
		s = inAWS(t, w, name)
	}
	if _, err := w.AWS().DeleteDistributionTenant(t.Context(), &cloudfront.DeleteDistributionTenantInput{Id: &s.ID, IfMatch: &s.ETag}); err != nil {
		t.Fatalf("deleting %s out of band: %v", name, err)
	}
}

// fault makes calls fail.
func fault(t *testing.T, w *world.World, f sim.Fault) (id string) {
	t.Helper()
	id, err := w.Sim.AddFault(f)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// refusing answers every call of the operation with an error, until it is removed.
func refusing(t *testing.T, w *world.World, operation string, status int, code, message string) (remove func()) {
	t.Helper()
	id := fault(t, w, sim.Fault{
		Operation: operation, Times: -1, Kind: sim.Instead,
		Error: &sim.FaultError{Status: status, Code: code, Message: message},
	})
	return func() { w.Sim.RemoveFault(id) }
}

// nudge asks to look at once.
func nudge(w *world.World, name, token string) {
	annotate(w, name, v1alpha1.AnnotationReconcileNow, token)
}

func annotate(w *world.World, name, key, value string) {
	w.Edit(name, func(o *v1alpha1.DistributionTenant) {
		if o.Annotations == nil {
			o.Annotations = map[string]string{}
		}
		o.Annotations[key] = value
	})
}

// params sets the parameters of the spec, given as name and value in turn.
func params(list ...string) edit {
	return func(o *v1alpha1.DistributionTenant) {
		o.Spec.Parameters = nil
		for n := 0; n < len(list); n += 2 {
			o.Spec.Parameters = append(o.Spec.Parameters, v1alpha1.Parameter{Name: list[n], Value: list[n+1]})
		}
	}
}

// tags sets the tags of the spec, given as key and value in turn.
func tags(list ...string) edit {
	return func(o *v1alpha1.DistributionTenant) {
		o.Spec.Tags = nil
		for n := 0; n < len(list); n += 2 {
			o.Spec.Tags = append(o.Spec.Tags, v1alpha1.Tag{Key: list[n], Value: list[n+1]})
		}
	}
}

// domains sets the domains of the spec.
func domains(list ...string) edit {
	return func(o *v1alpha1.DistributionTenant) {
		o.Spec.Domains = nil
		for _, d := range list {
			o.Spec.Domains = append(o.Spec.Domains, v1alpha1.TenantDomain{Domain: d})
		}
	}
}

func drift(p v1alpha1.DriftPolicy) edit {
	return func(o *v1alpha1.DistributionTenant) { o.Spec.DriftPolicy = p }
}

func adoption(p v1alpha1.AdoptionPolicy) edit {
	return func(o *v1alpha1.DistributionTenant) { o.Spec.AdoptionPolicy = p }
}

func retain(o *v1alpha1.DistributionTenant) { o.Spec.DeletionPolicy = v1alpha1.DeletionPolicyRetain }

// rich fills every part of the spec that a drift can touch.
func rich(o *v1alpha1.DistributionTenant) {
	params("tier", "gold", "origin", "shop")(o)
	tags("team", "web", "cost", "42")(o)
	o.Spec.Customizations = &v1alpha1.Customizations{
		WebACL:          &v1alpha1.WebACLCustomization{Action: v1alpha1.WebACLActionOverride, ARN: webACL},
		Certificate:     &v1alpha1.CertificateCustomization{ARN: sim.DefaultCertificateARN},
		GeoRestrictions: &v1alpha1.GeoRestrictionCustomization{RestrictionType: v1alpha1.GeoRestrictionWhitelist, Locations: []v1alpha1.CountryCode{"FR", "DE"}},
	}
}

// without leaves the operations out of the counts.
func without(counts map[string]int, operations ...string) map[string]int {
	rest := maps.Clone(counts)
	for _, o := range operations {
		delete(rest, o)
	}
	return rest
}

// mutations are the calls that change something.
func mutations(counts map[string]int) map[string]int {
	out := map[string]int{}
	for _, o := range []string{"CreateDistributionTenant", "UpdateDistributionTenant", "DeleteDistributionTenant", "TagResource", "UntagResource"} {
		if n := counts[o]; n > 0 {
			out[o] = n
		}
	}
	return out
}

// sameStatus checks that a status has not moved at all.
func sameStatus(t *testing.T, before, after v1alpha1.DistributionTenantStatus) bool {
	t.Helper()
	d := cmp.Diff(before, after)
	if d != "" {
		t.Log(d)
	}
	return d == ""
}
