package crash_test

import (
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// moment is a point in the life of a call.
type moment int

const (
	// beforeCommit is when the server has not seen the call yet.
	beforeCommit moment = iota
	// afterCommit is when it has carried the call out, and the client does not know.
	afterCommit
	// afterAnswer is when the answer was sent, and the next call not made.
	afterAnswer
)

// effect is what a fault does.
type effect struct {
	moment moment
	// suits limits the effect to calls for which it can happen; nil means all.
	suits func(c call) bool
	do    func(s *stage, x *exchange)
	// passes lets the call continue after an effect before it.
	passes bool
}

func on(s side) func(call) bool {
	return func(c call) bool { return c.side == s }
}

func writesOn(s side) func(call) bool {
	return func(c call) bool { return c.side == s && c.writes }
}

// outside are the calls to clouds, and outsideWrites those that change something there.
func outside(c call) bool { return c.side != kubeSide }

func outsideWrites(c call) bool { return outside(c) && c.writes }

func writes(c call) bool { return c.writes }

func changesRecords(c call) bool { return c.operation == changeRecords }

func conditional(c call) bool {
	return c.operation == moveDomain || strings.HasPrefix(c.operation, "UpdateDistribution") || strings.HasPrefix(c.operation, "DeleteDistribution") ||
		strings.HasPrefix(c.operation, "UpdateConnectionGroup") || strings.HasPrefix(c.operation, "DeleteConnectionGroup")
}

// effects by name. They are part of the names of cases.
var effects = map[string]effect{
	"kill-before":    {moment: beforeCommit, do: (*stage).kill},
	"kill-committed": {moment: afterCommit, suits: writes, do: (*stage).kill},
	"kill-answered":  {moment: afterAnswer, do: (*stage).killSoon},

	"term": {moment: beforeCommit, do: (*stage).terminate, passes: true},

	"freeze-before":   {moment: beforeCommit, do: (*stage).freeze, passes: true},
	"freeze-answered": {moment: afterAnswer, do: (*stage).freezeNow},
	"freeze-later":    {moment: afterAnswer, do: (*stage).freezeLater},

	"wipe":        {moment: afterAnswer, do: (*stage).wipeAll},
	"wipe-killed": {moment: afterAnswer, do: (*stage).killAndWipe},

	"error-before":    {moment: beforeCommit, suits: outside, do: answerError(http.StatusInternalServerError, "InternalError")},
	"error-committed": {moment: afterCommit, suits: outsideWrites, do: answerError(http.StatusServiceUnavailable, "ServiceUnavailable")},
	"throttle":        {moment: beforeCommit, suits: outside, do: answerError(http.StatusBadRequest, "Throttling")},
	"stale-etag":      {moment: beforeCommit, suits: conditional, do: answerError(http.StatusPreconditionFailed, "PreconditionFailed")},
	"denied":          {moment: beforeCommit, suits: outside, do: answerError(http.StatusForbidden, "AccessDenied")},

	"unreadable": {moment: beforeCommit, do: unreadable},

	"hang-before":     {moment: beforeCommit, do: hang},
	"hang-committed":  {moment: afterCommit, suits: writes, do: hang},
	"late":            {moment: beforeCommit, suits: outsideWrites, do: (*stage).late},
	"reset-before":    {moment: beforeCommit, do: cut},
	"reset-committed": {moment: afterCommit, suits: writes, do: cut},
	"truncated":       {moment: afterCommit, do: truncate},

	"conflict":      {moment: beforeCommit, suits: writesOn(kubeSide), do: kubeAnswer(http.StatusConflict, metav1.StatusReasonConflict)},
	"busy":          {moment: beforeCommit, suits: on(kubeSide), do: kubeAnswer(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests)},
	"kube-error":    {moment: beforeCommit, suits: on(kubeSide), do: kubeAnswer(http.StatusInternalServerError, metav1.StatusReasonInternalError)},
	"kube-lost":     {moment: afterCommit, suits: writesOn(kubeSide), do: kubeAnswer(http.StatusInternalServerError, metav1.StatusReasonInternalError)},
	"touched":       {moment: beforeCommit, suits: writesOn(kubeSide), do: (*stage).touch, passes: true},
	"watches-ended": {moment: beforeCommit, do: func(s *stage, _ *exchange) { s.gate.dropWatches() }, passes: true},
	"equal-record":  {moment: beforeCommit, suits: changesRecords, do: (*stage).publishSame, passes: true},
	"kube-away":     {moment: afterAnswer, do: func(s *stage, _ *exchange) { s.away(kubeSide) }},
	"aws-away":      {moment: afterAnswer, do: func(s *stage, _ *exchange) { s.away(awsSide) }},
	"table-away":    {moment: afterAnswer, do: func(s *stage, _ *exchange) { s.away(tableSide) }},
	"dns-away":      {moment: afterAnswer, do: func(s *stage, _ *exchange) { s.away(dnsSide) }},
}

// strike carries out the effect that was chosen for the call, if this is its moment.
func (s *stage) strike(x *exchange, m moment) bool {
	e := effects[x.effect]
	if e.moment != m {
		return false
	}
	if m == beforeCommit && !e.passes {
		s.gate.settle(x, "not sent on")
	}
	e.do(s, x)
	return !e.passes
}

func answerError(status int, code string) func(*stage, *exchange) {
	return func(s *stage, x *exchange) {
		if x.call.side == dnsSide {
			s.elsewhere.refuse(x, status, code)
			return
		}
		if x.call.side == tableSide {
			refuseState(x, code)
			return
		}
		if slices.Contains(acmOperations, x.call.operation) {
			if code == "Throttling" {
				code = "ThrottlingException"
			}
			acmError(x.w, status, code)
			return
		}
		awsError(x.w, status, code)
	}
}

// acmOperations are those that speak JSON.
var acmOperations = []string{"DescribeCertificate", "ListCertificates", deleteCertificate}

func kubeAnswer(status int, reason metav1.StatusReason) func(*stage, *exchange) {
	return func(_ *stage, x *exchange) { kubeError(x.w, status, reason) }
}

// unreadable fails any call, on either side.
func unreadable(s *stage, x *exchange) {
	if x.call.side == kubeSide {
		kubeError(x.w, http.StatusInternalServerError, metav1.StatusReasonInternalError)
		return
	}
	answerError(http.StatusInternalServerError, "InternalError")(s, x)
}

// hang never answers. It ends when the client gives up.
func hang(_ *stage, x *exchange) { <-x.r.Context().Done() }

func cut(_ *stage, x *exchange) { reset(x.w) }

func truncate(_ *stage, x *exchange) {
	body := x.answer.Body.Bytes()
	if len(body) < 2 {
		reset(x.w) // nothing to cut short
		return
	}
	deliver(x.w, x.answer, len(body)/2)
	panic(http.ErrAbortHandler) // closes the connection without a log line
}

// late lets the client give up, and carries the call out after that.
func (s *stage) late(x *exchange) {
	<-x.r.Context().Done()
	s.pause(s.options.late)
	if s.gate.forward(x) {
		s.gate.note("the late %s was carried out", x.call.operation)
	}
}

func (s *stage) kill(x *exchange) {
	x.process.replica.kill(x.process, nil)
	reset(x.w)
}

// killSoon ends the process after it has read the answer, and before its next call arrives.
func (s *stage) killSoon(x *exchange) {
	x.process.cutOff()
	s.pause(settleTime)
	x.process.replica.kill(x.process, nil)
}

// settleTime is enough for a process to read an answer, and far less than any pause that it makes of its own accord.
const settleTime = 5 * time.Millisecond

// killAndWipe takes all status away while no process is there to see it.
func (s *stage) killAndWipe(x *exchange) {
	x.process.replica.kill(x.process, s.wipe)
}

// terminate asks the process to end, as Kubernetes does, while the call is under way.
func (s *stage) terminate(x *exchange) {
	x.process.terminate()
	s.pause(100 * time.Millisecond)
}

// freeze stops the process while its call is under way: the call arrives when the
// process is woken.
func (s *stage) freeze(x *exchange) {
	s.freezeNow(x)
	<-s.thawed
}

func (s *stage) freezeNow(x *exchange) {
	s.gate.note("%s is frozen", x.process.name)
	x.process.signal(syscall.SIGSTOP)
	s.setFrozen(x.process)
}

// freezeLater stops the process when it has taken the answer in, and waits for other changes
// to go with this one.
func (s *stage) freezeLater(x *exchange) {
	s.pause(gatherTime)
	s.freezeNow(x)
}

// gatherTime is well within the second for which changes of records are gathered.
const gatherTime = 600 * time.Millisecond

// touch is another client that writes to the object just before the operator does.
func (s *stage) touch(*exchange) { s.touchAll() }

func (s *stage) wipeAll(*exchange) { s.wipe() }

// away makes a side unreachable for a while.
func (s *stage) away(w side) {
	s.gate.refuse(w, true)
	s.gate.note("%s is away", w)
	s.later(awayTime, func() { s.gate.refuse(w, false); s.gate.note("%s is back", w) })
}

const awayTime = 5 * time.Second
