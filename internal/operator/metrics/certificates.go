package metrics

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
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

// distributionCertificates shows, distribution by distribution, when the certificate expires that its tenants inherit.
// There are a few of them, and each serves many. Of more than may be shown, those that expire first are.
func (g *Gauges) distributionCertificates(ctx context.Context, emit emitter) error {
	var list v1alpha1.DistributionList
	err := g.list(ctx, config.Distribution, &list)
	var known []*v1alpha1.Distribution
	for i := range list.Items {
		if o := &list.Items[i]; o.Status.Certificate != nil {
			known = append(known, o)
		}
	}
	slices.SortFunc(known, func(a, b *v1alpha1.Distribution) int {
		return cmp.Or(a.Status.Certificate.NotAfter.Compare(b.Status.Certificate.NotAfter.Time), byName(a, b))
	})
	for _, o := range known[:min(len(known), shownObjects)] {
		c := o.Status.Certificate
		emit("distribution_certificate_expiry_days", c.NotAfter.Sub(g.Clock.Now()).Hours()/24, o.Namespace, o.Name, string(c.Type))
	}
	return err
}
