package zone

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// perform makes a call, and returns its answer; nil where there is none to make.
func (z *zone) perform(ctx context.Context, call dns.Call) dns.Event {
	switch c := call.(type) {
	case nil:
	case dns.ReadName:
		sets, err := z.opts.Providers().as(c.Access).ReadName(z.mark(ctx, "read", port.Change), z.id, c.Name)
		return dns.NameRead{Call: c, Sets: sets, Err: err}
	case dns.SendBatch:
		return z.send(ctx, c)
	case dns.AskSync:
		done, err := z.opts.Providers().as(c.Access).InSync(z.mark(ctx, "sync", port.Follow), z.id, c.Sent)
		return dns.SyncAnswered{Call: c, Done: done, Err: err}
	case dns.ListPage:
		class := port.Sweep
		if c.Awaited {
			class = port.Change
		}
		page, next, err := z.opts.Providers().as(c.Access).ListRecords(z.mark(ctx, "list", class), z.id, c.Marker)
		return dns.PageListed{Call: c, Page: page, Next: next, Err: err}
	}
	return nil
}

// send sends a batch.
func (z *zone) send(ctx context.Context, c dns.SendBatch) dns.Event {
	class := port.Change
	if c.Correction {
		class = port.Correct
	}
	id, err := z.opts.Providers().as(c.Access).Change(z.mark(ctx, "change", class), z.id, c.Changes)
	if fault.RetryAfter(err) == 0 {
		// Otherwise it was our own limiter that answered.
		z.opts.Observer.Batch(z.at, len(c.Changes), fault.KindOf(err))
	}
	if corrections := c.Corrections(); err == nil && len(corrections) > 0 {
		z.opts.Observer.Corrected(corrections)
	}
	return dns.BatchAnswered{Call: c, ChangeID: id, Err: err}
}
