package tenantsource

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Seen is what a read has shown, complete or not.
type Seen interface {
	// Present reports whether a row names the object, be it as it should or not.
	Present(name string) bool
	// Harmful are the objects from which their rows take something away.
	Harmful() []Loss
}

// Settle takes a complete read: what looks like a mistake ends the round, and the guard is asked about what has vanished,
// and what rows take away. owned are the objects of the source, without those that are on their way out and
// those that were disabled because their row was gone, where that is all that happens to them.
func (in Input) Settle(h *Harvest, owned []Owned) {
	s := in.Session
	r := s.Round
	r.Harvest, r.Fleet, r.Settled, s.UpsetHash, s.PendingHash = h, len(owned), in.Now, "", ""
	if !in.rewritten() {
		if upset := Upset(in.Memory.Columns, in.Memory.Rows, h); len(upset) > 0 && in.Approved != UpsetHash(upset, in.Memory.Complete) {
			s.UpsetHash = UpsetHash(upset, in.Memory.Complete)
			in.Fail(&Failure{Reason: SourceError, Message: upsetMessage(upset, in.Memory.Complete)}, h, owned)
			return
		}
	}
	r.Judged = true
	h.unmark(owned, in.Policy)
	in.believe(h, owned)
	losses := h.Harmful()
	r.Fleet += others(losses, owned)
	losses = append(losses, in.absent(h, owned)...)
	// A row without a usable name may be that of any tenant: nothing is confirmed by such a read.
	s.Losses = s.Losses.Note(losses, r.Began, r.Regular && h.Nameless == 0, in.Guard)
	if !in.rewritten() {
		in.recall()
	}
	if in.Memory.PendingHash != "" && !in.stillPending() {
		s.Over = in.Memory.PendingHash
	}
	s.Losses.Approve(in.Approved, in.pendingSince())
	r.Verdict = in.judge(r.Fleet, h.Rows == 0)
	if h.Nameless > 0 {
		r.Verdict.freeze(0)
	}
	r.release()
	// What is counted already needs no other write.
	r.Reserved = r.Verdict.New() == 0
}

// absent are the losses of objects whose rows are gone, unless they are kept.
func (in Input) absent(h *Harvest, owned []Owned) []Loss {
	if in.Policy == PolicyRetain {
		return nil
	}
	losses := lossesOf(slices.DeleteFunc(slices.Clone(owned), func(o Owned) bool { return h.Present(o.Name) }))
	for i := range losses {
		losses[i].Replaced = slices.ContainsFunc(losses[i].Domains, func(d string) bool { _, wanted := h.domains[d]; return wanted })
	}
	h.domains = nil
	return losses
}

// others is how many of the losses are of objects that are not counted as owned yet: they were disabled, or those of the
// source before.
func others(losses []Loss, owned []Owned) int {
	known := make(map[string]bool, len(owned))
	for _, o := range owned {
		known[o.UID] = true
	}
	n := 0
	for _, l := range losses {
		if !known[l.UID] {
			n++
		}
	}
	return n
}

func (in Input) judge(fleet int, empty bool) Verdict {
	return in.Guard.Judge(Question{
		Now: in.Now, Losses: in.Session.Losses, Fleet: fleet, History: in.Memory.History, Empty: empty, Confirmed: in.Deleting, Since: in.pendingSince(),
	})
}

// Fail ends the round without a result. What its read has seen is there all the same, also where the read broke off
// or looks like a mistake: a plan that is held ends with it, unless it is known that none of its rows was seen.
func (in Input) Fail(f *Failure, read Seen, owned []Owned) {
	r := in.Session.Round
	r.Failure = f
	if seen := in.believe(read, owned); seen && in.Memory.PendingHash != "" && !in.stillPending() {
		in.Session.Over = in.Memory.PendingHash
		r.Verdict, r.Judged = Verdict{Pending: in.judge(len(owned), false).Pending}, true
	}
}

// believe forgets the loss of every row that a read has seen and that takes nothing away, or something else, whatever
// there is to say of the read; and of every object that is not the source's now. It reports whether a row of an object
// was seen.
func (in Input) believe(read Seen, owned []Owned) (seen bool) {
	s := in.Session
	// These losses may stand, for all that the read has shown.
	missing, harmed := make(map[string]bool, len(s.Losses)), map[string]bool{}
	for _, o := range owned {
		if read.Present(o.Name) {
			seen = true
		} else {
			missing[o.UID] = true
		}
	}
	for _, l := range read.Harmful() {
		harmed[l.key()] = true
	}
	stands := func(key string) bool {
		uid, _, _ := strings.Cut(key, keySeparator)
		return missing[uid] || harmed[key]
	}
	back := map[string]bool{}
	if in.Memory.LastPoll.Before(s.Polled) { // status may be older than what was seen before
		maps.Copy(back, s.Back)
	}
	for _, key := range in.Memory.Cleared {
		if s.Back[key] || !stands(key) {
			back[key] = true
		}
	}
	for name, known := range s.Losses {
		if key := known.key(); !stands(key) {
			if delete(s.Losses, name); known.Cleared {
				back[key] = true
			}
		}
	}
	s.Back = back
	return seen
}

// recall marks those as cleared whose deletion was allowed and counted according to status: by the process before this
// one, perhaps. They are not counted again, and no plan waits for them; but what was seen of their rows before is not
// known, so they are confirmed like all others. What was counted so long ago that it no longer counts is judged again.
func (in Input) recall() {
	s := in.Session
	if len(in.Memory.History) > 0 {
		s.Losses.markCleared(in.cleared(), in.Memory.History[0].Time)
	}
	for _, key := range s.Losses.expire(in.Now, in.Guard.Window) {
		s.letBack(key)
	}
}

func (s *Session) letBack(key string) {
	if s.Back == nil {
		s.Back = map[string]bool{}
	}
	s.Back[key] = true
}

// Clear remembers that the guard let all of this happen, and that it is counted.
func (s *Session) Clear(v Verdict, now time.Time) {
	keys := v.keys()
	for _, key := range keys {
		delete(s.Back, key)
	}
	s.Losses.markCleared(keys, now)
}

// Overtaken reports whether another process has polled in the meantime the round began: its read is the newer one. The status that
// the round began with may have been one behind its own last poll.
func (in Input) Overtaken(now Memory) bool {
	r := in.Session.Round
	return r != nil && !now.LastPoll.Equal(r.Previous) && !now.LastPoll.Equal(in.Session.Polled)
}

// Expire lets no more go on a read that is as old as a poll: rows may be back. The next poll is due, and what
// the guard has cleared stays cleared.
func (in Input) Expire() {
	r := in.Session.Round
	if r == nil || r.Harvest == nil || in.Deleting || in.Now.Sub(r.Settled) <= max(in.Guard.Interval, shortestTrust) {
		return
	}
	in.recall()
	r.Verdict.freeze(r.Removed)
	r.stop()
}

// Told reports whether status has the end of the round: then the answer to the write that said so was lost.
func (in Input) Told() bool {
	r := in.Session.Round
	return r != nil && !in.Deleting && in.Memory.LastPoll.Equal(r.Began.Truncate(time.Second)) && !in.Memory.LastPoll.Equal(r.Previous)
}

// shortestTrust is how long a read is good for at least, or deletions would never come about where polls follow each
// other faster than writes.
const shortestTrust = time.Minute

// cleared are the keys of what was allowed and counted according to status, as long as it counts, and without what is
// back.
func (in Input) cleared() []string {
	if in.Memory.History.Within(in.Now, in.Guard.Window).Total() == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(in.Memory.Cleared), func(key string) bool { return in.Session.Back[key] })
}

// pendingSince is the first part of the hash of a plan: when it first needed approval. A plan that has changed is another one, also when
// it becomes what it was before: an approval is never good for rows that were seen since.
func (in Input) pendingSince() string {
	if in.stillPending() {
		return stampOf(in.Memory.PendingHash)
	}
	stamp := in.Now.Unix()
	if over, err := strconv.ParseInt(stampOf(in.Session.Over), stampBase, 64); err == nil {
		stamp = max(stamp, over+1)
	}
	return strconv.FormatInt(stamp, stampBase)
}

// stampBase makes a time short.
const stampBase = 36

func stampOf(plan string) string {
	stamp, _, _ := strings.Cut(plan, "-")
	return stamp
}

// stillPending reports whether the plan is still the one in status. That of another spec is another one.
func (in Input) stillPending() bool {
	plan := in.Memory.PendingHash
	same := in.Deleting || !in.rewritten()
	return plan != "" && same && plan != in.Session.Over && in.Session.Losses.planHash(stampOf(plan)) == plan
}
