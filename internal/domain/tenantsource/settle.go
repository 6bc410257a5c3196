package tenantsource

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Settle takes a complete read: what looks like a mistake ends the round, and the guard is asked about
// what has vanished. owned are the objects of the source, without those that are on their way out and
// those that were disabled because their row was gone, where that is all that happens to them.
func (in Input) Settle(h *Harvest, owned []Owned) {
	s := in.Session
	r := s.Round
	r.Harvest, r.Fleet, r.Settled, s.UpsetHash, s.PendingHash = h, len(owned), in.Now, "", ""
	if in.Generation == in.Memory.Generation {
		if upset := Upset(in.Memory.Columns, in.Memory.Rows, h); len(upset) > 0 && in.Approved != UpsetHash(upset, in.Memory.Complete) {
			s.UpsetHash = UpsetHash(upset, in.Memory.Complete)
			in.Fail(&Failure{Reason: SourceError, Message: upsetMessage(upset, in.Memory.Complete)}, h.Present, owned)
			return
		}
	}
	r.Judged = true
	if in.Policy == PolicyRetain {
		s.Absences = nil
		return
	}
	in.believe(h.Present, owned)
	var absent []Owned
	for _, o := range owned {
		if !h.Present(o.Name) {
			absent = append(absent, o)
		}
	}
	// A row without a usable name may be that of any tenant: nothing is confirmed by such a read.
	s.Absences = s.Absences.Note(absent, r.Began, r.Regular && h.Nameless == 0, in.Guard)
	if in.Generation == in.Memory.Generation {
		in.recall()
	}
	if in.Memory.PendingHash != "" && !in.stillPending() {
		s.Over = in.Memory.PendingHash
	}
	s.Absences.Approve(in.Approved, in.pendingSince())
	r.Verdict = in.judge(len(owned), h.Rows == 0)
	if h.Nameless > 0 {
		r.Verdict.freeze(s.Absences, 0)
	}
	// What is counted already needs no other write.
	r.Reserved = r.Verdict.New == 0
}

func (in Input) judge(fleet int, empty bool) Verdict {
	return in.Guard.Judge(Question{
		Now: in.Now, Absences: in.Session.Absences, Fleet: fleet, History: in.Memory.History, Empty: empty, Confirmed: in.Deleting, Since: in.pendingSince(),
	})
}

// Fail ends the round without a result. What its read has seen is there all the same, also where the read broke off
// or looks like a mistake: a plan that is held ends with it, unless it is known that none of its rows was seen.
func (in Input) Fail(f *Failure, present func(name string) bool, owned []Owned) {
	r := in.Session.Round
	r.Failure = f
	if seen := in.believe(present, owned); seen && in.Memory.PendingHash != "" && !in.stillPending() {
		in.Session.Over = in.Memory.PendingHash
		r.Verdict, r.Judged = Verdict{Pending: in.judge(len(owned), false).Pending}, true
	}
}

// believe forgets the absence of every row that a read has seen, whatever else there is to say of the read, and of every
// object that is not the source's now. It reports whether a row of an object was seen.
func (in Input) believe(present func(name string) bool, owned []Owned) (seen bool) {
	s := in.Session
	missing := make(map[string]bool, len(s.Absences))
	for _, o := range owned {
		if present(o.Name) {
			seen = true
		} else {
			missing[o.UID] = true
		}
	}
	back := map[string]bool{}
	if in.Memory.LastPoll.Before(s.Polled) { // status may be older than what was seen before
		maps.Copy(back, s.Back)
	}
	for _, uid := range in.Memory.Cleared {
		if s.Back[uid] || !missing[uid] {
			back[uid] = true
		}
	}
	for name, known := range s.Absences {
		if missing[known.UID] {
			continue
		}
		if delete(s.Absences, name); known.Cleared {
			back[known.UID] = true
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
		s.Absences.markCleared(in.cleared(), in.Memory.History[0].Time)
	}
	for _, uid := range s.Absences.expire(in.Now, in.Guard.Window) {
		s.letBack(uid)
	}
}

func (s *Session) letBack(uid string) {
	if s.Back == nil {
		s.Back = map[string]bool{}
	}
	s.Back[uid] = true
}

// Clear remembers that the guard let them go, and that they are counted.
func (s *Session) Clear(gone []Owned, now time.Time) {
	var uids []string
	for _, o := range gone {
		uids = append(uids, o.UID)
		delete(s.Back, o.UID)
	}
	s.Absences.markCleared(uids, now)
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
	r.Verdict.freeze(in.Session.Absences, r.Removed)
}

// Told reports whether status has the end of the round: then the answer to the write that said so was lost.
func (in Input) Told() bool {
	r := in.Session.Round
	return r != nil && !in.Deleting && in.Memory.LastPoll.Equal(r.Began.Truncate(time.Second)) && !in.Memory.LastPoll.Equal(r.Previous)
}

// shortestTrust is how long a read is good for at least, or deletions would never come about where polls follow each
// other faster than writes.
const shortestTrust = time.Minute

// cleared are the UIDs whose deletion was allowed and counted according to status, as long as they count, and without
// those that are back.
func (in Input) cleared() []string {
	if in.Memory.History.Within(in.Now, in.Guard.Window).Total() == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(in.Memory.Cleared), func(uid string) bool { return in.Session.Back[uid] })
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
	same := in.Deleting || in.Generation == in.Memory.Generation
	return plan != "" && same && plan != in.Session.Over && in.Session.Absences.planHash(stampOf(plan)) == plan
}
