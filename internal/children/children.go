// Package children brings the objects that a plan gives to the wanted state: those in a customer's namespace, and the plan's own
// constraints. domain/plan decides what has to change.
package children

import (
	"context"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Set is the objects of one tenant or plan during one pass. One that fails stops no other.
type Set struct {
	Children port.Children
	Now      time.Time
	// Owns reports whether an existing object with the name of a new one may be taken for it.
	Owns func(plan.Live) bool
	// Live is what is known of the objects. Each write brings it up to date.
	Live *[]plan.Live
	// Attempts remembers what failed, also from pass to pass.
	Attempts plan.Attempts
	// Account is told what was done.
	Account *plan.Account
}

// Write creates, updates and replaces.
func (s *Set) Write(ctx context.Context, c plan.Changes) {
	for _, o := range c.Create {
		s.Attempts.Note(o.Key(), o.Hash(), s.Now, s.create(ctx, o))
	}
	before := slices.Clone(*s.Live)
	change := func(u plan.Update, how func(context.Context, plan.Update) error) {
		err := how(ctx, u)
		s.Attempts.Note(u.Key(), u.Hash(), s.Now, err)
		if err == nil {
			s.Account.Changed(u.Object, before)
		}
	}
	for _, u := range c.Update {
		change(u, s.update)
	}
	for _, u := range c.Replace {
		change(u, s.replace)
	}
}

// Prune deletes. Some objects wait for finalizers, and are gone later.
func (s *Set) Prune(ctx context.Context, list []plan.Live) {
	for _, l := range list {
		err := s.Children.Delete(ctx, l)
		if err == nil {
			l.Deleting = true
			s.found(l)
			s.Account.Deleted(l.Object)
		}
		s.Attempts.Note(l.Key(), "", s.Now, err)
	}
}

// create creates an object. An existing one is taken if it may be.
func (s *Set) create(ctx context.Context, o plan.Object) error {
	live, err := s.Children.Create(ctx, o)
	if fault.Is(err, fault.Exists) {
		return s.take(ctx, o)
	}
	if err = s.settled(o, live, err); err == nil {
		s.Account.Created(o)
	}
	return err
}

func (s *Set) take(ctx context.Context, o plan.Object) error {
	before, err := s.Children.Read(ctx, o.Kind, o.Namespace, o.Name)
	switch {
	case err != nil:
		return err
	case !s.Owns(before):
		return plan.Foreign(o)
	case before.Deleting:
		s.found(before)
		return nil
	case before.UpToDate(o):
		// An answer was lost, or the cache is behind.
		s.Account.Created(o)
		s.found(before)
		return nil
	}
	live, err := s.Children.Apply(ctx, o, before.UID)
	if err = s.settled(o, live, err); err == nil {
		s.Account.Changed(o, []plan.Live{before})
	}
	return err
}

// update applies an object. Additions by others survive an apply; where they change what the object means, it is recreated.
func (s *Set) update(ctx context.Context, u plan.Update) error {
	live, err := s.Children.Apply(ctx, u.Object, u.UID)
	if err != nil || live.UpToDate(u.Object) || !u.Closed() {
		return s.settled(u.Object, live, err)
	}
	return s.replace(ctx, u)
}

func (s *Set) replace(ctx context.Context, u plan.Update) error {
	if err := s.Children.Delete(ctx, plan.Live{Object: u.Object, UID: u.UID}); err != nil {
		return err
	}
	live, err := s.Children.Create(ctx, u.Object)
	if err != nil {
		s.Account.Deleted(u.Object)
	}
	return s.settled(u.Object, live, err)
}

// settled takes an object as it is after a write.
func (s *Set) settled(o plan.Object, live plan.Live, err error) error {
	if err != nil {
		return err
	}
	s.found(live)
	if !live.UpToDate(o) {
		return plan.Unsettled(o)
	}
	return nil
}

func (s *Set) found(live plan.Live) {
	i := slices.IndexFunc(*s.Live, func(l plan.Live) bool { return l.Key() == live.Key() })
	if i < 0 {
		*s.Live = append(*s.Live, live)
		return
	}
	(*s.Live)[i] = live
}
