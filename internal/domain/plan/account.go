package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Account is what a pass has done to the objects of a tenant or a plan.
type Account struct{ created, changed, deleted, reverted []string }

// Created notes an object that was created.
func (a *Account) Created(o Object) { a.created = append(a.created, o.Ref()) }

// Deleted notes an object that was deleted.
func (a *Account) Deleted(o Object) { a.deleted = append(a.deleted, o.Ref()) }

// Changed notes an object that was applied or recreated, with the objects as they were before. If this very form was applied
// before, others have changed it since.
func (a *Account) Changed(o Object, before []Live) {
	was := slices.IndexFunc(before, func(l Live) bool { return l.Key() == o.Key() })
	if was >= 0 && before[was].Annotations[AnnotationApplied] == o.Annotations[AnnotationApplied] {
		a.reverted = append(a.reverted, o.Ref())
		return
	}
	a.changed = append(a.changed, o.Ref())
}

// Events tell of it: one of what others had changed, and one of all else.
func (a *Account) Events() (events []chain.Event) {
	if len(a.reverted) > 0 {
		events = append(events, chain.Event{Warning: true, Reason: resource.EventDriftCorrected, Message: fmt.Sprintf("Reverted changes made by others: %s.", prose.List(a.reverted))})
	}
	var parts []string
	for _, did := range []struct {
		what string
		refs []string
	}{{"Created", a.created}, {"Changed", a.changed}, {"Deleted", a.deleted}} {
		if len(did.refs) > 0 {
			parts = append(parts, did.what+" "+prose.List(did.refs)+".")
		}
	}
	if len(parts) > 0 {
		events = append(events, chain.Event{Reason: resource.EventUpdated, Message: strings.Join(parts, " ")})
	}
	return events
}
