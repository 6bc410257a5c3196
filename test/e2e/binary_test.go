package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// The samples, applied as a user does, reach the conditions that they are there to show.
func TestSamples(t *testing.T) {
	t.Parallel()
	s := newScene(t, stack.Options{})
	// The role in another account trusts one cluster and one namespace.
	const role = "arn:aws:iam::444455556666:role/tenant-dns"
	s.seed(sim.Seed{Roles: []sim.SeedRole{{ARN: role, ExternalID: "e2e/" + s.namespace}}})
	op := s.operator(stack.OperatorOptions{Flags: []string{"--sweep-interval=10s", "--cluster-id=e2e", "--cluster-check=false", "--allowed-roles=" + role, "--default-grant=" + everything(role)}})
	samples, err := filepath.Glob(host.Path("config", "samples", "*.yaml"))
	if err != nil || len(samples) == 0 {
		t.Fatalf("finding the samples: %v, %d files", err, len(samples))
	}
	// Tenants wait for what they refer to, so that the order does not matter.
	for _, sample := range append(samples, host.Path("config", "samples", "platform")) {
		s.kubectl("apply", "--server-side", "-f", sample)
	}
	want := map[string]map[string]string{
		"minimal":  {v1alpha1.ConditionReady: "True/Deployed", v1alpha1.ConditionSynced: "True/InSync", v1alpha1.ConditionDNSReady: "True/DNSNotConfigured"},
		"full":     {v1alpha1.ConditionReady: "True/Deployed", v1alpha1.ConditionSynced: "True/InSync"},
		"disabled": {v1alpha1.ConditionReady: "True/Deployed", v1alpha1.ConditionSynced: "True/InSync"},
		"with-dns": {v1alpha1.ConditionReady: "True/Deployed", v1alpha1.ConditionDNSReady: "True/DNSReady"},
		"self-hosted": {
			v1alpha1.ConditionReady: "False/PendingValidation", v1alpha1.ConditionCertificateReady: "False/PendingValidation", v1alpha1.ConditionSynced: "True/InSync",
		},
	}
	events := map[string][]string{"platform": {"Created", "Deployed"}, "europe": {"Created", "Deployed"}}
	for _, name := range []string{"managed-certificate", "apex", "cross-account"} {
		events[name] = []string{"Updated"} // with the certificate
		want[name] = map[string]string{
			v1alpha1.ConditionReady: "True/Deployed", v1alpha1.ConditionCertificateReady: "True/Validated", v1alpha1.ConditionDNSReady: "True/DNSReady",
		}
	}
	if len(want) != len(samples) {
		t.Errorf("%d samples, and this test knows what %d of them show", len(samples), len(want))
	}
	for name, conditions := range want {
		for conditionType, condition := range conditions {
			s.reaches(name, conditionType, condition)
		}
		events[name] = append(events[name], "Created")
		if conditions[v1alpha1.ConditionDNSReady] == "True/DNSReady" {
			events[name] = append(events[name], "Published")
		}
	}
	checkColumns(s, len(samples)+2)
	checkEvents(s, events)
	inNamespace := fmt.Sprintf("namespace=%q", s.namespace)
	if n := s.metrics(op).Sum("cloudfront_tenant_operator_parent_condition", inNamespace, `condition="Ready"`, `status="True"`, `reason="Deployed"`); n != 2 {
		t.Errorf("metrics have %v distributions and connection groups that are Ready, want one of each", n)
	}
}

// All samples can be applied at once. Those of customers' namespaces need CRDs that this cluster does not have.
func TestAllSamplesAtOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t, stack.Options{})
	found, err := filepath.Glob(host.Path("config", "samples", "*"))
	if err != nil {
		t.Fatal(err)
	}
	apply := []string{"apply", "--dry-run=server", "--recursive"}
	for _, path := range found {
		if name := filepath.Base(path); name != "README.md" && name != "tenant" && name != "tenantplan" {
			apply = append(apply, "--filename", path)
		}
	}
	s.kubectl(apply...)
}

// everything is the grant that the samples need: one of them names a role, and one replaces records.
func everything(role string) string {
	return `{"kinds": ["DistributionTenant", "Distribution", "ConnectionGroup"], "distributions": [{"id": "*"}], "connectionGroups": [{"id": "*"}],
		"domains": [{"suffix": "*"}], "wildcards": true, "dns": {"zones": [{"id": "*"}], "takeover": "Any"}, "certificates": ["*"],
		"webAcls": {"arns": ["*"], "disable": true}, "geoRestrictions": true, "origins": {"vpcOrigins": ["*"], "accessControls": ["*"]},
		"functions": ["*"], "keyGroups": ["*"], "fieldLevelEncryptions": ["*"], "logBuckets": ["*"], "roles": ["` + role + `"]}`
}

// checkColumns compares what kubectl prints with the README.
func checkColumns(s *scene, objects int) {
	s.t.Helper()
	id, distribution := s.get("minimal").Status.ID, s.get("minimal").Status.DistributionID
	for format, want := range map[string]string{
		"":     `^NAME +STATUS +READY +SYNCED +DOMAIN +ID +AGE\nminimal +Deployed +True +True +minimal\.example\.com +` + id + ` +\d+m?\d*s\n$`,
		"wide": `^NAME +STATUS +READY +SYNCED +DOMAIN +ID +AGE +REASON +DISTRIBUTION +CERT-EXPIRES\nminimal +Deployed +True +True +minimal\.example\.com +` + id + ` +\d+m?\d*s +Deployed +` + distribution + `( +[-0-9TZ:]+)? *\n$`,
	} {
		out := s.kubectl("get", "cfdt", "minimal", "--output", format)
		if !regexp.MustCompile(want).MatchString(out) {
			s.t.Errorf("kubectl get cfdt --output %q prints\n%s, want a match of\n%s", format, out, want)
		}
	}
	if out := s.kubectl("get", "aws", "--output", "name"); strings.Count(out, "\n") != objects {
		s.t.Errorf("kubectl get aws prints\n%s, want all %d objects", out, objects)
	}
}

// checkEvents wants the events with these reasons of each object, in any order and published once.
func checkEvents(s *scene, want map[string][]string) {
	s.t.Helper()
	s.eventually(func(g gomega.Gomega) {
		var list eventsv1.EventList
		g.Expect(kube.List(s.t.Context(), &list, client.InNamespace(s.namespace))).To(gomega.Succeed())
		got := map[string][]string{}
		for _, e := range list.Items {
			got[e.Regarding.Name] = append(got[e.Regarding.Name], e.Reason)
			g.Expect(e.Series).To(gomega.BeNil(), "the event %s of %s came again", e.Reason, e.Regarding.Name)
		}
		g.Expect(cmp.Diff(want, got, cmpopts.SortSlices(strings.Compare))).To(gomega.BeEmpty())
	})
}

func TestProbes(t *testing.T) {
	t.Parallel()
	s := newScene(t, stack.Options{})
	op := s.operator(stack.OperatorOptions{})
	// Its caches may still be filling.
	s.eventually(func(g gomega.Gomega) {
		for _, probe := range []string{"healthz", "readyz"} {
			g.Expect(get(t, http.DefaultClient, op.ProbeURL(probe), "")).To(gomega.Equal(http.StatusOK), probe)
		}
	})
	s.stop(op)
}

// Every metric of tenants, and of what they refer to, that the reference lists is there once something has happened
// that changes it.
func TestMetrics(t *testing.T) {
	t.Parallel()
	s := newScene(t, stack.Options{})
	// So slow that the second tenant has to wait.
	op := s.operator(stack.OperatorOptions{Flags: []string{"--aws-rate=2", "--aws-burst=2", "--domain-claims=true", "--watch-domains=true", "--dns-resolvers=127.0.0.1:9"}})
	s.fault(sim.Fault{Operation: "CreateDistributionTenant", Times: 2, Nth: 1})
	s.apply(s.tenant("one"))
	s.apply(s.tenant("two"))
	s.apply(s.tenant("three", func(o *v1alpha1.DistributionTenant) {
		o.Spec.DNS = &v1alpha1.DNS{Provider: v1alpha1.DNSProviderRoute53}
		o.Spec.Customizations = &v1alpha1.Customizations{Certificate: &v1alpha1.CertificateCustomization{ARN: sim.DefaultCertificateARN}}
	}))
	s.ready("one", "two", "three")
	s.kubectl("apply", "--server-side", "-f", host.Path("config", "samples", "platform"))
	// It waits for its tenant, and has an age until then.
	waiting := &v1alpha1.Invalidation{Spec: v1alpha1.InvalidationSpec{TenantRef: &v1alpha1.InvalidationTenantReference{Name: "four"}, Paths: []string{"/*"}}}
	waiting.Namespace, waiting.Name = s.namespace, "waiting"
	if err := kube.Create(t.Context(), waiting); err != nil {
		t.Fatal(err)
	}

	s.serve(op, func(metric string) bool {
		return !strings.HasPrefix(metric, sourceMetrics) && !strings.HasPrefix(metric, webhookMetrics) && !slices.Contains(customerMetrics, metric) && !slices.Contains(slices.Concat(guardMetrics, accountMetrics), metric)
	})
	m := s.metrics(op)
	for what, got := range map[string]float64{
		"Ready objects":      m.Sum("cloudfront_tenant_operator_tenants_total", fmt.Sprintf("namespace=%q", s.namespace), `status="Deployed"`),
		"times to Ready":     m.Sum("cloudfront_tenant_operator_time_to_ready_seconds_count"),
		"successful creates": m.Sum("cloudfront_tenant_operator_aws_api_calls_total", `operation="CreateDistributionTenant"`, `code="OK"`),
	} {
		if got != 3 {
			t.Errorf("metrics count %g %s, want 3", got, what)
		}
	}
}

// customerMetrics are served by the controller of Tenants, which is not among the defaults.
var customerMetrics = []string{"cloudfront_tenant_operator_customers", "cloudfront_tenant_operator_plan_tenants"}

// guardMetrics have a series for each thing that is held, and so none here.
var guardMetrics = []string{"cloudfront_tenant_operator_stalled", "cloudfront_tenant_operator_rollout_stopped", "cloudfront_tenant_operator_deletions_held", "cloudfront_tenant_operator_writes_halted", "cloudfront_tenant_operator_grant_violations"}

// accountMetrics are about accounts at other DNS providers, of which this operator has none.
var accountMetrics = []string{
	"cloudfront_tenant_operator_dns_account_valid", "cloudfront_tenant_operator_dns_api_calls_total", "cloudfront_tenant_operator_dns_api_call_duration_seconds",
}

// webhookMetrics is how the names of the metrics of the webhook begin, which is off by default.
const webhookMetrics = "cloudfront_tenant_operator_webhook_"

// sourceMetrics is how the names of the metrics of sources begin.
const sourceMetrics = "cloudfront_tenant_operator_source_"

// serve waits until every metric is served that the reference lists and the test is about.
func (s *scene) serve(op *stack.Operator, about func(metric string) bool) {
	s.t.Helper()
	page, err := os.ReadFile(host.Path("docs", "reference", "metrics.md"))
	if err != nil {
		s.t.Fatal(err)
	}
	var metrics []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)`").FindAllStringSubmatch(string(page), -1) {
		if about(row[1]) {
			metrics = append(metrics, row[1])
		}
	}
	if len(metrics) < 5 {
		s.t.Fatalf("docs/reference/metrics.md lists %d such metrics: it is written in another way than this test reads", len(metrics))
	}
	s.eventually(func(g gomega.Gomega) {
		m := s.metrics(op)
		for _, metric := range metrics {
			g.Expect(m.Has(metric)).To(gomega.BeTrue(), "%s is documented and not served", metric)
		}
	})
}

// get returns the status of an answer.
func get(t *testing.T, c *http.Client, url, token string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := c.Do(request)
	if err != nil {
		t.Fatalf("getting %s: %v", url, err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}
