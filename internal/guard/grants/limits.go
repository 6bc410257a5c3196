package grants

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
)

// admission is what an object takes of the limits of its namespace's grant.
type admission struct {
	namespace string
	usage     grant.Usage
}

// count is what all objects with something in AWS take.
type count struct {
	at time.Time
	// byNamespace are the sums, byUID what each takes.
	byNamespace map[string]grant.Usage
	byUID       map[string]admission
}

// countedFor is how long a count is used. Counting all objects for each of thousands that are created would take minutes.
// Objects that were admitted since are counted separately, so that only room which was freed is noticed late.
const countedFor = time.Second

// admit counts an object if the limits have room for it.
func (r *Registry) admit(ctx context.Context, g *grant.Grant, a Asker) (*grant.Refusal, error) {
	if g == nil || g.Limits == (grant.Limits{}) {
		return nil, nil
	}
	r.admitting.Lock()
	defer r.admitting.Unlock()
	if err := r.count(ctx); err != nil {
		return nil, fmt.Errorf("counting the objects of the EdgeGrant %s: %w", g.Name, err)
	}
	has, err := r.usage(ctx, g, a.UID)
	if err != nil {
		return nil, err
	}
	refusal := g.Exceeds(has, a.Adds)
	r.mu.Lock()
	defer r.mu.Unlock()
	if refusal == nil {
		r.admitted[a.UID] = admission{a.Namespace, a.Adds}
	} else {
		delete(r.admitted, a.UID)
	}
	return refusal, nil
}

// count counts all objects, unless that was done a moment ago. Objects that were admitted before and are counted now
// need not be remembered any more.
func (r *Registry) count(ctx context.Context) error {
	now := r.options.Clock.Now()
	if age := now.Sub(r.counted.at); r.counted.byUID != nil && age >= 0 && age < countedFor {
		return nil
	}
	objects, err := r.options.Objects(ctx)
	if err != nil {
		return err
	}
	c := count{at: now, byNamespace: map[string]grant.Usage{}, byUID: map[string]admission{}}
	for _, o := range objects {
		if o.Present {
			c.byNamespace[o.Namespace] = c.byNamespace[o.Namespace].Plus(o.Usage)
			c.byUID[o.UID] = admission{o.Namespace, o.Usage}
		}
	}
	r.counted = c
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.admitted, func(uid string, _ admission) bool { _, present := c.byUID[uid]; return present })
	return nil
}

// usage is what the objects of a grant take, but for one of them.
func (r *Registry) usage(ctx context.Context, g *grant.Grant, but string) (has grant.Usage, err error) {
	takes := maps.Clone(r.counted.byNamespace)
	if own, counted := r.counted.byUID[but]; counted {
		takes[own.namespace] = takes[own.namespace].Minus(own.usage)
	}
	r.mu.Lock()
	for uid, o := range r.admitted {
		if _, counted := r.counted.byUID[uid]; !counted && uid != but {
			takes[o.namespace] = takes[o.namespace].Plus(o.usage)
		}
	}
	r.mu.Unlock()
	for namespace, usage := range takes {
		s, err := r.Standing(ctx, namespace)
		if err != nil {
			return has, err
		}
		if s.Grant != nil && s.Grant.Name == g.Name {
			has = has.Plus(usage)
		}
	}
	return has, nil
}
