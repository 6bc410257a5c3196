package distributiontenant_test

import (
	"maps"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
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
	all := map[string]question{}
	for _, group := range []map[string]question{lookCases(), ownCases(), createCases(), updateCases(), tagCases(), settleCases()} {
		maps.Copy(all, group)
	}
	return all
}

func lookCases() map[string]question {
	tenant := distributiontenant.Look{At: distributiontenant.LookTenant}
	nudged := func(in *distributiontenant.Input) { in.Nudged = true }
	ungranted := func(in *distributiontenant.Input) {
		in.Ungranted = &chain.Halt{Reason: "NotGranted", Message: "Look here."}
	}
	audited := func(in *distributiontenant.Input) { in.Audited = true }
	return map[string]question{
		"what is not granted is not looked up":           {in: with(unborn(), marked(time.Hour), ungranted), rule: "Granted", step: distributiontenant.Rest{}, reason: "NotGranted"},
		"what is there stays as it is":                   {in: with(quiet(), drifted, ungranted), rule: "Paused", step: distributiontenant.Rest{}},
		"an audit holds nothing":                         {in: with(quiet(), ungranted, audited), rule: "Idle", step: distributiontenant.Rest{}},
		"a quiet world asks for nothing":                 {in: quiet(), rule: "Idle", step: distributiontenant.Rest{}},
		"a paused object is left alone, whatever is due": {in: with(quiet(), drifted, func(in *distributiontenant.Input) { in.Paused = true }), rule: "Paused", step: distributiontenant.Rest{}},
		"while all writes are halted every object is": {in: with(quiet(), drifted, func(in *distributiontenant.Input) {
			in.Halt = &chain.Halt{Reason: "ClusterMoved", Message: "Look here."}
		}), rule: "Paused", step: distributiontenant.Rest{}},
		"a denied read is reported": {
			in: with(quiet(), func(in *distributiontenant.Input) {
				in.World.Unreadable = &fault.Error{Kind: fault.Denied, Operation: "GetDistributionTenant"}
			}),
			rule: "Readable", step: distributiontenant.Rest{}, reason: resource.ReasonAccessDenied, stuck: true,
		},
		"a tenant with an id waits for the first list, which answers for many": {
			in:   with(quiet(), unknown, func(in *distributiontenant.Input) { in.World.Swept = false }),
			rule: "LookedUp", step: distributiontenant.Rest{After: 5 * time.Second, KeepConditions: true},
		},
		"a person who asks is not made to wait for the list": {
			in:   with(quiet(), unknown, nudged, func(in *distributiontenant.Input) { in.World.Swept = false }),
			rule: "LookedUp", step: tenant,
		},
		"a tenant that the list does not show is looked up before its absence is believed": {in: with(quiet(), unknown), rule: "LookedUp", step: tenant},
		"after an announced create a look is needed to know":                               {in: with(unborn(), marked(time.Hour)), rule: "LookedUp", step: tenant},
		"a name that is taken is looked up":                                                {in: with(unborn(), refused(fault.Exists)), rule: "LookedUp", step: tenant},
		"a list that shows the known ETag proves that nothing moved":                       {in: with(quiet(), listed), rule: "Idle", step: distributiontenant.Rest{}},
		"a list that shows another ETag does not":                                          {in: with(quiet(), listed, movedETag), rule: "Fresh", step: tenant},
		"a list proves nothing for a spec that was not applied":                            {in: with(quiet(), listed, edited), rule: "Fresh", step: tenant},
		"a list proves nothing while status says out of sync": {
			in: with(quiet(), listed, func(in *distributiontenant.Input) {
				in.Memory.Conditions = map[chain.ConditionType]chain.Condition{}
			}),
			rule: "Fresh", step: tenant,
		},
		"a list that shows another tenant of the name proves nothing": {
			in: with(quiet(), listed, func(in *distributiontenant.Input) { in.Memory.ID = "dt_before" }), rule: "Fresh", step: tenant,
		},
		"a person who asks gets a fresh look": {in: with(quiet(), nudged), rule: "Fresh", step: tenant},
		"and a fresh look at the tags": {
			in:   with(quiet(), nudged, func(in *distributiontenant.Input) { in.World.TenantFresh = true }),
			rule: "Owned", step: distributiontenant.Look{At: distributiontenant.LookTags},
		},
		"after both the world is quiet": {
			in:   with(quiet(), nudged, freshTags, func(in *distributiontenant.Input) { in.World.TenantFresh = true }),
			rule: "Idle", step: distributiontenant.Rest{},
		},
	}
}

func ownCases() map[string]question {
	look := distributiontenant.Look{At: distributiontenant.LookTags}
	former := me
	former.UID = "u0"
	abroad := other
	abroad.Cluster = "c2"
	adopt := func(previous ownership.Shown) distributiontenant.Step {
		return distributiontenant.Adopt{ARN: "arn:" + tenantID, Tags: me.Tags(), Previous: previous}
	}
	blocked := func(in distributiontenant.Input) question {
		return question{in: with(in, freshTags), rule: "Owned", step: distributiontenant.Rest{}, reason: resource.ReasonAdoptionRequired, stuck: true}
	}
	return map[string]question{
		"tags that are due are read":              {in: with(quiet(), func(in *distributiontenant.Input) { in.World.TagsDue = true }), rule: "Owned", step: look},
		"tags of a tenant of another id are read": {in: with(quiet(), func(in *distributiontenant.Input) { in.World.TagsKnown, in.Memory.ID = false, "dt_before" }), rule: "Owned", step: look},
		"a fresh process trusts the id in status": {in: with(quiet(), func(in *distributiontenant.Input) { in.World.TagsKnown = false }), rule: "Idle", step: distributiontenant.Rest{}},
		"before a foreign tenant blocks, its tags are read again": {
			in: with(quiet(), taggedFor(other)), rule: "Owned", step: look,
		},
		"and before one is adopted": {
			in: with(quiet(), tagged(nil), adoption(resource.AdoptForce)), rule: "Owned", step: look,
		},
		"Never leaves an unowned tenant alone":            blocked(with(quiet(), tagged(nil))),
		"Never leaves a tenant of a former object alone":  blocked(with(quiet(), taggedFor(former))),
		"IfUnowned leaves another cluster's tenant alone": blocked(with(quiet(), taggedFor(abroad), adoption(resource.AdoptIfUnowned))),
		"Force leaves a tenant of a live object alone":    blocked(with(quiet(), taggedFor(other), ownerAlive, adoption(resource.AdoptForce))),
		"IfUnowned adopts an unowned tenant":              {in: with(quiet(), tagged(nil), freshTags, adoption(resource.AdoptIfUnowned)), rule: "Owned", step: adopt(ownership.Shown{})},
		"IfUnowned adopts the tenant of a former object":  {in: with(quiet(), taggedFor(former), freshTags, adoption(resource.AdoptIfUnowned)), rule: "Owned", step: adopt(former.ShownTo(me))},
		"Force adopts another cluster's tenant":           {in: with(quiet(), taggedFor(abroad), freshTags, adoption(resource.AdoptForce)), rule: "Owned", step: adopt(abroad.ShownTo(me))},
		"half an owner is an owner all the same":          blocked(with(quiet(), tagged(map[string]string{ownership.NamespaceKey: "shop"}), adoption(resource.AdoptIfUnowned))),
		"a refused adoption is not repeated in the same pass": {
			in: with(quiet(), tagged(nil), freshTags, adoption(resource.AdoptForce), refused(fault.Denied)), rule: "Owned", step: distributiontenant.Rest{},
			reason: resource.ReasonAccessDenied, stuck: true,
		},
		"an object that lost its finalizer gets it back": {
			in: with(quiet(), func(in *distributiontenant.Input) { in.HasFinalizer = false }), rule: "Finalized", step: distributiontenant.EnsureFinalizer{},
		},
	}
}

func createCases() map[string]question {
	create := distributiontenant.Create{Tenant: spec().Tenant, Tags: ownership.Merge(spec().Tags, me)}
	withRequest := with(unborn(), requested)
	stuck := func(in distributiontenant.Input, reason chain.Reason) question {
		return question{in: in, rule: "TenantPresent", step: distributiontenant.Rest{}, reason: reason, stuck: true}
	}
	missing := distributiontenant.Rest{Drift: []resource.Difference{{Field: "tenantName", Desired: spec().Name}}}
	return map[string]question{
		"a new object's tenant is created without a look: AWS refuses duplicates itself": {in: unborn(), rule: "TenantPresent", step: create},
		"a tenant that was deleted outside is created again":                             {in: with(quiet(), absent), rule: "TenantPresent", step: create},
		"a request for a managed certificate is sent with it": {
			in: withRequest, rule: "TenantPresent",
			step: distributiontenant.Create{Tenant: create.Tenant, Tags: create.Tags, Request: withRequest.Desired.Request},
		},
		"under report a tenant that was deleted outside is only reported": {
			in: with(quiet(), absent, drift(resource.DriftReport)), rule: "TenantPresent", step: missing, reason: resource.ReasonAWSError,
		},
		"under suspend too": {
			in: with(quiet(), absent, drift(resource.DriftSuspend)), rule: "TenantPresent", step: missing, reason: resource.ReasonAWSError,
		},
		"a change of the spec is applied under report as well": {
			in: with(quiet(), absent, edited, drift(resource.DriftReport)), rule: "TenantPresent", step: create,
		},
		"a name that exists and is not shown yet is waited for": stuck(with(unborn(), absent, refused(fault.Exists)), resource.ReasonCreating),
		"an exhausted quota is reported":                        stuck(with(unborn(), refused(fault.Quota)), resource.ReasonQuotaExceeded),
		"a spec that AWS refuses is reported":                   stuck(with(unborn(), refused(fault.Invalid)), resource.ReasonInvalidSpec),
		"a domain that is not proven yet is waited for":         stuck(with(unborn(), refused(fault.DomainUnverified)), resource.ReasonDomainValidationPending),
		"who holds a taken domain is found out": {
			in: with(unborn(), refused(fault.DomainTaken)), rule: "TenantPresent", step: distributiontenant.Look{At: distributiontenant.LookHolder},
		},
		"and said": stuck(with(unborn(), refused(fault.DomainTaken), func(in *distributiontenant.Input) { in.World.HolderKnown = true }), resource.ReasonDomainConflict),
	}
}

func updateCases() map[string]question {
	difference := []resource.Difference{{Field: "parameters[tier]", Desired: "gold", Observed: "lead"}}
	update := distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: target(quiet())}
	correction := update
	correction.Drift = difference
	worn := func(in *distributiontenant.Input) {
		in.Attempts = distributiontenant.Attempts{Tries: resource.Tries{AcceptedFor: in.Generation, Corrections: resource.MaxCorrections, LastCorrection: now.Add(-time.Minute)}}
	}
	adopted := with(quiet(), drifted, func(in *distributiontenant.Input) {
		in.AdoptedGeneration, in.Memory.AppliedGeneration = in.Generation, 0
		in.Desired.Parameters = nil
	})
	moved := with(quiet(), func(in *distributiontenant.Input) { in.Desired.ConnectionGroupID = "cg_2" }, edited)
	stuck := func(in distributiontenant.Input, reason chain.Reason) question {
		return question{in: in, rule: "InSync", step: distributiontenant.Rest{}, reason: reason, stuck: true}
	}
	return map[string]question{
		"a changed spec is sent whole, under the ETag that was read": {in: with(quiet(), drifted, edited), rule: "InSync", step: update},
		"a spec may choose another connection group":                 {in: moved, rule: "InSync", step: distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: moved.Desired.Tenant}},
		"drift is corrected":                                                 {in: with(quiet(), drifted), rule: "InSync", step: correction},
		"under report drift is left":                                         {in: with(quiet(), drifted, drift(resource.DriftReport)), rule: "Idle", step: distributiontenant.Rest{}},
		"under suspend drift is left":                                        {in: with(quiet(), drifted, drift(resource.DriftSuspend)), rule: "Idle", step: distributiontenant.Rest{}},
		"ownership that was proven a while ago is proven again first":        {in: with(quiet(), drifted, oldTags), rule: "InSync", step: distributiontenant.Look{At: distributiontenant.LookTags}},
		"tags that were never read prove nothing":                            {in: with(quiet(), drifted, func(in *distributiontenant.Input) { in.World.TagsKnown = false }), rule: "InSync", step: distributiontenant.Look{At: distributiontenant.LookTags}},
		"what does not stay is given up for a while":                         stuck(with(quiet(), drifted, worn), resource.ReasonDriftNotConverging),
		"a spec that AWS does not keep is given up on as well, once applied": stuck(with(quiet(), drifted, worn, drift(resource.DriftEnforce)), resource.ReasonDriftNotConverging),
		"after it was given up, the schedule of failures allows another try": {
			in: with(quiet(), drifted, worn, func(in *distributiontenant.Input) {
				in.Memory.Failure = &resource.Failure{Reason: resource.ReasonDriftNotConverging, Generation: 2, Since: now.Add(-time.Minute)}
				in.Attempts.Last = now.Add(-40 * time.Second)
			}),
			rule: "InSync", step: correction,
		},
		"corrections of long ago do not count": {
			in:   with(quiet(), drifted, worn, func(in *distributiontenant.Input) { in.Attempts.LastCorrection = now.Add(-resource.StableFor) }),
			rule: "InSync", step: correction,
		},
		"an adopted tenant keeps what the spec does not speak about": {in: adopted, rule: "Idle", step: distributiontenant.Rest{}},
		"until the spec changes": {
			in: with(adopted, edited), rule: "InSync",
			step: distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: target(adopted)},
		},
		"an update that was refused is not repeated in the same pass":                stuck(with(quiet(), drifted, refused(fault.Invalid)), resource.ReasonInvalidSpec),
		"a name that was taken by a tenant that turns out to be ours blocks nothing": {in: with(quiet(), drifted, refused(fault.Exists)), rule: "InSync", step: correction},
		"a certificate that is attached while one is asked for is part of the target": {
			in: with(quiet(), requested, edited, drifted, func(in *distributiontenant.Input) {
				change(in, func(t *distributiontenant.Observed) { t.Customizations.CertificateARN = ownARN })
				in.Attempts.CertificateSeen, in.Attempts.Certificate = now, &certificate.Managed{State: certificate.Pending}
			}), rule: "InSync",
			step: distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: withCertificate(target(quiet()), ownARN)},
		},
	}
}

func withCertificate(t distributiontenant.Tenant, arn string) distributiontenant.Tenant {
	t.Customizations.CertificateARN = arn
	return t
}

func tagCases() map[string]question {
	arn := "arn:" + tenantID
	owned := ownership.Merge(spec().Tags, me)
	lost := with(quiet(), tagged(me.Tags()))
	drifted := []resource.Difference{{Field: "tags[team]", Desired: "web"}}
	return map[string]question{
		"a removed tag is set again": {in: lost, rule: "TagsInSync", step: distributiontenant.Tag{ARN: arn, Tags: map[string]string{"team": "web"}, Drift: drifted}},
		"under report it is left":    {in: with(lost, drift(resource.DriftReport)), rule: "Idle", step: distributiontenant.Rest{}},
		"a new tag is set":           {in: with(lost, edited), rule: "TagsInSync", step: distributiontenant.Tag{ARN: arn, Tags: map[string]string{"team": "web"}}},
		"status has its key first": {
			in:   with(lost, edited, func(in *distributiontenant.Input) { in.Memory.AppliedTagKeys = nil }),
			rule: "TagsInSync", step: distributiontenant.Rest{Store: true, Announced: []string{"team"}},
		},
		"a tag that we had set and that is no longer wanted is removed": {
			in: with(quiet(), edited, tagged(merged(owned, map[string]string{"old": "x"})), func(in *distributiontenant.Input) {
				in.Memory.AppliedTagKeys = []string{"team", "old"}
			}),
			rule: "TagsInSync", step: distributiontenant.Untag{ARN: arn, Keys: []string{"old"}},
		},
		"a foreign tag stays":                            {in: with(quiet(), edited, tagged(merged(owned, map[string]string{"their": "x"}))), rule: "Idle", step: distributiontenant.Rest{}},
		"a changed spec needs to know the tags":          {in: with(quiet(), edited, func(in *distributiontenant.Input) { in.World.TagsKnown = false }), rule: "TagsInSync", step: distributiontenant.Look{At: distributiontenant.LookTags}},
		"tags are written on the strength of fresh ones": {in: with(lost, oldTags), rule: "TagsInSync", step: distributiontenant.Look{At: distributiontenant.LookTags}},
		"tags that do not stay are given up for a while": {
			in: with(lost, func(in *distributiontenant.Input) {
				in.Attempts = distributiontenant.Attempts{Tries: resource.Tries{AcceptedFor: in.Generation, Corrections: resource.MaxCorrections, LastCorrection: now}}
			}),
			rule: "TagsInSync", step: distributiontenant.Rest{}, reason: resource.ReasonDriftNotConverging, stuck: true,
		},
	}
}

func settleCases() map[string]question {
	look := distributiontenant.Look{At: distributiontenant.LookManaged}
	issued := func(arn string) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) {
			in.World.ManagedKnown, in.World.Managed = true, &certificate.Managed{ARN: arn, State: certificate.Issued}
		}
	}
	attached := func(in *distributiontenant.Input) {
		t := *in.World.Tenant
		t.Customizations.CertificateARN = ownARN
		in.World.Tenant = &t
	}
	return map[string]question{
		"where DNS has to point is found out once": {
			in: with(quiet(), func(in *distributiontenant.Input) {
				in.World.RoutingEndpoint, in.World.RoutingKnown, in.Memory.RoutingEndpoint = "", false, ""
			}),
			rule: "Routed", step: distributiontenant.Look{At: distributiontenant.LookRouting},
		},
		"an endpoint in status is believed while the spec does not change": {
			in:   with(quiet(), func(in *distributiontenant.Input) { in.World.RoutingEndpoint, in.World.RoutingKnown = "", false }),
			rule: "Idle", step: distributiontenant.Rest{},
		},
		"a deployment is followed": {
			in: with(quiet(), inProgress), rule: "Settled",
			step: distributiontenant.Rest{Follow: true, After: 2 * retry.FollowEvery}, reason: resource.ReasonDeploying,
		},
		"the first deployment is the creation": {
			in: with(quiet(), inProgress, func(in *distributiontenant.Input) { in.Memory.Conditions = nil }), rule: "Settled",
			step: distributiontenant.Rest{Follow: true, After: 2 * retry.FollowEvery}, reason: resource.ReasonCreating,
		},
		"it is the creation too when a mistake came before it": {
			in: with(quiet(), newborn), rule: "Settled",
			step: distributiontenant.Rest{Follow: true, After: 2 * retry.FollowEvery}, reason: resource.ReasonCreating,
		},
		"a managed certificate that is asked for is read": {in: with(quiet(), requested), rule: "CertificateKnown", step: look},
		"one that is pending is waited for": {
			in: with(quiet(), requested, func(in *distributiontenant.Input) {
				in.World.ManagedKnown, in.World.Managed = true, &certificate.Managed{State: certificate.Pending}
			}),
			rule: "CertificateUsable", step: distributiontenant.Rest{After: 5 * time.Minute}, reason: certificate.ReasonPendingValidation,
		},
		"one that was read lately is not read again": {
			in: with(quiet(), requested, func(in *distributiontenant.Input) {
				in.Attempts.CertificateSeen = now.Add(-time.Minute)
				in.Attempts.Certificate = &certificate.Managed{State: certificate.Pending}
			}),
			rule: "CertificateUsable", step: distributiontenant.Rest{After: 4 * time.Minute}, reason: certificate.ReasonPendingValidation,
		},
		"one that was read a while ago is": {
			in: with(quiet(), requested, func(in *distributiontenant.Input) {
				in.Attempts.CertificateSeen = now.Add(-5 * time.Minute)
				in.Attempts.Certificate = &certificate.Managed{State: certificate.Pending}
			}), rule: "CertificateKnown", step: look,
		},
		"one that is issued has to be attached": {
			in: with(quiet(), requested, issued(ownARN)), rule: "InSync",
			step: distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: withCertificate(target(quiet()), ownARN)},
		},
		"one that failed is reported": {
			in: with(quiet(), requested, func(in *distributiontenant.Input) {
				in.World.ManagedKnown, in.World.Managed = true, &certificate.Managed{ARN: ownARN, State: certificate.TimedOut}
			}),
			rule: "CertificateUsable", step: distributiontenant.Rest{}, reason: resource.ReasonCertificateFailed, stuck: true,
		},
		"one that is issued and attached is done": {in: with(quiet(), requested, issued(ownARN), attached), rule: "Idle", step: distributiontenant.Rest{}},
		"a domain that CloudFront does not serve is reported": {
			in: with(quiet(), func(in *distributiontenant.Input) {
				t := *in.World.Tenant
				t.DomainStates = map[string]string{"alpha.example.com": "inactive"}
				in.World.Tenant = &t
			}),
			rule: "Serving", step: distributiontenant.Rest{}, reason: resource.ReasonDomainValidationPending,
		},
		"where DNS has to point is found out before there is a tenant": {
			in: with(unborn(), unrouted, requested), rule: "Announced", step: distributiontenant.Look{At: distributiontenant.LookRouting},
		},
		"the addresses of its group are what an apex is told": {
			in: with(quiet(), atApex), rule: "Addressed", step: distributiontenant.Look{At: distributiontenant.LookAddresses},
		},
		"they are looked up once": {
			in: with(quiet(), atApex, func(in *distributiontenant.Input) { in.World.AddressesKnown = true }), rule: "Idle", step: distributiontenant.Rest{},
		},
		"it can wait where nothing waits for it": {
			in: with(unborn(), unrouted), rule: "TenantPresent", step: distributiontenant.Create{Tenant: spec().Tenant, Tags: merged(spec().Tags, me.Tags())},
		},
		"what was not found is not looked for in each pass": {
			in: with(unborn(), unrouted, unresolved, func(in *distributiontenant.Input) { in.Attempts.RoutedFor = in.Generation }), rule: "Referenced", step: distributiontenant.Rest{}, reason: distributiontenant.ReasonReferenceNotReady,
		},
		"but what AWS refused to tell is": {
			in:   with(unborn(), unrouted, unresolved, func(in *distributiontenant.Input) { in.Attempts.Routed(in.Generation, "", true, in.Now) }),
			rule: "Announced", step: distributiontenant.Look{At: distributiontenant.LookRouting},
		},
		"also while the distribution is missing": {
			in:   with(unborn(), unrouted, unresolved),
			rule: "Announced", step: distributiontenant.Look{At: distributiontenant.LookRouting},
		},
		"but not while the connection group is": {
			in: with(unborn(), unrouted, inGroup("")), rule: "Referenced", step: distributiontenant.Rest{}, reason: distributiontenant.ReasonReferenceNotReady,
		},
		"a distribution that was last seen disabled is looked at again": {
			in:   with(quiet(), disabledDistribution, unread),
			rule: "DistributionEnabled", step: distributiontenant.Look{At: distributiontenant.LookDistribution},
		},
		"so is one of which a fresh process only knows by status": {
			in:   with(quiet(), wasDisabled, unread),
			rule: "DistributionEnabled", step: distributiontenant.Look{At: distributiontenant.LookDistribution},
		},
		"while it is disabled, the tenant is not ready": {
			in:   with(quiet(), disabledDistribution),
			rule: "DistributionEnabled", step: distributiontenant.Rest{}, reason: distributiontenant.ReasonDistributionDisabled,
		},
		"once it is enabled, the tenant is": {
			in:   with(quiet(), wasDisabled, func(in *distributiontenant.Input) { in.World.DistributionSeen = true }),
			rule: "Idle", step: distributiontenant.Rest{},
		},
		"one that is an object is not read": {
			in:   with(quiet(), disabledObject(true), unread),
			rule: "DistributionEnabled", step: distributiontenant.Rest{}, reason: distributiontenant.ReasonDistributionDisabled,
		},
		"an object that is enabled again counts at once": {
			in:   with(quiet(), disabledDistribution, disabledObject(false), unread),
			rule: "Idle", step: distributiontenant.Rest{},
		},
		"a tenant that is meant to be disabled does not care for its distribution": {
			in: with(quiet(), disabledTenant, disabledDistribution, func(in *distributiontenant.Input) {
				in.Desired.Enabled = false
			}),
			rule: "Idle", step: distributiontenant.Rest{},
		},
		"a tenant that is meant to be disabled serves nothing, and that is right": {
			in: with(quiet(), disabledTenant, func(in *distributiontenant.Input) {
				in.Desired.Enabled = false
				in.World.Tenant.DomainStates = nil
			}),
			rule: "Idle", step: distributiontenant.Rest{},
		},
	}
}

// atApex has public DNS watched for domains at the apex of their zones.
func atApex(in *distributiontenant.Input) {
	in.World.Watched, in.World.RoutingEndpoint, in.World.Places = true, "d1.cloudfront.net", map[string]onboarding.Place{}
	for _, d := range in.Desired.Domains {
		in.World.Places[d] = onboarding.Place{Zone: d, Apex: true}
	}
}
