package distribution_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// What an object has of its aliases depends on what is known of the resource.
func TestAliasesAreObserved(t *testing.T) {
	t.Parallel()
	wanted, served := claim.Domain{Name: "a.example.com", Wanted: true}, claim.Domain{Name: "a.example.com", Stake: claim.Serves}
	before := claim.Domain{Name: "b.example.com", Stake: claim.Serves}
	for name, test := range map[string]struct {
		about string
		in    func(*distribution.Input)
		want  []claim.Domain
	}{
		"new":     {"A new object only wants them.", func(*distribution.Input) {}, []claim.Domain{wanted}},
		"applied": {"A fresh process takes those that were applied for served.", func(in *distribution.Input) { in.Memory.ID, in.Memory.AppliedGeneration = "E1", 1 }, []claim.Domain{wanted, served}},
		"seen": {"Those that were seen last are served.", func(in *distribution.Input) {
			in.Memory.ID, in.World.Aliases = "E1", []string{"b.example.com"}
		}, []claim.Domain{wanted, before}},
		"read": {"What is read counts.", func(in *distribution.Input) {
			in.Memory.ID, in.World.Aliases = "E1", []string{"c.example.com"}
			in.World.Knowledge, in.World.Resource = resource.Whole, &distribution.Observed{ID: "E1", Aliases: []string{"b.example.com"}}
		}, []claim.Domain{wanted, before}},
		"absent": {"Nothing is served by what is gone.", func(in *distribution.Input) {
			in.Memory.ID, in.Memory.AppliedGeneration, in.World.Knowledge = "E1", 1, resource.Absent
		}, []claim.Domain{wanted}},
		"another's": {"Nor by what belongs to another.", func(in *distribution.Input) {
			in.World.Knowledge, in.World.Resource = resource.Whole, &distribution.Observed{ID: "E2", Aliases: []string{"b.example.com"}}
		}, []claim.Domain{wanted}},
	} {
		in := distribution.Input{Object: resource.Object{Generation: 1}, Desired: distribution.Desired{Aliases: []string{"a.example.com"}}}
		test.in(&in)
		if d := cmp.Diff(test.want, in.Domains()); d != "" {
			t.Errorf("%s %s (-want +got):\n%s", name, test.about, d)
		}
	}
}
