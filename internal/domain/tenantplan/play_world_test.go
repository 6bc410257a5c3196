package tenantplan_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantplan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/plans"
)

// playedAPI is an API server, as small as what is asked of it: server-side apply by one manager, names that are taken once, namespaces
// that go with all that is in them, and people who change what they like.
type playedAPI struct {
	objects map[string]*playedObject
	serial  int
	// missing are kinds that the cluster does not have, unreadable those that the cache can't list.
	missing, unreadable map[plan.Kind]bool
	// writes is how writes fail, reads how reads do. loses does what is asked, and answers nothing.
	writes, reads fault.Kind
	loses         bool
	// between happens before the next write, once.
	between func()
	// written counts what was changed.
	written int
}

type playedObject struct {
	plan.Live

	// ours and theirs are the labels and annotations that were applied by the operator, and set by people.
	ours, theirs map[string]bool
	// sticky is what waits for a finalizer when it is deleted.
	sticky bool
}

func newAPI() *playedAPI {
	return &playedAPI{objects: map[string]*playedObject{}, missing: map[plan.Kind]bool{}, unreadable: map[plan.Kind]bool{}}
}

func place(k plan.Kind, namespace, name string) string {
	return k.Group + "/" + k.Kind + "/" + namespace + "/" + name
}

func placeOf(o *plan.Object) string { return place(o.Kind, o.Namespace, o.Name) }

func (a *playedAPI) namespace(name string) *playedObject {
	return a.objects[place(plan.KindNamespace, "", name)]
}

// put is what a user creates.
func (a *playedAPI) put(o plan.Object) *playedObject {
	a.serial++
	made := &playedObject{Live: plan.Live{Object: copied(o), UID: "o" + strconv.Itoa(a.serial)}, ours: map[string]bool{}, theirs: map[string]bool{}}
	for key := range made.Labels {
		made.theirs["label "+key] = true
	}
	for key := range made.Annotations {
		made.theirs["annotation "+key] = true
	}
	a.objects[placeOf(&o)] = made
	return made
}

// copied shares nothing with the original.
func copied(o plan.Object) plan.Object {
	o.Labels, o.Annotations = maps.Clone(o.Labels), maps.Clone(o.Annotations)
	if o.Labels == nil {
		o.Labels = map[string]string{}
	}
	if o.Annotations == nil {
		o.Annotations = map[string]string{}
	}
	if o.Body = maps.Clone(o.Body); o.Body == nil {
		o.Body = map[string]any{}
	}
	return o
}

// seen is an object as it is read.
func (o *playedObject) seen() plan.Live {
	live := o.Live
	live.Object = copied(o.Object)
	return live
}

// fails says how a write to the object ends before it is done.
func (a *playedAPI) fails(o *plan.Object) error {
	if a.between != nil {
		meanwhile := a.between
		a.between = nil
		meanwhile()
	}
	switch {
	case a.writes != fault.None:
		return plans.Refusal(a.writes, "no writes now")
	case a.missing[o.Kind]:
		return plans.Refusal(fault.NotFound, "no kind %s", o.Kind.Kind)
	}
	return nil
}

// legal is what the API server says of the object itself.
func legal(o *plan.Object) error {
	spec, _ := o.Body["spec"].(plans.Tree)
	if hard, _ := spec["hard"].(plans.Tree); hard["pods"] == impossible {
		return plans.Refusal(fault.Invalid, "spec.hard[pods]: Invalid value: %s", impossible)
	}
	return nil
}

// answered loses the answer to what was done.
func (a *playedAPI) answered(o *playedObject) (plan.Live, error) {
	a.written++
	if a.loses {
		return plan.Live{}, plans.Refusal(fault.Transient, "no answer")
	}
	return o.seen(), nil
}

func (a *playedAPI) create(o plan.Object) (plan.Live, error) {
	if err := a.fails(&o); err != nil {
		return plan.Live{}, err
	}
	if a.objects[placeOf(&o)] != nil {
		return plan.Live{}, plans.Refusal(fault.Exists, "%s exists", o.Ref())
	}
	if o.Namespace != "" {
		switch home := a.namespace(o.Namespace); {
		case home == nil:
			return plan.Live{}, plans.Refusal(fault.NotFound, "no namespace %s", o.Namespace)
		case home.Deleting:
			return plan.Live{}, plans.Refusal(fault.Denied, "the namespace %s is being terminated", o.Namespace)
		}
	}
	if err := legal(&o); err != nil {
		return plan.Live{}, err
	}
	made := a.put(plan.Object{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name})
	made.take(o, nil)
	return a.answered(made)
}

func (a *playedAPI) apply(o plan.Object, uid string, drop []string) (plan.Live, error) {
	if err := a.fails(&o); err != nil {
		return plan.Live{}, err
	}
	there := a.objects[placeOf(&o)]
	if there == nil || there.UID != uid {
		return plan.Live{}, plans.Refusal(fault.Conflict, "%s is another one", o.Ref())
	}
	if err := legal(&o); err != nil {
		return plan.Live{}, err
	}
	there.take(o, drop)
	return a.answered(there)
}

// take is an apply by the operator: a field that it no longer sends is removed, unless someone else has set it too.
func (o *playedObject) take(sent plan.Object, drop []string) {
	o.merge("label ", o.Labels, sent.Labels)
	o.merge("annotation ", o.Annotations, sent.Annotations)
	for _, key := range drop {
		delete(o.Labels, key)
		delete(o.ours, "label "+key)
		delete(o.theirs, "label "+key)
	}
	status := o.Body["status"]
	if o.Body = maps.Clone(sent.Body); o.Body == nil {
		o.Body = map[string]any{}
	}
	if status != nil {
		o.Body["status"] = status
	}
}

func (o *playedObject) merge(what string, have, sent map[string]string) {
	for key := range have {
		if _, still := sent[key]; still || !o.ours[what+key] {
			continue
		}
		delete(o.ours, what+key)
		if !o.theirs[what+key] {
			delete(have, key)
		}
	}
	for key, value := range sent {
		if have[key] != value {
			delete(o.theirs, what+key)
		}
		have[key], o.ours[what+key] = value, true
	}
}

// label is what a user sets; empty removes it.
func (o *playedObject) label(key, value string) { o.person("label ", o.Labels, key, value) }

func (o *playedObject) annotate(key, value string) {
	o.person("annotation ", o.Annotations, key, value)
}

func (o *playedObject) person(what string, have map[string]string, key, value string) {
	delete(o.theirs, what+key)
	if value == "" {
		delete(have, key)
		delete(o.ours, what+key)
		return
	}
	if have[key] != value {
		delete(o.ours, what+key)
	}
	have[key], o.theirs[what+key] = value, true
}

func (a *playedAPI) delete(l plan.Live) error {
	if err := a.fails(&l.Object); err != nil {
		return err
	}
	there := a.objects[placeOf(&l.Object)]
	if there == nil {
		return nil
	}
	if there.UID != l.UID {
		return plans.Refusal(fault.Conflict, "%s is another one", l.Ref())
	}
	a.ask(there)
	_, err := a.answered(there)
	return err
}

// ask deletes what nothing holds. A namespace is always held, by what is in it.
func (a *playedAPI) ask(o *playedObject) {
	o.Deleting = true
	if o.Kind != plan.KindNamespace && !o.sticky {
		delete(a.objects, placeOf(&o.Object))
	}
}

// finish completes the pending deletions.
func (a *playedAPI) finish() {
	for _, at := range slices.Sorted(maps.Keys(a.objects)) {
		o := a.objects[at]
		if o == nil || !o.Deleting {
			continue
		}
		delete(a.objects, at)
		if o.Kind != plan.KindNamespace {
			continue
		}
		maps.DeleteFunc(a.objects, func(_ string, in *playedObject) bool { return in.Namespace == o.Name })
	}
}

func (a *playedAPI) read(k plan.Kind, namespace, name string) (plan.Live, error) {
	if a.reads != fault.None {
		return plan.Live{}, plans.Refusal(a.reads, "no reads now")
	}
	o := a.objects[place(k, namespace, name)]
	if o == nil {
		return plan.Live{}, plans.Refusal(fault.NotFound, "no %s", name)
	}
	return o.seen(), nil
}

// list finds what a label with a value, or with any, is on.
func (a *playedAPI) list(k plan.Kind, namespace string) []plan.Live {
	var out []plan.Live
	for _, at := range slices.Sorted(maps.Keys(a.objects)) {
		if o := a.objects[at]; o.Kind == k && o.Namespace == namespace && o.Labels[plan.LabelManagedBy] == plan.ManagedBy {
			out = append(out, o.seen())
		}
	}
	return out
}

// works is the rest of the cluster: edge tenants become ready.
func (a *playedAPI) works() {
	for _, o := range a.objects {
		if o.Kind == plan.KindDistributionTenant {
			o.Body["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "Ready", "message": "served"}}}
		}
	}
}

// impossible is a quantity that only the API server refuses.
const impossible = "lots"

// playedPlan is a TenantPlan as it is stored.
type playedPlan struct {
	name, uid  string
	generation int64
	spec       plan.Spec
	deleting   bool
	held       bool
	limits     rollout.Limits
	conditions []chain.Condition
	// known is the annotation with the kinds of constraints.
	known []string
}

// playedTenant is a Tenant as it is stored.
type playedTenant struct {
	plan.Tenant

	deleting, protected, retain, held bool
	gone                              bool
	memory                            tenant.Memory
	conditions                        []chain.Condition
	settled                           bool
}

// knownPlan is what the process knows of one generation of a plan.
type knownPlan struct {
	generation int64
	plan       *plan.Plan
	invalid    string
	tried      bool
	// asked says that the plan itself has tried its objects.
	asked    bool
	released map[string]bool
	// former are the generations before that were accepted.
	former map[int64]*plan.Plan
}

func (w *world) current(p *playedPlan) *knownPlan {
	if k := w.plansKnown[p.uid]; k != nil && k.generation == p.generation {
		return k
	}
	k := &knownPlan{generation: p.generation, released: map[string]bool{}, former: map[int64]*plan.Plan{}}
	if before := w.plansKnown[p.uid]; before != nil {
		maps.Copy(k.former, before.former)
		if before.tried && before.invalid == "" {
			k.former[before.generation] = before.plan
		}
	}
	plan, err := plan.Compile(p.name, p.uid, p.generation, p.spec)
	if k.plan = plan; err != nil {
		k.plan, k.invalid = nil, err.Error()
	}
	w.plansKnown[p.uid] = k
	return k
}

// former is the plan as a tenant last got it; nil where that is not known.
func (w *world) former(m tenant.Memory) *plan.Plan {
	k := w.plansKnown[m.PlanUID]
	switch {
	case k == nil || m.Plan == "":
		return nil
	case k.generation != m.PlanGeneration:
		return k.former[m.PlanGeneration]
	case k.tried && k.invalid == "":
		return k.plan
	}
	return nil
}

// follower is what a plan knows of a tenant.
func (w *world) follower(t *playedTenant, p *playedPlan) tenantplan.Follower {
	f := tenantplan.Follower{Name: t.Name, UID: t.UID, Named: t.Plan == p.name}
	switch {
	case t.memory.PlanUID == p.uid:
		f.Generation = t.memory.PlanGeneration
	case t.memory.Plan == p.name:
		f.Generation = tenantplan.Restored
	}
	f.Able = !t.deleting && plans.ConditionOf(t.conditions, plan.ConditionNamespaceReady).Status
	for _, kind := range []chain.ConditionType{plan.ConditionPlanApplied, plan.ConditionMeshReady, plan.ConditionEdgeReady} {
		c := plans.ConditionOf(t.conditions, kind)
		if c.Type != "" && !c.Status && (kind == plan.ConditionPlanApplied || c.Reason == plan.ReasonError) {
			f.Failure = string(c.Reason)
			break
		}
	}
	return f
}

// stored puts the conditions of a report in place of the former ones.
func stored(before, now []chain.Condition) []chain.Condition {
	out := slices.Clone(now)
	for _, c := range before {
		if plans.ConditionOf(now, c.Type).Type == "" {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b chain.Condition) int { return strings.Compare(string(a.Type), string(b.Type)) })
	return out
}
