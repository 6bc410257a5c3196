package crash_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

const (
	clusterID = "crash-test"
	// sweepInterval is the shortest that the operator takes.
	sweepInterval = 10 * time.Second
	// longestSweep is the longest pause between two sweeps, and some time to work.
	longestSweep = sweepInterval*11/10 + time.Second
	// deployDelay is long enough to be seen InProgress, and over before the first look.
	deployDelay = time.Second
	// syncDelay and issueDelay are long enough for a moment before and after, and no longer.
	syncDelay, issueDelay = time.Second, time.Second
	// gracePeriod is how long the operator holds an object back after a create mark.
	gracePeriod = 2 * time.Minute
)

var silent = log.New(io.Discard, "", 0)

// options say how a stage differs from the usual one.
type options struct {
	binary   string
	replicas int
	flags    []string
	switches func(*sim.Switches)
	// patience is how long the operator may take to finish after the last fault.
	patience time.Duration
	// elect lets one of the replicas be active.
	elect bool
	// settle is how long a world needs after its end, because AWS's reads lag.
	settle time.Duration
	// metrics lets each replica serve metrics.
	metrics bool
	// late is how long after the client gave up a late call is carried out.
	late time.Duration
	// quiet is how long a settled world is watched beyond one sweep.
	quiet time.Duration
	// dice are the case's own.
	dice *rand.Rand
}

// stage is the world of one case: a namespace, an AWS account, and operators whose every
// call goes through the gate. Nothing of it is shared with another case.
type stage struct {
	ctx       context.Context //nolint:containedctx // it is the case's, and every helper's
	cancel    context.CancelFunc
	options   options
	rig       *rig
	lifecycle *lifecycle
	dir       string
	namespace string
	sim       *sim.Sim
	gate      *gate
	processes *process.Group
	replicas  []*replica

	// thawed is closed when frozen processes continue.
	thawed chan struct{}

	mu         sync.Mutex
	violations []violation
	frozen     []*proc
	// former are the processes that led, and were frozen for longer than the lease lasts.
	former map[string]bool
	// frozenAt is when the last one was frozen.
	frozenAt   time.Time
	terminated []*proc
	storming   bool
	timers     []*time.Timer
	// uids are those of the objects that this case has had.
	uids map[types.UID]string
	// orphans are the UIDs of objects whose finalizer a user has removed.
	orphans map[types.UID]bool
	theirs  map[string]sim.TenantState
	// ours are the tenants that were written to while they were ours.
	ours map[string]bool
	// removed counts the tenants that people have deleted.
	removed int
	// claimed is the generation at which an object last said that all was done.
	claimed map[types.UID]int64
	// approved means that a user has approved the deletions that wait.
	approved bool
	// wiped means that a user has removed the status.
	wiped bool
	// foreign are the records of others, by zone; nil for a zone that a user has deleted.
	foreign map[string][]sim.RecordState

	// seeded are the certificates that were there from the start.
	seeded  map[string]bool
	routing routingWatch
	// handing is the domain that is handed over.
	handing handing
	// theirParents are the distributions and groups that were there from the start.
	theirParents map[string]parentResource
	// elsewhere is a DNS provider other than Route 53, nil where the lifecycle has none.
	elsewhere *elsewhere
	// source is the table that tenants follow, nil where there is none.
	source *sourced
	// settled are the resources of which a process read last that they are disabled and deployed.
	settled map[string]bool
}

// violation is an oracle's objection.
type violation struct {
	Oracle string `json:"oracle"`
	Text   string `json:"text"`
}

// aborted ends a case that can't continue.
type aborted struct{}

func newStage(ctx context.Context, rig *rig, dir string, l *lifecycle, o options) (*stage, error) {
	s := &stage{
		options: o, rig: rig, dir: dir, processes: process.NewGroup(nil), thawed: make(chan struct{}),
		uids: map[types.UID]string{}, orphans: map[types.UID]bool{}, theirs: map[string]sim.TenantState{}, ours: map[string]bool{}, former: map[string]bool{}, claimed: map[types.UID]int64{}, lifecycle: l,
		theirParents: map[string]parentResource{}, settled: map[string]bool{},
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "crash-"}}
	if err := rig.kube.Create(ctx, ns); err != nil {
		return nil, fmt.Errorf("creating a namespace: %w", err)
	}
	s.namespace = ns.Name
	seed := newSeed()
	if l.seed != nil {
		l.seed(&seed)
	}
	switches := sim.DefaultSwitches()
	switches.CertificateIssueDelay, switches.Route53SyncDelay = issueDelay, syncDelay
	if o.switches != nil {
		o.switches(&switches)
	}
	clock := &seedClock{}
	clock.behind.Store(true)
	s.sim = sim.New(sim.Options{Seed: &seed, Switches: &switches, DeployDelay: deployDelay, Clock: clock, Watch: s.watch})
	clock.behind.Store(false)
	if l.provider != nil {
		var err error
		if s.elsewhere, err = newElsewhere(s); err != nil {
			return nil, err
		}
	}
	s.foreign, s.seeded = s.zoneRecords(), map[string]bool{}
	for _, c := range seed.Certificates {
		s.seeded[c.ARN] = true
	}
	s.routing.theirs = s.sim.PublicRouting()
	if s.elsewhere != nil {
		go s.elsewhere.poll()
	}
	for _, t := range s.sim.Tenants("") {
		s.theirs[t.ID] = t
	}
	for _, r := range s.parentResources() {
		s.theirParents[r.ID] = r
	}
	s.gate = newGate(s.sim, s.ownClaims(rig.kubeProxy))
	if s.elsewhere != nil {
		s.gate.next[dnsSide], s.gate.provider = s.elsewhere, l.provider
	}
	s.gate.strike, s.gate.before, s.gate.arrived = s.strike, s.checkWrite, s.checkSent
	s.gate.answered = s.checkAnswer
	rig.views.attach(s)
	for n := range max(o.replicas, 1) {
		r, err := s.newReplica(n)
		if err != nil {
			return nil, err
		}
		s.replicas = append(s.replicas, r)
	}
	return s, nil
}

// watch is shown the world before and after each change in AWS.
func (s *stage) watch(v sim.View) {
	s.watchRouting(v)
	s.checkTaken(v)
}

// seedClock makes what is there from the start old enough for no lag to hide it.
type seedClock struct{ behind atomic.Bool }

// Now implements sim.Clock.
func (c *seedClock) Now() time.Time {
	if c.behind.Load() {
		return time.Now().Add(-time.Hour)
	}
	return time.Now()
}

// newSeed is what a platform prepares, and tenants of other people: nothing may ever
// happen to them.
func newSeed() sim.Seed {
	seed := sim.DefaultSeed()
	parameters := []sim.SeedParameter{{Name: "tier", Default: "basic"}, {Name: "origin", Default: "app"}}
	seed.Certificates = append(seed.Certificates, sim.SeedCertificate{ARN: otherCertificate, Names: []string{"*.example.com", "*.example.net"}})
	seed.Distributions = []sim.SeedDistribution{
		{ID: distribution, CertificateARN: sim.DefaultCertificateARN, Parameters: parameters},
		{ID: otherDistribution, CertificateARN: sim.DefaultCertificateARN, Parameters: parameters},
	}
	seed.Tenants = []sim.SeedTenant{
		{Name: "theirs", DistributionID: distribution, Domains: []string{"theirs.example.com"}, Tags: map[string]string{
			"cloudfront-tenant-operator.io/cluster": "another", "cloudfront-tenant-operator.io/namespace": "shop",
			"cloudfront-tenant-operator.io/name": "theirs", "cloudfront-tenant-operator.io/uid": "00000000-0000-4000-8000-00000000000a",
		}},
		{Name: "tagged", DistributionID: distribution, Domains: []string{"tagged.example.com"}, Tags: map[string]string{"team": "other"}},
		{Name: "bare", DistributionID: distribution, Domains: []string{"bare.example.com"}},
	}
	return seed
}

const (
	distribution      = "E2EXAMPLE1"
	otherDistribution = "E2EXAMPLE2"
	otherCertificate  = "arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-4000-8000-000000000002"
)

// start starts the replicas and waits until one has listed the account.
func (s *stage) start() {
	for _, r := range s.replicas {
		go r.run()
	}
	s.await("the operator to list the account", func() bool { return s.sim.Calls()["ListDistributionTenants"].Total > 0 })
}

// close ends everything that the case has started.
func (s *stage) close() {
	s.thaw()
	s.gate.disarm()
	s.mu.Lock()
	for _, t := range s.timers {
		t.Stop()
	}
	s.mu.Unlock()
	for _, r := range s.replicas {
		r.stop()
	}
	s.rig.views.detach(s)
	if err := s.processes.Stop(); err != nil {
		s.violate("harness", "%v", err)
	}
	if s.elsewhere != nil {
		if err := s.elsewhere.close(); err != nil {
			s.violate("harness", "%v", err)
		}
	}
	s.cancel()
	s.clean()
}

// clean removes the objects, so that the campaign's own cache stays small.
func (s *stage) clean() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s.leaveTable(ctx)
	s.forgetClaims(ctx)
	for _, list := range objectLists() {
		if err := s.rig.kube.List(ctx, list, client.InNamespace(s.namespace)); err != nil {
			return
		}
		for _, o := range items(list) {
			base := copyOf(o)
			o.SetFinalizers(nil)
			_ = s.rig.kube.Patch(ctx, o, client.MergeFrom(base))
			_ = s.rig.kube.Delete(ctx, o)
		}
	}
}

// objectLists are empty lists of the kinds that the operator works on.
func objectLists() []client.ObjectList {
	return []client.ObjectList{&v1alpha1.DistributionTenantList{}, &v1alpha1.DistributionList{}, &v1alpha1.ConnectionGroupList{}, &v1alpha1.InvalidationList{}}
}

// items are the objects of a list.
func items(list client.ObjectList) (out []client.Object) {
	switch list := list.(type) {
	case *v1alpha1.DistributionTenantList:
		for n := range list.Items {
			out = append(out, &list.Items[n])
		}
	case *v1alpha1.DistributionList:
		for n := range list.Items {
			out = append(out, &list.Items[n])
		}
	case *v1alpha1.ConnectionGroupList:
		for n := range list.Items {
			out = append(out, &list.Items[n])
		}
	case *v1alpha1.InvalidationList:
		for n := range list.Items {
			out = append(out, &list.Items[n])
		}
	}
	return out
}

func copyOf(o client.Object) client.Object { return o.DeepCopyObject().(client.Object) }

func (s *stage) violate(oracle, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.violations = append(s.violations, violation{oracle, fmt.Sprintf(format, args...)})
}

func (s *stage) objections() []violation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.violations)
}

func (s *stage) fatal(oracle, format string, args ...any) {
	s.violate(oracle, format, args...)
	panic(aborted{})
}

// await waits until something is so; that it never is, is a failure of liveness.
func (s *stage) await(what string, until func() bool) {
	s.awaitWithin(s.options.patience, what, until)
}

func (s *stage) awaitWithin(d time.Duration, what string, until func() bool) {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.NewTimer(d)
	defer deadline.Stop()
	for !until() {
		select {
		case <-ticker.C:
		case <-s.ctx.Done():
			s.fatal("harness", "waiting for %s: %v", what, context.Cause(s.ctx))
		case <-deadline.C:
			s.fatal(oracleLiveness, "%s: not within %s\n%s", what, d, s.describe())
		}
	}
}

// pause lets time pass.
func (s *stage) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.ctx.Done():
	}
}

func (s *stage) later(d time.Duration, do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timers = append(s.timers, time.AfterFunc(d, do))
}

func (s *stage) setFrozen(p *proc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frozen, s.frozenAt = append(s.frozen, p), time.Now()
}

// leaseTime is how long a lease lasts that is not renewed.
const leaseTime = 15 * time.Second

// thaw wakes what is frozen, once another replica can lead.
func (s *stage) thaw() {
	s.mu.Lock()
	frozen, since := s.frozen, s.frozenAt
	s.frozen = nil
	s.mu.Unlock()
	if len(frozen) > 0 {
		s.pause(time.Until(since.Add(leaseTime + time.Second)))
	}
	for _, p := range frozen {
		s.gate.note("%s is woken", p.name)
		// A process that gives up its lease exits on its own, and should.
		p.mu.Lock()
		p.expected = true
		p.mu.Unlock()
		s.mu.Lock()
		s.former[p.name] = true
		s.mu.Unlock()
		p.signal(syscall.SIGCONT)
	}
	select {
	case <-s.thawed:
	default:
		close(s.thawed)
	}
}

func (s *stage) asked(p *proc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.terminated = append(s.terminated, p)
}

func (s *stage) setStormy(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.storming = on
}

func (s *stage) removals() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.removed
}

func (s *stage) stormy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.storming
}

// The actions of users.

// create makes an object.
func (s *stage) create(name string, change ...func(*v1alpha1.DistributionTenant)) {
	o := &v1alpha1.DistributionTenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: v1alpha1.DistributionTenantSpec{
			DistributionID: distribution, Domains: []v1alpha1.TenantDomain{{Domain: name + ".example.com"}},
		},
	}
	for _, c := range change {
		c(o)
	}
	s.add(o)
}

func (s *stage) add(o client.Object) {
	s.must("creating "+o.GetName(), s.rig.kube.Create(s.ctx, o))
	s.mu.Lock()
	s.uids[o.GetUID()] = o.GetName()
	s.mu.Unlock()
	s.gate.note("a person creates %s", o.GetName())
}

// edit changes an object as it is now.
func (s *stage) edit(name string, change func(*v1alpha1.DistributionTenant)) {
	o, found := s.get(name)
	if !found {
		s.fatal("harness", "%s is not there to be edited", name)
	}
	base := o.DeepCopy()
	change(o)
	s.gate.note("a person edits %s", name)
	s.must("editing "+name, s.rig.kube.Patch(s.ctx, o, client.MergeFrom(base)))
}

func (s *stage) remove(name string) {
	s.gate.note("a person deletes %s", name)
	s.mu.Lock()
	s.removed++
	s.mu.Unlock()
	o := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
	s.must("deleting "+name, s.rig.kube.Delete(s.ctx, o))
}

// orphan takes the finalizer off and deletes the object, past the operator.
func (s *stage) orphan(name string) {
	o, found := s.get(name)
	if !found {
		s.fatal("harness", "%s is not there to lose its finalizer", name)
	}
	s.mu.Lock()
	s.orphans[o.UID] = true
	s.mu.Unlock()
	s.edit(name, func(o *v1alpha1.DistributionTenant) { o.Finalizers = nil })
	s.remove(name)
}

// wipe takes all status away, as a restore from a backup does.
func (s *stage) wipe() {
	s.mu.Lock()
	s.wiped = true
	s.mu.Unlock()
	s.each("wipes the status of", func(o client.Object) error {
		patch := client.RawPatch(types.JSONPatchType, []byte(`[{"op":"add","path":"/status","value":{}}]`))
		return s.rig.kube.Status().Patch(s.ctx, o, patch)
	})
}

// touchAll changes a label of each object, so that its version moves.
func (s *stage) touchAll() {
	s.each("labels", func(o client.Object) error {
		base := copyOf(o)
		labels := map[string]string{"touched": fmt.Sprint(time.Now().UnixNano())}
		for key, value := range o.GetLabels() {
			if key != "touched" {
				labels[key] = value
			}
		}
		o.SetLabels(labels)
		return s.rig.kube.Patch(s.ctx, o, client.MergeFrom(base))
	})
}

func (s *stage) each(doing string, do func(o client.Object) error) {
	list := s.all()
	for _, o := range s.domainClaims() {
		list = append(list, &o)
	}
	for _, o := range list {
		s.gate.note("a person %s %s", doing, o.GetName())
		if err := client.IgnoreNotFound(do(o)); err != nil {
			s.violate("harness", "a person %s %s: %v", doing, o.GetName(), err)
		}
	}
}

// cloud and zones are an administrator's clients for AWS, past the gate.
func (s *stage) cloud() *cloudfront.Client { return cloudfront.NewFromConfig(s.administrator()) }

func (s *stage) zones() *route53.Client { return route53.NewFromConfig(s.administrator()) }

func (s *stage) administrator() awssdk.Config {
	return awssdk.Config{
		Region: "us-east-1", BaseEndpoint: awssdk.String("http://aws.test"),
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		HTTPClient:  &http.Client{Transport: s.sim.Transport()},
	}
}

func (s *stage) must(doing string, err error) {
	if err != nil {
		s.fatal("harness", "%s: %v", doing, err)
	}
}

// The observations.

// get reads an object past every cache.
func (s *stage) get(name string) (*v1alpha1.DistributionTenant, bool) {
	o := &v1alpha1.DistributionTenant{}
	err := s.rig.kube.Get(s.ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, o)
	if client.IgnoreNotFound(err) != nil {
		s.fatal("harness", "reading %s: %v", name, err)
	}
	return o, err == nil
}

// all are the objects of all kinds.
func (s *stage) all() (out []client.Object) {
	for _, list := range objectLists() {
		s.must("listing the objects", s.rig.kube.List(s.ctx, list, client.InNamespace(s.namespace)))
		out = append(out, items(list)...)
	}
	return out
}

func (s *stage) objects() []v1alpha1.DistributionTenant {
	var list v1alpha1.DistributionTenantList
	s.must("listing the objects", s.rig.kube.List(s.ctx, &list, client.InNamespace(s.namespace)))
	return list.Items
}

// tenant is what AWS has under a name.
func (s *stage) tenant(name string) (sim.TenantState, bool) {
	t, found := s.sim.Tenant("", name)
	return t, found && t.Name == name
}

// describe says where everything stands.
func (s *stage) describe() string {
	text := ""
	for _, o := range s.rig.views.of(s.namespace) {
		text += fmt.Sprintf("  object %s generation %d deleted %t finalizers %v annotations %v\n    status %s\n",
			o.Name, o.Generation, !o.DeletionTimestamp.IsZero(), o.Finalizers, o.Annotations, brief(o.Status))
	}
	text += s.describeParents()
	for _, o := range s.invalidations() {
		text += fmt.Sprintf("  invalidation %s %v\n    tenants %+v\n", o.Name, conditionTexts(o.Status.Conditions), o.Status.Tenants)
	}
	for _, t := range s.sim.Tenants("") {
		if _, theirs := s.theirs[t.ID]; !theirs {
			text += fmt.Sprintf("  tenant %s %s enabled %t %s domains %v tags %v\n", t.Name, t.ID, t.Enabled, t.Status, t.Domains, t.Tags)
		}
	}
	return text
}

// logs returns what the operators printed.
func (s *stage) logs() map[string]string {
	out := map[string]string{}
	files, _ := filepath.Glob(filepath.Join(s.dir, "*.log"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil {
			out[filepath.Base(file)] = string(text)
		}
	}
	return out
}
