package distributiontenant

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
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
	Certificate *certificate.Managed
	// Certificates are the ARNs of all managed certificates that were seen for this tenant.
	Certificates []string
	// Requested is the request for a managed certificate that was last sent.
	Requested *SentRequest
	// Ledger has the DNS records that are ours, or are about to be.
	Ledger          []dns.Entry
	ChangeID        string
	RoutingEndpoint string
	Drift           []resource.Difference
	Failure         *resource.Failure
	Conditions      []chain.Condition
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
		RoutingEndpoint: in.World.RoutingEndpoint, Absent: in.World.Knowledge == resource.Absent,
		Certificates: in.seenCertificates(), Requested: in.Memory.Requested, ChangeID: in.World.DNS.ChangeID,
		Ledger: in.Memory.Ledger,
	}
	if in.World.Knowledge == resource.Nothing {
		// A fresh process has not seen the tenant yet.
		r.Certificate = in.Memory.Certificate
	}
	if in.mine() {
		t := *in.World.Tenant
		r.Tenant = &t
		switch {
		case in.Unresolved():
			r.ETag = in.keptETag()
		case in.World.Knowledge == resource.Whole || in.trusted():
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
			r.AppliedTagKeys = resource.AppliedKeys(in.Desired.Tags, in.World.Tags, in.Memory.AppliedTagKeys)
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
	if in.Unresolved() || in.World.Knowledge != resource.Whole || !in.World.TagsKnown || !in.tagChange().Empty() || in.holdsDomains() || in.requestWanted() {
		return false
	}
	return len(in.diff()) == 0 || in.Attempts.AcceptedFor == in.Generation && in.Attempts.Accepted&resource.WroteConfig != 0
}

// reportedDrift is what status lists as differing from a generation that was applied.
func (in Input) reportedDrift(r Report) []resource.Difference {
	if in.Deleting || in.Unresolved() || !in.mine() || !in.reached(r.AppliedGeneration, r.Parents) || in.Policy.Drift == resource.DriftSuspend {
		return nil
	}
	drift := append(in.openDiff(), in.tagChange().Differences(in.World.Tags)...)
	return append(drift, in.dnsDrift()...)
}

// unchanged keeps the conditions of the last pass, but for what the failure itself says.
func (in Input) unchanged(err error) []chain.Condition {
	out := slices.SortedFunc(maps.Values(in.Memory.Conditions), func(a, b chain.Condition) int { return strings.Compare(string(a.Type), string(b.Type)) })
	ready, known := in.Memory.Conditions[chain.Ready]
	say := func(reason chain.Reason, message string) []chain.Condition {
		out = slices.DeleteFunc(out, func(c chain.Condition) bool { return c.Type == chain.Ready })
		return append(out, chain.Condition{Type: chain.Ready, Reason: reason, Message: message, Generation: in.Generation})
	}
	switch {
	case err == nil:
		return out
	case fault.Is(err, fault.Throttled):
		if !known && fault.RetryAfter(err) > queueWait {
			return say(resource.ReasonCreating, "Waiting for a turn: the operator's share of the AWS request rate is in use.")
		}
	case fault.Classified(err) && in.Attempts.Transients >= shownAfter && (!ready.Status || !in.applied()):
		return say(resource.ReasonAWSError, err.Error())
	}
	return out
}

// failure remembers the problem, and since when this generation has been failing.
func (in Input) failure(p *chain.Problem) *resource.Failure {
	if p == nil || !p.Stuck {
		// What did not take before has not taken until it has stayed for a while: somebody who
		// changes it back again and again meets ever longer pauses.
		if f := in.notConvergingSince(); f != nil && in.Now.Sub(in.Attempts.LastCorrection) < resource.StableFor {
			return f
		}
		return in.lastingFailure(p)
	}
	f := resource.Failure{Reason: p.Reason, Generation: in.Generation, Since: in.Now}
	if old := in.Memory.Failure; old != nil && old.Generation == in.Generation {
		f.Since = old.Since
	}
	return &f
}

// lastingFailure is one whose next try takes a while: it is forgotten when that has worked,
// or else the pauses between the tries would never grow.
func (in Input) lastingFailure(p *chain.Problem) *resource.Failure {
	f := in.Memory.Failure
	if f == nil || f.Generation != in.Generation || p == nil {
		return nil
	}
	requested := f.Reason == resource.ReasonCertificateFailed && p.Of != chain.Ready
	republished := !in.World.present() && p.Of == DNSReady && severity(p.Reason) <= severity(ReasonDNSRecordCreating) ||
		p.Reason == ReasonDomainChangeHeld && in.provesByDNS() && in.stage() != underway
	if requested || republished {
		return f
	}
	return nil
}

func (in Input) conditions(r Report, d Decision) []chain.Condition {
	synced := in.syncedCondition(r, d)
	published := in.dnsCondition()
	list := []chain.Condition{synced, published}
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
	slices.SortFunc(list, func(a, b chain.Condition) int { return strings.Compare(string(a.Type), string(b.Type)) })
	return list
}

func (in Input) readyCondition(d Decision, published chain.Condition, certificate *chain.Condition) chain.Condition {
	no := func(reason chain.Reason, message string) chain.Condition {
		return chain.Condition{Type: chain.Ready, Reason: reason, Message: message}
	}
	p := d.Problem
	switch {
	case p != nil && p.Of == "":
		return no(p.Reason, p.Message)
	case in.Deleting:
		return in.deletingCondition()
	case in.Paused:
		if ready, ok := in.Memory.Conditions[chain.Ready]; ok && !in.mine() {
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
	return chain.Condition{Type: chain.Ready, Status: true, Reason: resource.ReasonDeployed, Message: message}
}

// missingCondition says why there is no tenant yet. While names are published once more for the
// next try, what the last one met is the news.
func (in Input) missingCondition(p *chain.Problem) chain.Condition {
	before := in.Memory.Conditions[chain.Ready]
	switch {
	case before.Generation == in.Generation && in.failing(before.Reason):
		return before
	case p != nil && p.Of == DNSReady:
		return chain.Condition{Type: chain.Ready, Reason: p.Reason, Message: p.Message}
	}
	return chain.Condition{Type: chain.Ready, Reason: resource.ReasonCreating, Message: "The distribution tenant does not exist yet."}
}

// deletingCondition says how far the deletion is when no rule named a problem.
func (in Input) deletingCondition() chain.Condition {
	c := chain.Condition{Type: chain.Ready, Reason: resource.ReasonDeleting, Message: "The distribution tenant is being deleted."}
	switch {
	case in.Paused:
		c.Message = "The deletion waits: the object is paused."
	case in.World.present() && in.World.Tenant.Enabled:
		c.Reason, c.Message = resource.ReasonDisabling, "The distribution tenant is being disabled."
	}
	return c
}

func (in Input) syncedCondition(r Report, d Decision) chain.Condition {
	no := func(reason chain.Reason, message string) chain.Condition {
		return chain.Condition{Type: chain.Synced, Reason: reason, Message: message}
	}
	p := d.Problem
	switch {
	case in.Paused:
		return no(resource.ReasonPaused, "Nothing is written for this object until its paused annotation is removed.")
	case p != nil && (p.Of == chain.Synced || p.Reason == resource.ReasonWrongAccount):
		return no(p.Reason, p.Message)
	case in.Deleting:
		return no(resource.ReasonUpdatePending, "The object is being deleted.")
	case len(d.Drift) > 0:
		return no(resource.ReasonDriftDetected, "The distribution tenant was deleted outside of Kubernetes.")
	case !in.mine():
		return no(resource.ReasonUpdatePending, "The distribution tenant does not exist yet.")
	case !in.reached(r.AppliedGeneration, r.Parents):
		return no(resource.ReasonUpdatePending, in.pendingText())
	case len(r.Drift) > 0:
		return no(resource.ReasonDriftDetected, in.driftText(r.Drift))
	case in.Policy.Drift == resource.DriftSuspend:
		return chain.Condition{Type: chain.Synced, Status: true, Reason: resource.ReasonInSync,
			Message: "The spec was applied. With driftPolicy suspend nothing is said about changes made in AWS since."}
	}
	return chain.Condition{Type: chain.Synced, Status: true, Reason: resource.ReasonInSync, Message: "AWS equals the spec."}
}

func (in Input) pendingText() string {
	diff := append(in.diff(), in.tagChange().Differences(in.World.Tags)...)
	if held, _ := domainsHeld(in); held.Problem != nil && len(diff) == 0 {
		return held.Problem.Message
	}
	switch {
	case len(diff) > 0:
	case in.World.Knowledge == resource.Whole && in.requestWanted():
		return "A managed certificate is requested once every domain leads to CloudFront."
	default:
		return "The spec has not been compared with AWS yet."
	}
	return "Not in AWS yet: " + resource.SomeFields(diff) + "."
}

func (in Input) driftText(drift []resource.Difference) string {
	switch {
	case in.inheriting() && len(in.diff()) == 0:
		return fmt.Sprintf("Left as the adopted distribution tenant has it until the spec changes: %s.", resource.SomeFields(drift))
	case in.Policy.Drift == resource.DriftReport:
		return fmt.Sprintf("Changed in AWS and left so by driftPolicy report: %s.", resource.SomeFields(drift))
	}
	return fmt.Sprintf("Changed in AWS: %s.", resource.SomeFields(drift))
}

// endpointText names where DNS has to point. What status remembers keeps the text stable
// while nobody needs to look it up again.
func (in Input) endpointText() string {
	return orElse(orElse(in.World.RoutingEndpoint, in.Memory.RoutingEndpoint), "the connection group's routing endpoint")
}
