package operator

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/account"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
)

// expiryDays are the spans in which certificates that expire are counted. ACM renews weeks
// ahead, so that the first to fill shows what has stopped being renewed.
var expiryDays = []int{7, 14, 30, 60}

// maxNamed is how many certificates are logged at once. A fleet whose renewals have all
// stopped needs no line for each.
const maxNamed = 20

// newExpiry is the watch over what is attached in an account.
func newExpiry(a *account.Account, clk clock.WithTicker) *inventory.Expiry {
	log := ctrl.Log.WithName("certificates")
	if a.ID != "" {
		log = log.WithValues("account", a.ID)
	}
	return inventory.NewExpiry(inventory.ExpiryOptions{
		Inventory: a.Inventory, Certificates: a.Certificates, References: a.References, Clock: clk,
		OnFound: func(found []inventory.AttachedCertificate) {
			for _, c := range found[:min(len(found), maxNamed)] {
				log.Info("An attached certificate expires soon or can't be used. AWS renews a managed certificate only while all its domains point to CloudFront",
					"certificate", c.ARN, "status", c.Status, "notAfter", c.NotAfter, "tenant", c.Tenants[0], "tenants", len(c.Tenants))
			}
			if more := len(found) - maxNamed; more > 0 {
				log.Info("More attached certificates expire soon or can't be used", "certificates", more)
			}
		},
		OnFailure: func(err error) {
			log.Error(err, "Listing the account's certificates failed, so expiring certificates are not detected until it works again")
		},
	})
}

// registerExpiry adds what is computed when it is scraped, with no label for a certificate
// or a tenant: a fleet has ten thousand.
func registerExpiry(r prometheus.Registerer, list func() []watch, clk clock.PassiveClock) error {
	const only = " Only the active replica exports it, while the value is known."
	return registerAll(r, &expiry{
		list: list, clock: clk,
		attached: prometheus.NewDesc(metricPrefix+"certificates",
			"Certificates attached to tenants, by their state in ACM's list: issued, unusable (expired, revoked, inactive) or unlisted. A certificate that several tenants share counts once."+only,
			[]string{accountLabel, "state"}, nil),
		expiring: prometheus.NewDesc(metricPrefix+"certificates_expiring",
			"Attached certificates that expire within this number of days or have expired. Longer periods include shorter ones."+only,
			[]string{accountLabel, "within_days"}, nil),
		soonest: prometheus.NewDesc(metricPrefix+"certificate_expiry_days",
			"Days until the first attached certificate expires, negative if one has expired. Not exported while no certificate is attached."+only, []string{accountLabel}, nil),
		age: prometheus.NewDesc(metricPrefix+"certificates_age_seconds",
			"Time since the account's certificates were last listed, or -1 if that is not possible. Not exported while no certificate is attached.", []string{accountLabel}, nil),
	})
}

// expiry tells what the watch over certificates knows. It shows nothing instead of a zero
// where it knows nothing.
type expiry struct {
	list                             func() []watch
	clock                            clock.PassiveClock
	attached, expiring, soonest, age *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (e *expiry) Describe(d chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{e.attached, e.expiring, e.soonest, e.age} {
		d <- desc
	}
}

// Collect implements prometheus.Collector.
func (e *expiry) Collect(out chan<- prometheus.Metric) {
	for _, w := range e.list() {
		if r := w.expiry.Report(); r != nil {
			e.collect(out, w.account, r)
		}
	}
}

func (e *expiry) collect(out chan<- prometheus.Metric, account string, r *inventory.ExpiryReport) {
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, append([]string{account}, labels...)...)
	}
	now := e.clock.Now()
	switch {
	case r.Attached > 0 && r.Listed.IsZero():
		gauge(e.age, -1)
		return
	case r.Attached > 0:
		gauge(e.age, now.Sub(r.Listed).Seconds())
	}
	gauge(e.attached, float64(r.Attached-r.Unusable-r.Unlisted), "issued")
	gauge(e.attached, float64(r.Unusable), "unusable")
	gauge(e.attached, float64(r.Unlisted), "unlisted")
	for _, days := range expiryDays {
		gauge(e.expiring, float64(r.ExpiringBy(now.Add(time.Duration(days)*day))), strconv.Itoa(days))
	}
	if end, some := r.Soonest(); some {
		gauge(e.soonest, end.Sub(now).Hours()/24)
	}
}

const day = 24 * time.Hour
