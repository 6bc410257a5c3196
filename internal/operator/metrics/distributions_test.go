package metrics_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// expiries are the days that each distribution's certificate has left, to a tenth.
func expiries(t *testing.T, g *metrics.Gauges) map[string]float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	if err := g.RegisterOnly(registry, "distribution_certificate_expiry_days"); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			out[labels["name"]+" "+labels["type"]] = math.Round(m.GetGauge().GetValue()*10) / 10
		}
	}
	return out
}

func gaugesOf(kube client.Reader, clock *clocktesting.FakeClock) *metrics.Gauges {
	elected := make(chan struct{})
	close(elected)
	return &metrics.Gauges{Reader: kube, Elected: elected, Clock: clock, Controllers: []string{"distribution"}}
}

func certified(name string, days int) *v1alpha1.Distribution {
	o := &v1alpha1.Distribution{ObjectMeta: metav1.ObjectMeta{Namespace: "edge", Name: name}}
	end := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, days)
	o.Status.Certificate = &v1alpha1.ServedCertificate{ARN: "arn:" + name, NotAfter: metav1.NewTime(end), Type: v1alpha1.CertificateTypeImported}
	return o
}

func TestExpiryOfDistributionCertificates(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	unknown := &v1alpha1.Distribution{ObjectMeta: metav1.ObjectMeta{Namespace: "edge", Name: "unknown"}}
	kube := readerOf(t, certified("late", 200), certified("soon", 3), certified("expired", -2), unknown)
	want := map[string]float64{"late Imported": 199.5, "soon Imported": 2.5, "expired Imported": -2.5}
	if d := cmp.Diff(want, expiries(t, gaugesOf(kube, clock))); d != "" {
		t.Errorf("days (-want +got):\n%s", d)
	}
	waiting := gaugesOf(kube, clock)
	waiting.Elected = make(chan struct{})
	if got := expiries(t, waiting); len(got) > 0 {
		t.Errorf("a replica that waits shows %v", got)
	}
}

// Of more than a thousand, those that expire first are shown.
func TestTheFirstDistributionCertificatesToExpireAreShown(t *testing.T) {
	t.Parallel()
	var objects []client.Object
	for n := range 1001 {
		objects = append(objects, certified(fmt.Sprintf("d-%04d", n), 2000-n))
	}
	got := expiries(t, gaugesOf(readerOf(t, objects...), clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))))
	if _, first := got["d-1000 Imported"]; len(got) != 1000 || !first {
		t.Errorf("%d series, with the first to expire: %t", len(got), first)
	}
	if _, last := got["d-0000 Imported"]; last {
		t.Error("the last to expire is shown as well")
	}
}

const importedARN = "arn:aws:acm:us-east-1:" + sim.DefaultAccount + ":certificate/00000000-0000-4000-8000-0000000000ca"

// ACM's word on a distribution's certificate reaches the metric through the status of the object, whether or not a
// tenant inherits it. While nothing changes, nothing is written, and each certificate is read once an hour.
func TestDistributionCertificatesAreWatched(t *testing.T) {
	t.Parallel()
	w := world.NewOffline(t, world.Options{Expiry: true})
	load := func(arn, kind, issuer string, days int) {
		t.Helper()
		end := w.Clock.Now().AddDate(0, 0, days)
		c := sim.SeedCertificate{ARN: arn, Names: []string{"*.example.com"}, NotAfter: &end, Type: kind, Issuer: issuer}
		if err := w.Sim.Load(sim.Seed{Certificates: []sim.SeedCertificate{c}}); err != nil {
			t.Fatal(err)
		}
	}
	gauges := gaugesOf(w.Kube, w.Clock)
	holds := func(when string, want map[string]float64) {
		t.Helper()
		got := expiries(t, gauges)
		for name, days := range got {
			got[name] = math.Ceil(days)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", when, d)
		}
	}
	quiet := func(when string, d time.Duration, most int) {
		t.Helper()
		writes, calls := w.KubeWrites(), w.Calls()
		w.Advance(d)
		if n := w.KubeWrites() - writes; n != 0 {
			t.Errorf("%d writes %s", n, when)
		}
		if n := world.Since(calls, w.Calls())["DescribeCertificate"]; n > most {
			t.Errorf("%d reads of certificates %s, want at most %d", n, when, most)
		}
	}

	load(sim.DefaultCertificateARN, "", "", 90)
	load(importedARN, "IMPORTED", "Example CA", 20)
	with := func(v *v1alpha1.ViewerCertificate) func(*v1alpha1.Distribution) {
		return func(o *v1alpha1.Distribution) { o.Spec.ViewerCertificate = v }
	}
	issued := w.Distribution("issued", with(&v1alpha1.ViewerCertificate{ACMCertificateARN: sim.DefaultCertificateARN}))
	imported := w.Distribution("imported", with(&v1alpha1.ViewerCertificate{ACMCertificateARN: importedARN}))
	for _, o := range []client.Object{issued, imported, w.Distribution("plain")} {
		if err := w.Kube.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	w.Advance(15 * time.Minute)
	holds("once they are deployed", map[string]float64{"issued Issued": 90, "imported Imported": 20})
	quiet("in a quiet time", 12*time.Hour, 2*13)
	holds("half a day later", map[string]float64{"issued Issued": 90, "imported Imported": 20})

	writes := w.KubeWrites()
	load(importedARN, "IMPORTED", "Example CA", 400)
	w.Advance(90 * time.Minute)
	holds("after a renewal", map[string]float64{"issued Issued": 90, "imported Imported": 400})
	if n := w.KubeWrites() - writes; n != 1 {
		t.Errorf("%d writes because of a renewal", n)
	}

	w.Restart()
	holds("after a restart, before anything was read", map[string]float64{"issued Issued": 90, "imported Imported": 400})
	quiet("after a restart", 6*time.Hour, 2*8)

	base := issued.DeepCopy()
	issued.Spec.ViewerCertificate = &v1alpha1.ViewerCertificate{CloudFrontDefaultCertificate: new(true)}
	if err := w.Kube.Patch(t.Context(), issued, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
	w.Advance(15 * time.Minute)
	holds("without the certificate", map[string]float64{"imported Imported": 400})
}
