package tenantsource

import (
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// losing are the sources that a change of an object wakes: its own one, once others delete its objects.
func (c *Controller) losing(o client.Object) []types.NamespacedName {
	key := c.sourceOf(o)
	_, s := c.Of(key)
	c.mu.Lock()
	defer c.mu.Unlock()
	if s == nil || !s.noteLoss(o) {
		return nil
	}
	return []types.NamespacedName{key}
}

// sourceOf is the source whose labels an object has. A label has no room for a long name.
func (c *Controller) sourceOf(o client.Object) types.NamespacedName {
	labels := o.GetLabels()
	key := types.NamespacedName{Namespace: labels[v1alpha1.LabelSourceNamespace], Name: labels[v1alpha1.LabelSource]}
	c.mu.Lock()
	defer c.mu.Unlock()
	if name, long := c.longNames[key]; long {
		key.Name = name
	}
	return key
}

// deletionBegins reports whether an object is being deleted that was not before.
func deletionBegins(before, after client.Object) bool {
	return before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero()
}

// noteLoss takes an object that others may delete, and reports whether it is the first one since the last poll. The
// caller holds the lock.
func (s *session) noteLoss(o client.Object) bool {
	if s.going == nil || o.GetDeletionTimestamp().IsZero() || s.going[o.GetUID()] {
		return false
	}
	s.going[o.GetUID()] = true
	first := !s.lost
	s.lost = true
	return first
}

// noteLeaving notes whether the source waits for objects that are being deleted.
func (p *pass) noteLeaving(leaving bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session.leaving = leaving
}

// noteDeletions takes the objects that a poll sees being deleted. The poll tells of them.
func (p *pass) noteDeletions(f tenantsource.Fleet) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session.going, p.session.lost = map[types.UID]bool{}, false
	for _, o := range f.Objects {
		if t := o.Look(); t.Deleting && t.Relation == tenantsource.Ours {
			p.session.going[types.UID(t.UID)] = true
		}
	}
}

// noteOwn takes the objects that the source is about to delete.
func (p *pass) noteOwn(batch []tenantsource.Loss) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range batch {
		if p.session.going != nil {
			p.session.going[types.UID(o.UID)] = true
		}
	}
}

func (c *Controller) hasLost(s *session) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return s.lost
}
