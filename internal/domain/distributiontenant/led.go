package distributiontenant

import (
	"fmt"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// askEvery is the pause between two questions to AWS about domains that public DNS does not lead to CloudFront. It is asked
// all the same, since the resolvers may be wrong.
const askEvery = time.Hour

// asksEdge reports whether CloudFront validates the domains itself, so that it takes none that does not lead to it.
func (in Input) asksEdge() bool {
	r := in.Desired.Request
	return r != nil && r.ValidationTokenHost != certificate.SelfHosted && in.Desired.Customizations.CertificateARN == ""
}

// watches reports whether public DNS is looked at for the domains.
func (in Input) watches() bool { return in.World.Watched && in.Desired.DNS == nil && !in.Deleting }

// undirected are the domains that CloudFront does not serve and that public DNS does not lead there, as far as is known. It
// would refuse them.
func (in Input) undirected() []string {
	if !in.watches() || !in.asksEdge() {
		return nil
	}
	served := in.states()
	return slices.DeleteFunc(slices.Clone(in.Desired.Domains), func(d string) bool {
		way := in.World.Sights[d].Way
		return served[d] == DomainActive || in.World.moves(d) || way == onboarding.Here || way == onboarding.Silent
	})
}

// heldFromAWS are those of which AWS is not asked now.
func (in Input) heldFromAWS() []string {
	if in.Nudged || in.contested() && !in.World.present() || in.asksIn() <= 0 {
		return nil
	}
	return in.undirected()
}

// asksIn is the time until AWS is asked about them. A new spec is not kept waiting: its domains may be covered by a
// certificate, or lead to CloudFront for longer than the resolvers know.
func (in Input) asksIn() time.Duration {
	switch asked := in.Attempts.AskedAWS; {
	case !asked.IsZero() && in.Attempts.AskedFor == in.Generation:
		return asked.Add(askEvery).Sub(in.Now)
	case in.toldToWait():
		return askEvery
	}
	return 0
}

// toldToWait reports whether an earlier process has told that domains of this generation wait for their DNS.
func (in Input) toldToWait() bool {
	ready := in.Memory.Conditions[chain.Ready]
	return ready.Generation == in.Generation && (ready.Reason == resource.ReasonDomainValidationPending || ready.Reason == ReasonDomainChangeHeld)
}

// Asking notes that AWS is asked about the domains.
func (a *Attempts) Asking(generation int64, now time.Time) { a.AskedAWS, a.AskedFor = now, generation }

// Onboarding are the attempts with what is kept in mind of domains that wait: since when AWS was not asked about them, and
// what it said. random, in [0, 1), spreads those that an earlier process has waited with.
func (in Input) Onboarding(random float64) Attempts {
	a := in.Attempts
	switch asked := !a.AskedAWS.IsZero() && a.AskedFor == in.Generation; {
	case len(in.onlyProven().undirected()) == 0:
		a.Asking(0, time.Time{})
	case !asked && in.toldToWait():
		a.Asking(in.Generation, in.Now.Add(-time.Duration(random*float64(askEvery))))
	}
	switch t := in.World.Tenant; {
	case t == nil:
	case t.answersForAll():
		a.Verified, a.Words = time.Time{}, nil
	case a.Verified.IsZero():
		a.Verified = in.Now.Add(-explainAfter - time.Duration(random*float64(explainAfter)))
	}
	switch {
	case in.World.RefusedWith(fault.DomainUnverified):
		a.Refusal, a.RefusedFor = prose.Sentence(in.World.Refused.Message), in.Generation
	case in.World.Refused != nil:
		a.Refusal, a.RefusedFor = "", 0
	}
	if !in.renewsLate() {
		a.RenewalSeen, a.Unrenewed = time.Time{}, nil
	}
	return a
}

// word is what AWS says of a domain: why it was refused, or what keeps one that the tenant has from being served.
func (in Input) word(domain string, has bool) string {
	if a := in.Attempts; !has && a.RefusedFor == in.Generation {
		return a.Refusal
	}
	return in.Attempts.Words[domain]
}

// onlyLed is the input as if the spec of a tenant that exists did not have the domains that are held, apart from those that
// the tenant has.
func (in Input) onlyLed(held []string) Input {
	if len(held) == 0 || !in.World.present() {
		return in
	}
	has := in.World.Tenant.Domains
	kept := slices.DeleteFunc(slices.Clone(in.Desired.Domains), func(d string) bool {
		return slices.Contains(held, d) && !slices.Contains(has, d)
	})
	if len(kept) == 0 {
		kept = has
	}
	in.Desired.Domains = kept
	return in
}

// led keeps a tenant from being created while AWS would refuse its domains.
func led(in judged) (Decision, bool) {
	if in.World.present() || len(in.unled) == 0 || in.World.Refused != nil {
		return pass()
	}
	if d, fires := preflight(in); fires {
		return d, true
	}
	return in.awaitLed(resource.ReasonDomainValidationPending)
}

// contested reports whether AWS has refused the domains because another tenant has one, as far as is known: DNS is not
// what is missing.
func (in Input) contested() bool {
	ready := in.Memory.Conditions[chain.Ready]
	return ready.Reason == resource.ReasonDomainConflict && ready.Generation == in.Generation
}

// awaitLed ends the pass until DNS changes, or it is time to ask AWS all the same. Until public DNS was asked, a new process
// keeps what was said.
func (in judged) awaitLed(reason chain.Reason) (Decision, bool) {
	domains := in.unled
	if len(domains) == 0 {
		domains = in.undirected()
	}
	if in.World.present() {
		// Those that it has are not what is waited for.
		domains = slices.DeleteFunc(slices.Clone(domains), func(d string) bool { return !in.lacks(d) && slices.ContainsFunc(domains, in.lacks) })
	}
	due := in.asksIn()
	if due <= 0 {
		due = askEvery
	}
	if in.World.Sights[domains[0]].Way == "" && in.toldToWait() {
		return do(Rest{After: due, KeepConditions: true})
	}
	text := fmt.Sprintf("spec.domains: %s is added once it points to CloudFront. %s AWS is asked then, and every hour.", domains[0], onboarding.DNSAdvice(in.factsOf(domains[0])))
	if others := len(domains) - 1; others > 0 {
		text += fmt.Sprintf(" status.domains has the records of %s.", prose.Count(others, "more domain", "more domains"))
	}
	return rest(chain.Problem{Reason: reason, Message: text}, due)
}

// inTimeToAsk ends a rest when AWS is to be asked about domains, whatever the reason for the rest.
func (in judged) inTimeToAsk(d Decision) Decision {
	if len(in.unled) == 0 {
		return d
	}
	return within(in.asksIn(), d)
}

// The pauses before AWS is asked what it thinks of a domain's DNS.
const (
	explainAfter = 30 * time.Minute
	explainEvery = time.Hour
)

// explained asks for AWS's own word on domains that it does not serve.
func explained(in judged) (Decision, bool) {
	t := in.World.Tenant
	if t == nil || !in.Desired.Enabled || !t.Enabled || !in.resource.Mine() || in.hostsChallenge() {
		return pass()
	}
	_, waiting := unserved(in.Desired.Domains, *t)
	verified := in.Attempts.Verified
	if len(waiting) == 0 || in.unservedFor() < explainAfter || verified.IsZero() || in.Now.Sub(verified) < explainEvery {
		return pass()
	}
	return do(Look{At: LookWords, Domains: waiting})
}

// hostsChallenge reports whether the web server of the customer has to answer first: DNS is not what is waited for.
func (in judged) hostsChallenge() bool {
	r := in.certificate.Request
	return r != nil && r.ValidationTokenHost == certificate.SelfHosted && !in.certificate.Ready.Status
}

// unservedFor is for how long status has told of a domain that is not served.
func (in Input) unservedFor() (longest time.Duration) {
	for _, told := range in.Memory.Domains {
		if told.State != onboarding.Live && told.State != onboarding.Leaving {
			longest = max(longest, in.Now.Sub(told.Since))
		}
	}
	return longest
}

// A certificate whose renewal is not done renewalFrom before its end is looked at each day.
const (
	renewalFrom  = 45 * 24 * time.Hour
	renewalEvery = 24 * time.Hour
)

// renewsLate reports whether the tenant's own certificate should have been renewed by now.
func (in Input) renewsLate() bool {
	t, s := in.World.Tenant, in.World.Served
	return t != nil && s != nil && s.ARN == t.Customizations.CertificateARN && s.Type == typeAmazonIssued && s.NotAfter.Sub(in.Now) < renewalFrom
}

// renewed asks ACM which domains keep the renewal of the certificate up.
func renewed(in judged) (Decision, bool) {
	if !in.resource.Mine() || !in.renewsLate() || in.Now.Sub(in.Attempts.RenewalSeen) < renewalEvery {
		return pass()
	}
	return do(Look{At: LookRenewal, ARNs: []string{in.World.Served.ARN}})
}

// words are what AWS says of the domains.
func (in Input) words(domains []string) (text string) {
	for _, d := range domains {
		if w := in.Attempts.Words[d]; w != "" {
			text += fmt.Sprintf(" AWS on %s: %s", d, prose.Sentence(w))
		}
	}
	return text
}
