package tenantsource

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// SeenColumn is a column with how many rows have a value in it.
type SeenColumn struct {
	mapping.Column
	Rows int
}

// Poll gathers one read. It is a Sink. Its results count only once the read is known to be complete.
type Poll struct {
	// Refuse says why an object that a row would create or change may not be as the row says; empty where it may. Nil:
	// it always may.
	Refuse func(mapping.Object) string

	program *mapping.Program
	fleet   Fleet
	maxRows int
	// required and used are columns that the program names. all says that it uses all of them, as it takes rows as a whole.
	required []string
	used     map[string]bool
	all      bool

	rows     int
	declared []mapping.Column
	types    map[string]mapping.Type
	filled   map[string]int
	entries  []entry
	names    map[string]int
	domains  map[string]int
	clashes  map[string][]int
	rejected []mapping.Rejection
	// keys is how many rows had a key, kept are the objects of rows whose names are not usable.
	keys map[string]int
	kept map[string]bool
	// owners are the fleet by key; nil until that is needed.
	owners map[string][]string
}

// entry is all that is kept of a row that is a tenant.
type entry struct {
	// Change has no action where nothing has to be written.
	Change
	// refused is why the row is not used after all.
	refused string
	// foreign is set where that is because the object belongs to someone else.
	foreign bool
	// twin is set where other rows have the same name.
	twin bool
	// returns is set where the object is being deleted: a later poll creates it again.
	returns bool
}

// NewPoll begins a poll. More than maxRows rows are an error, zero for no limit.
func NewPoll(program *mapping.Program, fleet Fleet, maxRows int) *Poll {
	required, optional, all := program.Columns()
	return &Poll{
		program: program, fleet: fleet, maxRows: maxRows, required: required, used: setOf(slices.Concat(required, optional)), all: all,
		types: map[string]mapping.Type{}, filled: map[string]int{}, names: map[string]int{}, domains: map[string]int{}, clashes: map[string][]int{},
		keys: map[string]int{}, kept: map[string]bool{},
	}
}

// Wants are the columns that the poll uses; nil for all.
func (p *Poll) Wants() []string {
	if p.all {
		return nil
	}
	return slices.Sorted(maps.Keys(p.used))
}

// Columns implements Sink. A column that is needed has to be there before anything is read.
func (p *Poll) Columns(columns []mapping.Column) error {
	p.declared = columns
	has := map[string]bool{}
	for _, c := range columns {
		has[c.Name] = true
		p.types[c.Name] = c.Type
	}
	for _, name := range p.required {
		if !has[name] {
			return missingColumn(name, columns)
		}
	}
	return nil
}

// mostText is how much of a message a list may be.
const mostText = 400

func missingColumn(name string, columns []mapping.Column) error {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = prose.Shorten(c.Name, prose.LongestQuote)
	}
	// Long names in a long list must not push the fix out of the message.
	return &fault.Error{Kind: fault.NotFound, Operation: "Reading", Message: fmt.Sprintf(
		"the result has no column %s; it has %s: correct the query, spec.mapping or spec.expressions", prose.Quote(name), prose.Shorten(strings.Join(names, ", "), mostText))}
}

// Row implements Sink.
func (p *Poll) Row(row mapping.Row) error {
	p.rows++
	if p.maxRows > 0 && p.rows > p.maxRows {
		return &fault.Error{Kind: fault.Invalid, Operation: "Reading", Message: fmt.Sprintf(
			"there are more than %d rows: correct the query, or ask the administrator to raise --tenantsource-max-rows", p.maxRows)}
	}
	p.note(row)
	o, rejection := p.program.Build(p.rows, row)
	if rejection != nil {
		p.keys[rejection.Key]++
		p.reject(*rejection)
		return nil
	}
	p.keys[o.Key]++
	return p.add(o, cmp.Or(row.Key, o.Name)) // users find the row by it
}

// mostColumns is how many columns are remembered in addition to those that are used: a server without a schema may name
// others in each row.
const mostColumns = 1000

// note remembers which columns have values, and of which type.
func (p *Poll) note(row mapping.Row) {
	for name, value := range row.Values {
		if value == nil || !p.remembers(name) {
			continue
		}
		p.filled[name]++
		if p.declared != nil {
			continue
		}
		t := typeOf(value)
		if known, ok := p.types[name]; ok && known != t {
			t = mapping.TypeMixed
		}
		p.types[name] = t
	}
}

// remembers reports whether there is room for the column.
func (p *Poll) remembers(name string) bool {
	_, known := p.filled[name]
	return known || len(p.filled) < mostColumns || p.used[name]
}

func typeOf(value any) mapping.Type {
	switch value.(type) {
	case string:
		return mapping.TypeString
	case int64, float64:
		return mapping.TypeNumber
	case bool:
		return mapping.TypeBoolean
	case []any:
		return mapping.TypeList
	case map[string]any:
		return mapping.TypeObject
	case mapping.Unsupported:
		return mapping.TypeOther
	}
	return mapping.TypeTime
}

func (p *Poll) reject(r mapping.Rejection) {
	if r.Name == "" {
		p.rejected = append(p.rejected, r)
		p.keep(r.Key)
		return
	}
	// Another row of this name is a twin of one that is not used.
	first, twin := p.names[r.Name]
	if twin {
		p.entries[first].twin = true
	} else {
		p.names[r.Name] = len(p.entries)
	}
	p.entries = append(p.entries, entry{Change: Change{Name: r.Name, Row: r.Row}, refused: r.Reason, twin: twin})
}

// keep keeps the objects of a row that has no usable name.
func (p *Poll) keep(key string) {
	if key == "" {
		return
	}
	if p.owners == nil {
		p.owners = p.fleet.byKey()
	}
	for _, name := range p.owners[key] {
		p.kept[name] = true
	}
}

// attributed reports whether a row without a usable name can be that of no other objects than those that are kept for it:
// its key is that of no other row, and is theirs, or every object has one and it is that of none.
func (p *Poll) attributed(key string) bool {
	if key == "" || p.keys[key] > 1 {
		return false
	}
	for other := range p.owners {
		if !p.program.IsKey(other) && len(p.owners[key]) == 0 {
			return false
		}
	}
	return true
}

func (p *Poll) add(o mapping.Object, row string) error {
	index := len(p.entries)
	if first, ok := p.names[o.Name]; ok {
		p.entries[first].twin = true
		p.entries = append(p.entries, entry{Change: Change{Name: o.Name, Row: row}, twin: true})
		return nil
	}
	p.names[o.Name] = index
	for _, d := range o.Domains() {
		if first, taken := p.domains[d]; !taken {
			p.domains[d] = index
		} else if first != index {
			if len(p.clashes[d]) == 0 {
				p.clashes[d] = []int{first}
			}
			p.clashes[d] = append(p.clashes[d], index)
		}
	}
	e, err := p.judge(o, row)
	p.entries = append(p.entries, e)
	return err
}

// judge finds out what has to be written for the object, if anything.
func (p *Poll) judge(o mapping.Object, row string) (entry, error) {
	t, action, harm := p.fleet.lookUp(o.Name), Update, ""
	e := entry{Change: Change{Name: o.Name, Row: row, UID: t.UID}, returns: t.Deleting}
	switch {
	case t.Relation == Foreign:
		e.foreign, e.refused = true, t.Conflict(o.Name)
		return e, nil
	case t.Deleting:
		return e, nil
	case t.Relation == Absent:
		action = Create
	default:
		var same bool
		if same, harm = p.fleet.compare(t, o); same && t.Relation == Ours && !t.Disabled {
			return e, nil
		}
		if t.Disabled {
			action = Enable
		}
	}
	if p.Refuse != nil {
		if e.refused = p.Refuse(o); e.refused != "" {
			return e, nil
		}
	}
	body, err := json.Marshal(o)
	if err != nil {
		return e, fmt.Errorf("keeping the row %s: %w", row, err)
	}
	e.Action, e.Version, e.Harm, e.body = action, t.Version, harm, body
	return e, nil
}

// Present reports whether a row that was read so far names the object.
func (p *Poll) Present(name string) bool {
	_, present := p.names[name]
	return present || p.kept[name]
}

// Harms implements Seen.
func (p *Poll) Harms() []Loss {
	var out []Loss
	for _, e := range p.entries {
		if e.Harm != "" && !e.twin {
			out = append(out, e.loss())
		}
	}
	return out
}

// Finish ends the poll, after a complete read.
func (p *Poll) Finish() *Harvest {
	p.refuseTwins()
	p.refuseClashes()
	h := &Harvest{Rows: p.rows, Rejected: p.rejected, Declared: p.declared != nil, Columns: p.seen(), present: make(map[string]bool, len(p.names)), domains: p.domains}
	maps.Copy(h.present, p.kept)
	for i := range p.rejected {
		r := &p.rejected[i]
		if r.Kept = p.attributed(r.Key); !r.Kept {
			h.Nameless++
		}
	}
	for _, e := range p.entries {
		h.present[e.Name] = true
		if e.refused != "" {
			h.Rejected = append(h.Rejected, mapping.Rejection{Row: e.Row, Reason: e.refused, Name: e.Name, Conflict: e.foreign})
			if e.foreign {
				h.Conflicts++
			}
			continue
		}
		h.Tenants++
		if e.returns {
			h.Returning++
		}
		if e.Action != "" {
			h.Changes = append(h.Changes, e.Change)
		}
	}
	slices.SortFunc(h.Changes, func(a, b Change) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(h.Rejected, mapping.ByUrgency)
	return h
}

// seen lists the columns that are used.
func (p *Poll) seen() []SeenColumn {
	var out []SeenColumn
	for _, name := range slices.Sorted(maps.Keys(p.types)) {
		if p.used[name] || p.all {
			out = append(out, SeenColumn{Column: mapping.Column{Name: name, Type: p.types[name]}, Rows: p.filled[name]})
		}
	}
	return out
}
