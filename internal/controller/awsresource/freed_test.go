package awsresource_test

import (
	"testing"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// The deletion of a distribution continues at the moment at which the last of its tenants is gone, and not at each
// of them.
func TestTheLastTenantWakesItsDistribution(t *testing.T) {
	w := world.NewOffline(t, world.Options{})
	d := w.Distribution("shop", func(o *v1alpha1.Distribution) {
		o.Spec.ViewerCertificate = &v1alpha1.ViewerCertificate{ACMCertificateARN: sim.DefaultCertificateARN}
	})
	apply(t, w, d)
	for _, name := range []string{"alpha", "beta", "gamma"} {
		apply(t, w, w.Tenant(name, func(o *v1alpha1.DistributionTenant) {
			o.Spec.DistributionID, o.Spec.DistributionRef = "", &v1alpha1.ObjectReference{Name: "shop"}
		}))
	}
	w.Advance(5 * time.Minute)
	is(t, w, d, "Ready=True/Deployed")
	remove(t, w, d)
	// The longer a deletion has been waiting, the more rarely it looks.
	w.Advance(8 * time.Minute)
	is(t, w, d, "Ready=False/InUse")
	calls := w.Calls()
	for _, name := range []string{"alpha", "beta"} {
		w.Delete(name)
	}
	w.Advance(2 * time.Minute)
	if looks := world.Since(calls, w.Calls())["GetDistribution"]; looks > 2 {
		t.Errorf("two of three tenants are gone, and the distribution was looked at %d times", looks)
	}
	w.Delete("gamma")
	for range 180 {
		if _, found := w.Get("gamma"); !found {
			break
		}
		w.Advance(time.Second)
	}
	w.Advance(time.Second)
	atStep(t, w, d, v1alpha1.DeletionStepSettling)
}
