package tenantsource

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// The reasons. The api package carries the same words as its contract; a test keeps the two equal.
const (
	PollSucceeded   chain.Reason = "PollSucceeded"
	DryRunComplete  chain.Reason = "DryRunComplete"
	PollFailed      chain.Reason = "PollFailed"
	SourceError     chain.Reason = "SourceError"
	Conflict        chain.Reason = "Conflict"
	InvalidConfig   chain.Reason = "InvalidConfig"
	DeletionHeld    chain.Reason = "DeletionHeld"
	Deleting        chain.Reason = "Deleting"
	InSync          chain.Reason = "InSync"
	RowsRejected    chain.Reason = "RowsRejected"
	DeletionPending chain.Reason = "DeletionPending"
	DryRun          chain.Reason = "DryRun"
	Suspended       chain.Reason = "Suspended"
	UpdatePending   chain.Reason = "UpdatePending"

	ReferenceNotReady chain.Reason = "ReferenceNotReady"
)

// maxListed is how many names, changes and rows status lists.
const maxListed = 20

// PendingChange is a change that is planned and not made.
type PendingChange struct {
	Action            Action
	Name, Description string
}

// Result is what a complete read came to.
type Result struct {
	Tenants, Created, Updated, Deleted int
	Rows                               int
	Pending                            []PendingChange
	PendingTotal                       int
	Rejected                           []mapping.Rejection
	RejectedTotal                      int
	Columns                            []SeenColumn
}

// Report is what status says after a pass. A nil pointer leaves that part of status as it is.
type Report struct {
	// Polled is when the poll began that ends with this report, with what Generation and Token.
	Polled     *time.Time
	Generation int64
	Token      string
	// Result is that of a complete read.
	Result *Result
	// Pending replaces the pending plan in status where PendingKnown is set; nil where no plan needs approval.
	Pending      *PendingPlan
	PendingKnown bool
	// History is always complete, and so is Cleared: the keys of the losses that are counted in it and have not happened
	// yet.
	History    History
	Cleared    []string
	Conditions []chain.Condition
	// Granted means that the source asks for no more than is granted, or that it is held for it: what an audit has said of
	// it is over, also between two polls.
	Granted bool
	// Rollout is nil where nothing is new of it, Unrolled says that the spec has none any more.
	Rollout  *rollout.Rollout
	Unrolled bool
	// Watching is what to say of the stream of changes, if anything; Unwatched means that there is none.
	Watching  *chain.Condition
	Unwatched bool
	// Written is what to say of the state table, and Unwritten means that none is written now.
	Written   *chain.Condition
	Unwritten bool
}

// FailureOf classifies the error of a read.
func FailureOf(err error) *Failure {
	f := &Failure{Reason: PollFailed, Message: sentence(err.Error())}
	switch fault.KindOf(err) {
	case fault.Denied, fault.NotFound, fault.Invalid, fault.Quota, fault.Exists, fault.InUse:
		f.Reason = SourceError
	default:
	}
	code := fault.CodeOf(err)
	if code == mapping.CodeConnectionString || code == mapping.CodeQuery || code == mapping.CodeRoleNotAllowed {
		f.Reason, f.Connection = InvalidConfig, code == mapping.CodeConnectionString
	}
	var known *fault.Error
	if (f.Connection || code == mapping.CodeQuery) && errors.As(err, &known) {
		// Nothing was called, and no service has answered.
		f.Message = sentence(known.Message)
	}
	return f
}

func sentence(text string) string {
	if text == "" {
		return text
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// Conclude computes the report of a pass that ended with the decision. It is pure.
func Conclude(in Input, d Decision) Report {
	// Losses that have left the window are forgotten with the next poll: they alone are not worth a write.
	r := Report{History: in.Memory.History, Cleared: in.Memory.Cleared, Granted: in.Ungranted == nil || in.Frozen()}
	r.Watching, r.Unwatched = in.Watch.condition(), in.Watch == nil
	r.Written, r.Unwritten = statesCondition(in.States), !in.KeepsStates()
	switch round := in.State.Round; {
	case d.Step == Count:
		r.History, r.Cleared = in.State.count(in.View)
	case in.Deleting:
		in.concludeRemoval(&r)
	case in.Suspended:
		r.Conditions = []chain.Condition{{Type: chain.Synced, Reason: Suspended, Message: "spec.suspend is set, so nothing is read and nothing is changed. Remove it to continue"}}
	case in.Frozen():
		r.Conditions = neither(in.Ungranted.Reason, in.Ungranted.Message)
	case in.Invalid != "":
		r.Conditions = neither(InvalidConfig, in.Invalid)
	case round == nil && d.Step == Rest:
		r.Rollout, r.Conditions = in.concludeRollout()
		r.Conditions = append(r.Conditions, in.lostObjects()...)
	case round == nil || d.Step != Rest:
		// A poll is on its way, or none was needed: there is nothing new to say.
	default:
		in.concludeRound(&r)
	}
	if !r.Granted && len(r.Conditions) > 0 {
		r.Conditions = append(r.Conditions, chain.Audited(*in.Ungranted))
	}
	r.Conditions = chain.Sentences(r.Conditions)
	return r
}

// neither is what a source says that is neither ready nor in sync.
func neither(reason chain.Reason, message string) []chain.Condition {
	return []chain.Condition{{Type: chain.Ready, Reason: reason, Message: message}, {Type: chain.Synced, Reason: reason, Message: message}}
}

// lostObjects is what a source says between two polls if others have deleted objects of it. The next poll tells how many;
// until then one write is enough for any number of them.
func (in Input) lostObjects() []chain.Condition {
	if !in.LostObjects || !in.Memory.InSync || in.DryRun {
		return nil
	}
	return []chain.Condition{{
		Type: chain.Synced, Reason: UpdatePending,
		Message: "objects of this source were deleted since the last poll. The polls that follow create them again as soon as they are gone",
	}}
}

func (in Input) concludeRemoval(r *Report) {
	switch round := in.State.Round; {
	case in.Invalid != "":
		r.Conditions = neither(InvalidConfig, in.Invalid+". Until this is fixed, its tenants are not deleted. To delete only the source, set spec.deletionPolicy to Retain")
	case round == nil:
	case round.Failure != nil:
		r.Conditions = neither(round.Failure.Reason, round.Failure.Message)
	case round.Verdict.Pending != nil:
		r.Pending, r.PendingKnown = round.Verdict.Pending, true
		r.Conditions = neither(DeletionHeld, fmt.Sprintf(
			"This source was deleted, and %s with it. %s. To keep the tenants, set spec.deletionPolicy to Retain",
			prose.Count(len(round.Verdict.Pending.Names), "tenant would ", "tenants would ")+in.Policy.Word("be deleted", "be disabled"), in.howToApprove(round.Verdict)))
	default:
		r.PendingKnown = true
		r.Conditions = neither(Deleting, fmt.Sprintf("%s being deleted", prose.Count(round.Fleet, "tenant is", "tenants are"))+undeletedMessage(round))
	}
}

// undeletedMessage tells of the first one that could not go; the others will have their turn.
func undeletedMessage(round *Round) string {
	if len(round.Undeleted) == 0 {
		return ""
	}
	return fmt.Sprintf(". The API server rejects the deletion of %d of them. The first is %s: %s. Remove the cause, or set spec.deletionPolicy to Retain",
		len(round.Undeleted), round.Undeleted[0].Name, round.Undeleted[0].Reason)
}

func (s Spec) howToApprove(v Verdict) string {
	what, so := prose.Count(v.Budget, "deletion", "deletions"), "so nothing is "+s.Policy.Word("deleted", "disabled")
	if len(v.Pending.Harm) > 0 {
		what = prose.Count(v.Budget, "deletion or harmful change", "deletions and harmful changes")
		so = "so these tenants stay as they are"
	}
	if v.Capped {
		what += " (never more than half of the tenants)"
	}
	why := fmt.Sprintf("The guard allows %s in %s, of which %s used", what, span(s.Guard.Window), prose.Count(v.Used, "is", "are"))
	if v.Pending.Empty {
		why = "An empty table always needs approval"
	}
	text := fmt.Sprintf("%s, %s. If this is intended, set the annotation %s to %s to approve it", why, so, approveAnnotation, v.Pending.Hash)
	if s.Approved != "" {
		text += ". Its current value approves a different plan"
	}
	return text
}

// concludeRound reports a poll that is over.
func (in Input) concludeRound(r *Report) {
	s, round := in.State, in.State.Round
	r.Polled, r.Generation, r.Token = &round.Began, round.Generation, round.Token
	r.Pending, r.PendingKnown = round.Verdict.Pending, round.Judged || round.Failure == nil
	if round.Failure != nil {
		if r.Cleared = nil; !s.rewritten(in.View) {
			r.Cleared = s.cleared(in.View)
		}
		r.Conditions = neither(round.Failure.Reason, round.Failure.Message)
		return
	}
	r.History, r.Cleared = r.History.Within(in.Now, in.Guard.Window), s.Losses.clearedKeys(round.done())
	o := outcome{Spec: in.Spec, round: round, losses: len(s.Losses), res: result(round)}
	o.res.Pending, o.res.PendingTotal = o.pending()
	r.Unrolled = in.Rollout == nil
	r.Result, r.Conditions = &o.res, []chain.Condition{o.ready(), o.synced()}
}

// result is what a complete poll came to, in figures.
func result(round *Round) Result {
	h := round.Harvest
	rejected := slices.Concat(h.Rejected, round.Refused)
	slices.SortStableFunc(rejected, mapping.ByUrgency)
	return Result{
		Rows: h.Rows, Tenants: h.Tenants - len(round.Refused), Created: round.Created, Updated: round.Updated, Deleted: round.Deleted,
		Rejected: rejected[:min(len(rejected), maxListed)], RejectedTotal: len(rejected), Columns: h.Columns,
	}
}

// outcome is a complete poll in words.
type outcome struct {
	Spec
	round *Round
	res   Result
	// losses is how many the source remembers.
	losses int
}

// pending lists what is planned and not made.
func (o outcome) pending() (listed []PendingChange, total int) {
	add := func(action Action, name, description string) {
		if total++; total <= maxListed {
			listed = append(listed, PendingChange{Action: action, Name: name, Description: description})
		}
	}
	v := o.round.Verdict
	remove := Action(o.Policy.Word(string(Delete), string(Disable)))
	if o.DryRun {
		for _, c := range o.round.Changes {
			add(c.Action, c.Name, c.describe())
		}
		for _, l := range v.Go {
			add(remove, l.Name, "its row no longer exists")
		}
	}
	if v.Pending != nil {
		for _, name := range v.Pending.Names {
			if harm := v.Pending.Harm[name]; harm != "" {
				add(Update, name, "its row "+harm+"; waiting for approval")
			} else {
				add(remove, name, "its row no longer exists; waiting for approval")
			}
		}
	}
	for _, k := range o.round.Undeleted {
		add(remove, k.Name, "its row no longer exists; the API server rejects the change: "+k.Reason)
	}
	for _, l := range v.Grace {
		add(remove, l.Name, "its row no longer exists; waiting for the end of its grace at "+l.Marked.Add(o.Guard.Grace).UTC().Format(time.RFC3339))
	}
	for _, l := range v.Waiting {
		add(remove, l.Name, fmt.Sprintf("its row no longer exists; confirmed by %d of %d polls", l.Reads, o.Guard.ConfirmPolls))
	}
	return listed, total
}

func (o outcome) ready() chain.Condition {
	round := o.round
	c := chain.Condition{Type: chain.Ready, Status: true, Reason: PollSucceeded, Message: o.summary()}
	conflicts := round.Harvest.Conflicts + round.Conflicts
	switch {
	case round.Verdict.Pending != nil:
		c.Status, c.Reason = false, DeletionHeld
		c.Message = o.pendingMessage()
	case conflicts > 0:
		c.Status, c.Reason = false, Conflict
		c.Message = fmt.Sprintf("%s to another owner: see status.rejectedRows. All other rows are applied",
			prose.Count(conflicts, "row has the name of an object that belongs", "rows have the names of objects that belong"))
	case o.Unresolved != "":
		c.Status, c.Reason = false, ReferenceNotReady
		c.Message = o.Unresolved + " New tenants of this source wait for it"
	case o.DryRun:
		c.Reason = DryRunComplete
	}
	return c
}

func (o outcome) pendingMessage() string {
	held := o.round.Verdict.Pending
	var parts []string
	if n := len(held.Names) - len(held.Harm); n > 0 {
		parts = append(parts, prose.Count(n, "tenant no longer has a row", "tenants no longer have a row"))
	}
	if n := len(held.Harm); n > 0 {
		first := slices.Min(slices.Collect(maps.Keys(held.Harm)))
		parts = append(parts, prose.Count(n, "changed row takes something away from its tenant", "changed rows take something away from their tenants")+
			fmt.Sprintf(": the first, %s, %s", first, prose.Shorten(held.Harm[first], mostText)))
	}
	text := strings.Join(parts, ", and ")
	if held.Empty {
		text = fmt.Sprintf("The table has no rows, and %s", prose.Count(len(held.Names), "tenant had one", "tenants had one"))
	}
	return sentence(text) + ". " + o.howToApprove(o.round.Verdict)
}

func (o outcome) synced() chain.Condition {
	round, res, v := o.round, o.res, o.round.Verdict
	say := func(reason chain.Reason, message string) chain.Condition {
		return chain.Condition{Type: chain.Synced, Status: reason == InSync, Reason: reason, Message: message}
	}
	gone := func(rows int, then string) chain.Condition {
		return say(DeletionPending, prose.Count(rows, "row no longer exists", "rows no longer exist")+then)
	}
	switch returning := round.Harvest.Returning; {
	case v.Pending != nil:
		return say(DeletionHeld, o.pendingMessage())
	case res.RejectedTotal > 0:
		return say(RowsRejected, o.rejectedMessage())
	case o.DryRun && res.PendingTotal > 0:
		return say(DryRun, fmt.Sprintf("spec.dryRun is set: %s planned but not made, see status.pendingChanges", prose.Count(res.PendingTotal, "change is", "changes are")))
	case returning > 0 && !o.DryRun:
		return say(UpdatePending, prose.Count(returning, "object is being deleted, and is created again once it is gone", "objects are being deleted, and are created again once they are gone"))
	case round.Missed > 0:
		return say(UpdatePending, prose.Count(round.Missed, "object was", "objects were")+" changed or deleted by others during the poll. The next poll applies the table again")
	case len(round.Undeleted) > 0:
		return gone(len(round.Undeleted), ", but the API server rejects the deletion of the tenant: see status.pendingChanges")
	case len(v.Grace) > 0:
		return gone(len(v.Grace), ". The tenant is kept until its grace is over: see status.pendingChanges")
	case len(v.Waiting) > 0:
		return gone(len(v.Waiting), ". The deletion waits until more polls confirm this")
	}
	return say(InSync, "The objects match the table")
}

func (o outcome) rejectedMessage() string {
	text := fmt.Sprintf("%s: see status.rejectedRows", prose.Count(o.res.RejectedTotal, "row is rejected", "rows are rejected"))
	if o.res.Tenants > 0 {
		text += ". All other rows are applied"
	}
	if nameless := o.round.Harvest.Nameless; nameless > 0 && o.losses > 0 {
		text += fmt.Sprintf(". %s no usable name and could belong to any tenant, so %s until this is fixed",
			prose.Count(nameless, "row has", "rows have"), prose.Count(o.losses, "deletion waits", "deletions wait"))
	}
	return text
}

func (o outcome) summary() string {
	res := o.res
	text := "the table has " + prose.Count(res.Tenants, "valid row", "valid rows")
	switch {
	case o.DryRun && res.PendingTotal == 0:
		return text + "; nothing would change"
	case o.DryRun:
		return text + fmt.Sprintf("; %s planned (see status.pendingChanges) but not made", prose.Count(res.PendingTotal, "change is", "changes are"))
	}
	if res.RejectedTotal > 0 {
		text += fmt.Sprintf("; %s rejected (see status.rejectedRows)", prose.Count(res.RejectedTotal, "row is", "rows are"))
	}
	if n := len(o.round.Verdict.Waiting); n > 0 {
		text += fmt.Sprintf("; %s until more polls confirm that the row no longer exists", prose.Count(n, "deletion waits", "deletions wait"))
	}
	return text
}

// span writes a duration without the units that are zero.
func span(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}
