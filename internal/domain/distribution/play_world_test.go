package distribution_test

import (
	"maps"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/truth"
)

// ending is how a pass is cut off.
type ending int

const (
	// stored is a pass that ends as it should.
	stored ending = iota
	// beforeTheCall ends the process once the object was held, and before AWS was called.
	beforeTheCall
	// afterTheCall ends it when AWS has answered, and before status is stored.
	afterTheCall
	// unstored is a status that the API server does not take. The process continues.
	unstored
)

// play is a small world with one object, played by hand: AWS, and an operator that consists only of this package's
// decisions. The object's comment is everything that the spec asks for in addition to the input.
type play struct {
	aws  playedAWS
	fail func(format string, args ...any)

	// The object. in carries what is stored: the object's metadata, spec and status.
	in      distribution.Input
	comment string
	gone    bool
	// left is what the object left behind when it went.
	left string

	// The process.
	attempts resource.Tries
	arn      string
	tags     map[string]string
	tagsRead time.Time

	// The pass.
	seen *playedResource
	// readNow and tagsNow are what was read in this very pass, the resource and its tags.
	readNow *playedResource
	tagsNow map[string]string
	ends    ending
}

func newPlay(named bool, fail func(string, ...any)) *play {
	p := &play{fail: fail, comment: "first", aws: playedAWS{now: now, named: named, used: map[string]bool{}}}
	words := ofDistributions()
	if named {
		words = ofGroups()
	}
	p.in = distribution.Input{
		Object: resource.Object{Me: me, Generation: 1}, Desired: distribution.Desired{Words: words, Enabled: true, Numbered: !named, Tags: map[string]string{"team": "web"}},
		Policy: distribution.Policy{Policy: resource.Policy{Drift: resource.DriftEnforce, Adoption: resource.AdoptNever}, Timeout: 30 * time.Minute},
	}
	return p
}

func (p *play) edit(how func()) {
	how()
	p.in.Generation++
}

func (p *play) restart() {
	p.attempts, p.arn, p.tags, p.tagsRead = resource.Tries{}, "", nil, time.Time{}
}

// askToGo deletes the object: at once where no finalizer holds it.
func (p *play) askToGo() {
	if p.gone || !p.in.DeletedAt.IsZero() {
		return
	}
	p.in.DeletedAt = p.aws.now.Truncate(time.Second)
	p.in.Generation++
	if !p.in.HasFinalizer {
		p.goes("")
	}
}

// goes lets the object go. Nothing of ours may be left behind it.
func (p *play) goes(left string) {
	p.gone, p.left = true, left
	for _, r := range p.aws.resources {
		if r.alive() && r.ours() {
			p.fail("the object is released, and %s exists and is ours", r.ID)
		}
	}
}

// pass is one reconcile, as the driver runs it. It reports the rule that ended it.
func (p *play) pass(ends ending) string {
	if p.gone {
		return "gone"
	}
	p.seen, p.readNow, p.tagsNow, p.ends = nil, nil, nil, ends
	in := p.in
	in.Now, in.Attempts = p.aws.now, p.attempts
	if in.Memory.Failure != nil && in.Attempts.Last.IsZero() {
		in.Attempts.Last = in.Now
	}
	out, wrote := distribution.Outcome{}, false
	for range 16 {
		out.Decision = distribution.Decide(in)
		switch effect := out.Decision.Step.Effect(); effect {
		case chain.Rest:
			return p.conclude(in, out)
		case chain.Release:
			if letGo, ok := out.Decision.Step.(distribution.LetGo); ok {
				p.goes(letGo.Left)
			}
			return out.Decision.Rule
		case chain.Write:
			if wrote {
				return p.conclude(in, out)
			}
			wrote = true
		case chain.Read, chain.Apply:
		}
		died, err := p.perform(&in, &out)
		if died {
			p.restart()
			return out.Decision.Rule
		}
		if err != nil {
			out.Err = err
			return p.conclude(in, out)
		}
	}
	p.fail("a pass finds no end: %+v", out.Decision)
	return ""
}

// conclude stores the report, as the controller and the driver do.
func (p *play) conclude(in distribution.Input, out distribution.Outcome) string {
	noteEnd(&in, out)
	r := distribution.Conclude(in, out)
	if text := truth.Contradiction(r.Conditions); text != "" {
		p.fail("%s", text)
	}
	distribution.Events(in, out, r)
	switch {
	case p.ends == afterTheCall || p.ends == beforeTheCall:
		p.restart()
		return out.Decision.Rule
	case p.ends == unstored, fault.Is(out.Err, fault.Conflict, fault.NotFound):
		p.attempts = in.Attempts
		return out.Decision.Rule
	}
	p.attempts = in.Attempts
	p.truthful(in, out, r)
	p.in.Memory = remembered(p.in.Memory, r)
	if p.aws.named {
		// A group has no caller references to count.
		p.in.Memory.Creations = 0
	}
	return out.Decision.Rule
}

// remembered is what status remembers of a report. It has whole seconds.
func remembered(m distribution.Memory, r distribution.Report) distribution.Memory {
	switch {
	case r.Resource != nil:
		m.ID, m.Account = r.Resource.ID, resource.AccountOf(r.Resource.ARN)
	case r.Forget:
		m.ID = ""
	}
	m.AppliedGeneration, m.AppliedTagKeys, m.Creations, m.Deletion, m.Failure = r.AppliedGeneration, r.AppliedTagKeys, r.Creations, r.Deletion, nil
	if f := r.Failure; f != nil {
		m.Failure = &resource.Failure{Reason: f.Reason, Generation: f.Generation, Since: f.Since.Truncate(time.Second)}
	}
	m.Conditions = map[chain.ConditionType]chain.Condition{}
	for _, c := range r.Conditions {
		m.Conditions[c.Type] = c
	}
	return m
}

// noteEnd remembers how the pass ended, for the next one.
func noteEnd(in *distribution.Input, out distribution.Outcome) {
	a := &in.Attempts
	switch {
	case fault.Is(out.Err, fault.Transient):
		a.Transients++
	case fault.Is(out.Err, fault.Conflict, fault.NotFound):
		a.Conflicts++
	case out.Err == nil:
		a.Transients, a.Conflicts = 0, 0
	}
	a.Asked = a.Asked || in.Nudged
	if problem := out.Decision.Problem; problem != nil && problem.Stuck && out.Err == nil {
		a.Last, a.Asked = in.Now, false
	}
	if in.Memory.Failure == nil {
		a.Asked = false
	}
}

// truthful checks what a pass that came to its end says against what it has read.
func (p *play) truthful(in distribution.Input, out distribution.Outcome, r distribution.Report) {
	if d := r.Deletion; d != nil && p.readNow != nil {
		p.trueStep(in, d.Step)
	}
	if in.DeletedAt.IsZero() != (r.Deletion == nil) && p.readNow != nil && p.seen != nil && !in.Policy.Retain && !p.seen.Default && p.seen.ours() {
		p.fail("deletion %v of an object that was deleted at %s", r.Deletion, in.DeletedAt)
	}
	if rest, ok := out.Decision.Step.(distribution.Rest); ok && rest.KeepConditions || out.Err != nil {
		return
	}
	for _, c := range r.Conditions {
		switch s := p.seen; {
		case !c.Status:
		case c.Type == chain.Ready:
			if s == nil || s.Status != distribution.Deployed || !s.Enabled && in.Desired.Enabled || ownership.Relate(me, p.tags) != ownership.Ours {
				p.fail("Ready says %q of %+v", c.Message, s)
			}
		case c.Type == chain.Synced:
			if s == nil || len(differences(p.comment, in.Desired.Enabled, s)) > 0 && in.Policy.Drift != resource.DriftSuspend {
				p.fail("Synced says %q of %+v", c.Message, s)
			}
		}
	}
}

func (p *play) trueStep(in distribution.Input, at distribution.DeletionStep) {
	s := p.seen
	ok := false
	switch at {
	case distribution.StepInUse:
		ok = s != nil && in.World.Dependents != nil && in.World.Dependents.Count > 0
	case distribution.StepDisabling:
		ok = s != nil && s.Enabled
	case distribution.StepSettling:
		ok = s != nil && !s.Enabled && s.Status != distribution.Deployed
	case distribution.StepDeleting:
		ok = s == nil || !s.Enabled && s.Status == distribution.Deployed
	}
	if !ok {
		p.fail("the deletion is reported to be at %s, and AWS shows %+v", at, s)
	}
}

// safe checks what has to be true at any moment.
func (p *play) safe() {
	owned := 0
	for _, r := range p.aws.resources {
		if r.alive() && r.ours() {
			owned++
		}
	}
	if owned > 1 {
		p.fail("%d resources have one owner", owned)
	}
	made := 0
	for _, r := range p.aws.resources {
		if r.alive() && r.reference != "" {
			made++
		}
	}
	if made > 1 {
		p.fail("%d resources were made for one object", made)
	}
	if owned > 0 && !p.in.HasFinalizer && !p.gone {
		p.fail("a resource stands behind an object without our finalizer")
	}
}

// remembers reports whether the process knows tags of that resource.
func (p *play) remembers(arn string) bool { return p.arn == arn && p.tags != nil }

func (p *play) tagged(in *distribution.Input, tags map[string]string) {
	w := &in.World
	w.Tags, w.TagsKnown, w.TagsDue, w.TagsFresh, w.TagsRead = tags, true, false, true, p.aws.now
	p.arn, p.tags, p.tagsRead, p.tagsNow = w.Resource.ARN, maps.Clone(tags), p.aws.now, tags
}

// found takes over what was read, or what a write answered with.
func (p *play) found(in *distribution.Input, r *playedResource) {
	w, o := &in.World, r.Observed
	if w.Resource == nil || w.Resource.ARN != o.ARN {
		w.Tags, w.TagsKnown, w.TagsRead = nil, false, time.Time{}
		if p.remembers(o.ARN) {
			w.Tags, w.TagsKnown, w.TagsRead = p.tags, true, p.tagsRead
			w.TagsDue = in.Now.Sub(w.TagsRead) > 24*time.Hour
		}
	}
	p.seen, w.Knowledge, w.Resource = r, resource.Whole, &o
	w.Differences = differences(p.comment, in.Desired.Enabled, r)
}
