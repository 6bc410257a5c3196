package tenantsource_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

func seenColumn(name string, kind mapping.Type, rows int) tenantsource.SeenColumn {
	return tenantsource.SeenColumn{Column: mapping.Column{Name: name, Type: kind}, Rows: rows}
}

func TestUpset(t *testing.T) {
	text := func(name string, rows int) tenantsource.SeenColumn { return seenColumn(name, mapping.TypeString, rows) }
	const (
		gone    = `the column "plan" is missing`
		emptied = `the column "plan" had a value in %d rows and now has none`
	)
	for name, c := range map[string]struct {
		before, now         []tenantsource.SeenColumn
		rowsBefore, rowsNow int
		schemaless          bool
		want                []string
	}{
		"nothing changed":            {before: []tenantsource.SeenColumn{text("plan", 5)}, rowsBefore: 25, now: []tenantsource.SeenColumn{text("plan", 5)}, rowsNow: 25},
		"the first read of a spec":   {now: []tenantsource.SeenColumn{text("plan", 5)}, rowsNow: 25},
		"a new column":               {before: []tenantsource.SeenColumn{}, rowsBefore: 25, now: []tenantsource.SeenColumn{text("plan", 5)}, rowsNow: 25},
		"a column that a table lost": {before: []tenantsource.SeenColumn{text("plan", 1)}, rowsBefore: 25, rowsNow: 25, want: []string{gone}},
		"an empty table says nothing": {
			before: []tenantsource.SeenColumn{text("plan", 25)}, rowsBefore: 25, rowsNow: 0,
		},
		"a column of another type": {
			before: []tenantsource.SeenColumn{text("plan", 5)}, rowsBefore: 25, now: []tenantsource.SeenColumn{seenColumn("plan", mapping.TypeNumber, 5)}, rowsNow: 25,
			want: []string{`the type of the column "plan" changed from string to number`},
		},
		"a type that the store does not tell": {
			before: []tenantsource.SeenColumn{seenColumn("plan", mapping.TypeMixed, 5)}, rowsBefore: 25, now: []tenantsource.SeenColumn{text("plan", 5)}, rowsNow: 25,
		},
		"nor tells now": {
			before: []tenantsource.SeenColumn{text("plan", 5)}, rowsBefore: 25, now: []tenantsource.SeenColumn{seenColumn("plan", mapping.TypeMixed, 5)}, rowsNow: 25,
		},
		"every row lost its value":         {before: []tenantsource.SeenColumn{text("plan", 2)}, rowsBefore: 2, now: []tenantsource.SeenColumn{text("plan", 0)}, rowsNow: 2, want: []string{fmt.Sprintf(emptied, 2)}},
		"the only row did":                 {before: []tenantsource.SeenColumn{text("plan", 1)}, rowsBefore: 1, now: []tenantsource.SeenColumn{text("plan", 0)}, rowsNow: 1},
		"ten of many may":                  {before: []tenantsource.SeenColumn{text("plan", 10)}, rowsBefore: 25, now: []tenantsource.SeenColumn{text("plan", 0)}, rowsNow: 25},
		"eleven of many look like one act": {before: []tenantsource.SeenColumn{text("plan", 11)}, rowsBefore: 25, now: []tenantsource.SeenColumn{text("plan", 0)}, rowsNow: 25, want: []string{fmt.Sprintf(emptied, 11)}},
		"a twentieth of a large table may": {before: []tenantsource.SeenColumn{text("plan", 50)}, rowsBefore: 1000, now: []tenantsource.SeenColumn{text("plan", 0)}, rowsNow: 1000},
		"more than that may not":           {before: []tenantsource.SeenColumn{text("plan", 51)}, rowsBefore: 1000, now: []tenantsource.SeenColumn{text("plan", 0)}, rowsNow: 1000, want: []string{fmt.Sprintf(emptied, 51)}},
		"one value that is left is enough": {before: []tenantsource.SeenColumn{text("plan", 25)}, rowsBefore: 25, now: []tenantsource.SeenColumn{text("plan", 1)}, rowsNow: 25},
		"without a schema a column is gone when it has no values": {
			before: []tenantsource.SeenColumn{text("plan", 25)}, rowsBefore: 25, rowsNow: 25, schemaless: true, want: []string{fmt.Sprintf(emptied, 25)},
		},
		"a few values without a schema may go": {before: []tenantsource.SeenColumn{text("plan", 10)}, rowsBefore: 25, rowsNow: 25, schemaless: true},
		"without a schema types are as rows have them": {
			before: []tenantsource.SeenColumn{text("plan", 25)}, rowsBefore: 25, now: []tenantsource.SeenColumn{seenColumn("plan", mapping.TypeNumber, 25)}, rowsNow: 25, schemaless: true,
		},
		"a column that was renamed": {
			before: []tenantsource.SeenColumn{text("plan", 25)}, rowsBefore: 25, now: []tenantsource.SeenColumn{text("tier", 25)}, rowsNow: 25, want: []string{gone},
		},
		"several, in the order of their names": {
			before: []tenantsource.SeenColumn{text("a", 25), text("plan", 25)}, rowsBefore: 25, now: []tenantsource.SeenColumn{text("a", 0)}, rowsNow: 25,
			want: []string{`the column "a" had a value in 25 rows and now has none`, gone},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := tenantsource.Upset(c.before, c.rowsBefore, &tenantsource.Harvest{Rows: c.rowsNow, Columns: c.now, Declared: !c.schemaless})
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestUpsetColumnsHaveStableAndDistinctHashes(t *testing.T) {
	one, same := tenantsource.UpsetHash([]string{"a is gone"}, noon), tenantsource.UpsetHash([]string{"a is gone"}, noon)
	two, later := tenantsource.UpsetHash([]string{"a is gone", "b is gone"}, noon), tenantsource.UpsetHash([]string{"a is gone"}, noon.Add(time.Hour))
	if one != same || one == two || one == later {
		t.Errorf("%s and %s should be equal, %s and %s should differ from it", one, same, two, later)
	}
}

// settled is an input whose round has read the harvest.
func settled(in tenantsource.Input, h *tenantsource.Harvest, owned []tenantsource.Owned) tenantsource.Input {
	apply(&in, tenantsource.Began{})
	apply(&in, tenantsource.Completed{Harvest: h, Owned: owned})
	return in
}

func TestAnUpsetTableChangesNothingUntilAPersonSaysSo(t *testing.T) {
	var columns []tenantsource.SeenColumn
	for i := range 9 {
		columns = append(columns, seenColumn(fmt.Sprintf("%d%s", i, strings.Repeat("ü", 250)), mapping.TypeString, 25))
	}
	upset := func(n int) tenantsource.Input {
		in := input()
		in.Memory.Columns, in.Memory.Rows = columns[:n], 25
		return in
	}
	h := &tenantsource.Harvest{Rows: 25, Declared: true}

	one := settled(upset(1), h, nil)
	f := one.State.Round.Failure
	if f == nil || f.Reason != tenantsource.SourceError || one.State.UpsetHash == "" {
		t.Fatalf("%+v", f)
	}
	if !strings.HasSuffix(f.Message, `is missing. If this is intended, set the annotation cloudfront-tenant-operator.io/approve-deletions to `+one.State.UpsetHash+`, or change the spec`) {
		t.Errorf("no fix: %s", f.Message)
	}
	if next := tenantsource.Decide(one); next.Step != tenantsource.Rest || next.Rule != "Failed" {
		t.Errorf("%+v", next)
	}

	many := settled(upset(9), h, nil)
	if m := many.State.Round.Failure.Message; len(m) > 1024 || !strings.Contains(m, "and the same for 6 other columns. If") || !strings.Contains(m, many.State.UpsetHash) {
		t.Errorf("%d bytes: %s", len(m), m)
	}

	approved := upset(1)
	approved.Approved = one.State.UpsetHash
	if f := settled(approved, h, nil).State.Round.Failure; f != nil {
		t.Errorf("approved, and still: %s", f.Message)
	}
	wrong := upset(2)
	wrong.Approved = one.State.UpsetHash
	if settled(wrong, h, nil).State.Round.Failure == nil {
		t.Error("the approval of one column was taken for that of two")
	}
	changed := upset(1)
	changed.Generation++
	if f := settled(changed, h, nil).State.Round.Failure; f != nil {
		t.Errorf("another spec reads other columns, and still: %s", f.Message)
	}
}
