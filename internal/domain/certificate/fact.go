package certificate

import (
	"cmp"
	"slices"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
)

// The pause between two reads of a pending certificate grows with the age of the request. Where the tenant's ETag moves
// with the certificate the sweep tells of it, and the longer pause is only the net below.
const (
	soon  = time.Minute
	later = 5 * time.Minute
)

// Case is what is known of the managed certificate of one tenant.
type Case struct {
	Now time.Time
	// Asked means that the spec asks for a managed certificate. One that it names as well takes its place.
	Asked *Request
	Named string
	// Wanted are the domains of the spec.
	Wanted []string
	// Inheriting means that the tenant was adopted, and the spec has not changed since.
	Inheriting bool
	// Nudged means that a user asks to look again.
	Nudged bool
	// Deleting means that the object is being deleted.
	Deleting bool

	// Tenant is nil while there is none. Ours means that status may report it.
	Tenant *Tenant
	Ours   bool

	// Sent is the request that was last sent. Nil: none that is known.
	Sent *Sent
	// Read is what was read in this pass, if Fresh. Last was read by this process at the time Seen, when the tenant had
	// SeenETag. Stored is what status has, and StoredETag the ETag with which the tenant was known to be as it should.
	Fresh                bool
	Read, Last, Stored   *Managed
	Seen                 time.Time
	SeenETag, StoredETag string
	// Before is the ARN of the certificate that the last request replaces.
	Before string
	// MovesETag means that the tenant's ETag is known to move with the certificate, Unusable that ACM shows the
	// attached one in any state but issued.
	MovesETag, Unusable bool

	// Edited means that this generation asks for something new, for which no request was sent yet. FailureDue, ProofDue
	// and RefusalDue mean that it is time for the next try after a request failed, domains were not proven, or AWS refused
	// what the tenant should have.
	Edited, FailureDue, ProofDue, RefusalDue bool
	// Endpoint names where DNS has to point.
	Endpoint string
}

// Tenant is what a certificate is for.
type Tenant struct {
	ETag     string
	Modified time.Time
	// Attached is the ARN of the certificate that it has.
	Attached string
	// Domains are all that it has, Unserved those that CloudFront does not answer for.
	Domains, Unserved []string
}

// Stage is how far the request for a managed certificate has come.
type Stage int

// The stages.
const (
	// Unseen means that it was never read.
	Unseen Stage = iota
	// Unasked means that no request was sent, as far as is known.
	Unasked
	// Underway means that AWS is at work on a request. It takes one at a time.
	Underway
	// Needless means that AWS had nothing to request: other certificates cover every domain.
	Needless
	// Lost means that AWS knows nothing of a request that it accepted. It makes a request after
	// it has changed the tenant, with the caller's rights, and keeps the tenant when that fails.
	Lost
	// Broken means that the certificate is in a state that no waiting changes, Obtained that it was issued.
	Broken
	Obtained
)

// Fact is what follows for the managed certificate of one tenant.
type Fact struct {
	// Request is what is asked for; nil when nothing is, or the spec names a certificate.
	Request *Request
	Stage   Stage
	// Managed is the certificate, as far as it is Known.
	Managed *Managed
	Known   bool
	// Sent is the request to remember as sent.
	Sent *Sent
	// ARN is the certificate that a tenant with a request should have, Attach that it does not have it yet.
	ARN    string
	Attach bool
	// Moved means that the tenant's ETag has moved since the certificate was last read, ReadDue that it has to be read.
	Moved, ReadDue bool
	// Wait is how long it is until it is read again; zero when that takes more than time.
	Wait time.Duration
	// Wanted means that a request has to be sent, and Next is that as it is sent.
	Wanted bool
	Next   *Request
	// Comes means that the tenant gets another domain, which may need a certificate.
	Comes bool
	// Ready is the condition of what is asked for.
	Ready chain.Condition
}

// Judge says what follows.
func Judge(c Case) Fact {
	f := Fact{Request: c.Asked}
	if c.Named != "" {
		f.Request = nil
	}
	f.Managed, f.Known = c.managed()
	f.Stage = c.stage(f)
	f.Next, f.Moved = c.next(f), c.moved()
	f.Sent = c.sent(f)
	f.Comes = slices.ContainsFunc(c.Wanted, func(d string) bool { return !c.Ours || !slices.Contains(c.Tenant.Domains, d) })
	f.ARN = c.learned(f)
	f.Attach = f.Request != nil && c.Tenant != nil && f.ARN != c.Tenant.Attached
	f.ReadDue = f.Request != nil && c.Ours && c.readDue(f)
	if f.Stage == Underway {
		f.Wait = c.wait()
	}
	f.Wanted = f.Request != nil && c.wanted(f)
	f.Ready = c.ready(f)
	return f
}

// managed is what is known of the certificate of our tenant, however old.
func (c Case) managed() (m *Managed, known bool) {
	switch {
	case !c.Ours:
		return nil, false
	case c.Fresh:
		return c.Read, true
	case !c.Seen.IsZero():
		return c.Last, true
	}
	// A fresh process believes what the one before it saw.
	return c.Stored, c.Stored != nil
}

// sent is the request that was last sent. Where the process ended before it was stored, or
// another process sent it, the certificate tells that there was one.
func (c Case) sent(f Fact) *Sent {
	if c.Sent != nil || f.Managed == nil || f.Next == nil {
		return c.Sent
	}
	sent := Sent{Request: *f.Next, At: c.Tenant.Modified}
	sent.ValidationTokenHost = cmp.Or(f.Managed.Host, sent.ValidationTokenHost)
	return &sent
}

func (c Case) stage(f Fact) Stage {
	switch m := f.Managed; {
	case !f.Known:
		return Unseen
	case c.Sent != nil && c.lagging(m):
		return Underway
	case m == nil && c.Sent == nil:
		return Unasked
	case m == nil && len(c.Tenant.Unserved) == 0:
		return Needless
	case m == nil:
		return Lost
	case m.State.IsFailure():
		return Broken
	case m.State != Issued:
		return Underway
	case c.Sent != nil && c.uncovered(*m):
		return Lost
	}
	return Obtained
}

// lagging reports whether what was read may be from before the last request: it was read right
// after it, and shows nothing new.
func (c Case) lagging(m *Managed) bool {
	old := m == nil || m.ARN == c.Before
	return old && !c.Seen.IsZero() && c.Seen.Sub(c.Sent.At) < soon
}

// uncovered reports whether the tenant has a domain that is not served and that the certificate
// was not requested for. Not every answer of AWS tells.
func (c Case) uncovered(m Managed) bool {
	covered := m.Domains()
	return len(covered) > 0 && slices.ContainsFunc(c.Tenant.Unserved, func(d string) bool {
		return slices.Contains(c.Wanted, d) && !slices.Contains(covered, d)
	})
}

// learned is the certificate that a tenant with a request should have: the one that was issued, or else the one that is
// attached. Taking that off would end the service of its domains.
func (c Case) learned(f Fact) string {
	switch {
	case f.Managed != nil && f.Managed.State == Issued:
		return f.Managed.ARN
	case c.Tenant != nil:
		return c.Tenant.Attached
	}
	return ""
}

func (c Case) moved() bool {
	return c.Tenant != nil && c.SeenETag != "" && c.SeenETag != c.Tenant.ETag
}

// readDue reports whether it is time to read the certificate. Only a request that is underway changes without a cause
// that the operator sees; everything else stays as it is until the tenant's ETag moves, ACM says otherwise, or it is
// time to ask for another certificate.
func (c Case) readDue(f Fact) bool {
	paused := !c.Seen.IsZero() && c.Now.Sub(c.Seen) < c.pause()
	switch {
	case c.Fresh:
		return false
	case f.Stage == Unseen, c.Nudged, f.Moved:
		return true
	case f.Stage == Underway, c.Unusable, f.Attach && c.RefusalDue:
		// A certificate may become unusable before the tenant has it, and only the refusal tells.
		return !paused
	case f.Stage == Broken, f.Stage == Lost:
		return c.Seen.IsZero() || !paused && c.FailureDue
	}
	// What this process has not seen is believed while nothing speaks against it.
	moved := c.StoredETag != c.Tenant.ETag && c.SeenETag != c.Tenant.ETag
	return c.Seen.IsZero() && (moved || f.Attach || len(c.Tenant.Unserved) > 0)
}

func (c Case) pause() time.Duration {
	if c.MovesETag {
		return later
	}
	since, seen := c.Tenant.Modified, c.Seen
	if c.Sent != nil {
		since = c.Sent.At
	}
	if seen.IsZero() {
		seen = c.Now
	}
	// The age is the one at which it was last seen, not the one now: otherwise the pause would grow while it is waited
	// for.
	return min(max(seen.Sub(since), soon), later)
}

func (c Case) wait() time.Duration {
	if c.Seen.IsZero() {
		return c.pause()
	}
	return max(c.Seen.Add(c.pause()).Sub(c.Now), time.Second)
}

// next is the request as it is sent. It names a primary domain only where the spec does. AWS does not say which one it
// picks otherwise. The first of the list may have another certificate already, and nothing says that AWS accepts that.
func (c Case) next(f Fact) *Request {
	if f.Request == nil {
		return nil
	}
	return new(*f.Request)
}

// changed reports whether something else is asked for than was last sent. The only domain is the primary one, named or not.
func (c Case) changed(f Fact) bool {
	if f.Request == nil || c.Sent == nil {
		return false
	}
	asked, sent := *f.Request, c.Sent.Request
	if sent.PrimaryDomainName == "" && len(c.Wanted) == 1 {
		asked.PrimaryDomainName = ""
	}
	return !asked.equals(sent)
}

// wanted reports whether a certificate has to be asked for.
func (c Case) wanted(f Fact) bool {
	switch f.Stage {
	case Unseen, Underway:
		return false
	case Unasked:
		// An adopted tenant stays as it is, but AWS does not let a domain come that no certificate covers.
		return !c.Inheriting || f.Comes
	case Broken, Lost:
		// An edit may have changed what failed; one request is sent for each, and then it takes its time.
		return c.Edited || c.FailureDue || c.ProofDue || f.Comes
	case Obtained, Needless:
	}
	return c.changed(f) || f.Comes || f.Managed != nil && c.uncovered(*f.Managed)
}
