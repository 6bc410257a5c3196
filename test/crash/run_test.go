package crash_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// result is what became of one case.
type result struct {
	Number     int         `json:"number"`
	Name       string      `json:"name"`
	Family     string      `json:"family"`
	Seconds    float64     `json:"seconds"`
	Violations []violation `json:"violations,omitempty"`
	Unreached  []string    `json:"unreached,omitempty"`

	outcome    outcome
	boundaries []boundary
	journal    string
	logs       map[string]string
}

func (r *result) passed() bool { return len(r.Violations) == 0 }

// slot is the right to load the machine.
type slot struct{ free chan struct{} }

func (s slot) take()    { s.free <- struct{}{} }
func (s slot) release() { <-s.free }

// runCase plays one case. The caller holds a slot, which is given back while a world is parked.
func runCase(ctx context.Context, rig *rig, k *kase, binary string, want *reference, seed uint64, slots slot) *result {
	began := time.Now()
	res := &result{Number: k.number, Name: k.name(), Family: k.family}
	o := options{binary: binary, patience: patience, dice: rand.New(rand.NewPCG(seed, uint64(k.number)))}
	if k.setUp != nil {
		k.setUp(&o)
	}
	dir := filepath.Join(rig.dir, fmt.Sprintf("case-%d-%d", k.number, began.UnixNano()))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		res.Violations = []violation{{"harness", err.Error()}}
		return res
	}
	s, err := newStage(ctx, rig, dir, k.lifecycle, o)
	if err != nil {
		res.Violations = []violation{{"harness", err.Error()}}
		return res
	}
	play(s, k, res, want, seed, slots)
	s.close()
	res.journal, res.logs = s.gate.text(), s.logs()
	res.Violations = s.objections()
	res.Seconds = time.Since(began).Seconds()
	_ = os.RemoveAll(dir)
	return res
}

func play(s *stage, k *kase, res *result, want *reference, seed uint64, slots slot) {
	defer func() {
		if p := recover(); p != nil {
			if _, ours := p.(aborted); !ours {
				panic(p)
			}
		}
	}()
	l := k.lifecycle
	s.start()
	if l.prepare != nil {
		l.prepare(s)
	}
	if l.parks {
		s.park(func(d time.Duration) {
			slots.release()
			defer slots.take()
			s.pause(d)
		})
	}
	s.gate.arm(k.plan)
	s.storm(k, seed)
	if l.parks {
		for _, r := range s.replicas {
			r.up()
		}
	}
	for n, step := range l.steps {
		step.do(s)
		s.await(fmt.Sprintf("step %d of %s", n+1, l.name), func() bool { return step.until(s) })
	}
	if k.after != nil {
		k.after(s)
	}
	s.endFaults(k, res)
	last := l.steps[len(l.steps)-1]
	s.await("the end of "+l.name, func() bool { return last.until(s) })
	// Connection groups that could not be listed are listed again after a minute.
	s.await("the targets of all tenants", s.directed)
	res.boundaries = s.gate.boundaries()
	// A pass that began with what its cache still showed may come to its end after all is done.
	settle := max(s.options.settle, passTime)
	if len(s.replicas) > 1 {
		// One that has not seen yet what the other did agrees after its next sweep.
		settle = max(settle, longestSweep)
		if l.dns != nil {
			// Which batch was the last nothing wakes it for.
			settle = max(settle, 2*longestSweep)
		}
	}
	if l.moves != "" {
		// Of the zone that it has left nothing wakes it when that is forgotten, and status names the last change.
		settle = max(settle, 2*longestSweep)
	}
	if l.meddles {
		// Status may not have caught up with a user's change in AWS.
		settle = max(settle, sweepInterval)
	}
	s.pause(settle)
	s.checkRest()
	s.checkEnd()
	res.outcome = s.outcome()
	if want != nil {
		s.compare(want, res.outcome, k.forgives)
		switch k.family {
		case "kill", "aws", "kube", "provider", "terminate", "two kills", "kill and errors":
			s.checkCalls(want, len(k.plan))
		}
	}
}

// directed is when status of each tenant that is ready says where its domains have to point.
func (s *stage) directed() bool {
	return !slices.ContainsFunc(s.objects(), func(o v1alpha1.DistributionTenant) bool { return claims(&o) && o.Status.DNSTarget == "" })
}

// passTime is more than a pass without a change takes on a loaded machine.
const passTime = time.Second

func (s *stage) storm(k *kase, seed uint64) {
	if k.chaos != nil {
		r := rand.New(rand.NewPCG(seed, uint64(k.number)))
		s.setStormy(true)
		s.gate.setChaos(k.chaos(r))
	}
	if k.during != nil {
		k.during(s)
	}
}

// endFaults waits for the faults that may still strike, and lets no more strike.
func (s *stage) endFaults(k *kase, res *result) {
	if k.frozen {
		s.thaw()
		// It may do something with what it knew, and ends when it finds its lease gone.
		s.pause(3 * time.Second)
	}
	s.setStormy(false)
	for _, side := range []side{awsSide, kubeSide, dnsSide} {
		s.awaitWithin(time.Minute, "all sides to be back", func() bool { return !s.gate.refuses(side) })
	}
	res.Unreached = s.gate.disarm()
	s.awaitWithin(time.Minute, "the last faults to be over", func() bool { return !s.gate.striking() })
	if k.during != nil {
		s.awaitWatches()
	}
}

// awaitWatches waits until all watches that ended are there again, or for as long as a client may wait before its next
// try: until then it decides on what it saw before, and its writes are refused.
func (s *stage) awaitWatches() {
	for end := time.Now().Add(watchPatience); s.gate.deaf() && time.Now().Before(end); {
		s.pause(50 * time.Millisecond)
	}
}

// watchPatience is the longest pause of a client between two tries of a watch.
const watchPatience = time.Minute

// compare is the differential check: the same end as without any fault.
func (s *stage) compare(want *reference, got outcome, f forgiveness) {
	if f == anything {
		return
	}
	wanted := want.Outcome
	if s.lifecycle.hasty && !got.created() {
		wanted.Committed = nil
	}
	if s.lifecycle.uncounted {
		wanted.Committed, got.Committed = nil, nil
	}
	if d := cmp.Diff(canonical(wanted, f), canonical(got, f), cmpopts.EquateEmpty()); d != "" {
		s.violate(oracleDifferential, "(-reference +case):\n%s", d)
	}
}

// forgiveness is what a family may do otherwise than the reference. The zero value wants the
// same end and the same number of writes of each kind.
type forgiveness int

const (
	// retags lets tags be written again: AWS has no conditional write of tags, and two
	// operators may both have seen that one is needed.
	retags forgiveness = iota + 1
	// rewrites also lets updates be written again, and the routing endpoint be unknown: a
	// lagging read shows the one undone and the other not there.
	rewrites
	// forgets lets status not know how many distributions were lost before: the present one tells all that is needed.
	forgets
	// anything means that a user has changed what the end looks like.
	anything
)

func (f forgiveness) apply(o outcome) outcome {
	forgiven := map[forgiveness][]string{
		retags:   {"TagResource", "UntagResource"},
		rewrites: {"TagResource", "UntagResource", "UpdateDistributionTenant", "UpdateDistribution", "UpdateConnectionGroup"}, // and what publishes records
	}[f]
	if f == rewrites {
		forgiven = append(slices.Clone(forgiven), changeRecords)
		for _, p := range providers() {
			forgiven = append(forgiven, p.publishing())
		}
	}
	committed := map[string]int{}
	maps.Copy(committed, o.Committed)
	o.Committed = committed
	for _, operation := range forgiven {
		delete(o.Committed, operation)
	}
	return o
}

// canonical makes what was read from a file and what was computed comparable.
func canonical(o outcome, f forgiveness) any {
	text, err := json.Marshal(f.apply(o))
	if err != nil {
		panic(err)
	}
	if f == rewrites {
		text = dnsTarget.ReplaceAll(text, nil)
	}
	if f == forgets {
		text = creations.ReplaceAll(text, nil)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		panic(err)
	}
	return out
}

var (
	dnsTarget = regexp.MustCompile(`"dnsTarget":"[^"]*",`)
	creations = regexp.MustCompile(`"creations":[0-9]+,`)
)

// reference is what a lifecycle does when nothing goes wrong.
type reference struct {
	// Boundaries are the calls that it always makes, in order.
	Boundaries []string `json:"boundaries"`
	Outcome    outcome  `json:"outcome"`
}

func (r *reference) boundaries() (out []boundary) {
	if r == nil {
		return nil
	}
	for _, text := range r.Boundaries {
		s, rest, _ := strings.Cut(text, ":")
		operation, n, _ := strings.Cut(rest, "#")
		b := boundary{side: side(s), operation: operation}
		if _, err := fmt.Sscan(n, &b.n); err != nil {
			panic(fmt.Sprintf("the boundary %q: %v", text, err))
		}
		out = append(out, b)
	}
	return out
}

const referenceFile = "testdata/references.json"

func readReferences() (map[string]*reference, error) {
	text, err := os.ReadFile(referenceFile)
	if err != nil {
		return nil, err
	}
	var out map[string]*reference
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("reading %s: %w", referenceFile, err)
	}
	for _, l := range lifecycles() {
		if out[l.name] == nil {
			return nil, fmt.Errorf("%s lacks the lifecycle %s: run the test with -crash.update", referenceFile, l.name)
		}
	}
	return out, nil
}

// merge keeps of several undisturbed runs the boundaries that all of them have, in the
// order of the first.
func merge(runs []*result, crowd bool) *reference {
	ref := &reference{Outcome: runs[0].outcome}
	for _, b := range runs[0].boundaries {
		inAll := true
		for _, other := range runs[1:] {
			inAll = inAll && slices.Contains(other.boundaries, b)
		}
		// How often the objects of a crowd have to be asked depends on who is faster.
		if inAll && worthwhile(b, len(ref.Boundaries) == 0) && (!crowd || b.n <= certainInCrowds) {
			ref.Boundaries = append(ref.Boundaries, b.String())
		}
	}
	return ref
}

// certainInCrowds is how many calls of an operation come whatever the order of the objects.
const certainInCrowds = 2

// worthwhile leaves out the reads that follow a deployment, what a process stores as it starts, and the sweeps but one
// that comes first: when they come depends on the clock.
func worthwhile(b boundary, first bool) bool {
	if b.operation == "ListDistributionTenants" && !first {
		return false
	}
	most := map[string]int{
		"GetDistribution": 2, "GetConnectionGroup": 2, listDependents: 2, "get distributions": 3, "get connectiongroups": 3, "ListTagsForResource": 2, "GetCallerIdentity": 1,
		"GetDistributionTenant": 2, followInvalidation: 2, "get tenantsources": 2, pollReport: 4, "get distributiontenants": 3, "GetChange": 2, "ListResourceRecordSets": 2, "GetManagedCertificateDetails": 2, "ListCertificates": 0,
		"ListServiceQuotas": 0, "ListAWSDefaultServiceQuotas": 0, "post configmaps": 0,
	}
	for _, p := range providers() {
		most[p.listing] = 2
		for _, read := range p.reads {
			most[read] = 2
		}
	}
	limit, limited := most[b.operation]
	return !limited || b.n <= limit
}

// passes reports whether the call may not come: a state that passes while the machine is busy is not reported. Of status
// the first write is enough.
func (b boundary) passes() bool { return strings.HasSuffix(b.operation, "/status") && b.n > 1 }

// missing are the calls of a reference that a run has not made.
func missing(want *reference, got []boundary) (out []string) {
	for _, b := range want.boundaries() {
		if !b.passes() && !slices.Contains(got, b) {
			out = append(out, b.String())
		}
	}
	return out
}

func sortedNames(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
