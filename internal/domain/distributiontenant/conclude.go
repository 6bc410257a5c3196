package distributiontenant

import (
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/publication"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Report is what status says after a pass. A nil Tenant leaves status as it is, except for the tenant's state when it
// is Absent.
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
	Requested *certificate.Sent
	// Served is the certificate with which CloudFront answers for the domains of Tenant, as far as is known.
	Served *Served
	// Ledger has the DNS records that are ours, or are about to be.
	Ledger []dns.Entry
	// Keys has the keys in key value stores that are ours, or are about to be.
	Keys []keyvalue.Entry
	// Left are the records that stay in DNS although the tenant goes. Status does not have them.
	Left            []dns.Record
	ChangeID        string
	RoutingEndpoint string
	// Unrouted means that a tenant which does not exist yet will be in a group that is not known.
	Unrouted   bool
	Drift      []resource.Difference
	Failure    *resource.Failure
	Conditions []chain.Condition
	// Domains is what is told of each domain, in the order of the spec.
	Domains []onboarding.Domain
	// Details are for the log of the operator only.
	Details []string
}

// Outcome is how a pass ended.
type Outcome struct {
	Decision Decision
	// Done are the steps that were carried out, in their order.
	Done []Step
	// Err is what ended the pass before its decision could be carried out.
	Err error
}

// Conclude computes the report of a pass. It is pure: the same world gives the same
// report, so that an unchanged one is never written again.
func Conclude(in Input, out Outcome) Report {
	r := conclusion{judge(in)}.report(out)
	// A failure of this pass decides what may be published, and so what each domain waits for.
	in.Memory.Failure = r.Failure
	r.Domains = in.tell(r)
	r.Details = chain.Details(out.Decision.Problem, r.Conditions)
	for _, s := range out.Done {
		if a, ok := s.(Adopt); ok && a.Previous.Detail != "" {
			r.Details = append(r.Details, "The distribution tenant was adopted from "+a.Previous.Detail+".")
		}
	}
	return r
}

// conclusion is the input of a pass that is over.
type conclusion struct{ judged }

func (in conclusion) report(out Outcome) Report {
	v := in.resource
	end, _ := out.Decision.Step.(Rest)
	r := Report{
		ETag: in.Memory.ETag, AppliedGeneration: in.Memory.AppliedGeneration,
		AppliedTagKeys: v.Tags().Keys(end.Announced), Parents: in.Memory.Parents, Failure: in.Memory.Failure,
		RoutingEndpoint: in.World.RoutingEndpoint, Absent: in.World.Knowledge == resource.Absent && !v.Elsewhere(),
		Certificates: in.certificates, Requested: in.Memory.Requested, ChangeID: in.World.DNS.ChangeID,
		Ledger: in.Memory.Ledger, Unrouted: !in.KnowsGroup(),
	}
	if in.World.Knowledge == resource.Nothing || v.Elsewhere() {
		// A fresh process has not seen the tenant yet, and one with credentials of another account can't.
		r.Certificate = in.Memory.Certificate
	}
	if v.Mine() {
		t := *in.World.Tenant
		r.Tenant, r.Served = &t, in.served()
		switch {
		case in.Unresolved():
			r.ETag = in.comparedETag()
		case in.World.Knowledge == resource.Whole || in.trusted():
			r.ETag = t.ETag
		}
		if managed, known := in.certificate.Managed, in.certificate.Known; known {
			r.Certificate = managed
			r.Requested = in.certificate.Sent
		}
		if in.nowApplied() {
			r.AppliedGeneration = in.Generation
			if !in.Deleting && !in.Unresolved() {
				r.Parents = Parents{DistributionID: in.Desired.DistributionID, ConnectionGroupID: in.Desired.ConnectionGroupID}
			}
		}
	}
	r.Keys = in.nextKeys(end, in.reached(r.AppliedGeneration, r.Parents))
	if end.KeepConditions || out.Err != nil {
		r.Drift = in.reportedDrift(r)
		r.Ledger = in.publication.Ledger
		r.Conditions = v.Interrupted(in.Memory.Standing(), out.Err)
		return r
	}
	r.Drift = append(in.reportedDrift(r), end.Drift...)
	// A failure decides what may stay in DNS from now on.
	if r.Failure = v.NextFailure(out.Decision.Problem); r.Failure == nil {
		r.Failure = in.lastingFailure(out.Decision.Problem)
	}
	if r.Failure != in.Memory.Failure {
		in.Memory.Failure = r.Failure
		in.judged = judge(in.Input)
	}
	r.Ledger, r.Left = in.publication.Ledger, in.publication.Left
	r.Conditions = in.conditions(r, out.Decision)
	return r
}

// nowApplied reports whether the present generation has reached AWS: nothing differs,
// or what differs was sent and accepted.
func (in conclusion) nowApplied() bool {
	if in.resource.Applied || in.Deleting {
		return in.resource.Applied
	}
	if in.Unresolved() || in.World.Knowledge != resource.Whole || !in.World.TagsKnown || !in.resource.Tags().Change().Empty() || in.partial() || in.certificate.Wanted || in.awaitsKeys() {
		return false
	}
	return len(in.aim.diff) == 0 || in.resource.Accepted()
}

// reportedDrift is what status lists as differing from a generation that was applied.
func (in conclusion) reportedDrift(r Report) []resource.Difference {
	if in.Deleting || in.Unresolved() || !in.resource.Mine() || !in.reached(r.AppliedGeneration, r.Parents) || in.Policy.Drift == resource.DriftSuspend {
		return nil
	}
	return slices.Concat(in.aim.open, in.resource.Tags().Differences(), in.publication.Drift, in.keyDrift())
}

// lastingFailure is one whose next try takes a while: it is forgotten when that has worked,
// or else the pauses between the tries would never grow.
func (in conclusion) lastingFailure(p *chain.Problem) *resource.Failure {
	f := in.Memory.Failure
	if f == nil || f.Generation != in.Generation || p == nil {
		return nil
	}
	requested := f.Reason == resource.ReasonCertificateFailed && p.Of != chain.Ready
	republished := !in.World.present() && p.Of == DNSReady && publication.Passes(p.Reason) ||
		p.Reason == ReasonDomainChangeHeld && in.first && in.certificate.Stage != certificate.Underway
	if requested || republished {
		return f
	}
	return nil
}

func (in conclusion) conditions(r Report, d Decision) []chain.Condition {
	synced := in.syncedCondition(r, d)
	published := in.publication.Ready
	list := []chain.Condition{synced, published}
	certificate := in.certificateReport()
	if certificate != nil {
		list = append(list, *certificate)
	}
	list = append(list, in.readyCondition(d, published, certificate))
	list = in.resource.Stamped(r.AppliedGeneration, list...)
	for i := range list {
		if list[i].Type == DNSReady {
			list[i].Generation = published.Generation
		}
	}
	return list
}

func (in conclusion) readyCondition(d Decision, published chain.Condition, certificate *chain.Condition) chain.Condition {
	no := func(reason chain.Reason, message string) chain.Condition {
		return chain.Condition{Type: chain.Ready, Reason: reason, Message: message}
	}
	p := d.Problem
	switch {
	case p != nil && p.Of == "":
		return no(p.Reason, p.Message)
	case in.Deleting:
		return in.deletingCondition()
	case in.Halt != nil && in.Halt.Alone && !in.resource.Mine():
		return no(in.Halt.Reason, in.Halt.Message)
	case in.Still():
		if ready, ok := in.Memory.Conditions[chain.Ready]; ok && !in.resource.Mine() {
			return ready
		}
	}
	switch {
	case !in.resource.Mine():
		return in.missingCondition(p)
	case in.World.Tenant.Status != Deployed:
		progress, _ := settled(in.judged)
		return no(progress.Problem.Reason, progress.Problem.Message)
	case !published.Status && !in.publication.Alone:
		return no(published.Reason, published.Message)
	case certificate != nil && !certificate.Status && certificate.Reason != ReasonNotConfigured:
		return no(certificate.Reason, certificate.Message)
	}
	if disabled := in.distributionDisabled(); disabled != nil {
		return no(disabled.Reason, disabled.Message)
	}
	if lost := in.lostKeys(); lost != nil {
		return no(lost.Reason, lost.Message)
	}
	if waiting, fires := serving(in.judged); fires {
		return no(waiting.Problem.Reason, waiting.Problem.Message)
	}
	if !published.Status {
		return no(published.Reason, published.Message)
	}
	message := "Deployed to CloudFront's edge locations and serving every domain."
	if !in.World.Tenant.Enabled {
		message = "Deployed and disabled, as the spec requests: CloudFront does not answer for its domains."
	}
	return chain.Condition{Type: chain.Ready, Status: true, Reason: resource.ReasonDeployed, Message: message}
}

// missingCondition says why there is no tenant yet. While names are published once more for the
// next try, what the last one met is the news.
func (in conclusion) missingCondition(p *chain.Problem) chain.Condition {
	before := in.Memory.Conditions[chain.Ready]
	switch {
	case before.Generation == in.Generation && in.resource.Failing(before.Reason):
		return before
	case p != nil && p.Of == DNSReady:
		return chain.Condition{Type: chain.Ready, Reason: p.Reason, Message: p.Message}
	}
	return chain.Condition{Type: chain.Ready, Reason: resource.ReasonCreating, Message: in.resource.MissingText()}
}

// deletingCondition says how far the deletion is when no rule named a problem.
func (in conclusion) deletingCondition() chain.Condition {
	c := chain.Condition{Type: chain.Ready, Reason: resource.ReasonDeleting, Message: "The distribution tenant is being deleted."}
	switch {
	case in.Still():
		c.Message = "The deletion is on hold. " + in.StillText()
	case in.World.present() && in.World.Tenant.Enabled:
		c.Reason, c.Message = resource.ReasonDisabling, "The distribution tenant is being disabled."
	}
	return c
}

func (in conclusion) syncedCondition(r Report, d Decision) chain.Condition {
	v := in.resource
	end, _ := d.Step.(Rest)
	if c, told := v.Unsynced(d.Problem, len(end.Drift) > 0); told {
		return c
	}
	switch {
	case !v.Mine():
		return resource.Pending(in.resource.MissingText())
	case in.turn.waits && in.World.TurnKnown && !in.World.Turn.Go:
		return in.rollingOut()
	case !in.reached(r.AppliedGeneration, r.Parents):
		return in.pending()
	}
	return v.Synced(r.Drift, v.Inheriting() && len(in.aim.diff) == 0)
}

// pending says what has not reached AWS yet, and that nothing but a proof is missing where that is so.
func (in conclusion) pending() chain.Condition {
	c := resource.Pending(in.pendingText())
	if held, _ := domainsHeld(in.judged); held.Problem != nil && held.Problem.Reason == proof.ReasonDomainNotProven && held.Problem.Message == c.Message {
		c.Reason = held.Problem.Reason
	}
	return c
}

func (in conclusion) pendingText() string {
	diff := slices.Concat(in.aim.diff, in.resource.Tags().Differences())
	if in.turn.waits {
		diff = slices.Concat(in.turn.service, diff)
	}
	for _, rule := range []func(judged) (Decision, bool){takenOff, domainsHeld} {
		if held, _ := rule(in.judged); held.Problem != nil && len(diff) == 0 {
			return held.Problem.Message
		}
	}
	if len(diff) == 0 && in.World.Knowledge == resource.Whole && in.certificate.Wanted {
		return "The managed certificate is requested once every domain points to CloudFront."
	}
	return resource.PendingText(diff)
}

// comparedETag is the ETag to remember of a tenant that is not compared with the spec for now: the one that was
// known to equal it, as long as it stays. With it, a parent that comes back costs no read of each tenant.
func (in conclusion) comparedETag() string {
	compared := in.Memory.Conditions[chain.Synced].Status || in.Memory.waitedForReference() || in.Still()
	if compared && in.World.Tenant.ETag == in.Memory.ETag {
		return in.Memory.ETag
	}
	return ""
}

// certificateReport is the condition of a managed certificate; nil when none is asked for.
func (in conclusion) certificateReport() *chain.Condition {
	before, had := in.Memory.Conditions[CertificateReady]
	unseen := in.World.Knowledge == resource.Nothing && in.Memory.ID != ""
	switch {
	case in.Desired.Request != nil && unseen && had:
		return &before
	case in.Desired.Request != nil:
		c := in.certificate.Ready
		if t := in.World.Tenant; t != nil && !c.Status {
			_, waiting := unserved(in.Desired.Domains, *t)
			c.Message += in.words(waiting)
		}
		return &c
	}
	if !had || before.Reason == ReasonNotConfigured && before.Generation != in.Generation {
		return nil
	}
	return &chain.Condition{Type: CertificateReady, Reason: ReasonNotConfigured, Message: "The spec no longer requests a managed certificate."}
}
