//go:build linux

package node_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/node"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

const (
	// databaseAddress is where Pods reach the database: a source may not have it at an address of the API server.
	databaseAddress = node.OtherAddress + ":5432"

	largeTable = `SELECT 'customer-' || n AS name, 'customer-' || n || '.example.com' AS domain, true AS enabled FROM generate_series(1, 100000) AS n`
)

// startDatabase starts PostgreSQL for Pods, and returns its connection string.
func startDatabase(t *testing.T) string {
	t.Helper()
	engine, err := database.Start(t.Context(), mapping.Postgres, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := engine.NewTable(t.Context(), database.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	connection, err := url.Parse(table.Query().Connection.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", databaseAddress)
	if err != nil {
		t.Fatal(err)
	}
	go forward(listener, connection.Host)
	t.Cleanup(func() {
		_ = listener.Close()
		if err := engine.Stop(); err != nil {
			t.Error(err)
		}
	})
	connection.Host = databaseAddress
	return connection.String()
}

// forward connects clients with a server on loopback.
func forward(listener net.Listener, server string) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer client.Close()
			backend, err := new(net.Dialer).DialContext(context.Background(), "tcp", server)
			if err != nil {
				return
			}
			defer backend.Close()
			go func() { _, _ = io.Copy(backend, client) }()
			_, _ = io.Copy(client, backend)
		}()
	}
}

// source makes a source that only says what it would change.
func (w *world) source(namespace, query string) *v1alpha1.TenantSource {
	w.t.Helper()
	here := metav1.ObjectMeta{Namespace: namespace, Name: "customers", Labels: map[string]string{v1alpha1.LabelTenantSource: "customers"}}
	w.must(w.kube.Create(w.t.Context(), &corev1.Secret{ObjectMeta: here, StringData: map[string]string{"connectionString": startDatabase(w.t)}}))
	here.Labels = nil
	o := &v1alpha1.TenantSource{ObjectMeta: here, Spec: v1alpha1.TenantSourceSpec{
		Provider: v1alpha1.SourceProviderPostgres, DistributionID: stack.DistributionID, DryRun: true, PollInterval: &metav1.Duration{Duration: 10 * time.Second},
		Postgres: &v1alpha1.SQLSource{ConnectionSecretRef: &v1alpha1.SecretReference{Name: here.Name}, Query: query},
	}}
	w.must(w.kube.Create(w.t.Context(), o))
	return o
}

// sourceReaches waits for a reason of Ready, and returns the message.
func (w *world) sourceReaches(o *v1alpha1.TenantSource, want string) (message string) {
	w.t.Helper()
	w.eventually(func(g gomega.Gomega) {
		g.Expect(w.kube.Get(w.t.Context(), client.ObjectKeyFromObject(o), o)).To(gomega.Succeed())
		c := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionReady)
		g.Expect(c).NotTo(gomega.BeNil())
		g.Expect(c.Reason).To(gomega.Equal(want), c.Message)
		message = c.Message
	})
	return message
}

// tableOfManyRows measures the memory that reading a large table takes.
func (w *world) tableOfManyRows() {
	w.namespace("table")
	w.helm(secondTag, "rbac.secretNamespaces={table}")
	w.twoReady()
	before := w.restarts()
	peak := w.measure(func() { w.sourceReaches(w.source("table", largeTable), v1alpha1.ReasonDryRunComplete) })
	w.memory(w.t, "a dry run of a table of 100,000 rows: highest working set", peak, limit/2)
	w.exactly(w.t, "restarts of containers meanwhile", w.restarts()-before, 0)
	w.must(w.kube.Delete(w.t.Context(), &v1alpha1.TenantSource{ObjectMeta: metav1.ObjectMeta{Namespace: "table", Name: "customers"}}))
}

// readerKilled ends the process that reads a table as the kernel does when a container has no memory left for it. (Left to
// itself, the kernel ends the larger process: the reader's score counts for less than one per cent of the limit.)
func (w *world) readerKilled() {
	w.namespace("killed-reader")
	w.helm(secondTag, "rbac.secretNamespaces={killed-reader}")
	w.twoReady()
	before, leader := w.restarts(), w.process(w.leader())
	o := w.source("killed-reader", largeTable)
	w.must(syscall.Kill(w.child(leader), syscall.SIGKILL))
	message := w.sourceReaches(o, v1alpha1.ReasonPollFailed)
	if !strings.Contains(message, "signal: killed") {
		w.t.Errorf("the condition says %q, and not that the reader was killed", message)
	}
	w.sourceReaches(o, v1alpha1.ReasonDryRunComplete)
	w.exactly(w.t, "restarts after a reader was killed", w.restarts()-before, 0)
	w.must(w.kube.Delete(w.t.Context(), o))
}

// child waits until there is another process in the container of one, and returns its id.
func (w *world) child(pid int) (child int) {
	w.t.Helper()
	cgroup, err := memoryCgroup(pid)
	w.must(err)
	w.eventually(func(g gomega.Gomega) {
		processes, err := os.ReadFile(filepath.Join(cgroup, "cgroup.procs"))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		for id := range strings.FieldsSeq(string(processes)) {
			if id != strconv.Itoa(pid) {
				child, err = strconv.Atoi(id)
				g.Expect(err).NotTo(gomega.HaveOccurred())
			}
		}
		g.Expect(child).NotTo(gomega.BeZero())
	})
	return child
}
