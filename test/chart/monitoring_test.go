package chart_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
)

// selector finds metrics and what is asked of their labels in an expression.
var selector = regexp.MustCompile(`\b((?:cloudfront_tenant_operator|controller_runtime|workqueue|rest_client|leader_election|process|go|apiserver)_[a-z0-9_]+)(?:\{([^}]*)\})?`)

// grouping finds the labels that an expression sums over or joins by.
var grouping = regexp.MustCompile(`\b(?:by|on) \(([^)]*)\)`)

var matcher = regexp.MustCompile(`([a-z_]+)\s*(?:=~|!~|!=|=)\s*"`)

// ofTargets are labels that Prometheus adds when it scrapes.
var ofTargets = []string{"namespace", "pod"}

// Alerts and panels ask for metrics and labels that there are.
func TestExpressionsAskForWhatThereIs(t *testing.T) {
	known := knownMetrics(t)
	expressions := map[string]string{}
	for _, a := range alerts(t, "metrics: {prometheusRule: {enabled: true}}") {
		expressions["alert "+a.Alert] = a.Expr
	}
	for title, exprs := range panels(t) {
		expressions["panel "+title] = strings.Join(exprs, "\n")
	}
	for where, expr := range expressions {
		found := selector.FindAllStringSubmatch(expr, -1)
		if len(found) == 0 {
			t.Errorf("%s asks for no metric: %s", where, expr)
		}
		there := slices.Clone(ofTargets)
		for _, f := range found {
			labels, ok := known[f[1]]
			there = append(there, labels...)
			if !ok {
				t.Errorf("%s: there is no metric %s", where, f[1])
			}
			for _, m := range matcher.FindAllStringSubmatch(f[2], -1) {
				if !slices.Contains(labels, m[1]) && !slices.Contains(ofTargets, m[1]) {
					t.Errorf("%s: %s has no label %s", where, f[1], m[1])
				}
			}
		}
		for _, g := range grouping.FindAllStringSubmatch(expr, -1) {
			for label := range strings.SplitSeq(g[1], ", ") {
				if !slices.Contains(there, label) {
					t.Errorf("%s groups by the label %s, which none of its metrics has", where, label)
				}
			}
		}
	}
}

// variables replaces Grafana's variables as Grafana would.
var variables = strings.NewReplacer("$__rate_interval", "5m", "$namespace", ".*", "\n", " ")

func TestExpressionsAreWellFormed(t *testing.T) {
	var all []string
	for _, a := range alerts(t, "metrics: {prometheusRule: {enabled: true}}") {
		all = append(all, variables.Replace(a.Expr))
	}
	for _, exprs := range panels(t) {
		for _, expr := range exprs {
			all = append(all, variables.Replace(expr))
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "-C", "../../hack/promcheck", "run", ".")
	cmd.Stdin = strings.NewReader(strings.Join(all, "\n"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("Prometheus can't parse (%v):\n%s", err, out)
	}
}

// knownMetrics are those of the operator by its own account, and those that a manager
// with a controller shows.
func knownMetrics(t *testing.T) map[string][]string {
	t.Helper()
	known := map[string][]string{}
	add := func(name, kind string, labels []string) {
		if kind == "histogram" {
			known[name+"_bucket"], known[name+"_count"], known[name+"_sum"] = append(labels, "le"), labels, labels
			return
		}
		known[name] = labels
	}
	own, err := metrics.Reference()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range own {
		add(m.Name, m.Kind, m.Labels)
	}
	// The API server's own shows up once a webhook has failed.
	known["apiserver_admission_webhook_fail_open_count"] = []string{"name", "type"}
	runManager(t)
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		add(f.GetName(), strings.ToLower(f.GetType().String()), labels)
	}
	return known
}

// runManager runs a manager like the operator's until it has reconciled something.
func runManager(t *testing.T) {
	t.Helper()
	mgr, err := ctrl.NewManager(cluster.RESTConfig(), ctrl.Options{
		Metrics:        metricsserver.Options{BindAddress: "0"},
		LeaderElection: true, LeaderElectionID: "metrics", LeaderElectionNamespace: "default", LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	reconciled := make(chan struct{}, 1)
	err = builder.ControllerManagedBy(mgr).Named("metrics").For(&corev1.Namespace{}).Complete(reconcile.Func(
		func(context.Context, reconcile.Request) (reconcile.Result, error) {
			select {
			case reconciled <- struct{}{}:
			default:
			}
			return reconcile.Result{}, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	NewWithT(t).Eventually(reconciled).WithTimeout(time.Minute).Should(Receive())
}

type alert struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func alerts(t *testing.T, values string) []alert {
	t.Helper()
	rules := render(t, values).find("PrometheusRule")
	if len(rules) != 1 {
		t.Fatalf("%d PrometheusRules, want 1", len(rules))
	}
	groups, _, err := unstructured.NestedSlice(rules[0].Object, "spec", "groups")
	if err != nil || len(groups) != 1 {
		t.Fatalf("%d groups of rules (%v), want 1", len(groups), err)
	}
	text, err := json.Marshal(groups[0].(map[string]any)["rules"])
	if err != nil {
		t.Fatal(err)
	}
	var out []alert
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// An alert says what to do about it.
func TestEveryAlertHasARunbook(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	all := alerts(t, "metrics: {prometheusRule: {enabled: true}}")
	for _, a := range all {
		if !strings.Contains(string(page), "\n## "+a.Alert+"\n") {
			t.Errorf("docs/reference/alerts.md has no section %s", a.Alert)
		}
		if want := "/docs/reference/alerts.md#" + strings.ToLower(a.Alert); !strings.HasSuffix(a.Annotations["runbook_url"], want) {
			t.Errorf("%s: the runbook is %q, want %q at the end", a.Alert, a.Annotations["runbook_url"], want)
		}
		if !slices.Contains([]string{"critical", "warning", "info"}, a.Labels["severity"]) || a.Annotations["summary"] == "" || a.Annotations["description"] == "" {
			t.Errorf("%s lacks severity, summary or description: %v %v", a.Alert, a.Labels, a.Annotations)
		}
	}
	if sections := strings.Count(string(page), "\n## "); sections != len(all) {
		t.Errorf("docs/reference/alerts.md has %d sections for %d alerts", sections, len(all))
	}
}

func TestAlertsAreChosenAndLabelled(t *testing.T) {
	all := alerts(t, "metrics: {prometheusRule: {enabled: true}}")
	var others []string
	for _, a := range all[1:] {
		others = append(others, a.Alert)
	}
	if left := alerts(t, "metrics: {prometheusRule: {enabled: true, disabled: ["+strings.Join(others, ", ")+"]}}"); len(left) != 1 || left[0].Alert != all[0].Alert {
		t.Errorf("without %v there are %v, want only %s", others, left, all[0].Alert)
	}
	for n, left := range alerts(t, "metrics: {prometheusRule: {enabled: true, disabled: ["+all[0].Alert+"], alertLabels: {team: edge, severity: page}}}") {
		if left.Alert != all[n+1].Alert {
			t.Fatalf("alert %d is %s, want %s: only the first is left out", n, left.Alert, all[n+1].Alert)
		}
		if left.Labels["team"] != "edge" || left.Labels["severity"] != "page" {
			t.Errorf("%s has the labels %v", left.Alert, left.Labels)
		}
	}
}

// panels lists the dashboard's expressions by the panel's title.
func panels(t *testing.T) map[string][]string {
	t.Helper()
	found := slices.DeleteFunc(render(t, "metrics: {dashboard: {enabled: true}}").find("ConfigMap"), func(o *unstructured.Unstructured) bool {
		return o.GetNamespace() == metav1.NamespaceSystem // the copy of the cluster's fingerprint
	})
	if len(found) != 1 {
		t.Fatalf("%d ConfigMaps, want 1", len(found))
	}
	config := &corev1.ConfigMap{}
	as(t, found[0], config)
	var dashboard struct {
		Panels []struct {
			ID          int
			Title, Type string
			Targets     []struct{ Expr string }
		}
	}
	for _, text := range config.Data {
		if err := json.Unmarshal([]byte(text), &dashboard); err != nil {
			t.Fatal(err)
		}
	}
	out, ids := map[string][]string{}, map[int]bool{}
	for _, p := range dashboard.Panels {
		if ids[p.ID] {
			t.Errorf("two panels have the id %d", p.ID)
		}
		ids[p.ID] = true
		if p.Type == "row" {
			continue
		}
		for _, target := range p.Targets {
			out[p.Title] = append(out[p.Title], target.Expr)
		}
	}
	if len(out) < 15 {
		t.Errorf("the dashboard has %d panels", len(out))
	}
	return out
}

// Prometheus verifies the endpoint's certificate wherever it can: only one that the operator signs itself is accepted as it is.
func TestScrapesVerifyTheCertificate(t *testing.T) {
	const host = release + "-metrics." + namespace + ".svc"
	secret := func(name, key string) map[string]any {
		return map[string]any{"ca": map[string]any{"secret": map[string]any{"name": name, "key": key}}, "serverName": host}
	}
	for name, c := range map[string]struct {
		values string
		want   map[string]any
	}{
		"signed by the operator":            {"metrics: {", map[string]any{"insecureSkipVerify": true}},
		"from cert-manager":                 {"metrics: {cert: {certManager: {enabled: true}}, ", secret(release+"-metrics-cert", "ca.crt")},
		"from cert-manager, in that Secret": {"metrics: {cert: {secretName: mine, certManager: {enabled: true}}, ", secret("mine", "ca.crt")},
		"from a Secret":                     {"metrics: {cert: {secretName: mine, caName: authority.crt}, ", secret("mine", "authority.crt")},
		"by a public authority":             {"metrics: {cert: {secretName: mine, caName: \"\"}, ", map[string]any{"serverName": host}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := render(t, c.values+"serviceMonitor: {enabled: true}, podMonitor: {enabled: true, authorization: {credentials: {name: a, key: b}}}}")
			for kind, field := range map[string]string{"ServiceMonitor": "endpoints", "PodMonitor": "podMetricsEndpoints"} {
				endpoints, _, err := unstructured.NestedSlice(r.find(kind)[0].Object, "spec", field)
				if err != nil || len(endpoints) != 1 {
					t.Fatalf("%d endpoints (%v), want 1", len(endpoints), err)
				}
				if diff := cmp.Diff(c.want, endpoints[0].(map[string]any)["tlsConfig"]); diff != "" {
					t.Errorf("tlsConfig of the %s (-want +got):\n%s", kind, diff)
				}
			}
		})
	}
}
