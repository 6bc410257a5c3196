package distribution_test

import (
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
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
	return together(goneCases(), leftCases(), useCases(), disableCases(), deleteCases())
}

func goneCases() map[string]question {
	look := distribution.Look{At: distribution.LookResource}
	named := func(in *distribution.Input) { in.Desired.Numbered = false }
	never := func(in *distribution.Input) { in.Memory, in.CreateMark = distribution.Memory{}, time.Time{} }
	waits := func(in distribution.Input, after time.Duration) question {
		return question{
			in: in, rule: "Gone", step: distribution.Rest{After: after}, reason: resource.ReasonDeleting,
			says: "The distribution is not found, but a create request with an unknown result may still take effect. The finalizer is removed at " +
				now.Add(after).Format(time.RFC3339) + ".",
		}
	}
	return map[string]question{
		"nothing is torn down while all writes are halted": {in: with(dying(), func(in *distribution.Input) { in.Halt = &chain.Halt{Reason: "ClusterMoved", Message: "Look here."} }), rule: "Paused", step: distribution.Rest{}},
		"a paused object is not torn down":                 {in: with(dying(), paused), rule: "Paused", step: distribution.Rest{}},
		"a denied read is reported":                        {in: with(dying(), unreadable), rule: "Readable", step: distribution.Rest{}, reason: resource.ReasonAccessDenied, stuck: true},
		"in another account no object is released": {
			in: with(dying(), absent, func(in *distribution.Input) { in.World.Account = "444455556666" }), rule: "SameAccount", step: distribution.Rest{},
			reason: resource.ReasonWrongAccount, stuck: true,
		},
		"nor is a resource of that ID there ours": {in: with(dying(), elsewhere), rule: "SameAccount", step: distribution.Rest{}, reason: resource.ReasonWrongAccount, stuck: true},
		"before an absence is believed the account is looked up": {
			in: with(dying(), absent, func(in *distribution.Input) { in.World.Account = "" }), rule: "SameAccount", step: distribution.Look{At: distribution.LookAccount},
		},
		"every step begins with a fresh look":                    {in: with(dying(), func(in *distribution.Input) { in.World.Fresh = false }), rule: "Located", step: look},
		"what may have been created is looked for":               {in: with(dying(), never, unknown, marked(time.Hour)), rule: "Located", step: look},
		"what may have been adopted is looked for":               {in: with(dying(), never, unknown, adopting), rule: "Located", step: look},
		"what is not known to exist is looked for all the same":  {in: with(dying(), never, unknown), rule: "Located", step: look},
		"an object whose resource is gone is released":           {in: with(dying(), absent), rule: "Gone", step: distribution.LetGo{}},
		"not while a create that was just sent may still appear": waits(with(dying(), absent, marked(90*time.Second)), resource.GracePeriod-90*time.Second),
		"a mark from a clock that runs ahead is waited for":      waits(with(dying(), absent, marked(-time.Minute)), resource.GracePeriod+time.Minute),
		"a create that only the process knows of is waited for":  waits(with(dying(), absent, func(in *distribution.Input) { in.Attempts.CreatedAt = now }), resource.GracePeriod),
		"what was deleted a moment after its creation is gone":   {in: with(dying(), absent, marked(90*time.Second), sentDelete(10*time.Second)), rule: "Gone", step: distribution.LetGo{}},
		"nor can it come back when this process made it": {
			in: with(dying(), absent, named, marked(90*time.Second), sentDelete(10*time.Second), answered(90*time.Second)), rule: "Gone", step: distribution.LetGo{},
		},
		"but its name can be taken again": waits(with(dying(), absent, named, marked(90*time.Second), sentDelete(10*time.Second)), resource.GracePeriod-90*time.Second),
	}
}

func leftCases() map[string]question {
	tags := distribution.Look{At: distribution.LookTags}
	left := distribution.LetGo{Left: "E1"}
	release := distribution.Untag{ARN: arn, Keys: ownership.Keys()}
	group := func(in *distribution.Input) {
		change(in, func(r *distribution.Observed) { r.ID, r.Name = "cg_1", "alpha" })
	}
	return map[string]question{
		"tags that were never read are read first":       {in: with(dying(), untold), rule: "Proven", step: tags},
		"tags that were read a while ago are read again": {in: with(dying(), oldTags), rule: "Proven", step: tags},
		"before one is left its tags are read once more": {in: with(dying(), tagged(nil), staleTags), rule: "Proven", step: tags},
		"not even that is believed while our own may still appear": {
			in: with(dying(), taggedFor(other), marked(90*time.Second)), rule: "Proven", step: distribution.Rest{After: resource.GracePeriod - 90*time.Second},
			reason: resource.ReasonDeleting, says: "The distribution in AWS does not belong to this object, but a create request with an unknown result may still take effect. The finalizer is removed at " +
				now.Add(resource.GracePeriod-90*time.Second).Format(time.RFC3339) + ".",
		},
		"what is to be adopted is not created":              {in: with(dying(), taggedFor(other), marked(90*time.Second), adopting), rule: "Proven", step: left},
		"a resource without an owner stays":                 {in: with(dying(), tagged(nil)), rule: "Proven", step: left},
		"what another object owns stays":                    {in: with(dying(), taggedFor(other)), rule: "Proven", step: left},
		"what an earlier object of this name owned stays":   {in: with(dying(), taggedFor(former)), rule: "Proven", step: left},
		"a group that stays is told by its name":            {in: with(dying(), group, tagged(nil)), rule: "Proven", step: distribution.LetGo{Left: "alpha (cg_1)"}},
		"what is kept loses the owner tags":                 {in: with(dying(), retain), rule: "Retained", step: release},
		"on proof of this very pass":                        {in: with(dying(), retain, staleTags), rule: "Retained", step: tags},
		"even if it has tenants":                            {in: with(dying(), retain, usedBy(3, false)), rule: "Retained", step: release},
		"the default connection group can't be deleted":     {in: with(dying(), isDefault), rule: "Retained", step: release},
		"a release that AWS refuses is reported":            {in: with(dying(), retain, refused(fault.Denied)), rule: "Retained", step: distribution.Rest{}, reason: resource.ReasonAccessDenied, stuck: true},
		"what was released in this pass is let go":          {in: with(dying(), retain, tagged(spec().Tags)), rule: "Proven", step: left},
		"what was released before a crash is let go, too":   {in: with(dying(), retain, tagged(spec().Tags), at(distribution.StepDisabling)), rule: "Proven", step: left},
		"half an owner of another object is another object": {in: with(dying(), tagged(map[string]string{ownership.UIDKey: other.UID})), rule: "Proven", step: left},
	}
}

func useCases() map[string]question {
	inUse := func(in distribution.Input, says string) question {
		return question{in: in, rule: "Unused", step: distribution.Rest{After: retry.FollowEvery}, reason: distribution.ReasonInUse, says: says}
	}
	group := func(in *distribution.Input) { in.Desired.Words = ofGroups() }
	const cure = " Delete the tenants, or move them to another distribution."
	return map[string]question{
		"before anything is disabled its tenants are looked for": {in: with(dying(), unasked), rule: "Unused", step: distribution.Look{At: distribution.LookDependents}},
		"what has tenants stays as it is": inUse(with(dying(), usedBy(2, false, "shop/a", "shop/b")),
			"The distribution still has 2 distribution tenants, so it is neither disabled nor deleted. Objects in this namespace: shop/a, shop/b."+cure),
		"one tenant is enough, even if no object here owns it": inUse(with(dying(), usedBy(1, false)),
			"The distribution still has 1 distribution tenant, so it is neither disabled nor deleted. None of them belongs to an object in this cluster."+cure),
		"of many the first few are named": inUse(with(dying(), usedBy(100, true, "shop/a", "shop/b", "shop/c", "shop/d", "shop/e", "shop/f", "shop/g")),
			"The distribution still has more than 100 distribution tenants, so it is neither disabled nor deleted. Objects in this namespace: shop/a, shop/b, shop/c, shop/d, shop/e and 2 more."+cure),
		"those of other namespaces are counted": inUse(with(dying(), usedBy(3, false, "shop/a", "pay/b", "pay/c")),
			"The distribution still has 3 distribution tenants, so it is neither disabled nor deleted. Objects in this namespace: shop/a. Objects in other namespaces: 2. Ask the platform team: the operator's log has their names."+cure),
		"a connection group is spoken of as one": inUse(with(dying(), group, usedBy(2, false)),
			"The connection group still has 2 distribution tenants, so it is neither disabled nor deleted. None of them belongs to an object in this cluster. Delete the tenants, or move them to another connection group."),
		"tenants that AWS names when it refuses the deletion are looked for": {
			in: with(dying(), disabled, unasked, refused(fault.InUse)), rule: "Unused", step: distribution.Look{At: distribution.LookDependents},
		},
		"a resource that had tenants at the last look is looked at first": {
			in: with(dying(), disabled, unasked, at(distribution.StepInUse)), rule: "Unused", step: distribution.Look{At: distribution.LookDependents},
		},
		"once they are gone it is deleted":                    {in: with(dying(), disabled, at(distribution.StepInUse)), rule: "Deleted", step: distribution.Delete{}},
		"it is not while they are there, whatever is refused": inUse(with(dying(), disabled, usedBy(1, false), refused(fault.Denied)), ""),
		"and said": inUse(with(dying(), disabled, usedBy(1, false), refused(fault.InUse)), ""),
	}
}

func disableCases() map[string]question {
	stuck := func(kind fault.Kind, reason chain.Reason) question {
		return question{in: with(dying(), refused(kind)), rule: "Disabled", step: distribution.Rest{}, reason: reason, stuck: true, says: "UpdateDistribution: SomeCode: said AWS"}
	}
	return map[string]question{
		"what is enabled is disabled":                                 {in: dying(), rule: "Disabled", step: distribution.Disable{}},
		"even while an earlier change is being deployed":              {in: with(dying(), inProgress), rule: "Disabled", step: distribution.Disable{}},
		"on proof of this very pass":                                  {in: with(dying(), staleTags), rule: "Disabled", step: distribution.Look{At: distribution.LookTags}},
		"a denied disable is reported":                                stuck(fault.Denied, resource.ReasonAccessDenied),
		"one that AWS finds invalid is reported":                      stuck(fault.Invalid, resource.ReasonInvalidSpec),
		"one that is refused for a use that we can't see is reported": stuck(fault.InUse, resource.ReasonAWSError),
		"an object that had failed before is disabled again":          {in: with(dying(), failing(resource.ReasonAccessDenied, now.Add(-time.Minute), now.Add(-time.Minute)), at(distribution.StepDisabling)), rule: "Disabled", step: distribution.Disable{}},
	}
}

func deleteCases() map[string]question {
	off := with(dying(), disabled)
	settling := "The distribution is disabled. AWS deletes it only after the change is deployed to every edge location."
	stuck := func(kind fault.Kind, reason chain.Reason) question {
		return question{in: with(off, refused(kind)), rule: "Deleted", step: distribution.Rest{}, reason: reason, stuck: true, says: "UpdateDistribution: SomeCode: said AWS"}
	}
	return map[string]question{
		"a disable that is being deployed is waited for": {
			in: with(off, inProgress), rule: "SettledFirst", step: distribution.Rest{After: retry.FollowEvery}, reason: resource.ReasonDisabling, says: settling,
		},
		"what is disabled and deployed is deleted":          {in: off, rule: "Deleted", step: distribution.Delete{}},
		"no matter who disabled it, AWS checks for tenants": {in: with(off, unasked), rule: "Deleted", step: distribution.Delete{}},
		"on proof of this very pass":                        {in: with(off, staleTags), rule: "Deleted", step: distribution.Look{At: distribution.LookTags}},
		"an accepted deletion may take a moment to show": {
			in: with(off, sentDelete(30*time.Second)), rule: "Deleted", step: distribution.Rest{After: retry.FollowEvery}, reason: resource.ReasonDeleting,
			says: "AWS has accepted the deletion but still returns the distribution.",
		},
		"one that never shows is sent again":                  {in: with(off, sentDelete(time.Minute)), rule: "Deleted", step: distribution.Delete{}},
		"a refusal because the disable has not arrived waits": stuck(fault.NotDisabled, resource.ReasonDisabling),
		"a denial is reported":                                stuck(fault.Denied, resource.ReasonAccessDenied),
		"use without a visible tenant is reported":            stuck(fault.InUse, resource.ReasonAWSError),
	}
}
