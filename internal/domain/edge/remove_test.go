package edge_test

import (
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/cadence"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/edge"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
)

func TestRemoveChain(t *testing.T) {
	for name, q := range removeCases() {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}

func removeCases() map[string]question {
	tags := edge.Look{At: edge.LookTags}
	left := edge.LetGo{Left: "alpha (dt_1)"}
	freshTenant := func(in *edge.Input) { in.World.TenantFresh = true }
	whole := quiet().World.Tenant.Tenant
	whole.Enabled = false
	retain := func(in *edge.Input) { in.Policy.Retain = true }
	refusedDisable := func(in *edge.Input) { in.Attempts.DisableRefused = true }
	refusedDelete := func(etag string) func(*edge.Input) {
		return func(in *edge.Input) { in.Attempts.DeleteRefused = etag }
	}
	deletedAt := func(ago time.Duration) func(*edge.Input) {
		return func(in *edge.Input) { in.Attempts.DeletedAt = now.Add(-ago) }
	}
	follow := edge.Rest{Follow: true, After: 2 * cadence.FollowEvery}
	del := edge.Delete{ID: tenantID, ETag: "E-1"}
	return map[string]question{
		"a paused object is not torn down": {in: with(dying(), func(in *edge.Input) { in.Paused = true }), rule: "Paused", step: edge.Rest{}},
		"what may not be read is said": {
			in: with(dying(), func(in *edge.Input) {
				in.World.Unreadable = &fault.Error{Kind: fault.Denied, Operation: "GetDistributionTenant"}
			}),
			rule: "Readable", step: edge.Rest{}, reason: edge.ReasonAccessDenied, stuck: true,
		},
		"a tenant that the list does not show is looked up": {in: with(dying(), unknown), rule: "Located", step: edge.Look{At: edge.LookTenant}},
		"an object whose tenant is gone is let go":          {in: with(dying(), absent), rule: "Gone", step: edge.LetGo{}},
		"an object whose create mark is old is let go":      {in: with(dying(), absent, marked(edge.GracePeriod)), rule: "Gone", step: edge.LetGo{}},
		"not while a create that was just sent may still appear": {
			in: with(dying(), absent, marked(90*time.Second)), rule: "Gone",
			step: edge.Rest{After: edge.GracePeriod - 90*time.Second}, reason: edge.ReasonDeleting,
		},
		"a mark from a clock that runs ahead is waited for": {
			in: with(dying(), absent, marked(-time.Minute)), rule: "Gone",
			step: edge.Rest{After: edge.GracePeriod + time.Minute}, reason: edge.ReasonDeleting,
		},
		"tags that were never read are read first":       {in: with(dying(), func(in *edge.Input) { in.World.TagsKnown = false }), rule: "Proven", step: tags},
		"tags that were read a while ago are read again": {in: with(dying(), oldTags), rule: "Proven", step: tags},
		"before one is left it is looked at anew":        {in: with(dying(), tagged(nil)), rule: "Proven", step: edge.Look{At: edge.LookTenant}},
		"and its tags, too":                              {in: with(dying(), stale, tagged(nil), freshTenant), rule: "Proven", step: tags},
		"not even that is believed while our own may still appear": {
			in: with(dying(), taggedFor(other), marked(90*time.Second)), rule: "Proven",
			step: edge.Rest{After: edge.GracePeriod - 90*time.Second}, reason: edge.ReasonDeleting,
		},
		"a tenant without our tags stays":                {in: with(dying(), tagged(nil), freshTenant, freshTags), rule: "Proven", step: left},
		"another object's tenant stays":                  {in: with(dying(), taggedFor(other), freshTenant, freshTags), rule: "Proven", step: left},
		"a tenant of a former object of this name stays": {in: with(dying(), taggedFor(ownership.Owner{Cluster: "c1", Namespace: "shop", Name: "alpha", UID: "u0"}), freshTenant, freshTags), rule: "Proven", step: left},
		"a tenant that is kept loses the owner tags":     {in: with(dying(), retain), rule: "Retained", step: edge.Untag{ARN: "arn:dt_1", Keys: ownership.Keys(), Release: true}},
		"a release that AWS refuses is said":             {in: with(dying(), retain, refused(fault.Denied)), rule: "Retained", step: edge.Rest{}, reason: edge.ReasonAccessDenied, stuck: true},
		"nothing is disabled on the strength of tags that were read before": {
			in: with(dying(), stale), rule: "Disabled", step: edge.Look{At: edge.LookTags},
		},
		"nor deleted": {
			in:   with(dying(), stale, func(in *edge.Input) { change(in, func(t *edge.Observed) { t.Enabled = false }) }),
			rule: "Deleted", step: edge.Look{At: edge.LookTags},
		},
		"an enabled tenant is disabled, and nothing else is sent": {in: dying(), rule: "Disabled", step: edge.Disable{ID: tenantID, ETag: "E-1"}},
		"where AWS refuses a bare disable, the whole goes along":  {in: with(dying(), refusedDisable), rule: "Disabled", step: edge.Disable{ID: tenantID, ETag: "E-1", Whole: &whole}},
		"and for that the whole has to be known":                  {in: with(dying(), refusedDisable, listed), rule: "Disabled", step: edge.Look{At: edge.LookTenant}},
		"a disable that AWS refuses is said": {
			in: with(dying(), refused(fault.InUse)), rule: "Disabled", step: edge.Rest{}, reason: edge.ReasonAWSError, stuck: true,
		},
		"a disabled tenant is deleted":                    {in: with(dying(), disabledTenant), rule: "Deleted", step: del},
		"once at once, though it is still being deployed": {in: with(dying(), disabledTenant, inProgress), rule: "Deleted", step: del},
		"not where AWS is known to refuse that": {
			in:   with(dying(), disabledTenant, inProgress, func(in *edge.Input) { in.World.SettlesFirst = true }),
			rule: "Deleted", step: follow, reason: edge.ReasonDisabling,
		},
		"tags that were read a moment ago serve for the delete too": {
			in:   with(dying(), disabledTenant, stale, func(in *edge.Input) { in.World.TagsRead = now.Add(-5 * time.Second) }),
			rule: "Deleted", step: del,
		},
		"if that is refused, not again until something has moved": {in: with(dying(), disabledTenant, inProgress, refusedDelete("E-1")), rule: "Deleted", step: follow, reason: edge.ReasonDisabling},
		"once more with another ETag":                             {in: with(dying(), disabledTenant, inProgress, refusedDelete("E-0")), rule: "Deleted", step: del},
		"once more when it is deployed":                           {in: with(dying(), disabledTenant, refusedDelete("E-1")), rule: "Deleted", step: del},
		"the refusal itself only says to wait": {
			in: with(dying(), disabledTenant, inProgress, refusedDelete("E-1"), refused(fault.NotDisabled)), rule: "Deleted", step: follow, reason: edge.ReasonDisabling,
		},
		"a refusal although it is deployed and disabled is said": {
			in: with(dying(), disabledTenant, refused(fault.NotDisabled)), rule: "Deleted", step: edge.Rest{}, reason: edge.ReasonDisabling, stuck: true,
		},
		"any other refusal is said": {
			in: with(dying(), disabledTenant, refused(fault.Denied)), rule: "Deleted", step: edge.Rest{}, reason: edge.ReasonAccessDenied, stuck: true,
		},
		"an accepted deletion may take a moment to show": {
			in: with(dying(), disabledTenant, deletedAt(30*time.Second)), rule: "Deleted", step: edge.Rest{After: cadence.FollowEvery}, reason: edge.ReasonDeleting,
		},
		"one that never shows is sent again": {in: with(dying(), disabledTenant, deletedAt(2*time.Minute)), rule: "Deleted", step: del},
	}
}
