package operator

import (
	"flag"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

// Who starts the operator without any flag has the guard rails that need nothing else, and sees which one is off.
func TestGuardRailsAreShown(t *testing.T) {
	for name, tt := range map[string]struct {
		flags []string
		want  map[string]float64
	}{
		"all that need nothing else are on": {nil, map[string]float64{"deletion_budget": 1, "cluster_check": 1, "domain_claims": 1, "rollout": 1, "grants": 0}},
		"an audit holds nothing":            {[]string{"--grants=Audit"}, map[string]float64{"deletion_budget": 1, "cluster_check": 1, "domain_claims": 1, "rollout": 1, "grants": 0}},
		"each can be turned off explicitly": {
			[]string{"--deletion-budget=false", "--cluster-check=false", "--domain-claims=false", "--rollout=false", "--grants=Enforce"},
			map[string]float64{"deletion_budget": 0, "cluster_check": 0, "domain_claims": 0, "rollout": 0, "grants": 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var c Config
			f := flag.NewFlagSet("test", flag.ContinueOnError)
			c.Bind(f)
			if err := f.Parse(tt.flags); err != nil {
				t.Fatal(err)
			}
			r := prometheus.NewRegistry()
			if err := showGuardRails(r, c, logr.Discard()); err != nil {
				t.Fatal(err)
			}
			families, err := r.Gather()
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]float64{}
			for _, m := range families[0].GetMetric() {
				got[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
