package edge

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/cert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
)

// Report is what status says after a pass. A nil Tenant leaves what stands there, but for its
// state when it is Absent.
type Report struct {
	Tenant *Observed
	Absent bool
	ETag   string
	// AppliedGeneration, AppliedTagKeys and Parents replace what Memory had.
	AppliedGeneration int64
	AppliedTagKeys    []string
	// Parents are those of the generation that was applied.
	Parents     Parents
	Certificate *cert.Managed
	// Certificates are the ARNs of all managed certificates that were seen for this tenant.
	Certificates []string
	// Requested is the request for a managed certificate that was last sent.
	Requested *SentRequest
	// Ledger has the DNS records that are ours, or are about to be.
	Ledger          []dns.Entry
	ChangeID        string
	RoutingEndpoint string
	Drift           []Difference
	Failure         *Failure
	Conditions      []Condition
}

// Outcome is how a pass ended.
type Outcome struct {
	Decision Decision
	// Done are the steps that were carried out, in their order.
	Done []Step
	// Err is what ended the pass before its decision could be carried out.
	Err error
}

// queueWait is the delay from which on a new object says that it waits for its turn.
// Below it the next status is there before anybody wonders.
const queueWait = 20 * time.Second

// shownAfter is how many failures in a row, about which nothing is known but that they
// happened, it takes to say so in status.
const shownAfter = 2

// Conclude computes the report of a pass. It is pure: the same world gives the same
// report, so that an unchanged one is never written again.
func Conclude(in Input, out Outcome) Report {
	r := Report{
		ETag: in.Memory.ETag, AppliedGeneration: in.Memory.AppliedGeneration,
		AppliedTagKeys: in.Memory.AppliedTagKeys, Parents: in.Memory.Parents, Failure: in.Memory.Failure,
		RoutingEndpoint: in.World.RoutingEndpoint, Absent: in.World.Knowledge == Absent,
		Certificates: in.seenCertificates(), Requested: in.Memory.Requested, ChangeID: in.World.DNS.ChangeID,
		Ledger: in.Memory.Ledger,
	}
	if in.World.Knowledge == Nothing {
		// A fresh process has not seen the tenant yet.
		r.Certificate = in.Memory.Certificate
	}
	if in.mine() {
		t := *in.World.Tenant
		r.Tenant = &t
		switch {
		case in.Unresolved():
			r.ETag = in.keptETag()
		case in.World.Knowledge == Whole || in.trusted():
			r.ETag = t.ETag
		}
		if managed, known := in.certificate(); known {
			r.Certificate = managed
			r.Requested = in.sentRequest(managed)
		}
		if in.nowApplied() {
			r.AppliedGeneration = in.Generation
			if !in.Deleting && !in.Unresolved() {
				r.Parents = Parents{DistributionID: in.Desired.DistributionID, ConnectionGroupID: in.Desired.ConnectionGroupID}
			}
		}
		if in.World.TagsKnown {
			r.AppliedTagKeys = AppliedKeys(in.Desired.Tags, in.World.Tags, in.Memory.AppliedTagKeys)
		}
	}
	if rest, ok := out.Decision.Step.(Rest); ok && rest.Hold || out.Err != nil {
		r.Drift = in.reportedDrift(r)
		r.Ledger = in.NextLedger()
		r.Conditions = in.unchanged(out.Err)
		return r
	}
	r.Drift = append(in.reportedDrift(r), out.Decision.Drift...)
	// A failure decides what may stay in DNS from now on.
	r.Failure = in.failure(out.Decision.Problem)
	in.Memory.Failure = r.Failure
	r.Ledger = in.NextLedger()
	r.Conditions = in.conditions(r, out.Decision)
	return r
}

// mine reports whether the tenant that is known is the one that status may speak of.
func (in Input) mine() bool {
	if !in.World.present() {
		return false
	}
	switch in.relation() {
	case ownership.Ours:
		return true
	case ownership.Unknown:
		return in.Memory.ID == in.World.Tenant.ID
	case ownership.Former, ownership.Unowned, ownership.Foreign:
		return false
	}
	return false
}

// nowApplied reports whether the present generation has reached AWS: nothing differs,
// or what differs was sent and accepted.
func (in Input) nowApplied() bool {
	if in.applied() || in.Deleting {
		return in.applied()
	}
	if in.Unresolved() || in.World.Knowledge != Whole || !in.World.TagsKnown || !in.tagChange().Empty() || in.holdsDomains() || in.requestWanted() {
		return false
	}
	return len(in.diff()) == 0 || in.Attempts.AcceptedFor == in.Generation && in.Attempts.Accepted&WroteTenant != 0
}

// reportedDrift is what status lists as differing from a generation that was applied.
func (in Input) reportedDrift(r Report) []Difference {
	if in.Deleting || in.Unresolved() || !in.mine() || !in.reached(r.AppliedGeneration, r.Parents) || in.Policy.Drift == DriftSuspend {
		return nil
	}
	drift := append(in.openDiff(), in.tagChange().Differences(in.World.Tags)...)
	return append(drift, in.dnsDrift()...)
}

// unchanged keeps the conditions of the last pass, but for what the failure itself says.
func (in Input) unchanged(err error) []Condition {
	out := slices.SortedFunc(maps.Values(in.Memory.Conditions), func(a, b Condition) int { return strings.Compare(string(a.Type), string(b.Type)) })
	ready, known := in.Memory.Conditions[Ready]
	say := func(reason Reason, message string) []Condition {
		out = slices.DeleteFunc(out, func(c Condition) bool { return c.Type == Ready })
		return append(out, Condition{Type: Ready, Reason: reason, Message: message, Generation: in.Generation})
	}
	switch {
	case err == nil:
		return out
	case fault.Is(err, fault.Throttled):
		if !known && fault.RetryAfter(err) > queueWait {
			return say(ReasonCreating, "Waiting for a turn: the operator's share of the AWS request rate is in use.")
		}
	case fault.Classified(err) && in.Attempts.Transients >= shownAfter && (!ready.Status || !in.applied()):
		return say(ReasonAWSError, err.Error())
	}
	return out
}

// failure remembers the problem, and since when this generation has been failing.
func (in Input) failure(p *Problem) *Failure {
	if p == nil || !p.Stuck {
		// What did not take before has not taken until it has stayed for a while: somebody who
		// changes it back again and again meets ever longer pauses.
		if f := in.notConvergingSince(); f != nil && in.Now.Sub(in.Attempts.LastCorrection) < StableFor {
			return f
		}
		return in.lastingFailure(p)
	}
	f := Failure{Reason: p.Reason, Generation: in.Generation, Since: in.Now}
	if old := in.Memory.Failure; old != nil && old.Generation == in.Generation {
		f.Since = old.Since
	}
	return &f
}

// lastingFailure is one whose next try takes a while: it is forgotten when that has worked,
// or else the pauses between the tries would never grow.
func (in Input) lastingFailure(p *Problem) *Failure {
	f := in.Memory.Failure
	if f == nil || f.Generation != in.Generation || p == nil {
		return nil
	}
	requested := f.Reason == ReasonCertificateFailed && p.Of != Ready
	republished := !in.World.present() && p.Of == DNSReady && severity(p.Reason) <= severity(ReasonDNSRecordCreating) ||
		p.Reason == ReasonDomainChangeHeld && in.provesByDNS() && in.stage() != underway
	if requested || republished {
		return f
	}
	return nil
}

func (in Input) conditions(r Report, d Decision) []Condition {
	synced := in.syncedCondition(r, d)
	published := in.dnsCondition()
	list := []Condition{synced, published}
	certificate := in.certificateReport()
	if certificate != nil {
		list = append(list, *certificate)
	}
	list = append(list, in.readyCondition(d, published, certificate))
	for i := range list {
		list[i].Generation = in.Generation
		if list[i].Type == DNSReady {
			list[i].Generation = in.dnsGeneration()
		}
	}
	slices.SortFunc(list, func(a, b Condition) int { return strings.Compare(string(a.Type), string(b.Type)) })
	return list
}

func (in Input) readyCondition(d Decision, published Condition, certificate *Condition) Condition {
	no := func(reason Reason, message string) Condition {
		return Condition{Type: Ready, Reason: reason, Message: message}
	}
	p := d.Problem
	switch {
	case p != nil && p.Of == "":
		return no(p.Reason, p.Message)
	case in.Deleting:
		return in.deletingCondition()
	case in.Paused:
		if ready, ok := in.Memory.Conditions[Ready]; ok && !in.mine() {
			return ready
		}
	}
	switch {
	case !in.mine():
		return in.missingCondition(p)
	case in.World.Tenant.Status != Deployed:
		progress, _ := settled(in)
		return no(progress.Problem.Reason, progress.Problem.Message)
	case !published.Status && !in.dnsWaits():
		return no(published.Reason, published.Message)
	case certificate != nil && !certificate.Status && certificate.Reason != ReasonNotConfigured:
		return no(certificate.Reason, certificate.Message)
	}
	if waiting, fires := serving(in); fires {
		return no(waiting.Problem.Reason, waiting.Problem.Message)
	}
	if !published.Status {
		return no(published.Reason, published.Message)
	}
	message := "Deployed to CloudFront's edge locations and serving every domain."
	if !in.World.Tenant.Enabled {
		message = "Deployed and, as the spec asks, disabled: CloudFront answers none of its domains."
	}
	return Condition{Type: Ready, Status: true, Reason: ReasonDeployed, Message: message}
}

// missingCondition says why there is no tenant yet. While names are published once more for the
// next try, what the last one met is the news.
func (in Input) missingCondition(p *Problem) Condition {
	before := in.Memory.Conditions[Ready]
	switch {
	case before.Generation == in.Generation && in.failing(before.Reason):
		return before
	case p != nil && p.Of == DNSReady:
		return Condition{Type: Ready, Reason: p.Reason, Message: p.Message}
	}
	return Condition{Type: Ready, Reason: ReasonCreating, Message: "The distribution tenant does not exist yet."}
}

// deletingCondition says how far the deletion is when no rule named a problem.
func (in Input) deletingCondition() Condition {
	c := Condition{Type: Ready, Reason: ReasonDeleting, Message: "The distribution tenant is being deleted."}
	switch {
	case in.Paused:
		c.Message = "The deletion waits: the object is paused."
	case in.World.present() && in.World.Tenant.Enabled:
		c.Reason, c.Message = ReasonDisabling, "The distribution tenant is being disabled."
	}
	return c
}

func (in Input) syncedCondition(r Report, d Decision) Condition {
	no := func(reason Reason, message string) Condition {
		return Condition{Type: Synced, Reason: reason, Message: message}
	}
	p := d.Problem
	switch {
	case in.Paused:
		return no(ReasonPaused, "Nothing is written for this object until its paused annotation is removed.")
	case p != nil && (p.Of == Synced || p.Reason == ReasonWrongAccount):
		return no(p.Reason, p.Message)
	case in.Deleting:
		return no(ReasonUpdatePending, "The object is being deleted.")
	case len(d.Drift) > 0:
		return no(ReasonDriftDetected, "The distribution tenant was deleted outside of Kubernetes.")
	case !in.mine():
		return no(ReasonUpdatePending, "The distribution tenant does not exist yet.")
	case !in.reached(r.AppliedGeneration, r.Parents):
		return no(ReasonUpdatePending, in.pendingText())
	case len(r.Drift) > 0:
		return no(ReasonDriftDetected, in.driftText(r.Drift))
	case in.Policy.Drift == DriftSuspend:
		return Condition{Type: Synced, Status: true, Reason: ReasonInSync,
			Message: "The spec was applied. With driftPolicy suspend nothing is said about changes made in AWS since."}
	}
	return Condition{Type: Synced, Status: true, Reason: ReasonInSync, Message: "AWS equals the spec."}
}

func (in Input) pendingText() string {
	diff := append(in.diff(), in.tagChange().Differences(in.World.Tags)...)
	if held, _ := domainsHeld(in); held.Problem != nil && len(diff) == 0 {
		return held.Problem.Message
	}
	switch {
	case len(diff) > 0:
	case in.World.Knowledge == Whole && in.requestWanted():
		return "A managed certificate is requested once every domain leads to CloudFront."
	default:
		return "The spec has not been compared with AWS yet."
	}
	return "Not in AWS yet: " + SomeFields(diff) + "."
}

func (in Input) driftText(drift []Difference) string {
	switch {
	case in.inheriting() && len(in.diff()) == 0:
		return fmt.Sprintf("Left as the adopted distribution tenant has it until the spec changes: %s.", SomeFields(drift))
	case in.Policy.Drift == DriftReport:
		return fmt.Sprintf("Changed in AWS and left so by driftPolicy report: %s.", SomeFields(drift))
	}
	return fmt.Sprintf("Changed in AWS: %s.", SomeFields(drift))
}

// SomeFields names what differs, the first few of it.
func SomeFields(diff []Difference) string {
	names := make([]string, len(diff))
	for i, d := range diff {
		names[i] = d.Field
	}
	return JoinSome(names)
}

// endpointText names where DNS has to point. What status remembers keeps the text stable
// while nobody needs to look it up again.
func (in Input) endpointText() string {
	return orElse(orElse(in.World.RoutingEndpoint, in.Memory.RoutingEndpoint), "the connection group's routing endpoint")
}
