package tenantsource_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// objects is the fleet of these tests.
type objects map[string]tenantsource.Tenant

func (f objects) fleet() tenantsource.Fleet {
	out := tenantsource.Fleet{Objects: map[string]tenantsource.Object{}}
	for name, o := range f {
		if o.Spec == nil {
			o.Spec = func() map[string]any { return nil }
		}
		out.Objects[name] = o
	}
	return out
}

// applied is an object that is what its row wants.
func applied(o tenantsource.Tenant, want mapping.Object) tenantsource.Tenant {
	o.Hash, o.Key, o.Guarded, o.Labels, o.Annotations = want.Hash(), want.Key, true, want.Labels, want.Annotations
	o.Spec = func() map[string]any { return want.Spec }
	return o
}

func serving(o tenantsource.Tenant, domains ...string) tenantsource.Tenant {
	o.Domains = domains
	return o
}

// customer is a row with a key, so that it is named alike wherever it stands.
func customer(name string, domains ...any) mapping.Row {
	return mapping.Row{Key: "key:" + name, Values: tree{"name": name, "domain": domains}}
}

// wanted is what the row of a customer becomes.
func wanted(t rapid.TB, p *mapping.Program, row mapping.Row) mapping.Object {
	t.Helper()
	o, rejection := p.Build(1, row)
	if rejection != nil {
		t.Fatalf("%+v", rejection)
	}
	return o
}

func gather(t rapid.TB, p *mapping.Program, fleet objects, rows ...mapping.Row) *tenantsource.Harvest {
	t.Helper()
	poll := tenantsource.NewPoll(p, fleet.fleet(), 0)
	for _, row := range rows {
		if err := poll.Row(row); err != nil {
			t.Fatal(err)
		}
	}
	return poll.Finish()
}

// changes renders what a harvest would write.
func changes(h *tenantsource.Harvest) []string {
	var out []string
	for _, c := range h.Changes {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", c.Action, c.Name, c.UID)))
	}
	return out
}

// refusals renders what a harvest refuses.
func refusals(h *tenantsource.Harvest) []string {
	var out []string
	for _, r := range h.Rejected {
		out = append(out, r.Row+": "+r.Reason)
	}
	return out
}

func TestPollComparesRowsWithObjects(t *testing.T) {
	program := compile(t, config())
	acmeRow := customer("acme", "acme.example.com")
	ours := tenantsource.Tenant{Relation: tenantsource.Ours, UID: "u1"}
	same := wanted(t, program, acmeRow)
	with := func(change func(*tenantsource.Tenant)) tenantsource.Tenant {
		s := ours
		change(&s)
		return s
	}
	const (
		twin    = `another row also has the name "acme": names must be unique, rename one of the rows`
		foreign = `the DistributionTenant "acme" exists and does not belong to this source (it is Bob's): rename the row, or delete the object`
	)
	sharedWith := func(domain, row string) string {
		return fmt.Sprintf("the row %q also has the domain %q: a domain can belong to one tenant only, remove it from one of the rows", row, domain)
	}
	bobs := tenantsource.Tenant{Relation: tenantsource.Foreign, UID: "u1", Owner: "it is Bob's"}
	for name, c := range map[string]struct {
		fleet               objects
		rows                []mapping.Row
		changes, refused    []string
		tenants             int
		nameless, conflicts int
	}{
		"no rows are no changes": {fleet: objects{"acme": ours}},
		"a row without an object is created": {
			rows: []mapping.Row{acmeRow}, changes: []string{"Create acme"}, tenants: 1,
		},
		"a row whose object is equal needs nothing": {
			fleet: objects{"acme": applied(ours, same)}, rows: []mapping.Row{acmeRow}, tenants: 1,
		},
		"a row whose object differs is an update of exactly that object": {
			fleet: objects{"acme": ours}, rows: []mapping.Row{acmeRow}, changes: []string{"Update acme u1"}, tenants: 1,
		},
		"an object of an earlier source of the same name is taken over, be it equal or not": {
			fleet: objects{"acme": applied(tenantsource.Tenant{Relation: tenantsource.Earlier, UID: "u1"}, same)},
			rows:  []mapping.Row{acmeRow}, changes: []string{"Update acme u1"}, tenants: 1,
		},
		"a foreign object is a conflict of that row only": {
			fleet: objects{"acme": bobs},
			rows:  []mapping.Row{acmeRow, customer("beta", "beta.example.com")}, changes: []string{"Create beta"}, tenants: 1,
			refused: []string{"key:acme: " + foreign}, conflicts: 1,
		},
		"a disabled object whose row is back is enabled, though it is equal otherwise": {
			fleet: objects{"acme": applied(with(func(s *tenantsource.Tenant) { s.Disabled = true }), same)},
			rows:  []mapping.Row{acmeRow}, changes: []string{"Enable acme u1"}, tenants: 1,
		},
		"a disabled foreign object stays disabled": {
			fleet: objects{"acme": tenantsource.Tenant{Relation: tenantsource.Foreign, UID: "u1", Owner: "it is Bob's", Disabled: true}},
			rows:  []mapping.Row{acmeRow}, refused: []string{"key:acme: " + foreign}, conflicts: 1,
		},
		"an object on its way out is left alone until it is gone": {
			fleet: objects{"acme": with(func(s *tenantsource.Tenant) { s.Deleting = true })}, rows: []mapping.Row{acmeRow}, tenants: 1,
		},
		"so is one that was disabled before it was deleted": {
			fleet: objects{"acme": with(func(s *tenantsource.Tenant) { s.Deleting, s.Disabled = true, true })}, rows: []mapping.Row{acmeRow}, tenants: 1,
		},
		"of two rows of one name none is used": {
			rows:    []mapping.Row{acmeRow, customer("acme", "other.example.com"), customer("beta", "beta.example.com")},
			changes: []string{"Create beta"}, tenants: 1, refused: []string{"key:acme: " + twin, "key:acme: " + twin},
		},
		"nor of three": {
			rows:    []mapping.Row{acmeRow, acmeRow, acmeRow},
			refused: []string{"key:acme: " + twin, "key:acme: " + twin, "key:acme: " + twin},
		},
		"twins of a name that a foreign object has are no conflict, since none of them would be used anyway": {
			fleet: objects{"acme": bobs}, rows: []mapping.Row{acmeRow, acmeRow}, refused: []string{"key:acme: " + twin, "key:acme: " + twin},
		},
		"a twin with another mistake reports that mistake": {
			rows:    []mapping.Row{acmeRow, customer("acme", "_")},
			refused: []string{"key:acme: " + twin, `key:acme: column "domain" for domains: "_" is not a domain name: write names like shop.example.com or *.example.com, without scheme, port, path, underscore or brackets`},
		},
		"two rows that share a domain are both refused where no object serves it yet": {
			rows:    []mapping.Row{customer("acme", "a.example.com", "shared.example.com"), customer("beta", "Shared.example.com.")},
			refused: []string{"key:acme: " + sharedWith("shared.example.com", "key:beta"), "key:beta: " + sharedWith("shared.example.com", "key:acme")},
		},
		"the one whose object serves the domain already keeps it": {
			fleet:   objects{"beta": serving(ours, "shared.example.com")},
			rows:    []mapping.Row{customer("acme", "shared.example.com"), customer("beta", "shared.example.com"), customer("zeta", "shared.example.com")},
			changes: []string{"Update beta u1"}, tenants: 1,
			refused: []string{"key:acme: " + sharedWith("shared.example.com", "key:beta"), "key:zeta: " + sharedWith("shared.example.com", "key:beta")},
		},
		"a foreign object that serves it is no holder": {
			fleet: objects{"acme": serving(bobs, "shared.example.com")},
			rows:  []mapping.Row{customer("acme", "shared.example.com"), customer("beta", "shared.example.com")},
			refused: []string{
				"key:acme: " + foreign, "key:beta: " + sharedWith("shared.example.com", "key:acme"),
			}, conflicts: 1,
		},
		"a twin shares its domain with no other row, since it is not used": {
			rows:    []mapping.Row{customer("acme", "a.example.com"), customer("acme", "b.example.com"), customer("beta", "a.example.com")},
			changes: []string{"Create beta"}, tenants: 1, refused: []string{"key:acme: " + twin, "key:acme: " + twin},
		},
		"rows without a name are counted, since their tenant is unknown": {
			rows:     []mapping.Row{{Key: "key:1", Values: tree{"name": nil, "domain": "a.example.com"}}, {Key: "key:2", Values: tree{"name": "A!", "domain": "a.example.com"}}, acmeRow},
			changes:  []string{"Create acme"},
			tenants:  1,
			nameless: 2,
			refused: []string{
				`key:1: column "name" is empty, but every row needs a name: add one, or leave the row out`,
				`key:2: column "name": "A!" is not a valid object name (lower-case letters, digits, and inner hyphens and dots): use an expression for the name, such as "t-" + string(row.id)`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := gather(t, program, c.fleet, c.rows...)
			if d := cmp.Diff(c.changes, changes(got)); d != "" {
				t.Errorf("changes (-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.refused, refusals(got)); d != "" {
				t.Errorf("refused (-want +got):\n%s", d)
			}
			if got.Tenants != c.tenants || got.Nameless != c.nameless || got.Conflicts != c.conflicts || got.Rows != len(c.rows) {
				t.Errorf("%d rows, %d tenants, %d nameless, %d conflicts; want %d, %d, %d, %d",
					got.Rows, got.Tenants, got.Nameless, got.Conflicts, len(c.rows), c.tenants, c.nameless, c.conflicts)
			}
			for _, change := range got.Changes {
				o, err := change.Object()
				if err != nil || o.Name != change.Name {
					t.Errorf("%s of %s writes %q, %v", change.Action, change.Name, o.Name, err)
				}
			}
		})
	}
}

func TestARowThatIsNotUsedIsPresentAllTheSame(t *testing.T) {
	program := compile(t, config())
	bobs := objects{"foreign": {Relation: tenantsource.Foreign, Owner: "it is Bob's"}}
	got := gather(t, program, bobs,
		customer("foreign", "f.example.com"), customer("twin", "t.example.com"), customer("twin", "t.example.com"),
		customer("shares", "s.example.com"), customer("shares-too", "s.example.com"), customer("wrong", "_"), customer("fine", "fine.example.com"))
	for _, name := range []string{"foreign", "twin", "shares", "shares-too", "wrong", "fine"} {
		if !got.Present(name) {
			t.Errorf("%s is taken for gone", name)
		}
	}
	if got.Present("other") {
		t.Error("a name that no row has is taken for present")
	}
}

func TestAChangeBringsTheWholeObject(t *testing.T) {
	program := compile(t, config(template(tree{"parameters": []any{tree{"name": "plan", "value": "gold"}}})))
	row := customer("acme", "b.example.com", "a.example.com")
	want, _ := program.Build(1, row)
	got := gather(t, program, objects{}, row)
	o, err := got.Changes[0].Object()
	if d := cmp.Diff(want, o); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

func TestTooManyRowsEndTheRead(t *testing.T) {
	poll := tenantsource.NewPoll(compile(t, config()), tenantsource.Fleet{}, 2)
	for i := range 2 {
		if err := poll.Row(customer(fmt.Sprintf("customer-%d", i), "a.example.com")); err != nil {
			t.Fatal(err)
		}
	}
	err := poll.Row(customer("one-too-many", "b.example.com"))
	const want = "Reading: there are more than 2 rows: correct the query, or ask the administrator to raise --tenantsource-max-rows"
	if fault.KindOf(err) != fault.Invalid || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestColumnsThatAreNeededHaveToBeThere(t *testing.T) {
	program := compile(t, config())
	column := func(name string) mapping.Column { return mapping.Column{Name: name, Type: mapping.TypeString} }
	for name, c := range map[string]struct {
		columns []mapping.Column
		want    string
	}{
		"all are there, and more": {columns: []mapping.Column{column("id"), column("name"), column("domain")}},
		"one is missing": {
			columns: []mapping.Column{column("id"), column("name")},
			want:    `Reading: the result has no column "domain"; it has id, name: correct the query, spec.mapping or spec.expressions`,
		},
		"its name differs in case": {
			columns: []mapping.Column{column("Name"), column("domain")},
			want:    `Reading: the result has no column "name"; it has Name, domain: correct the query, spec.mapping or spec.expressions`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := tenantsource.NewPoll(program, tenantsource.Fleet{}, 0).Columns(c.columns)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if fault.KindOf(err) != fault.NotFound || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}

	t.Run("the message has the fix no matter how many columns there are and how long their names", func(t *testing.T) {
		var columns []mapping.Column
		for range 100 {
			columns = append(columns, column(strings.Repeat("ü", 200)))
		}
		err := tenantsource.NewPoll(program, tenantsource.Fleet{}, 0).Columns(columns)
		if len(err.Error()) > 1000 || !strings.HasSuffix(err.Error(), "correct the query, spec.mapping or spec.expressions") {
			t.Errorf("%d bytes: %v", len(err.Error()), err)
		}
	})
}

func TestPollRemembersTheColumnsThatAreUsed(t *testing.T) {
	program := compile(t, config(mapped("plan", "parameters[plan]")))
	rows := []mapping.Row{
		{Values: tree{"name": "acme", "domain": "a.example.com", "enabled": true, "plan": nil, "unused": "x"}},
		{Values: tree{"name": "beta", "domain": []any{"b.example.com"}, "enabled": nil, "plan": int64(1)}},
		{Values: tree{"name": "gamma", "domain": "c.example.com", "plan": 2.5}},
	}
	seen := func(name string, kind mapping.Type, n int) tenantsource.SeenColumn {
		return tenantsource.SeenColumn{Column: mapping.Column{Name: name, Type: kind}, Rows: n}
	}

	t.Run("a store without a schema shows them by its rows", func(t *testing.T) {
		got := gather(t, program, objects{}, rows...)
		want := []tenantsource.SeenColumn{
			seen("domain", mapping.TypeMixed, 3), seen("enabled", mapping.TypeBoolean, 1), seen("name", mapping.TypeString, 3), seen("plan", mapping.TypeNumber, 2),
		}
		if d := cmp.Diff(want, got.Columns); d != "" || got.Declared {
			t.Errorf("declared: %t (-want +got):\n%s", got.Declared, d)
		}
	})
	t.Run("a store with a schema says them, and the rows how full they are", func(t *testing.T) {
		poll := tenantsource.NewPoll(program, tenantsource.Fleet{}, 0)
		err := poll.Columns([]mapping.Column{
			{Name: "name", Type: mapping.TypeString}, {Name: "domain", Type: mapping.TypeList}, {Name: "plan", Type: mapping.TypeOther},
			{Name: "connection_group_id", Type: mapping.TypeString}, {Name: "unused", Type: mapping.TypeTime},
		})
		for _, row := range rows {
			err = errors.Join(err, poll.Row(row))
		}
		got := poll.Finish()
		want := []tenantsource.SeenColumn{
			seen("connection_group_id", mapping.TypeString, 0), seen("domain", mapping.TypeList, 3), seen("name", mapping.TypeString, 3), seen("plan", mapping.TypeOther, 2),
		}
		if d := cmp.Diff(want, got.Columns); d != "" || err != nil || !got.Declared {
			t.Errorf("%v, declared: %t (-want +got):\n%s", err, got.Declared, d)
		}
	})
	t.Run("a server that names others in each row fills no memory, and hides none that is used", func(t *testing.T) {
		poll := tenantsource.NewPoll(compile(t, config(expression("parameters[size]", "string(size(row))"))), tenantsource.Fleet{}, 0)
		for n := range 100 {
			row := acme(tree{})
			for m := range 100 {
				row.Values[fmt.Sprintf("column-%d-%d", n, m)] = "x"
			}
			if err := poll.Row(row); err != nil {
				t.Fatal(err)
			}
		}
		got := poll.Finish().Columns
		if len(got) > 1100 {
			t.Errorf("%d columns are remembered", len(got))
		}
		for _, used := range []string{"name", "domain"} {
			if !slices.ContainsFunc(got, func(c tenantsource.SeenColumn) bool { return c.Name == used && c.Rows == 100 }) {
				t.Errorf("the column %s is not among them", used)
			}
		}
	})
	t.Run("an expression over the whole row uses all of them", func(t *testing.T) {
		whole := compile(t, config(expression("parameters[size]", "string(size(row))")))
		row := acme(tree{"at": time.Unix(0, 0), "list": []any{}, "map": tree{}, "blob": mapping.Unsupported("bytea")})
		want := []tenantsource.SeenColumn{
			seen("at", mapping.TypeTime, 1), seen("blob", mapping.TypeOther, 1), seen("domain", mapping.TypeString, 1),
			seen("list", mapping.TypeList, 1), seen("map", mapping.TypeObject, 1), seen("name", mapping.TypeString, 1),
		}
		if d := cmp.Diff(want, gather(t, whole, objects{}, row).Columns); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}

// anyTable is a table with a fleet that it meets: few names and domains, so that they clash.
func anyTable(t *rapid.T, p *mapping.Program) ([]mapping.Row, objects) {
	names := rapid.SampledFrom([]any{"acme", "beta", "gamma", "delta", nil, "A!", 7})
	domains := rapid.SampledFrom([]any{"a.example.com", "b.example.com", "c.example.com", "d.example.com", "_"})
	var rows []mapping.Row
	for i := range rapid.IntRange(0, 8).Draw(t, "rows") {
		rows = append(rows, mapping.Row{Key: fmt.Sprintf("key:%d", i), Values: tree{
			"name":    names.Draw(t, "name"),
			"domain":  rapid.SliceOfNDistinct(domains, 1, 2, rapid.ID[any]).Draw(t, "domains"),
			"enabled": rapid.SampledFrom([]any{nil, true, false, "perhaps"}).Draw(t, "enabled"),
		}})
	}
	fleet := objects{}
	for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"acme", "beta", "gamma", "delta", "gone"}), rapid.ID[string]).Draw(t, "objects") {
		o := tenantsource.Tenant{
			Relation: rapid.SampledFrom([]tenantsource.Relation{tenantsource.Ours, tenantsource.Ours, tenantsource.Earlier, tenantsource.Foreign}).Draw(t, "relation"),
			UID:      "uid-" + name, Owner: "it is Bob's",
			Deleting: rapid.Bool().Draw(t, "deleting"), Disabled: rapid.Bool().Draw(t, "disabled"),
			Domains: rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a.example.com", "b.example.com", "c.example.com"}), rapid.ID[string]).Draw(t, "serves"),
		}
		for _, row := range rows {
			if want, rejection := p.Build(1, row); rejection == nil && want.Name == name && rapid.Bool().Draw(t, "equal") {
				o = applied(o, want)
			}
		}
		fleet[name] = o
	}
	return rows, fleet
}

// told is all that a harvest says.
type told struct {
	Changes, Refused, Present          []string
	Objects                            []mapping.Object
	Columns                            []tenantsource.SeenColumn
	Rows, Tenants, Nameless, Conflicts int
}

func tell(t rapid.TB, h *tenantsource.Harvest) told {
	t.Helper()
	out := told{
		Changes: changes(h), Refused: refusals(h), Columns: h.Columns,
		Rows: h.Rows, Tenants: h.Tenants, Nameless: h.Nameless, Conflicts: h.Conflicts,
	}
	for _, c := range h.Changes {
		o, err := c.Object()
		if err != nil {
			t.Fatalf("%s %s: %v", c.Action, c.Name, err)
		}
		out.Objects = append(out.Objects, o)
	}
	for _, name := range []string{"acme", "beta", "gamma", "delta", "gone"} {
		if h.Present(name) {
			out.Present = append(out.Present, name)
		}
	}
	return out
}

func TestTheOrderOfRowsDecidesNothing(t *testing.T) {
	program := compile(t, config())
	rapid.Check(t, func(t *rapid.T) {
		rows, fleet := anyTable(t, program)
		want := tell(t, gather(t, program, fleet, rows...))
		shuffled := rapid.Permutation(rows).Draw(t, "shuffled")
		if d := cmp.Diff(want, tell(t, gather(t, program, fleet, shuffled...))); d != "" {
			t.Fatalf("in another order (-want +got):\n%s", d)
		}
	})
}

func TestOnceWrittenNothingIsLeftToWrite(t *testing.T) {
	program := compile(t, config())
	rapid.Check(t, func(t *rapid.T) {
		rows, fleet := anyTable(t, program)
		h := gather(t, program, fleet, rows...)
		if h.Rows != h.Tenants+len(h.Rejected) {
			t.Fatalf("%d rows are %d tenants and %d refused ones", h.Rows, h.Tenants, len(h.Rejected))
		}
		for _, c := range h.Changes {
			o, err := c.Object()
			if err != nil {
				t.Fatal(err)
			}
			before := fleet[c.Name]
			switch {
			case before.Relation == tenantsource.Foreign, before.Deleting:
				t.Fatalf("%s of %s, which is %+v", c.Action, c.Name, before)
			case (c.Action == tenantsource.Create) != (before.Relation == tenantsource.Absent), c.UID != before.UID:
				t.Fatalf("%s of %s %q, which is %+v", c.Action, c.Name, c.UID, before)
			}
			fleet[c.Name] = applied(serving(tenantsource.Tenant{Relation: tenantsource.Ours, UID: "uid-" + c.Name}, o.Domains()...), o)
		}
		again := gather(t, program, fleet, rows...)
		if len(again.Changes) > 0 {
			t.Fatalf("still to be written: %v", changes(again))
		}
		if d := cmp.Diff(refusals(h), refusals(again)); d != "" {
			t.Fatalf("refused now (-before +now):\n%s", d)
		}
	})
}
