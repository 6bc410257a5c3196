package cli_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/budget"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli"
)

// example is a command of the page, with what it prints there.
type example struct{ command, output string }

var (
	block = regexp.MustCompile("(?s)```console\n(.*?)```")
	// date is what depends on the day of the test, or on the API server.
	date = regexp.MustCompile(`\d{4}-\d{2}-\d{2}|Kubernetes v[0-9.]+`)
)

// examples are the commands of a page, in order.
func examples(t *testing.T, page string) (out []example) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range block.FindAllStringSubmatch(string(text), -1) {
		for part := range strings.SplitSeq("\n"+found[1], "\n$ ") {
			if command, output, ok := strings.Cut(strings.TrimPrefix(part, "\n"), "\n"); ok && command != "" {
				out = append(out, example{command, output})
			}
		}
	}
	return out
}

// Every command of the guide prints what the guide says, in the fleet that it is about.
func TestTheGuideShowsWhatTheCommandsPrint(t *testing.T) {
	shop(t)
	all := examples(t, filepath.Join("..", "..", "docs", "kubectl-cfdt.md"))
	if len(all) < 10 {
		t.Fatalf("the guide has %d examples only", len(all))
	}
	for _, e := range all {
		args := strings.Fields(e.command)
		if len(args) < 3 || args[0] != "kubectl" || args[1] != "cfdt" {
			t.Errorf("the guide runs %q", e.command)
			continue
		}
		r := command(t, "", args[2:]...)
		if r.failure != nil && !errors.As(r.failure, new(cli.Answer)) {
			t.Errorf("$ %s\n%v", e.command, r.failure)
			continue
		}
		if d := cmp.Diff(date.ReplaceAllString(strings.TrimSpace(e.output), "DATE"), date.ReplaceAllString(strings.TrimSpace(r.out), "DATE")); d != "" {
			t.Errorf("$ %s (-guide +command):\n%s\n%s", e.command, d, r.out)
		}
	}
}

// shop makes the fleet of the guide.
func shop(t *testing.T) {
	t.Helper()
	for _, name := range []string{"shop", "cfto", "team-a", "team-b"} {
		create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	install(t, "cfto", "--domain-claims=true", "--grants=Enforce")
	leads(t, "cfto", 2*time.Second, map[string]string{"aws-denied": "ListCertificates"})
	labeled(t, "1.2.3")
	movable(t, "team-a", "storefront", "pay.example.com")
	movable(t, "team-b", "checkout")
	served := func(o *v1alpha1.DistributionTenant, days int) {
		ready(o)
		o.Status.DNSTarget = "d111111abcdef8.cloudfront.net"
		o.Status.DomainResults = []v1alpha1.DomainResult{{Domain: o.Name + ".example.com", Status: "active"}}
		o.Status.Certificate = &v1alpha1.ServedCertificate{
			ARN: "arn:aws:acm:us-east-1:111122223333:certificate/" + o.Name, Issuer: "Amazon", Type: v1alpha1.CertificateTypeManaged,
			NotAfter: metav1.NewTime(now.Add(time.Duration(days) * 24 * time.Hour)),
		}
	}
	tenant(t, "shop", "globex", func(o *v1alpha1.DistributionTenant) { served(o, 200) })
	tenant(t, "shop", "hooli", func(o *v1alpha1.DistributionTenant) {
		served(o, 12)
		o.Status.DriftDetected = true
		o.Status.Drift = []v1alpha1.DriftedField{{Field: "parameters[tier]", Desired: "gold", Observed: "silver"}}
	})
	tenant(t, "shop", "initech", in(v1alpha1.DomainAwaitingDNS, v1alpha1.PartyCustomer,
		"There is no DNS record for the domain. Create the record initech.example.com CNAME d111111abcdef8.cloudfront.net at the DNS provider of example.com."))
	acme := tenant(t, "shop", "acme", stuck)
	create(t, &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "acme.1"}, EventTime: metav1.NewMicroTime(now.Add(-179 * time.Minute)),
		Regarding: corev1.ObjectReference{Kind: "DistributionTenant", Namespace: "shop", Name: "acme", UID: acme.UID, APIVersion: v1alpha1.SchemeGroupVersion.String()},
		Reason:    "DomainConflict", Note: "www.example.com is used by another distribution tenant.", Type: "Warning", Action: "Reconcile",
		ReportingController: "cloudfront-tenant-operator", ReportingInstance: "cfto-1",
	})
	umbrella := tenant(t, "shop", "umbrella", func(o *v1alpha1.DistributionTenant) {
		o.Status.DistributionID = "E2EXAMPLE1"
		o.Status.Conditions = []metav1.Condition{condition("Ready", metav1.ConditionFalse, "DeletionHeld",
			"12 deletions of 20 distribution tenants in namespace shop, more than the 10 that the deletion budget allows. This is plan 5f2c1d09ab34.", 20*time.Minute)}
	})
	create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "cfto", Name: budget.Name}, Data: map[string]string{
		budget.Memory: `{"holds":[{"class":"DistributionTenant","namespace":"shop","since":"` + now.Add(-20*time.Minute).Format(time.RFC3339) +
			`","plan":"5f2c1d09ab34","keys":null,"count":12,"of":20,"allowed":10}]}`,
	}})
	source := held("shop")
	create(t, source)
	source.Status = held("shop").Status
	if err := admin.Status().Update(t.Context(), source); err != nil {
		t.Fatal(err)
	}
	create(t, grantOf("shop"))
	cached(t, &v1alpha1.TenantSourceList{}, source)
	cached(t, &v1alpha1.DistributionTenantList{}, umbrella)
}

// cached waits until the API server's own cache, from which a fleet is read, has an object.
func cached(t *testing.T, list client.ObjectList, o client.Object) {
	t.Helper()
	if err := admin.List(t.Context(), list, &client.ListOptions{Raw: &metav1.ListOptions{
		ResourceVersion: o.GetResourceVersion(), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	}}); err != nil {
		t.Fatal(err)
	}
}

// held is a source that holds deletions.
func held(ns string) *v1alpha1.TenantSource {
	return &v1alpha1.TenantSource{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "customers"},
		Spec: v1alpha1.TenantSourceSpec{
			Provider: v1alpha1.SourceProviderPostgres, DistributionID: "E2EXAMPLE1",
			Postgres: &v1alpha1.SQLSource{ConnectionSecretRef: &v1alpha1.SecretReference{Name: "db"}, Query: "SELECT * FROM customers"},
		},
		Status: v1alpha1.TenantSourceStatus{
			TenantsDiscovered: new(int32(4)), RejectedRowsTotal: 1,
			RejectedRows:        []v1alpha1.RejectedRow{{Row: "wonka", Reason: "domain: \"wonka\" is not a domain name: use a name with a dot, such as wonka.example.com"}},
			HeldDeletions:       &v1alpha1.HeldDeletions{Count: 2, PlanHash: "5f2c1d09ab34", Names: []string{"globex", "hooli"}},
			PendingChangesTotal: 2,
			PendingChanges: []v1alpha1.PendingChange{
				{Action: "Delete", TenantName: "globex", Description: "its row is gone; it waits for approval"},
				{Action: "Delete", TenantName: "hooli", Description: "its row is gone; it waits for approval"},
			},
			Conditions: []metav1.Condition{condition("Ready", metav1.ConditionFalse, "DeletionHeld", "2 of 4 tenants would be deleted, more than the guard allows.", 40*time.Minute)},
		},
	}
}
