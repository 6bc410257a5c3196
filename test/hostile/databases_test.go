package hostile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/badserver"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// honest is the name of the source whose database means no harm.
const honest = "honest"

// neighborhood is a namespace with sources.
type neighborhood struct {
	t         *testing.T
	namespace string
}

func newNeighborhood(t *testing.T, namespace string) neighborhood {
	t.Helper()
	where := metav1.ObjectMeta{Namespace: namespace, Name: "connection-strings"}
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&rbacv1.Role{ObjectMeta: where, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}}},
		&rbacv1.RoleBinding{
			ObjectMeta: where, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: where.Name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: "system:serviceaccounts:" + install.Namespace}},
		},
	} {
		if err := kube.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	return neighborhood{t: t, namespace: namespace}
}

// source creates a source with its Secret.
func (n neighborhood) source(name string, provider mapping.Provider, q mapping.Query) {
	n.t.Helper()
	here := metav1.ObjectMeta{Namespace: n.namespace, Name: name}
	offered := *here.DeepCopy()
	offered.Labels = map[string]string{v1alpha1.LabelTenantSource: name}
	secret := &v1alpha1.SecretReference{Name: name}
	sql := &v1alpha1.SQLSource{ConnectionSecretRef: secret, Query: "SELECT name FROM customers"}
	spec := v1alpha1.TenantSourceSpec{
		Provider: v1alpha1.SourceProvider(provider), DistributionID: stack.DistributionID, PollInterval: &metav1.Duration{Duration: 10 * time.Second},
	}
	switch provider {
	case mapping.Postgres:
		spec.Postgres = sql
	case mapping.MySQL:
		spec.MySQL = sql
	case mapping.MongoDB:
		spec.MongoDB = &v1alpha1.MongoDBSource{ConnectionSecretRef: secret, Database: "db", Collection: "customers"}
	case mapping.Redis:
		spec.Redis = &v1alpha1.RedisSource{ConnectionSecretRef: secret, KeyPattern: q.Redis.KeyPattern}
	case mapping.DynamoDB:
	}
	for _, o := range []client.Object{
		&corev1.Secret{ObjectMeta: offered, StringData: map[string]string{"connectionString": q.Connection.Reveal()}},
		&v1alpha1.TenantSource{ObjectMeta: here, Spec: spec},
	} {
		if err := kube.Create(n.t.Context(), o); err != nil {
			n.t.Fatal(err)
		}
	}
}

func (n neighborhood) get(g gomega.Gomega, name string) *v1alpha1.TenantSource {
	o := &v1alpha1.TenantSource{}
	g.Expect(kube.Get(n.t.Context(), client.ObjectKey{Namespace: n.namespace, Name: name}, o)).To(gomega.Succeed())
	return o
}

func (n neighborhood) eventually(check func(g gomega.Gomega)) {
	n.t.Helper()
	gomega.NewWithT(n.t).Eventually(n.t.Context(), check).WithTimeout(2 * time.Minute).WithPolling(100 * time.Millisecond).Should(gomega.Succeed())
}

// says waits until the Ready condition of a source has the reason, and all these texts.
func (n neighborhood) says(name, reason string, texts ...string) {
	n.t.Helper()
	n.eventually(func(g gomega.Gomega) {
		c := meta.FindStatusCondition(n.get(g, name).Status.Conditions, v1alpha1.ConditionReady)
		g.Expect(c).NotTo(gomega.BeNil())
		g.Expect(c.Reason).To(gomega.Equal(reason), c.Message)
		for _, text := range texts {
			g.Expect(c.Message).To(gomega.ContainSubstring(text))
		}
	})
}

// polled waits for one more complete read of the honest table.
func (n neighborhood) polled(within time.Duration) {
	n.t.Helper()
	g := gomega.NewWithT(n.t)
	before := n.get(g, honest).Status.LastPollTime
	g.Eventually(n.t.Context(), func(g gomega.Gomega) {
		g.Expect(n.get(g, honest).Status.LastPollTime.Time).To(gomega.BeTemporally(">", before.Time))
	}).WithTimeout(within).WithPolling(100 * time.Millisecond).Should(gomega.Succeed())
	n.says(honest, "PollSucceeded")
}

// readers are the processes that read tables for the operator.
func readers(operator int) []int {
	var pids []int
	found, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, path := range found {
		status, _ := os.ReadFile(path)
		if strings.Contains(string(status), fmt.Sprintf("\nPPid:\t%d\n", operator)) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// One namespace has databases that mean harm, and its neighbor an honest one: the harm is that of its sources alone.
// The operator continues in the same process, needs no more memory for it, and reads the honest table on time.
func TestADatabaseThatMeansHarmHarmsItsSourceOnly(t *testing.T) {
	engine, err := database.Start(t.Context(), mapping.Redis, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Stop() })
	table, err := engine.NewTable(t.Context(), database.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Put(t.Context(), map[string]any{"name": "shop", "domain": "shop.example.com", "enabled": true}); err != nil {
		t.Fatal(err)
	}
	forget(t, "honest-databases", "harmful-databases")
	s, err := host.Start(t.Context(), stack.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	good, bad := newNeighborhood(t, "honest-databases"), newNeighborhood(t, "harmful-databases")

	strict, err := s.StartOperator(t.Context(), stack.OperatorOptions{Flags: []string{"--tenantsource-allow-dial="}})
	if err != nil {
		t.Fatal(err)
	}
	good.source(honest, mapping.Redis, table.Query())
	good.says(honest, "PollFailed", "its address 127.0.0.1 is that of the Kubernetes API server", "--tenantsource-allow-dial")
	if _, err := strict.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}

	op, err := s.StartOperator(t.Context(), stack.OperatorOptions{Flags: []string{"--tenantsource-read-timeout=5s"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if log, err := op.Log(); err == nil && (t.Failed() || strings.Contains(log, "DATA RACE") || strings.Contains(log, "panic")) {
			t.Errorf("the end of the operator's log:\n%s", log[max(0, len(log)-6000):])
		}
	})
	good.says(honest, "PollSucceeded")
	process.ForgetPeak(op.PID())
	before, pid := process.UsageOf(op.PID()), op.PID()

	const memory, late = "more than the 64 MiB of memory", "could not be read completely within 5s"
	harms := map[string]struct {
		provider mapping.Provider
		harm     badserver.Harm
		says     string
	}{
		"redis-huge": {mapping.Redis, badserver.Huge, memory}, "mongodb-huge": {mapping.MongoDB, badserver.Huge, memory},
		"mysql-flood": {mapping.MySQL, badserver.Flood, memory}, "postgres-flood": {mapping.Postgres, badserver.Flood, "no response"},
		"redis-slow": {mapping.Redis, badserver.Slow, late}, "redis-loop": {mapping.Redis, badserver.Loop, late}, "mongodb-silent": {mapping.MongoDB, badserver.Silent, late},
	}
	for name, c := range harms {
		q := mapping.Query{Connection: mapping.NewSecret(badserver.Start(t, c.provider, c.harm)), Redis: mapping.RedisQuery{KeyPattern: "customer:*"}}
		bad.source(name, c.provider, q)
	}
	for name, c := range harms {
		bad.says(name, "PollFailed", c.says)
	}
	for range 3 {
		good.polled(time.Minute)
	}
	bad.eventually(func(g gomega.Gomega) {
		for _, reader := range readers(op.PID()) {
			_ = syscall.Kill(reader, syscall.SIGKILL)
		}
		c := meta.FindStatusCondition(bad.get(g, "redis-slow").Status.Conditions, v1alpha1.ConditionReady)
		g.Expect(c.Message).To(gomega.ContainSubstring("signal: killed"))
	})
	good.polled(time.Minute)
	if after := process.UsageOf(op.PID()); !op.Running() || op.PID() != pid || after.Peak-before.Peak > 64<<20 {
		t.Errorf("the operator had %.0f MiB before and %.0f MiB at most since, and runs: %v", before.Peak/(1<<20), after.Peak/(1<<20), op.Running())
	}
}
