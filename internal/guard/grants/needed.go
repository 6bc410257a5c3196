package grants

import (
	"context"
	"fmt"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
)

// Need is why a grant can't be deleted yet.
type Need struct {
	// Objects is how many objects with something in AWS would have no grant, or would be in an account that no grant gives
	// access to. Namespaces are theirs.
	Objects    int
	Namespaces []string
	// Widened are the objects that the grant refuses, and that what would apply without it allows: the grants Instead.
	Widened, Instead []string
}

// Needed says why a grant can't be deleted yet.
func (r *Registry) Needed(ctx context.Context, name string) (Need, error) {
	objects, err := r.options.Objects(ctx)
	if err != nil {
		return Need{}, fmt.Errorf("looking for the objects of the EdgeGrant %s: %w", name, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.load(ctx); err != nil {
		return Need{}, err
	}
	without := r.set.Without(name)
	lost, before, after := lostAccounts(r.set, without), map[string]grant.Standing{}, map[string]grant.Standing{}
	var need Need
	for _, o := range objects {
		if o.Present && lost[o.Account] {
			need.Objects, need.Namespaces = need.Objects+1, append(need.Namespaces, o.Namespace)
			continue
		}
		if _, known := before[o.Namespace]; !known {
			ns, err := r.namespace(ctx, o.Namespace)
			if err != nil {
				return Need{}, err
			}
			before[o.Namespace], after[o.Namespace] = r.set.For(ns), without.For(ns)
		}
		switch has, would := before[o.Namespace], after[o.Namespace]; {
		case has.Grant == nil || has.Grant.Name != name:
		case would.Grant != nil && r.widens(o, has, would):
			need.Widened, need.Instead = append(need.Widened, o.Kind+" "+o.Namespace+"/"+o.Name), append(need.Instead, would.Grant.Called())
		case would.Grant == nil && o.Present:
			need.Objects, need.Namespaces = need.Objects+1, append(need.Namespaces, o.Namespace)
		}
	}
	for _, list := range []*[]string{&need.Namespaces, &need.Widened, &need.Instead} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return need, nil
}

// widens reports whether an object that is held now would not be held in another standing.
func (r *Registry) widens(o Object, has, would grant.Standing) bool {
	if o.Asks == nil {
		return false
	}
	wants, unproven := o.Asks(), o.Unproven
	if r.options.Mode != Enforce {
		wants, unproven = crossings(wants), nil
	}
	return has.Widens(would, o.Namespace, wants, unproven, o.Refused, r.options.Clock.Now())
}

// lostAccounts are those that only the one set gives access to. A role that AWS refuses gives none.
func lostAccounts(with, without *grant.Set) map[string]bool {
	lost := map[string]bool{}
	for _, a := range with.Accesses() {
		lost[a.ID] = true
	}
	for _, a := range without.Accesses() {
		if !a.Refused {
			delete(lost, a.ID)
		}
	}
	return lost
}
