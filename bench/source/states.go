package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/bench/rig"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

// The changes of statuses.
const (
	// patchers is how many statuses are changed at a time where it is about their number.
	patchers = 16
	// steadyFor and steadyEvery are those of changes at a steady rate.
	steadyFor   = time.Minute
	steadyEvery = 100 * time.Millisecond
	// awayChanges is how many statuses change while the database can't be reached.
	awayChanges = 1000
	// glance is how often rows are looked at that are waited for, and survey how often all rows are.
	glance = 50 * time.Millisecond
	survey = 250 * time.Millisecond
	// rowsWithin is far above what rows may take.
	rowsWithin = 10 * time.Minute
)

// states are the statuses of the tenants, and the table that has a row for each.
type states struct {
	table *database.StateTable
	// source is what the rows say of their source.
	source      string
	generations map[string]int64
	patches     int

	mu sync.Mutex
	// wanted is what each row should say, changed when the status of those that do not say it yet was stored.
	wanted  map[string]string
	changed map[string]time.Time
	took    []time.Duration
}

func newStates(ctx context.Context, engine *database.Engine) (*states, error) {
	table, err := engine.NewStateTable(ctx)
	return &states{table: table, generations: map[string]int64{}, wanted: map[string]string{}, changed: map[string]time.Time{}}, err
}

// stateSecret is the Secret with the credentials of the state table.
const stateSecret = name + "-states"

func (s *states) secret() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: stateSecret, Labels: map[string]string{v1alpha1.LabelTenantSource: name}},
		StringData: map[string]string{"connectionString": s.table.Query().Connection.Reveal()},
	}
}

func (s *states) writeBack(provider v1alpha1.SourceProvider) *v1alpha1.SourceWriteBack {
	w := &v1alpha1.SourceWriteBack{Table: s.table.Name()}
	if provider != v1alpha1.SourceProvider(mapping.DynamoDB) {
		w.ConnectionSecretRef = &v1alpha1.SecretReference{Name: stateSecret}
	}
	return w
}

// measureStates measures the state table of a source whose tenants are all there.
func (b *bench) measureStates(ctx context.Context) error {
	if err := b.learnGenerations(ctx); err != nil {
		return err
	}
	fmt.Fprintln(b.out, "\nstate table\tseconds\tafter the last change s\trows written\twrites to the source\twrites to tenants\tCPU s\tchildren's CPU s\tpeak MiB\tat rest MiB\tchildren's peak MiB")
	for _, p := range []struct {
		title string
		do    func(context.Context) (last time.Time, err error)
	}{
		{"every tenant gets its first status", b.changing("first")},
		{"the status of every tenant changes", b.changing("second")},
		{"after SIGKILL and a restart", b.restartWithStates},
		{fmt.Sprintf("the database is away for %s, %d statuses change", b.away, awayChanges), b.withoutDatabase},
	} {
		rig.Say("state table: %s", p.title)
		if err := b.stateLine(ctx, p.title, p.do); err != nil {
			return fmt.Errorf("%s: %w", p.title, err)
		}
	}
	return b.steady(ctx)
}

// stateLine prints a line for changes, which begin and return when the last was made, and waits until all rows are right.
func (b *bench) stateLine(ctx context.Context, title string, do func(context.Context) (time.Time, error)) error {
	end, err := b.meter(ctx)
	if err != nil {
		return err
	}
	last, err := do(ctx)
	if err != nil {
		return err
	}
	if err := b.awaitRows(ctx); err != nil {
		return err
	}
	f, err := end(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "%s\t%.1f\t%.1f\t%.0f\t%d\t%d\t%.1f\t%.1f\t%.0f\t%.0f\t%.0f\n", title, f.seconds, f.at.Sub(last).Seconds(), f.rows, f.source, f.tenants,
		f.used.CPU, f.used.EndedCPU, f.used.Peak/rig.Mebibyte, f.used.Resident/rig.Mebibyte, f.children/rig.Mebibyte)
	return nil
}

// restartWithStates kills the operator, and waits until a new one has compared the table.
func (b *bench) restartWithStates(ctx context.Context) (time.Time, error) {
	if err := b.restart(ctx); err != nil {
		return time.Time{}, err
	}
	begun := time.Now()
	if err := b.await(ctx); err != nil {
		return begun, err
	}
	return begun, wait.PollUntilContextTimeout(ctx, glance, rowsWithin, true, func(ctx context.Context) (bool, error) {
		m, err := b.operator.Metrics(ctx)
		return m.Has(metricWaiting) && m.Sum(metricWaiting) == 0, err
	})
}

// changing changes all statuses.
func (b *bench) changing(message string) func(context.Context) (time.Time, error) {
	return func(ctx context.Context) (time.Time, error) {
		err := b.changeAll(ctx, message)
		return time.Now(), err
	}
}

// withoutDatabase changes statuses while the database can't be reached.
func (b *bench) withoutDatabase(ctx context.Context) (time.Time, error) {
	b.states.table.Wire().Refuse()
	err := b.changeSome(ctx, "away", awayChanges, b.away/awayChanges)
	if healed := b.states.table.Wire().Heal(); err == nil {
		err = healed
	}
	return time.Now(), err
}

// steady measures how long a status takes to its row.
func (b *bench) steady(ctx context.Context) error {
	fmt.Fprintln(b.out, "\nfrom a status to its row\tp50 s\tp99 s\tmax s\tchanges\trows written\tCPU s\tchildren's CPU s\tpeak MiB")
	rig.Say("state table: changing statuses at a steady rate")
	end, err := b.meter(ctx)
	if err != nil {
		return err
	}
	changing := make(chan error, 1)
	go func() { changing <- b.changeSome(ctx, "steady", int(steadyFor/steadyEvery), steadyEvery) }()
	if err := b.followRows(ctx, changing); err != nil {
		return err
	}
	f, err := end(ctx)
	if err != nil {
		return err
	}
	d := rig.DistributionOf(b.states.took)
	fmt.Fprintf(b.out, "ten in each second\t%.2f\t%.2f\t%.2f\t%d\t%.0f\t%.1f\t%.1f\t%.0f\n", d.P50, d.P99, d.Max, len(b.states.took), f.rows, f.used.CPU, f.used.EndedCPU, f.used.Peak/rig.Mebibyte)
	return nil
}

// followRows notes when rows become right, until there are no more changes and all are.
func (b *bench) followRows(ctx context.Context, changing <-chan error) error {
	over := false
	return wait.PollUntilContextTimeout(ctx, glance, rowsWithin, true, func(ctx context.Context) (bool, error) {
		select {
		case err := <-changing:
			if err != nil {
				return false, err
			}
			over = true
		default:
		}
		left, err := b.states.look(ctx)
		return over && left == 0, err
	})
}

// look looks at the rows that were not right yet, and returns how many are left.
func (s *states) look(ctx context.Context) (left int, err error) {
	s.mu.Lock()
	keys := slices.Collect(maps.Keys(s.changed))
	s.mu.Unlock()
	if len(keys) == 0 {
		return 0, nil
	}
	rows, err := s.table.RowsOf(ctx, s.source, keys...)
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range rows {
		key := row[statetable.ColumnKey]
		if at, waits := s.changed[key]; waits && row[columnMessage] == s.wanted[key] {
			s.took = append(s.took, now.Sub(at))
			delete(s.changed, key)
		}
	}
	return len(s.changed), err
}

// columnMessage has what a change says.
const columnMessage = "message"

// awaitRows waits until all rows are right.
func (b *bench) awaitRows(ctx context.Context) error {
	right := 0
	err := wait.PollUntilContextTimeout(ctx, survey, rowsWithin, true, func(ctx context.Context) (_ bool, err error) {
		right, err = b.states.right(ctx)
		return right == b.rows, err
	})
	if err != nil {
		return fmt.Errorf("%d of %d rows are right: %w", right, b.rows, err)
	}
	clear(b.states.changed)
	return nil
}

// right is how many rows say what they should.
func (s *states) right(ctx context.Context) (count int, err error) {
	rows, err := s.table.Rows(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range rows {
		s.source = row[statetable.ColumnSource]
		if row[columnMessage] == s.wanted[row[statetable.ColumnKey]] {
			count++
		}
	}
	return count, err
}

// learnGenerations looks at the generations of the tenants, which change no more.
func (b *bench) learnGenerations(ctx context.Context) error {
	var list v1alpha1.DistributionTenantList
	if err := b.kube.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return fmt.Errorf("listing the tenants: %w", err)
	}
	for i := range list.Items {
		b.states.generations[list.Items[i].Name] = list.Items[i].Generation
	}
	return nil
}

// changeAll changes the status of every tenant, as fast as it gets.
func (b *bench) changeAll(ctx context.Context, title string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(patchers)
	for i := range b.rows {
		group.Go(func() error { return b.setStatus(ctx, i, title) })
	}
	return group.Wait()
}

// changeSome changes statuses in a steady rhythm, however long each takes.
func (b *bench) changeSome(ctx context.Context, title string, count int, every time.Duration) error {
	order := rand.New(rand.NewPCG(1, uint64(b.rows))).Perm(b.rows) // the same in each run
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	group, ctx := errgroup.WithContext(ctx)
	for n := range count {
		group.Go(func() error { return b.setStatus(ctx, order[n%b.rows], fmt.Sprintf("%s %d", title, n)) })
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
	return group.Wait()
}

// setStatus sets the status of a tenant as its controller does.
func (b *bench) setStatus(ctx context.Context, i int, message string) error {
	s, id, now := b.states, rowName(i), metav1.Now()
	status := v1alpha1.DistributionTenantStatus{
		ObservedGeneration: s.generations[id], ID: "dt_" + id, DNSTarget: "d111111abcdef8.cloudfront.net",
		Conditions: []metav1.Condition{{
			Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: "Deployed", Message: message, LastTransitionTime: now,
		}},
		Domains: []v1alpha1.DomainStatus{{Domain: id + ".example.com", State: v1alpha1.DomainLive, Since: now}},
	}
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.wanted[id] = message
	s.patches++
	s.mu.Unlock()
	o := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: id}}
	if err := b.kube.Status().Patch(ctx, o, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("setting a status: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed[id] = time.Now()
	return nil
}
