// Package claims is the shared memory of which object has which domain, and of the claims for domains that no object
// serves. The judgement is in domain/claim. This package feeds it, wakes objects, and stores, reports and deletes
// claims.
package claims

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Options are what a registry is made from.
type Options struct {
	Store port.DomainClaims
	Clock clock.WithTicker
	// Hold is how long a released domain is held for its namespace; HoldCustomer where its DNS records are not the
	// operator's. Zero: it is not held.
	Hold, HoldCustomer time.Duration
	// Synced waits until all claims are known; may be nil.
	Synced func(ctx context.Context) error
	// Wake queues objects. It may take a while.
	Wake func(keys ...claim.Key)
	// Failed is told why a claim could not be reported or deleted; may be nil.
	Failed func(err error)
}

// Registry knows the domains of all objects, and all claims. It is safe for concurrent use. A nil one lets every object
// have every domain.
type Registry struct {
	Options

	mu    sync.Mutex
	index *claim.Index
	// refused are the objects that have been refused.
	refused map[claim.Key]struct{}
	// writing is held while a claim is stored or deleted: none is deleted while it is needed.
	writing sync.Mutex
	poke    chan struct{}
	// learners learn the domains of all objects, one kind each.
	learners []func(ctx context.Context) error
}

// New makes a registry that knows nothing.
func New(o Options) *Registry {
	return &Registry{Options: o, index: claim.New(), refused: map[claim.Key]struct{}{}, poke: make(chan struct{}, 1)}
}

// OnLearn adds a function that learns the domains of all objects of a kind. Callers add it before anything starts.
func (r *Registry) OnLearn(learn func(ctx context.Context) error) {
	if r != nil {
		r.learners = append(r.learners, learn)
	}
}

// Learn learns the domains of the objects of all kinds. It comes before the first object of any kind is judged.
func (r *Registry) Learn(ctx context.Context) error {
	if r == nil {
		return nil
	}
	if r.Synced != nil {
		if err := r.Synced(ctx); err != nil {
			return err
		}
	}
	for _, learn := range r.learners {
		if err := learn(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Observe takes over what an object has, and wakes the objects that may have domains that it has released.
func (r *Registry) Observe(o claim.Object, domains []claim.Domain) {
	if r == nil {
		return
	}
	again := false
	r.change(func() (bool, []claim.Key) {
		freed := r.index.Observe(o, domains)
		again = r.index.Reclaims(o.Key)
		return freed, nil
	})
	if again {
		r.wakeKeeper()
	}
}

// Forget drops an object that is gone.
func (r *Registry) Forget(key claim.Key) {
	if r == nil {
		return
	}
	r.change(func() (bool, []claim.Key) {
		delete(r.refused, key)
		return r.index.Forget(key), nil
	})
}

// Changed takes over a claim as the cluster shows it.
func (r *Registry) Changed(c claim.Claim) {
	changed := false
	r.change(func() (bool, []claim.Key) {
		if changed = r.index.Claim(c); !changed {
			return false, nil
		}
		return true, r.index.HoldersOf(c)
	})
	if changed || !c.Reported {
		r.wakeKeeper()
	}
}

// Gone drops a claim that was deleted.
func (r *Registry) Gone(c claim.Claim) {
	r.change(func() (bool, []claim.Key) { return r.index.Unclaim(c.Domain, c.UID), nil })
}

// change makes a change of the index, and wakes the objects that it concerns: they are queued once no lock is held.
func (r *Registry) change(change func() (freed bool, also []claim.Key)) {
	r.mu.Lock()
	freed, wakes := change()
	if freed {
		for key := range r.refused {
			if r.index.Judge(key) == nil {
				// Its next pass says whether it is still refused.
				delete(r.refused, key)
				wakes = append(wakes, key)
			}
		}
	}
	r.mu.Unlock()
	if len(wakes) > 0 && r.Wake != nil {
		r.Wake(wakes...)
	}
}

// Known reports whether the object was observed.
func (r *Registry) Known(key claim.Key) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.index.Known(key)
}

// Holds reports whether domains are held when they leave AWS. ownDNS means that their DNS records are the operator's.
func (r *Registry) Holds(ownDNS bool) bool { return r != nil && r.hold(ownDNS) > 0 }

// Judge says why an object may not have its domains, and nothing may be changed for it. Nil: it may.
func (r *Registry) Judge(key claim.Key) *chain.Halt {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	refusal := r.index.Judge(key)
	r.index.Admit(key, refusal == nil)
	if refusal == nil {
		delete(r.refused, key)
		return nil
	}
	r.refused[key] = struct{}{}
	return refusal.Halt()
}

// Moves are the domains that are handed over to an object and that AWS shows for another object, or that come from a
// standard distribution: givers has those.
func (r *Registry) Moves(key claim.Key) (domains []string, givers map[string]claim.Giver) {
	if r == nil {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	domains = r.index.Moves(key)
	return domains, r.index.Givers(domains)
}

// Inherits are the domains that are handed over to an object, with their DNS records.
func (r *Registry) Inherits(key claim.Key) []string {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.index.Inherits(key)
}

// Assigned reports whether an administrator has made a claim for the domain in favor of the namespace.
func (r *Registry) Assigned(namespace, domain string) bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.index.Assigned(namespace, domain, r.Clock.Now())
}

// Refused is how many objects are refused.
func (r *Registry) Refused() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.refused)
}

// Claims are all claims.
func (r *Registry) Claims() []claim.Claim {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.index.Claims()
}

// hold is how long a domain is held after its release.
func (r *Registry) hold(ownDNS bool) time.Duration {
	if ownDNS {
		return r.Hold
	}
	return r.HoldCustomer
}

// Unheld are those of the domains for which a claim has to be stored before the object releases them. ownDNS means that
// their DNS records are the operator's.
func (r *Registry) Unheld(key claim.Key, domains []string, ownDNS bool) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	// A claim is not extended with each pass of a deletion that takes its time.
	return r.index.Unheld(key, domains, r.Clock.Now().Add(r.hold(ownDNS)/2))
}

// HoldDomains stores the claims for domains that the object is about to release. It ends with the first that can't be
// stored.
func (r *Registry) HoldDomains(ctx context.Context, key claim.Key, domains []string, ownDNS bool) error {
	for _, domain := range domains {
		if err := r.HoldDomain(ctx, key, domain, ownDNS); err != nil {
			return fmt.Errorf("claiming %s: %w", domain, err)
		}
	}
	return nil
}

// HoldDomain stores the claim for a domain that the object is about to release.
func (r *Registry) HoldDomain(ctx context.Context, key claim.Key, domain string, ownDNS bool) error {
	r.writing.Lock()
	defer r.writing.Unlock()
	c := claim.Claim{
		Domain: claim.Canonical(domain), Namespace: key.Namespace, ReleasedBy: key.Name,
		Until: r.Clock.Now().Add(r.hold(ownDNS)).Truncate(time.Second),
	}
	stored, err := r.Store.Store(ctx, c)
	if err == nil && stored.Namespace == c.Namespace && !stored.Until.IsZero() && stored.Until.Before(c.Until) {
		stored.Until = c.Until
		stored, err = r.Store.Extend(ctx, stored)
	}
	if err != nil {
		return err
	}
	r.Changed(stored)
	return nil
}
