package metrics

import (
	"context"
	"strconv"
	"time"
)

// expiryDays are the spans in which certificates that expire are counted. ACM renews weeks ahead, so that the first to
// fill shows what has stopped being renewed.
var expiryDays = []int{7, 14, 30, 60}

const day = 24 * time.Hour

// certificates tells what the watches over certificates know, with no label for a certificate or a tenant: a fleet has
// ten thousand. It shows nothing instead of a zero where it knows nothing.
func (g *Gauges) certificates(_ context.Context, emit emitter) error {
	for _, a := range g.accounts() {
		now, r := g.Clock.Now(), a.Expiry.Report()
		switch {
		case r == nil:
			continue
		case r.Attached > 0 && r.Listed.IsZero():
			emit("certificates_age_seconds", -1, a.ID)
			continue
		case r.Attached > 0:
			emit("certificates_age_seconds", now.Sub(r.Listed).Seconds(), a.ID)
		}
		emit("certificates", float64(r.Attached-r.Unusable-r.Unlisted), a.ID, "issued")
		emit("certificates", float64(r.Unusable), a.ID, "unusable")
		emit("certificates", float64(r.Unlisted), a.ID, "unlisted")
		for _, days := range expiryDays {
			emit("certificates_expiring", float64(r.ExpiringBy(now.Add(time.Duration(days)*day))), a.ID, strconv.Itoa(days))
		}
		if end, some := r.Soonest(); some {
			emit("certificate_expiry_days", end.Sub(now).Hours()/24, a.ID)
		}
	}
	return nil
}
