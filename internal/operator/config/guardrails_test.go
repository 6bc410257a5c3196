package config

import (
	"flag"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Who starts the operator without any flag has the guard rails that need nothing else, and sees which one is off.
func TestGuardRailsAreShown(t *testing.T) {
	for name, tt := range map[string]struct {
		flags []string
		want  map[string]bool
	}{
		"all that need nothing else are on": {nil, map[string]bool{"deletion_budget": true, "cluster_check": true, "domain_claims": true, "rollout": true, "grants": false}},
		"an audit holds nothing":            {[]string{"--grants=Audit"}, map[string]bool{"deletion_budget": true, "cluster_check": true, "domain_claims": true, "rollout": true, "grants": false}},
		"each can be turned off explicitly": {
			[]string{"--deletion-budget=false", "--cluster-check=false", "--domain-claims=false", "--rollout=false", "--grants=Enforce"},
			map[string]bool{"deletion_budget": false, "cluster_check": false, "domain_claims": false, "rollout": false, "grants": true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var c Config
			f := flag.NewFlagSet("test", flag.ContinueOnError)
			c.Bind(f)
			if err := f.Parse(tt.flags); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, c.GuardRails()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
