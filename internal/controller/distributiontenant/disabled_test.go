package distributiontenant_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

const byDisabledDistribution = "Ready=False/DistributionDisabled"

// enableDistribution enables or disables a distribution in AWS.
func enableDistribution(t *testing.T, w *world.World, id string, enabled bool) {
	t.Helper()
	d, err := w.AWS().GetDistribution(t.Context(), &cloudfront.GetDistributionInput{Id: &id})
	if err != nil {
		t.Fatal(err)
	}
	config := d.Distribution.DistributionConfig
	config.Enabled = &enabled
	if _, err := w.AWS().UpdateDistribution(t.Context(), &cloudfront.UpdateDistributionInput{Id: &id, IfMatch: d.ETag, DistributionConfig: config}); err != nil {
		t.Fatal(err)
	}
}

func TestTenantsOfADisabledDistributionAreNotReady(t *testing.T) {
	t.Parallel()
	w := parentless(t)
	main := w.Distribution("main")
	put(t, w, main, world.DistributionID)
	ready(t, w, "alpha", on("main"))
	set := func(enabled bool) { report(t, w, main, func(s *v1alpha1.ResourceStatus) { s.Enabled = &enabled }) }

	// A disable that is held, or has not been sent yet, takes nothing away.
	set(true)
	base := main.DeepCopy()
	main.Spec.Enabled = new(false)
	if err := w.Kube.Patch(t.Context(), main, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
	w.Advance(moment)
	is(t, w, "alpha", readyTrue, syncedTrue)
	set(false)
	calls := w.Calls()
	w.Advance(moment)
	is(t, w, "alpha", byDisabledDistribution, syncedTrue)
	says(t, w, "alpha", "Ready", "spec.distributionRef: Distribution "+w.Namespace+"/main is disabled", "Enable it, or reference another one.")
	if n := world.Sum(world.Since(calls, w.Calls())); n != 0 {
		t.Errorf("to say so took %d calls", n)
	}
	// One that is itself disabled is as it should be.
	w.Edit("alpha", func(o *v1alpha1.DistributionTenant) { o.Spec.Enabled = new(false) })
	w.Advance(settle)
	is(t, w, "alpha", readyTrue, syncedTrue)
	w.Edit("alpha", func(o *v1alpha1.DistributionTenant) { o.Spec.Enabled = nil })
	w.Advance(settle)
	is(t, w, "alpha", byDisabledDistribution)

	set(true)
	w.Advance(moment)
	is(t, w, "alpha", readyTrue, syncedTrue)
}

func TestTenantsOfADistributionThatIsDisabledInAWS(t *testing.T) {
	t.Parallel()
	w := parentless(t)
	ready(t, w, "alpha")
	enableDistribution(t, w, world.DistributionID, false)
	// Another tenant lets the operator read the distribution.
	w.Apply(w.Tenant("beta"))
	w.Advance(time.Hour)
	for _, name := range []string{"alpha", "beta"} {
		is(t, w, name, byDisabledDistribution, syncedTrue)
		says(t, w, name, "Ready", "spec.distributionId: the distribution "+world.DistributionID+" is disabled", "Enable it in AWS")
	}

	// A fresh process knows it by status, and does not say in between that all is well.
	writes, calls := w.KubeWrites(), w.Calls()
	w.Restart()
	w.Advance(time.Hour)
	is(t, w, "alpha", byDisabledDistribution)
	if n := w.KubeWrites() - writes; n != 0 {
		t.Errorf("a quiet hour made %d writes", n)
	}
	if n := world.Since(calls, w.Calls())["GetDistribution"]; n > 30 {
		t.Errorf("a quiet hour made %d reads of the distribution", n)
	}

	enableDistribution(t, w, world.DistributionID, true)
	w.Advance(15 * time.Minute)
	is(t, w, "alpha", readyTrue)
	is(t, w, "beta", readyTrue)
}
