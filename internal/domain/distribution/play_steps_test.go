package distribution_test

import (
	"maps"
	"strconv"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// perform carries a step out as the controller does. died means that the process ended in the middle.
func (p *play) perform(in *distribution.Input, out *distribution.Outcome) (died bool, err error) {
	s := out.Decision.Step
	if look, ok := s.(distribution.Look); ok {
		return false, kept(&in.World.Unreadable, p.look(in, look))
	}
	in.HasFinalizer, p.in.HasFinalizer = true, true
	if s.Effect() == chain.Apply {
		return false, nil
	}
	p.allowed(*in, s)
	p.announce(in, s)
	if p.ends == beforeTheCall {
		return true, nil
	}
	failure := p.write(in, s)
	if p.ends == afterTheCall {
		return true, nil
	}
	if failure == nil {
		out.Done = append(out.Done, s)
	}
	return false, kept(&in.World.Refused, failure)
}

// kept keeps a refusal, so that it is decided on; any other failure ends the pass.
func kept(refused **fault.Error, err *fault.Error) error {
	switch {
	case err == nil:
		return nil
	case resource.IsRefusal(err.Kind):
		*refused = err
		return nil
	}
	return err
}

func (p *play) look(in *distribution.Input, s distribution.Look) *fault.Error {
	switch s.At {
	case distribution.LookClaims, distribution.LookZones: // nothing is claimed or published in these plays
	case distribution.LookResource:
		return p.lookResource(in)
	case distribution.LookTags:
		tags, err := p.aws.listTags(in.World.Resource.ARN)
		if err != nil {
			return err
		}
		p.tagged(in, tags)
	case distribution.LookDependents:
		r, err := p.aws.readID(in.World.Resource.ID)
		if err != nil {
			return err
		}
		in.World.Dependents = &distribution.Dependents{Count: r.tenants}
	case distribution.LookAccount:
		in.World.Account = account
	case distribution.LookBudget:
		in.World.BudgetKnown = true // the plays have no budget
	}
	return nil
}

func (p *play) lookResource(in *distribution.Input) *fault.Error {
	r, err := p.locate(*in)
	switch {
	case fault.Is(asError(err), fault.NotFound):
		p.seen, p.readNow = nil, &playedResource{}
		in.World.Knowledge, in.World.Resource, in.World.Fresh, in.World.Differences = resource.Absent, nil, true, nil
		return nil
	case err != nil:
		return err
	}
	p.readNow = r
	p.found(in, r)
	in.World.Fresh = true
	return nil
}

func (p *play) locate(in distribution.Input) (*playedResource, *fault.Error) {
	id := in.Memory.ID
	if id == "" {
		id = in.Desired.Adopts
	}
	if id != "" {
		if r, err := p.aws.readID(id); err == nil || err.Kind != fault.NotFound {
			return r, err
		}
	}
	if in.Desired.Adopts != "" {
		return nil, failed(fault.NotFound)
	}
	since := in.CreateMark
	if since.IsZero() {
		since = now
	}
	return p.aws.find(since)
}

// asError keeps a nil error nil.
func asError(err *fault.Error) error {
	if err == nil {
		return nil
	}
	return err
}

// allowed checks a write against what was read before it.
func (p *play) allowed(in distribution.Input, s distribution.Step) {
	proven := p.tags != nil && p.aws.now.Sub(p.tagsRead) <= resource.ProofAge && ownership.Relate(me, p.tags) == ownership.Ours
	if in.Paused {
		p.fail("%T for a paused object", s)
	}
	switch s.(type) {
	case distribution.Create:
		if p.seen != nil {
			p.fail("a create although AWS shows %+v", p.seen)
		}
	case distribution.Adopt:
		if p.tagsNow == nil || !in.Policy.Adoption.Allows(ownership.Relate(me, p.tagsNow), false) {
			p.fail("an adoption of what is tagged %v under %s", p.tagsNow, in.Policy.Adoption)
		}
	case distribution.Disable, distribution.Delete:
		p.allowedToEnd(in, s)
	default:
		if !proven {
			p.fail("%T without a proof: %v, read at %s", s, p.tags, p.tagsRead)
		}
	}
}

// allowedToEnd checks what can't be taken back.
func (p *play) allowedToEnd(in distribution.Input, s distribution.Step) {
	d := in.World.Dependents
	_, deletes := s.(distribution.Delete)
	switch {
	case in.DeletedAt.IsZero() || in.Policy.Retain || p.seen.Default:
		p.fail("%T of what is to stay", s)
	case p.tagsNow == nil || ownership.Relate(me, p.tagsNow) != ownership.Ours:
		p.fail("%T without a proof of this pass: %v", s, p.tagsNow)
	case p.readNow == nil || p.readNow.ETag != p.seen.ETag:
		p.fail("%T of what was not read in this pass", s)
	case d != nil && d.Count > 0:
		p.fail("%T under %d tenants", s, d.Count)
	case deletes && (p.readNow.Enabled || p.readNow.Status != distribution.Deployed):
		p.fail("a delete of %+v", p.readNow)
	case !deletes && d == nil:
		p.fail("a disable without a look at the tenants")
	}
}

// announce stores in the object what has to be there before AWS is called.
func (p *play) announce(in *distribution.Input, s distribution.Step) {
	switch s.(type) {
	case distribution.Create:
		if p.aws.now.Sub(in.CreateMark) > 10*time.Second {
			in.CreateMark = p.aws.now.Truncate(time.Second)
		}
		p.in.CreateMark = in.CreateMark
	case distribution.Adopt:
		in.AdoptedGeneration, in.AdoptedID = in.Generation, in.World.Resource.ID
		p.in.AdoptedGeneration, p.in.AdoptedID = in.AdoptedGeneration, in.AdoptedID
	default:
	}
}

func (p *play) write(in *distribution.Input, s distribution.Step) *fault.Error {
	switch s := s.(type) {
	case distribution.Create:
		return p.create(in, s)
	case distribution.Adopt:
		if err := p.aws.retag(s.ARN, s.Tags, nil); err != nil {
			return err
		}
		p.tagged(in, ownership.Merge(in.World.Tags, me))
	case distribution.Update:
		r, err := p.aws.update(p.seen.ID, p.seen.ETag, p.comment, in.Desired.Enabled)
		if err != nil {
			return err
		}
		p.found(in, r)
		in.Attempts.Sent(in.Generation, resource.WroteConfig, p.aws.now)
	case distribution.Tag, distribution.Untag:
		return p.retag(in, s)
	case distribution.Disable:
		r, err := p.aws.disable(p.seen.ID, p.seen.ETag)
		if err != nil {
			return err
		}
		p.found(in, r)
	case distribution.Delete:
		if err := p.aws.delete(p.seen.ID, p.seen.ETag); err != nil && err.Kind != fault.NotFound {
			return err
		}
		in.Attempts.DeletedAt, in.World.Fresh = p.aws.now, false
	case distribution.Look, distribution.EnsureFinalizer, distribution.Claim, distribution.LetGo, distribution.Rest:
		p.fail("%T is not a write", s)
	}
	return nil
}

func (p *play) create(in *distribution.Input, s distribution.Create) *fault.Error {
	reference := me.UID
	if n := in.Memory.Creations; n > 0 {
		reference += "-" + strconv.Itoa(int(n))
	}
	r, err := p.aws.create(reference, p.comment, in.Desired.Enabled, s.Tags)
	if err != nil {
		return err
	}
	p.found(in, r)
	p.tagged(in, s.Tags)
	in.Attempts.Sent(in.Generation, resource.WroteConfig|resource.WroteTags, p.aws.now)
	in.Attempts.CreatedAt = p.aws.now
	return nil
}

func (p *play) retag(in *distribution.Input, s distribution.Step) *fault.Error {
	tags := maps.Clone(in.World.Tags)
	kind, arn := resource.WroteTags, ""
	var remove []string
	set := map[string]string{}
	switch s := s.(type) {
	case distribution.Tag:
		arn, set = s.ARN, s.Tags
	case distribution.Untag:
		arn, remove, kind = s.ARN, s.Keys, resource.RemovedTags
	default:
	}
	if err := p.aws.retag(arn, set, remove); err != nil {
		return err
	}
	maps.Copy(tags, set)
	for _, k := range remove {
		delete(tags, k)
	}
	in.Attempts.Sent(in.Generation, kind, p.aws.now)
	p.tagged(in, tags)
	return nil
}
