package model_test

import (
	"maps"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// otherGroup is a connection group that no spec names.
const otherGroup = "cg_other"

// elsewhere is an operator of another cluster.
var elsewhere = ownership.Owner{Cluster: "other-cluster", Namespace: "shop", Name: "alpha", UID: "uid-elsewhere"}

// undisturbed does something in AWS past the faults that are meant for the operator.
func (m *model) undisturbed(do func()) {
	faults := m.Sim.Faults()
	m.Sim.ClearFaults()
	do()
	for _, f := range faults {
		if _, err := m.Sim.AddFault(f); err != nil {
			m.t.Fatalf("arming a fault again: %v", err)
		}
	}
}

// anyTenant draws a tenant in AWS.
func (m *model) anyTenant(t *rapid.T) sim.TenantState {
	all := m.AllInAWS()
	if len(all) == 0 {
		t.Skip("no tenant")
	}
	return all[rapid.IntRange(0, len(all)-1).Draw(t, "tenant")]
}

func (m *model) somebodyCreates(t *rapid.T) {
	name := rapid.SampledFrom([]string{"alpha", "beta", "theirs"}).Draw(t, "name")
	domain := rapid.SampledFrom(domainPool).Draw(t, "domain")
	in := &cloudfront.CreateDistributionTenantInput{
		Name: &name, DistributionId: awssdk.String(world.DistributionID), Domains: []types.DomainItem{{Domain: &domain}},
		Enabled: awssdk.Bool(rapid.Bool().Draw(t, "enabled")),
		Tags:    wireTags(rapid.SampledFrom([]map[string]string{nil, {"their": "tag"}, elsewhere.Tags(), {ownership.ClusterKey: world.ClusterID}}).Draw(t, "tags")),
	}
	if rapid.Bool().Draw(t, "parameter") {
		in.Parameters = []types.Parameter{{Name: awssdk.String("origin"), Value: awssdk.String("theirs")}}
	}
	m.undisturbed(func() {
		out, err := m.AWS().CreateDistributionTenant(m.t.Context(), in)
		if err != nil {
			return // The name or the domain is taken: nothing happened.
		}
		m.theirs[*out.DistributionTenant.Id], _ = m.InAWS(*out.DistributionTenant.Id)
	})
}

func (m *model) somebodyEdits(t *rapid.T) {
	s := m.anyTenant(t)
	m.drawEdit(t)(s)
}

// somebodyRaces edits while the operator is at work, between its reads and its writes.
func (m *model) somebodyRaces(t *rapid.T) {
	which, edit := rapid.IntRange(0, 2).Draw(t, "tenant"), m.drawEdit(t)
	m.raceAt = rapid.IntRange(1, 6).Draw(t, "call")
	m.race = func() {
		if all := m.AllInAWS(); which < len(all) {
			edit(all[which])
		}
	}
}

// drawEdit draws a change of a tenant's configuration.
func (m *model) drawEdit(t *rapid.T) func(sim.TenantState) {
	var change func(*cloudfront.UpdateDistributionTenantInput, sim.TenantState)
	switch rapid.SampledFrom([]string{"enabled", "parameter", "domain", "acl", "group"}).Draw(t, "what") {
	case "enabled":
		change = func(in *cloudfront.UpdateDistributionTenantInput, s sim.TenantState) {
			in.Enabled = awssdk.Bool(!s.Enabled)
		}
	case "parameter":
		tier := rapid.SampledFrom([]string{"gold", "theirs"}).Draw(t, "tier")
		change = func(in *cloudfront.UpdateDistributionTenantInput, _ sim.TenantState) {
			in.Parameters = []types.Parameter{{Name: awssdk.String("tier"), Value: &tier}}
		}
	case "domain":
		domain := rapid.SampledFrom(domainPool).Draw(t, "domain")
		change = func(in *cloudfront.UpdateDistributionTenantInput, _ sim.TenantState) {
			in.Domains = []types.DomainItem{{Domain: &domain}}
		}
	case "acl":
		change = func(in *cloudfront.UpdateDistributionTenantInput, _ sim.TenantState) {
			in.Customizations = &types.Customizations{WebAcl: &types.WebAclCustomization{Action: "override", Arn: awssdk.String(webACL)}}
		}
	case "group":
		change = func(in *cloudfront.UpdateDistributionTenantInput, _ sim.TenantState) {
			in.ConnectionGroupId = awssdk.String(otherGroup)
		}
	}
	return func(s sim.TenantState) {
		in := &cloudfront.UpdateDistributionTenantInput{Id: &s.ID, IfMatch: &s.ETag}
		change(in, s)
		m.undisturbed(func() {
			_, err := m.AWS().UpdateDistributionTenant(m.t.Context(), in)
			// A refusal (the domain is taken) means that nothing happened.
			if err == nil && in.ConnectionGroupId != nil {
				m.groups[s.ID] = *in.ConnectionGroupId
			}
		})
		m.noteTheirs(s.ID)
	}
}

func (m *model) somebodyTags(t *rapid.T) {
	s := m.anyTenant(t)
	owner, owned := ownership.FromTags(s.Tags)
	m.undisturbed(func() {
		switch rapid.SampledFrom([]string{"adds", "removes", "picks off", "releases", "takes over"}).Draw(t, "what") {
		case "adds":
			m.tag(s, map[string]string{"their": "tag"})
			m.theirTags[s.ID] = "tag"
		case "removes":
			m.untag(s, "team")
		case "picks off":
			m.untag(s, ownership.ClusterKey)
		case "releases":
			m.untag(s, ownership.Keys()...)
		case "takes over":
			m.tag(s, elsewhere.Tags())
		}
	})
	if after, _ := m.InAWS(s.ID); owned && owner.UID != elsewhere.UID {
		if now, _ := ownership.FromTags(after.Tags); now.UID != owner.UID {
			m.takenOver[s.ID] = m.Clock.Now()
		}
	}
	if _, theirs := m.theirs[s.ID]; !theirs {
		m.tagsTouched = true
	}
	m.noteTheirs(s.ID)
}

func (m *model) somebodyDeletes(t *rapid.T) { m.deleteTenant(m.anyTenant(t)) }

func (m *model) deleteTenant(s sim.TenantState) {
	m.undisturbed(func() {
		needs := m.Sim.Switches().DeleteNeedsDeployed
		m.Sim.ChangeSwitches(func(sw *sim.Switches) { sw.DeleteNeedsDeployed = false })
		defer m.Sim.ChangeSwitches(func(sw *sim.Switches) { sw.DeleteNeedsDeployed = needs })
		_, err := m.AWS().UpdateDistributionTenant(m.t.Context(), &cloudfront.UpdateDistributionTenantInput{Id: &s.ID, IfMatch: &s.ETag, Enabled: awssdk.Bool(false)})
		if err != nil {
			m.t.Fatalf("disabling %s: %v", s.Name, err)
		}
		now, _ := m.InAWS(s.ID)
		if _, err := m.AWS().DeleteDistributionTenant(m.t.Context(), &cloudfront.DeleteDistributionTenantInput{Id: &s.ID, IfMatch: &now.ETag}); err != nil {
			m.t.Fatalf("deleting %s: %v", s.Name, err)
		}
	})
	delete(m.theirs, s.ID)
}

// noteTheirs remembers what their own change made of a tenant of theirs.
func (m *model) noteTheirs(id string) {
	if _, theirs := m.theirs[id]; theirs {
		m.theirs[id], _ = m.InAWS(id)
	}
}

func (m *model) tag(s sim.TenantState, tags map[string]string) {
	if _, err := m.AWS().TagResource(m.t.Context(), &cloudfront.TagResourceInput{Resource: &s.ARN, Tags: wireTags(tags)}); err != nil {
		m.t.Fatalf("tagging %s: %v", s.Name, err)
	}
}

func (m *model) untag(s sim.TenantState, keys ...string) {
	if _, err := m.AWS().UntagResource(m.t.Context(), &cloudfront.UntagResourceInput{Resource: &s.ARN, TagKeys: &types.TagKeys{Items: keys}}); err != nil {
		m.t.Fatalf("untagging %s: %v", s.Name, err)
	}
}

func wireTags(tags map[string]string) *types.Tags {
	out := &types.Tags{}
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		out.Items = append(out.Items, types.Tag{Key: awssdk.String(k), Value: awssdk.String(tags[k])})
	}
	return out
}
