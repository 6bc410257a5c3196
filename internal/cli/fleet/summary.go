package fleet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// Census counts objects by what they need.
type Census struct {
	Total       int `json:"total"`
	Ready       int `json:"ready"`
	Working     int `json:"working"`
	NeedsPerson int `json:"needsPerson"`
}

// Count counts objects.
func Count(items []Item) (c Census) {
	for _, i := range items {
		c.Total++
		switch i.State() {
		case Ready:
			c.Ready++
		case Working:
			c.Working++
		case Person:
			c.NeedsPerson++
		}
	}
	return c
}

// Group are the objects that have the same reason.
type Group struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	// Oldest is the one for which the reason has been true the longest.
	Oldest string    `json:"oldest"`
	Since  time.Time `json:"since"`
}

// ByReason groups the objects that are in a state by the reason for it, the largest group first.
func ByReason(items []Item, state State) []Group {
	groups := map[string]*Group{}
	for _, i := range items {
		if i.State() != state {
			continue
		}
		reason := i.Why().Reason
		g := groups[reason]
		if g == nil {
			g = &Group{Reason: reason}
			groups[reason] = g
		}
		if g.Count++; g.Count == 1 || i.Since().Before(g.Since) {
			g.Oldest, g.Since = i.Name(), i.Since()
		}
	}
	out := make([]Group, 0, len(groups))
	for _, g := range groups {
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b Group) int { return cmp.Or(b.Count-a.Count, strings.Compare(a.Reason, b.Reason)) })
	return out
}

// In are the objects in a state, the oldest first.
func In(items []Item, state State) (out []Item) {
	for _, i := range items {
		if i.State() == state {
			out = append(out, i)
		}
	}
	Oldest(out)
	return out
}

// Drifted are the tenants that differ from their spec in AWS.
func (f *Fleet) Drifted() (out []*v1alpha1.DistributionTenant) {
	for _, t := range f.Tenants() {
		if t.Status.DriftDetected {
			out = append(out, t)
		}
	}
	return out
}

// Users counts the tenants that use something in AWS, by its ID.
func (f *Fleet) Users() map[string]int {
	users := map[string]int{}
	for _, t := range f.Tenants() {
		users[t.Status.DistributionID]++
		if g := t.Status.ConnectionGroupID; g != "" {
			users[g]++
		}
	}
	return users
}
