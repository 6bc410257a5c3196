package tenantplan

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
)

// Plans is what the process knows of the plans as they are now: compiled once for all their tenants, with what the API server
// says of them, and which tenants the roll-out has come to. Nothing of it has to survive a restart: everything is asked
// or released again.
type Plans struct {
	mu             sync.Mutex
	minPodSecurity string
	entries        map[types.UID]*entry
}

// entry is what is known of one generation of a plan, as convert.PlanGeneration counts them.
type entry struct {
	generation int64
	plan       *plan.Plan
	invalid    string
	tried      bool
	released   map[string]bool
	// former are the generations before, which tenants have that wait for this one.
	former map[int64]*plan.Plan
}

// mostFormer is how many generations before are remembered. Tenants that have an older one keep it, without being corrected.
const mostFormer = 8

// NewPlans makes an empty one. A plan that enforces less pod security than that level is invalid.
func NewPlans(minPodSecurity string) *Plans {
	return &Plans{minPodSecurity: minPodSecurity, entries: map[types.UID]*entry{}}
}

// State is what is known of a plan as it is now.
type State struct {
	// Plan is nil where the plan can't be.
	Plan *plan.Plan
	// Invalid is why the plan can't be used: its own mistake, or the API server's answer.
	Invalid string
	// Tried says that the API server would take its objects.
	Tried bool
}

// State compiles the plan, if it is a new one, and says what is known of it.
func (p *Plans) State(o *kleffv1.TenantPlan) State {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.current(o.UID, convert.PlanGeneration(o))
	if e == nil {
		e = p.compiled(o)
		e.former = p.entries[o.UID].formers()
		p.entries[o.UID] = e
	}
	return State{Plan: e.plan, Invalid: e.invalid, Tried: e.tried}
}

// Released are the UIDs of the tenants that the roll-out of that generation has come to.
func (p *Plans) Released(uid types.UID, generation int64) map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.current(uid, generation); e != nil {
		return maps.Clone(e.released)
	}
	return map[string]bool{}
}

// IsReleased asks for one of them. Each pass over a tenant does, and there may be ten thousand.
func (p *Plans) IsReleased(uid types.UID, generation int64, tenant types.UID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.current(uid, generation)
	return e != nil && e.released[string(tenant)]
}

// compiled compiles the plan again.
func (p *Plans) compiled(o *kleffv1.TenantPlan) *entry {
	e := &entry{generation: convert.PlanGeneration(o), released: map[string]bool{}}
	spec, err := convert.PlanSpec(o)
	if err == nil {
		e.plan, err = plan.Compile(o.Name, string(o.UID), e.generation, spec)
		err = errors.Join(err, spec.PodSecurity.CheckMin(p.minPodSecurity))
	}
	if err != nil {
		e.plan, e.invalid = nil, err.Error()
	}
	return e
}

// formers are the generations before the next one.
func (e *entry) formers() map[int64]*plan.Plan {
	out := map[int64]*plan.Plan{}
	if e == nil {
		return out
	}
	maps.Copy(out, e.former)
	if e.accepted() {
		out[e.generation] = e.plan
	}
	for len(out) > mostFormer {
		delete(out, slices.Min(slices.Collect(maps.Keys(out))))
	}
	return out
}

// accepted reports whether tenants may have this generation. Of one that was refused a tenant has nothing, though it has tried it.
func (e *entry) accepted() bool { return e.plan != nil && e.invalid == "" && e.tried }

// At is the plan as it was in that generation; nil where that is no longer known.
func (p *Plans) At(uid string, generation int64) *plan.Plan {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.entries[types.UID(uid)]
	switch {
	case e == nil:
		return nil
	case e.generation == generation && e.accepted():
		return e.plan
	}
	return e.former[generation]
}

func (p *Plans) current(uid types.UID, generation int64) *entry {
	if e := p.entries[uid]; e != nil && e.generation == generation {
		return e
	}
	return nil
}

// Accept notes that the API server would take the objects of that generation.
func (p *Plans) Accept(uid string, generation int64) {
	p.note(uid, generation, func(e *entry) { e.tried = true })
}

// Refuse notes why the API server would not.
func (p *Plans) Refuse(uid string, generation int64, why string) {
	p.note(uid, generation, func(e *entry) { e.invalid = why })
}

// Release lets tenants have that generation.
func (p *Plans) Release(uid string, generation int64, tenants []string) {
	p.note(uid, generation, func(e *entry) {
		for _, t := range tenants {
			e.released[t] = true
		}
	})
}

// note ignores results of a generation that is over.
func (p *Plans) note(uid string, generation int64, change func(*entry)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.current(types.UID(uid), generation); e != nil {
		change(e)
	}
}

// Forget drops what is known of a plan that is gone.
func (p *Plans) Forget(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.entries, uid)
}
