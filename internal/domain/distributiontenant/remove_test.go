package distributiontenant_test

import (
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

func TestRemoveChain(t *testing.T) {
	for name, q := range removeCases() {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}

func removeCases() map[string]question {
	tags := distributiontenant.Look{At: distributiontenant.LookTags}
	left := distributiontenant.LetGo{Left: "alpha (dt_1)"}
	freshTenant := func(in *distributiontenant.Input) { in.World.TenantFresh = true }
	whole := quiet().World.Tenant.Tenant
	whole.Enabled = false
	retain := func(in *distributiontenant.Input) { in.Policy.Retain = true }
	refusedDisable := func(in *distributiontenant.Input) { in.Attempts.DisableRefused = true }
	refusedDelete := func(etag string) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) { in.Attempts.DeleteRefused = etag }
	}
	deletedAt := func(ago time.Duration) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) { in.Attempts.DeletedAt = now.Add(-ago) }
	}
	follow := distributiontenant.Rest{Follow: true, After: 2 * retry.FollowEvery}
	del := distributiontenant.Delete{ID: tenantID, ETag: "E-1"}
	return map[string]question{
		"nothing is torn down while all writes are halted": {in: with(dying(), func(in *distributiontenant.Input) {
			in.Halt = &chain.Halt{Reason: "ClusterMoved", Message: "Look here."}
		}), rule: "Paused", step: distributiontenant.Rest{}},
		"a paused object is not torn down": {in: with(dying(), func(in *distributiontenant.Input) { in.Paused = true }), rule: "Paused", step: distributiontenant.Rest{}},
		"a denied read is reported": {
			in: with(dying(), func(in *distributiontenant.Input) {
				in.World.Unreadable = &fault.Error{Kind: fault.Denied, Operation: "GetDistributionTenant"}
			}),
			rule: "Readable", step: distributiontenant.Rest{}, reason: resource.ReasonAccessDenied, stuck: true,
		},
		"a tenant that the list does not show is looked up": {in: with(dying(), unknown), rule: "Located", step: distributiontenant.Look{At: distributiontenant.LookTenant}},
		"an object whose tenant is gone is released":        {in: with(dying(), absent), rule: "Gone", step: distributiontenant.LetGo{}},
		"an object whose create mark is old is released":    {in: with(dying(), absent, marked(resource.GracePeriod)), rule: "Gone", step: distributiontenant.LetGo{}},
		"only a mark is waited for, not what was created": {
			in: with(dying(), absent, func(in *distributiontenant.Input) { in.Attempts.CreatedAt = in.Now }), rule: "Gone", step: distributiontenant.LetGo{},
		},
		"not while a create that was just sent may still appear": {
			in: with(dying(), absent, marked(90*time.Second)), rule: "Gone",
			step: distributiontenant.Rest{After: resource.GracePeriod - 90*time.Second}, reason: resource.ReasonDeleting,
		},
		"a mark from a clock that runs ahead is waited for": {
			in: with(dying(), absent, marked(-time.Minute)), rule: "Gone",
			step: distributiontenant.Rest{After: resource.GracePeriod + time.Minute}, reason: resource.ReasonDeleting,
		},
		"tags that were never read are read first":       {in: with(dying(), func(in *distributiontenant.Input) { in.World.TagsKnown = false }), rule: "Proven", step: tags},
		"tags that were read a while ago are read again": {in: with(dying(), oldTags), rule: "Proven", step: tags},
		"before one is left alone it is looked at again": {in: with(dying(), tagged(nil)), rule: "Proven", step: distributiontenant.Look{At: distributiontenant.LookTenant}},
		"and its tags, too":                              {in: with(dying(), stale, tagged(nil), freshTenant), rule: "Proven", step: tags},
		"not even that is believed while our own may still appear": {
			in: with(dying(), taggedFor(other), marked(90*time.Second)), rule: "Proven",
			step: distributiontenant.Rest{After: resource.GracePeriod - 90*time.Second}, reason: resource.ReasonDeleting,
		},
		"a tenant without our tags stays":                {in: with(dying(), tagged(nil), freshTenant, freshTags), rule: "Proven", step: left},
		"another object's tenant stays":                  {in: with(dying(), taggedFor(other), freshTenant, freshTags), rule: "Proven", step: left},
		"a tenant of a former object of this name stays": {in: with(dying(), taggedFor(ownership.Owner{Cluster: "c1", Namespace: "shop", Name: "alpha", UID: "u0"}), freshTenant, freshTags), rule: "Proven", step: left},
		"a tenant that is kept loses the owner tags":     {in: with(dying(), retain), rule: "Retained", step: distributiontenant.Untag{ARN: "arn:dt_1", Keys: ownership.Keys(), Release: true}},
		"a release that AWS refuses is reported":         {in: with(dying(), retain, refused(fault.Denied)), rule: "Retained", step: distributiontenant.Rest{}, reason: resource.ReasonAccessDenied, stuck: true},
		"nothing is disabled on the strength of tags that were read before": {
			in: with(dying(), stale), rule: "Disabled", step: distributiontenant.Look{At: distributiontenant.LookTags},
		},
		"nor deleted": {
			in: with(dying(), stale, func(in *distributiontenant.Input) {
				change(in, func(t *distributiontenant.Observed) { t.Enabled = false })
			}),
			rule: "Deleted", step: distributiontenant.Look{At: distributiontenant.LookTags},
		},
		"an enabled tenant is disabled, and nothing else is sent":           {in: dying(), rule: "Disabled", step: distributiontenant.Disable{ID: tenantID, ETag: "E-1"}},
		"where AWS refuses a bare disable, the whole configuration is sent": {in: with(dying(), refusedDisable), rule: "Disabled", step: distributiontenant.Disable{ID: tenantID, ETag: "E-1", Whole: &whole}},
		"and for that the whole has to be known":                            {in: with(dying(), refusedDisable, listed), rule: "Disabled", step: distributiontenant.Look{At: distributiontenant.LookTenant}},
		"a disable that AWS refuses is reported": {
			in: with(dying(), refused(fault.InUse)), rule: "Disabled", step: distributiontenant.Rest{}, reason: resource.ReasonAWSError, stuck: true,
		},
		"a disabled tenant is deleted":                    {in: with(dying(), disabledTenant), rule: "Deleted", step: del},
		"once at once, though it is still being deployed": {in: with(dying(), disabledTenant, inProgress), rule: "Deleted", step: del},
		"not where AWS is known to refuse that": {
			in:   with(dying(), disabledTenant, inProgress, func(in *distributiontenant.Input) { in.World.SettlesFirst = true }),
			rule: "Deleted", step: follow, reason: resource.ReasonDisabling,
		},
		"tags that were read a moment ago serve for the delete too": {
			in:   with(dying(), disabledTenant, stale, func(in *distributiontenant.Input) { in.World.TagsRead = now.Add(-5 * time.Second) }),
			rule: "Deleted", step: del,
		},
		"if that is refused, not again until something has moved": {in: with(dying(), disabledTenant, inProgress, refusedDelete("E-1")), rule: "Deleted", step: follow, reason: resource.ReasonDisabling},
		"once more with another ETag":                             {in: with(dying(), disabledTenant, inProgress, refusedDelete("E-0")), rule: "Deleted", step: del},
		"once more when it is deployed":                           {in: with(dying(), disabledTenant, refusedDelete("E-1")), rule: "Deleted", step: del},
		"the refusal itself only says to wait": {
			in: with(dying(), disabledTenant, inProgress, refusedDelete("E-1"), refused(fault.NotDisabled)), rule: "Deleted", step: follow, reason: resource.ReasonDisabling,
		},
		"a refusal although it is deployed and disabled is reported": {
			in: with(dying(), disabledTenant, refused(fault.NotDisabled)), rule: "Deleted", step: distributiontenant.Rest{}, reason: resource.ReasonDisabling, stuck: true,
		},
		"any other refusal is reported": {
			in: with(dying(), disabledTenant, refused(fault.Denied)), rule: "Deleted", step: distributiontenant.Rest{}, reason: resource.ReasonAccessDenied, stuck: true,
		},
		"an accepted deletion may take a moment to show": {
			in: with(dying(), disabledTenant, deletedAt(30*time.Second)), rule: "Deleted", step: distributiontenant.Rest{After: retry.FollowEvery}, reason: resource.ReasonDeleting,
		},
		"one that never shows is sent again": {in: with(dying(), disabledTenant, deletedAt(2*time.Minute)), rule: "Deleted", step: del},
	}
}
