package distributiontenant_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

const newARN = "arn:aws:acm:us-east-1:111122223333:certificate/managed"

func TestCertificateStages(t *testing.T) {
	for name, q := range certificateCases() {
		t.Run(name, func(t *testing.T) { ask(t, q) })
	}
}

// sent is a tenant for which a certificate was requested an hour ago, and whose domain waits.
func sent(in *distributiontenant.Input) {
	requested(in)
	change(in, func(t *distributiontenant.Observed) {
		t.DomainStates = map[string]string{"alpha.example.com": "inactive"}
	})
	in.Memory.Requested = &certificate.Sent{Request: *in.Desired.Request, At: now.Add(-time.Hour)}
}

// managed is what was read of the certificate in this pass; nothing when its state is empty.
func managed(arn string, state certificate.State) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		in.World.ManagedKnown, in.World.Managed = true, nil
		if state != "" {
			in.World.Managed = &certificate.Managed{ARN: arn, State: state, Tokens: []certificate.Token{{Domain: "alpha.example.com"}}}
			in.Memory.Certificates = []string{arn}
		}
	}
}

// recalled is what an earlier pass of this process read.
func recalled(ago time.Duration, arn string, state certificate.State) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		managed(arn, state)(in)
		in.Attempts.CertificateSeen, in.Attempts.CertificateETag = now.Add(-ago), in.World.Tenant.ETag
		in.Attempts.Certificate = in.World.Managed
		in.World.ManagedKnown, in.World.Managed = false, nil
	}
}

func attachedTo(arn string) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		change(in, func(t *distributiontenant.Observed) { t.Customizations.CertificateARN = arn })
	}
}

func serving(in *distributiontenant.Input) {
	change(in, func(t *distributiontenant.Observed) {
		t.DomainStates = map[string]string{"alpha.example.com": distributiontenant.DomainActive}
	})
}

// failedSince is a certificate that has been failing on this generation.
func failedSince(since, last time.Duration) func(*distributiontenant.Input) {
	return func(in *distributiontenant.Input) {
		in.Memory.Failure = &resource.Failure{Reason: resource.ReasonCertificateFailed, Generation: in.Generation, Since: now.Add(-since)}
		in.Attempts.Last = now.Add(-last)
	}
}

func certificateCases() map[string]question {
	look := distributiontenant.Look{At: distributiontenant.LookManaged}
	nudged := func(in *distributiontenant.Input) {
		in.Nudged, in.World.TenantFresh, in.World.TagsFresh = true, true, true
	}
	request := with(quiet(), requested).Desired.Request
	update := func(arn string, r *certificate.Request) distributiontenant.Step {
		return distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: withCertificate(target(quiet()), arn), Request: r}
	}
	asks := func(in distributiontenant.Input) question {
		return question{in: in, rule: "InSync", step: update(in.World.Tenant.Customizations.CertificateARN, request)}
	}
	waits := func(in distributiontenant.Input, after time.Duration) question {
		return question{in: in, rule: "CertificateUsable", step: distributiontenant.Rest{After: after}, reason: certificate.ReasonPendingValidation}
	}
	fails := func(in distributiontenant.Input) question {
		return question{in: in, rule: "CertificateUsable", step: distributiontenant.Rest{}, reason: resource.ReasonCertificateFailed, stuck: true}
	}
	timedOut := with(quiet(), sent, managed(newARN, certificate.TimedOut))
	issued := with(quiet(), sent, managed(newARN, certificate.Issued))
	done := with(issued, attachedTo(newARN), serving)
	lost := with(quiet(), sent, managed("", ""))
	own := func(arn string) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) { in.Desired.Customizations.CertificateARN = arn }
	}
	sentAgo := func(ago time.Duration) func(*distributiontenant.Input) {
		return func(in *distributiontenant.Input) {
			in.Memory.Requested = &certificate.Sent{Request: *in.Desired.Request, At: now.Add(-ago)}
		}
	}
	otherHost := func(in *distributiontenant.Input) {
		in.Desired.Request = &certificate.Request{ValidationTokenHost: certificate.SelfHosted, PrimaryDomainName: "alpha.example.com"}
	}
	second := func(in *distributiontenant.Input) {
		in.Desired.Domains = []string{"alpha.example.com", "beta.example.com"}
	}
	both := target(quiet())
	both.Domains = []string{"alpha.example.com", "beta.example.com"}
	both.Customizations.CertificateARN = newARN
	firewall := distributiontenant.WebACL{Action: "disable"}
	firewalled := func(in *distributiontenant.Input) { in.Desired.Customizations.WebACL = firewall }
	behindFirewall := distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: withCertificate(target(quiet()), newARN)}
	behindFirewall.Tenant.Customizations.WebACL = firewall
	otherRequest := with(quiet(), otherHost).Desired.Request
	changed := with(issued, drifted)
	kept := changed.World.Tenant.Tenant
	kept.Customizations.CertificateARN = newARN
	return map[string]question{
		// Pending.
		"right after the request nothing is read":                    waits(with(quiet(), sent, sentAgo(0), recalled(0, "", certificate.Pending)), time.Minute),
		"a minute later it is read":                                  {in: with(quiet(), sent, sentAgo(time.Minute), recalled(time.Minute, "", certificate.Pending)), rule: "CertificateKnown", step: look},
		"the pause grows with the age of the request":                waits(with(quiet(), sent, sentAgo(4*time.Minute), recalled(time.Minute, newARN, certificate.Pending)), 2*time.Minute),
		"to five minutes":                                            waits(with(quiet(), sent, recalled(time.Minute, newARN, certificate.Pending)), 4*time.Minute),
		"where the ETag is known to tell, it is five from the start": waits(with(quiet(), sent, sentAgo(time.Minute), recalled(time.Minute, "", certificate.Pending), func(in *distributiontenant.Input) { in.World.CertificateMovesETag = true }), 4*time.Minute),
		"an ETag that moved is a reason to look at once":             {in: with(quiet(), sent, recalled(time.Second, newARN, certificate.Pending), movedETag), rule: "CertificateKnown", step: look},
		"so is a person who asks":                                    {in: with(quiet(), sent, recalled(time.Second, newARN, certificate.Pending), nudged), rule: "CertificateKnown", step: look},
		"a fresh process looks at what was pending": {in: with(quiet(), sent, func(in *distributiontenant.Input) {
			in.Memory.Certificate = &certificate.Managed{State: certificate.Pending}
		}), rule: "CertificateKnown", step: look},
		"an answer from before the request is none": waits(with(quiet(), sent, sentAgo(30*time.Second), recalled(20*time.Second, "", "")), 40*time.Second),
		"an unknown state is waited out":            waits(with(quiet(), sent, managed(newARN, "something-new")), 5*time.Minute),

		// Issued.
		"one that is issued is attached":                                 {in: issued, rule: "InSync", step: update(newARN, nil)},
		"on the strength of the list alone, if all it shows is as asked": {in: with(issued, listed, movedETag), rule: "InSync", step: distributiontenant.Update{ID: tenantID, ETag: "E-2", Tenant: withCertificate(target(quiet()), newARN)}},
		"and not if it shows something else":                             {in: with(issued, listed, movedETag, disabledTenant), rule: "Fresh", step: distributiontenant.Look{At: distributiontenant.LookTenant}},
		"once attached it is done":                                       {in: done, rule: "Idle", step: distributiontenant.Rest{}},
		"also where AWS attached it":                                     {in: with(quiet(), sent, serving, managed(newARN, certificate.Issued), attachedTo(newARN)), rule: "Idle", step: distributiontenant.Rest{}},
		"and in a fresh process": {in: with(quiet(), sent, serving, attachedTo(newARN), func(in *distributiontenant.Input) {
			in.Memory.Certificate = &certificate.Managed{ARN: newARN, State: certificate.Issued}
		}), rule: "Idle", step: distributiontenant.Rest{}},
		"a fresh process looks while a domain is not served": {in: with(quiet(), sent, attachedTo(newARN), func(in *distributiontenant.Input) {
			in.Memory.Certificate = &certificate.Managed{ARN: newARN, State: certificate.Issued}
		}), rule: "CertificateKnown", step: look},
		"a new one takes the place of the one before":              {in: with(issued, attachedTo(ownARN), serving), rule: "InSync", step: update(newARN, nil)},
		"under report it is attached, and nothing else is written": {in: with(changed, drift(resource.DriftReport)), rule: "InSync", step: distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: kept}},
		"under suspend too": {in: with(changed, drift(resource.DriftSuspend)), rule: "InSync", step: distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: kept}},
		"what the list does not show is read before it is sent back": {in: with(issued, listed, drift(resource.DriftReport)), rule: "InSync", step: distributiontenant.Look{At: distributiontenant.LookTenant}},
		"a certificate that is detached again and again is left detached for a while": {
			in: with(issued, func(in *distributiontenant.Input) {
				in.Attempts = distributiontenant.Attempts{Tries: resource.Tries{AcceptedFor: in.Generation, Corrections: resource.MaxCorrections, LastCorrection: now.Add(-time.Minute)}}
			}),
			rule: "InSync", step: distributiontenant.Rest{}, reason: resource.ReasonDriftNotConverging, stuck: true,
		},

		// Failed.
		"one that timed out is reported":              fails(timedOut),
		"one that failed":                             fails(with(quiet(), sent, managed(newARN, certificate.Failed))),
		"one that was revoked":                        fails(with(quiet(), sent, managed(newARN, certificate.Revoked))),
		"one that expired":                            fails(with(quiet(), sent, managed(newARN, certificate.Expired), attachedTo(newARN), serving)),
		"and one that is inactive":                    fails(with(quiet(), sent, managed(newARN, certificate.Inactive))),
		"another is not asked for before ten minutes": fails(with(timedOut, failedSince(9*time.Minute, 5*time.Minute))),
		"nor when a try was made a moment ago":        fails(with(timedOut, failedSince(15*time.Minute, time.Minute))),
		"nor by a process that has just begun":        fails(with(timedOut, failedSince(12*time.Minute, 0))),
		"when it is due it is":                        asks(with(timedOut, failedSince(21*time.Minute, 2*time.Minute))),
		"after it was looked at once more":            {in: with(quiet(), sent, recalled(20*time.Minute, newARN, certificate.TimedOut), failedSince(21*time.Minute, 2*time.Minute)), rule: "CertificateKnown", step: look},
		"an edit is a reason to ask at once":          asks(with(timedOut, failedSince(time.Minute, time.Minute), edited)),
		"one request for each edit":                   fails(with(timedOut, edited, func(in *distributiontenant.Input) { in.Attempts.AcceptedFor = in.Generation })),
		"also when the process that sent it is gone":  fails(with(timedOut, edited, failedSince(time.Minute, time.Minute))),
		"a person is a reason to ask at once":         asks(with(timedOut, failedSince(time.Minute, time.Minute), nudged)),
		"one that AWS refuses for want of proof has failed all the same": {
			in:   with(timedOut, failedSince(21*time.Minute, 0), refused(fault.DomainUnverified)),
			rule: "InSync", step: distributiontenant.Rest{}, reason: resource.ReasonCertificateFailed, stuck: true,
		},
		"under report it is asked for too":                    asks(with(timedOut, failedSince(21*time.Minute, 2*time.Minute), drift(resource.DriftReport))),
		"the one before is stored before it is superseded":    {in: with(timedOut, edited, func(in *distributiontenant.Input) { in.Memory.Certificates = nil }), rule: "InSync", step: distributiontenant.Rest{Store: true}},
		"drift is corrected all the while":                    {in: with(timedOut, failedSince(time.Minute, time.Minute), drifted), rule: "InSync", step: distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: target(quiet()), Drift: []resource.Difference{{Field: "parameters[tier]", Desired: "gold", Observed: "lead"}}}},
		"a certificate that is attached stays while it fails": asks(with(timedOut, attachedTo(ownARN), edited)),

		// Lost, never sent, needless.
		"a request that AWS does not know is reported":       fails(lost),
		"also in a pass that does not ask":                   fails(with(quiet(), sent, recalled(30*time.Minute, "", ""))),
		"it is sent again when due":                          asks(with(lost, failedSince(21*time.Minute, 2*time.Minute))),
		"and not before":                                     fails(with(lost, failedSince(9*time.Minute, time.Minute))),
		"nothing was to be requested where all is served":    {in: with(lost, serving), rule: "Idle", step: distributiontenant.Rest{}},
		"also in a pass that does not ask, however long ago": {in: with(quiet(), sent, serving, recalled(30*time.Minute, "", "")), rule: "Idle", step: distributiontenant.Rest{}},
		"a request that came into the spec later is sent":    asks(with(quiet(), requested, managed("", ""))),
		"not for an adopted tenant that keeps what it has":   {in: with(quiet(), requested, managed("", ""), func(in *distributiontenant.Input) { in.AdoptedGeneration = in.Generation }), rule: "CertificateUsable", step: distributiontenant.Rest{}, reason: certificate.ReasonPendingValidation},
		"a domain that an old certificate does not have was lost too": fails(with(quiet(), second, sent, attachedTo(ownARN), managed(ownARN, certificate.Issued), func(in *distributiontenant.Input) {
			change(in, func(t *distributiontenant.Observed) { t.Domains = both.Domains })
		})),

		// Changed.
		"a changed request is sent once the certificate is issued": {in: with(done, otherHost, edited), rule: "InSync", step: update(newARN, otherRequest)},
		"while one is pending it waits":                            waits(with(quiet(), sent, otherHost, managed(newARN, certificate.Pending), edited), 5*time.Minute),
		"a new domain comes with a request of its own":             {in: with(done, second, edited), rule: "InSync", step: distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: both, Request: request}},
		"also in a process that does not know what is covered": {
			in: with(quiet(), sent, serving, attachedTo(newARN), second, edited, func(in *distributiontenant.Input) {
				in.Memory.Certificate, in.Memory.Certificates = &certificate.Managed{ARN: newARN, State: certificate.Issued}, []string{newARN}
			}),
			rule: "InSync", step: distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: both, Request: request},
		},
		"changed customizations go before it, alone": {in: with(done, second, edited, firewalled), rule: "InSync", step: behindFirewall},
		"so does an issued certificate, of which AWS would not tell any more": {
			in: with(issued, second, edited), rule: "InSync", step: update(newARN, nil),
		},
		"customizations that AWS does not keep hold it back no longer": {
			in: with(done, second, edited, firewalled, func(in *distributiontenant.Input) {
				in.Attempts.AcceptedFor, in.Attempts.Corrections, in.Attempts.LastCorrection = in.Generation, resource.MaxCorrections, now
			}),
			rule: "InSync", step: distributiontenant.Update{ID: tenantID, ETag: "E-1", Tenant: both, Request: request},
		},
		"while a request is pending it is held": {in: with(quiet(), sent, second, managed(newARN, certificate.Pending), edited), rule: "DomainsHeld", step: distributiontenant.Rest{After: 5 * time.Minute}, reason: distributiontenant.ReasonDomainChangeHeld},
		"neither does a domain go, which would never be proven": {
			in: with(quiet(), sent, managed(newARN, certificate.Pending), func(in *distributiontenant.Input) {
				change(in, func(t *distributiontenant.Observed) { t.Domains = both.Domains })
			}, edited),
			rule: "DomainsHeld", step: distributiontenant.Rest{After: 5 * time.Minute}, reason: distributiontenant.ReasonDomainChangeHeld,
		},
		"one that the spec names wins":           {in: with(done, own(ownARN), edited), rule: "InSync", step: update(ownARN, nil)},
		"an equal one is the same":               {in: with(done, own(newARN)), rule: "Idle", step: distributiontenant.Rest{}},
		"nothing is requested in addition to it": {in: with(quiet(), sent, serving, own(ownARN), attachedTo(ownARN), managed("", "")), rule: "Idle", step: distributiontenant.Rest{}},
	}
}

// The condition of the certificate, in a pass that reads and in one that does not.
func TestCertificateCondition(t *testing.T) {
	selfHosted := func(in *distributiontenant.Input) {
		in.Desired.Request = &certificate.Request{ValidationTokenHost: certificate.SelfHosted}
		in.World.ManagedKnown = true
		in.World.Managed = &certificate.Managed{ARN: newARN, State: certificate.Pending, Host: certificate.SelfHosted, Tokens: []certificate.Token{
			{Domain: "alpha.example.com", RedirectFrom: "alpha.example.com/.well-known/x.txt", RedirectTo: "validation.example/x.txt"},
		}}
	}
	for name, test := range map[string]struct {
		in     distributiontenant.Input
		reason chain.Reason
		says   string
	}{
		"pending":           {with(quiet(), sent, managed(newARN, certificate.Pending)), certificate.ReasonPendingValidation, "d1.cloudfront.net"},
		"self-hosted":       {with(quiet(), sent, selfHosted), certificate.ReasonPendingValidation, "redirect http://alpha.example.com/.well-known/x.txt to https://validation.example/x.txt"},
		"issued":            {with(quiet(), sent, managed(newARN, certificate.Issued)), certificate.ReasonAttaching, newARN},
		"attached":          {with(quiet(), sent, managed(newARN, certificate.Issued), attachedTo(newARN)), certificate.ReasonValidated, ""},
		"timed out":         {with(quiet(), sent, managed(newARN, certificate.TimedOut)), resource.ReasonCertificateFailed, "72 hours"},
		"lost":              {with(quiet(), sent, managed("", "")), resource.ReasonCertificateFailed, "acm:RequestCertificate"},
		"needless":          {with(quiet(), sent, serving, managed("", "")), certificate.ReasonValidated, "did not request another"},
		"needless, unread":  {with(quiet(), sent, serving, recalled(30*time.Minute, "", "")), certificate.ReasonValidated, "did not request another"},
		"lost, unread":      {with(quiet(), sent, recalled(4*time.Minute, "", "")), resource.ReasonCertificateFailed, "acm:RequestCertificate"},
		"timed out, unread": {with(quiet(), sent, recalled(time.Hour, newARN, certificate.TimedOut)), resource.ReasonCertificateFailed, "72 hours"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range conclude(test.in).Conditions {
				if c.Type == distributiontenant.CertificateReady && (c.Reason != test.reason || !strings.Contains(c.Message, test.says)) {
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
	remembered := &resource.Failure{Reason: resource.ReasonCertificateFailed, Generation: 2, Since: now.Add(-time.Hour)}
	for name, test := range map[string]struct {
		in   distributiontenant.Input
		want *resource.Failure
	}{
		"the first time it starts":        {with(quiet(), sent, managed(newARN, certificate.TimedOut)), &resource.Failure{Reason: resource.ReasonCertificateFailed, Generation: 2, Since: now}},
		"it stays while it fails":         {with(quiet(), sent, managed(newARN, certificate.TimedOut), failing), remembered},
		"while the next one is pending":   {with(quiet(), sent, managed(newARN, certificate.Pending), failing), remembered},
		"while the request is deployed":   {with(quiet(), sent, managed(newARN, certificate.Pending), failing, inProgress), remembered},
		"until there is one":              {with(quiet(), sent, serving, managed(newARN, certificate.Issued), attachedTo(newARN), failing), nil},
		"an edit makes it another matter": {with(quiet(), sent, managed(newARN, certificate.Pending), failing, edited), nil},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(test.want, conclude(test.in).Failure); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// Certificates that were read are kept for the day of the deletion, superseded ones included.
func TestCertificatesAreCollected(t *testing.T) {
	before := func(in *distributiontenant.Input) { in.Memory.Certificates = []string{ownARN} }
	for name, test := range map[string]struct {
		in   distributiontenant.Input
		want []string
	}{
		"a new one comes last":                 {with(quiet(), sent, managed(newARN, certificate.Issued), before), []string{ownARN, newARN}},
		"one that is known already comes once": {with(quiet(), sent, managed(ownARN, certificate.Issued), before), []string{ownARN}},
		"one that the spec names never":        {with(quiet(), sent, managed(newARN, certificate.Issued), before, func(in *distributiontenant.Input) { in.Desired.Customizations.CertificateARN = newARN }), []string{ownARN}},
		"one of a foreign tenant never":        {with(quiet(), sent, managed(newARN, certificate.Issued), before, taggedFor(other), freshTags), []string{ownARN}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(test.want, conclude(test.in).Certificates, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// The condition has everything that a customer needs to know before there is a tenant, and only facts.
func TestWhatAManagedCertificateWaitsFor(t *testing.T) {
	t.Parallel()
	selfHosted := func(in *distributiontenant.Input) { in.Desired.Request.ValidationTokenHost = certificate.SelfHosted }
	const created = "The managed certificate is requested when the distribution tenant is created. For its validation, "
	for name, tt := range map[string]struct {
		in   distributiontenant.Input
		want string
	}{
		"before the tenant exists": {with(unborn(), requested), created + "every domain must point to d1.cloudfront.net."},
		"the customer's web server proves the domains": {
			with(unborn(), requested, selfHosted), created + "the web server of every domain must answer the challenge that status.domains will list.",
		},
		"the connection group does not exist yet": {
			with(unborn(), requested, unrouted, inGroup("")),
			created + "every domain must point to the routing endpoint of ConnectionGroup shop/static, which is known once that object exists in AWS.",
		},
		"AWS does not list the group": {
			with(unborn(), requested, unrouted, routedNowhere, func(in *distributiontenant.Input) { in.Desired.ConnectionGroupID = "cg_9" }),
			created + "every domain must point to the routing endpoint of the connection group cg_9, which AWS does not list for the operator: check the ID, and allow the operator cloudfront:ListConnectionGroups.",
		},
		"the account has no default group": {
			with(unborn(), requested, unrouted, routedNowhere),
			created + "every domain must point to the routing endpoint of the account's default connection group, which AWS does not list for the operator: AWS creates that group with the first tenant of the account. Create a ConnectionGroup, reference it in spec.connectionGroupRef, and allow the operator cloudfront:ListConnectionGroups.",
		},
		"the tenant is another object's": {
			with(quiet(), requested, taggedFor(other), freshTags),
			"The managed certificate is requested once the distribution tenant belongs to this object. For its validation, every domain must point to d1.cloudfront.net.",
		},
		"the request is underway": {
			with(quiet(), requested, pendingCertificate), "The managed certificate is waiting for validation: every domain must point to d1.cloudfront.net.",
		},
		"the tenant is deleted": {with(dying(), requested, absent), "The object is being deleted, so no managed certificate is requested."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, c := range conclude(tt.in).Conditions {
				if c.Type == distributiontenant.CertificateReady {
					if d := cmp.Diff(tt.want, c.Message); d != "" {
						t.Errorf("(-want +got):\n%s", d)
					}
				}
			}
		})
	}
}

// routedNowhere has looked for the endpoint, and not found one.
func routedNowhere(in *distributiontenant.Input) { in.World.RoutingKnown = true }

// A process that has not seen the tenant yet says nothing new of its certificate.
func TestAFreshProcessKeepsTheConditionOfTheCertificate(t *testing.T) {
	t.Parallel()
	before := chain.Condition{Type: distributiontenant.CertificateReady, Status: true, Reason: certificate.ReasonValidated, Message: "The managed certificate is issued and attached.", Generation: 2}
	in := with(quiet(), requested, unknown, func(in *distributiontenant.Input) {
		in.Paused = true
		in.Memory.Conditions[distributiontenant.CertificateReady] = before
	})
	for _, c := range conclude(in).Conditions {
		if c.Type == distributiontenant.CertificateReady && c != before {
			t.Errorf("%+v, want %+v", c, before)
		}
	}
}
