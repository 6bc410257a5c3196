package publication

import (
	"fmt"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Reasons of events that are not reasons of conditions. The reference page of events is generated from these comments.
const (
	// EventPublished (Normal; DistributionTenant, ConnectionGroup): DNS records of the object are published. The message
	// lists the first five, with what they replaced.
	EventPublished = "Published"
	// EventRecordLeft (Warning; DistributionTenant, ConnectionGroup): the object is being deleted with what it has in AWS,
	// and DNS records that lead to it stay, because the operator does not own them. The message lists the first five.
	// Delete them at the DNS service. The operator deletes such records itself if `spec.dns.takeover` is true before the deletion.
	EventRecordLeft = "RecordLeft"
	// EventWithdrawn (Normal; DistributionTenant, ConnectionGroup): DNS records of the object were deleted. The message
	// lists the first five, with what was put back.
	EventWithdrawn = "Withdrawn"
)

// Changes tells which records have come and gone between the ledger that is stored and the next one, and which are left.
func Changes(before, after []dns.Entry, left []dns.Record, view dns.View) []chain.Event {
	var came, went []string
	renewed := map[dns.Key]bool{}
	for _, e := range after {
		if e.State == dns.Published && slices.ContainsFunc(before, func(b dns.Entry) bool { return b.Record == e.Record && b.State == dns.Intended }) {
			came = append(came, shown(e.Record)+instead(e, before, after))
		}
		renewed[e.Key()] = renewed[e.Key()] || e.State == dns.Published
	}
	for _, e := range gone(before, after) {
		back, left := withdrawn(e, view.Of(e.Record))
		if left && !renewed[e.Key()] {
			went = append(went, shown(e.Record)+back)
		}
	}
	var events []chain.Event
	if len(came) > 0 {
		events = append(events, chain.Event{Reason: EventPublished, Message: fmt.Sprintf("Published %s.", prose.List(came))})
	}
	if len(went) > 0 {
		events = append(events, chain.Event{Reason: EventWithdrawn, Message: fmt.Sprintf("Deleted %s from DNS.", prose.List(went))})
	}
	if len(left) > 0 {
		var stay []string
		for _, r := range left {
			stay = append(stay, shown(r))
		}
		events = append(events, chain.Event{Warning: true, Reason: EventRecordLeft, Message: fmt.Sprintf(
			"Left in DNS, because the operator does not own them: %s. They lead to CloudFront, where nothing answers for them once the distribution tenant is deleted. Delete them at the DNS service. If spec.dns.takeover is true before the deletion, the operator deletes such records itself.", prose.List(stay))})
	}
	return events
}

// Corrected tells which records were restored after others had changed or deleted them.
func Corrected(c dns.Correction) chain.Event {
	var restored, replaced []string
	for _, r := range c.Restores {
		restored = append(restored, shown(r))
	}
	for _, s := range c.Replaces {
		replaced = append(replaced, s.String())
	}
	message := "Restored in DNS: " + prose.List(restored)
	if len(replaced) > 0 {
		message += " instead of " + prose.List(replaced)
	}
	return chain.Event{Warning: true, Reason: resource.EventDriftCorrected, Message: message + "."}
}

func shown(r dns.Record) string { return fmt.Sprintf("%s %s -> %s", r.Type, r.Name, r.Value) }

// instead names what an entry has replaced: sets of others, and a record of ours that leaves the ledger for it.
func instead(e dns.Entry, before, after []dns.Entry) string {
	var texts []string
	for _, b := range before {
		if b.Name != e.Name || b.Zone() != e.Zone() {
			continue
		}
		for _, s := range b.Replaced.Sets(b.Name) {
			if s.Clashes(e.Key()) {
				texts = append(texts, s.String())
			}
		}
	}
	for _, b := range gone(before, after) {
		if b.Zone() == e.Zone() && b.Key() == e.Key() {
			texts = append(texts, b.Set().String())
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return " instead of " + prose.List(texts)
}

// gone are the entries that were about to be deleted, and are in the ledger no more.
func gone(before, after []dns.Entry) []dns.Entry {
	return slices.DeleteFunc(slices.Clone(before), func(b dns.Entry) bool {
		return b.State != dns.Retracting || slices.ContainsFunc(after, func(a dns.Entry) bool { return a.Record == b.Record })
	})
}

// withdrawn reports whether a record that has left the ledger was deleted, and names what was put back in its place. Where
// anything else has its place, someone else has put it there.
func withdrawn(e dns.Entry, s dns.Standing) (back string, left bool) {
	if s.Phase == dns.Absent {
		return "", true
	}
	for _, set := range e.Replaced.Sets(e.Name) {
		if s.Phase == dns.Blocked && s.Found == set.String() {
			return fmt.Sprintf(" (%s was put back)", s.Found), true
		}
	}
	return "", false
}
