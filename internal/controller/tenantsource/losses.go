package tenantsource

import (
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// loses reports whether the object is the first one since the last poll that others delete. The caller holds the lock.
func (s *session) loses(o client.Object) bool {
	if s.going == nil || o.GetDeletionTimestamp().IsZero() || s.going[o.GetUID()] {
		return false
	}
	s.going[o.GetUID()] = true
	first := !s.lost
	s.lost = true
	return first
}

// noteDeletions takes the objects that a poll sees being deleted. The poll tells of them.
func (p *pass) noteDeletions(f *fleet) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session.going, p.session.lost = map[types.UID]bool{}, false
	for _, o := range f.objects {
		if !o.DeletionTimestamp.IsZero() && relation(o, p.labels) == tenantsource.Ours {
			p.session.going[o.UID] = true
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
