package crash_test

import (
	"slices"
	"testing"
	"time"
)

// sampled are the samples of a process in n rounds, each changed by its number.
func sampled(process string, rounds int, change func(s *sample, n float64)) (list []sample) {
	for n := range rounds {
		s := sample{process: process, at: time.Duration(n) * time.Minute, goroutines: 200, descriptors: 20, memory: 80 << 20}
		change(&s, float64(n))
		list = append(list, s)
	}
	return list
}

// The check of the soak tells what grows from what only moves.
func TestGrowth(t *testing.T) {
	const rounds, mib = 30, 1 << 20
	stays := func(*sample, float64) {}
	grows := func(s *sample, n float64) { s.memory, s.goroutines, s.descriptors = s.memory+n*mib, 200+2*n, 20+n }
	for name, test := range map[string]struct {
		samples []sample
		want    int
	}{
		"nothing was sampled":              {nil, 0},
		"too few to compare":               {sampled("r0", 2, grows), 0},
		"a process stays as it is":         {sampled("r0", rounds, stays), 0},
		"it moves up and down":             {sampled("r0", rounds, func(s *sample, n float64) { s.memory += float64(int(n)%7) * 3 * mib }), 0},
		"it warms up":                      {sampled("r0", rounds, func(s *sample, n float64) { s.memory += min(n, 5) * 10 * mib }), 0},
		"it shrinks":                       {sampled("r0", rounds, func(s *sample, n float64) { s.memory -= n * mib }), 0},
		"the last sample alone is high":    {append(sampled("r0", rounds, stays), sample{process: "r0", goroutines: 900, descriptors: 90, memory: 900 * mib}), 0},
		"half a MiB more in each of many":  {sampled("r0", 2*rounds, func(s *sample, n float64) { s.memory += n * mib / 2 }), 1},
		"two goroutines more in each":      {sampled("r0", rounds, func(s *sample, n float64) { s.goroutines += 2 * n }), 1},
		"a descriptor more in each":        {sampled("r0", rounds, func(s *sample, n float64) { s.descriptors += n }), 1},
		"all of it in two processes":       {slices.Concat(sampled("r0", rounds, grows), sampled("r1", rounds, grows)), 6},
		"a larger process after a restart": {slices.Concat(sampled("r0.1", rounds, stays), sampled("r0.2", rounds, func(s *sample, _ float64) { s.memory *= 2 })), 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := growth(test.samples); len(got) != test.want {
				t.Errorf("%d objections, want %d: %v", len(got), test.want, got)
			}
		})
	}
}
