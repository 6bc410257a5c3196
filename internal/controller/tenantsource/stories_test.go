package tenantsource_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/sourceworld"
)

// The rhythm of the stories: slow, so that a day is few polls.
const (
	storyInterval = time.Hour
	storyWindow   = 6 * time.Hour
	storyNames    = 7
)

// People edit rows, objects, labels and the source, and approve what they should and what they should not; the
// database fails, is empty, or loses a column; the operator restarts. No foreign object is touched, nothing is deleted
// without its confirmations and its budget, or approval, and in the end the objects are the rows.
func TestStoriesOfSources(t *testing.T) {
	usually(t, "rapid.checks", "30")
	usually(t, "rapid.steps", "16")
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newStory(t)
		t.Repeat(s.actions())
		s.end()
	})
}

// usually sets a flag that was not given on the command line.
func usually(t *testing.T, name, value string) {
	t.Helper()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if !given {
		must(t, flag.Set(name, value))
	}
}

// memoryTable is a port.Rows over rows in memory.
type memoryTable struct {
	rows []map[string]any
	// more are columns in addition to those that all tables have.
	more []string
	// weather is what happens to the reads to come, one after the other.
	weather []string
	// slow is what a read takes.
	slow  func()
	reads []tableRead
	// began is called for each read, and returns the time.
	began func() time.Time
}

// tableRead is a read that has seen rows: which names it had, whether all rows had one, and whether it came to its end.
type tableRead struct {
	at       time.Time
	names    map[string]bool
	named    bool
	complete bool
	rows     int
}

// Read implements port.Rows.
func (m *memoryTable) Read(_ context.Context, _ mapping.Query, sink mapping.Sink) error {
	weather, at := "", m.began()
	if len(m.weather) > 0 {
		weather, m.weather = m.weather[0], m.weather[1:]
	}
	failure := func(kind fault.Kind) error {
		return &fault.Error{Kind: kind, Operation: "Reading the table", Message: weather}
	}
	switch weather {
	case "refused":
		return failure(fault.Transient)
	case "denied":
		return failure(fault.Denied)
	case "dropped":
		return failure(fault.NotFound)
	case "slow":
		m.slow()
	}
	renamed := map[string]string{"name renamed": "name", "enabled renamed": "enabled"}[weather]
	read := tableRead{at: at, names: map[string]bool{}, named: true}
	var columns []mapping.Column
	for _, name := range append([]string{"name", "domain", "enabled"}, m.more...) {
		if name != renamed {
			columns = append(columns, mapping.Column{Name: name, Type: mapping.TypeMixed})
		}
	}
	if err := sink.Columns(columns); err != nil {
		return err
	}
	rows := m.rows
	if weather == "empty" {
		rows = nil
	}
	defer func() { m.reads = append(m.reads, read) }()
	for i := range rows {
		if weather == "cut" && i >= len(rows)/2 {
			return failure(fault.Transient)
		}
		row := rows[i]
		if len(m.reads)%2 == 1 {
			row = rows[len(rows)-1-i]
		}
		values := maps.Clone(row)
		delete(values, renamed)
		if err := sink.Row(mapping.Row{Values: values}); err != nil {
			return err
		}
		name, _ := row["name"].(string)
		read.names[name] = true
		read.named = read.named && name != ""
		read.rows++
	}
	if weather == "cut" || weather == "lost" {
		return failure(fault.Transient)
	}
	read.complete = true
	return nil
}

// story is a world and what is remembered to judge it.
type story struct {
	*sourceworld.World
	t     *rapid.T
	table *memoryTable
	// readings are what reads follow from, by their time; approved are the UIDs of plans that a user has approved.
	readings map[time.Time]string
	approved map[string]bool
	// unasked are the removals without approval, all are all of them.
	unasked, all tenantsource.History
	// base is how many objects there were at the last read, with those that went in the window before.
	base  int
	token int
	// mu guards what writes of the operator show, of which several are under way at a time.
	mu   sync.Mutex
	harm []string
}

func newStory(t *rapid.T) *story {
	s := &story{t: t, table: &memoryTable{}, readings: map[time.Time]string{}}
	s.World = sourceworld.New(t, kubeConfig, sourceworld.Options{
		Rows:  map[mapping.Provider]port.Rows{mapping.Postgres: s.table},
		Funcs: interceptor.Funcs{Apply: s.apply, Delete: s.remove},
	})
	s.table.began = s.readBegins
	s.table.slow = func() { s.Clock.Step(90 * time.Minute) }
	for i := range storyNames {
		s.table.rows = append(s.table.rows, storyRow(i))
	}
	s.follow(t)
	s.Advance(time.Second)
	return s
}

// readBegins takes the count that the guard works with.
func (s *story) readBegins() time.Time {
	o, _ := s.Get("customers")
	s.base = s.count(s.t.Context(), o) + s.all.Within(s.Clock.Now(), storyWindow*49/48).Total()
	s.readings[s.Clock.Now()] = string(o.UID) + convert.SourceReading(o)
	return s.Clock.Now()
}

func storyRow(i int) map[string]any {
	return map[string]any{"name": name(i), "domain": name(i) + ".example.com", "enabled": true}
}

// follow makes the source. One that is made again has a budget of its own, and no approval.
func (s *story) follow(t *rapid.T) {
	s.unasked, s.all, s.approved = nil, nil, map[string]bool{}
	number, share := rapid.Int32Range(1, 3).Draw(t, "number"), rapid.SampledFrom([]int32{0, 30}).Draw(t, "share")
	s.Source("customers", mapping.Postgres, mapping.Query{SQL: mapping.SQLQuery{Query: "SELECT"}, Connection: mapping.NewSecret("memory")}, func(o *v1alpha1.TenantSource) {
		o.Spec.PollInterval = &metav1.Duration{Duration: storyInterval}
		o.Spec.DeletionPolicy = rapid.SampledFrom([]v1alpha1.SourceDeletionPolicy{"Delete", "Delete", "Disable"}).Draw(t, "policy")
		o.Spec.DeletionGuard = &v1alpha1.DeletionGuard{Grace: &metav1.Duration{}, MaxDeletes: &number, MaxDeletePercent: &share, Window: &metav1.Duration{Duration: storyWindow}}
	})
}

func (s *story) actions() map[string]func(*rapid.T) {
	weather := func(kinds ...string) func(*rapid.T) {
		return func(t *rapid.T) {
			s.table.weather = append(s.table.weather, rapid.SliceOfN(rapid.SampledFrom(kinds), 1, 4).Draw(t, "weather")...)
		}
	}
	return map[string]func(*rapid.T){
		"rows go":            s.rowsGo,
		"more rows go":       s.rowsGo,
		"rows come":          s.rowsCome,
		"a row changes":      s.rowChanges,
		"a bad row":          s.badRow,
		"all rows go":        func(*rapid.T) { s.table.rows = nil },
		"the store fails":    weather("refused", "denied", "dropped", "cut", "lost"),
		"the store is wrong": weather("empty", "empty", "name renamed", "enabled renamed"),
		"the store is slow":  weather("slow"),
		"object deleted":     s.objectDeleted,
		"object edited":      s.objectEdited,
		"label removed":      s.labelRemoved,
		"object appears":     s.objectAppears,
		"deletions finish":   func(*rapid.T) { s.Bury() },
		"plan approved":      s.planApproved,
		"wrong hash":         s.wrongHash,
		"sync now":           s.syncNow,
		"spec edited":        s.specEdited,
		"source deleted":     s.sourceDeleted,
		"operator restarts":  func(*rapid.T) { s.Restart() },
		"a moment":           func(t *rapid.T) { s.Advance(time.Duration(rapid.IntRange(1, 100).Draw(t, "seconds")) * time.Second) },
		"a poll":             func(*rapid.T) { s.Advance(storyInterval) },
		"another poll":       func(*rapid.T) { s.Advance(storyInterval) },
		"two polls":          func(*rapid.T) { s.Advance(2 * storyInterval) },
		"":                   func(*rapid.T) { s.check() },
		"a quarter of a day": func(*rapid.T) { s.Advance(storyWindow) },
	}
}

func (s *story) draw(t *rapid.T) int { return rapid.IntRange(0, storyNames-1).Draw(t, "customer") }

// without drops the rows of a name, and returns whether there was one.
func (s *story) without(name string) bool {
	before := len(s.table.rows)
	s.table.rows = slices.DeleteFunc(slices.Clone(s.table.rows), func(r map[string]any) bool { return r["name"] == name })
	return len(s.table.rows) < before
}

func (s *story) rowsGo(t *rapid.T) {
	for range rapid.IntRange(1, 3).Draw(t, "rows") {
		s.without(name(s.draw(t)))
	}
}

func (s *story) rowsCome(t *rapid.T) {
	for range rapid.IntRange(1, 4).Draw(t, "rows") {
		i := s.draw(t)
		s.without(name(i))
		s.table.rows = append(s.table.rows, storyRow(i))
	}
}

func (s *story) rowChanges(t *rapid.T) {
	i := s.draw(t)
	if !s.without(name(i)) {
		t.Skip("there is no such row")
	}
	row := storyRow(i)
	row["enabled"] = rapid.SampledFrom([]any{false, nil}).Draw(t, "enabled")
	row["domain"] = name(s.draw(t)) + rapid.SampledFrom([]string{".example.com", ".example.net"}).Draw(t, "domain")
	s.table.rows = append(s.table.rows, row)
}

func (s *story) badRow(t *rapid.T) {
	row := storyRow(s.draw(t))
	switch rapid.SampledFrom([]string{"nameless", "illegal", "domain", "twin"}).Draw(t, "wrong") {
	case "nameless":
		row["name"] = nil
	case "illegal":
		row["name"] = ""
	case "domain":
		s.without(row["name"].(string))
		row["domain"] = "_"
	}
	s.table.rows = append(s.table.rows, row)
}

// object picks an object.
func (s *story) object(t *rapid.T) *v1alpha1.DistributionTenant {
	all := s.AllTenants()
	if len(all) == 0 {
		t.Skip("there are no objects")
	}
	return &all[rapid.IntRange(0, len(all)-1).Draw(t, "object")]
}

// byHand changes an object as a user would.
func (s *story) byHand(o *v1alpha1.DistributionTenant, change func()) {
	base := o.DeepCopy()
	change()
	if err := s.Kube.Patch(s.t.Context(), o, client.MergeFrom(base)); err != nil {
		s.t.Fatalf("changing %s: %v", o.Name, err)
	}
}

func (s *story) objectDeleted(t *rapid.T) {
	if err := s.Kube.Delete(t.Context(), s.object(t)); err != nil {
		t.Fatal(err)
	}
}

func (s *story) objectEdited(t *rapid.T) {
	o := s.object(t)
	s.byHand(o, func() {
		no := false
		o.Spec.Enabled = &no
		o.Spec.Tags = []v1alpha1.Tag{{Key: "by", Value: "hand"}}
	})
}

func (s *story) labelRemoved(t *rapid.T) {
	o := s.object(t)
	label := rapid.SampledFrom([]string{v1alpha1.LabelSource, v1alpha1.LabelSourceNamespace, v1alpha1.LabelSourceUID}).Draw(t, "label")
	s.byHand(o, func() { delete(o.Labels, label) })
}

func (s *story) objectAppears(t *rapid.T) {
	o := &v1alpha1.DistributionTenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name(s.draw(t))},
		Spec:       v1alpha1.DistributionTenantSpec{DistributionID: sourceworld.DistributionID, Domains: []v1alpha1.TenantDomain{{Domain: "theirs.example.org"}}},
	}
	if err := s.Kube.Create(t.Context(), o); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// source is the source, and whether it is there.
func (s *story) source(t *rapid.T) *v1alpha1.TenantSource {
	o, found := s.Get("customers")
	if !found {
		t.Skip("there is no source")
	}
	return o
}

func (s *story) planApproved(t *rapid.T) {
	if s.source(t).Status.HeldDeletions == nil {
		t.Skip("nothing is held")
	}
	s.approve()
	s.Advance(time.Second)
}

// approve approves the plan that status shows, as a user who has read it.
func (s *story) approve() {
	o, _ := s.Get("customers")
	for _, tenant := range s.AllTenants() {
		if slices.Contains(o.Status.HeldDeletions.Names, tenant.Name) {
			s.approved[string(tenant.UID)] = true
		}
	}
	s.Annotate("customers", v1alpha1.AnnotationApproveDeletions, o.Status.HeldDeletions.PlanHash)
}

func (s *story) wrongHash(t *rapid.T) {
	s.source(t)
	s.Annotate("customers", v1alpha1.AnnotationApproveDeletions, rapid.StringMatching(`[0-9a-f]{16}`).Draw(t, "hash"))
}

func (s *story) syncNow(t *rapid.T) {
	s.source(t)
	s.token++
	s.Annotate("customers", v1alpha1.AnnotationSyncNow, fmt.Sprint(s.token))
	s.Advance(time.Second)
}

func (s *story) specEdited(t *rapid.T) {
	s.source(t)
	s.Edit("customers", func(o *v1alpha1.TenantSource) {
		switch rapid.SampledFrom([]string{"suspend", "resume", "resume", "dry run", "wet run", "wet run", "policy", "guard", "template"}).Draw(t, "edit") {
		case "suspend":
			o.Spec.Suspend = true
		case "resume":
			o.Spec.Suspend = false
		case "dry run":
			o.Spec.DryRun = true
		case "wet run":
			o.Spec.DryRun = false
		case "policy":
			o.Spec.DeletionPolicy = rapid.SampledFrom([]v1alpha1.SourceDeletionPolicy{"Delete", "Disable", "Retain"}).Draw(t, "policy")
		case "guard":
			number := rapid.Int32Range(0, 3).Draw(t, "number")
			o.Spec.DeletionGuard.MaxDeletes = &number
		case "template":
			o.Spec.Template = &v1alpha1.TenantTemplate{Spec: &v1alpha1.TemplateSpec{
				Tags: []v1alpha1.Tag{{Key: "tier", Value: rapid.SampledFrom([]string{"gold", "silver"}).Draw(t, "tier")}},
			}}
		}
	})
}

func (s *story) sourceDeleted(t *rapid.T) {
	if _, found := s.Get("customers"); !found {
		s.follow(t)
		return
	}
	if rapid.IntRange(0, 2).Draw(t, "really") > 0 {
		t.Skip("not this time")
	}
	s.Delete("customers")
	s.Advance(time.Second)
}

// apply is the operator's.
func (s *story) apply(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var want v1alpha1.DistributionTenant
	text, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(text, &want)
	}
	before := s.live(ctx, want.Name)
	if err != nil || before == nil {
		return c.Apply(ctx, o, opts...)
	}
	owner := (&client.ApplyOptions{}).ApplyOptions(opts).FieldManager
	if strings.HasPrefix(owner, "tenantsource-disable/") && want.Annotations[v1alpha1.AnnotationSourceDisabled] != "" {
		s.judge(ctx, "disabled", before)
	}
	err = c.Apply(ctx, o, opts...)
	theirs := before.Labels[v1alpha1.LabelSource] == "" || before.Labels[v1alpha1.LabelSourceNamespace] == "" || before.Labels[v1alpha1.LabelSourceUID] == ""
	after := s.live(ctx, want.Name)
	if theirs && (after == nil || after.ResourceVersion != before.ResourceVersion) {
		s.blame("%s belongs to someone else (%v), and was changed", want.Name, before.Labels)
	}
	var src v1alpha1.TenantSource
	harmed := err == nil && after != nil && strings.HasPrefix(owner, "tenantsource/") && takenFrom(before, after)
	if harmed && s.Kube.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: "customers"}, &src) == nil {
		s.spend(ctx, &src, "harmed", before)
	}
	return err
}

// remove is the operator's.
func (s *story) remove(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.live(ctx, o.GetName()); before != nil {
		s.judge(ctx, "deleted", before)
	}
	return c.Delete(ctx, o, opts...)
}

func (s *story) live(ctx context.Context, name string) *v1alpha1.DistributionTenant {
	o := &v1alpha1.DistributionTenant{}
	if err := s.Kube.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: name}, o); err != nil {
		return nil
	}
	return o
}

// blame remembers what must not have happened. It is reported when the pass is over: a test may not end in another
// goroutine.
func (s *story) blame(format string, args ...any) {
	s.harm = append(s.harm, s.Clock.Now().Format(time.DateTime)+": "+fmt.Sprintf(format, args...))
}

// judge is shown each removal before it is made.
func (s *story) judge(ctx context.Context, verb string, o *v1alpha1.DistributionTenant) {
	var src v1alpha1.TenantSource
	if err := s.Kube.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: "customers"}, &src); err != nil {
		s.blame("%s was %s by a source that is gone: %v", o.Name, verb, err)
		return
	}
	for key, value := range convert.SourceLabels(&src) {
		if o.Labels[key] != value {
			s.blame("%s was %s with the label %s=%q, want %q", o.Name, verb, key, o.Labels[key], value)
		}
	}
	if src.Spec.Suspend || src.Spec.DryRun || src.Spec.DeletionPolicy == v1alpha1.SourceDeletionPolicyRetain {
		s.blame("%s was %s by a source that must not: %+v", o.Name, verb, src.Spec)
	}
	if src.DeletionTimestamp.IsZero() {
		s.judgeReads(verb, o.Name, s.approved[string(o.UID)])
	}
	s.spend(ctx, &src, verb, o)
}

// takenFrom reports whether the tenant was disabled, or has lost a domain.
func takenFrom(before, after *v1alpha1.DistributionTenant) bool {
	return *before.Spec.Enabled && !*after.Spec.Enabled ||
		slices.ContainsFunc(before.Spec.Domains, func(d v1alpha1.TenantDomain) bool { return !slices.Contains(after.Spec.Domains, d) })
}

// spend holds a removal, or a change that takes something away, against the budget.
func (s *story) spend(ctx context.Context, src *v1alpha1.TenantSource, verb string, o *v1alpha1.DistributionTenant) {
	asked, now := s.approved[string(o.UID)], s.Clock.Now()
	base := max(s.base, s.count(ctx, src)+s.all.Within(now, storyWindow*49/48).Total())
	s.all = append(s.all, tenantsource.Deletions{Time: now, Count: 1})
	if asked {
		return
	}
	s.unasked = append(s.unasked, tenantsource.Deletions{Time: now, Count: 1})
	guard := src.Spec.DeletionGuard
	budget := max(int(*guard.MaxDeletes), base*int(*guard.MaxDeletePercent)/100)
	// Times are stored in seconds.
	if n := s.unasked.Within(now, storyWindow-time.Second).Total(); n > budget {
		s.blame("%s was %s, and is the %dth in %s; the budget is %d", o.Name, verb, n, storyWindow, budget)
	}
}

// judgeReads holds a removal against the reads that it follows from.
func (s *story) judgeReads(verb, name string, asked bool) {
	var missing []time.Time
	last := s.table.reads[len(s.table.reads)-1]
	for _, read := range slices.Backward(s.table.reads) {
		if s.readings[read.at] != s.readings[last.at] || read.names[name] {
			break
		}
		if read.named && read.complete {
			missing = append(missing, read.at)
		}
	}
	switch {
	case !last.named:
		s.blame("%s was %s after a read with rows without names", name, verb)
	case len(missing) < 2 || missing[0].Sub(missing[len(missing)-1]) < storyInterval:
		s.blame("%s was %s, and was missing in these reads only: %v", name, verb, missing)
	case last.rows == 0 && !asked:
		s.blame("%s was %s because the table was empty", name, verb)
	}
}

// count is how many objects the source has, as the guard counts them.
func (s *story) count(ctx context.Context, src *v1alpha1.TenantSource) int {
	var list v1alpha1.DistributionTenantList
	if err := s.Kube.List(ctx, &list, client.InNamespace(s.Namespace), client.MatchingLabels(convert.SourceLabels(src))); err != nil {
		s.blame("counting: %v", err)
	}
	n := 0
	for _, o := range list.Items {
		disabled := src.Spec.DeletionPolicy == v1alpha1.SourceDeletionPolicyDisable && o.Annotations[v1alpha1.AnnotationSourceDisabled] != ""
		if o.DeletionTimestamp.IsZero() && !disabled {
			n++
		}
	}
	return n
}

// check says what was done that must not be.
func (s *story) check() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.harm) > 0 {
		s.t.Fatalf("%s\n%s", strings.Join(s.harm, "\n"), s.Describe("customers"))
	}
}

// end is the last act: the noise stops, and a user approves what is held.
func (s *story) end() {
	s.check()
	s.calm()
	// Two reads confirm what is gone, and one is needed for what was in the way of a row.
	s.Advance(3 * storyInterval)
	s.Bury()
	for o, _ := s.Get("customers"); o.Status.HeldDeletions != nil; o, _ = s.Get("customers") {
		s.approve()
		s.Advance(3 * storyInterval)
		s.Bury()
	}
	s.Advance(storyInterval)
	s.check()
	s.checkConverged()
	before := s.Writes()
	s.Advance(2 * storyInterval)
	before.SourceStatus += 2
	if diff := cmp.Diff(before, s.Writes()); diff != "" {
		s.t.Fatalf("two polls of a quiet world write more than one status each (-want +got):\n%s", diff)
	}
}

// calm fixes the table and the source.
func (s *story) calm() {
	s.table.weather = nil
	rows := s.table.rows
	s.table.rows = nil
	for i := range storyNames {
		if slices.ContainsFunc(rows, func(r map[string]any) bool { return r["name"] == name(i) }) {
			s.table.rows = append(s.table.rows, storyRow(i))
		}
	}
	s.Bury()
	if o, found := s.Get("customers"); found && !o.DeletionTimestamp.IsZero() {
		s.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.DeletionPolicy = v1alpha1.SourceDeletionPolicyRetain })
		s.Advance(time.Minute)
	}
	if _, found := s.Get("customers"); !found {
		s.follow(s.t)
	}
	s.Edit("customers", func(o *v1alpha1.TenantSource) {
		o.Spec.Suspend, o.Spec.DryRun, o.Spec.DeletionPolicy = false, false, v1alpha1.SourceDeletionPolicyDelete
	})
}

// checkConverged compares the objects with the rows.
func (s *story) checkConverged() {
	o, _ := s.Get("customers")
	ours := convert.SourceLabels(o)
	wanted := map[string]bool{}
	for _, row := range s.table.rows {
		wanted[fmt.Sprint(row["name"])] = true
	}
	for _, tenant := range s.AllTenants() {
		mine := true
		for key, value := range ours {
			mine = mine && tenant.Labels[key] == value
		}
		switch {
		case mine && !wanted[tenant.Name]:
			s.t.Fatalf("%s has no row, and lives\n%s", tenant.Name, s.Describe("customers"))
		case mine && (!*tenant.Spec.Enabled || tenant.Annotations[v1alpha1.AnnotationSourceDisabled] != "" || tenant.Spec.Domains[0].Domain != tenant.Name+".example.com"):
			s.t.Fatalf("%s is not as its row: %+v %v", tenant.Name, tenant.Spec, tenant.Annotations)
		}
		delete(wanted, tenant.Name)
	}
	if len(wanted) > 0 {
		s.t.Fatalf("no tenants: %v\n%s", slices.Sorted(maps.Keys(wanted)), s.Describe("customers"))
	}
	if got := s.Condition("customers", v1alpha1.ConditionReady); got != "Ready=True/PollSucceeded" && got != "Ready=False/Conflict" {
		s.t.Fatalf("in the end the source says %s\n%s", got, s.Describe("customers"))
	}
}
