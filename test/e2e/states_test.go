package e2e_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/adapters"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// stated is how many customers have a row in the state table. FerretDB looks through all documents for each that is written.
func stated(provider mapping.Provider) int {
	if provider == mapping.MongoDB {
		return 40
	}
	return 200
}

// stateCluster is the ID of the cluster, which the state table names.
const stateCluster = "e2e"

// The metric of rows that were written.
const rowsWritten = stateMetrics + "rows_written_total"

// stateMetrics is how the names of the metrics of state tables begin.
const stateMetrics = sourceMetrics + "state_"

// stateScene is a source with a state table. Only the controller of sources runs: the test sets the status of tenants.
type stateScene struct {
	*scene

	engine *database.Engine
	states *database.StateTable
	table  *database.Table
	op     *stack.Operator
	// theirs are the rows of other sources.
	theirs []map[string]string
}

// newStateScene makes everything but the source.
func newStateScene(t *testing.T, provider mapping.Provider, customers int) *stateScene {
	t.Helper()
	engine, err := database.Start(t.Context(), provider, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Stop(); err != nil {
			t.Error(err)
		}
	})
	s := &stateScene{scene: newScene(t, stack.Options{}), engine: engine}
	s.mayReadSecrets()
	s.table, err = engine.NewTable(t.Context(), database.TableOptions{})
	s.tables(err)
	s.states, err = engine.NewStateTable(t.Context())
	s.tables(err)
	for n := range customers {
		s.put(s.table, n)
	}
	s.offer("customers", s.table, map[string]string{v1alpha1.LabelTenantSource: "customers"})
	s.offer("states", s.states.Table, map[string]string{v1alpha1.LabelTenantSource: "customers"})
	s.plant()
	return s
}

// plant writes a row of another source, which has to stay as it is.
func (s *stateScene) plant() {
	s.t.Helper()
	row := statetable.Row{Source: "another/ns/customers", Key: customer(1), Name: customer(1), State: "Live", Domains: "[]", Since: time.Now(), Updated: time.Now(), Version: 1}
	_, err := s.adapter().Write(s.t.Context(), s.states.Target(row.Source), []statetable.Change{{Row: row}})
	s.tables(err)
	s.theirs, err = s.states.Rows(s.t.Context())
	s.tables(err)
}

// adapter reads and writes as the operator does, in this process.
func (s *stateScene) adapter() adapters.Adapter {
	s.t.Helper()
	adapter, err := adapters.Of(s.engine)
	s.tables(err)
	return adapter
}

// offer creates a Secret with the connection string of a table.
func (s *stateScene) offer(name string, table *database.Table, labels map[string]string) {
	s.t.Helper()
	here := metav1.ObjectMeta{Namespace: s.namespace, Name: name, Labels: labels}
	secret := &corev1.Secret{ObjectMeta: here, StringData: map[string]string{"connectionString": table.Query().Connection.Reveal()}}
	if err := kube.Create(s.t.Context(), secret); err != nil {
		s.t.Fatal(err)
	}
}

// follow makes the source.
func (s *stateScene) follow(change ...func(*v1alpha1.TenantSource)) {
	s.t.Helper()
	o := &v1alpha1.TenantSource{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "customers"}}
	o.Spec = database.Source(s.engine.Provider(), s.table.Query(), "customers")
	o.Spec.DistributionID, o.Spec.PollInterval = stack.DistributionID, &metav1.Duration{Duration: 10 * time.Second}
	o.Spec.WriteBack = &v1alpha1.SourceWriteBack{Table: s.states.Name()}
	if s.engine.Provider() != mapping.DynamoDB {
		o.Spec.WriteBack.ConnectionSecretRef = &v1alpha1.SecretReference{Name: "states"}
	}
	for _, c := range change {
		c(o)
	}
	if err := kube.Create(s.t.Context(), o); err != nil {
		s.t.Fatal(err)
	}
}

// run starts an operator, which lets every namespace have everything unless the flags say otherwise.
func (s *stateScene) run(flags ...string) *stack.Operator {
	s.t.Helper()
	flags = append([]string{"--controllers=tenantsource", "--cluster-id=" + stateCluster, "--cluster-check=false", "--grants=Off"}, flags...)
	if endpoint := s.engine.Endpoint(); endpoint != "" {
		flags = append(flags, "--dynamodb-endpoint="+endpoint)
	}
	return s.operator(stack.OperatorOptions{Flags: flags})
}

// editSource changes the source with a merge patch.
func (s *stateScene) editSource(patch string) {
	s.t.Helper()
	s.kubectl("patch", "cfts/customers", "--type=merge", "--patch", patch)
}

// tenants are the objects of the source.
func (s *stateScene) tenants() []v1alpha1.DistributionTenant {
	s.t.Helper()
	var list v1alpha1.DistributionTenantList
	if err := kube.List(s.t.Context(), &list, client.InNamespace(s.namespace)); err != nil {
		s.t.Fatal(err)
	}
	return list.Items
}

// follows waits until there are so many tenants.
func (s *stateScene) follows(n int) {
	s.t.Helper()
	s.eventually(func(g gomega.Gomega) { g.Expect(s.tenants()).To(gomega.HaveLen(n)) })
}

// become plays the controller of tenants: it stores a status in each object.
func (s *stateScene) become(message string, tenants ...v1alpha1.DistributionTenant) {
	s.t.Helper()
	var writes errgroup.Group
	writes.SetLimit(4)
	for _, o := range tenants {
		writes.Go(func() error {
			base := o.DeepCopy()
			o.Status.ObservedGeneration, o.Status.ID, o.Status.DNSTarget = o.Generation, "dt_"+o.Name, "d111.cloudfront.net"
			meta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{
				Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDeployed, Message: message, ObservedGeneration: o.Generation,
			})
			return kube.Status().Patch(s.t.Context(), &o, client.MergeFrom(base))
		})
	}
	if err := writes.Wait(); err != nil {
		s.t.Fatal(err)
	}
}

// rows are those of the source by key. Those of others have to be as they were.
func (s *stateScene) rows() map[string]map[string]string {
	s.t.Helper()
	all, err := s.states.Rows(s.t.Context())
	s.tables(err)
	ours, theirs := map[string]map[string]string{}, []map[string]string(nil)
	for _, row := range all {
		if row[statetable.ColumnSource] != stateCluster+"/"+s.namespace+"/customers" {
			theirs = append(theirs, row)
			continue
		}
		if ours[row[statetable.ColumnKey]] != nil {
			s.t.Errorf("the key %s has two rows", row[statetable.ColumnKey])
		}
		ours[row[statetable.ColumnKey]] = row
	}
	if diff := cmp.Diff(s.theirs, theirs); diff != "" {
		s.t.Errorf("rows of other sources (-before +now):\n%s", diff)
	}
	return ours
}

// differing are the keys whose rows do not say what the objects say.
func (s *stateScene) differing() (keys []string) {
	s.t.Helper()
	rows := s.rows()
	for _, o := range s.tenants() {
		row := rows[o.Name]
		delete(rows, o.Name)
		if want, known := convert.StateRow(&o, row[statetable.ColumnSource]); known && !saysTheSame(row, &want) {
			keys = append(keys, o.Name)
		}
	}
	for key, row := range rows {
		if !isGone(row) {
			keys = append(keys, key)
		}
	}
	return keys
}

// saysTheSame compares what databases show in one way only, or in a few.
func saysTheSame(row map[string]string, want *statetable.Row) bool {
	version, _ := strconv.ParseInt(row[statetable.ColumnVersion], 10, 64)
	ready := slices.Contains([]string{"true", "t", "1"}, row["ready"])
	return row["state"] == want.State && row["tenant_id"] == want.TenantID && row["message"] == want.Message && ready == want.Ready && version > 0 && version <= want.Version
}

func isGone(row map[string]string) bool { return row["state"] == statetable.Gone }

// settles waits until all rows say what the objects say, and the source says so.
func (s *stateScene) settles() {
	s.t.Helper()
	s.eventually(func(g gomega.Gomega) { g.Expect(s.differing()).To(gomega.BeEmpty()) })
	s.writing("True/UpToDate")
}

// writing waits until StateWritten is Status/Reason with all these words, or absent.
func (s *stateScene) writing(want string, words ...string) {
	s.t.Helper()
	s.eventually(func(g gomega.Gomega) {
		got, message := "", ""
		if c := meta.FindStatusCondition(s.getSource().Status.Conditions, v1alpha1.ConditionStateWritten); c != nil {
			got, message = string(c.Status)+"/"+c.Reason, c.Message
		}
		g.Expect(got).To(gomega.Equal(want), message)
		for _, word := range words {
			g.Expect(message).To(gomega.ContainSubstring(word))
		}
	})
}

// A state table says in the end what the status of the objects says, whatever happens on the way: to the operator, to the
// database, or to the source.
func TestStateTables(t *testing.T) {
	t.Parallel()
	for _, provider := range []mapping.Provider{mapping.Postgres, mapping.MySQL, mapping.MongoDB, mapping.Redis, mapping.DynamoDB} {
		t.Run(string(provider), func(t *testing.T) {
			t.Parallel()
			s := newStateScene(t, provider, stated(provider))
			s.op = s.run()
			s.follow()
			s.follows(stated(provider))
			s.become("first", s.tenants()...)
			s.settles()
			s.survivesAKill()
			s.survivesAnOutage()
			s.standsTwoWriters()
			s.isLeftWithItsSource()
		})
	}
}

// survivesAKill ends the operator in the middle of changes. The next one writes what is missing, and nothing else.
func (s *stateScene) survivesAKill() {
	s.t.Helper()
	written, all := s.metrics(s.op).Sum(rowsWritten), s.tenants()
	half, most := len(all)/2, len(all)*3/4
	s.become("second", all[:half]...)
	s.eventually(func(g gomega.Gomega) {
		g.Expect(s.metrics(s.op).Sum(rowsWritten)).To(gomega.BeNumerically(">", written))
	})
	s.become("second", all[half:most]...)
	s.tables(s.op.Kill(s.t.Context()))
	s.become("second", all[most:]...)
	missing := float64(len(s.differing()))
	s.start(s.op)
	s.settles()
	s.eventually(func(g gomega.Gomega) { // a call is counted when its process has ended
		m := s.metrics(s.op)
		g.Expect(m.Sum(rowsWritten)).To(gomega.Equal(missing), "the restart writes the rows that differed")
		for _, metric := range []string{stateMetrics + "rows_waiting", stateMetrics + "waiting_since_timestamp_seconds"} {
			g.Expect(m.Has(metric)).To(gomega.BeTrue(), metric)
		}
	})
}

// survivesAnOutage has changes while the database of the states is away. Tenants follow their rows meanwhile.
func (s *stateScene) survivesAnOutage() {
	s.t.Helper()
	began := time.Now().Truncate(time.Second)
	s.states.Wire().Refuse()
	s.become("third", s.tenants()...)
	s.writing("False/WriteFailed", "the tenants are not affected")
	message := meta.FindStatusCondition(s.getSource().Status.Conditions, v1alpha1.ConditionStateWritten).Message
	_, since, _ := strings.Cut(message, "waiting since ")
	since, _, _ = strings.Cut(since, ". ")
	if at, err := time.Parse(time.RFC3339, since); err != nil || at.Before(began) || at.After(time.Now()) {
		s.t.Errorf("changes wait since %q, and the database is away since %v: %s", since, began, message)
	}
	n := len(s.tenants())
	s.put(s.table, n)
	s.follows(n + 1)
	s.sourceReaches("True/PollSucceeded")
	s.tables(s.states.Wire().Heal())
	s.settles()
}

// standsTwoWriters has a second operator that knows nothing of the first.
func (s *stateScene) standsTwoWriters() {
	s.t.Helper()
	second := s.run()
	s.become("fourth", s.tenants()...)
	s.settles()
	s.become("fifth", s.tenants()...)
	s.settles()
	s.stop(second)
}

// isLeftWithItsSource deletes the source, which waits for its objects, and all rows say that they are gone.
func (s *stateScene) isLeftWithItsSource() {
	s.t.Helper()
	all := len(s.tenants())
	s.kubectl("delete", "cfts", "customers", "--wait=false")
	s.sourceReaches("False/DeletionHeld")
	s.kubectl("annotate", "cfts/customers", v1alpha1.AnnotationApproveDeletions+"="+s.getSource().Status.HeldDeletions.PlanHash)
	s.eventually(func(g gomega.Gomega) {
		for _, o := range s.tenants() {
			g.Expect(o.DeletionTimestamp).NotTo(gomega.BeNil())
		}
	})
	s.getSource() // it is there as long as they are
	if n := s.goneRows(); n > 0 {
		s.t.Errorf("%d rows say that objects are gone that are there", n)
	}
	s.release()
	s.eventually(func(g gomega.Gomega) { g.Expect(s.goneRows()).To(gomega.Equal(all)) })
	s.eventually(func(g gomega.Gomega) { g.Expect(s.kubectl("get", "cfts", "-o", "name")).To(gomega.BeEmpty()) })
}

// goneRows counts the rows that say that an object is gone.
func (s *stateScene) goneRows() (n int) {
	s.t.Helper()
	for _, row := range s.rows() {
		if isGone(row) {
			n++
		}
	}
	return n
}

// release takes the finalizers from objects that are being deleted, as the controller of tenants does.
func (s *stateScene) release() {
	s.t.Helper()
	for _, o := range s.tenants() {
		if o.DeletionTimestamp == nil {
			continue
		}
		base := o.DeepCopy()
		o.Finalizers = nil
		if err := client.IgnoreNotFound(kube.Patch(s.t.Context(), &o, client.MergeFrom(base))); err != nil {
			s.t.Fatal(err)
		}
	}
}

// few is enough where nothing is written.
const few = 3

// Nothing is written that the source, its Secret or its grant does not allow, and all of it once they do.
func TestStateTablesThatAreRefused(t *testing.T) {
	t.Parallel()
	s := newStateScene(t, mapping.Postgres, few)
	s.tables(s.states.Put(t.Context(), customerRow(0), customerRow(1)))
	s.op = s.run("--grants=Enforce", stateGrant(`{"hosts": ["127.0.0.1"]}`))
	s.follow()
	s.sourceReaches("False/NotGranted")
	s.writing("")
	s.has(0)

	s.grant(fmt.Sprintf(`{"writeTables": [%q], "hosts": [%q]}`, s.states.Name(), addressOf(s.table)))
	s.sourceReaches("True/PollSucceeded")
	s.follows(few)
	s.become("first", s.tenants()...)
	s.writing("False/WriteFailed", addressOf(s.states.Table), "grant")
	s.has(0)

	s.grant(fmt.Sprintf(`{"writeTables": [%q, %q, %q], "hosts": ["127.0.0.1"]}`, s.states.Name(), s.states.Customers(), s.table.Name()))
	s.settles()
	s.has(few)

	s.needsTheLabel()
	s.leavesCustomersAlone()
	s.rests()
	s.removes()
	s.goesWithoutItsGrant()
}

// goesWithoutItsGrant deletes the source after it was taken what it writes. Its tenants go, and nothing is written.
func (s *stateScene) goesWithoutItsGrant() {
	s.t.Helper()
	s.grant(`{"hosts": ["127.0.0.1"]}`)
	s.sourceReaches("False/NotGranted")
	before := s.rows()
	s.kubectl("delete", "cfts", "customers", "--wait=false")
	s.sourceReaches("False/DeletionHeld")
	s.kubectl("annotate", "cfts/customers", v1alpha1.AnnotationApproveDeletions+"="+s.getSource().Status.HeldDeletions.PlanHash)
	s.eventually(func(g gomega.Gomega) {
		s.release()
		g.Expect(s.kubectl("get", "cfts", "-o", "name")).To(gomega.BeEmpty())
	})
	s.same(before)
}

// stateGrant is the flag with the grant of all namespaces.
func stateGrant(sources string) string {
	return `--default-grant={"kinds": ["TenantSource", "DistributionTenant"], "distributions": [{"id": "*"}], "domains": [{"suffix": "*"}], "sources": ` + sources + `}`
}

// grant starts the operator with another grant.
func (s *stateScene) grant(sources string) {
	s.t.Helper()
	s.tables(s.op.Kill(s.t.Context()))
	s.op.Flags(stateGrant(sources))
	s.start(s.op)
}

// addressOf is where a table is.
func addressOf(table *database.Table) string {
	_, rest, _ := strings.Cut(table.Query().Connection.Reveal(), "@")
	address, _, _ := strings.Cut(rest, "/")
	return address
}

// has wants the state table to have so many rows.
func (s *stateScene) has(n int) {
	s.t.Helper()
	if rows := s.rows(); len(rows) != n {
		s.t.Errorf("the state table has %d rows, want %d: %v", len(rows), n, rows)
	}
}

// needsTheLabel takes the offer of the Secret away.
func (s *stateScene) needsTheLabel() {
	s.t.Helper()
	before := s.rows()
	s.kubectl("label", "secret/states", v1alpha1.LabelTenantSource+"-")
	s.become("without an offer", s.tenants()...)
	s.writing("False/WriteFailed", v1alpha1.LabelTenantSource)
	s.same(before)
	s.kubectl("label", "secret/states", v1alpha1.LabelTenantSource+"=customers")
	s.settles()
}

// same wants the rows to be as they were.
func (s *stateScene) same(before map[string]map[string]string) {
	s.t.Helper()
	if diff := cmp.Diff(before, s.rows()); diff != "" {
		s.t.Errorf("rows (-before +now):\n%s", diff)
	}
}

// leavesCustomersAlone names tables of customers as that of the states: the one that the query reads, and one that the user
// of the states may write.
func (s *stateScene) leavesCustomersAlone() {
	s.t.Helper()
	before := s.customers()
	for table, word := range map[string]string{s.table.Name(): "the query reads", s.states.Customers(): "column"} {
		s.editSource(fmt.Sprintf(`{"spec": {"writeBack": {"table": %q}}}`, table))
		s.writing("False/WriteFailed", word)
	}
	if diff := cmp.Diff(before, s.customers()); diff != "" {
		s.t.Errorf("the table of customers (-before +now):\n%s", diff)
	}
	s.editSource(fmt.Sprintf(`{"spec": {"writeBack": {"table": %q}}}`, s.states.Name()))
	s.settles()
}

// customers are the rows of the tables of customers.
func (s *stateScene) customers() []map[string]any {
	s.t.Helper()
	var read reader
	for _, table := range []*database.Table{s.table, s.states.Table} {
		s.tables(s.adapter().Read(s.t.Context(), table.Query(), &read))
	}
	slices.SortFunc(read.rows, func(a, b map[string]any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return read.rows
}

// reader keeps what is read.
type reader struct{ rows []map[string]any }

// Columns implements mapping.Sink.
func (r *reader) Columns([]mapping.Column) error { return nil }

// Row implements mapping.Sink.
func (r *reader) Row(row mapping.Row) error {
	r.rows = append(r.rows, row.Values)
	return nil
}

// rests has changes while the source is suspended, and while it only plans.
func (s *stateScene) rests() {
	s.t.Helper()
	before := s.rows()
	s.editSource(`{"spec": {"suspend": true}}`)
	s.writing("")
	s.become("while it is suspended", s.tenants()...)
	s.editSource(`{"spec": {"suspend": false, "dryRun": true}}`)
	s.sourceReaches("True/DryRunComplete")
	s.become("while it plans", s.tenants()...)
	s.put(s.table, few)
	s.eventually(func(g gomega.Gomega) { g.Expect(s.getSource().Status.PendingChanges).To(gomega.HaveLen(1)) })
	s.writing("")
	s.same(before)
	s.editSource(`{"spec": {"dryRun": false}}`)
	s.follows(few + 1)
	s.settles()
}

// removes takes the row of a customer that goes out of the table.
func (s *stateScene) removes() {
	s.t.Helper()
	s.editSource(`{"spec": {"writeBack": {"deleted": "Remove"}}}`)
	s.become("last", s.tenants()...)
	s.settles()
	s.has(few + 1)
	s.tables(s.table.Remove(s.t.Context(), customer(0)))
	s.eventually(func(g gomega.Gomega) {
		s.release()
		g.Expect(s.tenants()).To(gomega.HaveLen(few))
		g.Expect(s.rows()).NotTo(gomega.HaveKey(customer(0)))
	})
	s.settles()
	s.has(few)
}
