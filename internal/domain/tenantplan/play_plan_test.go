package tenantplan_test

import (
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantplan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/plans"
)

// pass is one reconcile of a plan, as the driver and the controller run it.
type pass struct {
	*world

	p    *playedPlan
	in   tenantplan.Input
	out  tenantplan.Outcome
	ends ending
	// disturbed says that people have changed things while the pass ran.
	disturbed bool
}

func (w *world) planPass(plan *playedPlan, ends ending) (rule string) {
	if plan.deleting && !plan.held {
		w.planGoes(plan)
		return "gone"
	}
	p := &pass{world: w, p: plan, ends: ends, disturbed: w.api.between != nil}
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(died); !ok {
				panic(r)
			}
			w.restart()
			rule = p.out.Decision.Rule
		}
	}()
	p.observe()
	for range 16 {
		p.out.Decision = tenantplan.Decide(p.in)
		switch p.out.Decision.Step.Effect() {
		case chain.Rest:
			p.conclude()
			return p.out.Decision.Rule
		case chain.Release:
			w.planGoes(plan)
			return p.out.Decision.Rule
		case chain.Write, chain.Read, chain.Apply:
		}
		if p.out.Err = p.perform(); p.out.Err != nil {
			p.conclude()
			return p.out.Decision.Rule
		}
	}
	w.fail("a pass finds no end: %+v", p.out.Decision)
	return ""
}

// planGoes deletes a plan. No tenant may have it any more, and none of its objects may be left.
func (w *world) planGoes(played *playedPlan) {
	for _, t := range w.tenants {
		if played.held && (t.Plan == played.name || t.memory.Plan == played.name) {
			w.fail("the plan %s is released, and %s has it", played.name, t.Name)
		}
		if t.memory.Plan == played.name && t.memory.PlanUID == played.uid {
			w.fail("the plan %s never had a finalizer, and %s has it", played.name, t.Name)
		}
	}
	for _, o := range w.api.objects {
		if played.held && o.Labels[plan.LabelPlanUID] == played.uid && !w.api.missing[o.Kind] && w.hung == nil {
			w.fail("the plan %s is released, and %s exists", played.name, o.Ref())
		}
	}
	delete(w.plans, played.name)
	delete(w.plansKnown, played.uid)
	delete(w.attempts, played.uid)
}

// kinds are those of the constraints that the plan says, or once said.
func (p *pass) kinds() (wanted, all []string) {
	for _, c := range p.p.spec.Constraints {
		wanted = append(wanted, c.Kind)
	}
	all = slices.Concat(wanted, p.p.known)
	slices.Sort(all)
	return wanted, slices.Compact(all)
}

func (p *pass) observe() {
	played, k := p.p, p.current(p.p)
	wanted, all := p.kinds()
	p.in = tenantplan.Input{
		Now: p.now, Plan: k.plan, Invalid: k.invalid, Tried: k.asked, Accepted: k.tried, Released: map[string]bool{}, Name: played.name, UID: played.uid, Generation: played.generation,
		Deleting: played.deleting, HasFinalizer: played.held && slices.Equal(played.known, all), Limits: played.limits,
		Attempts: p.attemptsOf(played.uid), Unreadable: map[plan.Kind]*fault.Error{},
	}
	for uid := range k.released {
		p.in.Released[uid] = true
	}
	for _, name := range sortedKeys(p.tenants) {
		if t := p.tenants[name]; t.Plan == played.name || t.memory.Plan == played.name {
			p.in.Followers = append(p.in.Followers, p.follower(t, played))
		}
	}
	for _, name := range all {
		kind := plan.ConstraintKind(name)
		switch {
		case p.api.missing[kind]:
			if slices.Contains(wanted, name) {
				p.in.Missing = append(p.in.Missing, kind)
			}
		case p.api.unreadable[kind]:
			p.in.Unreadable[kind] = plans.Refusal(fault.Transient, "the cache is broken")
		default:
			for _, l := range p.cached().list(kind, "") {
				if p.in.Owns(l) {
					p.in.Constraints = append(p.in.Constraints, l)
				}
			}
		}
	}
}

func (p *pass) perform() error {
	switch s := p.out.Decision.Step.(type) {
	case tenantplan.EnsureFinalizer:
		if p.api.writes == fault.Throttled || p.api.writes == fault.Transient {
			return plans.Refusal(p.api.writes, "no writes now")
		}
		_, p.p.known = p.kinds()
		p.p.held, p.in.HasFinalizer = true, true
	case tenantplan.Try:
		return p.try(s)
	case tenantplan.Release:
		p.mayRelease(s)
		for _, uid := range s.UIDs {
			p.current(p.p).released[uid], p.in.Released[uid] = true, true
		}
	case tenantplan.Apply:
		p.apply(s)
	case tenantplan.LetGo, tenantplan.Rest:
	}
	return nil
}

func (p *pass) try(s tenantplan.Try) error {
	k := p.current(p.p)
	for _, o := range s.Objects {
		switch answer := legal(&o); {
		case p.api.writes == fault.Throttled || p.api.writes == fault.Transient:
			return plans.Refusal(p.api.writes, "no writes now")
		case answer != nil:
			k.invalid = plan.RefusalOf(o, answer)
			p.in.Invalid = k.invalid
			return nil
		}
	}
	k.tried, k.asked = true, true
	p.in.Tried = true
	return nil
}

func (p *pass) mayRelease(s tenantplan.Release) {
	if k := p.current(p.p); k.plan == nil || k.invalid != "" {
		p.fail("a roll-out of what can't be: %s", k.invalid)
	}
	for _, uid := range s.UIDs {
		if p.in.Released[uid] {
			p.fail("%s is released twice", uid)
		}
	}
}

func (p *pass) apply(a tenantplan.Apply) {
	if !p.p.held || len(a.Create)+len(a.Update)+len(a.Prune) == 0 {
		p.fail("an apply of %+v by a plan that is held: %t", a, p.p.held)
	}
	for _, o := range a.Create {
		live, err := p.api.create(o)
		if fault.Is(err, fault.Exists) {
			if live, err = p.api.read(o.Kind, "", o.Name); err == nil {
				if !p.in.Owns(live) {
					err = plan.Foreign(o)
				} else {
					live, err = p.api.apply(o, live.UID, nil)
				}
			}
		}
		p.settled(o, live, err)
	}
	for _, u := range a.Update {
		p.isPlans(u.Object, u.UID)
		live, err := p.api.apply(u.Object, u.UID, nil)
		p.settled(u.Object, live, err)
	}
	for _, l := range a.Prune {
		p.isPlans(l.Object, l.UID)
		err := p.api.delete(l)
		if err == nil {
			l.Deleting = true
			p.in.Constraints = replaced(p.in.Constraints, l)
		}
		p.in.Attempts.Note(l.Key(), "", p.now, err)
		p.wrote()
	}
}

func (p *pass) wrote() {
	if p.ends.after--; p.ends.after == -1 {
		panic(died{})
	}
}

// isPlans checks that what is changed or deleted is the plan's.
func (p *pass) isPlans(o plan.Object, uid string) {
	there := p.api.objects[placeOf(&o)]
	if there != nil && there.UID == uid && !p.in.Owns(there.Live) && !p.disturbed && p.hung == nil {
		p.fail("%s is changed, and is not the plan's", o.Ref())
	}
}

func (p *pass) settled(o plan.Object, live plan.Live, err error) {
	if err == nil {
		p.in.Constraints = replaced(p.in.Constraints, live)
		if !live.UpToDate(o) {
			err = plan.Unsettled(o)
		}
	}
	p.in.Attempts.Note(o.Key(), o.Hash(), p.now, err)
	p.wrote()
}

func (p *pass) conclude() {
	r := tenantplan.Conclude(p.in, p.out)
	if p.ends.unstored {
		return
	}
	if !p.disturbed && p.hung == nil {
		p.truthful(r)
	}
	p.p.conditions = stored(p.p.conditions, r.Conditions)
}

// truthful checks what a report says against the cluster.
func (p *pass) truthful(r tenantplan.Report) {
	for _, c := range r.Conditions {
		if c.Message == "" || c.Reason == "" {
			p.fail("a condition without words: %+v", c)
		}
		switch {
		case !c.Status:
		case c.Type == plan.ConditionPolicyReady:
			p.arePlans(c)
		case c.Type == plan.ConditionReady:
			for _, other := range r.Conditions {
				if !other.Status {
					p.fail("Ready of %s is True, and %s is %s", p.p.name, other.Type, other.Reason)
				}
			}
		case c.Type == plan.ConditionRolledOut:
			for _, f := range p.in.Followers {
				if f.Named && f.Able && f.Generation != 0 && (f.Generation != p.p.generation || f.Failure != "") {
					p.fail("RolledOut of %s is True, and %+v", p.p.name, f)
				}
			}
		}
	}
}

// arePlans checks that the plan has all its constraints, and no more.
func (p *pass) arePlans(c chain.Condition) {
	want := map[string]bool{}
	for _, o := range plan.BuildPolicy(p.current(p.p).plan) {
		want[o.Key()] = true
		there := p.api.objects[placeOf(&o)]
		if there == nil || there.Deleting || there.Labels[plan.LabelPlanUID] != p.p.uid || !there.UpToDate(o.Marked()) {
			p.fail("%s of the plan %s is True (%s), and %s is %+v", c.Type, p.p.name, c.Message, o.Ref(), there)
		}
	}
	for _, o := range p.api.objects {
		managed := o.Labels[plan.LabelPlanUID] == p.p.uid && o.Labels[plan.LabelManagedBy] == plan.ManagedBy
		if managed && !o.Deleting && !want[o.Key()] && !p.p.deleting && !p.api.missing[o.Kind] && slices.Contains(p.p.known, o.Kind.Kind) {
			p.fail("%s of the plan %s is True, and there is %s", c.Type, p.p.name, o.Ref())
		}
	}
}
