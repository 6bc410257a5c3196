package edge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/cert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/edge"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

const newARN = "arn:aws:acm:us-east-1:111122223333:certificate/managed"

func TestCertificateStages(t *testing.T) {
	for name, q := range certificateCases() {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}

// sent is a tenant for which a certificate was requested an hour ago, and whose domain waits.
func sent(in *edge.Input) {
	requested(in)
	change(in, func(t *edge.Observed) { t.DomainStates = map[string]string{"alpha.example.com": "inactive"} })
	in.Memory.Requested = &edge.SentRequest{CertificateRequest: *in.Desired.Request, At: now.Add(-time.Hour)}
}

// managed is what was read of the certificate in this pass; nothing when its state is empty.
func managed(arn string, state cert.State) func(*edge.Input) {
	return func(in *edge.Input) {
		in.World.ManagedKnown, in.World.Managed = true, nil
		if state != "" {
			in.World.Managed = &cert.Managed{ARN: arn, State: state, Tokens: []cert.Token{{Domain: "alpha.example.com"}}}
			in.Memory.Certificates = []string{arn}
		}
	}
}

// recalled is what an earlier pass of this process read.
func recalled(ago time.Duration, arn string, state cert.State) func(*edge.Input) {
	return func(in *edge.Input) {
		managed(arn, state)(in)
		in.Attempts.CertificateSeen, in.Attempts.CertificateETag = now.Add(-ago), in.World.Tenant.ETag
		in.Attempts.Certificate = in.World.Managed
		in.World.ManagedKnown, in.World.Managed = false, nil
	}
}

func attachedTo(arn string) func(*edge.Input) {
	return func(in *edge.Input) {
		change(in, func(t *edge.Observed) { t.Customizations.CertificateARN = arn })
	}
}

func serving(in *edge.Input) {
	change(in, func(t *edge.Observed) { t.DomainStates = map[string]string{"alpha.example.com": edge.DomainActive} })
}

// failedSince is a certificate that has been failing on this generation.
func failedSince(since, last time.Duration) func(*edge.Input) {
	return func(in *edge.Input) {
		in.Memory.Failure = &edge.Failure{Reason: edge.ReasonCertificateFailed, Generation: in.Generation, Since: now.Add(-since)}
		in.Attempts.Last = now.Add(-last)
	}
}

func certificateCases() map[string]question {
	look := edge.Look{At: edge.LookManaged}
	nudged := func(in *edge.Input) {
		in.Nudged, in.World.TenantFresh, in.World.TagsFresh = true, true, true
	}
	request := with(quiet(), requested).Desired.Request
	update := func(arn string, r *edge.CertificateRequest) edge.Step {
		return edge.Update{ID: tenantID, ETag: "E-1", Tenant: withCertificate(target(quiet()), arn), Request: r}
	}
	asks := func(in edge.Input) question {
		return question{in: in, rule: "Faithful", step: update(in.World.Tenant.Customizations.CertificateARN, request)}
	}
	waits := func(in edge.Input, after time.Duration) question {
		return question{in: in, rule: "CertificateUsable", step: edge.Rest{After: after}, reason: edge.ReasonPendingValidation}
	}
	fails := func(in edge.Input) question {
		return question{in: in, rule: "CertificateUsable", step: edge.Rest{}, reason: edge.ReasonCertificateFailed, stuck: true}
	}
	timedOut := with(quiet(), sent, managed(newARN, cert.TimedOut))
	issued := with(quiet(), sent, managed(newARN, cert.Issued))
	done := with(issued, attachedTo(newARN), serving)
	lost := with(quiet(), sent, managed("", ""))
	own := func(arn string) func(*edge.Input) {
		return func(in *edge.Input) { in.Desired.Customizations.CertificateARN = arn }
	}
	sentAgo := func(ago time.Duration) func(*edge.Input) {
		return func(in *edge.Input) {
			in.Memory.Requested = &edge.SentRequest{CertificateRequest: *in.Desired.Request, At: now.Add(-ago)}
		}
	}
	otherHost := func(in *edge.Input) {
		in.Desired.Request = &edge.CertificateRequest{ValidationTokenHost: edge.SelfHosted, PrimaryDomainName: "alpha.example.com"}
	}
	second := func(in *edge.Input) { in.Desired.Domains = []string{"alpha.example.com", "beta.example.com"} }
	both := target(quiet())
	both.Domains = []string{"alpha.example.com", "beta.example.com"}
	both.Customizations.CertificateARN = newARN
	otherRequest := with(quiet(), otherHost).Desired.Request
	changed := with(issued, drifted)
	kept := changed.World.Tenant.Tenant
	kept.Customizations.CertificateARN = newARN
	return map[string]question{
		// Pending.
		"right after the request nobody looks":                       waits(with(quiet(), sent, sentAgo(0), recalled(0, "", cert.Pending)), time.Minute),
		"a minute later somebody does":                               {in: with(quiet(), sent, sentAgo(time.Minute), recalled(time.Minute, "", cert.Pending)), rule: "CertificateKnown", step: look},
		"the pause grows with the age of the request":                waits(with(quiet(), sent, sentAgo(4*time.Minute), recalled(time.Minute, newARN, cert.Pending)), 2*time.Minute),
		"to five minutes":                                            waits(with(quiet(), sent, recalled(time.Minute, newARN, cert.Pending)), 4*time.Minute),
		"where the ETag is known to tell, it is five from the start": waits(with(quiet(), sent, sentAgo(time.Minute), recalled(time.Minute, "", cert.Pending), func(in *edge.Input) { in.World.CertificateMovesETag = true }), 4*time.Minute),
		"an ETag that moved is a reason to look at once":             {in: with(quiet(), sent, recalled(time.Second, newARN, cert.Pending), movedETag), rule: "CertificateKnown", step: look},
		"so is a person who asks":                                    {in: with(quiet(), sent, recalled(time.Second, newARN, cert.Pending), nudged), rule: "CertificateKnown", step: look},
		"a fresh process looks at what was pending":                  {in: with(quiet(), sent, func(in *edge.Input) { in.Memory.Certificate = &cert.Managed{State: cert.Pending} }), rule: "CertificateKnown", step: look},
		"an answer from before the request is none":                  waits(with(quiet(), sent, sentAgo(30*time.Second), recalled(20*time.Second, "", "")), 40*time.Second),
		"a state that nobody knows is waited out":                    waits(with(quiet(), sent, managed(newARN, "something-new")), 5*time.Minute),

		// Issued.
		"one that is issued is attached":                                 {in: issued, rule: "Faithful", step: update(newARN, nil)},
		"on the strength of the list alone, if all it shows is as asked": {in: with(issued, listed, movedETag), rule: "Faithful", step: edge.Update{ID: tenantID, ETag: "E-2", Tenant: withCertificate(target(quiet()), newARN)}},
		"and not if it shows something else":                             {in: with(issued, listed, movedETag, disabledTenant), rule: "Fresh", step: edge.Look{At: edge.LookTenant}},
		"once attached it is done":                                       {in: done, rule: "Idle", step: edge.Rest{}},
		"also where AWS attached it":                                     {in: with(quiet(), sent, serving, managed(newARN, cert.Issued), attachedTo(newARN)), rule: "Idle", step: edge.Rest{}},
		"and in a fresh process":                                         {in: with(quiet(), sent, serving, attachedTo(newARN), func(in *edge.Input) { in.Memory.Certificate = &cert.Managed{ARN: newARN, State: cert.Issued} }), rule: "Idle", step: edge.Rest{}},
		"a fresh process looks while a domain is not served":             {in: with(quiet(), sent, attachedTo(newARN), func(in *edge.Input) { in.Memory.Certificate = &cert.Managed{ARN: newARN, State: cert.Issued} }), rule: "CertificateKnown", step: look},
		"a new one takes the place of the one before":                    {in: with(issued, attachedTo(ownARN), serving), rule: "Faithful", step: update(newARN, nil)},
		"under report it is attached, and nothing else is written":       {in: with(changed, drift(edge.DriftReport)), rule: "Faithful", step: edge.Update{ID: tenantID, ETag: "E-1", Tenant: kept}},
		"under suspend too":                                              {in: with(changed, drift(edge.DriftSuspend)), rule: "Faithful", step: edge.Update{ID: tenantID, ETag: "E-1", Tenant: kept}},
		"what the list does not show is read before it is sent back":     {in: with(issued, listed, drift(edge.DriftReport)), rule: "Faithful", step: edge.Look{At: edge.LookTenant}},
		"somebody who takes it off again and again is let win for a while": {
			in: with(issued, func(in *edge.Input) {
				in.Attempts = edge.Attempts{Tries: edge.Tries{AcceptedFor: in.Generation, Corrections: edge.MaxCorrections, LastCorrection: now.Add(-time.Minute)}}
			}),
			rule: "Faithful", step: edge.Rest{}, reason: edge.ReasonDriftNotConverging, stuck: true,
		},

		// Failed.
		"one that timed out is said":                  fails(timedOut),
		"one that failed":                             fails(with(quiet(), sent, managed(newARN, cert.Failed))),
		"one that was revoked":                        fails(with(quiet(), sent, managed(newARN, cert.Revoked))),
		"one that expired":                            fails(with(quiet(), sent, managed(newARN, cert.Expired), attachedTo(newARN), serving)),
		"and one that is inactive":                    fails(with(quiet(), sent, managed(newARN, cert.Inactive))),
		"another is not asked for before ten minutes": fails(with(timedOut, failedSince(9*time.Minute, 5*time.Minute))),
		"nor when a try was made a moment ago":        fails(with(timedOut, failedSince(15*time.Minute, time.Minute))),
		"nor by a process that has just begun":        fails(with(timedOut, failedSince(12*time.Minute, 0))),
		"when it is due it is":                        asks(with(timedOut, failedSince(21*time.Minute, 2*time.Minute))),
		"after it was looked at once more":            {in: with(quiet(), sent, recalled(20*time.Minute, newARN, cert.TimedOut), failedSince(21*time.Minute, 2*time.Minute)), rule: "CertificateKnown", step: look},
		"an edit is a reason to ask at once":          asks(with(timedOut, failedSince(time.Minute, time.Minute), edited)),
		"one request for each edit":                   fails(with(timedOut, edited, func(in *edge.Input) { in.Attempts.AcceptedFor = in.Generation })),
		"also when the process that sent it is gone":  fails(with(timedOut, edited, failedSince(time.Minute, time.Minute))),
		"a person is a reason to ask at once":         asks(with(timedOut, failedSince(time.Minute, time.Minute), nudged)),
		"one that AWS refuses for want of proof has failed all the same": {
			in:   with(timedOut, failedSince(21*time.Minute, 0), refused(fault.DomainUnverified)),
			rule: "Faithful", step: edge.Rest{}, reason: edge.ReasonCertificateFailed, stuck: true,
		},
		"under report it is asked for too":                    asks(with(timedOut, failedSince(21*time.Minute, 2*time.Minute), drift(edge.DriftReport))),
		"the one before is stored before it is superseded":    {in: with(timedOut, edited, func(in *edge.Input) { in.Memory.Certificates = nil }), rule: "Faithful", step: edge.Rest{Store: true}},
		"drift is corrected all the while":                    {in: with(timedOut, failedSince(time.Minute, time.Minute), drifted), rule: "Faithful", step: edge.Update{ID: tenantID, ETag: "E-1", Tenant: target(quiet()), Drift: []edge.Difference{{Field: "parameters[tier]", Desired: "gold", Observed: "lead"}}}},
		"a certificate that is attached stays while it fails": asks(with(timedOut, attachedTo(ownARN), edited)),

		// Lost, never sent, needless.
		"a request that AWS does not know is said":            fails(lost),
		"also in a pass that does not ask":                    fails(with(quiet(), sent, recalled(30*time.Minute, "", ""))),
		"it is sent again when due":                           asks(with(lost, failedSince(21*time.Minute, 2*time.Minute))),
		"and not before":                                      fails(with(lost, failedSince(9*time.Minute, time.Minute))),
		"nothing was to be requested where all is served":     {in: with(lost, serving), rule: "Idle", step: edge.Rest{}},
		"also in a pass that does not ask, however long ago":  {in: with(quiet(), sent, serving, recalled(30*time.Minute, "", "")), rule: "Idle", step: edge.Rest{}},
		"a request that came into the spec later is sent":     asks(with(quiet(), requested, managed("", ""))),
		"not for an adopted tenant that keeps what it has":    {in: with(quiet(), requested, managed("", ""), func(in *edge.Input) { in.AdoptedGeneration = in.Generation }), rule: "CertificateUsable", step: edge.Rest{}, reason: edge.ReasonPendingValidation},
		"a domain that an old certificate lacks was lost too": fails(with(quiet(), second, sent, attachedTo(ownARN), managed(ownARN, cert.Issued), func(in *edge.Input) { change(in, func(t *edge.Observed) { t.Domains = both.Domains }) })),

		// Changed.
		"a changed request is sent once the certificate is issued": {in: with(done, otherHost, edited), rule: "Faithful", step: update(newARN, otherRequest)},
		"while one is pending it waits":                            waits(with(quiet(), sent, otherHost, managed(newARN, cert.Pending), edited), 5*time.Minute),
		"a new domain comes with a request of its own":             {in: with(done, second, edited), rule: "Faithful", step: edge.Update{ID: tenantID, ETag: "E-1", Tenant: both, Request: request}},
		"also in a process that does not know what is covered": {
			in: with(quiet(), sent, serving, attachedTo(newARN), second, edited, func(in *edge.Input) {
				in.Memory.Certificate, in.Memory.Certificates = &cert.Managed{ARN: newARN, State: cert.Issued}, []string{newARN}
			}),
			rule: "Faithful", step: edge.Update{ID: tenantID, ETag: "E-1", Tenant: both, Request: request},
		},
		"while a request is pending it is held": {in: with(quiet(), sent, second, managed(newARN, cert.Pending), edited), rule: "DomainsHeld", step: edge.Rest{After: 5 * time.Minute}, reason: edge.ReasonDomainChangeHeld},
		"neither does a domain go, which would never be proven": {
			in:   with(quiet(), sent, managed(newARN, cert.Pending), func(in *edge.Input) { change(in, func(t *edge.Observed) { t.Domains = both.Domains }) }, edited),
			rule: "DomainsHeld", step: edge.Rest{After: 5 * time.Minute}, reason: edge.ReasonDomainChangeHeld,
		},
		"one that the spec names wins":   {in: with(done, own(ownARN), edited), rule: "Faithful", step: update(ownARN, nil)},
		"an equal one is the same":       {in: with(done, own(newARN)), rule: "Idle", step: edge.Rest{}},
		"nothing is requested beside it": {in: with(quiet(), sent, serving, own(ownARN), attachedTo(ownARN), managed("", "")), rule: "Idle", step: edge.Rest{}},
	}
}

// What stands in the condition of the certificate, in a pass that reads and in one that does not.
func TestCertificateCondition(t *testing.T) {
	selfHosted := func(in *edge.Input) {
		in.Desired.Request = &edge.CertificateRequest{ValidationTokenHost: edge.SelfHosted}
		in.World.ManagedKnown = true
		in.World.Managed = &cert.Managed{ARN: newARN, State: cert.Pending, Host: edge.SelfHosted, Tokens: []cert.Token{
			{Domain: "alpha.example.com", RedirectFrom: "alpha.example.com/.well-known/x.txt", RedirectTo: "validation.example/x.txt"},
		}}
	}
	for name, test := range map[string]struct {
		in     edge.Input
		reason edge.Reason
		says   string
	}{
		"pending":           {with(quiet(), sent, managed(newARN, cert.Pending)), edge.ReasonPendingValidation, "d1.cloudfront.net"},
		"self-hosted":       {with(quiet(), sent, selfHosted), edge.ReasonPendingValidation, "redirect http://alpha.example.com/.well-known/x.txt to https://validation.example/x.txt"},
		"issued":            {with(quiet(), sent, managed(newARN, cert.Issued)), edge.ReasonAttaching, newARN},
		"attached":          {with(quiet(), sent, managed(newARN, cert.Issued), attachedTo(newARN)), edge.ReasonValidated, ""},
		"timed out":         {with(quiet(), sent, managed(newARN, cert.TimedOut)), edge.ReasonCertificateFailed, "72 hours"},
		"lost":              {with(quiet(), sent, managed("", "")), edge.ReasonCertificateFailed, "acm:RequestCertificate"},
		"needless":          {with(quiet(), sent, serving, managed("", "")), edge.ReasonValidated, "nothing to request"},
		"needless, unread":  {with(quiet(), sent, serving, recalled(30*time.Minute, "", "")), edge.ReasonValidated, "nothing to request"},
		"lost, unread":      {with(quiet(), sent, recalled(4*time.Minute, "", "")), edge.ReasonCertificateFailed, "acm:RequestCertificate"},
		"timed out, unread": {with(quiet(), sent, recalled(time.Hour, newARN, cert.TimedOut)), edge.ReasonCertificateFailed, "72 hours"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range conclude(test.in).Conditions {
				if c.Type == edge.CertificateReady && (c.Reason != test.reason || !strings.Contains(c.Message, test.says)) {
					t.Errorf("%s: %s; want %s with %q", c.Reason, c.Message, test.reason, test.says)
				}
			}
		})
	}
}

// A failure of a certificate is remembered through the next request, and forgotten with the
// certificate that comes of it.
func TestCertificateFailureLasts(t *testing.T) {
	failing := failedSince(time.Hour, time.Minute)
	remembered := &edge.Failure{Reason: edge.ReasonCertificateFailed, Generation: 2, Since: now.Add(-time.Hour)}
	for name, test := range map[string]struct {
		in   edge.Input
		want *edge.Failure
	}{
		"the first time it starts":        {with(quiet(), sent, managed(newARN, cert.TimedOut)), &edge.Failure{Reason: edge.ReasonCertificateFailed, Generation: 2, Since: now}},
		"it stays while it fails":         {with(quiet(), sent, managed(newARN, cert.TimedOut), failing), remembered},
		"while the next one is pending":   {with(quiet(), sent, managed(newARN, cert.Pending), failing), remembered},
		"while the request is deployed":   {with(quiet(), sent, managed(newARN, cert.Pending), failing, inProgress), remembered},
		"until there is one":              {with(quiet(), sent, serving, managed(newARN, cert.Issued), attachedTo(newARN), failing), nil},
		"an edit makes it another matter": {with(quiet(), sent, managed(newARN, cert.Pending), failing, edited), nil},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(test.want, conclude(test.in).Failure); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// What was read is kept for the day of the deletion, superseded ones included.
func TestCertificatesAreCollected(t *testing.T) {
	before := func(in *edge.Input) { in.Memory.Certificates = []string{ownARN} }
	for name, test := range map[string]struct {
		in   edge.Input
		want []string
	}{
		"a new one comes last":                 {with(quiet(), sent, managed(newARN, cert.Issued), before), []string{ownARN, newARN}},
		"one that is known already comes once": {with(quiet(), sent, managed(ownARN, cert.Issued), before), []string{ownARN}},
		"one that the spec names never":        {with(quiet(), sent, managed(newARN, cert.Issued), before, func(in *edge.Input) { in.Desired.Customizations.CertificateARN = newARN }), []string{ownARN}},
		"one of a foreign tenant never":        {with(quiet(), sent, managed(newARN, cert.Issued), before, taggedFor(other), freshTags), []string{ownARN}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(test.want, conclude(test.in).Certificates, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
