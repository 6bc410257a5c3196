package crash_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestCampaign plays the cases. Without flags it plays some of each family.
func TestCampaign(t *testing.T) {
	if *update {
		updateReferences(t)
		return
	}
	references, err := readReferences()
	if err != nil {
		t.Fatal(err)
	}
	cases := choose(t, allCases(references, *seed))
	cases = cases[min(max(*skip, 0), len(cases)):]
	if *list {
		for _, k := range cases {
			fmt.Fprintln(os.Stdout, k.number, k.name())
		}
		return
	}
	began := time.Now()
	earlier := readReport(t)
	cases = slices.DeleteFunc(cases, func(k *kase) bool {
		return slices.ContainsFunc(earlier, func(r *result) bool { return r.Name == k.name() })
	})
	results := playAll(t.Context(), cases, references, func(r *result) {
		if len(r.Violations) > 0 || *only != "" {
			fmt.Fprint(os.Stderr, story(r))
		}
		if !r.passed() {
			t.Errorf("case %d %s failed: %v", r.Number, r.Name, r.Violations)
		}
	})
	results = append(earlier, results...)
	slices.SortFunc(results, func(a, b *result) int { return a.Number - b.Number })
	fmt.Fprintln(os.Stdout, table(results, time.Since(began)))
	if *report != "" {
		writeReport(t, results)
	}
}

func playAll(ctx context.Context, cases []*kase, references map[string]*reference, tell func(*result)) []*result {
	return playWith(ctx, cases, references, operatorBinary(), tell)
}

// playWith plays cases with a binary, some at the same time.
func playWith(ctx context.Context, cases []*kase, references map[string]*reference, binary string, tell func(*result)) []*result {
	slots := slot{free: make(chan struct{}, *parallel)}
	var (
		mu      sync.Mutex
		group   sync.WaitGroup
		results []*result
	)
	began := time.Now()
	for _, k := range cases {
		slots.take()
		if *forTime > 0 && time.Since(began) > *forTime {
			slots.release()
			break
		}
		group.Go(func() {
			defer slots.release()
			r := runCase(ctx, theRig, k, binary, references[k.lifecycle.name], *seed, slots)
			for tries := 0; tries < 3 && r.passed() && misses(k, r, references); tries++ {
				// When some reads come, and whether a write is refused because of another, depends on the clock.
				r = runCase(ctx, theRig, k, binary, references[k.lifecycle.name], *seed, slots)
			}
			finish(k, r, references)
			mu.Lock()
			defer mu.Unlock()
			results = append(results, r)
			tell(r)
			if len(results)%20 == 0 && *count != 0 {
				fmt.Fprintf(os.Stdout, "%d of %d cases\n", len(results), len(cases))
			}
		})
	}
	group.Wait()
	return results
}

// misses reports whether a case met less of the operator than it should: a call at which a fault was to strike, or one that
// the lifecycle has always made.
func misses(k *kase, r *result, references map[string]*reference) bool {
	return len(r.Unreached) > 0 || k.family == "reference" && len(missing(references[k.lifecycle.name], r.boundaries)) > 0
}

// finish judges what only the whole run can tell.
func finish(k *kase, r *result, references map[string]*reference) {
	if k.family == "reference" && r.passed() {
		if lacks := missing(references[k.lifecycle.name], r.boundaries); len(lacks) > 0 {
			r.Violations = append(r.Violations, violation{"reference", fmt.Sprintf(
				"the operator no longer makes the calls %v: look why, and run the test with -crash.update", lacks)})
		}
	}
	passing := slices.ContainsFunc(k.plan, func(f *fault) bool { return f.at.boundary.passes() })
	if len(r.Unreached) > 0 && r.passed() && !passing && !strings.HasSuffix(k.family, "kills") && k.family != "kill and errors" {
		r.Violations = append(r.Violations, violation{"unreached", strings.Join(r.Unreached, ", ")})
	}
}

// choose picks the cases that the flags ask for.
func choose(t *testing.T, all []*kase) []*kase {
	t.Helper()
	switch {
	case *only != "":
		number, err := strconv.Atoi(*only)
		list := slices.DeleteFunc(slices.Clone(all), func(k *kase) bool {
			return k.number != number && (err == nil || !isNamed(k.name()))
		})
		if len(list) == 0 {
			t.Fatalf("no case has the number or the name %q: there are %d", *only, len(all))
		}
		if *count > 0 {
			return draw(list, *count, func(*kase) bool { return true })
		}
		return list
	case *count < 0:
		return all
	case *count > 0:
		return draw(all, *count, func(*kase) bool { return true })
	}
	// Cases that wait for minutes by design stay out of the short selection, and so does a new leader
	// who gives the batches of the one before a minute.
	quick := func(parents bool, prefix string) func(*kase) bool {
		return func(k *kase) bool {
			return !k.lifecycle.invalidates && k.lifecycle.parents == parents && k.lifecycle.provider.named(prefix) && !k.lifecycle.parks && !k.lifecycle.slow && (!k.frozen || k.lifecycle.dns == nil)
		}
	}
	list := slices.Concat(draw(all, shortCases, quick(false, "")), draw(all, shortParentCases, quick(true, "")))
	for _, p := range providers() {
		list = append(list, draw(all, p.short, quick(false, p.prefix))...)
	}
	list = append(list, draw(all, shortInvalidationCases, telling)...)
	return append(list, draw(all, shortSourceCases, following)...)
}

// isNamed reports whether -crash.case asks for a name: by one of its parts between bars, or by
// being absent.
func isNamed(name string) bool {
	return slices.ContainsFunc(strings.Split(*only, "|"), func(part string) bool { return strings.Contains(name, part) })
}

// These are what "make test" has time for.
const (
	shortCases             = 26
	shortParentCases       = 6
	shortInvalidationCases = 4
	shortSourceCases       = 2
)

// draw takes cases from each family in turn until there are enough, the references first:
// a small family is taken whole, and what is left falls to the large ones.
func draw(all []*kase, wanted int, eligible func(*kase) bool) (list []*kase) {
	of := map[string][]*kase{}
	for _, k := range all {
		if eligible(k) {
			of[k.family] = append(of[k.family], k)
		}
	}
	for n, family := range families {
		r := rand.New(rand.NewPCG(*seed, uint64(n)))
		r.Shuffle(len(of[family]), func(a, b int) { of[family][a], of[family][b] = of[family][b], of[family][a] })
	}
	for n := 0; len(list) < min(wanted, len(all)); n++ {
		before := len(list)
		for _, family := range families {
			if n < len(of[family]) && len(list) < wanted {
				list = append(list, of[family][n])
			}
		}
		if len(list) == before {
			break
		}
	}
	return list
}

// updateReferences plays each lifecycle a few times, or those that -crash.case names, and keeps
// what is always the same.
func updateReferences(t *testing.T) {
	t.Helper()
	const runs = 3
	none := map[string]*reference{}
	var cases []*kase
	for range runs {
		for _, k := range allCases(none, *seed) {
			if k.family == "reference" && isNamed(k.name()) {
				cases = append(cases, k)
			}
		}
	}
	played, failed, crowds := map[string][]*result{}, map[string]bool{}, map[string]bool{}
	for _, l := range lifecycles() {
		crowds[l.name] = l.crowd
	}
	playAll(t.Context(), cases, none, func(r *result) {
		if !r.passed() {
			fmt.Fprint(os.Stderr, story(r))
			t.Errorf("%s failed: its reference stays as it was", r.Name)
			failed[r.Name] = true
		}
		name := strings.Split(r.Name, "/")[1]
		played[name] = append(played[name], r)
	})
	references := map[string]*reference{}
	if text, err := os.ReadFile(referenceFile); err == nil && (*only != "" || t.Failed()) {
		if err := json.Unmarshal(text, &references); err != nil {
			t.Fatal(err)
		}
	}
	for name, results := range played {
		if !failed[results[0].Name] {
			references[name] = merge(results, crowds[name])
		}
	}
	text, err := json.MarshalIndent(references, "", "  ")
	if err == nil {
		err = os.WriteFile(referenceFile, append(text, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// story tells all that happened in a case.
func story(r *result) string {
	var b strings.Builder
	verdict := "passed"
	if !r.passed() {
		verdict = "FAILED"
	}
	fmt.Fprintf(&b, "--- case %d %s: %s after %.1fs\n", r.Number, r.Name, verdict, r.Seconds)
	for _, v := range r.Violations {
		fmt.Fprintf(&b, "%s: %s\n", v.Oracle, v.Text)
	}
	b.WriteString(r.journal)
	if !r.passed() {
		for _, name := range sortedNames(r.logs) {
			log := r.logs[name]
			fmt.Fprintf(&b, "the end of %s:\n%s\n", name, log[max(0, len(log)-2500):])
		}
	}
	return b.String()
}

// table sums the results up.
func table(results []*result, took time.Duration) string {
	var b strings.Builder
	total, failed := 0, 0
	byOracle := map[string]int{}
	fmt.Fprintf(&b, "\n%-12s %6s %6s %6s %9s\n", "family", "cases", "passed", "failed", "seconds")
	for _, family := range families {
		cases, bad, seconds := 0, 0, 0.0
		for _, r := range results {
			if r.Family != family {
				continue
			}
			cases++
			seconds += r.Seconds
			if !r.passed() {
				bad++
			}
			seen := map[string]bool{}
			for _, v := range r.Violations {
				if !seen[v.Oracle] {
					byOracle[v.Oracle]++
				}
				seen[v.Oracle] = true
			}
		}
		if cases > 0 {
			fmt.Fprintf(&b, "%-12s %6d %6d %6d %9.1f\n", family, cases, cases-bad, bad, seconds/float64(cases))
		}
		total, failed = total+cases, failed+bad
	}
	fmt.Fprintf(&b, "%-12s %6d %6d %6d\n", "all", total, total-failed, failed)
	for _, oracle := range []string{oracleLeak, oracleDuplicate, oracleForeign, oracleDelete, oracleLiveness, oracleQuiescence, oracleHonesty, oracleDifferential, oracleCalls, oracleDangling, oracleUnserved, oracleLedger, oracleSpec, oracleInvalidations, oracleRows, oracleStates, oracleRollout, oracleHandOver, oracleMass, oracleGrant, oracleTwoPhases, oracleOffline, oracleLeader, oracleCrash, "reference", "unreached", "harness"} {
		if n := byOracle[oracle]; n > 0 {
			fmt.Fprintf(&b, "failed by %s: %d\n", oracle, n)
		}
	}
	fmt.Fprintf(&b, "seed %d, %s, %d at a time\n", *seed, took.Round(time.Second), *parallel)
	return b.String()
}

func writeReport(t *testing.T, results []*result) {
	t.Helper()
	text, err := json.MarshalIndent(map[string]any{"seed": *seed, "results": results}, "", "  ")
	if err == nil {
		err = os.WriteFile(*report, append(text, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// readReport returns the results of an earlier part of the campaign.
func readReport(t *testing.T) (results []*result) {
	t.Helper()
	if !*resume || *report == "" {
		return nil
	}
	text, err := os.ReadFile(*report)
	if os.IsNotExist(err) {
		return nil
	}
	var whole struct {
		Seed    uint64
		Results []*result
	}
	if err == nil {
		err = json.Unmarshal(text, &whole)
	}
	if err != nil {
		t.Fatal(err)
	}
	if whole.Seed != *seed {
		t.Fatalf("the report %s is of seed %d, and this run of seed %d", *report, whole.Seed, *seed)
	}
	return whole.Results
}
