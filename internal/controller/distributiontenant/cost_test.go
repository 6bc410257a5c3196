package distributiontenant_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

func TestWhatACreateCosts(t *testing.T) {
	t.Parallel()
	w := world.New(t, kubeConfig, world.Options{})
	w.Advance(time.Minute) // the first sweep is not counted
	calls := w.Calls()
	ready(t, w, "alpha", rich)
	if n := w.KubeWrites(); n != 3 {
		t.Errorf("%d Kubernetes writes from create to Ready, want the mark, the creation and Ready", n)
	}
	spent := without(world.Since(calls, w.Calls()), "GetDistributionTenant")
	want := map[string]int{"CreateDistributionTenant": 1, "GetDistribution": 1, "DescribeCertificate": 1, "ListConnectionGroups": 1}
	if d := cmp.Diff(want, spent); d != "" {
		t.Errorf("calls but for following the deployment (-want +got):\n%s", d)
	}
	t.Logf("calls: %v", world.Since(calls, w.Calls()))

	// The next one shares what does not change.
	calls, kube := w.Calls(), w.KubeWrites()
	w.Apply(w.Tenant("beta", rich))
	w.Advance(50 * time.Second)
	spent = without(world.Since(calls, w.Calls()), "GetDistributionTenant")
	if n := world.Sum(spent); n > 3 {
		t.Errorf("the second create made %v", spent)
	}
	w.Advance(settle)
	is(t, w, "beta", readyTrue)
	if n := w.KubeWrites() - kube; n != 3 {
		t.Errorf("%d Kubernetes writes for the second", n)
	}
}

func TestATenantAtRestTakesLittleMemory(t *testing.T) {
	t.Parallel()
	w := world.New(t, kubeConfig, world.Options{})
	ready(t, w, "alpha", rich) // what all tenants share is remembered with the one that looked it up
	key := client.ObjectKeyFromObject(ready(t, w, "beta", rich))
	if w.TenantController().RemembersMore(key) {
		t.Error("something of the create is remembered")
	}
	w.Edit("beta", params("tier", "silver"))
	w.Advance(time.Second)
	is(t, w, "beta", syncedTrue)
	if w.TenantController().RemembersMore(key) {
		t.Error("during the deployment of the update, more of it is remembered than of a tenant at rest")
	}
	w.Advance(settle)
	is(t, w, "beta", readyTrue)
	if w.TenantController().RemembersMore(key) {
		t.Error("something of the update is remembered")
	}
}

func TestWhatAnEditCosts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change edit
		writes map[string]int
		kube   int
	}{
		"of the configuration": {params("tier", "silver"), map[string]int{"UpdateDistributionTenant": 1}, 2},
		"of a tag":             {tags("team", "api", "cost", "42"), map[string]int{"TagResource": 1}, 1},
		// Status has the key of a new tag before the tag is set. It is stored with what the update has changed, if there is one.
		"of a new tag":            {tags("team", "web", "cost", "41", "stage", "test"), map[string]int{"TagResource": 1}, 2},
		"of both":                 {all(params("tier", "silver"), tags("team", "web", "cost", "41", "stage", "test")), map[string]int{"UpdateDistributionTenant": 1, "TagResource": 1}, 3},
		"of nothing that AWS has": {drift(v1alpha1.DriftPolicyEnforce), map[string]int{}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t, kubeConfig, world.Options{})
			ready(t, w, "alpha", rich)
			w.Advance(20 * time.Minute)
			calls, kube := w.Calls(), w.KubeWrites()
			w.Edit("alpha", c.change)
			w.Advance(settle)
			is(t, w, "alpha", readyTrue, syncedTrue)
			spent := world.Since(calls, w.Calls())
			if d := cmp.Diff(c.writes, mutations(spent)); d != "" {
				t.Errorf("changes in AWS (-want +got):\n%s", d)
			}
			if n := w.KubeWrites() - kube; n != c.kube {
				t.Errorf("%d Kubernetes writes, want %d", n, c.kube)
			}
			t.Logf("calls: %v", spent)
		})
	}
}

// The first deletion finds out whether AWS wants a disable to be deployed before it deletes.
// The others know: they cost two looks at the tags, the disable and the deletion. Its answer
// is the proof that the tenant is gone.
func TestWhatADeletionCosts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		needsDeployed bool
		first, others map[string]int
	}{
		"where a disable has to be deployed first": {
			true,
			map[string]int{"UpdateDistributionTenant": 1, "DeleteDistributionTenant": 2, "ListTagsForResource": 2},
			map[string]int{"UpdateDistributionTenant": 1, "DeleteDistributionTenant": 1, "ListTagsForResource": 2},
		},
		"where it has not": {
			false,
			map[string]int{"UpdateDistributionTenant": 1, "DeleteDistributionTenant": 1, "ListTagsForResource": 1},
			map[string]int{"UpdateDistributionTenant": 1, "DeleteDistributionTenant": 1, "ListTagsForResource": 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			switches := sim.DefaultSwitches()
			switches.DeleteNeedsDeployed = c.needsDeployed
			w := world.New(t, kubeConfig, world.Options{Switches: &switches})
			ready(t, w, "alpha")
			ready(t, w, "beta")
			w.Advance(20 * time.Minute)
			for _, object := range []struct {
				name string
				want map[string]int
			}{{"alpha", c.first}, {"beta", c.others}} {
				calls := w.Calls()
				w.Delete(object.name)
				w.Advance(settle)
				gone(t, w, object.name)
				spent := without(world.Since(calls, w.Calls()), "ListDistributionTenants", "GetCallerIdentity")
				if c.needsDeployed {
					delete(spent, "GetDistributionTenant") // follows the disable; how often depends on when sweeps fall
				}
				if d := cmp.Diff(object.want, spent); d != "" {
					t.Errorf("deleting %s (-want +got):\n%s", object.name, d)
				}
			}
		})
	}
}

// Other operators wake themselves with a time in status and read every object again and
// again. Here nothing happens while nothing happens.
func TestAQuietTimeCostsSweepsOnly(t *testing.T) {
	t.Parallel()
	w := world.New(t, kubeConfig, world.Options{Seed: hostileSeed()})
	ready(t, w, "ready", rich)
	ready(t, w, "disabled", func(o *v1alpha1.DistributionTenant) { o.Spec.Enabled = new(bool) })
	ready(t, w, "reported", rich, drift(v1alpha1.DriftPolicyReport))
	outOfBand(t, w, "reported", func(in *cloudfront.UpdateDistributionTenantInput) { in.Enabled = awssdk.Bool(false) })
	ready(t, w, "paused", rich)
	pause(w, "paused", "true")
	foreign(t, w, "taken")
	w.Apply(w.Tenant("taken", rich))
	w.Apply(w.Tenant("failing", params("nosuch", "x")))
	w.Apply(w.Tenant("refused", func(o *v1alpha1.DistributionTenant) { o.Spec.ConnectionGroupID = "cg_nosuch" }))
	w.Advance(time.Hour)
	before := map[string]*v1alpha1.DistributionTenant{}
	names := []string{"ready", "disabled", "reported", "paused", "taken", "failing", "refused"}
	for _, name := range names {
		before[name] = get(t, w, name)
	}
	calls, events := w.Calls(), len(w.Events)
	w.Advance(30 * time.Minute)
	for _, name := range names {
		o := get(t, w, name)
		if d := cmp.Diff(before[name].Status, o.Status); d != "" {
			t.Errorf("%s: the status moved (-before +after):\n%s", name, d)
		}
		// A refused create announces each try: that is all that may be written.
		if name != "refused" && o.ResourceVersion != before[name].ResourceVersion {
			t.Errorf("%s was written", name)
		}
	}
	spent := world.Since(calls, w.Calls())
	// The failing ones are tried once in that time, each with what its try needs.
	if n := spent["ListDistributionTenants"]; n != 6 {
		t.Errorf("%d sweeps", n)
	}
	if n := world.Sum(without(spent, "ListDistributionTenants")); n > 10 {
		t.Errorf("calls in addition to the sweeps: %v", without(spent, "ListDistributionTenants"))
	}
	if len(w.Events) != events {
		t.Errorf("events: %v", w.Events[events:])
	}
	t.Logf("calls: %v", spent)
}

func TestARestartCostsSweepsOnly(t *testing.T) {
	t.Parallel()
	const n = 12
	w := world.New(t, kubeConfig, world.Options{})
	for i := range n {
		w.Apply(w.Tenant(fmt.Sprintf("tenant-%02d", i), rich))
	}
	w.Advance(15 * time.Minute)
	for i := range n {
		is(t, w, fmt.Sprintf("tenant-%02d", i), readyTrue, syncedTrue)
	}
	created := w.Calls()
	if sum := world.Sum(without(created, "ListDistributionTenants")); float64(sum) > 1.3*n+15 {
		t.Errorf("%d calls for %d tenants: %v", sum, n, created)
	}
	t.Logf("calls to %d Ready tenants: %v, Kubernetes writes: %d", n, created, w.KubeWrites())
	calls, writes, events := w.Calls(), w.Writes(), len(w.Events)
	w.Restart()
	w.Advance(2 * time.Minute)
	spent := world.Since(calls, w.Calls())
	if sum := world.Sum(spent); sum > n/100+20 {
		t.Errorf("a restart made %d calls: %v", sum, spent)
	}
	w.Advance(time.Hour)
	if w.Writes() != writes || len(w.Events) != events {
		t.Errorf("after a restart: %d writes, %d events", w.Writes()-writes, len(w.Events)-events)
	}
	t.Logf("a restart: %v; with the hour after it: %v", spent, world.Since(calls, w.Calls()))
}

// The time of a transition answers "since when", so that nothing but a transition moves it.
func TestTransitionTimesAreKept(t *testing.T) {
	t.Parallel()
	w := world.New(t, kubeConfig, world.Options{})
	since := func(condition string) metav1.Time {
		return meta.FindStatusCondition(get(t, w, "alpha").Status.Conditions, condition).LastTransitionTime
	}
	ready(t, w, "alpha", rich)
	synced, dns, becameReady := since("Synced"), since("DNSReady"), since("Ready")
	w.Advance(10 * time.Minute)
	w.Edit("alpha", params("tier", "silver"))
	w.Advance(10 * time.Second)
	is(t, w, "alpha", "Ready=False/Deploying")
	unready := since("Ready")
	w.Advance(settle)
	is(t, w, "alpha", readyTrue)
	if !becameReady.Before(&unready) || since("Ready") == becameReady {
		t.Errorf("Ready since %s, unready since %s, Ready again since %s", becameReady, unready, since("Ready"))
	}
	if since("Synced") != synced || since("DNSReady") != dns {
		t.Errorf("Synced and DNSReady have not changed, but say so: %s %s", since("Synced"), since("DNSReady"))
	}
	w.Restart()
	again := since("Ready")
	w.Advance(time.Hour)
	if since("Ready") != again || since("Synced") != synced {
		t.Error("a restart moved transition times")
	}
}

// The request id is another one with every try: in status it would be a write for each.
func TestMessagesAreStable(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]sim.FaultError{
		"a refusal": {Status: http.StatusBadRequest, Code: "InvalidArgument", Message: "The web ACL is wrong (Request ID: %d, host id: abc)"},
		"a denial":  {Status: http.StatusForbidden, Code: "AccessDenied", Message: "not authorized. Encoded authorization failure message: x%dy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t, kubeConfig, world.Options{})
			message := ""
			for try := range 8 {
				text := e
				text.Message = fmt.Sprintf(e.Message, try)
				remove := refusing(t, w, "CreateDistributionTenant", text.Status, text.Code, text.Message)
				if try == 0 {
					w.Apply(w.Tenant("alpha"))
				}
				nudge(w, "alpha", fmt.Sprint(try))
				w.Advance(time.Minute)
				now := w.Message("alpha", "Ready")
				if message != "" && now != message {
					t.Errorf("the message was %q and is %q", message, now)
				}
				message = now
				remove()
			}
			if reasons := w.Reasons("alpha"); len(reasons) != 1 {
				t.Errorf("events: %v", reasons)
			}
		})
	}
}

// AWS answers lists in an order of its own; that is no change.
func TestOrderIsNoDifference(t *testing.T) {
	t.Parallel()
	w := world.New(t, kubeConfig, world.Options{})
	ready(t, w, "alpha", rich, domains("z.example.com", "a.example.com", "m.example.com"))
	calls := w.Calls()
	w.Edit("alpha", func(o *v1alpha1.DistributionTenant) {
		domains("m.example.com", "z.example.com", "a.example.com")(o)
		params("origin", "shop", "tier", "gold")(o)
		tags("cost", "42", "team", "web")(o)
		o.Spec.Customizations.GeoRestrictions.Locations = []v1alpha1.CountryCode{"DE", "FR"}
	})
	w.Advance(settle)
	is(t, w, "alpha", readyTrue, syncedTrue)
	if d := cmp.Diff(map[string]int{}, mutations(world.Since(calls, w.Calls()))); d != "" {
		t.Errorf("another order was written (-want +got):\n%s", d)
	}
}
