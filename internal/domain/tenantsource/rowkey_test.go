package tenantsource_test

import (
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// A row without a usable name keeps the tenant that its key belongs to, and all of them where that is not certain.
func TestARowWithoutANameKeepsItsOwnTenant(t *testing.T) {
	byID := func(c *mapping.Config) { c.Key = "id" }
	byNumber := func(c *mapping.Config) { c.Key = "number" }
	row := func(id any, name string) mapping.Row {
		return mapping.Row{Values: tree{"id": id, "number": id, "name": name, "domain": name + ".example.com"}}
	}
	key := func(id any, change ...func(*mapping.Config)) string {
		return compile(t, config(change...)).Key(row(id, "x"))
	}
	ours := func(key string) tenantsource.Tenant {
		return tenantsource.Tenant{Relation: tenantsource.Ours, Key: key}
	}
	fleet := func(acme, globex string) objects { return objects{"acme": ours(acme), "globex": ours(globex)} }
	one, two := key(int64(1), byID), key(int64(2), byID)
	for name, c := range map[string]struct {
		config   func(*mapping.Config)
		fleet    objects
		rows     []mapping.Row
		present  []string
		nameless int
	}{
		"the row of a tenant keeps it, and the other one is gone": {config: byID, fleet: fleet(one, two), rows: []mapping.Row{row(int64(1), "☠")}, present: []string{"acme"}},
		"numbers and texts are one key":                           {config: byID, fleet: fleet(one, two), rows: []mapping.Row{row("1", "☠")}, present: []string{"acme"}},
		"a row of no tenant keeps none":                           {config: byID, fleet: fleet(one, two), rows: []mapping.Row{row(int64(3), "☠")}},
		"it may be that of a tenant whose key is not known":       {config: byID, fleet: fleet(one, ""), rows: []mapping.Row{row(int64(3), "☠")}, nameless: 1},
		"or of one that has the key of another column":            {config: byID, fleet: fleet(one, key(int64(2), byNumber)), rows: []mapping.Row{row(int64(3), "☠")}, nameless: 1},
		"a key that is known tells, whoever else has none":        {config: byID, fleet: fleet(one, ""), rows: []mapping.Row{row(int64(1), "☠")}, present: []string{"acme"}},
		"a row without a key may be any":                          {config: byID, fleet: fleet(one, two), rows: []mapping.Row{row(nil, "☠")}, nameless: 1},
		"and one with an empty key":                               {config: byID, fleet: fleet(one, two), rows: []mapping.Row{row("", "☠")}, nameless: 1},
		"a key that two rows have tells nothing":                  {config: byID, fleet: fleet(one, two), rows: []mapping.Row{row(int64(1), "☠"), row(int64(1), "globex")}, present: []string{"acme", "globex"}, nameless: 1},
		"two tenants of one key are both kept":                    {config: byID, fleet: fleet(one, one), rows: []mapping.Row{row(int64(1), "☠")}, present: []string{"acme", "globex"}},
		"a tenant whose name another row has taken":               {config: byID, fleet: fleet(one, two), rows: []mapping.Row{row(int64(1), "☠"), row(int64(2), "acme")}, present: []string{"acme"}},
		"without a key column every such row may be any":          {config: func(*mapping.Config) {}, fleet: fleet(one, two), rows: []mapping.Row{row(int64(1), "☠")}, nameless: 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := gather(t, compile(t, config(c.config)), c.fleet, c.rows...)
			if h.Nameless != c.nameless || len(h.Rejected) == 0 {
				t.Errorf("%d rows may be those of any tenant, want %d; rejected: %+v", h.Nameless, c.nameless, h.Rejected)
			}
			for _, tenant := range []string{"acme", "globex"} {
				want := false
				for _, p := range c.present {
					want = want || p == tenant
				}
				if h.Present(tenant) != want {
					t.Errorf("%s has a row: %t, want %t", tenant, !want, want)
				}
			}
		})
	}
}
