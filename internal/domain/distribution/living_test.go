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

func TestKeepChain(t *testing.T) {
	for name, q := range keepCases() {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}

func keepCases() map[string]question {
	return together(lookCases(), accountCases(), ownCases(), createCases(), updateCases(), tagCases(), settleCases())
}

// elsewhere is a resource in another account.
func elsewhere(in *distribution.Input) {
	change(in, func(r *distribution.Observed) { r.ARN = "arn:aws:cloudfront::444455556666:distribution/E1" })
}

func lookCases() map[string]question {
	lookup := distribution.Look{At: distribution.LookResource}
	ungranted := func(in *distribution.Input) { in.Ungranted = &chain.Halt{Reason: "NotGranted", Message: "Look here."} }
	audited := func(in *distribution.Input) { in.Audited = true }
	return map[string]question{
		"what is not granted is not looked up": {in: with(unborn(), marked(time.Hour), ungranted), rule: "Granted", step: distribution.Rest{}, reason: "NotGranted", says: "Look here."},
		"what is there stays as it is":         {in: with(quiet(), drifted, ungranted), rule: "Paused", step: distribution.Rest{}},
		"an audit holds nothing":               {in: with(quiet(), ungranted, audited), rule: "Idle", step: distribution.Rest{}},
		"a quiet world asks for nothing":       {in: quiet(), rule: "Idle", step: distribution.Rest{}},
		"a paused object is looked at":         {in: with(quiet(), unknown, paused), rule: "LookedUp", step: lookup},
		"and nothing is written for it":        {in: with(quiet(), drifted, paused), rule: "Paused", step: distribution.Rest{}},
		"while all writes are halted neither":  {in: with(quiet(), drifted, func(in *distribution.Input) { in.Halt = &chain.Halt{Reason: "ClusterMoved", Message: "Look here."} }), rule: "Paused", step: distribution.Rest{}},
		"and nothing is created then":          {in: with(unborn(), func(in *distribution.Input) { in.Halt = &chain.Halt{Reason: "ClusterMoved", Message: "Look here."} }), rule: "Paused", step: distribution.Rest{}},
		"nor created":                          {in: with(unborn(), paused), rule: "Paused", step: distribution.Rest{}},
		"a denied read is reported": {
			in: with(quiet(), unreadable), rule: "Readable", step: distribution.Rest{}, reason: resource.ReasonAccessDenied, stuck: true,
			says: "UpdateDistribution: SomeCode: said AWS",
		},
		"a resource that is known is read in every pass":           {in: with(quiet(), unknown), rule: "LookedUp", step: lookup},
		"after an announced create a look is needed to know":       {in: with(unborn(), marked(time.Hour)), rule: "LookedUp", step: lookup},
		"a resource to adopt is looked up before anything is done": {in: with(unborn(), adopting), rule: "LookedUp", step: lookup},
		"what AWS says exists already is looked up":                {in: with(unborn(), refused(fault.Exists)), rule: "LookedUp", step: lookup},
		"a new object needs no look: AWS refuses a second one":     {in: unborn(), rule: "Present", step: distribution.Create{Tags: quiet().World.Tags}},
	}
}

func accountCases() map[string]question {
	caller := func(account string) func(*distribution.Input) {
		return func(in *distribution.Input) { in.World.Account = account }
	}
	wrong := func(in distribution.Input) question {
		return question{
			in: in, rule: "SameAccount", step: distribution.Rest{}, reason: resource.ReasonWrongAccount, stuck: true,
			says: "The distribution is in AWS account 111122223333, but the operator's credentials belong to account 444455556666. Nothing was changed. Give the operator credentials for account 111122223333, or its namespace an EdgeGrant with that account.",
		}
	}
	return map[string]question{
		"before an absence is believed the account is looked up": {in: with(quiet(), absent, caller("")), rule: "SameAccount", step: distribution.Look{At: distribution.LookAccount}},
		"in another account nothing is created again":            wrong(with(quiet(), absent, caller("444455556666"))),
		"a resource of that ID in another account is not ours":   wrong(with(quiet(), elsewhere)),
		"where no account was ever seen none is asked for":       {in: with(unborn(), absent, caller("")), rule: "Present", step: distribution.Create{Tags: quiet().World.Tags}},
	}
}

func ownCases() map[string]question {
	look := distribution.Look{At: distribution.LookTags}
	found := with(quiet(), func(in *distribution.Input) { in.Memory.ID, in.Desired.Adopts = "", resourceID })
	distant := other
	distant.Namespace = "pay"
	adopt := func(in distribution.Input, previous ownership.Shown) question {
		return question{in: with(in, freshTags), rule: "Owned", step: distribution.Adopt{ARN: arn, Tags: me.Tags(), Previous: previous}}
	}
	const replace = " To use a different distribution, delete this object, which does not affect the existing resource, and create a new object with another spec.distributionId."
	blocked := func(in distribution.Input, says string) question {
		return question{in: with(in, freshTags), rule: "Owned", step: distribution.Rest{}, reason: resource.ReasonAdoptionRequired, stuck: true, says: says}
	}
	group := func(in *distribution.Input) {
		in.Desired.Words = ofGroups()
		change(in, func(r *distribution.Observed) { r.ID, r.Name = "cg_1", "alpha" })
	}
	return map[string]question{
		"tags that were never read are read":                             {in: with(quiet(), untold), rule: "Owned", step: look},
		"tags that are due are read":                                     {in: with(quiet(), func(in *distribution.Input) { in.World.TagsDue = true }), rule: "Owned", step: look},
		"a person who asks gets a fresh look at the tags":                {in: with(quiet(), nudged), rule: "Owned", step: look},
		"and with it the world is quiet":                                 {in: with(quiet(), nudged, freshTags), rule: "Idle", step: distribution.Rest{}},
		"before a stranger's resource blocks, its tags are read again":   {in: with(found, taggedFor(other)), rule: "Owned", step: look},
		"and before one is adopted":                                      {in: with(found, tagged(nil), adoption(resource.AdoptForce)), rule: "Owned", step: look},
		"nothing is adopted while all writes are halted":                 {in: with(found, tagged(nil), freshTags, adoption(resource.AdoptForce), func(in *distribution.Input) { in.Halt = &chain.Halt{Reason: "ClusterMoved", Message: "Look here."} }), rule: "Owned", step: distribution.Rest{}},
		"a paused object adopts nothing":                                 {in: with(found, tagged(nil), freshTags, adoption(resource.AdoptForce), paused), rule: "Owned", step: distribution.Rest{}},
		"IfUnowned adopts a resource without an owner":                   adopt(with(found, tagged(nil), adoption(resource.AdoptIfUnowned)), ownership.Shown{}),
		"IfUnowned adopts what an earlier object of this name owned":     adopt(with(found, taggedFor(former), adoption(resource.AdoptIfUnowned)), former.ShownTo(me)),
		"Force adopts what another cluster owns":                         adopt(with(found, taggedFor(abroad), adoption(resource.AdoptForce)), abroad.ShownTo(me)),
		"what exists under the name is adopted after a create found out": adopt(with(found, tagged(nil), adoption(resource.AdoptIfUnowned), refused(fault.Exists)), ownership.Shown{}),
		"Never leaves a resource without an owner alone": blocked(with(found, tagged(nil)),
			"The distribution E1 already exists and has no owner tags. The operator does not change it. To adopt it, set spec.adoptionPolicy to IfUnowned."+replace),
		"a connection group is named by its name": blocked(with(found, group, tagged(nil)),
			"The connection group alpha (cg_1) already exists and has no owner tags. The operator does not change it. To adopt it, set spec.adoptionPolicy to IfUnowned."+
				" To use a different connection group, delete this object, which does not affect the existing resource, and create a new object with another spec.name."),
		"Never leaves alone what an earlier object owned": blocked(with(found, taggedFor(former)),
			"The distribution E1 already exists and belongs to an earlier object of this name (shop/alpha (cluster c1, uid u0)). The operator does not change it. To adopt it, set spec.adoptionPolicy to IfUnowned."),
		"IfUnowned leaves alone what another cluster owns": blocked(with(found, taggedFor(abroad), adoption(resource.AdoptIfUnowned)),
			"The distribution E1 already exists and belongs to an object of another cluster (ask the platform team: the operator's log has the name). The operator does not change it. To adopt it, set spec.adoptionPolicy to Force."+replace),
		"Force leaves alone what a live object owns": blocked(with(found, taggedFor(other), ownerAlive, adoption(resource.AdoptForce)),
			"The distribution E1 already exists and belongs to shop/beta (cluster c1, uid u2). That object exists. The operator does not change it."+replace),
		"an owner in another namespace is not named": blocked(with(found, taggedFor(distant), ownerAlive, adoption(resource.AdoptForce)),
			"The distribution E1 already exists and belongs to an object of another namespace (ask the platform team: the operator's log has the name). That object exists. The operator does not change it."+replace),
		"half an owner is an owner all the same": blocked(with(found, tagged(map[string]string{ownership.NamespaceKey: "shop"}), adoption(resource.AdoptIfUnowned)), ""),
		"a refused adoption is reported": {
			in: with(found, tagged(nil), freshTags, adoption(resource.AdoptForce), refused(fault.Denied)), rule: "Owned", step: distribution.Rest{},
			reason: resource.ReasonAccessDenied, stuck: true,
		},
		"an object that lost its finalizer gets it back": {in: with(quiet(), func(in *distribution.Input) { in.HasFinalizer = false }), rule: "Finalized", step: distribution.EnsureFinalizer{}},
	}
}

func createCases() map[string]question {
	create := distribution.Create{Tags: quiet().World.Tags}
	lost := distribution.Rest{Lost: true}
	sent := func(ago time.Duration) func(*distribution.Input) {
		return func(in *distribution.Input) { in.Attempts.CreatedAt = now.Add(-ago) }
	}
	stuck := func(in distribution.Input, reason chain.Reason, says string) question {
		return question{in: in, rule: "Present", step: distribution.Rest{}, reason: reason, stuck: true, says: says}
	}
	waits := func(in distribution.Input) question {
		return question{
			in: in, rule: "Present", step: distribution.Rest{After: retry.FollowEvery}, reason: resource.ReasonCreating,
			says: "The distribution was created, but AWS does not return it yet.",
		}
	}
	left := func(p resource.DriftPolicy) question {
		return question{
			in: with(quiet(), absent, drift(p)), rule: "Present", reason: resource.ReasonAWSError,
			step: distribution.Rest{Drift: []resource.Difference{{Field: "id", Desired: resourceID}}},
			says: "The distribution E1 was deleted outside of Kubernetes. With driftPolicy " + string(p) + " it is not created again. Change the spec, or set spec.driftPolicy to enforce.",
		}
	}
	exists := with(unborn(), absent, marked(time.Minute), refused(fault.Exists))
	named := func(in *distribution.Input) { in.Desired.Numbered = false }
	const notShown = "AWS reports that the distribution alpha already exists, but does not return it yet. The operator keeps checking. AWS: said AWS"
	return map[string]question{
		"what was announced and is not there is created":                 {in: with(unborn(), absent, marked(time.Hour)), rule: "Present", step: create},
		"a create whose answer was lost is sent again":                   {in: with(unborn(), absent, marked(time.Minute)), rule: "Present", step: create},
		"what was created a moment ago may not be shown yet":             waits(with(unborn(), absent, marked(time.Minute), sent(time.Minute))),
		"not even where status knows its ID":                             waits(with(quiet(), absent, marked(time.Minute))),
		"nor where only the process knows when that was":                 waits(with(quiet(), absent, sent(time.Minute))),
		"what was deleted outside is forgotten before another is made":   {in: with(quiet(), absent), rule: "Present", step: lost},
		"under report it is only reported":                               left(resource.DriftReport),
		"under suspend too":                                              left(resource.DriftSuspend),
		"a change of the spec is applied under report as well":           {in: with(quiet(), absent, edited, drift(resource.DriftReport)), rule: "Present", step: lost},
		"one that exists and is not shown yet is looked for again":       stuck(exists, resource.ReasonCreating, notShown),
		"as long as reads may lag":                                       stuck(with(exists, failing(resource.ReasonCreating, now.Add(-time.Minute), now.Add(-time.Minute))), resource.ReasonCreating, notShown),
		"after that its reference is used up, and the next one is taken": {in: with(exists, failing(resource.ReasonCreating, now.Add(-resource.GracePeriod), now.Add(-time.Minute))), rule: "Present", step: lost},
		"a name stays taken, and there is no next one":                   stuck(with(exists, named, failing(resource.ReasonCreating, now.Add(-time.Hour), now.Add(-time.Minute))), resource.ReasonCreating, notShown),
		"what failed otherwise before does not hasten that":              stuck(with(exists, failing(resource.ReasonAccessDenied, now.Add(-time.Hour), now.Add(-time.Hour))), resource.ReasonCreating, notShown),
		"nor what failed for an earlier spec":                            stuck(with(exists, failing(resource.ReasonCreating, now.Add(-time.Hour), now.Add(-time.Hour)), edited), resource.ReasonCreating, notShown),
		"an exhausted quota is reported":                                 stuck(with(unborn(), refused(fault.Quota)), resource.ReasonQuotaExceeded, "UpdateDistribution: SomeCode: said AWS"),
		"a spec that AWS refuses is reported":                            stuck(with(unborn(), refused(fault.Invalid)), resource.ReasonInvalidSpec, "UpdateDistribution: SomeCode: said AWS"),
		"what is to be adopted and not there is not created": stuck(with(unborn(), absent, adopting), resource.ReasonValidationFailed,
			"spec.distributionId E1: there is no such distribution in the operator's AWS account. Delete this object and create one with the correct ID, or without an ID to have the operator create the resource."),
	}
}

func updateCases() map[string]question {
	update, correction := distribution.Update{}, distribution.Update{Drift: difference}
	stuck := func(in distribution.Input, reason chain.Reason, says string) question {
		return question{in: in, rule: "InSync", step: distribution.Rest{}, reason: reason, stuck: true, says: says}
	}
	const fruitless = "AWS did not keep comment after 3 corrections: either AWS does not accept the value, or something else keeps changing it. The operator retries with increasing delays."
	return map[string]question{
		"a changed spec is sent":      {in: with(quiet(), drifted, edited), rule: "InSync", step: update},
		"under report too":            {in: with(quiet(), drifted, edited, drift(resource.DriftReport)), rule: "InSync", step: update},
		"drift is corrected":          {in: with(quiet(), drifted), rule: "InSync", step: correction},
		"under report drift is left":  {in: with(quiet(), drifted, drift(resource.DriftReport)), rule: "Idle", step: distribution.Rest{}},
		"under suspend drift is left": {in: with(quiet(), drifted, drift(resource.DriftSuspend)), rule: "Idle", step: distribution.Rest{}},
		"ownership that was proven a while ago is proven again first": {in: with(quiet(), drifted, oldTags), rule: "InSync", step: distribution.Look{At: distribution.LookTags}},
		"what AWS does not keep is given up for a while":              stuck(with(quiet(), drifted, worn), resource.ReasonDriftNotConverging, fruitless),
		"corrections of long ago do not count":                        {in: with(quiet(), drifted, worn, func(in *distribution.Input) { in.Attempts.LastCorrection = now.Add(-resource.StableFor) }), rule: "InSync", step: correction},
		"what was adopted stays as it is":                             {in: with(quiet(), drifted, inherited), rule: "Idle", step: distribution.Rest{}},
		"what was created since that was deleted does not": {
			in: with(quiet(), drifted, inherited, func(in *distribution.Input) { in.AdoptedID = "E0" }), rule: "InSync", step: correction,
		},
		"until the spec changes": {in: with(quiet(), drifted, inherited, edited), rule: "InSync", step: update},
		"what AWS accepted but did not keep waits for the tags of its generation": {
			in:   with(quiet(), drifted, edited, accepted, tagged(me.Tags())),
			rule: "TagsInSync", step: distribution.Tag{ARN: arn, Tags: spec().Tags},
		},
		"a refused update is reported":                                 stuck(with(quiet(), drifted, refused(fault.Invalid)), resource.ReasonInvalidSpec, "UpdateDistribution: SomeCode: said AWS"),
		"one that turned out to exist and to be ours is updated":       {in: with(quiet(), drifted, refused(fault.Exists)), rule: "InSync", step: correction},
		"a refusal is not forgotten because nothing differs otherwise": stuck(with(quiet(), refused(fault.Denied)), resource.ReasonAccessDenied, ""),
	}
}

func tagCases() map[string]question {
	lost := with(quiet(), tagged(me.Tags()))
	drifted := []resource.Difference{{Field: "tags[team]", Desired: "web"}}
	set := distribution.Tag{ARN: arn, Tags: map[string]string{"team": "web"}}
	correction := set
	correction.Drift = drifted
	owned := quiet().World.Tags
	return map[string]question{
		"a removed tag is set again": {in: lost, rule: "TagsInSync", step: correction},
		"an owner tag too": {
			in:   with(quiet(), tagged(map[string]string{ownership.UIDKey: me.UID, "team": "web", ownership.ClusterKey: "c1", ownership.NamespaceKey: "shop"})),
			rule: "TagsInSync", step: distribution.Tag{ARN: arn, Tags: map[string]string{ownership.NameKey: "alpha"}, Drift: []resource.Difference{{Field: "tags[" + ownership.NameKey + "]", Desired: "alpha"}}},
		},
		"under report tags are left": {in: with(lost, drift(resource.DriftReport)), rule: "Idle", step: distribution.Rest{}},
		"a new tag is set":           {in: with(lost, edited), rule: "TagsInSync", step: set},
		"status has its key first": {
			in:   with(lost, edited, func(in *distribution.Input) { in.Memory.AppliedTagKeys = nil }),
			rule: "TagsInSync", step: distribution.Rest{Store: true, Announced: []string{"team"}},
		},
		"the tags of what was adopted are set":       {in: with(lost, inherited, func(in *distribution.Input) { in.Memory.AppliedGeneration = 0 }), rule: "TagsInSync", step: set},
		"tags are written on fresh proof":            {in: with(lost, oldTags), rule: "TagsInSync", step: distribution.Look{At: distribution.LookTags}},
		"a tag that AWS does not keep is reported":   {in: with(lost, worn), rule: "TagsInSync", step: distribution.Rest{}, reason: resource.ReasonDriftNotConverging, stuck: true},
		"a foreign tag stays":                        {in: with(quiet(), edited, tagged(merged(owned, map[string]string{"their": "x"}))), rule: "Idle", step: distribution.Rest{}},
		"a refused tagging is reported, not retried": {in: with(lost, refused(fault.Denied)), rule: "InSync", step: distribution.Rest{}, reason: resource.ReasonAccessDenied, stuck: true},
		"a tag that we had set and that is no longer wanted is removed": {
			in: with(quiet(), edited, tagged(merged(owned, map[string]string{"old": "x"})), func(in *distribution.Input) {
				in.Memory.AppliedTagKeys = []string{"old", "team"}
			}),
			rule: "TagsInSync", step: distribution.Untag{ARN: arn, Keys: []string{"old"}},
		},
	}
}

func settleCases() map[string]question {
	creating := func(in *distribution.Input) {
		in.Memory.Conditions[chain.Ready] = chain.Condition{Type: chain.Ready, Reason: resource.ReasonCreating, Generation: in.Generation}
	}
	follow := distribution.Rest{After: retry.FollowEvery}
	stopped := func(in distribution.Input, says string) question {
		return question{
			in: with(in, disabled), rule: "Serving", step: distribution.Rest{}, reason: resource.ReasonAWSError,
			says: "The distribution is disabled in AWS although spec.enabled is true, so it does not answer requests. Enable it in AWS, or set spec.enabled to false if this is intended. " + says,
		}
	}
	return map[string]question{
		"a change that is being deployed is followed": {
			in: with(quiet(), inProgress), rule: "Settled", step: follow, reason: resource.ReasonDeploying,
			says: "The change is being deployed to CloudFront's edge locations.",
		},
		"a new resource that is being deployed too": {
			in: with(quiet(), inProgress, creating), rule: "Settled", step: follow, reason: resource.ReasonCreating,
			says: "The new distribution is being deployed to CloudFront's edge locations.",
		},
		"a deployment that takes long is looked at more rarely": {
			in: with(quiet(), inProgress, func(in *distribution.Input) {
				change(in, func(r *distribution.Observed) { r.Modified = now.Add(-3 * time.Minute) })
			}),
			rule: "Settled", step: distribution.Rest{After: 30 * time.Second}, reason: resource.ReasonDeploying,
		},
		"and at least once a minute": {
			in: with(quiet(), inProgress, func(in *distribution.Input) {
				change(in, func(r *distribution.Observed) { r.Modified = now.Add(-time.Hour) })
			}),
			rule: "Settled", step: distribution.Rest{After: time.Minute}, reason: resource.ReasonDeploying,
		},
		"a resource that the spec disables is ready": {in: with(quiet(), disabled, func(in *distribution.Input) { in.Desired.Enabled = false }), rule: "Idle", step: distribution.Rest{}},
		"a disabled resource is not ready under report": stopped(with(quiet(), drift(resource.DriftReport)),
			"With driftPolicy report the operator does not enable it; with enforce it would."),
		"what was adopted disabled is not ready either": stopped(with(quiet(), inherited),
			"The operator does not change an adopted distribution until the spec changes."),
	}
}
