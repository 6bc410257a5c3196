package distributiontenant_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

const importedARN = "arn:aws:acm:us-east-1:" + sim.DefaultAccount + ":certificate/00000000-0000-4000-8000-0000000000ca"

// noticed is how long a renewal takes until every tenant reports it.
const noticed = 90 * time.Minute

// servedBy is the certificate of status in one line.
func servedBy(t *testing.T, w *world.World, name string) string {
	t.Helper()
	c := get(t, w, name).Status.Certificate
	if c == nil {
		return ""
	}
	which := map[string]string{sim.DefaultCertificateARN: "the distribution's", importedARN: "the imported one"}[c.ARN]
	return fmt.Sprintf("%s: %s %s until %s", which, c.Type, c.Issuer, c.NotAfter.UTC().Format(time.DateOnly))
}

// imports imports the certificate, once more if there is one.
func imports(t *testing.T, w *world.World, arn string, of time.Duration, issuer string) (until string) {
	t.Helper()
	end := w.Clock.Now().Add(of)
	c := sim.SeedCertificate{ARN: arn, Names: []string{"*.example.com"}, NotAfter: &end}
	if issuer != "" {
		c.Type, c.Issuer = "IMPORTED", issuer
	}
	if err := w.Sim.Load(sim.Seed{Certificates: []sim.SeedCertificate{c}}); err != nil {
		t.Fatal(err)
	}
	return end.UTC().Format(time.DateOnly)
}

func certificateOf(arn string) func(*v1alpha1.DistributionTenant) {
	return func(o *v1alpha1.DistributionTenant) {
		o.Spec.Customizations = &v1alpha1.Customizations{Certificate: &v1alpha1.CertificateCustomization{ARN: arn}}
	}
}

// The certificate that a tenant serves with is in its status once it is Ready, and each renewal is one write. No time
// that passes is one.
func TestRenewalsOfACertificateAreWrittenOnce(t *testing.T) {
	t.Parallel()
	const inheriting = 6
	w := world.New(t, kubeConfig, world.Options{Expiry: true})
	spring := imports(t, w, sim.DefaultCertificateARN, 90*day, "")
	imported := imports(t, w, importedARN, 30*day, "Example CA")
	names := []string{"own"}
	w.Apply(w.Tenant("own", certificateOf(importedARN)))
	for n := range inheriting {
		names = append(names, fmt.Sprintf("inherits-%02d", n))
		w.Apply(w.Tenant(names[n+1]))
	}
	w.Advance(settle)
	for _, name := range names {
		is(t, w, name, readyTrue, syncedTrue)
	}
	if n := w.KubeWrites(); n != 3*len(names) {
		t.Errorf("%d writes for %d tenants", n, len(names))
	}
	holds := func(when, own, inherited string) {
		t.Helper()
		for _, name := range names {
			want := inherited
			if name == "own" {
				want = own
			}
			if d := cmp.Diff(want, servedBy(t, w, name)); d != "" {
				t.Errorf("%s, %s (-want +got):\n%s", when, name, d)
			}
		}
	}
	own := "the imported one: Imported Example CA until " + imported
	holds("once they are Ready", own, "the distribution's: Issued Amazon until "+spring)

	quiet := func(when string, d time.Duration) {
		t.Helper()
		before := w.KubeWrites()
		w.Advance(d)
		if n := w.KubeWrites() - before; n != 0 {
			t.Errorf("%d writes %s", n, when)
		}
	}
	quiet("in a quiet time", 12*time.Hour)

	autumn, writes, calls := imports(t, w, sim.DefaultCertificateARN, 300*day, ""), w.KubeWrites(), w.Calls()
	w.Advance(noticed)
	holds("after a renewal", own, "the distribution's: Issued Amazon until "+autumn)
	if n := w.KubeWrites() - writes; n != inheriting {
		t.Errorf("%d writes because of a renewal for %d tenants", n, inheriting)
	}
	spent := world.Since(calls, w.Calls())
	if d := cmp.Diff(map[string]int{"GetDistribution": 1, "DescribeCertificate": 1, "ListCertificates": 1}, atMostOnce(without(spent, "ListDistributionTenants", "ListTagsForResource"))); d != "" {
		t.Errorf("calls because of it (-want +got):\n%s\n%v", d, spent)
	}
	quiet("after a renewal", 6*time.Hour)

	// A list does not show who has issued what was imported in place of the other.
	imported, writes = imports(t, w, importedARN, 400*day, "Another CA"), w.KubeWrites()
	w.Advance(noticed)
	holds("after an import", "the imported one: Imported  until "+imported, "the distribution's: Issued Amazon until "+autumn)
	if n := w.KubeWrites() - writes; n != 1 {
		t.Errorf("%d writes because of an import", n)
	}

	w.Restart()
	quiet("after a restart", 6*time.Hour)

	w.Edit("own", func(o *v1alpha1.DistributionTenant) {
		o.Spec.Customizations = &v1alpha1.Customizations{GeoRestrictions: &v1alpha1.GeoRestrictionCustomization{RestrictionType: v1alpha1.GeoRestrictionNone}}
	})
	w.Advance(settle)
	if got, want := servedBy(t, w, "own"), "the distribution's: Issued Amazon until "+autumn; got != want {
		t.Errorf("once it inherits as well: %q, want %q", got, want)
	}
}

// atMostOnce counts once what was done twice, for an hour and a half is one round or two.
func atMostOnce(counts map[string]int) map[string]int {
	for operation, n := range counts {
		if n == 2 {
			counts[operation] = 1
		}
	}
	return counts
}

// A managed certificate is reported with the next list after it was attached, and the distribution's is not until then:
// it does not serve the domain.
func TestServedManagedCertificate(t *testing.T) {
	t.Parallel()
	w := certWorldWith(t, world.Options{Expiry: true})
	w.Apply(w.Tenant("shop", plainShop))
	w.Advance(5 * time.Second)
	is(t, w, "shop", pendingProof)
	if got := get(t, w, "shop").Status.Certificate; got != nil {
		t.Errorf("before it is issued: %+v", got)
	}
	w.Advance(noticed)
	is(t, w, "shop", readyTrue, validated)
	s := get(t, w, "shop").Status
	c := s.Certificate
	if c == nil || c.ARN != s.CertificateARN || c.Type != v1alpha1.CertificateTypeManaged || c.Issuer != "Amazon" || c.NotAfter.Sub(w.Clock.Now()) < 190*day {
		t.Fatalf("once it is attached: %+v", c)
	}
	end := c.NotAfter
	writes := w.KubeWrites()
	w.Clock.SetTime(end.Add(-44 * day))
	w.Advance(noticed)
	if got := get(t, w, "shop").Status.Certificate; got == nil || !got.NotAfter.After(end.Time) {
		t.Errorf("after its renewal: %+v", got)
	}
	if n := w.KubeWrites() - writes; n != 1 {
		t.Errorf("%d writes because of its renewal", n)
	}
}

// Where ACM may not be read nothing is said, and what was said before stays.
func TestServedCertificateThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	w := world.New(t, kubeConfig, world.Options{Expiry: true})
	until := imports(t, w, sim.DefaultCertificateARN, 90*day, "")
	ready(t, w, "before")
	for _, operation := range []string{"DescribeCertificate", "ListCertificates"} {
		refusing(t, w, operation, 403, "AccessDeniedException", "no")
	}
	w.Restart()
	w.Apply(w.Tenant("after", certificateOf(sim.DefaultCertificateARN)))
	w.Advance(3 * time.Hour)
	is(t, w, "after", readyTrue)
	if got := servedBy(t, w, "before"); got != "the distribution's: Issued Amazon until "+until {
		t.Errorf("of one that was known: %q", got)
	}
	if got := servedBy(t, w, "after"); got != "" {
		t.Errorf("of one that was never known: %q", got)
	}
}
