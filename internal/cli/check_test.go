package cli_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	clusteradapter "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/cluster"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli"
)

// leads gives the operator of a namespace a lease that was renewed a while ago, and what it says of AWS.
func leads(t *testing.T, ns string, renewed time.Duration, facts map[string]string) *corev1.ConfigMap {
	t.Helper()
	at := func(ago time.Duration) *metav1.MicroTime { return new(metav1.NewMicroTime(now.Add(-ago))) }
	create(t, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: clusteradapter.Lease}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: new("operator-1_8c2f"), LeaseDurationSeconds: new(int32(15)), AcquireTime: at(26 * time.Hour), RenewTime: at(renewed),
	}})
	data := map[string]string{
		"aws-account": "111122223333", "aws-identity": "arn:aws:sts::111122223333:assumed-role/cloudfront-tenant-operator/operator-1", "aws-error": "", "aws-denied": "",
	}
	maps.Copy(data, facts)
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: clusteradapter.Name}, Data: data}
	create(t, m)
	return m
}

// labeled gives a CRD the version of the chart that installed it.
func labeled(t *testing.T, version string) {
	t.Helper()
	crd := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "distributiontenants.cloudfront-tenant-operator.io"}}
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	patch := `{"metadata":{"labels":{"app.kubernetes.io/version":"` + version + `"}}}`
	if err := admin.Patch(t.Context(), crd, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		t.Fatal(err)
	}
}

// checks are the states of an answer by check, and the whole of it.
func checks(t *testing.T, args ...string) (states map[string]string, all string, err error) {
	t.Helper()
	r := command(t, "", append([]string{"check", "-o", "json"}, args...)...)
	var answer struct {
		Checks []struct{ Check, State, Message, Fix string }
	}
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil {
		t.Fatalf("%v: %v\n%s", r.failure, err, r.out)
	}
	states = map[string]string{}
	for _, c := range answer.Checks {
		states[c.Check] = c.State
		all += c.Check + ": " + c.Message + " " + c.Fix + "\n"
	}
	return states, all, r.failure
}

func TestCheckOfAnInstallationThatWorks(t *testing.T) {
	home := operator(t, "--grants=Enforce")
	leads(t, home, 2*time.Second, nil)
	ns := namespace(t)
	create(t, grantOf(ns))
	cached(t, &v1alpha1.DistributionTenantList{}, tenant(t, ns, "acme", ready))
	r := command(t, "", "check", "-n", ns)
	if r.failure != nil {
		t.Fatalf("%v\n%s", r.failure, r.out)
	}
	shows(t, r.out, "ok        API server        Kubernetes v1.", "ok        operator          "+home+"/operator version 0.1.0: 2 of 2 replicas available",
		"ok        lease             held by operator-1 for 26h, renewed 2s ago",
		"ok        AWS identity      account 111122223333, arn:aws:sts::111122223333:assumed-role/cloudfront-tenant-operator/operator-1",
		"ok        AWS permissions   AWS has denied no call.", "ok        grant             namespace "+ns+" has EdgeGrant "+ns+": DistributionTenant, TenantSource; distributions E2EXAMPLE1; domains inside.example.com, ",
		"zones none", "ok        distribution      E2EXAMPLE1 can have tenants", "everything is well")
}

func TestCheckSaysWhatIsWrongAndHowToFixIt(t *testing.T) {
	ns := namespace(t)
	states, all, err := checks(t, "-n", ns)
	if !errors.As(err, &cli.Unwell{}) || cli.Unwell.ExitCode(cli.Unwell{}) != 1 {
		t.Errorf("without an operator, it ends with %v", err)
	}
	if states["operator"] != "failed" {
		t.Errorf("without an operator: %v", states)
	}
	shows(t, all, "No Deployment has the label app.kubernetes.io/name=cloudfront-tenant-operator. Install the operator", "It is not known how the operator runs")

	home := operator(t, "--grants=Enforce")
	states, _, _ = checks(t, "-n", ns)
	if d := cmp.Diff(map[string]string{"lease": "failed", "AWS identity": "warning"}, only(states, "lease", "AWS identity")); d != "" {
		t.Errorf("before a replica leads (-want +got):\n%s", d)
	}
	m := leads(t, home, time.Minute, nil)
	denied := tenant(t, ns, "acme", func(o *v1alpha1.DistributionTenant) {
		o.Status.Conditions = []metav1.Condition{
			condition("Ready", metav1.ConditionFalse, "AccessDenied", "cloudfront:CreateDistributionTenant is denied.", time.Hour),
			condition("Stalled", metav1.ConditionTrue, "AccessDenied", "cloudfront:CreateDistributionTenant is denied.", time.Hour),
		}
	})
	cached(t, &v1alpha1.DistributionTenantList{}, denied)
	for _, tt := range []struct {
		name        string
		facts       map[string]string
		state, want string
	}{
		{"credentials that are missing", map[string]string{"aws-error": "no EC2 IMDS role found"}, "AWS identity=failed", "no EC2 IMDS role found Give the operator's ServiceAccount a role"},
		{"a permission that everything needs", map[string]string{"aws-error": "", "aws-denied": "CreateDistributionTenant DescribeCertificate"}, "AWS permissions=failed",
			"AWS denied the last call of CreateDistributionTenant, DescribeCertificate. Add preflight, tenants to the features of"},
		{"a permission for better messages", map[string]string{"aws-denied": "ListServiceQuotas"}, "AWS permissions=warning", "Add preflight to the features of"},
		{"an operation of no policy", map[string]string{"aws-denied": "Unheard"}, "AWS permissions=failed", "Allow it. If the identity has them"},
	} {
		maps.Copy(m.Data, tt.facts)
		if err := admin.Update(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		states, all, _ := checks(t, "-n", ns)
		check, state, _ := strings.Cut(tt.state, "=")
		if states[check] != state || !strings.Contains(all, tt.want) {
			t.Errorf("%s: want %s and %q, got %v\n%s", tt.name, tt.state, tt.want, states, all)
		}
	}
	states, all, _ = checks(t, "-n", ns)
	if d := cmp.Diff(map[string]string{"lease": "failed", "objects": "failed", "grant": "failed"}, only(states, "lease", "objects", "grant")); d != "" {
		t.Errorf("(-want +got):\n%s\n%s", d, all)
	}
	shows(t, all, "No replica leads. The lease was last renewed 60s ago, by operator-1.", "no EdgeGrant selects it", "AWS denies a call for DistributionTenant "+ns+"/acme: cloudfront:CreateDistributionTenant is denied.")
	states, all, err = checks(t, "-n", ns, "--as", "visitor")
	if d := cmp.Diff(map[string]string{
		"API server": "ok", "CRDs": "ok", "operator": "warning", "objects": "warning", "grant": "warning", "distribution": "warning",
	}, states); d != "" || err != nil {
		t.Errorf("a user without rights ends with %v (-want +got):\n%s\n%s", err, d, all)
	}
	labeled(t, "0.0.9")
	_, all, _ = checks(t, "-n", ns)
	shows(t, all, "The CRDs are version 0.0.9, and this plugin is version 1.2.3.")
}

func TestCheckSaysWhyNoReplicaRuns(t *testing.T) {
	home := operator(t)
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "operator"}}
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(d), d); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "operator-1", Labels: d.Labels}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "operator", Image: "operator"}},
	}}
	create(t, pod)
	for _, tt := range []struct {
		ready     int32
		status    corev1.PodStatus
		state, is string
	}{
		{1, corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available"}}},
			"warning", "1 of 2 replicas available. Pod operator-1: 0/3 nodes are available. See kubectl -n " + home + " describe pods."},
		{0, corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "operator", State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"},
		}}}}, "failed", "0 of 2 replicas available. Pod operator-1: ImagePullBackOff. no such image See kubectl -n " + home + " logs deployment/operator"},
	} {
		d.Status.ReadyReplicas, d.Status.AvailableReplicas = tt.ready, tt.ready
		pod.Status = tt.status
		for _, o := range []client.Object{d, pod} {
			if err := admin.Status().Update(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		states, all, _ := checks(t, "-A")
		if states["operator"] != tt.state || !strings.Contains(all, tt.is) {
			t.Errorf("want %s and %q, got %v\n%s", tt.state, tt.is, states, all)
		}
	}
}

func only(all map[string]string, names ...string) map[string]string {
	out := map[string]string{}
	for _, n := range names {
		out[n] = all[n]
	}
	return out
}

// The oldest version is that of the chart.
func TestCheckKnowsTheChartsVersionOfKubernetes(t *testing.T) {
	chart, err := os.ReadFile(filepath.Join("..", "..", "charts", "cloudfront-tenant-operator", "Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	shows(t, string(chart), `kubeVersion: ">=`+cli.OldestKubernetes+`.0-0"`)
}

func TestCheckOfAClusterThatIsNotReached(t *testing.T) {
	states, all, err := checks(t, "--server", "https://127.0.0.1:1", "--insecure-skip-tls-verify")
	if !errors.As(err, &cli.Unwell{}) || len(states) != 1 || states["API server"] != "failed" {
		t.Errorf("%v %v", states, err)
	}
	shows(t, all, "does not answer")
}

func TestWhoseDomain(t *testing.T) {
	ns := namespace(t)
	whose := tenant(t, ns, "whose", func(o *v1alpha1.DistributionTenant) {
		o.Status.Domains = []v1alpha1.DomainStatus{{Domain: "whose.example.com", State: v1alpha1.DomainRefused, Since: metav1.NewTime(now.Add(-time.Hour)), Message: "Another account has it."}}
	})
	c := &v1alpha1.DomainClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "whose.example.com"}, Spec: v1alpha1.DomainClaimSpec{Domain: "whose.example.com", Namespace: ns, Subdomains: true},
	}
	create(t, c)
	cached(t, &v1alpha1.DomainClaimList{}, c)
	cached(t, &v1alpha1.DistributionTenantList{}, whose)
	shows(t, prints(t, "whose", "Whose.Example.com"), "whose.example.com   2 objects in all namespaces", "DistributionTenant   "+ns+"/whose", "Refused", "60m", "Another account has it.",
		"DomainClaim          whose.example.com", "For namespace "+ns+".")
	shows(t, prints(t, "whose", "www.whose.example.com"), "1 object in all namespaces")
	if r := command(t, "", "whose", "whose.example.org"); r.failure == nil || !strings.Contains(r.failure.Error(), "no object in all namespaces has the domain") {
		t.Errorf("fails with %v", r.failure)
	}
}

func TestExitCodes(t *testing.T) {
	root := cli.New(cli.Options{})
	for _, tt := range []struct {
		verb   string
		err    error
		code   int
		failed bool
	}{
		{"status", nil, 0, false}, {"status", errors.New("x"), 1, true}, {"diff", errors.New("x"), 2, true}, {"diff", cli.Differs{}, 1, false}, {"check", cli.Unwell{}, 1, false},
	} {
		verb, _, err := root.Find([]string{tt.verb})
		if err != nil {
			t.Fatal(err)
		}
		if code, failed := cli.ExitCode(verb, tt.err); code != tt.code || failed != tt.failed {
			t.Errorf("%s with %v ends with %d, %t", tt.verb, tt.err, code, failed)
		}
	}
}
