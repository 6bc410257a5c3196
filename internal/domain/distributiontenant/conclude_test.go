package distributiontenant_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/truth"
)

// conclude decides and reports, as a pass does that ends with its decision.
func conclude(in distributiontenant.Input) distributiontenant.Report {
	return distributiontenant.Conclude(in, distributiontenant.Outcome{Decision: distributiontenant.Decide(in)})
}

func conditions(r distributiontenant.Report) map[chain.ConditionType]string {
	out := map[chain.ConditionType]string{}
	for _, c := range r.Conditions {
		out[c.Type] = fmt.Sprintf("%t/%s", c.Status, c.Reason)
	}
	return out
}

func TestConditions(t *testing.T) {
	dns := func(in *distributiontenant.Input) { in.Desired.DNS = &publication.Spec{} }
	certificateWas := func(reason chain.Reason, generation int64) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) {
			in.Memory.Conditions[distributiontenant.CertificateReady] = chain.Condition{Type: distributiontenant.CertificateReady, Reason: reason, Generation: generation}
		}
	}
	tests := map[string]struct {
		in                  distributiontenant.Input
		ready, synced       string
		dnsReady, certReady string
	}{
		"a quiet world is ready and in sync": {in: quiet(), ready: "true/Deployed", synced: "true/InSync"},
		"a disabled tenant is ready when that was asked for": {
			in: with(quiet(), disabledTenant, func(in *distributiontenant.Input) { in.Desired.Enabled = false }), ready: "true/Deployed", synced: "true/InSync",
		},
		"a tenant of a disabled distribution is not ready": {in: with(quiet(), disabledDistribution), ready: "false/DistributionDisabled", synced: "true/InSync"},
		"nor is a paused one":                              {in: with(quiet(), disabledDistribution, func(in *distributiontenant.Input) { in.Paused = true }), ready: "false/DistributionDisabled", synced: "false/Paused"},
		"a new object is being created":                    {in: unborn(), ready: "false/Creating", synced: "false/UpdatePending"},
		"a deployment is not ready and in sync":            {in: with(quiet(), inProgress), ready: "false/Deploying", synced: "true/InSync"},
		"a changed spec is pending, and the tenant continues to serve": {
			in: with(quiet(), drifted, edited), ready: "true/Deployed", synced: "false/UpdatePending",
		},
		"drift under report is listed":          {in: with(quiet(), drifted, drift(resource.DriftReport)), ready: "true/Deployed", synced: "false/DriftDetected"},
		"drift under suspend is not looked for": {in: with(quiet(), drifted, drift(resource.DriftSuspend)), ready: "true/Deployed", synced: "true/InSync"},
		"a paused object keeps what it knows":   {in: with(quiet(), func(in *distributiontenant.Input) { in.Paused = true }), ready: "true/Deployed", synced: "false/Paused"},
		"while all writes are halted that is the reason": {in: with(quiet(), func(in *distributiontenant.Input) {
			in.Halt = &chain.Halt{Reason: "ClusterMoved", Message: "Look here."}
		}), ready: "true/Deployed", synced: "false/ClusterMoved"},
		"also for a paused object": {in: with(quiet(), func(in *distributiontenant.Input) {
			in.Halt = &chain.Halt{Reason: "ClusterMoved", Message: "Look here."}
		}, func(in *distributiontenant.Input) { in.Paused = true }), ready: "true/Deployed", synced: "false/ClusterMoved"},
		"and for a deletion": {in: with(dying(), func(in *distributiontenant.Input) {
			in.Halt = &chain.Halt{Reason: "ClusterMoved", Message: "Look here."}
		}), ready: "false/Deleting", synced: "false/ClusterMoved"},
		"a paused deletion is reported":               {in: with(dying(), func(in *distributiontenant.Input) { in.Paused = true }), ready: "false/Deleting", synced: "false/Paused"},
		"a deletion starts with disabling":            {in: dying(), ready: "false/Disabling", synced: "false/UpdatePending"},
		"and continues with deleting":                 {in: with(dying(), disabledTenant), ready: "false/Deleting", synced: "false/UpdatePending"},
		"a foreign tenant is never spoken of":         {in: with(quiet(), taggedFor(other), freshTags), ready: "false/AdoptionRequired", synced: "false/UpdatePending"},
		"DNS that is asked for holds Ready back":      {in: with(quiet(), dns), ready: "false/DNSRecordCreating", synced: "true/InSync", dnsReady: "false/DNSRecordCreating"},
		"DNS comes before the certificate":            {in: with(quiet(), dns, requested, pendingCertificate), ready: "false/DNSRecordCreating", synced: "true/InSync", dnsReady: "false/DNSRecordCreating", certReady: "false/PendingValidation"},
		"a pending certificate holds Ready back":      {in: with(quiet(), requested, pendingCertificate), ready: "false/PendingValidation", synced: "true/InSync", certReady: "false/PendingValidation"},
		"a request that was removed is reported once": {in: with(quiet(), certificateWas(certificate.ReasonPendingValidation, 1)), ready: "true/Deployed", synced: "true/InSync", certReady: "false/NotConfigured"},
		"and stays while nothing else changes":        {in: with(quiet(), certificateWas(distributiontenant.ReasonNotConfigured, 2)), ready: "true/Deployed", synced: "true/InSync", certReady: "false/NotConfigured"},
		"and is gone with the next change":            {in: with(quiet(), certificateWas(distributiontenant.ReasonNotConfigured, 1)), ready: "true/Deployed", synced: "true/InSync"},
		"a tenant that was deleted outside, under report, is drift": {
			in: with(quiet(), absent, drift(resource.DriftReport)), ready: "false/AWSError", synced: "false/DriftDetected",
		},
		"a name that is taken, and not shown yet, is not denied": {in: with(unborn(), absent, refused(fault.Exists)), ready: "false/Creating", synced: "false/UpdatePending"},
		"nor is a tenant that was just created":                  {in: with(unborn(), absent, func(in *distributiontenant.Input) { in.Attempts.CreatedAt = now }), ready: "false/Creating", synced: "false/UpdatePending"},
		"nor one that could not be read": {in: with(unborn(), func(in *distributiontenant.Input) {
			in.World.Unreadable = &fault.Error{Kind: fault.Denied, Message: "The distribution tenant could not be read"}
		}), ready: "false/AccessDenied", synced: "false/UpdatePending"},
		"what was given up is reported in Synced": {
			in: with(quiet(), drifted, func(in *distributiontenant.Input) {
				in.Attempts = distributiontenant.Attempts{Tries: resource.Tries{AcceptedFor: 2, Corrections: resource.MaxCorrections, LastCorrection: now}}
			}),
			ready: "true/Deployed", synced: "false/DriftNotConverging",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want := map[chain.ConditionType]string{chain.Ready: test.ready, chain.Synced: test.synced, distributiontenant.DNSReady: "true/DNSNotConfigured"}
			if test.dnsReady != "" {
				want[distributiontenant.DNSReady] = test.dnsReady
			}
			if test.certReady != "" {
				want[distributiontenant.CertificateReady] = test.certReady
			}
			r := conclude(test.in)
			if d := cmp.Diff(want, conditions(r)); d != "" {
				t.Errorf("conditions (-want +got):\n%s", d)
			}
			for _, c := range r.Conditions {
				want := test.in.Generation
				if c.Type == chain.Ready && c.Status {
					want = r.AppliedGeneration
				}
				if c.Generation != want {
					t.Errorf("%s speaks of generation %d, want %d", c.Type, c.Generation, want)
				}
				if c.Message == "" {
					t.Errorf("%s says nothing", c.Type)
				}
			}
			if text := truth.Contradiction(r.Conditions); text != "" {
				t.Error(text)
			}
		})
	}
}

func pendingCertificate(in *distributiontenant.Input) {
	in.World.ManagedKnown, in.World.Managed = true, &certificate.Managed{State: certificate.Pending}
}

// The generation counts as applied once AWS equals it, or has accepted it, and not before.
func TestAppliedGeneration(t *testing.T) {
	tests := map[string]struct {
		in   distributiontenant.Input
		want int64
	}{
		"equal":     {with(quiet(), edited), 3},
		"different": {with(quiet(), drifted, edited), 2},
		"different, though AWS accepted it": {with(quiet(), drifted, edited, func(in *distributiontenant.Input) {
			in.Attempts.AcceptedFor, in.Attempts.Accepted = 3, resource.WroteConfig
		}), 3},
		"equal, with a parent that is being deleted": {with(quiet(), edited, referring(goingAway)), 2},
		"equal, as far as the list shows":            {with(quiet(), listed, edited), 2},
		"equal, with tags that were not read":        {with(quiet(), edited, func(in *distributiontenant.Input) { in.World.TagsKnown = false }), 2},
		"equal but for the tags":                     {with(quiet(), edited, tagged(me.Tags())), 2},
		"equal, being deleted":                       {with(dying(), edited), 2},
		"of a tenant that is not ours":               {with(quiet(), edited, taggedFor(other), freshTags), 2},
		"of a tenant that is only to be recreated":   {with(quiet(), edited, absent), 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := conclude(test.in)
			if r.AppliedGeneration != test.want {
				t.Errorf("applied generation %d, want %d", r.AppliedGeneration, test.want)
			}
			if test.want == test.in.Generation {
				if d := cmp.Diff([]string{"team"}, r.AppliedTagKeys); d != "" {
					t.Errorf("applied tag keys (-want +got):\n%s", d)
				}
			}
		})
	}
}

// An error that ends a pass before its decision was carried out must not change the other conditions.
func TestConcludeAfterAnError(t *testing.T) {
	throttled := func(after time.Duration) error {
		return &fault.Error{Kind: fault.Throttled, Operation: "CreateDistributionTenant", RetryAfter: after}
	}
	reset := &fault.Error{Kind: fault.Transient, Operation: "GetDistributionTenant", Message: "reset"}
	transients := func(n int) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) { in.Attempts.Transients = n }
	}
	tests := map[string]struct {
		in   distributiontenant.Input
		err  error
		want map[chain.ConditionType]string
	}{
		"a throttle leaves a ready tenant ready":  {with(quiet(), drifted), throttled(time.Minute), map[chain.ConditionType]string{chain.Ready: "true/Deployed", chain.Synced: "true/InSync"}},
		"a short wait of a new object is no news": {unborn(), throttled(time.Second), map[chain.ConditionType]string{}},
		"a long one is": {unborn(), throttled(time.Minute), map[chain.ConditionType]string{chain.Ready: "false/Creating"}},
		"what Kubernetes refuses is not said of AWS": {with(unborn(), transients(2)), errors.New("storing the status: etcd is busy"), map[chain.ConditionType]string{}},
		"one failure of a new object is no news":     {with(unborn(), transients(1)), reset, map[chain.ConditionType]string{}},
		"two are":                                    {with(unborn(), transients(2)), reset, map[chain.ConditionType]string{chain.Ready: "false/AWSUnavailable"}},
		"failures do not shake a tenant that was ready and in sync": {
			with(quiet(), transients(5)), reset, map[chain.ConditionType]string{chain.Ready: "true/Deployed", chain.Synced: "true/InSync"},
		},
		"they are reported when a change waits for them": {
			with(quiet(), edited, transients(2)), reset, map[chain.ConditionType]string{chain.Ready: "false/AWSUnavailable", chain.Synced: "true/InSync"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := distributiontenant.Conclude(test.in, distributiontenant.Outcome{Decision: distributiontenant.Decide(test.in), Err: test.err})
			if d := cmp.Diff(test.want, conditions(r)); d != "" {
				t.Errorf("conditions (-want +got):\n%s", d)
			}
		})
	}
}

// A failure is remembered since its first time on this generation.
func TestFailureMemory(t *testing.T) {
	since := now.Add(-time.Hour)
	blocked := with(quiet(), tagged(nil), freshTags)
	tests := map[string]struct {
		in   distributiontenant.Input
		want *resource.Failure
	}{
		"a first failure starts now":             {blocked, &resource.Failure{Reason: resource.ReasonAdoptionRequired, Generation: 2, Since: now}},
		"another reason does not restart it":     {with(blocked, failing(since, now)), &resource.Failure{Reason: resource.ReasonAdoptionRequired, Generation: 2, Since: since}},
		"another generation does":                {with(blocked, failing(since, now), edited), &resource.Failure{Reason: resource.ReasonAdoptionRequired, Generation: 3, Since: now}},
		"what works again is forgotten":          {with(quiet(), failing(since, now)), nil},
		"waiting for the world is not a failure": {with(quiet(), inProgress), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(test.want, conclude(test.in).Failure); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// writtenBack is the memory of the next pass.
func writtenBack(in distributiontenant.Input, out distributiontenant.Outcome, r distributiontenant.Report) distributiontenant.Input {
	m := distributiontenant.Memory{
		Memory: resource.Memory{
			ID: in.Memory.ID, AppliedGeneration: r.AppliedGeneration, AppliedTagKeys: r.AppliedTagKeys,
			Failure: r.Failure, Conditions: map[chain.ConditionType]chain.Condition{},
		},
		ETag: r.ETag, RoutingEndpoint: in.Memory.RoutingEndpoint, Parents: r.Parents,
	}
	if r.Tenant != nil {
		m.ID = r.Tenant.ID
	}
	if r.RoutingEndpoint != "" {
		m.RoutingEndpoint = r.RoutingEndpoint
	}
	for _, c := range r.Conditions {
		m.Conditions[c.Type] = c
	}
	if p := out.Decision.Problem; p != nil && p.Stuck {
		in.Attempts.Last = in.Now
	}
	in.Memory = m
	return in
}

// ends reports whether a pass comes to rest with this decision.
func ends(out distributiontenant.Outcome) bool { return out.Decision.Step.Effect() == chain.Rest }

// The same world is never reported twice in two ways: that would be a write for nothing
// with every pass.
func TestConcludingTwiceSaysTheSame(t *testing.T) {
	starts := map[string]func() distributiontenant.Input{"quiet": quiet, "unborn": unborn, "dying": dying}
	changes := map[string]func(*distributiontenant.Input){
		"edited": edited, "drifted": drifted, "disabled": disabledTenant, "in progress": inProgress, "absent": absent,
		"unknown": unknown, "listed": listed, "moved": movedETag, "request": requested, "pending": pendingCertificate,
		"untagged": tagged(nil), "foreign": taggedFor(other), "alive": ownerAlive, "fresh tags": freshTags, "old tags": oldTags,
		"lost tag": tagged(me.Tags()), "IfUnowned": adoption(resource.AdoptIfUnowned), "Force": adoption(resource.AdoptForce),
		"report": drift(resource.DriftReport), "suspend": drift(resource.DriftSuspend), "retain": func(in *distributiontenant.Input) { in.Policy.Retain = true },
		"paused": func(in *distributiontenant.Input) { in.Paused = true }, "dns": func(in *distributiontenant.Input) { in.Desired.DNS = &publication.Spec{} },
		"worn": func(in *distributiontenant.Input) {
			in.Attempts.AcceptedFor, in.Attempts.Corrections, in.Attempts.LastCorrection = in.Generation, resource.MaxCorrections, now
		},
		"accepted": func(in *distributiontenant.Input) {
			in.Attempts.AcceptedFor, in.Attempts.Accepted = in.Generation, resource.WroteConfig
		}, "marked": marked(time.Minute),
		"domain taken": func(in *distributiontenant.Input) { refused(fault.DomainTaken)(in); in.World.HolderKnown = true },
		"exists":       refused(fault.Exists), "invalid": refused(fault.Invalid), "not disabled": refused(fault.NotDisabled),
		"failing":   func(in *distributiontenant.Input) { failing(now.Add(-time.Hour), now.Add(-time.Hour))(in) },
		"referring": referring(), "dangling": referring(notFound), "replaced": referring(replacedBy("E2")), "grouped": func(in *distributiontenant.Input) {
			if !in.Deleting {
				grouped(disabledGroup)(in)
			}
		},
		"inherited": func(in *distributiontenant.Input) { in.AdoptedGeneration, in.Desired.Parameters = in.Generation, nil },
	}
	build := func(start string, names ...string) distributiontenant.Input {
		in := starts[start]()
		for _, name := range names {
			changes[name](&in)
			if in.World.Tenant == nil && in.World.Knowledge > resource.Absent {
				in.World.Knowledge = resource.Nothing
			}
		}
		return in
	}
	t.Run("a failure of this pass decides what each domain waits for", func(t *testing.T) {
		concludesAlike(t, build("quiet", "absent", "dns", "exists", "request"))
	})
	names := rapid.SampledFrom(sortedKeys(changes))
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.SampledFrom(sortedKeys(starts)).Draw(t, "start")
		concludesAlike(t, build(start, rapid.SliceOfNDistinct(names, 0, 6, rapid.ID[string]).Draw(t, "changes")...))
	})
}

// concludesAlike plays two passes over one world. A pass that looks for more, or writes, continues, and then the world has
// changed.
func concludesAlike(t rapid.TB, in distributiontenant.Input) {
	t.Helper()
	out := distributiontenant.Outcome{Decision: distributiontenant.Decide(in)}
	if p := out.Decision.Problem; p != nil && p.Stuck {
		in.Attempts.Last = in.Now
	}
	first := distributiontenant.Conclude(in, out)
	again := writtenBack(in, out, first)
	outAgain := distributiontenant.Outcome{Decision: distributiontenant.Decide(again)}
	if !ends(out) || !ends(outAgain) {
		return
	}
	second := distributiontenant.Conclude(again, outAgain)
	if d := cmp.Diff(first, second, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("%s %+v, then %s %+v (-first +second):\n%s",
			out.Decision.Rule, out.Decision.Step, outAgain.Decision.Rule, outAgain.Decision.Step, d)
	}
	if events := distributiontenant.Events(again, outAgain, second); len(events) > 0 {
		t.Fatalf("the second pass publishes %+v", events)
	}
}
