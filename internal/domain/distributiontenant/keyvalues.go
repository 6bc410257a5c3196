package distributiontenant

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// keyValuesField stands for the value that functions read.
const keyValuesField = "keyValues"

// EventKeysWritten (Normal; DistributionTenant): keys of the tenant were written into a key value store. The message lists
// the first five.
const EventKeysWritten = "KeysWritten"

// EventKeysDeleted (Normal; DistributionTenant): keys of the tenant were deleted from a key value store. The message lists
// the first five.
const EventKeysDeleted = "KeysDeleted"

// KeyWants are the keys that the object asks for. One that is being deleted, or may not have them, asks for none.
func (in Input) KeyWants() []keyvalue.Want { return judge(in).keyWants() }

func (in judged) keyWants() []keyvalue.Want {
	if in.Deleting || in.Frozen() {
		return nil
	}
	// A domain that a standard distribution hands over is served as soon as it is moved.
	return in.Desired.KeyValues.Wants(slices.Concat(in.Desired.Domains, in.departing))
}

// KeyPolicy is what the object may do with its ledger of keys, as far as status says.
func (in Input) KeyPolicy() keyvalue.Policy {
	return keyvalue.Policy{Settled: !in.Deleting && in.applied() && !in.Unresolved(), Reclaims: in.Rescued}
}

// dueKeys are the keys that the object asks for, without those that keep their value until it is the tenant's turn.
func (in judged) dueKeys() []keyvalue.Want {
	if !in.turn.waitsWith(keyValuesField) {
		return in.keyWants()
	}
	return slices.DeleteFunc(in.keyWants(), func(w keyvalue.Want) bool {
		return slices.ContainsFunc(in.Memory.Keys, func(e keyvalue.Entry) bool { return e.Key == w.Key && in.replaces(e) })
	})
}

// openKeys are the keys that do not have their value.
func (in judged) openKeys() []keyvalue.Want {
	return slices.DeleteFunc(in.dueKeys(), func(w keyvalue.Want) bool {
		return in.World.Keys.Of(w.Key).Has(w.Value)
	})
}

// keyLedger is the next ledger of keys. enters means that keys may become the object's, and settled that nothing uses keys
// any more that are not wanted.
func (in judged) keyLedger(enters, settled bool) []keyvalue.Entry {
	have := in.Memory.Keys
	if in.Rests() || !in.Deleting && (in.Unresolved() || in.resource.Held()) {
		return have
	}
	policy := in.KeyPolicy()
	policy.Settled = settled && !in.turn.waitsWith(keyValuesField)
	next := keyvalue.Advance(have, in.dueKeys(), in.World.Keys, policy)
	if enters && in.HasFinalizer {
		return next
	}
	return slices.DeleteFunc(next, func(e keyvalue.Entry) bool {
		return !slices.ContainsFunc(have, func(h keyvalue.Entry) bool { return h.Key == e.Key })
	})
}

// nextKeys is the ledger after a pass that ended like that.
func (in conclusion) nextKeys(end Rest, applied bool) []keyvalue.Entry {
	if in.Deleting {
		return in.keyLedger(false, end.Keys)
	}
	return in.keyLedger(end.Keys || in.resource.Mine(), applied && in.resource.Mine())
}

// keysWritten keeps a spec from AWS until functions can read what it has for them.
func keysWritten(in judged) (Decision, bool) {
	present := in.World.present()
	if present && in.resource.Applied || in.World.Refused != nil {
		return pass()
	}
	p := in.keyProblem()
	if p == nil {
		return pass()
	}
	if present {
		p.Of = chain.Synced
		p.Message += " Until then, the distribution tenant is not changed."
	} else if d, fires := preflight(in); fires {
		return d, true
	}
	if !in.HasFinalizer {
		// The ledger of an object that could go without being asked would be no ledger.
		return do(EnsureFinalizer{})
	}
	return Decision{Step: Rest{Keys: true}, Problem: p}, true
}

// keysDeleted keeps an object whose tenant is gone until its keys are.
func keysDeleted(in judged) (Decision, bool) {
	if in.World.Knowledge != resource.Absent {
		return pass()
	}
	return in.withoutKeys()
}

// withoutKeys ends the pass while the object has keys. One that lets its DNS records stay lets its keys stay, too.
func (in judged) withoutKeys() (Decision, bool) {
	if len(in.Memory.Keys) == 0 || in.Policy.AbandonDNS {
		return pass()
	}
	k := in.Memory.Keys[0].Key
	p := chain.Problem{Reason: resource.ReasonDeleting, Message: fmt.Sprintf("Deleting the %s.", k)}
	if err := in.World.Keys.Of(k).Err; err != nil {
		p = chain.Problem{Reason: keyReason(err), Message: fmt.Sprintf("Deleting the %s: %s", k, err.Error())}
	}
	return Decision{Step: Rest{Keys: true}, Problem: &p}, true
}

// keyReason is that of a failure at a store.
func keyReason(err *fault.Error) chain.Reason {
	switch err.Kind {
	case fault.NotFound:
		return resource.ReasonInvalidSpec
	case fault.Conflict, fault.Throttled, fault.Transient:
		return ReasonKeyValuesPending
	default:
		return resource.ReasonOf(err.Kind)
	}
}

// keyProblem says why the first key that lacks its value does, nil where each has it.
func (in judged) keyProblem() *chain.Problem {
	open := in.openKeys()
	if len(open) == 0 {
		return nil
	}
	w := open[0]
	s := in.World.Keys.Of(w.Key)
	says := func(reason chain.Reason, format string, args ...any) *chain.Problem {
		return &chain.Problem{Reason: reason, Message: fmt.Sprintf("spec.keyValues: the %s ", w.Key) + fmt.Sprintf(format, args...)}
	}
	switch {
	case s.Err != nil:
		return says(keyReason(s.Err), "can't be written: %s", s.Err.Error())
	case s.Phase == keyvalue.Occupied && s.Holder.Namespace == in.Me.Namespace:
		return says(ReasonKeyValueConflict, "belongs to the object %s/%s. Use another key, or remove it from one of the two objects.", s.Holder.Namespace, s.Holder.Name)
	case s.Phase == keyvalue.Occupied:
		p := says(ReasonKeyValueConflict, "belongs to an object of another namespace. Use another key, or ask the platform team: the operator's log has the name.")
		p.Detail = fmt.Sprintf("The %s belongs to the object %s/%s.", w.Key, s.Holder.Namespace, s.Holder.Name)
		return p
	case in.wroteKey(w.Key) && in.resource.Applied && in.Policy.Drift != resource.DriftEnforce:
		return says(ReasonKeyValueConflict, "was changed or deleted outside of Kubernetes, and with driftPolicy %s it is not restored. Change the spec, or set spec.driftPolicy to enforce.", in.Policy.Drift)
	case s.Phase == keyvalue.Present && !w.Takeover && !in.wroteKey(w.Key):
		return says(ReasonKeyValueConflict, "already has another value, which the operator did not write. Delete the key, use another one, or set spec.keyValues.takeover to true to replace the value.")
	}
	return says(ReasonKeyValuesPending, "is being written.")
}

// wroteKey reports whether the ledger says that the key is the object's.
func (in Input) wroteKey(k keyvalue.Key) bool {
	return slices.ContainsFunc(in.Memory.Keys, func(e keyvalue.Entry) bool { return e.Key == k && e.State == keyvalue.Written })
}

// lostKeys is why functions do not read what the applied spec has for them; nil while that is written or restored.
func (in judged) lostKeys() *chain.Problem {
	p := in.keyProblem()
	if p == nil || p.Reason == ReasonKeyValuesPending {
		return nil
	}
	return p
}

// keyDrift are the keys that others have changed. Their values are not shown.
func (in judged) keyDrift() (out []resource.Difference) {
	for _, w := range in.openKeys() {
		s := in.World.Keys.Of(w.Key)
		if !in.wroteKey(w.Key) || s.Phase != keyvalue.Present && s.Phase != keyvalue.Absent {
			continue
		}
		d := resource.Difference{Field: keyValuesField + "[" + prose.Shorten(w.Name, prose.LongestQuote) + "]", Desired: keyvalue.Digest(w.Value)}
		if s.Phase == keyvalue.Present {
			d.Observed = keyvalue.Digest(s.Found)
		}
		out = append(out, d)
	}
	return out
}

// changedKeys is the difference between what functions read for customers now, and what the spec has for them.
func (in judged) changedKeys() (resource.Difference, bool) {
	i := slices.IndexFunc(in.Memory.Keys, in.replaces)
	if i < 0 || in.Frozen() {
		return resource.Difference{}, false
	}
	e := in.Memory.Keys[i]
	return resource.Difference{Field: keyValuesField, Desired: keysText(in.Desired.KeyValues), Observed: keyText(e.StoreARN, e.Digest)}, true
}

// replaces reports whether the spec takes away the value of a key: it has another one, another key, another store, or none.
// A key that goes with its domain does not count: domains have a dot.
func (in judged) replaces(e keyvalue.Entry) bool {
	if e.State != keyvalue.Written {
		return false
	}
	for _, w := range in.keyWants() {
		if w.Key == e.Key {
			return keyvalue.Digest(w.Value) != e.Digest
		}
	}
	spec := in.Desired.KeyValues
	return spec == nil || spec.Key != "" || spec.StoreARN != e.StoreARN || !strings.Contains(e.Name, ".")
}

// keysText says what the spec has for functions. Empty: nothing.
func keysText(spec *keyvalue.Spec) string {
	if spec == nil {
		return ""
	}
	return keyText(spec.StoreARN, keyvalue.Digest(spec.Value))
}

func keyText(store, digest string) string { return store + " " + digest }

// KeyChanges tells which keys have come and gone between the ledger that is stored and the next one.
func KeyChanges(before, after []keyvalue.Entry) (events []chain.Event) {
	var came, went []string
	for _, e := range after {
		if e.State == keyvalue.Written && slices.ContainsFunc(before, func(b keyvalue.Entry) bool {
			return b.Key == e.Key && (b.State == keyvalue.Intended || len(b.Before) > len(e.Before))
		}) {
			came = append(came, e.String())
		}
	}
	for _, b := range before {
		if b.State == keyvalue.Removing && !slices.ContainsFunc(after, func(a keyvalue.Entry) bool { return a.Key == b.Key }) {
			went = append(went, b.String())
		}
	}
	if len(came) > 0 {
		events = append(events, chain.Event{Reason: EventKeysWritten, Message: fmt.Sprintf("Wrote the %s.", prose.List(came))})
	}
	if len(went) > 0 {
		events = append(events, chain.Event{Reason: EventKeysDeleted, Message: fmt.Sprintf("Deleted the %s.", prose.List(went))})
	}
	return events
}

// KeyRestored tells of a key that was restored after others had changed or deleted it.
func KeyRestored(r keyvalue.Restored) chain.Event {
	what := "after it was changed"
	if r.Gone {
		what = "after it was deleted"
	}
	return chain.Event{Warning: true, Reason: resource.EventDriftCorrected, Message: fmt.Sprintf("Restored the %s %s outside of Kubernetes.", r.Key, what)}
}

// awaitsKeys reports whether a new spec waits for its keys, and its records with it.
func (in judged) awaitsKeys() bool {
	return !in.Deleting && !in.resource.Applied && len(in.openKeys()) > 0
}
