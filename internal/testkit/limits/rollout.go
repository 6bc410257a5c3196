package limits

import (
	"fmt"
	"maps"
	"strings"
)

// Rollouts are the limits of spec.rollout, which kinds that roll out their changes share. concurrent is the most that it
// may be of tenants at a time.
func Rollouts(concurrent int) map[string]Case {
	set := In("rollout: {%s}")
	cases := Numbers(
		Number("rollout.maxConcurrent", set.Into("maxConcurrent: %s"), 1, concurrent),
		Number("rollout.maxFailedPercent", set.Into("maxFailedPercent: %s"), 0, 100),
		Number("rollout.canary.count", set.Into("canary: {count: %s}"), 1, 1000),
		Number("rollout.step.count", set.Into("step: {count: %s}"), 1, 100000),
		Number("rollout.step.percent", set.Into("step: {percent: %s}"), 1, 100),
	)
	maps.Copy(cases, canaries())
	maps.Copy(cases, pauses())
	cases["a step of a rollout has one size"] = Case{
		Accepted: `rollout: {step: {percent: 10}}`, Refused: `rollout: {step: {count: 5, percent: 10}}`,
		Says: []string{"spec.rollout.step", "exactly one of count and percent"},
	}
	return cases
}

func canaries() map[string]Case {
	labels := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("tier-%d: gold", i))
		}
		return `rollout: {canary: {matchLabels: {` + strings.Join(all, ", ") + `}}}`
	}
	return map[string]Case{
		"canaries are chosen in one way": {
			Accepted: `rollout: {canary: {count: 5}}`, Refused: `rollout: {canary: {count: 5, matchLabels: {tier: gold}}}`,
			Says: []string{"spec.rollout.canary", "exactly one of count and matchLabels"},
		},
		"canaries have a label": {
			Accepted: labels(1), Refused: labels(0), Says: []string{"spec.rollout.canary.matchLabels", "at least 1"},
		},
		"canaries have at most ten labels": {
			Accepted: labels(10), Refused: labels(11), Says: []string{"spec.rollout.canary.matchLabels", "at most 10"},
		},
		"the value of a label of canaries fits into a label": {
			Accepted: `rollout: {canary: {matchLabels: {tier: ` + strings.Repeat("g", 63) + `}}}`,
			Refused:  `rollout: {canary: {matchLabels: {tier: ` + strings.Repeat("g", 64) + `}}}`,
			Says:     []string{"spec.rollout.canary.matchLabels", "a value at most 63"},
		},
	}
}

func pauses() map[string]Case {
	return map[string]Case{
		"a pause of a rollout is at least a second": {
			Accepted: `rollout: {pause: 1s}`, Refused: `rollout: {pause: 999ms}`,
			Says: []string{"spec.rollout.pause", `"999ms" is not a duration of 1s to 168h`, "write it like 30m"},
		},
		"a pause of a rollout is at most seven days": {
			Accepted: `rollout: {pause: 168h}`, Refused: `rollout: {pause: 169h}`,
			Says: []string{"spec.rollout.pause", `"169h" is not a duration of 1s to 168h`},
		},
		"a pause of a rollout is short to write": {
			Accepted: `rollout: {pause: ` + strings.Repeat("0", 30) + `5m}`, Refused: `rollout: {pause: ` + strings.Repeat("0", 31) + `5m}`,
			Says: []string{"spec.rollout.pause", "Too long", "32"},
		},
	}
}
