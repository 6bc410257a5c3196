package mapping

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/kubename"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// Program is a Config, checked and ready to turn rows into objects. It never changes, and may be used
// by several goroutines.
type Program struct {
	// inputs are what rows fill: the name first, then in the order of the table.
	inputs []input
	// base is what an object is whose row sets nothing.
	base Object
	// key is the column that identifies a row.
	key string
	// notes are annotations with the columns whose values they have.
	notes map[string]string
	// home is the namespace of objects that are named without one; empty for that of the tenant.
	home string

	required, optional []string
	wholeRow           bool

	words Words
}

// input is a field that rows fill, from a column or by an expression.
type input struct {
	target

	column   string
	optional bool
	// expression is nil for a column.
	expression *expression
}

// Columns returns the columns that are used, sorted: those that rows need, and those that they may leave out. All of
// them are used where an expression takes the row as a whole; then the other two name those that are known by name.
func (p *Program) Columns() (required, optional []string, all bool) {
	return p.required, p.optional, p.wholeRow
}

// Build turns a row into an object, or says why it is not used. The number of the row is for rows that
// have neither a key nor a name. The same row always gives the same object, which shares nothing with others.
func (p *Program) Build(n int, row Row) (Object, *Rejection) {
	values := make([]any, len(p.inputs))
	r := reader{row: row, words: p.words}
	name, reason := p.readName(&r)
	key := p.Key(row)
	if reason != "" {
		return Object{}, &Rejection{Row: describe(n, row, name), Reason: reason, Key: key}
	}
	reject := func(reason string) (Object, *Rejection) {
		return Object{}, &Rejection{Row: describe(n, row, name), Reason: reason, Name: name, Key: key}
	}
	values[0] = name
	for i := 1; i < len(p.inputs); i++ {
		if values[i], reason = r.read(&p.inputs[i]); reason != "" {
			return reject(reason)
		}
	}
	o := p.base.clone()
	o.Key = key
	p.override(&o, values)
	p.settle(o.Spec)
	p.note(&o, row)
	if f := missing(o.Spec); f != nil {
		return reject(p.lacks(f))
	}
	if twice := setTwice(o.Spec); twice != "" {
		return reject(twice)
	}
	return o, nil
}

// setTwice says which parent is named by its ID and by its object.
func setTwice(spec map[string]any) string {
	for _, pair := range [][2]string{{pathDistribution, pathDistributionRef}, {pathGroup, pathGroupRef}} {
		if spec[pair[0]] != nil && spec[pair[1]] != nil {
			return fmt.Sprintf("%s and %s are both set, by the row or the template: remove one of the two", pair[0], pair[1])
		}
	}
	return ""
}

// settle completes the references to objects that are not in the namespace of the tenant.
func (p *Program) settle(spec map[string]any) {
	for _, path := range []string{pathDistributionRef, pathGroupRef} {
		if ref, ok := spec[path].(map[string]any); ok && p.home != "" && ref["namespace"] == nil {
			ref["namespace"] = p.home
		}
	}
}

// note writes values of columns into annotations of the operator. What is longer than a text of status is of no use there.
func (p *Program) note(o *Object, row Row) {
	for annotation, column := range p.notes {
		value, ok := plain(row.Values[column])
		if t, isTime := row.Values[column].(time.Time); isTime {
			value, ok = t.UTC().Format(time.RFC3339Nano), true
		}
		if !ok || value == "" {
			continue
		}
		if o.Annotations == nil {
			o.Annotations = map[string]string{}
		}
		o.Annotations[annotation] = prose.Fit(value, longestNote)
	}
}

// longestNote has room for every key that a state table takes, and for one that is too long to be told so.
const longestNote = 4*255 + 4

// describe says which row it is.
func describe(n int, row Row, name string) string {
	switch {
	case row.Key != "":
		return prose.Shorten(row.Key, prose.LongestQuote)
	case name != "":
		return prose.Shorten(name, prose.LongestQuote)
	default:
		return fmt.Sprintf("row %d", n)
	}
}

// readName reads the name, or says why there is none. The name in the row is returned in both cases, so that people can
// find the row.
func (p *Program) readName(r *reader) (name, reason string) {
	in := &p.inputs[0]
	value, reason := r.read(in)
	name, _ = value.(string)
	switch {
	case reason != "":
		return "", reason
	case name == "":
		return "", fmt.Sprintf("%s is empty, but every %s needs a name: add one, or leave the %[2]s out", in, p.words.Row)
	case !kubename.IsSubdomain(name):
		return name, in.illegalName(name, p.words)
	case len(name) >= shortestTenantName && len(name) <= longestTenantName || p.hasTenantName(r):
		return name, ""
	}
	return name, fmt.Sprintf("%s: %s has %d characters, but the name of a tenant in AWS must have %d to %d: set tenantName as well, or use an expression, such as %s",
		in, prose.Quote(name), len(name), shortestTenantName, longestTenantName, p.words.nameExample())
}

// hasTenantName reports whether the tenant of a row has its own name in AWS.
func (p *Program) hasTenantName(r *reader) bool {
	for i := range p.inputs {
		if p.inputs[i].field.path == pathTenantName {
			if value, _ := r.read(&p.inputs[i]); value != nil {
				return true
			}
		}
	}
	return p.base.Spec[pathTenantName] != nil
}

func (in *input) illegalName(name string, w Words) string {
	cure := "use an expression for the name, such as " + w.nameExample()
	if kubename.IsSubdomain(strings.ToLower(name)) {
		cure = fmt.Sprintf("it has capital letters; change the %s, or use an expression for the name, such as row.name.lowerAscii()", w.Row)
	}
	return fmt.Sprintf("%s: %s is not a valid object name (lower-case letters, digits, and inner hyphens and dots): %s", in, prose.Quote(name), cure)
}

// lacks says that a row does not set a required field.
func (p *Program) lacks(f *field) string {
	for i := range p.inputs {
		if p.inputs[i].field == f {
			return fmt.Sprintf("%s is empty, and nothing else sets %s: give the %s a value, or set it in %s.template", &p.inputs[i], f.path, p.words.Row, p.words.Path)
		}
	}
	return fmt.Sprintf("nothing sets %s, which is required together with what the %s sets: set it in %s.template, or from a column", f.path, p.words.Row, p.words.Path)
}

// override lets the values of a row replace what the template says.
func (p *Program) override(o *Object, values []any) {
	for i := range p.inputs {
		if values[i] == nil {
			continue
		}
		for _, r := range replacements {
			if r.by == p.inputs[i].field.path && (r.when == "" || values[i] == r.when) {
				drop(o.Spec, r.place)
			}
		}
	}
	certificate := false
	for i := range p.inputs {
		if values[i] != nil {
			p.inputs[i].put(o, values[i])
			certificate = certificate || p.inputs[i].field.path == pathCertificate
		}
	}
	if certificate {
		delete(o.Spec, pathRequest)
	}
}

// replacements are the fields of the template that make no sense next to a value of the row.
var replacements = []struct {
	by, when string
	place    []string
}{
	{by: "customizations.webAcl.action", when: "disable", place: []string{"customizations", "webAcl", "arn"}},
	{by: "customizations.geoRestrictions.restrictionType", when: "none", place: []string{"customizations", "geoRestrictions", "locations"}},
	{by: "dns.hostedZoneId", place: []string{"dns", "zoneName"}},
	{by: "dns.zoneName", place: []string{"dns", "hostedZoneId"}},
	{by: pathDistribution, place: []string{pathDistributionRef}},
	{by: pathDistributionRef + ".name", place: []string{pathDistribution}},
	{by: pathGroup, place: []string{pathGroupRef}},
	{by: pathGroupRef + ".name", place: []string{pathGroup}},
}

// String names what fills the field, for people.
func (in *input) String() string {
	if in.expression != nil {
		return "the expression for " + in.target.String()
	}
	if in.column == in.target.String() {
		return fmt.Sprintf("column %q", in.column)
	}
	return fmt.Sprintf("column %q for %s", in.column, in.target)
}

// reader reads the values of one row.
type reader struct {
	row   Row
	words Words
	// variables are those of expressions, made when the first one is evaluated.
	variables map[string]any
}

// read returns what a row has for a field, nil for nothing, or why it can't be used.
func (r *reader) read(in *input) (value any, reason string) {
	raw, present := any(nil), true
	if in.expression == nil {
		raw, present = r.row.Values[in.column]
	} else if raw, reason = in.expression.evaluate(r); reason != "" {
		return nil, fmt.Sprintf("%s: %s", in, reason)
	}
	if !present && !in.optional {
		return nil, fmt.Sprintf("%s: the %s has no such column: add it, or correct the column name", in, r.words.Row)
	}
	value, problem := in.field.convert(raw)
	if problem != "" {
		return nil, fmt.Sprintf("%s: %s", in, problem)
	}
	return value, ""
}

// clone returns a deep copy of the object.
func (o Object) clone() Object {
	return Object{Name: o.Name, Labels: maps.Clone(o.Labels), Annotations: maps.Clone(o.Annotations), Spec: cloneMap(o.Spec)}
}

func cloneMap(m map[string]any) map[string]any {
	out := make(map[string]any, len(m)+2)
	for k, v := range m {
		out[k] = cloneValue(v)
	}
	return out
}

func cloneValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return cloneMap(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = cloneValue(v[i])
		}
		return out
	default:
		return v
	}
}
