package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// customers is how many rows the table has at first.
const customers = 30

// A table of customers from its first row to its last, with an operator that is killed on the way: AWS follows the
// table, an emptied table takes no tenant offline, and the connection string is never shown.
func TestTableOfCustomers(t *testing.T) {
	t.Parallel()
	table := newTable(t)
	s := newScene(t, stack.Options{DeployDelay: time.Second})
	s.mayReadSecrets()
	op := s.operator(stack.OperatorOptions{Flags: []string{"--sweep-interval=10s", "--zap-log-level=debug"}})
	s.source(table)
	s.serves(names(0, customers))

	s.put(table, customers)
	s.tables(table.Put(t.Context(), map[string]any{"name": customer(1), "domain": "moved.example.com", "enabled": true}))
	s.tables(table.Remove(t.Context(), customer(2)))
	if err := op.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.start(op)
	want := slices.Delete(names(0, customers+1), 2, 3)
	s.serves(want)
	s.eventually(func(g gomega.Gomega) {
		g.Expect(s.inAWS()[customer(1)].Domains).To(gomega.HaveLen(1))
		g.Expect(s.inAWS()[customer(1)].Domains).To(gomega.HaveKey("moved.example.com"))
	})

	s.rollsOut()
	s.serve(op, func(metric string) bool {
		return strings.HasPrefix(metric, sourceMetrics) && metric != listening && !strings.HasPrefix(metric, stateMetrics)
	})

	s.tables(table.Truncate(t.Context()))
	s.sourceReaches("False/DeletionHeld")
	s.serves(want)

	table.Wire().Refuse()
	s.sourceReaches("False/PollFailed")
	s.tables(table.Wire().Heal())
	s.sourceReaches("False/DeletionHeld")
	s.serves(want)

	s.discreet(op, "tenants", "the log", "metrics", "sources", "events")
	o := s.getSource()
	s.kubectl("-n", s.namespace, "annotate", "cfts/customers", v1alpha1.AnnotationApproveDeletions+"="+o.Status.HeldDeletions.PlanHash)
	s.eventually(func(g gomega.Gomega) { g.Expect(s.inAWS()).To(gomega.BeEmpty()) })
	s.sourceReaches("True/PollSucceeded")
	s.discreet(op, "the log", "metrics", "sources", "events")
	s.kubectl("-n", s.namespace, "delete", "cfts", "customers")
}

func newTable(t *testing.T) *database.Table {
	t.Helper()
	engine, err := database.Start(t.Context(), mapping.Postgres, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Stop(); err != nil {
			t.Error(err)
		}
	})
	table, err := engine.NewTable(t.Context(), database.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range customers {
		if err := table.Put(t.Context(), customerRow(n)); err != nil {
			t.Fatal(err)
		}
	}
	return table
}

func customer(n int) string { return fmt.Sprintf("customer-%02d", n) }

func customerRow(n int) map[string]any {
	return map[string]any{"name": customer(n), "domain": customer(n) + ".example.com", "enabled": true}
}

func names(from, to int) []string {
	var out []string
	for n := from; n < to; n++ {
		out = append(out, customer(n))
	}
	return out
}

func (s *scene) put(table *database.Table, n int) {
	s.t.Helper()
	s.tables(table.Put(s.t.Context(), customerRow(n)))
}

// tables wants the table to have been written.
func (s *scene) tables(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// mayReadSecrets is what the chart's rbac.secretNamespaces grants.
func (s *scene) mayReadSecrets() {
	s.t.Helper()
	where := metav1.ObjectMeta{Namespace: s.namespace, Name: "connection-strings"}
	role := &rbacv1.Role{ObjectMeta: where, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}}}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: where, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: "system:serviceaccounts:" + install.Namespace}},
	}
	for _, o := range []client.Object{role, binding} {
		if err := kube.Create(s.t.Context(), o); err != nil {
			s.t.Fatal(err)
		}
	}
}

// source makes the source and its Secret.
func (s *scene) source(table *database.Table, change ...func(*v1alpha1.TenantSource)) {
	s.t.Helper()
	q := table.Query()
	here := metav1.ObjectMeta{Namespace: s.namespace, Name: "customers"}
	secret := &corev1.Secret{ObjectMeta: here, StringData: map[string]string{"connectionString": q.Connection.Reveal()}}
	secret.Labels = map[string]string{v1alpha1.LabelTenantSource: here.Name}
	o := &v1alpha1.TenantSource{ObjectMeta: here, Spec: v1alpha1.TenantSourceSpec{
		Provider: v1alpha1.SourceProviderPostgres, DistributionID: stack.DistributionID, PollInterval: &metav1.Duration{Duration: 10 * time.Second},
		DeletionGuard: &v1alpha1.DeletionGuard{Grace: &metav1.Duration{}},
		Postgres:      &v1alpha1.SQLSource{ConnectionSecretRef: &v1alpha1.SecretReference{Name: here.Name}, Query: q.SQL.Query},
	}}
	for _, c := range change {
		c(o)
	}
	for _, object := range []client.Object{secret, o} {
		if err := kube.Create(s.t.Context(), object); err != nil {
			s.t.Fatal(err)
		}
	}
}

// rollsOut changes what the source gives all of its tenants, which reaches them in steps.
func (s *scene) rollsOut() {
	s.t.Helper()
	for _, change := range []string{`{"rollout": {"canary": {"count": 2}}}`, `{"template": {"spec": {"tags": [{"key": "tier", "value": "gold"}]}}}`} {
		s.kubectl("-n", s.namespace, "patch", "cfts/customers", "--type=merge", "--patch", `{"spec": `+change+`}`)
		s.eventually(func(g gomega.Gomega) {
			o := s.getSource()
			c := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionRolledOut)
			g.Expect(c).NotTo(gomega.BeNil())
			g.Expect(fmt.Sprintf("%s at %d", c.Reason, c.ObservedGeneration)).To(gomega.Equal(fmt.Sprintf("%s at %d", v1alpha1.ReasonRolledOut, o.Generation)))
		})
	}
	for name, tenant := range s.inAWS() {
		if tenant.Tags["tier"] != "gold" {
			s.t.Errorf("the change is rolled out, and the tenant %s has the tags %v", name, tenant.Tags)
		}
	}
}

func (s *scene) getSource() *v1alpha1.TenantSource {
	s.t.Helper()
	o := &v1alpha1.TenantSource{}
	if err := kube.Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "customers"}, o); err != nil {
		s.t.Fatal(err)
	}
	return o
}

// sourceReaches waits until the source's Ready is Status/Reason.
func (s *scene) sourceReaches(want string) {
	s.t.Helper()
	s.eventually(func(g gomega.Gomega) {
		c := meta.FindStatusCondition(s.getSource().Status.Conditions, v1alpha1.ConditionReady)
		g.Expect(c).NotTo(gomega.BeNil())
		g.Expect(string(c.Status)+"/"+c.Reason).To(gomega.Equal(want), c.Message)
	})
}

// serves waits until AWS has exactly these tenants, and their objects are Ready.
func (s *scene) serves(want []string) {
	s.t.Helper()
	s.eventually(func(g gomega.Gomega) {
		var got []string
		for name := range s.inAWS() {
			got = append(got, name)
		}
		g.Expect(got).To(gomega.ConsistOf(want))
	})
	s.ready(want...)
}

// discreet looks for pieces of the connection string in all output of the operator. Some of that has to
// speak of the source, or nothing would be checked.
func (s *scene) discreet(op *stack.Operator, speak ...string) {
	s.t.Helper()
	log, err := op.Log()
	if err != nil {
		s.t.Fatal(err)
	}
	told := map[string]string{"the log": log, "metrics": s.body("http://" + op.MetricsURL())}
	for what, list := range map[string]client.ObjectList{
		"sources": &v1alpha1.TenantSourceList{}, "tenants": &v1alpha1.DistributionTenantList{}, "events": &eventsv1.EventList{},
	} {
		if err := kube.List(s.t.Context(), list, client.InNamespace(s.namespace)); err != nil {
			s.t.Fatal(err)
		}
		text, err := json.Marshal(list)
		if err != nil {
			s.t.Fatal(err)
		}
		told[what] = string(text)
	}
	for what, text := range told {
		if slices.Contains(speak, what) && !strings.Contains(text, "customers") {
			s.t.Errorf("%s say nothing of the source, so that nothing was checked", what)
		}
		if at := strings.Index(text, database.Canary); at >= 0 {
			s.t.Errorf("%s have a piece of the connection string: ...%s...", what, text[max(0, at-200):min(len(text), at+50)])
		}
	}
}

func (s *scene) body(url string) string {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, url, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// listening is the metric of sources whose tables are watched.
const listening = sourceMetrics + "listening"

// A table that is polled once a day and watched is followed at once, also after its server was away.
func TestATableThatIsWatched(t *testing.T) {
	t.Parallel()
	table := newTable(t)
	q, err := table.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := newScene(t, stack.Options{DeployDelay: time.Second})
	s.mayReadSecrets()
	op := s.operator(stack.OperatorOptions{Flags: []string{"--sweep-interval=10s"}})
	s.source(table, func(o *v1alpha1.TenantSource) {
		o.Spec.PollInterval = &metav1.Duration{Duration: 24 * time.Hour}
		o.Spec.Watch = &v1alpha1.SourceWatch{Channel: q.Watch.Channel}
	})
	s.serves(names(0, customers))
	s.watching(op, "True/Listening", 1)

	s.put(table, customers)
	s.serves(names(0, customers+1))

	table.Wire().Refuse()
	s.watching(op, "False/NotListening", 0)
	s.put(table, customers+1)
	s.tables(table.Wire().Heal())
	s.watching(op, "True/Listening", 1)
	s.serves(names(0, customers+2))

	s.kubectl("-n", s.namespace, "patch", "cfts/customers", "--type=merge", "--patch", `{"spec": {"watch": null}}`)
	s.watching(op, "", 0)
	if s.metrics(op).Has(listening) {
		s.t.Error("a source whose table is not watched has the metric of those that are")
	}
}

// watching waits until the source's Watching is Status/Reason, or absent, and the metric of that has a value.
func (s *scene) watching(op *stack.Operator, want string, metric float64) {
	s.t.Helper()
	s.eventually(func(g gomega.Gomega) {
		got, message := "", ""
		if c := meta.FindStatusCondition(s.getSource().Status.Conditions, v1alpha1.ConditionWatching); c != nil {
			got, message = string(c.Status)+"/"+c.Reason, c.Message
		}
		g.Expect(got).To(gomega.Equal(want), message)
		g.Expect(s.metrics(op).Sum(listening)).To(gomega.Equal(metric))
	})
}
