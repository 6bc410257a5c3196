package model_test

import (
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// The names are few, so that stories meet: gamma wants the tenant of alpha's name.
var (
	objectNames = []string{"alpha", "beta", "gamma"}
	domainPool  = []string{"a.example.com", "b.example.com", "c.example.com", "d.example.com"}
)

const (
	contested = "alpha"
	webACL    = "arn:aws:wafv2:us-east-1:111122223333:global/webacl/edge/a1"
)

// actions are what may happen, each with what it is called in a failing story.
func (m *model) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"user applies":          m.userApplies,
		"user applies again":    m.userApplies,
		"user edits":            m.userEdits,
		"user deletes":          m.userDeletes,
		"user pauses":           m.userPauses,
		"user nudges":           m.userNudges,
		"time passes":           m.timePasses,
		"more time passes":      m.timePasses,
		"process crashes":       m.processCrashes,
		"process crashes twice": m.processCrashesTwice,
		"process restarts":      func(*rapid.T) { m.Restart() },
		"cache lags":            func(t *rapid.T) { m.LagReads(rapid.IntRange(1, 3).Draw(t, "reads")) },
		"AWS fails":             m.awsFails,
		"AWS fails again":       m.awsFails,
		"AWS lags":              m.awsLags,
		"someone creates":       m.somebodyCreates,
		"someone edits":         m.somebodyEdits,
		"someone tags":          m.somebodyTags,
		"someone deletes":       m.somebodyDeletes,
		"someone races":         m.somebodyRaces,
		"":                      func(*rapid.T) { m.checkTheirs() },
	}
}

func (m *model) objects() []v1alpha1.DistributionTenant {
	var list v1alpha1.DistributionTenantList
	if err := m.Kube.List(m.t.Context(), &list, client.InNamespace(m.Namespace)); err != nil {
		m.t.Fatalf("listing the objects: %v", err)
	}
	return list.Items
}

// some draws an object; a story without one skips the action.
func (m *model) some(t *rapid.T) v1alpha1.DistributionTenant {
	all := m.objects()
	if len(all) == 0 {
		t.Skip("no object")
	}
	return all[rapid.IntRange(0, len(all)-1).Draw(t, "object")]
}

func (m *model) userApplies(t *rapid.T) {
	name := rapid.SampledFrom(objectNames).Draw(t, "name")
	if _, found := m.Get(name); found {
		t.Skip("it is there")
	}
	m.Apply(m.Tenant(name, func(o *v1alpha1.DistributionTenant) {
		if name == "gamma" {
			o.Spec.TenantName = contested
		}
		drawSpec(t, &o.Spec)
		drawPolicies(t, &o.Spec)
	}))
	m.Advance(rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute}).Draw(t, "then"))
}

func (m *model) userEdits(t *rapid.T) {
	o := m.some(t)
	policies := rapid.Bool().Draw(t, "policies too")
	m.Edit(o.Name, func(o *v1alpha1.DistributionTenant) {
		drawSpec(t, &o.Spec)
		if policies {
			drawPolicies(t, &o.Spec)
		}
	})
}

func (m *model) userDeletes(t *rapid.T) {
	m.Delete(m.some(t).Name)
	m.Advance(rapid.SampledFrom([]time.Duration{0, time.Second, 3 * time.Minute}).Draw(t, "then"))
}

func (m *model) userPauses(t *rapid.T) { m.pause(m.some(t).Name, rapid.Bool().Draw(t, "paused")) }

func (m *model) pause(name string, paused bool) {
	m.Edit(name, func(o *v1alpha1.DistributionTenant) {
		if o.Annotations == nil {
			o.Annotations = map[string]string{}
		}
		delete(o.Annotations, v1alpha1.AnnotationPaused)
		if paused {
			o.Annotations[v1alpha1.AnnotationPaused] = v1alpha1.PausedTrue
		}
	})
	o, _ := m.Get(name)
	if _, already := m.pausedAt[o.UID]; !paused {
		delete(m.pausedAt, o.UID)
	} else if !already {
		m.pausedAt[o.UID] = m.Clock.Now()
	}
}

func (m *model) userNudges(t *rapid.T) {
	m.nudge(m.some(t).Name, rapid.SampledFrom([]string{"one", "two"}).Draw(t, "token"))
}

func (m *model) nudge(name, token string) {
	m.Edit(name, func(o *v1alpha1.DistributionTenant) {
		if o.Annotations == nil {
			o.Annotations = map[string]string{}
		}
		o.Annotations[v1alpha1.AnnotationReconcileNow] = token
	})
}

func (m *model) timePasses(t *rapid.T) {
	m.Advance(rapid.SampledFrom([]time.Duration{
		time.Second, 15 * time.Second, 70 * time.Second, 130 * time.Second, 6 * time.Minute, 31 * time.Minute,
	}).Draw(t, "time"))
}

func (m *model) processCrashes(t *rapid.T) {
	m.CrashAt(rapid.IntRange(1, 4).Draw(t, "write"), rapid.Bool().Draw(t, "after it"))
	m.Advance(rapid.SampledFrom([]time.Duration{0, time.Second, 2 * time.Minute}).Draw(t, "then"))
}

// processCrashesTwice ends the next process too, while it looks at what the first one left.
func (m *model) processCrashesTwice(t *rapid.T) {
	m.CrashAt(rapid.IntRange(1, 4).Draw(t, "write"), rapid.Bool().Draw(t, "after it"))
	m.CrashAgainAt(rapid.IntRange(1, 4).Draw(t, "write of the next"), rapid.Bool().Draw(t, "after that"))
	m.Advance(rapid.SampledFrom([]time.Duration{0, time.Second, 2 * time.Minute}).Draw(t, "then"))
}

func (m *model) awsFails(t *rapid.T) {
	m.fail(t,
		"CreateDistributionTenant", "UpdateDistributionTenant", "DeleteDistributionTenant", "TagResource", "UntagResource",
		"GetDistributionTenant", "ListDistributionTenants", "ListTagsForResource", "*",
	)
}

// fail spoils some calls of one of the operations, and returns how.
func (m *model) fail(t *rapid.T, operations ...string) sim.Fault {
	f := sim.Fault{
		Operation: rapid.SampledFrom(operations).Draw(t, "operation"),
		Nth:       rapid.IntRange(1, 2).Draw(t, "nth"),
		Times:     rapid.IntRange(1, 3).Draw(t, "times"),
	}
	how := map[string]sim.Fault{
		"lost answer":   {Kind: sim.AfterCommit, Effect: sim.EffectReset},
		"late error":    {Kind: sim.AfterCommit, Effect: sim.EffectError},
		"half answer":   {Kind: sim.AfterCommit, Effect: sim.EffectTruncate},
		"no answer":     {Kind: sim.AfterCommit, Effect: sim.EffectHang},
		"lost request":  {Kind: sim.BeforeCommit, Effect: sim.EffectReset},
		"early error":   {Kind: sim.BeforeCommit, Effect: sim.EffectError},
		"throttle":      {Kind: sim.Instead, Error: &sim.FaultError{Status: 400, Code: "Throttling", Message: "Rate exceeded"}},
		"denial":        {Kind: sim.Instead, Error: &sim.FaultError{Status: 403, Code: "AccessDenied", Message: "Not allowed"}},
		"stale version": {Kind: sim.Instead, Error: &sim.FaultError{Status: 412, Code: "PreconditionFailed", Message: "Changed"}},
		"quota":         {Kind: sim.Instead, Error: &sim.FaultError{Status: 400, Code: "EntityLimitExceeded", Message: "Too many"}},
	}
	kind := how[rapid.SampledFrom(slices.Sorted(maps.Keys(how))).Draw(t, "how")]
	f.Kind, f.Effect, f.Error = kind.Kind, kind.Effect, kind.Error
	if _, err := m.Sim.AddFault(f); err != nil {
		m.t.Fatalf("arming a fault: %v", err)
	}
	return f
}

// awsLags stays below edge.GracePeriod for what was just created: that is what it is for.
func (m *model) awsLags(t *rapid.T) {
	lag := func(name string, upTo ...time.Duration) time.Duration {
		return rapid.SampledFrom(append([]time.Duration{0}, upTo...)).Draw(t, name)
	}
	m.Sim.ChangeSwitches(func(s *sim.Switches) {
		s.GetLag = lag("get", 20*time.Second, 100*time.Second)
		s.ListLag = lag("list", 20*time.Second, 7*time.Minute)
		s.UpdateLag = lag("update", 20*time.Second, 100*time.Second)
		s.DeleteLag = lag("delete", 20*time.Second, 100*time.Second)
		s.DeployDelay = lag("deploy", time.Minute, 4*time.Minute)
	})
}

func drawSpec(t *rapid.T, s *v1alpha1.DistributionTenantSpec) {
	s.Domains = nil
	for _, d := range rapid.SliceOfNDistinct(rapid.SampledFrom(domainPool), 1, 2, rapid.ID[string]).Draw(t, "domains") {
		s.Domains = append(s.Domains, v1alpha1.TenantDomain{Domain: d})
	}
	enabled := rapid.SampledFrom([]bool{true, true, false}).Draw(t, "enabled")
	s.Enabled = &enabled
	s.Parameters = nil
	if tier := rapid.SampledFrom([]string{"", "gold", "lead"}).Draw(t, "tier"); tier != "" {
		s.Parameters = []v1alpha1.Parameter{{Name: "tier", Value: tier}}
	}
	s.Tags = nil
	for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"team", "cost"}), 0, 2, rapid.ID[string]).Draw(t, "tags") {
		s.Tags = append(s.Tags, v1alpha1.Tag{Key: key, Value: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "tag")})
	}
	s.Customizations = nil
	switch rapid.SampledFrom([]string{"none", "none", "acl", "geo", "certificate"}).Draw(t, "customization") {
	case "acl":
		s.Customizations = &v1alpha1.Customizations{WebACL: &v1alpha1.WebACLCustomization{Action: v1alpha1.WebACLActionOverride, ARN: webACL}}
	case "geo":
		s.Customizations = &v1alpha1.Customizations{GeoRestrictions: &v1alpha1.GeoRestrictionCustomization{
			RestrictionType: v1alpha1.GeoRestrictionWhitelist, Locations: []v1alpha1.CountryCode{"FR", "DE"},
		}}
	case "certificate":
		s.Customizations = &v1alpha1.Customizations{Certificate: &v1alpha1.CertificateCustomization{ARN: sim.DefaultCertificateARN}}
	}
}

func drawPolicies(t *rapid.T, s *v1alpha1.DistributionTenantSpec) {
	s.DriftPolicy = rapid.SampledFrom([]v1alpha1.DriftPolicy{"", "", "", v1alpha1.DriftPolicyReport, v1alpha1.DriftPolicySuspend}).Draw(t, "drift")
	s.AdoptionPolicy = rapid.SampledFrom([]v1alpha1.AdoptionPolicy{
		v1alpha1.AdoptionPolicyNever, v1alpha1.AdoptionPolicyNever, v1alpha1.AdoptionPolicyIfUnowned, v1alpha1.AdoptionPolicyForce,
	}).Draw(t, "adoption")
	s.DeletionPolicy = rapid.SampledFrom([]v1alpha1.DeletionPolicy{
		v1alpha1.DeletionPolicyDelete, v1alpha1.DeletionPolicyDelete, v1alpha1.DeletionPolicyRetain,
	}).Draw(t, "deletion")
}
