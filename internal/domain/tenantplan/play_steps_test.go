package tenantplan_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/plans"
)

// world is a small one, played by hand: an API server with people at it, and an operator that is made of nothing but this package's
// decisions.
type world struct {
	fail    func(format string, args ...any)
	api     *playedAPI
	now     time.Time
	plans   map[string]*playedPlan
	tenants map[string]*playedTenant

	// The process.
	plansKnown map[string]*knownPlan
	attempts   map[string]plan.Attempts
	// hung is what a cache without news shows; nil where it is up to date.
	hung map[string]*playedObject
}

func (w *world) restart() {
	w.plansKnown, w.attempts, w.hung = map[string]*knownPlan{}, map[string]plan.Attempts{}, nil
}

func (w *world) attemptsOf(uid string) plan.Attempts {
	if w.attempts[uid] == nil {
		w.attempts[uid] = plan.Attempts{}
	}
	return w.attempts[uid]
}

// cached is the API server as the cache shows it.
func (w *world) cached() *playedAPI {
	if w.hung == nil {
		return w.api
	}
	return &playedAPI{objects: w.hung}
}

// ending is how a pass is cut off.
type ending struct {
	// after is how many writes the process survives; it survives all if it is negative.
	after int
	// unstored is a status that the API server does not take. The process continues.
	unstored bool
}

var whole = ending{after: -1}

// died ends a process.
type died struct{}

// tenantPass is one reconcile of a tenant, as the driver and the controller run it.
type tenantPass struct {
	*world

	t    *playedTenant
	in   tenant.Input
	out  tenant.Outcome
	ends ending
	// readPast says that the namespace was read past the cache.
	readPast bool
	// disturbed says that people have changed things while the pass ran.
	disturbed bool
}

// tenantPass reports the rule that ended it.
func (w *world) tenantPass(t *playedTenant, ends ending) (rule string) {
	if t.deleting && !t.held {
		w.goes(t)
		return "gone"
	}
	p := &tenantPass{world: w, t: t, ends: ends, disturbed: w.api.between != nil}
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
	had := w.given(t)
	defer func() { w.lostNothing(p, had) }()
	for range 16 {
		p.out.Decision = tenant.Decide(p.in)
		switch p.out.Decision.Step.Effect() {
		case chain.Rest:
			p.conclude()
			return p.out.Decision.Rule
		case chain.Release:
			w.goes(t)
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

func (p *tenantPass) observe() {
	t := p.t
	reserved, err := plan.ParsePatterns([]string{"kube-*"})
	if err != nil {
		p.fail("%v", err)
	}
	p.in = tenant.Input{
		Now: p.now, Tenant: t.Tenant, Problem: t.Problem(plan.Namespaces{Reserved: reserved}, ""), Deleting: t.deleting, Protected: t.protected, Retain: t.retain, HasFinalizer: t.held,
		Memory: t.memory, Attempts: p.attemptsOf(t.UID),
	}
	if n := p.cached().namespace(t.Namespace); n != nil {
		live := n.seen()
		p.saw(&live)
	}
	p.in.World.Follow.Former = p.former(t.memory)
	if played := p.plans[t.Plan]; played != nil {
		k := p.current(played)
		p.in.World.Follow = tenant.Follow{
			Plan: k.plan, UID: played.uid, Generation: played.generation, Invalid: k.invalid, Tried: k.tried, Held: played.held, Going: played.deleting, Released: k.released[t.UID],
			Former: p.former(t.memory),
		}
		if c := plans.ConditionOf(played.conditions, plan.ConditionPolicyReady); c.Type != "" {
			p.in.World.Follow.Policy = &c
		}
	}
}

func (p *tenantPass) saw(n *plan.Live) {
	v := &p.in.World
	v.Namespace, v.Owner = n, ""
	if n == nil {
		return
	}
	if other := p.owner(n, p.t); other != nil {
		v.Owner = other.Name
	}
	if n.Labels[plan.LabelTenantUID] != p.t.UID || p.in.Deleting {
		return
	}
	v.Children, v.Missing, v.Unreadable = nil, nil, map[plan.Kind]*fault.Error{}
	for _, k := range plan.ChildKinds() {
		switch {
		case p.api.missing[k]:
			v.Missing = append(v.Missing, k)
		case p.api.unreadable[k]:
			v.Unreadable[k] = plans.Refusal(fault.Transient, "the cache is broken")
		default:
			for _, l := range p.cached().list(k, p.t.Namespace) {
				if l.Labels[plan.LabelTenantUID] != "" {
					v.Children = append(v.Children, l)
				}
			}
		}
	}
}

func (p *tenantPass) perform() error {
	switch s := p.out.Decision.Step.(type) {
	case tenant.Look:
		return p.look()
	case tenant.AskBudget:
		p.in.World.BudgetKnown = true // the plays have no budget
	case tenant.Try:
		return p.try(s)
	case tenant.CreateNamespace:
		p.mayWrite()
		p.mayCreateNamespace(s)
		live, err := p.api.create(s.Object)
		p.wrote()
		if fault.Is(err, fault.Exists) {
			return p.look()
		}
		if err == nil {
			p.in.Memory = s.Memory
		}
		return p.tookNamespace(live, err, s.Object, false)
	case tenant.ApplyNamespace:
		p.mayWrite()
		p.mayChangeNamespace(s)
		live, err := p.api.apply(s.Object, s.UID, s.Drop)
		p.wrote()
		return p.tookNamespace(live, err, s.Object, s.Adopts || p.t.deleting)
	case tenant.DeleteNamespace:
		p.mayWrite()
		p.mayDelete(s)
		err := p.api.delete(s.Live)
		p.wrote()
		if err != nil {
			return p.refused(err)
		}
		return p.look()
	case tenant.Apply:
		p.mayWrite()
		p.apply(s)
	case tenant.HoldPlan:
		p.mayWrite()
		played := p.plans[p.t.Plan]
		if played == nil || played.deleting || played.held {
			p.fail("the plan %s gets the finalizer: %+v", p.t.Plan, played)
		}
		played.held, p.in.World.Follow.Held = true, true
		p.wrote()
	case tenant.EnsureFinalizer:
		p.mayHold()
	case tenant.LetGo, tenant.Rest:
	}
	return nil
}

// wrote ends the process where it is to end.
func (p *tenantPass) wrote() {
	if p.ends.after--; p.ends.after == -1 {
		panic(died{})
	}
}

func (p *tenantPass) look() error {
	p.in.World.Looked = true
	live, err := p.api.read(plan.KindNamespace, "", p.t.Namespace)
	switch {
	case fault.Is(err, fault.NotFound):
		p.readPast = true
		p.saw(nil)
		return nil
	case err != nil:
		p.in.World.Looked = false
		return err
	}
	p.readPast = true
	p.saw(&live)
	return nil
}

func (p *tenantPass) tookNamespace(live plan.Live, err error, o plan.Object, lenient bool) error {
	switch {
	case err != nil:
		return p.refused(err)
	case !lenient && !live.UpToDate(o):
		return p.refused(plan.Unsettled(o))
	}
	p.saw(&live)
	return nil
}

func (p *tenantPass) refused(err error) error {
	if fault.Is(err, fault.Throttled, fault.Transient, fault.None) {
		return err
	}
	p.in.World.Refused = plan.Fault(err)
	return nil
}

func (p *tenantPass) try(s tenant.Try) error {
	k, f := p.current(p.plans[p.t.Plan]), &p.in.World.Follow
	for _, o := range s.Objects {
		if p.api.writes == fault.Throttled || p.api.writes == fault.Transient {
			return plans.Refusal(p.api.writes, "no writes now")
		}
		if answer := legal(&o); answer != nil {
			f.Invalid = plan.FieldOf(o) + ": " + plan.InWords(answer)
			k.invalid = f.Invalid
			return nil
		}
	}
	f.Tried, k.tried = true, true
	return nil
}

func (p *tenantPass) apply(a tenant.Apply) {
	if len(a.Create)+len(a.Update)+len(a.Replace)+len(a.Prune) == 0 {
		p.fail("an apply of nothing")
	}
	for _, u := range a.Replace {
		p.mayApply(u.Object)
		p.isTenants(u.Object, u.UID)
		err := p.api.delete(plan.Live{Object: u.Object, UID: u.UID})
		p.wrote()
		if err != nil {
			p.note(u.Object, u.Hash(), err)
			continue
		}
		live, err := p.api.create(u.Object)
		p.wrote()
		p.settled(u.Object, live, err)
	}
	for _, l := range a.Prune {
		p.mayPrune(l)
		err := p.api.delete(l)
		p.wrote()
		if err == nil {
			l.Deleting = true
			p.found(l)
		}
		p.note(l.Object, "", err)
	}
	for _, o := range a.Create {
		p.mayApply(o)
		live, err := p.create(o)
		p.wrote()
		p.settled(o, live, err)
	}
	for _, u := range a.Update {
		p.mayApply(u.Object)
		p.isTenants(u.Object, u.UID)
		live, err := p.api.apply(u.Object, u.UID, nil)
		p.wrote()
		p.settled(u.Object, live, err)
	}
}

func (p *tenantPass) create(o plan.Object) (plan.Live, error) {
	live, err := p.api.create(o)
	if !fault.Is(err, fault.Exists) {
		return live, err
	}
	if live, err = p.api.read(o.Kind, o.Namespace, o.Name); err != nil {
		return live, err
	}
	switch {
	case live.Labels[plan.LabelTenantUID] == "":
		return live, plan.Foreign(o)
	case live.Deleting:
		return live, errDeleting
	}
	return p.api.apply(o, live.UID, nil)
}

// errDeleting stands for an object that is there, and on its way out.
var errDeleting = errors.New("it is being deleted")

func (p *tenantPass) settled(o plan.Object, live plan.Live, err error) {
	switch {
	case errors.Is(err, errDeleting):
		p.found(live)
		err = nil
	case err == nil:
		if p.found(live); !live.UpToDate(o) {
			err = plan.Unsettled(o)
		}
	}
	p.note(o, o.Hash(), err)
}

func (p *tenantPass) found(live plan.Live) {
	p.in.World.Children = replaced(p.in.World.Children, live)
}

func replaced(list []plan.Live, live plan.Live) []plan.Live {
	for i := range list {
		if list[i].Key() == live.Key() {
			list[i] = live
			return list
		}
	}
	return append(list, live)
}

func (p *tenantPass) note(o plan.Object, hash string, err error) {
	p.in.Attempts.Note(o.Key(), hash, p.now, err)
}

// conclude stores the report.
func (p *tenantPass) conclude() {
	r := tenant.Conclude(p.in, p.out, p.t.conditions)
	if p.ends.unstored {
		return
	}
	if !p.disturbed && p.hung == nil {
		p.truthful(r)
	}
	p.t.memory, p.t.conditions, p.t.settled = r.Memory, stored(p.t.conditions, r.Conditions), r.Settled
}

// goes lets a tenant go. Nothing of it may be left behind.
func (w *world) goes(t *playedTenant) {
	n := w.api.namespace(t.Namespace)
	if t.held && n != nil && n.Labels[plan.LabelTenantUID] == t.UID {
		w.fail("the tenant %s is released, and its namespace exists: %+v", t.Name, n.Live)
	}
	t.gone = true
	delete(w.tenants, t.Name)
	delete(w.attempts, t.UID)
}

// given is what a plan gave a tenant, as it is in the cluster.
func (w *world) given(t *playedTenant) map[string]string {
	out := map[string]string{}
	n := w.api.namespace(t.Namespace)
	if n == nil || n.Labels[plan.LabelTenantUID] != t.UID {
		return nil
	}
	out["uid"] = n.UID
	for key, value := range n.Labels {
		if !strings.HasPrefix(key, "kleff.io/") && key != plan.LabelManagedBy {
			out["label "+key] = value
		}
	}
	for key, value := range n.Annotations {
		if key != plan.AnnotationApplied {
			out["annotation "+key] = value
		}
	}
	for at, o := range w.api.objects {
		if o.Namespace == t.Namespace && o.Name != "kleff-suspended" && !o.Deleting {
			out["object "+at] = o.UID + " " + o.Hash()
		}
	}
	return out
}

// lostNothing checks that a tenant that does not follow its plan keeps what it has, and gets nothing but what it had.
func (w *world) lostNothing(p *tenantPass, had map[string]string) {
	t := p.t
	if had == nil || p.disturbed || t.gone || t.deleting || p.in.Memory.Plan == "" {
		return
	}
	if plan := w.followed(p.in.Memory, t); plan != nil && plan.tried {
		return
	}
	has := w.given(t)
	if has == nil || has["uid"] != had["uid"] {
		w.fail("the tenant %s waits, and its namespace was exchanged", t.Name)
	}
	former := p.in.World.Follow.Former
	if had["annotation "+plan.AnnotationWithoutPlan] != "" {
		// Its status, which could not be stored, still names a plan.
		former = plan.Floor()
	}
	if former != nil {
		w.corrected(t, former, had, has)
	} else if !maps.Equal(had, has) {
		w.fail("the tenant %s does not follow, and had\n%v, and has\n%v", t.Name, had, has)
	}
}

// corrected checks that what has changed is as the former plan says. A generation that the tenant had begun to follow may have
// given more, which is taken back.
func (w *world) corrected(t *playedTenant, former *plan.Plan, had, has map[string]string) {
	n, drop := plan.BuildNamespace(t.Tenant, former)
	for key, value := range had {
		label, isLabel := strings.CutPrefix(key, "label ")
		if _, still := has[key]; !still && isLabel && !slices.Contains(drop, label) && !w.gave(t, label, value) {
			w.fail("the tenant %s waits, and has lost %s", t.Name, key)
		}
	}
	for key, value := range has {
		if label, isLabel := strings.CutPrefix(key, "label "); isLabel && had[key] != value && n.Labels[label] != value {
			w.fail("the tenant %s waits, and has got %s=%s", t.Name, key, value)
		}
	}
}

// gave reports whether some generation of a plan sets that label of the namespace.
func (w *world) gave(t *playedTenant, label, value string) bool {
	says := func(compiled *plan.Plan) bool {
		n, _ := plan.BuildNamespace(t.Tenant, compiled)
		return n.Labels[label] == value
	}
	for _, k := range w.plansKnown {
		if k.plan != nil && says(k.plan) {
			return true
		}
		for _, former := range k.former {
			if says(former) {
				return true
			}
		}
	}
	return false
}

// followed is what the tenant is to have; nil where it is to keep what it has.
func (w *world) followed(m tenant.Memory, t *playedTenant) *knownPlan {
	plan := w.plans[t.Plan]
	if plan == nil {
		return nil
	}
	k := w.current(plan)
	switch {
	case k.plan == nil || k.invalid != "":
		return nil
	case m.PlanUID != plan.uid:
		if plan.deleting || m.Plan == plan.name && !k.released[t.UID] {
			return nil
		}
	case m.PlanGeneration != plan.generation && !k.released[t.UID]:
		return nil
	}
	return k
}

// wantedOf returns what a tenant has in the end, and the kinds for which that is unknown.
func wantedOf(t *playedTenant, compiled *plan.Plan) (objects map[string]plan.Object, unknown []plan.Kind) {
	objects = map[string]plan.Object{}
	all := slices.Concat(plan.BuildLimits(t.Tenant, compiled), plan.BuildIsolation(t.Tenant, compiled))
	mesh, err := plan.BuildMesh(t.Tenant, compiled)
	if err != nil {
		unknown = append(unknown, plan.MeshKinds()...)
	}
	edge, err := plan.BuildEdge(t.Tenant, compiled)
	if err != nil {
		unknown = append(unknown, plan.KindDistributionTenant)
	}
	for _, o := range slices.Concat(all, mesh, edge) {
		objects[o.Key()] = o.Marked()
	}
	return objects, unknown
}
