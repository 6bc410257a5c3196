package distributiontenant_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

const (
	// shop is a domain that no certificate covers at first.
	shop     = "shop.customer.test"
	shopMore = "more.customer.test"

	validated    = "CertificateReady=True/Validated"
	failed       = "CertificateReady=False/CertificateFailed"
	pendingProof = "CertificateReady=False/PendingValidation"
	day          = 24 * time.Hour
	// issueSoon is long enough for a certificate whose domains are proven to be issued,
	// noticed, attached and deployed, even where only the slow fallback read tells of it.
	issueSoon = 15 * time.Minute
)

// certWorld is a world in which every name below customer.test leads to CloudFront.
func certWorld(t *testing.T, change ...func(*sim.Switches)) *world.World {
	t.Helper()
	return certWorldWith(t, world.Options{}, change...)
}

func certWorldWith(t *testing.T, o world.Options, change ...func(*sim.Switches)) *world.World {
	t.Helper()
	seed, switches := world.Seed(), sim.DefaultSwitches()
	seed.ResolvingDomains = []string{"*.customer.test"}
	for _, c := range change {
		c(&switches)
	}
	o.Seed, o.Switches = &seed, &switches
	w := world.NewOffline(t, o)
	w.Clock.Step(time.Hour) // what the seed has is not new
	return w
}

func movesETag(on bool) func(*sim.Switches) {
	return func(s *sim.Switches) { s.CertificateMovesETag = on }
}

func attachesByItself(s *sim.Switches) { s.AttachesByItself = true }
func requestLost(s *sim.Switches)      { s.RequestLost = true }
func neverIssued(s *sim.Switches)      { s.CertificateIssueDelay = 1000 * day }

// furnishedShop asks for a managed certificate in addition to every other block.
func furnishedShop(o *v1alpha1.DistributionTenant) {
	rich(o)
	o.Spec.Customizations.Certificate = nil
	domains(shop)(o)
	managed(v1alpha1.ValidationTokenHostCloudFront)(o)
}

func plainShop(o *v1alpha1.DistributionTenant) {
	domains(shop)(o)
	managed(v1alpha1.ValidationTokenHostCloudFront)(o)
}

func selfHosted(o *v1alpha1.DistributionTenant) {
	domains("live.elsewhere.test")(o)
	managed(v1alpha1.ValidationTokenHostSelfHosted)(o)
}

// applyAs creates the object as a tool that owns the whole spec.
func applyAs(t *testing.T, w *world.World, owner string, o *v1alpha1.DistributionTenant) {
	t.Helper()
	if err := w.Kube.Create(t.Context(), o, client.FieldOwner(owner)); err != nil {
		t.Fatalf("creating %s: %v", o.Name, err)
	}
}

// specOf checks that the spec is exactly as it was, and that only its owner has a field in it.
func specOf(t *testing.T, w *world.World, owner string, before *v1alpha1.DistributionTenant) {
	t.Helper()
	after := get(t, w, before.Name)
	if d := cmp.Diff(before.Spec, after.Spec); d != "" || after.Generation != before.Generation {
		t.Errorf("the spec was changed, and is at generation %d instead of %d (-before +after):\n%s", after.Generation, before.Generation, d)
	}
	for _, f := range after.ManagedFields {
		if f.Manager != owner && strings.Contains(f.FieldsV1.GetRawString(), `"f:spec"`) {
			t.Errorf("%s owns fields of the spec: %s", f.Manager, f.FieldsV1.GetRawString())
		}
	}
}

// managedIn are the certificates in ACM that CloudFront manages, oldest first.
func managedIn(w *world.World) []sim.CertificateState {
	var out []sim.CertificateState
	for _, a := range w.Sim.State().Accounts {
		for _, c := range a.Certificates {
			if c.ManagedBy != "" {
				out = append(out, c)
			}
		}
	}
	return out
}

// requests checks how many managed certificates there are in ACM, and returns their ARNs.
func requests(t *testing.T, w *world.World, n int) []string {
	t.Helper()
	var arns []string
	for _, c := range managedIn(w) {
		arns = append(arns, c.ARN)
	}
	if len(arns) != n {
		t.Fatalf("ACM has the managed certificates %v, want %d of them", arns, n)
	}
	return arns
}

// becomes moves the managed certificate of a tenant to a state that only AWS brings about.
func becomes(t *testing.T, w *world.World, name, status string) {
	t.Helper()
	if err := w.Sim.ChangeCertificate(sim.CertificateChange{Tenant: name, Status: status}); err != nil {
		t.Fatal(err)
	}
}

// inACM reports whether a certificate exists.
func inACM(w *world.World, arn string) bool {
	for _, a := range w.Sim.State().Accounts {
		if slices.ContainsFunc(a.Certificates, func(c sim.CertificateState) bool { return c.ARN == arn }) {
			return true
		}
	}
	return false
}

// serves checks that a tenant is Ready with that certificate, and that its domains are served.
func serves(t *testing.T, w *world.World, name, arn string) sim.TenantState {
	t.Helper()
	is(t, w, name, readyTrue, syncedTrue, validated)
	s := inAWS(t, w, name)
	if s.Customizations.CertificateARN != arn {
		t.Errorf("attached is %q, want %q", s.Customizations.CertificateARN, arn)
	}
	for d, state := range s.Domains {
		if state != "active" {
			t.Errorf("%s is %s", d, state)
		}
	}
	if o := get(t, w, name); o.Status.CertificateARN != arn || o.Status.ManagedCertificateStatus != "issued" {
		t.Errorf("status says that %q is %q", o.Status.CertificateARN, o.Status.ManagedCertificateStatus)
	}
	return s
}

// quiet checks that nothing is written for a day, and that little is asked.
func quiet(t *testing.T, w *world.World) {
	t.Helper()
	w.Advance(10 * time.Minute) // what was just noticed may still be written down
	calls, writes, events := w.Calls(), w.Writes(), len(w.Events)
	w.Advance(6 * time.Hour)
	if n := w.Writes() - writes; n != 0 {
		t.Errorf("six quiet hours made %d writes", n)
	}
	spent := without(world.Since(calls, w.Calls()), "ListDistributionTenants", "ListTagsForResource", "ListCertificates", "ListResourceRecordSets")
	if n := world.Sum(spent); n > 1 {
		t.Errorf("six quiet hours made the calls %v", spent)
	}
	if more := w.Events[events:]; len(more) != 0 {
		t.Errorf("six quiet hours made the events %v", more)
	}
}

// warned are the warnings about an object with that reason.
func warned(w *world.World, name, reason string) []string {
	var out []string
	for _, e := range w.Events {
		if e.Object == name && e.Warning && e.Reason == reason {
			out = append(out, e.Message)
		}
	}
	return out
}

// pass plays a long time. The world bounds how often an object may be looked at in one go.
func pass(w *world.World, d time.Duration) {
	for ; d > 0; d -= 6 * time.Hour {
		w.Advance(min(d, 6*time.Hour))
	}
}

// leadShop makes the domain lead to CloudFront.
func leadShop(_ *testing.T, w *world.World) { w.Sim.SetResolving(true, shop) }

// redirectsOf are what the web servers of the domains have to answer with.
func redirectsOf(t *testing.T, w *world.World, name string) (out []v1alpha1.DomainRecord) {
	t.Helper()
	for _, d := range get(t, w, name).Status.Domains {
		for _, r := range d.Records {
			if r.Purpose == v1alpha1.PurposeHTTP {
				out = append(out, r)
			}
		}
	}
	return out
}
