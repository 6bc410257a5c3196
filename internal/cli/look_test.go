package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli"
)

func TestStatusCountsWhatTheFleetNeeds(t *testing.T) {
	ns := namespace(t)
	for _, name := range []string{"aaa", "bbb", "ccc"} {
		tenant(t, ns, name, ready)
	}
	tenant(t, ns, "new", nil)
	tenant(t, ns, "slow", waiting)
	tenant(t, ns, "taken", stuck)
	got := prints(t, "status", "-n", ns)
	shows(t, got, "6 tenants in namespace "+ns+"   3 ready   2 working   1 needs you",
		"DomainConflict 1", "Deploying 1 (oldest 3m: "+ns+"/slow)", "NotProcessed 1",
		ns+"/taken", "3h", "www.example.com is used by another distribution tenant.", "-> kubectl cfdt explain taken -n "+ns)

	var asJSON struct {
		Kind, APIVersion string
		Tenants          map[string]int
		NeedsPerson      []struct {
			Reason string
			Count  int
		}
	}
	if err := json.Unmarshal([]byte(prints(t, "status", "-n", ns, "-o", "json")), &asJSON); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]int{"total": 6, "ready": 3, "working": 2, "needsPerson": 1}, asJSON.Tenants); d != "" {
		t.Errorf("tenants in JSON (-want +got):\n%s", d)
	}
	if asJSON.Kind != "FleetStatus" || len(asJSON.NeedsPerson) != 1 || asJSON.NeedsPerson[0].Reason != "DomainConflict" {
		t.Errorf("%+v", asJSON)
	}
	shows(t, prints(t, "status", "-n", ns, "-o", "yaml"), "kind: FleetStatus", "reason: DomainConflict")
	if got := prints(t, "status", "-n", ns, "-o", "jsonpath={.tenants.ready}"); got != "3" {
		t.Errorf("jsonpath prints %q", got)
	}
}

// A verb is about the namespace of the context, as in kubectl. Only -A is about all.
func TestVerbsAreAboutTheCurrentNamespace(t *testing.T) {
	ns := namespace(t)
	tenant(t, ns, "acme", ready)
	for _, verb := range []string{"status", "tree", "certs", "report"} {
		if got := prints(t, verb); strings.Contains(got, ns) {
			t.Errorf("%s shows an object of another namespace than default:\n%s", verb, got)
		}
	}
	shows(t, prints(t, "status"), "in namespace default")
	shows(t, prints(t, "status", "-A"), "in all namespaces")
	shows(t, prints(t, "tree", "-A", "--all"), ns+"/acme")
}

func TestExplainSaysWhySinceWhenAndWhatToDo(t *testing.T) {
	ns := namespace(t)
	tenant(t, ns, "taken", stuck)
	tenant(t, ns, "new", nil)
	later := tenant(t, ns, "later", func(o *v1alpha1.DistributionTenant) {
		ready(o)
		o.Status.Conditions[1] = condition("Synced", metav1.ConditionFalse, "KeyValuesPending", "spec.keyValues: the key is being written.", time.Minute)
	})
	later.Spec.Domains = append(later.Spec.Domains, v1alpha1.TenantDomain{Domain: "also.example.com"})
	if err := admin.Update(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	tenant(t, ns, "fine", func(o *v1alpha1.DistributionTenant) {
		ready(o)
		o.Status.DNSTarget = "d111.cloudfront.net"
		o.Status.Domains = []v1alpha1.DomainStatus{{Domain: "fine.example.com", State: v1alpha1.DomainLive, Since: metav1.NewTime(now), Message: "The domain is live."}}
		o.Status.Drift = []v1alpha1.DriftedField{{Field: "parameters[tier]", Desired: "gold"}}
	})
	for name, tt := range map[string]struct {
		args []string
		want []string
	}{
		"what needs a person comes first, with the fix and the next try": {[]string{"taken"}, []string{
			"DistributionTenant " + ns + "/taken   needs you for 3h: DomainConflict", "Ready False  DomainConflict  for 3h",
			"Fix: Remove the domain from the resource that uses it", "next try in", "now: kubectl cfdt reconcile taken -n " + ns,
		}},
		"an object that the operator has not seen says so":               {[]string{"cfdt/new"}, []string{"NotProcessed", "The operator has not processed this object yet."}},
		"an object that serves an older spec says why not the newer one": {[]string{"later"}, []string{"not ready yet for 60s: KeyValuesPending"}},
		"what is fine has its facts": {[]string{"distributiontenant/fine"}, []string{
			"ready for 2d: Deployed", "dt_fine, Deployed", "fine.example.com Live. The domain is live.", "d111.cloudfront.net", "parameters[tier]: the spec has gold, AWS has nothing",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			shows(t, prints(t, append([]string{"explain", "-n", ns}, tt.args...)...), tt.want...)
			shows(t, prints(t, append([]string{"why", "-n", ns}, tt.args...)...), tt.want...)
		})
	}
}

func TestNamesThatAreWrong(t *testing.T) {
	ns := namespace(t)
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"an object that is not there":   {[]string{"explain", "acme", "-n", ns}, "there is no DistributionTenant acme in namespace " + ns},
		"a kind of others":              {[]string{"explain", "pod/acme"}, `"pod" is not one of the operator's kinds: use cfdt, cfd`},
		"a namespace that is not there": {[]string{"grants", "check", "nowhere", "--grants=Enforce"}, `namespaces "nowhere" not found`},
		"a time that is none":           {[]string{"certs", "--expiring", "soon"}, "--expiring=soon is not a time: use days, weeks or hours"},
		"names and a file":              {[]string{"diff", "acme", "-f", "x.yaml"}, "use either names or --filename"},
		"no object":                     {[]string{"events"}, "Usage: kubectl cfdt events [KIND/]NAME"},
		"too many arguments":            {[]string{"status", "acme"}, `can't be run with the arguments ["acme"]`},
		"a bundle without a file":       {[]string{"bundle"}, `required flag(s) "output" not set`},
	} {
		t.Run(name, func(t *testing.T) {
			r := command(t, "", tt.args...)
			if r.failure == nil || !strings.Contains(r.failure.Error(), tt.want) {
				t.Errorf("fails with %v, want %q; printed: %s", r.failure, tt.want, r.out)
			}
		})
	}
}

func TestWithoutAKubeconfig(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	if r := commandAt(t, "", "", "status"); r.failure == nil || !strings.Contains(r.failure.Error(), "no cluster is configured") {
		t.Errorf("fails with %v", r.failure)
	}
	if r := commandAt(t, plane.Kubeconfig(), "", "status", "--as-user-extra", "scopes"); r.failure == nil || !strings.Contains(r.failure.Error(), "use key=value") {
		t.Errorf("fails with %v", r.failure)
	}
}

func TestTreeShowsWhatIsNotReadyFirst(t *testing.T) {
	ns := namespace(t)
	for _, name := range []string{"aaa", "bbb", "ccc", "ddd", "eee", "fff", "ggg"} {
		tenant(t, ns, name, ready)
	}
	tenant(t, ns, "taken", stuck)
	got := prints(t, "tree", "-n", ns)
	shows(t, got, "distribution E2EXAMPLE1 (not an object of this cluster)", "├─ DistributionTenant "+ns+"/taken   DomainConflict", "└─ ... 2 more that are ready (--all shows them)")
	if first := strings.Split(got, "\n")[1]; !strings.Contains(first, "taken") {
		t.Errorf("the first below is %s", first)
	}
	all := prints(t, "tree", "-n", ns, "--all")
	shows(t, all, ns+"/ggg")
	if strings.Contains(all, "more that are ready") {
		t.Errorf("--all hides some:\n%s", all)
	}
}

// A message can be that of a hostile database. Its characters may not clear the screen, set its title, turn the direction of
// writing, or look like another line.
func TestTextsOfOthersDoNotControlTheTerminal(t *testing.T) {
	ns := namespace(t)
	hostile := "\x1b]0;owned\a\x1b[2Jno such\u202e table\u009b1m\nREADY"
	tenant(t, ns, "acme", func(o *v1alpha1.DistributionTenant) {
		stuck(o)
		o.Status.Conditions[0].Message, o.Status.Conditions[1].Message = hostile, hostile
		o.Status.DriftDetected, o.Status.Drift = true, []v1alpha1.DriftedField{{Field: "parameters[tier]", Desired: "gold", Observed: hostile}}
	})
	source := held(ns)
	create(t, source)
	source.Status = held(ns).Status
	source.Status.RejectedRows[0].Reason = hostile
	if err := admin.Status().Update(t.Context(), source); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"status"}, {"status", "-o", "json"}, {"status", "-o", "yaml"}, {"status", "-o", "jsonpath={.objectsThatNeedAPerson[*].message}"},
		{"explain", "acme"}, {"events", "acme"}, {"report"}, {"source", "plan", "customers"}, {"explain", "tenantsource/customers"},
	} {
		got := prints(t, append(args, "-n", ns)...)
		shows(t, got, "no such")
		obeyed := func(r rune) bool { return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf) }
		if at := strings.IndexFunc(got, obeyed); at >= 0 {
			t.Errorf("kubectl cfdt %s prints %q", strings.Join(args, " "), got[at:])
		}
		// In JSON, YAML and HTML, the ends of lines mean nothing.
		if !slices.Contains(args, "-o") && args[0] != "report" && strings.Contains(got, "\nREADY") {
			t.Errorf("kubectl cfdt %s: a message looks like another line:\n%s", strings.Join(args, " "), got)
		}
	}
	var colored strings.Builder
	cli.Colored(&colored, "Ready", "\x1b[32mno\x1b[0m")
	if want := "\x1b[31mReady\x1b[0m [32mno[0m\n"; colored.String() != want {
		t.Errorf("a line with colors is %q, want %q", colored.String(), want)
	}
}

// A change of a source that has not reached all tenants shows wherever the source does, and so does that of a plan.
func TestRolloutsAreShown(t *testing.T) {
	ns := namespace(t)
	source := held(ns)
	create(t, source)
	source.Status = v1alpha1.TenantSourceStatus{
		Rollout: &v1alpha1.SourceRolloutStatus{Tenants: new(int32(10)), Applied: new(int32(2)), Failed: new(int32(2)), RolloutProgress: v1alpha1.RolloutProgress{Step: 2, Target: 4}},
		Conditions: []metav1.Condition{
			condition("RolledOut", metav1.ConditionFalse, "RolloutStopped", "2 of the first 4 tenants failed.", time.Hour),
			condition("Stalled", metav1.ConditionTrue, "RolloutStopped", "2 of the first 4 tenants failed.", time.Hour),
		},
	}
	if err := admin.Status().Update(t.Context(), source); err != nil {
		t.Fatal(err)
	}
	create(t, &v1alpha1.DistributionTenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "acme", Labels: map[string]string{v1alpha1.LabelSourceUID: string(source.UID)}},
		Spec:       v1alpha1.DistributionTenantSpec{DistributionID: "E2EXAMPLE1", Domains: []v1alpha1.TenantDomain{{Domain: "acme.example.com"}}},
	})
	const rollout = "rollout: stopped, 2 of 10 tenants have the change, step 2 reaches 4, 2 failed"
	shows(t, prints(t, "tree", "-n", ns), "└─ TenantSource "+ns+"/customers   RolloutStopped   "+rollout+"\n   └─ DistributionTenant "+ns+"/acme")
	shows(t, prints(t, "tree", "tenantsource/customers", "-n", ns), "TenantSource "+ns+"/customers   RolloutStopped   "+rollout)
	shows(t, prints(t, "status", "-n", ns), "RolloutStopped   "+rollout)

	for name, tt := range map[string]struct {
		reason                   string
		tenants, applied, failed int32
	}{
		"done": {"RolledOut", 10, 10, 0}, "going": {"RollingOut", 10, 4, 0}, "holding": {"RolloutPaused", 10, 4, 1},
		"broken": {"RolloutStopped", 10, 1, 2}, "tried": {"TenantsFailed", 10, 9, 1},
	} {
		plan := &kleffv1.TenantPlan{ObjectMeta: metav1.ObjectMeta{Name: name}}
		create(t, plan)
		plan.Status = kleffv1.TenantPlanStatus{
			Tenants: &tt.tenants, Applied: &tt.applied, Failed: &tt.failed, Conditions: []metav1.Condition{condition("RolledOut", metav1.ConditionFalse, tt.reason, "It is so.", time.Hour)},
		}
		if err := admin.Status().Update(t.Context(), plan); err != nil {
			t.Fatal(err)
		}
	}
	shows(t, prints(t, "status", "-A"), "broken 1/10 stopped, 2 failed   done 10/10   going 4/10 rolling out   holding 4/10 paused, 1 failed   tried 9/10, 1 failed\n")
}

func TestATenantThatIsNewIsBelowTheDistributionThatItNames(t *testing.T) {
	ns := namespace(t)
	create(t, &v1alpha1.Distribution{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "platform"}, Spec: v1alpha1.DistributionSpec{
		DistributionConfig: v1alpha1.DistributionConfig{
			Origins:              []v1alpha1.Origin{{ID: "app", DomainName: "app.example.com", CustomOriginConfig: &v1alpha1.CustomOriginConfig{}}},
			DefaultCacheBehavior: &v1alpha1.CacheBehaviorSettings{TargetOriginID: "app", ViewerProtocolPolicy: "redirect-to-https", CachePolicyID: "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"},
		},
	}})
	o := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "new"}, Spec: v1alpha1.DistributionTenantSpec{
		DistributionRef: &v1alpha1.ObjectReference{Name: "platform"}, Domains: []v1alpha1.TenantDomain{{Domain: "new.example.com"}},
	}}
	create(t, o)
	shows(t, prints(t, "tree", "-n", ns), "Distribution "+ns+"/platform   NotProcessed\n└─ DistributionTenant "+ns+"/new   NotProcessed")
}

func TestCertificatesByExpiry(t *testing.T) {
	ns := namespace(t)
	served := func(arn string, days int) func(*v1alpha1.DistributionTenant) {
		return func(o *v1alpha1.DistributionTenant) {
			ready(o)
			o.Status.Certificate = &v1alpha1.ServedCertificate{ARN: arn, NotAfter: metav1.NewTime(now.Add(time.Duration(days) * 24 * time.Hour)), Issuer: "Amazon", Type: "Managed"}
		}
	}
	tenant(t, ns, "late", served("arn:late", 200))
	tenant(t, ns, "soon", served("arn:soon", 9))
	tenant(t, ns, "soon2", served("arn:soon", 9))
	tenant(t, ns, "unknown", ready)
	got := prints(t, "certs", "-n", ns)
	shows(t, got, "in 9d", "2 tenants", "arn:late", "the certificate of 1 tenant is not known")
	if strings.Index(got, "arn:soon") > strings.Index(got, "arn:late") {
		t.Errorf("what expires first is not at the top:\n%s", got)
	}
	if got := prints(t, "certs", "-n", ns, "--expiring", "30d"); strings.Contains(got, "arn:late") {
		t.Errorf("--expiring 30d shows a certificate that expires in 200 days:\n%s", got)
	}
	shows(t, prints(t, "certs", "-n", ns, "--expiring", "1d"), "no certificate expires within that time")
}

// A certificate of a distribution is shown with what inherits it, even if that is nothing.
func TestCertificatesOfDistributions(t *testing.T) {
	ns := namespace(t)
	certificate := func(arn string, days int) *v1alpha1.ServedCertificate {
		return &v1alpha1.ServedCertificate{ARN: arn, NotAfter: metav1.NewTime(now.Add(time.Duration(days) * 24 * time.Hour)), Issuer: "Example CA", Type: "Imported"}
	}
	distribution := func(name string, c *v1alpha1.ServedCertificate) {
		t.Helper()
		o := &v1alpha1.Distribution{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Spec: v1alpha1.DistributionSpec{
			DistributionConfig: v1alpha1.DistributionConfig{
				Origins:              []v1alpha1.Origin{{ID: "app", DomainName: "app.example.com", CustomOriginConfig: &v1alpha1.CustomOriginConfig{}}},
				DefaultCacheBehavior: &v1alpha1.CacheBehaviorSettings{TargetOriginID: "app", ViewerProtocolPolicy: "redirect-to-https", CachePolicyID: "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"},
				ViewerCertificate:    &v1alpha1.ViewerCertificate{ACMCertificateARN: "arn:aws:acm:us-east-1:111122223333:certificate/" + name},
			},
		}}
		create(t, o)
		o.Status.Certificate = c
		if err := admin.Status().Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	distribution("shared", certificate("arn:shared", 20))
	distribution("spare", certificate("arn:spare", 60))
	distribution("unknown", nil)
	for n, own := range []string{"", "", "arn:shared"} {
		tenant(t, ns, fmt.Sprintf("tenant-%d", n), func(o *v1alpha1.DistributionTenant) {
			ready(o)
			o.Status.CertificateARN, o.Status.Certificate = own, certificate("arn:shared", 20)
		})
	}
	got := prints(t, "certs", "-n", ns)
	shows(t, got, "distribution "+ns+"/shared, inherited by 2 tenants, attached to 1 tenant   arn:shared", "distribution "+ns+"/spare ",
		"the certificate of 1 distribution is not known")
	shows(t, prints(t, "status", "-n", ns), "the first of 2 expires in 20d: distribution "+ns+"/shared")
	shows(t, prints(t, "certs", "-n", ns, "-o", "json"), `"inheritedBy": 2`, `"unknownDistributions": 1`)
}

func TestReportIsOnePage(t *testing.T) {
	ns := namespace(t)
	tenant(t, ns, "fine", ready)
	tenant(t, ns, "taken", func(o *v1alpha1.DistributionTenant) {
		stuck(o)
		o.Status.Conditions[0].Message, o.Status.Conditions[1].Message = "<script>alert(1)</script>", "<script>alert(1)</script>"
	})
	got := prints(t, "report", "-n", ns, "--title", "Shop & Co")
	shows(t, got, "<title>Shop &amp; Co</title>", "DomainConflict", ns+"/taken", "&lt;script&gt;alert(1)", "Fix: Remove the domain")
	file := filepath.Join(t.TempDir(), "fleet.html")
	prints(t, "report", file, "-n", ns, "--title", "Shop & Co")
	if written, err := os.ReadFile(file); err != nil || string(written) != got {
		t.Errorf("the file has not what is printed (%v):\n%s", err, written)
	}
	for _, outside := range []string{"<script", "http://", "https://", "src="} {
		if strings.Contains(got, outside) {
			t.Errorf("the page has %s", outside)
		}
	}
}
