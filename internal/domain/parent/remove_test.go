package parent_test

import (
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/cadence"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/edge"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/parent"
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
	look := parent.Look{At: parent.LookResource}
	named := func(in *parent.Input) { in.Desired.Numbered = false }
	never := func(in *parent.Input) { in.Memory, in.CreateMark = parent.Memory{}, time.Time{} }
	waits := func(in parent.Input, after time.Duration) question {
		return question{
			in: in, rule: "Gone", step: parent.Rest{After: after}, reason: edge.ReasonDeleting,
			says: "The distribution is not found. Waiting until a create that was just sent can no longer appear.",
		}
	}
	return map[string]question{
		"a paused object is not torn down": {in: with(dying(), paused), rule: "Paused", step: parent.Rest{}},
		"what may not be read is said":     {in: with(dying(), unreadable), rule: "Readable", step: parent.Rest{}, reason: edge.ReasonAccessDenied, stuck: true},
		"in another account no object is let go": {
			in: with(dying(), absent, func(in *parent.Input) { in.World.Account = "444455556666" }), rule: "SameAccount", step: parent.Rest{},
			reason: edge.ReasonWrongAccount, stuck: true,
		},
		"nor is a resource of that ID there ours": {in: with(dying(), elsewhere), rule: "SameAccount", step: parent.Rest{}, reason: edge.ReasonWrongAccount, stuck: true},
		"before an absence is believed the account is looked up": {
			in: with(dying(), absent, func(in *parent.Input) { in.World.Account = "" }), rule: "SameAccount", step: parent.Look{At: parent.LookAccount},
		},
		"every step begins with a fresh look":                    {in: with(dying(), func(in *parent.Input) { in.World.Fresh = false }), rule: "Located", step: look},
		"what may have been created is looked for":               {in: with(dying(), never, unknown, marked(time.Hour)), rule: "Located", step: look},
		"what may have been adopted is looked for":               {in: with(dying(), never, unknown, adopting), rule: "Located", step: look},
		"what is not known to exist is looked for all the same":  {in: with(dying(), never, unknown), rule: "Located", step: look},
		"an object whose resource is gone is let go":             {in: with(dying(), absent), rule: "Gone", step: parent.LetGo{}},
		"not while a create that was just sent may still appear": waits(with(dying(), absent, marked(90*time.Second)), edge.GracePeriod-90*time.Second),
		"a mark from a clock that runs ahead is waited for":      waits(with(dying(), absent, marked(-time.Minute)), edge.GracePeriod+time.Minute),
		"a create that only the process knows of is waited for":  waits(with(dying(), absent, func(in *parent.Input) { in.Attempts.CreatedAt = now }), time.Second),
		"what was deleted a moment after its creation is gone":   {in: with(dying(), absent, marked(90*time.Second), sentDelete(10*time.Second)), rule: "Gone", step: parent.LetGo{}},
		"but its name can be taken again":                        waits(with(dying(), absent, named, marked(90*time.Second), sentDelete(10*time.Second)), edge.GracePeriod-90*time.Second),
	}
}

func leftCases() map[string]question {
	tags := parent.Look{At: parent.LookTags}
	left := parent.LetGo{Left: "E1"}
	release := parent.Untag{ARN: arn, Keys: ownership.Keys()}
	group := func(in *parent.Input) {
		change(in, func(r *parent.Observed) { r.ID, r.Name = "cg_1", "alpha" })
	}
	return map[string]question{
		"tags that were never read are read first":       {in: with(dying(), untold), rule: "Proven", step: tags},
		"tags that were read a while ago are read again": {in: with(dying(), oldTags), rule: "Proven", step: tags},
		"before one is left its tags are read once more": {in: with(dying(), tagged(nil), staleTags), rule: "Proven", step: tags},
		"not even that is believed while our own may still appear": {
			in: with(dying(), taggedFor(other), marked(90*time.Second)), rule: "Proven", step: parent.Rest{After: edge.GracePeriod - 90*time.Second},
			reason: edge.ReasonDeleting, says: "The distribution that AWS shows is not this object's. Waiting until a create that was just sent can no longer appear.",
		},
		"what is to be adopted is not created":              {in: with(dying(), taggedFor(other), marked(90*time.Second), adopting), rule: "Proven", step: left},
		"what nobody owns stays":                            {in: with(dying(), tagged(nil)), rule: "Proven", step: left},
		"what another object owns stays":                    {in: with(dying(), taggedFor(other)), rule: "Proven", step: left},
		"what an earlier object of this name owned stays":   {in: with(dying(), taggedFor(former)), rule: "Proven", step: left},
		"a group that stays is told by its name":            {in: with(dying(), group, tagged(nil)), rule: "Proven", step: parent.LetGo{Left: "alpha (cg_1)"}},
		"what is kept loses the owner tags":                 {in: with(dying(), retain), rule: "Retained", step: release},
		"on proof of this very pass":                        {in: with(dying(), retain, staleTags), rule: "Retained", step: tags},
		"even if it has tenants":                            {in: with(dying(), retain, usedBy(3, false)), rule: "Retained", step: release},
		"the default connection group can't be deleted":     {in: with(dying(), isDefault), rule: "Retained", step: release},
		"a release that AWS refuses is said":                {in: with(dying(), retain, refused(fault.Denied)), rule: "Retained", step: parent.Rest{}, reason: edge.ReasonAccessDenied, stuck: true},
		"what was released in this pass is let go":          {in: with(dying(), retain, tagged(spec().Tags)), rule: "Proven", step: left},
		"what was released before a crash is let go, too":   {in: with(dying(), retain, tagged(spec().Tags), at(parent.StepDisabling)), rule: "Proven", step: left},
		"half an owner of another object is another object": {in: with(dying(), tagged(map[string]string{ownership.UIDKey: other.UID})), rule: "Proven", step: left},
	}
}

func useCases() map[string]question {
	inUse := func(in parent.Input, says string) question {
		return question{in: in, rule: "Unused", step: parent.Rest{After: cadence.FollowEvery}, reason: parent.ReasonInUse, says: says}
	}
	group := func(in *parent.Input) { in.Desired.Words = ofGroups() }
	const cure = " Delete them, or move them to another distribution."
	return map[string]question{
		"before anything is disabled its tenants are looked for": {in: with(dying(), unasked), rule: "Unused", step: parent.Look{At: parent.LookDependents}},
		"what has tenants stays as it is": inUse(with(dying(), usedBy(2, false, "shop/a", "shop/b")),
			"The distribution has 2 distribution tenants and stays as it is until they are gone. Objects of this cluster among them: shop/a, shop/b."+cure),
		"one tenant is enough, and may be nobody's here": inUse(with(dying(), usedBy(1, false)),
			"The distribution has 1 distribution tenant and stays as it is until they are gone. None of them belongs to an object of this cluster."+cure),
		"of many the first few are named": inUse(with(dying(), usedBy(100, true, "shop/a", "shop/b", "shop/c", "shop/d", "shop/e", "shop/f", "shop/g")),
			"The distribution has more than 100 distribution tenants and stays as it is until they are gone. Objects of this cluster among them: shop/a, shop/b, shop/c, shop/d, shop/e and 2 more."+cure),
		"a connection group is spoken of as one": inUse(with(dying(), group, usedBy(2, false)),
			"The connection group has 2 distribution tenants and stays as it is until they are gone. None of them belongs to an object of this cluster. Delete them, or move them to another connection group."),
		"tenants that AWS names when it refuses the deletion are looked for": {
			in: with(dying(), disabled, unasked, refused(fault.InUse)), rule: "Unused", step: parent.Look{At: parent.LookDependents},
		},
		"what had tenants when somebody last looked is looked at first": {
			in: with(dying(), disabled, unasked, at(parent.StepInUse)), rule: "Unused", step: parent.Look{At: parent.LookDependents},
		},
		"once they are gone it is deleted":                    {in: with(dying(), disabled, at(parent.StepInUse)), rule: "Deleted", step: parent.Delete{}},
		"it is not while they are there, whatever is refused": inUse(with(dying(), disabled, usedBy(1, false), refused(fault.Denied)), ""),
		"and said": inUse(with(dying(), disabled, usedBy(1, false), refused(fault.InUse)), ""),
	}
}

func disableCases() map[string]question {
	stuck := func(kind fault.Kind, reason edge.Reason) question {
		return question{in: with(dying(), refused(kind)), rule: "Disabled", step: parent.Rest{}, reason: reason, stuck: true, says: "UpdateDistribution: SomeCode: said AWS"}
	}
	return map[string]question{
		"what is enabled is disabled":                        {in: dying(), rule: "Disabled", step: parent.Disable{}},
		"even while an earlier change is being deployed":     {in: with(dying(), inProgress), rule: "Disabled", step: parent.Disable{}},
		"on proof of this very pass":                         {in: with(dying(), staleTags), rule: "Disabled", step: parent.Look{At: parent.LookTags}},
		"a disable that is denied is said":                   stuck(fault.Denied, edge.ReasonAccessDenied),
		"one that AWS finds invalid is said":                 stuck(fault.Invalid, edge.ReasonValidationFailed),
		"one that is refused for use nobody sees is said":    stuck(fault.InUse, edge.ReasonAWSError),
		"an object that had failed before is disabled again": {in: with(dying(), failing(edge.ReasonAccessDenied, now.Add(-time.Minute), now.Add(-time.Minute)), at(parent.StepDisabling)), rule: "Disabled", step: parent.Disable{}},
	}
}

func deleteCases() map[string]question {
	off := with(dying(), disabled)
	settling := "The distribution is disabled; waiting until that is deployed to every edge location, before which AWS does not delete it."
	stuck := func(kind fault.Kind, reason edge.Reason) question {
		return question{in: with(off, refused(kind)), rule: "Deleted", step: parent.Rest{}, reason: reason, stuck: true, says: "UpdateDistribution: SomeCode: said AWS"}
	}
	return map[string]question{
		"a disable that is being deployed is waited for": {
			in: with(off, inProgress), rule: "SettledFirst", step: parent.Rest{After: cadence.FollowEvery}, reason: edge.ReasonDisabling, says: settling,
		},
		"what is disabled and deployed is deleted":          {in: off, rule: "Deleted", step: parent.Delete{}},
		"whoever disabled it, its tenants are AWS's to see": {in: with(off, unasked), rule: "Deleted", step: parent.Delete{}},
		"on proof of this very pass":                        {in: with(off, staleTags), rule: "Deleted", step: parent.Look{At: parent.LookTags}},
		"an accepted deletion may take a moment to show": {
			in: with(off, sentDelete(30*time.Second)), rule: "Deleted", step: parent.Rest{After: cadence.FollowEvery}, reason: edge.ReasonDeleting,
			says: "The deletion was accepted; AWS still shows the distribution.",
		},
		"one that never shows is sent again":                  {in: with(off, sentDelete(time.Minute)), rule: "Deleted", step: parent.Delete{}},
		"a refusal because the disable has not arrived waits": stuck(fault.NotDisabled, edge.ReasonDisabling),
		"a denial is said":                                    stuck(fault.Denied, edge.ReasonAccessDenied),
		"use of which no tenant is seen is said":              stuck(fault.InUse, edge.ReasonAWSError),
	}
}
