package inventory

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/paging"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// The pace of the watch. Expiry is a matter of days, and a listing costs a call for each
// thousand certificates; looking whether there is anything to list costs none.
const (
	expiryInterval = time.Hour
	expiryGlance   = 30 * time.Second
	expiryRetry    = time.Minute
)

// expiresSoon is how long before its end a certificate is named. ACM renews weeks earlier,
// so that a certificate that comes this close has not been renewed.
const expiresSoon = 14 * 24 * time.Hour

// ExpiryOptions are what the watch is made from.
type ExpiryOptions struct {
	Inventory    *Inventory
	Certificates port.Certificates
	// References are told what is seen of certificates. May be nil.
	References *References
	Clock      clock.WithTicker
	// OnFound is called with the certificates that have become noteworthy since the last
	// listing, those that expire first at the front. It must not block.
	OnFound func([]AttachedCertificate)
	// OnFailure is called with the reason why the certificates could not be listed, once for each kind of
	// failure. It must not block.
	OnFailure func(err error)
	// Random is in [0, 1) and spreads what would otherwise happen at one time.
	Random func() float64
}

// AttachedCertificate is a certificate that expires soon or can't be used any more, although
// tenants have it.
type AttachedCertificate struct {
	ARN string
	// Status is ACM's, for example ISSUED.
	Status string
	// NotAfter is when it expires, zero where ACM does not tell.
	NotAfter time.Time
	// Tenants are the names of those that have it, sorted.
	Tenants []string
}

// Expiry watches how long the certificates that tenants have attached are still good for. It lists those of the
// account, since describing each would take a fleet an hour of ACM's rate.
//
// It looks at the certificates of distributions as well, so that these and the tenants which inherit them can say when
// those expire. In its report, which is about what tenants have of their own, they are not.
type Expiry struct {
	opts    ExpiryOptions
	report  atomic.Pointer[ExpiryReport]
	listing *listing
	next    time.Time
	// failures counts listings that failed in a row, failing is why the last one did.
	failures int
	failing  fault.Kind
	// named are the certificates that OnFound was told of.
	named map[string]bool

	inherited inherited
	// unaware are the tenants that are still to be woken because of their certificate, sorted.
	unaware  []string
	nextWake time.Time
}

// listing is one that is under way, a page to a step.
type listing struct {
	begun time.Time
	// attached are the certificates to look for; those that a page shows move to seen.
	attached map[string]bool
	seen     []distributiontenant.Certificate
	// account counts all of them.
	account int
	marker  string
	pages   paging.Guard
	retries int
}

// NewExpiry makes a watch that has seen nothing yet.
func NewExpiry(o ExpiryOptions) *Expiry {
	if o.Random == nil {
		o.Random = rand.Float64
	}
	if o.OnFound == nil {
		o.OnFound = func([]AttachedCertificate) {}
	}
	if o.OnFailure == nil {
		o.OnFailure = func(error) {}
	}
	return &Expiry{opts: o}
}

// Start watches until the context ends. It implements the manager's Runnable.
func (e *Expiry) Start(ctx context.Context) error {
	return run(ctx, e.opts.Clock, e.Step, nil)
}

// NeedLeaderElection says that only the active replica watches.
func (e *Expiry) NeedLeaderElection() bool { return true }

// Step makes at most two calls to AWS, and says how long the next step can wait. It never
// waits itself. Steps must not be made at once.
func (e *Expiry) Step(ctx context.Context) time.Duration {
	return min(e.watchAttached(ctx), e.watchInherited(ctx), e.rouse())
}

// watchAttached makes at most one call.
func (e *Expiry) watchAttached(ctx context.Context) time.Duration {
	if e.listing != nil {
		return e.listPage(ctx)
	}
	if wait := e.next.Sub(e.opts.Clock.Now()); wait > 0 {
		return wait
	}
	if e.opts.Inventory.Stats().LastSweep.IsZero() {
		return expiryGlance
	}
	attached := e.attached()
	if len(attached) == 0 {
		e.publish(&ExpiryReport{}, nil)
		return expiryGlance
	}
	if r := e.Report(); r == nil || r.Attached == 0 {
		e.report.Store(&ExpiryReport{Attached: len(attached)})
	}
	e.listing = &listing{begun: e.opts.Clock.Now(), attached: attached}
	return e.listPage(ctx)
}

// listPage requests the next page of the listing under way.
func (e *Expiry) listPage(ctx context.Context) time.Duration {
	l := e.listing
	page, next, err := e.opts.Certificates.ListCertificates(port.WithCall(ctx, port.Call{Key: "certificates", Class: port.Sweep}), l.marker)
	if err != nil {
		return e.interrupted(err)
	}
	l.take(page)
	if err := l.pages.Pass("ListCertificates", next); err != nil {
		return e.failed(err)
	}
	if l.marker, l.retries = next, 0; next == "" {
		return e.finish()
	}
	return 0
}

// take keeps what the page shows of the attached certificates, and lets the rest go.
func (l *listing) take(page []distributiontenant.Certificate) {
	l.account += len(page)
	for _, c := range page {
		if l.attached[c.ARN] {
			delete(l.attached, c.ARN)
			l.seen = append(l.seen, distributiontenant.Certificate{
				ARN: c.ARN, Status: interned(c.Status), NotAfter: c.NotAfter, Type: interned(c.Type), CloudFrontManaged: c.CloudFrontManaged,
			})
		}
	}
}

// interrupted handles a page that could not be had. A limiter's delay only postpones it, and
// a few disturbances are got over; nothing is concluded from a listing without an end.
func (e *Expiry) interrupted(err error) time.Duration {
	if wait := fault.RetryAfter(err); wait > 0 {
		return wait
	}
	if fault.Is(err, fault.Throttled, fault.Transient) && e.listing.retries < paging.Retries {
		e.listing.retries++
		return retry.Jitter(paging.Pause.Delay(e.listing.retries), e.opts.Random())
	}
	return e.failed(err)
}

// failed ends a listing. A disturbed listing is tried again soon. A missing permission stays missing until someone
// acts, and then everything is forgotten: a renewal would go unnoticed.
func (e *Expiry) failed(err error) time.Duration {
	attached := e.Report().Attached
	e.listing = nil
	if kind := fault.KindOf(err); kind != e.failing {
		e.failing = kind
		e.opts.OnFailure(err)
	}
	e.failures++
	pause := retry.Backoff{First: expiryRetry, Last: expiryInterval}.Delay(e.failures)
	if fault.Is(err, fault.Denied) {
		pause = expiryInterval
		e.publish(&ExpiryReport{Attached: attached}, nil)
	}
	return e.pause(pause)
}

func (e *Expiry) pause(d time.Duration) time.Duration {
	d = retry.Jitter(d, e.opts.Random())
	e.next = e.opts.Clock.Now().Add(d)
	return d
}

// finish ends a listing that saw the whole account.
func (e *Expiry) finish() time.Duration {
	l := e.listing
	e.listing, e.failures, e.failing = nil, 0, fault.None
	now := e.opts.Clock.Now()
	r := &ExpiryReport{Listed: now, Account: l.account, Attached: len(l.attached) + len(l.seen), Unlisted: len(l.attached)}
	found := map[string]*AttachedCertificate{}
	for _, c := range l.seen {
		if !c.NotAfter.IsZero() {
			r.ends = append(r.ends, c.NotAfter.Unix())
		}
		if c.Status != distributiontenant.CertificateIssued {
			r.Unusable++
		}
		if c.Status != distributiontenant.CertificateIssued || !c.NotAfter.IsZero() && c.NotAfter.Sub(now) <= expiresSoon {
			found[c.ARN] = &AttachedCertificate{ARN: c.ARN, Status: c.Status, NotAfter: c.NotAfter}
		}
	}
	slices.Sort(r.ends)
	r.ends = slices.Clip(r.ends)
	if e.opts.References != nil {
		e.opts.References.shown.noteList(l.seen, l.begun)
	}
	e.publish(r, found)
	e.announce()
	return e.pause(expiryInterval)
}

// publish replaces what is known. The objects behind certificates that can't be used are woken with each listing, since
// CloudFront may learn of it later than ACM; those behind certificates that can be used again once more.
func (e *Expiry) publish(r *ExpiryReport, found map[string]*AttachedCertificate) {
	e.report.Store(r)
	unusable := map[string]bool{}
	for arn, c := range found {
		if c.Status != distributiontenant.CertificateIssued {
			unusable[arn] = true
		}
	}
	if names := e.spoil(unusable); len(names) > 0 && !r.Listed.IsZero() {
		e.opts.Inventory.opts.OnChange(names)
	}
	e.tell(found)
}

// tell names each certificate once, for as long as it stays noteworthy.
func (e *Expiry) tell(found map[string]*AttachedCertificate) {
	var fresh []AttachedCertificate
	for name, t := range e.opts.Inventory.all {
		if c := found[t.certificate()]; c != nil {
			c.Tenants = append(c.Tenants, name)
		}
	}
	named := make(map[string]bool, len(found))
	for arn, c := range found {
		named[arn] = true
		slices.Sort(c.Tenants)
		// One that was detached while the list was read is not a problem any more.
		if !e.named[arn] && len(c.Tenants) > 0 {
			fresh = append(fresh, *c)
		}
	}
	e.named = named
	slices.SortFunc(fresh, func(a, b AttachedCertificate) int {
		if c := a.NotAfter.Compare(b.NotAfter); c != 0 {
			return c
		}
		return strings.Compare(a.ARN, b.ARN)
	})
	if len(fresh) > 0 {
		e.opts.OnFound(fresh)
	}
}

// ExpiryReport is what the last listing showed. It does not change.
type ExpiryReport struct {
	// Listed is when the certificates were last listed to the end. Zero: nothing is known,
	// either because none is attached or because they can't be listed.
	Listed time.Time
	// Account counts all certificates that the account had then, used or not.
	Account int
	// Attached counts the certificates that tenants had then, Unusable those of them that ACM
	// shows in any state but issued, Unlisted those that it does not show.
	Attached, Unusable, Unlisted int
	// ends are when the listed ones expire, sorted, in seconds.
	ends []int64
}

// Report returns what the last listing showed. Where the watch has not begun, as on a replica
// that does not lead, it is nil.
func (e *Expiry) Report() *ExpiryReport { return e.report.Load() }

// Soonest is when the first certificate expires.
func (r *ExpiryReport) Soonest() (end time.Time, some bool) {
	if len(r.ends) == 0 {
		return time.Time{}, false
	}
	return time.Unix(r.ends[0], 0), true
}

// ExpiringBy counts the certificates that expire until then, and those that have.
func (r *ExpiryReport) ExpiringBy(then time.Time) int {
	n, _ := slices.BinarySearch(r.ends, then.Unix()+1)
	return n
}

// attached are the ARNs of the certificates that tenants have attached.
func (e *Expiry) attached() map[string]bool {
	out := map[string]bool{}
	for _, t := range e.opts.Inventory.all {
		if arn := t.certificate(); arn != "" {
			out[arn] = true
		}
	}
	return out
}

// spoil replaces the certificates that can't be used, and names the tenants for which that
// means or meant something.
func (e *Expiry) spoil(unusable map[string]bool) (names []string) {
	i := e.opts.Inventory
	i.mu.Lock()
	before := i.unusable
	i.unusable = unusable
	i.mu.Unlock()
	if len(before)+len(unusable) == 0 {
		return nil
	}
	return i.names(func(t facts) bool { return before[t.certificate()] || unusable[t.certificate()] })
}
