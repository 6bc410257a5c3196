package crash_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

var (
	soakFor = flag.Duration("crash.soak", 0, "for how long TestSoak lets faults strike one world; 0 skips it")
	actives = flag.Int("crash.actives", 1, "how many operators TestSoak runs, all of them active")
)

// A round of the soak is some noise, and then calm until all is settled and was looked at.
const (
	soakNoise    = 45 * time.Second
	soakPatience = 6 * time.Minute
	soakTenants  = 12
	soakRows     = 6
	// soakJournal is how many calls are kept, to tell of what went before a violation.
	soakJournal = 20_000
	// mature is the age from which an object may be deleted without a wait for its create mark.
	mature = gracePeriod + 10*time.Second
)

// soak is a world that lives for long: people change all kinds of objects at random while calls fail, watches end, and
// processes are killed. The oracles of the campaign look at each write, each answer and each status, and at all of it in
// each calm.
type soak struct {
	*stage
	dice *rand.Rand
	born map[string]time.Time
	// operations counts what people did, kills the processes that were ended, rounds those that are over.
	operations, kills, rounds int
	invalidated               int
	samples                   []sample
}

// TestSoak runs for as long as -crash.soak says. In the first quarter processes are killed, too; after that they have to
// last, and what they use must not grow.
func TestSoak(t *testing.T) {
	if *soakFor == 0 {
		t.Skip("-crash.soak is not set")
	}
	dir := filepath.Join(theRig.dir, "soak")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	life := &lifecycle{name: "soak", parents: true, sourced: true, flags: []string{
		"--deletion-budget=false", "--zap-log-level=info", "--metrics-secure=false", "--tenantsource-allow-dial=127.0.0.0/8",
	}}
	if *actives == 1 {
		// Records have no tags: without an election only one operator may publish.
		life.dns, life.seed = &dnsLifecycle{}, withZones
	}
	o := options{binary: operatorBinary(), patience: soakPatience, replicas: *actives, metrics: true, dice: rand.New(rand.NewPCG(*seed, 1))}
	st, err := newStage(t.Context(), theRig, dir, life, o)
	if err != nil {
		t.Fatal(err)
	}
	st.gate.keeps = soakJournal
	s := &soak{stage: st, dice: o.dice, born: map[string]time.Time{}}
	s.play(*soakFor)
	s.close()
	fmt.Fprint(os.Stdout, s.summary())
	for _, objection := range slices.Concat(s.objections(), growth(s.samples)) {
		t.Errorf("%s: %s", objection.Oracle, objection.Text)
	}
	if t.Failed() {
		journal := s.gate.text()
		t.Logf("the last calls:\n%s", journal[max(0, len(journal)-20_000):])
		if *report != "" {
			if err := os.WriteFile(*report, []byte(journal), 0o644); err != nil {
				t.Error(err)
			}
		}
	}
}

func (s *soak) play(d time.Duration) {
	defer func() {
		if p := recover(); p != nil {
			if _, ours := p.(aborted); !ours {
				panic(p)
			}
		}
	}()
	s.start()
	s.followTable(nil, func(o *v1alpha1.TenantSource) {
		o.Spec.DeletionGuard = &v1alpha1.DeletionGuard{Grace: &metav1.Duration{}, MaxDeletes: awssdk.Int32(1_000_000)} // rows are removed on purpose
	})
	s.gate.arm(nil)
	for began := time.Now(); time.Since(began) < d && len(s.objections()) == 0; s.rounds++ {
		s.noise(time.Since(began) < d/4)
		s.calm()
		if time.Since(began) >= d/4 {
			s.sample(time.Since(began))
		}
	}
}

// noise lets people and faults do what they do. Deadly noise kills processes, too.
func (s *soak) noise(deadly bool) {
	s.setStormy(true)
	s.gate.setChaos(soakStorm(rand.New(rand.NewPCG(*seed, uint64(s.rounds)))))
	watchesDrop(s.stage)
	for end := time.Now().Add(soakNoise); time.Now().Before(end); s.pause(time.Duration(s.dice.IntN(1000)) * time.Millisecond) {
		s.act()
		switch s.dice.IntN(40) {
		case 0:
			s.away(kubeSide)
		case 1:
			s.away(awsSide)
		case 2, 3, 4:
			if deadly {
				s.endOne()
			}
		}
	}
}

// soakStorm lets calls fail on both sides, more of those to AWS.
func soakStorm(r *rand.Rand) func(call) string {
	aws := dice(r, 12, awsSide, []string{"error-before", "error-committed", "throttle", "stale-etag", "reset-before", "reset-committed", "truncated", "hang-before"})
	kube := dice(r, 40, kubeSide, []string{"conflict", "busy", "kube-error", "kube-lost", "reset-before", "reset-committed"})
	return func(c call) string {
		if name := aws(c); name != "" {
			return name
		}
		return kube(c)
	}
}

// endOne kills a process, or asks it to end.
func (s *soak) endOne() {
	r := s.replicas[s.dice.IntN(len(s.replicas))]
	p := r.running()
	if p == nil || p.isDead() || p.isAsked() {
		return
	}
	s.kills++
	if s.dice.IntN(4) == 0 {
		p.terminate()
		return
	}
	r.kill(p, nil)
}

// act is one action of a user.
func (s *soak) act() {
	s.operations++
	name := fmt.Sprintf("soak-%02d", s.dice.IntN(soakTenants))
	o, there := s.get(name)
	switch n := s.dice.IntN(20); {
	case n < 3:
		s.actOnParent([]*parentKind{distributions, groups}[s.dice.IntN(2)])
	case n == 3:
		s.askForInvalidation(name, there)
	case n == 4:
		s.changeRow(fmt.Sprintf("row-%d", s.dice.IntN(soakRows)))
	case !there:
		s.born[name] = time.Now()
		s.create(name, s.change)
	case !o.DeletionTimestamp.IsZero():
		s.operations-- // it is on its way out
	case n < 9 && time.Since(s.born[name]) > mature:
		s.remove(name)
	case n == 9:
		s.edit(name, func(o *tenantObject) {
			metav1.SetMetaDataAnnotation(&o.ObjectMeta, v1alpha1.AnnotationPaused, v1alpha1.PausedTrue)
		})
	case n == 10:
		s.edit(name, unpause)
	default:
		s.edit(name, s.change)
	}
}

func unpause(o *tenantObject) { delete(o.Annotations, v1alpha1.AnnotationPaused) }

// change draws another spec.
func (s *soak) change(o *tenantObject) {
	domains := []string{o.Name + ".example.com"}
	for n := range s.dice.IntN(3) {
		domains = append(domains, fmt.Sprintf("%s-%d.example.com", o.Name, n))
	}
	setDomains(o, domains...)
	o.Spec.Enabled = awssdk.Bool(s.dice.IntN(5) > 0)
	o.Spec.DistributionID = []string{distribution, otherDistribution}[s.dice.IntN(2)]
	o.Spec.Parameters = []v1alpha1.Parameter{{Name: "tier", Value: []string{"basic", "gold"}[s.dice.IntN(2)]}}
	if *actives == 1 { // Writes of tags have no condition: one of two active operators may be late with those of an older spec.
		o.Spec.Tags = []v1alpha1.Tag{{Key: "team", Value: fmt.Sprintf("team-%d", s.dice.IntN(4))}}
	}
	if s.lifecycle.dns != nil {
		o.Spec.DNS = nil
		if s.dice.IntN(2) == 0 {
			publishes(o)
		}
	}
}

// actOnParent creates, changes or deletes the object of a kind to which tenants can refer.
func (s *soak) actOnParent(k *parentKind) {
	o, there := s.parent(k)
	switch {
	case !there:
		s.born[k.object] = time.Now()
		k.makes()(s.stage)
	case o.GetDeletionTimestamp() != nil:
	case s.dice.IntN(2) == 0 && time.Since(s.born[k.object]) > mature:
		k.deletes(s.stage)
	default:
		k.edits(s.stage)
	}
}

// changeRow puts, changes or removes a row of the table that the source follows. Of two active operators each counts its own
// polls, and waits for an approval of its own plan: rows are only added for them.
func (s *soak) changeRow(name string) {
	if *actives > 1 {
		s.putRow(name, true)
		return
	}
	s.source.mu.Lock()
	there := s.source.rows[name]
	s.source.mu.Unlock()
	if there && s.dice.IntN(3) == 0 {
		s.removeRows(name)
		return
	}
	s.putRow(name, s.dice.IntN(4) > 0)
}

// approveRemovals approves what the guard of the source holds: the rows were removed on purpose.
func (s *soak) approveRemovals() {
	o := s.sourceObject()
	held := o.Status.HeldDeletions
	if held == nil || o.Annotations[v1alpha1.AnnotationApproveDeletions] == held.PlanHash {
		return
	}
	base := o.DeepCopy()
	metav1.SetMetaDataAnnotation(&o.ObjectMeta, v1alpha1.AnnotationApproveDeletions, held.PlanHash)
	s.gate.note("a person approves the plan %s", held.PlanHash)
	s.must("approving the plan", s.rig.kube.Patch(s.ctx, o, client.MergeFrom(base)))
}

// askForInvalidation has a path removed that no other object names.
func (s *soak) askForInvalidation(tenant string, there bool) {
	if !there {
		return
	}
	s.invalidated++
	o := &v1alpha1.Invalidation{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: fmt.Sprintf("path-%d", s.invalidated)}}
	o.Spec.TenantRef = &v1alpha1.InvalidationTenantReference{Name: tenant}
	o.Spec.Paths = []string{fmt.Sprintf("/%d", s.invalidated)}
	s.add(o)
}

// calm ends the noise, waits until all is settled, and asks the oracles.
func (s *soak) calm() {
	s.setStormy(false)
	s.gate.setChaos(nil)
	for _, side := range []side{awsSide, kubeSide} {
		s.awaitWithin(time.Minute, "both sides to be back", func() bool { return !s.gate.refuses(side) })
	}
	s.awaitWithin(time.Minute, "the last faults to be over", func() bool { return !s.gate.striking() })
	s.awaitWatches()
	for _, o := range s.objects() {
		// One that was paused and then deleted waits, too.
		base := o.DeepCopy()
		unpause(&o)
		s.must("letting "+o.Name+" go on", client.IgnoreNotFound(s.rig.kube.Patch(s.ctx, &o, client.MergeFrom(base))))
	}
	s.await("all objects to be settled", func() bool { s.approveRemovals(); return s.settledAll() })
	s.pause(max(passTime, time.Duration(len(s.replicas)-1)*longestSweep))
	if s.lifecycle.dns != nil {
		s.pause(2 * longestSweep) // Which batch was the last, and a record that went while a write was lost, nothing wakes it for.
	}
	s.checkRest()
	s.checkOwners()
	s.checkTheirs()
	s.checkParentsEnd()
	s.checkZones()
	s.checkProcesses()
	s.checkPaths()
	s.checkRows()
	for _, o := range s.invalidations() {
		s.must("deleting "+o.Name, client.IgnoreNotFound(s.rig.kube.Delete(s.ctx, &o)))
	}
}

// settledAll is when every object says that all of its present spec is done, and none is on its way out.
func (s *soak) settledAll() bool {
	for _, o := range s.objects() {
		if !claims(&o) {
			return false
		}
	}
	for _, o := range s.parents() {
		if o.GetDeletionTimestamp() != nil || !o.claims() {
			return false
		}
	}
	for _, o := range s.invalidations() {
		// An invalidation of a tenant that was deleted has ended, too.
		if !meta.IsStatusConditionTrue(o.Status.Conditions, v1alpha1.ConditionReady) && !meta.IsStatusConditionTrue(o.Status.Conditions, v1alpha1.ConditionStalled) &&
			s.hasTenant(&o) {
			return false
		}
	}
	return s.follows()
}

func (s *soak) hasTenant(o *v1alpha1.Invalidation) bool {
	t, there := s.get(o.Spec.TenantRef.Name)
	return there && t.CreationTimestamp.Before(&o.CreationTimestamp)
}

// checkPaths wants no path to be removed twice: each is asked for once.
func (s *soak) checkPaths() {
	seen := map[string]string{}
	for _, i := range s.sim.Invalidations("") {
		for _, path := range i.Paths {
			if other, twice := seen[path]; twice {
				s.violate(oracleInvalidations, "%s was removed twice: by %s and by %s", path, other, i.ID)
			}
			seen[path] = i.ID
		}
	}
}

// sample is what a process uses in a calm.
type sample struct {
	process                         string
	at                              time.Duration
	goroutines, descriptors, memory float64
}

// sample takes one of each process.
func (s *soak) sample(at time.Duration) {
	for _, r := range s.replicas {
		m, err := stack.Scrape(s.ctx, r.metrics.Address(0))
		if err != nil {
			s.violate("harness", "reading the metrics of %s: %v", r.name, err)
			continue
		}
		s.samples = append(s.samples, sample{
			process: r.running().name, at: at, goroutines: m["go_goroutines"], descriptors: m["process_open_fds"], memory: m["process_resident_memory_bytes"],
		})
	}
}

// growth compares the first with the last third of the samples of a process, without the first few: it has to warm up.
func growth(samples []sample) (objections []violation) {
	of := map[string][]sample{}
	for _, p := range samples {
		of[p.process] = append(of[p.process], p)
	}
	for name, list := range of {
		list = list[len(list)/5:]
		third := len(list) / 3
		if third == 0 {
			continue
		}
		first, last := list[:third], list[len(list)-third:]
		for _, u := range []struct {
			what      string
			of        func(sample) float64
			tolerance float64
		}{
			{"goroutines", func(p sample) float64 { return p.goroutines }, 20},
			{"descriptors", func(p sample) float64 { return p.descriptors }, 10},
			{"bytes of memory", func(p sample) float64 { return p.memory }, 8 << 20},
		} {
			if before, now := median(first, u.of), median(last, u.of); now > before+u.tolerance {
				objections = append(objections, violation{"growth", fmt.Sprintf("%s had %.0f %s after %s, and has %.0f after %s", name, before, u.what, first[0].at, now, last[0].at)})
			}
		}
	}
	return objections
}

func median(samples []sample, of func(sample) float64) float64 {
	values := make([]float64, len(samples))
	for i, p := range samples {
		values[i] = of(p)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func (s *soak) summary() string {
	var b strings.Builder
	s.gate.mu.Lock()
	fmt.Fprintf(&b, "%d rounds, %d operations of people, %d calls, %d faults, %d processes ended; writes: %v\n",
		s.rounds, s.operations, s.gate.dropped+len(s.gate.journal), s.gate.struck, s.kills, s.gate.writes)
	s.gate.mu.Unlock()
	for _, p := range s.samples {
		fmt.Fprintf(&b, "%8s %-8s %4.0f goroutines %4.0f descriptors %6.1f MiB\n", p.at.Round(time.Second), p.process, p.goroutines, p.descriptors, p.memory/(1<<20))
	}
	return b.String()
}
