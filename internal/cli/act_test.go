package cli_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/budget"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli"
)

// annotation is that of the object as it is now.
func annotation(t *testing.T, o client.Object, key string) (value string, found bool) {
	t.Helper()
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		t.Fatal(err)
	}
	value, found = o.GetAnnotations()[key]
	return value, found
}

func TestPauseResumeAndReconcile(t *testing.T) {
	ns := namespace(t)
	o := tenant(t, ns, "acme", ready)
	shows(t, prints(t, "pause", "acme", "-n", ns), "DistributionTenant "+ns+"/acme: paused")
	if got, _ := annotation(t, o, v1alpha1.AnnotationPaused); got != v1alpha1.PausedTrue {
		t.Errorf("the annotation of a paused object is %q", got)
	}
	prints(t, "resume", "acme", "-n", ns)
	if got, found := annotation(t, o, v1alpha1.AnnotationPaused); found {
		t.Errorf("the object still has the annotation, with %q", got)
	}
	prints(t, "reconcile", "acme", "-n", ns)
	if got, _ := annotation(t, o, v1alpha1.AnnotationReconcileNow); got != now.Format(time.RFC3339Nano) {
		t.Errorf("the token is %q", got)
	}
}

func TestASourceIsApprovedForExactlyItsPlan(t *testing.T) {
	ns := namespace(t)
	o := held(ns)
	create(t, o)
	shows(t, prints(t, "source", "plan", "customers", "-n", ns), "nothing is planned or held back")
	o.Status = held(ns).Status
	if err := admin.Status().Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	shows(t, prints(t, "source", "plan", "customers", "-n", ns), "holds back 2 tenants", "globex, hooli", "rejected wonka: ", "kubectl cfdt source approve customers -n "+ns+" --plan 5f2c1d09ab34")

	for name, tt := range map[string]struct {
		input string
		args  []string
		want  string
	}{
		"another plan is refused":                 {"", []string{"--plan", "abc"}, "the plan is 5f2c1d09ab34 by now, and not abc"},
		"without a confirmation, nothing changes": {"no\n", nil, "nothing was changed"},
		"without an input, nothing changes":       {"", nil, "nothing was changed"},
	} {
		r := command(t, tt.input, append([]string{"source", "approve", "customers", "-n", ns}, tt.args...)...)
		if r.failure == nil || !strings.Contains(r.failure.Error(), tt.want) {
			t.Errorf("%s: fails with %v, want %q", name, r.failure, tt.want)
		}
	}
	if got, found := annotation(t, o, v1alpha1.AnnotationApproveDeletions); found {
		t.Fatalf("the plan %s is approved", got)
	}
	if r := command(t, "yes\n", "source", "approve", "customers", "-n", ns); r.failure != nil {
		t.Fatal(r.failure)
	}
	if got, _ := annotation(t, o, v1alpha1.AnnotationApproveDeletions); got != "5f2c1d09ab34" {
		t.Errorf("the approved plan is %q", got)
	}
}

// operator installs a Deployment as the chart has it.
func operator(t *testing.T, args ...string) string {
	t.Helper()
	ns := namespace(t)
	install(t, ns, args...)
	return ns
}

func install(t *testing.T, ns string, args ...string) {
	t.Helper()
	labels := map[string]string{"app.kubernetes.io/name": "cloudfront-tenant-operator", "app.kubernetes.io/version": "0.1.0"}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "operator", Labels: labels}, Spec: appsv1.DeploymentSpec{
		Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "operator", Image: "operator", Args: args, Env: []corev1.EnvVar{{Name: "KEY", Value: "hidden-value"}},
		}}}},
	}}
	create(t, d)
	d.Status.Replicas, d.Status.ReadyReplicas, d.Status.AvailableReplicas = 2, 2, 2
	if err := admin.Status().Update(t.Context(), d); err != nil {
		t.Fatal(err)
	}
}

func TestDeletionsAreAnsweredByTheirPlan(t *testing.T) {
	home, ns := operator(t), namespace(t)
	tenant(t, ns, "acme", func(o *v1alpha1.DistributionTenant) {
		o.Status.Conditions = []metav1.Condition{condition("Ready", metav1.ConditionFalse, "DeletionHeld", "12 deletions wait. This is plan 5f2c1d09ab34.", time.Hour)}
	})
	store := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: budget.Name}, Data: map[string]string{
		budget.Memory: `{"holds":[{"class":"DistributionTenant","namespace":"` + ns + `","since":"2026-01-01T00:00:00Z","plan":"5f2c1d09ab34","keys":null,"count":12,"of":20,"allowed":10}]}`,
	}}
	create(t, store)
	shows(t, prints(t, "deletions", "list"), "plan 5f2c1d09ab34", "12 deletions of 20 DistributionTenants in namespace "+ns, ns+"/acme", "kubectl cfdt deletions abandon 5f2c1d09ab34")
	if r := command(t, "", "deletions", "approve", "other"); r.failure == nil || !strings.Contains(r.failure.Error(), "no plan other is waiting") {
		t.Errorf("a plan that is not there: %v", r.failure)
	}
	prints(t, "deletions", "approve", "5f2c1d09ab34", "--yes")
	shows(t, prints(t, "deletions", "rescue", "5f2c1d09ab34", "--yes"), "plan 5f2c1d09ab34 is abandoned")
	if got, _ := annotation(t, store, v1alpha1.AnnotationApproveDeletions); got != "5f2c1d09ab34" {
		t.Errorf("the approved plan is %q", got)
	}
	shows(t, prints(t, "status", "-n", ns), "DeletionHeld 1")
}

func TestGrantsAreCheckedAsTheOperatorDoes(t *testing.T) {
	ns := namespace(t)
	tenant(t, ns, "inside", nil)
	tenant(t, ns, "outside", nil)
	create(t, grantOf(ns))
	shows(t, prints(t, "grants", "check", ns, "--grants=Enforce"), "EdgeGrant "+ns, "1 of 2 objects ask for more", "DistributionTenant "+ns+"/outside", "outside.example.com")
	shows(t, prints(t, "grants", "check", ns, "--grants=Off"), "grants are switched off", "2 objects, none asks for more")
	operator(t, "--grants=Audit")
	shows(t, prints(t, "grants", "check", ns), "mode Audit")
}

// grantOf is a grant for a namespace, and for few domains.
func grantOf(ns string) *v1alpha1.EdgeGrant {
	return &v1alpha1.EdgeGrant{ObjectMeta: metav1.ObjectMeta{Name: ns}, Spec: v1alpha1.EdgeGrantSpec{
		Namespaces: v1alpha1.GrantedNamespaces{Names: []string{ns}}, Kinds: []v1alpha1.GrantedKind{v1alpha1.GrantedDistributionTenants, v1alpha1.GrantedTenantSources},
		Distributions: []v1alpha1.GrantedDistribution{{ID: "E2EXAMPLE1"}},
		Domains:       []v1alpha1.GrantedDomain{{Suffix: "inside.example.com"}, {Suffix: "acme.example.com"}, {Suffix: "globex.example.com"}, {Suffix: "hooli.example.com"}, {Suffix: "initech.example.com"}},
	}}
}

func TestVersionNamesBoth(t *testing.T) {
	home := operator(t)
	shows(t, prints(t, "version"), "plugin     1.2.3", "operator   0.1.0   "+home+"/operator, 2 of 2 replicas available")
	if got := prints(t, "version", "--client", "--server", "https://127.0.0.1:1"); got != "plugin     1.2.3\n" {
		t.Errorf("with --client, it prints %q", got)
	}
}

// A bundle has what is on a list: what someone adds to the pods or to the namespace of the operator is not in it.
func TestABundleHasNoSecrets(t *testing.T) {
	home := operator(t, "--cluster-id=known-id", "--leader-elect", "--vault-token=SECRET", "-SECRET", "SECRET")
	labels := map[string]string{"app.kubernetes.io/name": "cloudfront-tenant-operator"}
	env := []corev1.EnvVar{{Name: "KEY", Value: "SECRET"}}
	create(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "operator-1", Labels: labels, Annotations: map[string]string{"vault/seed": "SECRET"}}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{
			{Name: "operator", Image: "operator", Args: []string{"--aws-rate=7"}, Env: env},
			{Name: "proxy", Image: "proxy", Args: []string{"--cluster-id=SECRET"}, Command: []string{"SECRET"}},
		},
		InitContainers: []corev1.Container{{Name: "prepare", Image: "prepare", Args: []string{"SECRET"}, Env: []corev1.EnvVar{{Name: "INIT_KEY", Value: "SECRET"}}}},
	}})
	for name, labels := range map[string]map[string]string{"operator-dns-accounts": labels, "cloudfront-tenant-operator-cluster": nil} {
		create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: name, Labels: labels}, Data: map[string]string{"id": "of " + name, "text": "client-secret: SECRET"}})
	}
	create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "another-program"}, Data: map[string]string{"text": "SECRET"}})
	ns := namespace(t)
	acme := tenant(t, ns, "acme", func(o *v1alpha1.DistributionTenant) {
		waiting(o)
		o.Status.Domains = []v1alpha1.DomainStatus{{Domain: "acme.example.com", State: v1alpha1.DomainValidating, Since: metav1.Now(), Records: []v1alpha1.DomainRecord{{
			Purpose: v1alpha1.PurposeHTTP, Type: "REDIRECT", Name: "acme.example.com/token", Value: "SECRET", PublishedBy: v1alpha1.PartyCustomer, State: v1alpha1.RecordUnknown,
		}}}}
		o.Status.Conditions[0].Message = "\u009b2J connecting to postgres://user:SECRET@db.example.com failed"
	})
	acme.Annotations = map[string]string{v1alpha1.AnnotationReconcileNow: "known-token", "example.com/note": "SECRET"}
	if err := admin.Update(t.Context(), acme); err != nil {
		t.Fatal(err)
	}
	r := command(t, "", "bundle", "-n", ns, "--output", "-")
	if r.failure != nil {
		t.Fatal(r.failure)
	}
	text := untar(t, r.out)
	shows(t, text, "cfdt-bundle/objects/cfdt.yaml", "cfdt-bundle/versions.yaml", "acme.example.com", "postgres://<redacted>@db.example.com", "known-token",
		"operator/"+home+"/deployment-operator.yaml", "- --cluster-id=known-id", "- --leader-elect", "--vault-token=<redacted>",
		"operator/"+home+"/operator-1.yaml", "- --aws-rate=7", "name: prepare", "name: INIT_KEY", "of operator-dns-accounts", "of cloudfront-tenant-operator-cluster")
	for _, left := range []string{"SECRET", "managedFields", "another-program"} {
		if strings.Contains(text, left) {
			t.Errorf("the bundle has %s:\n%s", left, text)
		}
	}
	shows(t, r.err, "taken:", "  objects/cfdt.yaml", "left out:", "another-program", "KEY, ", "--vault-token", "all of container proxy", "example.com/note", "status.domains[].records[].value of redirects")

	file := filepath.Join(t.TempDir(), "bundle.tgz")
	shows(t, prints(t, "bundle", "-n", ns, "--output", file), "look at them before you publish them", "left out:")
}

// An ephemeral container can't be created with a pod.
func TestABundleHasNoEnvironmentOfEphemeralContainers(t *testing.T) {
	t.Parallel()
	known := cli.KnownSpec(corev1.PodSpec{EphemeralContainers: []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{
		Name: "debug", Image: "shell", Args: []string{"SECRET"}, Env: []corev1.EnvVar{{Name: "KEY", Value: "SECRET"}},
	}}}})
	want := corev1.PodSpec{EphemeralContainers: []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{
		Name: "debug", Image: "shell", Env: []corev1.EnvVar{{Name: "KEY", Value: "<redacted>"}},
	}}}}
	if d := cmp.Diff(want, known); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// untar is the names and contents of an archive.
func untar(t *testing.T, archive string) string {
	t.Helper()
	zipped, err := gzip.NewReader(strings.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for r := tar.NewReader(zipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(h.Name + "\n")
		if _, err := io.Copy(&all, r); err != nil {
			t.Fatal(err)
		}
	}
}
