package tenantsource_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// An object is left alone that is all that its row wants, whatever others have added to it.
func TestWhenAnObjectIsWhatItsRowWants(t *testing.T) {
	labelled := func(c *mapping.Config) {
		c.Template.Labels, c.Template.Annotations = map[string]string{"team": "web"}, map[string]string{"note": "one"}
	}
	program := compile(t, config(labelled))
	row := customer("acme", "acme.example.com")
	with := func(spec tree) func(*tenantsource.Tenant) {
		return func(o *tenantsource.Tenant) {
			is := o.Spec()
			o.Spec = func() map[string]any {
				changed := maps.Clone(is)
				maps.Copy(changed, spec)
				return changed
			}
		}
	}
	update := []string{"Update acme u1"}
	for name, c := range map[string]struct {
		change func(*tenantsource.Tenant)
		want   []string
	}{
		"as it was applied":                        {change: func(*tenantsource.Tenant) {}},
		"others have set more of it":               {change: with(tree{"comment": "ours"})},
		"others have labelled it":                  {change: func(o *tenantsource.Tenant) { o.Labels = map[string]string{"team": "web", "tier": "gold"} }},
		"the row or the template was another":      {change: func(o *tenantsource.Tenant) { o.Hash = "another" }, want: update},
		"it was made from another row":             {change: func(o *tenantsource.Tenant) { o.Key = "another" }, want: update},
		"others have changed a field":              {change: with(tree{"distributionId": "E2"}), want: update},
		"others have taken a label off":            {change: func(o *tenantsource.Tenant) { o.Labels = nil }, want: update},
		"others have changed an annotation":        {change: func(o *tenantsource.Tenant) { o.Annotations = map[string]string{"note": "two"} }, want: update},
		"others have taken the finalizer off":      {change: func(o *tenantsource.Tenant) { o.Guarded = false }, want: update},
		"it is that of an earlier source":          {change: func(o *tenantsource.Tenant) { o.Relation = tenantsource.Earlier }, want: update},
		"it was disabled, as its row had vanished": {change: func(o *tenantsource.Tenant) { o.Disabled = true }, want: []string{"Enable acme u1"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := applied(tenantsource.Tenant{Relation: tenantsource.Ours, UID: "u1"}, wanted(t, program, row))
			c.change(&o)
			if diff := cmp.Diff(c.want, changes(gather(t, program, objects{"acme": o}, row))); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhichObjectsLive(t *testing.T) {
	ours := tenantsource.Tenant{Relation: tenantsource.Ours}
	deleting, disabled := ours, ours
	deleting.Deleting, disabled.Disabled = true, true
	disabled.UID, disabled.Domains, disabled.Marked = "u1", []string{"a.example.com"}, noon.Add(-time.Hour)
	fleet := objects{
		"ours": ours, "deleting": deleting, "disabled": disabled,
		"earlier": {Relation: tenantsource.Earlier}, "foreign": {Relation: tenantsource.Foreign}, "absent": {},
	}.fleet()
	for policy, want := range map[tenantsource.Policy][]string{
		tenantsource.PolicyDelete: {"disabled", "ours"}, tenantsource.PolicyRetain: {"disabled", "ours"}, tenantsource.PolicyDisable: {"ours"},
	} {
		var names []string
		owned := fleet.Owned(policy)
		for _, o := range owned {
			names = append(names, o.Name)
		}
		if !slices.Equal(names, want) {
			t.Errorf("with %s %v live, want %v", policy, names, want)
		}
	}
	first := tenantsource.Owned{Name: "disabled", UID: "u1", Domains: []string{"a.example.com"}, Marked: noon.Add(-time.Hour)}
	if diff := cmp.Diff(first, fleet.Owned(tenantsource.PolicyDelete)[0]); diff != "" {
		t.Errorf("what is known of it (-want +got):\n%s", diff)
	}
}
