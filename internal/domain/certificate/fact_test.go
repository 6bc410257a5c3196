package certificate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/certificate"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

var now = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

const (
	oldARN = "arn:aws:acm:us-east-1:111122223333:certificate/old"
	newARN = "arn:aws:acm:us-east-1:111122223333:certificate/new"
)

// asked is a tenant with one domain that waits for its certificate. Nothing was sent, and it is known that AWS has
// nothing.
func asked(changes ...func(*certificate.Case)) certificate.Case {
	c := certificate.Case{
		Now: now, Asked: &certificate.Request{ValidationTokenHost: "cloudfront"}, Wanted: []string{"a.example.com"}, Ours: true,
		Tenant: &certificate.Tenant{
			ETag: "E-1", Modified: now.Add(-time.Hour), Domains: []string{"a.example.com"}, Unserved: []string{"a.example.com"},
		},
		Fresh: true, StoredETag: "E-1", Endpoint: "d1.cloudfront.net",
	}
	for _, change := range changes {
		change(&c)
	}
	return c
}

func sent(ago time.Duration) func(*certificate.Case) {
	return func(c *certificate.Case) { c.Sent = &certificate.Sent{Request: *c.Asked, At: now.Add(-ago)} }
}

func read(arn string, state certificate.State, domains ...string) func(*certificate.Case) {
	return func(c *certificate.Case) {
		c.Read = &certificate.Managed{ARN: arn, State: state}
		for _, d := range domains {
			c.Read.Tokens = append(c.Read.Tokens, certificate.Token{Domain: d})
		}
	}
}

// earlier is what this process has read in an earlier pass.
func earlier(ago time.Duration) func(*certificate.Case) {
	return func(c *certificate.Case) {
		c.Fresh, c.Last, c.Read, c.Seen, c.SeenETag = false, c.Read, nil, now.Add(-ago), "E-1"
	}
}

func TestJudge(t *testing.T) {
	served := func(c *certificate.Case) { c.Tenant.Unserved = nil }
	attached := func(c *certificate.Case) { c.Tenant.Attached = newARN }
	unread := func(c *certificate.Case) { c.Fresh = false }
	for name, test := range map[string]struct {
		in     certificate.Case
		stage  certificate.Stage
		wanted bool
		attach bool
		due    bool
		wait   time.Duration
		reason chain.Reason
		says   string
	}{
		"nothing was sent": {in: asked(), stage: certificate.Unasked, wanted: true, reason: certificate.ReasonPendingValidation, says: "d1.cloudfront.net"},
		"an adopted tenant is left as it is": {
			in: asked(func(c *certificate.Case) { c.Inheriting = true }), stage: certificate.Unasked,
			reason: certificate.ReasonPendingValidation, says: "with the next change",
		},
		"but a domain that it gets needs one": {
			in: asked(func(c *certificate.Case) {
				c.Inheriting, c.Wanted, c.Tenant.Domains = true, []string{"b.example.com"}, []string{"a.example.com"}
			}), stage: certificate.Unasked, wanted: true, reason: certificate.ReasonPendingValidation, says: "d1.cloudfront.net",
		},
		"it was never read": {in: asked(unread), stage: certificate.Unseen, due: true, reason: certificate.ReasonPendingValidation},
		"what status has is believed": {
			in:    asked(unread, served, attached, func(c *certificate.Case) { c.Stored = &certificate.Managed{ARN: newARN, State: certificate.Issued} }),
			stage: certificate.Obtained, reason: certificate.ReasonValidated,
		},
		"it is validated":           {in: asked(sent(time.Hour), read(newARN, certificate.Pending)), stage: certificate.Underway, wait: 5 * time.Minute, reason: certificate.ReasonPendingValidation},
		"and was seen a moment ago": {in: asked(sent(2*time.Minute), read(newARN, certificate.Pending), earlier(30*time.Second)), stage: certificate.Underway, wait: time.Minute, reason: certificate.ReasonPendingValidation},
		"and is due":                {in: asked(sent(2*time.Minute), read(newARN, certificate.Pending), earlier(time.Minute)), stage: certificate.Underway, due: true, wait: time.Second, reason: certificate.ReasonPendingValidation},
		"an ETag that moves makes it due": {
			in: asked(sent(2*time.Minute), read(newARN, certificate.Pending), earlier(time.Second), func(c *certificate.Case) { c.Tenant.ETag = "E-2" }), stage: certificate.Underway,
			due: true, wait: 118 * time.Second, reason: certificate.ReasonPendingValidation,
		},
		"reads lag behind the request": {
			in: asked(sent(time.Second), read(oldARN, certificate.Issued), func(c *certificate.Case) { c.Seen, c.Before = now, oldARN }), stage: certificate.Underway,
			wait: time.Minute, attach: true, reason: certificate.ReasonPendingValidation,
		},
		"AWS had nothing to request": {in: asked(sent(time.Hour), served), stage: certificate.Needless, reason: certificate.ReasonValidated},
		"AWS forgot the request":     {in: asked(sent(time.Hour)), stage: certificate.Lost, reason: resource.ReasonCertificateFailed, says: "acm:RequestCertificate"},
		"it is sent again in time":   {in: asked(sent(time.Hour), func(c *certificate.Case) { c.FailureDue = true }), stage: certificate.Lost, wanted: true, reason: resource.ReasonCertificateFailed},
		"it has failed":              {in: asked(sent(time.Hour), read(newARN, certificate.TimedOut)), stage: certificate.Broken, reason: resource.ReasonCertificateFailed, says: "72 hours"},
		"an edit may help":           {in: asked(sent(time.Hour), read(newARN, certificate.Revoked), func(c *certificate.Case) { c.Edited = true }), stage: certificate.Broken, wanted: true, reason: resource.ReasonCertificateFailed, says: newARN + " was revoked. The operator"},
		"so may proof":               {in: asked(sent(time.Hour), read(newARN, certificate.Expired), func(c *certificate.Case) { c.ProofDue = true }), stage: certificate.Broken, wanted: true, reason: resource.ReasonCertificateFailed},
		"it is issued":               {in: asked(sent(time.Hour), read(newARN, certificate.Issued)), stage: certificate.Obtained, attach: true, reason: certificate.ReasonAttaching},
		"AWS refuses it by now":      {in: asked(sent(time.Hour), read(newARN, certificate.Issued), earlier(5*time.Minute), func(c *certificate.Case) { c.RefusalDue = true }), stage: certificate.Obtained, attach: true, due: true, reason: certificate.ReasonAttaching},
		"or something else":          {in: asked(sent(time.Hour), read(newARN, certificate.Issued), earlier(time.Minute), func(c *certificate.Case) { c.RefusalDue = true }), stage: certificate.Obtained, attach: true, reason: certificate.ReasonAttaching},
		"and attached":               {in: asked(sent(time.Hour), read(newARN, certificate.Issued), attached, served), stage: certificate.Obtained, reason: certificate.ReasonValidated},
		"but for other domains":      {in: asked(sent(time.Hour), read(newARN, certificate.Issued, "b.example.com"), attached), stage: certificate.Lost, reason: resource.ReasonCertificateFailed},
		"another domain comes": {
			in: asked(sent(time.Hour), read(newARN, certificate.Issued), attached, served, func(c *certificate.Case) { c.Wanted = append(c.Wanted, "b.example.com") }), stage: certificate.Obtained,
			wanted: true, reason: certificate.ReasonValidated,
		},
		"something else is asked for": {
			in: asked(sent(time.Hour), read(newARN, certificate.Issued), attached, served, func(c *certificate.Case) {
				c.Asked = &certificate.Request{ValidationTokenHost: certificate.SelfHosted}
			}), stage: certificate.Obtained, wanted: true, reason: certificate.ReasonValidated,
		},
		"the spec names one": {
			in:    asked(sent(time.Hour), read(newARN, certificate.Issued), func(c *certificate.Case) { c.Named = oldARN }),
			stage: certificate.Obtained, reason: certificate.ReasonAttaching, says: "spec.customizations.certificate.arn",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := certificate.Judge(test.in)
			if f.Stage != test.stage || f.Wanted != test.wanted || f.Attach != test.attach || f.ReadDue != test.due || f.Wait != test.wait {
				t.Errorf("stage %d, wanted %t, attach %t, due %t, wait %s", f.Stage, f.Wanted, f.Attach, f.ReadDue, f.Wait)
			}
			if f.Ready.Type != certificate.Ready || f.Ready.Reason != test.reason || f.Ready.Status != (test.reason == certificate.ReasonValidated) {
				t.Errorf("%+v, want %s", f.Ready, test.reason)
			}
			if !strings.Contains(f.Ready.Message, test.says) {
				t.Errorf("%q does not say %q", f.Ready.Message, test.says)
			}
		})
	}
}

func TestAPrimaryDomainIsSentOnlyWhereOneIsNamed(t *testing.T) {
	named := certificate.Judge(asked(read(newARN, certificate.Pending), func(c *certificate.Case) { c.Asked.PrimaryDomainName = "b.example.com" }))
	if named.Next.PrimaryDomainName != "b.example.com" {
		t.Errorf("sends %+v", named.Next)
	}
	f := certificate.Judge(asked(read(newARN, certificate.Pending)))
	if f.Next.PrimaryDomainName != "" {
		t.Errorf("sends %+v", f.Next)
	}
	// Another process has sent it, or the one that did ended before it was stored.
	if f.Sent == nil || f.Sent.Request != *f.Next || f.Sent.At != now.Add(-time.Hour) {
		t.Errorf("remembers %+v", f.Sent)
	}
}

func TestNothingIsSaidOfATenantThatIsNotOurs(t *testing.T) {
	f := certificate.Judge(asked(read(newARN, certificate.Issued), func(c *certificate.Case) { c.Ours = false }))
	if f.Known || f.ReadDue || f.Wanted || f.Stage != certificate.Unseen {
		t.Errorf("%+v", f)
	}
}
