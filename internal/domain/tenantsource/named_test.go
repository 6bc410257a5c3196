package tenantsource_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// keyed is a config whose rows have keys.
func keyed(t *testing.T) *mapping.Program {
	t.Helper()
	c := config()
	c.Key = "name"
	return compile(t, c)
}

// large is a source of a large table that was read a minute ago, and whose database has reported changes of two rows now.
func large(t *testing.T, change ...func(*tenantsource.Input)) tenantsource.Input {
	t.Helper()
	return input(func(in *tenantsource.Input) {
		poll := tenantsource.NewPoll(keyed(t), tenantsource.Fleet{}, 0)
		in.RowKey, in.LargeTable, in.Memory.Rows = true, tenantsource.LargeTable, 100_000
		in.Watch = &tenantsource.Watch{Listening: true, Hinted: in.Now, Keys: []string{"acme", "beta"}}
		in.State.Others = poll.OtherRows(in.Generation, poll.Finish())
		in.State.LastRegular, in.State.LastRead = in.Now.Add(-time.Minute), in.Now.Add(-time.Minute)
		for _, c := range change {
			c(in)
		}
	})
}

func TestWhenRowsAreReadAlone(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*tenantsource.Input)
		step   tenantsource.Step
		after  time.Duration
	}{
		"rows that the database names":        {func(*tenantsource.Input) {}, tenantsource.ReadNamed, 0},
		"any row may have changed":            {func(in *tenantsource.Input) { in.Watch.Keys = nil }, tenantsource.Read, 0},
		"a table is read as fast as a row":    {func(in *tenantsource.Input) { in.Memory.Rows = 499 }, tenantsource.Read, 0},
		"nothing identifies the rows":         {func(in *tenantsource.Input) { in.RowKey = false }, tenantsource.Read, 0},
		"changes are only planned":            {func(in *tenantsource.Input) { in.DryRun = true }, tenantsource.Read, 0},
		"this process has not read the table": {func(in *tenantsource.Input) { in.State.Others = nil }, tenantsource.Read, 0},
		"the spec has changed":                {func(in *tenantsource.Input) { in.Generation++ }, tenantsource.Read, 0},
		"the database can't read single rows": {func(in *tenantsource.Input) {
			in.State.NoNamedUntil, in.State.NoNamedFor = in.Now.Add(time.Second), in.Generation
		}, tenantsource.Read, 0},
		"a poll is due": {func(in *tenantsource.Input) { in.State.LastRegular = in.Now.Add(-time.Hour) }, tenantsource.Read, 0},
		"the last poll failed, and the next waits":           {func(in *tenantsource.Input) { in.State.Failures, in.State.Retry = 1, in.Now.Add(time.Minute) }, tenantsource.Rest, time.Minute},
		"rows were read a moment ago":                        {func(in *tenantsource.Input) { in.State.LastNamed = in.Now.Add(-400 * time.Millisecond) }, tenantsource.Rest, 600 * time.Millisecond},
		"the table was not read as a whole for five minutes": {func(in *tenantsource.Input) { in.State.NamedSince = in.Now.Add(-5 * time.Minute) }, tenantsource.Read, 0},
		"no row was named since, and the table is read in a while": {func(in *tenantsource.Input) {
			in.Watch = &tenantsource.Watch{}
			in.State.NamedSince = in.Now.Add(-2 * time.Minute)
		}, tenantsource.Rest, 3 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			in := large(t, c.change)
			in.Guard.Interval = 10 * time.Minute
			got := tenantsource.Decide(in)
			if got.Step != c.step || got.After != c.after {
				t.Errorf("step %d after %s, want %d after %s", got.Step, got.After, c.step, c.after)
			}
		})
	}
}

// A row is applied if no other row matters for it. Everything else is left to a poll.
func TestWhatARowSaysAlone(t *testing.T) {
	program := keyed(t)
	row := mapping.Row{Values: tree{"name": "acme", "domain": []any{"acme.example.com"}}}
	o, _ := program.Build(1, row)
	ours := tenantsource.Tenant{Relation: tenantsource.Ours, UID: "u1", Key: o.Key}
	with := func(change func(*tenantsource.Tenant)) objects {
		s := ours
		change(&s)
		return objects{"acme": serving(s, "acme.example.com")}
	}
	other := mapping.Row{Values: tree{"name": "other", "domain": []any{"acme.example.com"}}}
	unusable := mapping.Row{Values: tree{"name": "acme", "domain": []any{"not a domain"}}}
	for name, c := range map[string]struct {
		fleet objects
		// before are the rows of the last poll, now those that are read.
		before, now []mapping.Row
		lost        tenantsource.Losses
		want        []string
		poll        bool
	}{
		"a new row is created": {now: []mapping.Row{row}, want: []string{"Create acme"}},
		"a changed row is an update": {
			fleet: with(func(*tenantsource.Tenant) {}), before: []mapping.Row{row}, now: []mapping.Row{row}, want: []string{"Update acme u1"},
		},
		"a row that is gone proves nothing":           {fleet: with(func(*tenantsource.Tenant) {}), before: []mapping.Row{row}},
		"a row whose object is equal changes nothing": {fleet: objects{"acme": applied(ours, o)}, before: []mapping.Row{row}, now: []mapping.Row{row}},
		"a domain of another row":                     {before: []mapping.Row{other}, now: []mapping.Row{row}, poll: true},
		"a row that was not used":                     {before: []mapping.Row{unusable}, now: []mapping.Row{row}, poll: true},
		"a row that can't be used":                    {now: []mapping.Row{unusable}, poll: true},
		"a name that another row has, whose object is not there": {
			before: []mapping.Row{{Values: tree{"name": "acme", "domain": []any{"former.example.com"}}}}, now: []mapping.Row{row}, poll: true,
		},
		"a name that the object of another row has": {
			fleet: with(func(s *tenantsource.Tenant) { s.Key = "another" }), now: []mapping.Row{row}, poll: true,
		},
		"a change that takes something away": {
			fleet: with(func(s *tenantsource.Tenant) {
				s.Spec = func() map[string]any { return tree{"domains": []any{tree{"domain": "another.example.com"}}} }
			}), now: []mapping.Row{row}, poll: true,
		},
		"an object that was disabled, as its row was gone": {
			fleet: with(func(s *tenantsource.Tenant) { s.Disabled = true }), now: []mapping.Row{row}, poll: true,
		},
		"an object of an earlier source": {
			fleet: with(func(s *tenantsource.Tenant) { s.Relation = tenantsource.Earlier }), now: []mapping.Row{row}, poll: true,
		},
		"a row that is back, with an object that is equal": {
			fleet: objects{"acme": applied(ours, o)}, now: []mapping.Row{row},
			lost: tenantsource.Losses{"acme": {Owned: tenantsource.Owned{Name: "acme", UID: "u1"}}}, poll: true,
		},
		"one row in doubt does not keep another from going": {
			before: []mapping.Row{other}, now: []mapping.Row{row, {Values: tree{"name": "beta", "domain": []any{"beta.example.com"}}}},
			want: []string{"Create beta"}, poll: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := large(t, func(in *tenantsource.Input) { in.State.Losses = c.lost })
			before := read(t, program, objects{}, c.before...)
			others := before.OtherRows(in.Generation, before.Finish())
			now := tenantsource.NewPoll(program, c.fleet.fleet(), 0)
			now.Refuse = func(o mapping.Object) string {
				if others.Concern(c.fleet.fleet(), o) {
					return "other rows have a say in it"
				}
				return ""
			}
			for _, r := range c.now {
				if err := now.Row(r); err != nil {
					t.Fatal(err)
				}
			}
			got, poll := in.State.Named(in.View, now.Finish())
			if diff := cmp.Diff(c.want, changes(&tenantsource.Harvest{Changes: got})); diff != "" || poll != c.poll {
				t.Errorf("poll %t, want %t; changes (-want +got):\n%s", poll, c.poll, diff)
			}
		})
	}
}

func read(t *testing.T, p *mapping.Program, fleet objects, rows ...mapping.Row) *tenantsource.Poll {
	t.Helper()
	poll := tenantsource.NewPoll(p, fleet.fleet(), 0)
	for _, row := range rows {
		if err := poll.Row(row); err != nil {
			t.Fatal(err)
		}
	}
	return poll
}

// Two rows of one domain that are read one after the other are not both served.
func TestADomainThatWasJustGivenAway(t *testing.T) {
	poll := tenantsource.NewPoll(keyed(t), tenantsource.Fleet{}, 0)
	others := poll.OtherRows(1, poll.Finish())
	o, _ := keyed(t).Build(1, mapping.Row{Values: tree{"name": "acme", "domain": []any{"acme.example.com"}}})
	if others.Concern(tenantsource.Fleet{}, o) {
		t.Error("a row that is alone is in doubt")
	}
	others.Learn(o)
	if o.Name = "other"; !others.Concern(tenantsource.Fleet{}, o) {
		t.Error("a domain that another object was given is not in doubt")
	}
}

// The columns of a table are judged before anything of it is used, as in a poll.
func TestNamedRowsOfATableWhoseColumnsHaveChanged(t *testing.T) {
	program := keyed(t)
	for name, c := range map[string]struct {
		columns []mapping.Column
		poll    bool
	}{
		"the same columns":     {columns: []mapping.Column{{Name: "name", Type: mapping.TypeString}, {Name: "domain", Type: mapping.TypeList}, {Name: "enabled", Type: mapping.TypeBoolean}}},
		"a column is gone":     {columns: []mapping.Column{{Name: "name", Type: mapping.TypeString}, {Name: "domain", Type: mapping.TypeList}}, poll: true},
		"one has another type": {columns: []mapping.Column{{Name: "name", Type: mapping.TypeString}, {Name: "domain", Type: mapping.TypeList}, {Name: "enabled", Type: mapping.TypeString}}, poll: true},
	} {
		t.Run(name, func(t *testing.T) {
			in := large(t, func(in *tenantsource.Input) {
				for _, column := range []mapping.Column{{Name: "name", Type: mapping.TypeString}, {Name: "domain", Type: mapping.TypeList}, {Name: "enabled", Type: mapping.TypeBoolean}} {
					in.Memory.Columns = append(in.Memory.Columns, tenantsource.SeenColumn{Column: column, Rows: 100_000})
				}
			})
			poll := tenantsource.NewPoll(program, tenantsource.Fleet{}, 0)
			if err := poll.Columns(c.columns); err != nil {
				t.Fatal(err)
			}
			if err := poll.Row(mapping.Row{Values: tree{"name": "acme", "domain": []any{"acme.example.com"}}}); err != nil {
				t.Fatal(err)
			}
			changes, left := in.State.Named(in.View, poll.Finish())
			if left != c.poll || (len(changes) == 0) != c.poll {
				t.Errorf("%d changes, and a poll: %t; want one: %t", len(changes), left, c.poll)
			}
		})
	}
}

// A database that can't read single rows is not asked for an hour, one that did not answer for a minute. Another spec is
// asked at once.
func TestAReadOfSingleRowsThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		reason chain.Reason
		after  time.Duration
		want   tenantsource.Step
	}{
		"no answer, a second ago":  {tenantsource.PollFailed, time.Second, tenantsource.Read},
		"no answer, a minute ago":  {tenantsource.PollFailed, time.Minute, tenantsource.ReadNamed},
		"refused, a minute ago":    {tenantsource.SourceError, time.Minute, tenantsource.Read},
		"refused, an hour ago":     {tenantsource.SourceError, time.Hour, tenantsource.ReadNamed},
		"refused, of another spec": {tenantsource.InvalidConfig, time.Second, tenantsource.ReadNamed},
	} {
		t.Run(name, func(t *testing.T) {
			in := large(t)
			in.Guard.Interval = 24 * time.Hour
			apply(&in, tenantsource.NamedFailed{Reason: c.reason})
			if c.reason == tenantsource.InvalidConfig {
				in.Generation, in.Memory.Generation = 2, 2
				poll := tenantsource.NewPoll(keyed(t), tenantsource.Fleet{}, 0)
				in.State.Others, in.State.Generation = poll.OtherRows(2, poll.Finish()), 2
			}
			in.Now = in.Now.Add(c.after)
			if got := tenantsource.Decide(in).Step; got != c.want {
				t.Errorf("the step is %d, want %d", got, c.want)
			}
		})
	}
}
