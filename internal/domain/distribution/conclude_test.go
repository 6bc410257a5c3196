package distribution_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// conclude decides and reports, as a pass does that ends with its decision.
func conclude(in distribution.Input) distribution.Report {
	return distribution.Conclude(in, distribution.Outcome{Decision: distribution.Decide(in)})
}

func conditions(r distribution.Report) map[chain.ConditionType]string {
	out := map[chain.ConditionType]string{}
	for _, c := range r.Conditions {
		out[c.Type] = fmt.Sprintf("%t/%s", c.Status, c.Reason)
	}
	return out
}

func message(r distribution.Report, of chain.ConditionType) string {
	for _, c := range r.Conditions {
		if c.Type == of {
			return c.Message
		}
	}
	return ""
}

func asked(enabled bool) func(*distribution.Input) {
	return func(in *distribution.Input) { in.Desired.Enabled = enabled }
}

func TestConditions(t *testing.T) {
	for name, test := range map[string]struct {
		in            distribution.Input
		ready, synced string
	}{
		"a quiet world is ready and in sync":                         {quiet(), "true/Deployed", "true/InSync"},
		"what the spec disables serves nothing":                      {with(quiet(), disabled, asked(false)), "false/Disabled", "true/InSync"},
		"a new object is being created":                              {unborn(), "false/Creating", "false/UpdatePending"},
		"a deployment is not ready and in sync":                      {with(quiet(), inProgress), "false/Deploying", "true/InSync"},
		"a changed spec is pending, the resource continues to serve": {with(quiet(), drifted, edited), "true/Deployed", "false/UpdatePending"},
		"drift under report is listed":                               {with(quiet(), drifted, drift(resource.DriftReport)), "true/Deployed", "false/DriftDetected"},
		"drift under suspend is not looked for":                      {with(quiet(), drifted, drift(resource.DriftSuspend)), "true/Deployed", "true/InSync"},
		"what an adopted resource has otherwise is listed":           {with(quiet(), drifted, inherited), "true/Deployed", "false/DriftDetected"},
		"a disabled resource is not ready under report":              {with(quiet(), disabled, drift(resource.DriftReport)), "false/AWSError", "true/InSync"},
		"nor while the object is paused":                             {with(quiet(), disabled, drifted, paused), "false/AWSError", "false/Paused"},
		"nor while it is disabled again and again":                   {with(quiet(), disabled, drifted, worn), "false/AWSError", "false/DriftNotConverging"},
		"a paused object is reported as it is":                       {with(quiet(), paused), "true/Deployed", "false/Paused"},
		"a paused one that is being deployed too":                    {with(quiet(), inProgress, paused), "false/Deploying", "false/Paused"},
		"a paused object without a resource is not ready":            {with(unborn(), paused), "false/Creating", "false/Paused"},
		"a foreign resource is never reported":                       {with(quiet(), taggedFor(other), freshTags), "false/AdoptionRequired", "false/UpdatePending"},
		"nor while the object is paused ":                            {with(quiet(), taggedFor(other), freshTags, paused), "false/Creating", "false/Paused"},
		"another account is not this one":                            {with(quiet(), elsewhere), "false/WrongAccount", "false/WrongAccount"},
		"what was deleted outside is to be created":                  {with(quiet(), absent), "false/Creating", "false/DriftDetected"},
		"under report that is drift":                                 {with(quiet(), absent, drift(resource.DriftReport)), "false/AWSError", "false/DriftDetected"},
		"corrections that do not stay are given up":                  {with(quiet(), drifted, worn), "true/Deployed", "false/DriftNotConverging"},
		"a refusal by AWS is reported instead of the resource state": {with(quiet(), drifted, edited, refused(fault.Invalid)), "false/InvalidSpec", "false/UpdatePending"},
		"while all writes are halted that is the reason":             {with(quiet(), func(in *distribution.Input) { in.Halt = &chain.Halt{Reason: "ClusterMoved", Message: "Look here."} }), "true/Deployed", "false/ClusterMoved"},
		"and for a deletion":                                         {with(dying(), func(in *distribution.Input) { in.Halt = &chain.Halt{Reason: "ClusterMoved", Message: "Look here."} }), "false/Deleting", "false/ClusterMoved"},
		"a paused deletion is reported":                              {with(dying(), paused), "false/Deleting", "false/Paused"},
		"a deletion of a resource with tenants is reported":          {with(dying(), usedBy(1, false)), "false/InUse", "false/UpdatePending"},
		"a deletion starts with disabling":                           {dying(), "false/Disabling", "false/UpdatePending"},
		"it waits for that":                                          {with(dying(), disabled, inProgress), "false/Disabling", "false/UpdatePending"},
		"and continues with deleting":                                {with(dying(), disabled), "false/Deleting", "false/UpdatePending"},
		"what is kept is not said to be disabled":                    {with(dying(), retain), "false/Deleting", "false/UpdatePending"},
		"a deletion in another account is no deletion":               {with(dying(), elsewhere), "false/WrongAccount", "false/WrongAccount"},
		"a deletion that takes long is reported":                     {with(dying(), deletedFor(time.Hour)), "false/Disabling", "false/UpdatePending"},
		"the timeout of a deletion changes nothing of that":          {with(dying(), usedBy(1, false), deletedFor(time.Hour)), "false/InUse", "false/UpdatePending"},
	} {
		t.Run(name, func(t *testing.T) {
			want := map[chain.ConditionType]string{chain.Ready: test.ready, chain.Synced: test.synced}
			if !test.in.DeletedAt.IsZero() && test.in.Now.Sub(test.in.DeletedAt) >= test.in.Policy.Timeout {
				want[distribution.DeletionStalled] = "true/DeletionTimeout"
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
		})
	}
}

// Each message of a condition names its subject, the reason, and the fix.
func TestMessages(t *testing.T) {
	lost := with(quiet(), tagged(me.Tags()), drifted, edited)
	for name, test := range map[string]struct {
		in   distribution.Input
		of   chain.ConditionType
		want string
	}{
		"ready":                 {quiet(), chain.Ready, "Deployed to CloudFront's edge locations."},
		"disabled by the spec":  {with(quiet(), disabled, asked(false)), chain.Ready, "Deployed and disabled, as the spec requests: it does not answer requests. To enable it, set spec.enabled to true."},
		"disabled with tenants": {with(quiet(), disabled, asked(false), func(in *distribution.Input) { in.Desired.Direct, in.World.Serving = false, 67 }), chain.Ready, "Deployed and disabled, as the spec requests: it does not answer requests. To enable it, set spec.enabled to true. It concerns 67 customers."},
		"disabled while paused": {with(quiet(), disabled, paused), chain.Ready, "The distribution is disabled in AWS although spec.enabled is true, so it does not answer requests. Enable it in AWS, or set spec.enabled to false if this is intended. The operator changes nothing while the object is paused."},
		"disabled forever":      {with(quiet(), disabled, drifted, worn), chain.Ready, "The distribution is disabled in AWS although spec.enabled is true, so it does not answer requests. Enable it in AWS, or set spec.enabled to false if this is intended. The operator keeps trying to enable it."},
		"not yet":               {unborn(), chain.Ready, "The distribution does not exist yet."},
		"not yet, and paused":   {with(unborn(), paused), chain.Ready, "The distribution does not exist yet. The operator changes nothing while the object is paused."},
		"not yet, and halted":   {with(unborn(), func(in *distribution.Input) { in.Halt = &chain.Halt{Reason: "ClusterMoved", Message: "Look here."} }), chain.Ready, "The distribution does not exist yet. Look here."},
		"gone, and paused":      {with(quiet(), absent, paused), chain.Ready, "The distribution E1 was not found in AWS. The operator changes nothing while the object is paused."},
		"theirs, and paused":    {with(quiet(), taggedFor(other), freshTags, paused), chain.Ready, "The distribution in AWS does not belong to this object. The operator changes nothing while the object is paused."},
		"paused":                {with(quiet(), paused), chain.Synced, "The operator changes nothing for this object until its paused annotation is removed."},
		"in sync":               {quiet(), chain.Synced, "AWS matches the spec."},
		"not compared":          {with(quiet(), drift(resource.DriftSuspend)), chain.Synced, "The spec was applied. With driftPolicy suspend, later changes in AWS are not detected."},
		"pending":               {lost, chain.Synced, "Not applied in AWS yet: comment, tags[team]."},
		"pending, unseen":       {with(quiet(), edited, untold), chain.Synced, "The spec has not been compared with AWS yet."},
		"theirs":                {with(quiet(), taggedFor(other), freshTags), chain.Synced, "The distribution in AWS does not belong to this object."},
		"not readable":          {with(quiet(), unknown, unreadable), chain.Synced, "The state of the distribution in AWS is unknown because it could not be read."},
		"tags not readable":     {with(quiet(), untold, unreadable, func(in *distribution.Input) { in.Memory.ID = "" }), chain.Synced, "The state of the distribution in AWS is unknown because it could not be read."},
		"deleted outside":       {with(quiet(), absent), chain.Synced, "The distribution was deleted outside of Kubernetes."},
		"drift, left":           {with(quiet(), drifted, drift(resource.DriftReport)), chain.Synced, "Changed outside of Kubernetes and not reverted (driftPolicy report): comment."},
		"drift, inherited":      {with(quiet(), drifted, inherited), chain.Synced, "Not changed on the adopted distribution until the spec changes: comment."},
		"drift, refused":        {with(quiet(), drifted, refused(fault.Denied)), chain.Synced, "Changed outside of Kubernetes: comment."},
		"being deleted":         {dying(), chain.Synced, "The object is being deleted."},
		"being disabled":        {dying(), chain.Ready, "The distribution is being disabled."},
		"going":                 {with(dying(), disabled), chain.Ready, "The distribution is being deleted."},
		"staying":               {with(dying(), retain), chain.Ready, "The object is being deleted. The distribution stays in AWS."},
		"a paused deletion":     {with(dying(), paused), chain.Ready, "The deletion is on hold. The operator changes nothing while the object is paused."},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(test.want, message(conclude(test.in), test.of)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// The generation counts as applied once AWS equals it, or has accepted it, and not before.
func TestAppliedGeneration(t *testing.T) {
	accepted := func(in *distribution.Input) {
		in.Attempts.AcceptedFor, in.Attempts.Accepted = in.Generation, resource.WroteConfig
	}
	for name, test := range map[string]struct {
		in   distribution.Input
		want int64
	}{
		"equal":                                 {with(quiet(), edited), 3},
		"different":                             {with(quiet(), drifted, edited), 2},
		"different, though AWS accepted it":     {with(quiet(), drifted, edited, accepted), 3},
		"different, and left as it was adopted": {with(quiet(), drifted, edited, inherited), 3},
		"equal, with tags that were not read":   {with(quiet(), edited, untold), 2},
		"equal but for the tags":                {with(quiet(), edited, tagged(me.Tags())), 2},
		"equal, being deleted":                  {dying(), 2},
		"of what is not ours":                   {with(quiet(), edited, taggedFor(other), freshTags), 2},
		"of what is only to be made again":      {with(quiet(), absent), 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := conclude(test.in)
			if r.AppliedGeneration != test.want {
				t.Errorf("applied generation %d, want %d", r.AppliedGeneration, test.want)
			}
		})
	}
}

// Keys are remembered until their tags are gone: only what is known to be ours is ever removed.
func TestAppliedTagKeys(t *testing.T) {
	two := func(in *distribution.Input) { in.Memory.AppliedTagKeys = []string{"old", "team"} }
	for name, test := range map[string]struct {
		in   distribution.Input
		want []string
	}{
		"a key whose tag is still there stays": {with(quiet(), two, tagged(merged(quiet().World.Tags, map[string]string{"old": "x"}))), []string{"old", "team"}},
		"so does one while another tag is still to be set": {
			with(quiet(), two, tagged(merged(me.Tags(), map[string]string{"old": "x"}))), []string{"old", "team"},
		},
		"a new key is remembered before its tag is set": {
			with(quiet(), edited, tagged(me.Tags()), func(in *distribution.Input) { in.Memory.AppliedTagKeys = nil }), []string{"team"},
		},
		"a new key is remembered before an old one is gone": {
			with(quiet(), func(in *distribution.Input) { in.Memory.AppliedTagKeys = []string{"old"} }, tagged(merged(quiet().World.Tags, map[string]string{"old": "x"}))),
			[]string{"old", "team"},
		},
		"a key whose tag is gone is dropped":    {with(quiet(), two), []string{"team"}},
		"unread tags change nothing":            {with(quiet(), two, untold), []string{"old", "team"}},
		"foreign tags change nothing":           {with(quiet(), two, taggedFor(other), freshTags), []string{"old", "team"}},
		"what was lost takes no keys with it":   {with(quiet(), two, absent), []string{"old", "team"}},
		"a new key is remembered once it is on": {with(quiet(), func(in *distribution.Input) { in.Memory.AppliedTagKeys = nil }), []string{"team"}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(test.want, conclude(test.in).AppliedTagKeys); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// A lost resource is forgotten, and the next one gets another caller reference.
func TestALostResourceIsForgotten(t *testing.T) {
	usedUp := with(unborn(), absent, marked(time.Minute), refused(fault.Exists), failing(resource.ReasonCreating, now.Add(-resource.GracePeriod), now.Add(-time.Minute)))
	for name, in := range map[string]distribution.Input{"deleted outside": with(quiet(), absent), "a used reference": usedUp} {
		t.Run(name, func(t *testing.T) {
			in.Memory.Creations = 4
			r := conclude(in)
			if !r.Forget || r.Creations != 5 || r.Resource != nil || r.Failure != nil {
				t.Errorf("got %+v, want it to be forgotten, and the 5th creation to come", r)
			}
		})
	}
	if r := conclude(with(quiet(), drifted, func(in *distribution.Input) { in.Memory.Creations = 4 })); r.Forget || r.Creations != 4 {
		t.Errorf("got %+v, want what is there to be remembered", r)
	}
}

// The step of a deletion is that of the world that was read, and its time that of its beginning.
func TestDeletionProgress(t *testing.T) {
	started := func(step distribution.DeletionStep) *distribution.Progress {
		return &distribution.Progress{Step: step, Since: now}
	}
	stays := func(step distribution.DeletionStep) *distribution.Progress {
		return &distribution.Progress{Step: step, Since: now.Add(-30 * time.Second)}
	}
	unread := func(in *distribution.Input) { in.World.Fresh = false }
	for name, test := range map[string]struct {
		in   distribution.Input
		want *distribution.Progress
	}{
		"what lives has none":                          {quiet(), nil},
		"tenants come first":                           {with(dying(), usedBy(1, false)), started(distribution.StepInUse)},
		"then it is disabled":                          {with(dying(), at(distribution.StepInUse)), started(distribution.StepDisabling)},
		"which takes as long as it takes":              {with(dying(), at(distribution.StepDisabling)), stays(distribution.StepDisabling)},
		"then that is deployed":                        {with(dying(), disabled, inProgress, at(distribution.StepDisabling)), started(distribution.StepSettling)},
		"then it is deleted":                           {with(dying(), disabled, at(distribution.StepSettling)), started(distribution.StepDeleting)},
		"what is not shown any more is at that still":  {with(dying(), absent, marked(time.Minute), at(distribution.StepDeleting)), stays(distribution.StepDeleting)},
		"a person who enables it takes it back a step": {with(dying(), at(distribution.StepSettling)), started(distribution.StepDisabling)},
		"what was not read moves nothing":              {with(dying(), unread, at(distribution.StepDisabling)), stays(distribution.StepDisabling)},
		"nor starts anything":                          {with(dying(), unread), nil},
		"a paused deletion stays where it is":          {with(dying(), unread, paused, at(distribution.StepSettling)), stays(distribution.StepSettling)},
		"an absence in another account is none":        {with(dying(), absent, func(in *distribution.Input) { in.World.Account = "444455556666" }), nil},
		"what is kept is never disabled":               {with(dying(), retain, at(distribution.StepDisabling)), nil},
		"nor the default connection group":             {with(dying(), isDefault), nil},
		"nor what is not ours":                         {with(dying(), taggedFor(other)), nil},
		"nor what has just been released":              {with(dying(), retain, tagged(nil)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(test.want, conclude(test.in).Deletion); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// An error that ends a pass before its decision was carried out must not change the other conditions.
func TestConcludeAfterAnError(t *testing.T) {
	throttled := &fault.Error{Kind: fault.Throttled, Operation: "CreateDistribution", RetryAfter: time.Second}
	queued := &fault.Error{Kind: fault.Throttled, Operation: "CreateDistribution", RetryAfter: time.Minute}
	reset := &fault.Error{Kind: fault.Transient, Operation: "GetDistribution", Message: "reset"}
	transients := func(n int) func(*distribution.Input) {
		return func(in *distribution.Input) { in.Attempts.Transients = n }
	}
	denied := func(in *distribution.Input) {
		failing(resource.ReasonAccessDenied, now.Add(-time.Hour), now)(in)
		at(distribution.StepDisabling)(in)
		in.Memory.Conditions[chain.Ready] = chain.Condition{Type: chain.Ready, Reason: resource.ReasonAccessDenied, Generation: in.Generation}
		in.Memory.Conditions[chain.Synced] = chain.Condition{Type: chain.Synced, Reason: resource.ReasonUpdatePending, Generation: in.Generation}
	}
	for name, test := range map[string]struct {
		in   distribution.Input
		err  error
		want map[chain.ConditionType]string
	}{
		"a throttle leaves what is ready ready":         {with(quiet(), drifted), throttled, map[chain.ConditionType]string{chain.Ready: "true/Deployed", chain.Synced: "true/InSync"}},
		"a new object whose turn is near says nothing":  {unborn(), throttled, map[chain.ConditionType]string{}},
		"one that has to wait for its turn is reported": {unborn(), queued, map[chain.ConditionType]string{chain.Ready: "false/Creating"}},
		"what Kubernetes refuses is not said of AWS":    {with(unborn(), transients(2)), errors.New("storing the status: etcd is busy"), map[chain.ConditionType]string{}},
		"one failure of a new object is no news":        {with(unborn(), transients(1)), reset, map[chain.ConditionType]string{}},
		"two are":                                       {with(unborn(), transients(2)), reset, map[chain.ConditionType]string{chain.Ready: "false/AWSUnavailable"}},
		"failures do not shake what was ready and in sync": {
			with(quiet(), transients(5)), reset, map[chain.ConditionType]string{chain.Ready: "true/Deployed", chain.Synced: "true/InSync"},
		},
		"they are reported when a change waits for them": {
			with(quiet(), edited, transients(2)), reset, map[chain.ConditionType]string{chain.Ready: "false/AWSUnavailable", chain.Synced: "true/InSync"},
		},
		"a deletion that stalls is always reported": {
			with(dying(), denied, deletedFor(time.Hour)), throttled,
			map[chain.ConditionType]string{chain.Ready: "false/AccessDenied", chain.Synced: "false/UpdatePending", distribution.DeletionStalled: "true/DeletionTimeout"},
		},
		"what was said of a step is not said of the next": {
			with(dying(), denied, disabled), throttled, map[chain.ConditionType]string{chain.Ready: "false/Deleting", chain.Synced: "false/UpdatePending"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := distribution.Conclude(test.in, distribution.Outcome{Decision: distribution.Decide(test.in), Err: test.err})
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
	exists := with(unborn(), absent, marked(time.Minute), refused(fault.Exists))
	first := func(reason chain.Reason, generation int64) *resource.Failure {
		return &resource.Failure{Reason: reason, Generation: generation, Since: now}
	}
	throttled := &fault.Error{Kind: fault.Throttled, Operation: "DeleteDistribution"}
	for name, test := range map[string]struct {
		in   distribution.Input
		err  error
		want *resource.Failure
	}{
		"a first failure starts now":                     {in: blocked, want: first(resource.ReasonAdoptionRequired, 2)},
		"another reason does not restart it":             {in: with(blocked, failing(resource.ReasonAWSError, since, now)), want: &resource.Failure{Reason: resource.ReasonAdoptionRequired, Generation: 2, Since: since}},
		"another generation does":                        {in: with(blocked, failing(resource.ReasonAWSError, since, now), edited), want: first(resource.ReasonAdoptionRequired, 3)},
		"so does a reference that AWS first calls used":  {in: with(exists, failing(resource.ReasonAccessDenied, since, since)), want: first(resource.ReasonCreating, 1)},
		"what works again is forgotten":                  {in: with(quiet(), failing(resource.ReasonAWSError, since, now))},
		"waiting for the world is not a failure":         {in: with(quiet(), inProgress)},
		"nor are tenants":                                {in: with(dying(), usedBy(1, false))},
		"a correction that has not stayed for long yet":  {in: with(quiet(), failing(resource.ReasonDriftNotConverging, since, now), func(in *distribution.Input) { in.Attempts.LastCorrection = now.Add(-time.Minute) }), want: &resource.Failure{Reason: resource.ReasonDriftNotConverging, Generation: 2, Since: since}},
		"a correction that has":                          {in: with(quiet(), failing(resource.ReasonDriftNotConverging, since, now), func(in *distribution.Input) { in.Attempts.LastCorrection = now.Add(-resource.StableFor) })},
		"an error leaves the memory as it is":            {in: with(dying(), failing(resource.ReasonAWSError, since, since), at(distribution.StepDisabling)), err: throttled, want: &resource.Failure{Reason: resource.ReasonAWSError, Generation: 3, Since: since}},
		"but not that of a step which has been got over": {in: with(dying(), disabled, failing(resource.ReasonAWSError, since, since), at(distribution.StepDisabling)), err: throttled},
	} {
		t.Run(name, func(t *testing.T) {
			r := distribution.Conclude(test.in, distribution.Outcome{Decision: distribution.Decide(test.in), Err: test.err})
			if d := cmp.Diff(test.want, r.Failure); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// writtenBack is the next pass over the same world, after the report was stored.
func writtenBack(in distribution.Input, out distribution.Outcome, r distribution.Report) distribution.Input {
	m := distribution.Memory{
		Memory: resource.Memory{
			ID: in.Memory.ID, Account: in.Memory.Account, AppliedGeneration: r.AppliedGeneration, AppliedTagKeys: r.AppliedTagKeys,
			Failure: r.Failure, Conditions: map[chain.ConditionType]chain.Condition{},
		},
		Creations: r.Creations, Deletion: r.Deletion,
	}
	switch {
	case r.Resource != nil:
		m.ID, m.Account = r.Resource.ID, resource.AccountOf(r.Resource.ARN)
	case r.Forget:
		m.ID = ""
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

// The same world is never reported in two ways: that would be a write for nothing with every pass.
func TestConcludingTwiceSaysTheSame(t *testing.T) {
	starts := map[string]func() distribution.Input{"quiet": quiet, "unborn": unborn, "dying": dying}
	changes := map[string]func(*distribution.Input){
		"edited": edited, "drifted": drifted, "disabled": disabled, "in progress": inProgress, "absent": absent, "default": isDefault,
		"elsewhere": elsewhere, "unread tags": untold, "old tags": oldTags, "fresh tags": freshTags, "untagged": tagged(nil),
		"foreign": taggedFor(other), "former": taggedFor(former), "lost tag": tagged(me.Tags()), "alive": ownerAlive, "paused": paused,
		"retain": retain, "adopting": adopting, "inherited": inherited, "IfUnowned": adoption(resource.AdoptIfUnowned), "Force": adoption(resource.AdoptForce),
		"report": drift(resource.DriftReport), "suspend": drift(resource.DriftSuspend), "disabling": asked(false), "unreadable": unreadable,
		"exists": refused(fault.Exists), "invalid": refused(fault.Invalid), "denied": refused(fault.Denied), "not disabled": refused(fault.NotDisabled),
		"in use": refused(fault.InUse), "failing": failing(resource.ReasonAWSError, now.Add(-time.Hour), now.Add(-time.Hour)),
		"waiting": failing(resource.ReasonAWSError, now.Add(-time.Hour), now), "creating": failing(resource.ReasonCreating, now.Add(-time.Hour), now.Add(-time.Hour)),
		"marked": marked(time.Minute), "worn": worn, "used": usedBy(2, false, "shop/a"), "unasked": unasked, "sent delete": sentDelete(30 * time.Second),
		"settling": at(distribution.StepSettling), "deleting": at(distribution.StepDeleting),
		"late": func(in *distribution.Input) {
			if !in.DeletedAt.IsZero() {
				deletedFor(time.Hour)(in)
			}
		},
	}
	names := rapid.SampledFrom(sortedKeys(changes))
	rapid.Check(t, func(t *rapid.T) {
		in := with(starts[rapid.SampledFrom(sortedKeys(starts)).Draw(t, "start")]())
		for _, name := range rapid.SliceOfNDistinct(names, 0, 6, rapid.ID[string]).Draw(t, "changes") {
			changes[name](&in)
		}
		out := distribution.Outcome{Decision: distribution.Decide(in)}
		if rest, ok := out.Decision.Step.(distribution.Rest); !ok || rest.Lost {
			// A pass that looks for more, or writes, continues, and then the world has changed.
			return
		}
		if p := out.Decision.Problem; p != nil && p.Stuck {
			in.Attempts.Last = in.Now
		}
		first := distribution.Conclude(in, out)
		if first.AppliedGeneration != in.Memory.AppliedGeneration {
			// A difference from a generation that was applied is another matter than one from a new generation.
			in = writtenBack(in, out, first)
			out.Decision = distribution.Decide(in)
			if out.Decision.Step.Effect() != chain.Rest {
				return
			}
			first = distribution.Conclude(in, out)
		}
		again := writtenBack(in, out, first)
		outAgain := distribution.Outcome{Decision: distribution.Decide(again)}
		if outAgain.Decision.Step.Effect() != chain.Rest {
			return
		}
		second := distribution.Conclude(again, outAgain)
		if d := cmp.Diff(first, second, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%s %+v, then %s %+v (-first +second):\n%s",
				out.Decision.Rule, out.Decision.Step, outAgain.Decision.Rule, outAgain.Decision.Step, d)
		}
		if events := distribution.Events(again, outAgain, second); len(events) > 0 {
			t.Fatalf("the second pass publishes %+v", events)
		}
	})
}
