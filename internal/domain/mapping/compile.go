package mapping

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// Compile checks a Config and prepares it for turning rows into objects. The error names every mistake, with field,
// value, reason and fix.
func Compile(c Config) (*Program, error) {
	k := compiler{seen: map[target]string{}, program: &Program{words: c.Words.orTable()}}
	k.setBase(c)
	k.addInputs(c)
	if k.program.key = c.Key; c.Key != "" {
		k.columns.add(c.Key, false)
	}
	k.program.notes, k.program.home = c.Notes, c.Home
	for _, column := range c.Notes {
		k.columns.add(column, false)
	}
	if len(k.mistakes) == 0 {
		k.checkWhole()
	}
	if len(k.mistakes) > 0 {
		return nil, errors.Join(k.mistakes...)
	}
	k.program.required, k.program.optional = k.columns.split()
	k.program.wholeRow = k.columns.whole
	return k.program, nil
}

// compiler collects what a Config says, and what is wrong with it.
type compiler struct {
	program *Program
	// seen tells what fills a field.
	seen     map[target]string
	columns  columnUse
	mistakes []error
	// env is created for the first expression, because most sources have none.
	env *cel.Env
}

func (k *compiler) mistake(format string, args ...any) {
	k.mistakes = append(k.mistakes, fmt.Errorf(format, args...))
}

// at is the path of a field of the Config, for messages.
func (k *compiler) at(field string) string { return k.program.words.Path + "." + field }

// setBase lays the template over what the source gives to all rows.
func (k *compiler) setBase(c Config) {
	base := &k.program.base
	base.Spec = map[string]any{}
	k.metadata(k.at("template.metadata.labels"), "metadata.labels", c.Template.Labels)
	k.metadata(k.at("template.metadata.annotations"), "metadata.annotations", c.Template.Annotations)
	if t := c.Template.Spec; t[pathDistribution] == nil && t[pathDistributionRef] == nil {
		k.set(k.at(pathDistribution), target{field: findField(pathDistribution)}, c.DistributionID)
		k.tree(k.at(pathDistributionRef), pathDistributionRef, c.DistributionRef)
	}
	own := lookUp(c.Template.Spec, findField(pathCertificate).place) != nil
	asks := c.Template.Spec[pathRequest] != nil
	if len(c.ManagedCertificate) > 0 && (asks || !own) {
		// The certificate of the template replaces the request of the source, as that of a row does; a
		// template that has both means both.
		k.tree(k.at(pathRequest), pathRequest, c.ManagedCertificate)
	}
	k.tree(k.at("template.spec"), "", c.Template.Spec)
}

func (k *compiler) metadata(at, base string, values map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		t, err := parseTarget(base + "[" + key + "]")
		if err != nil {
			k.mistake("%s: %w", at, err)
			continue
		}
		if values[key] == "" {
			t.put(&k.program.base, "")
			continue
		}
		k.set(at+"["+key+"]", t, values[key])
	}
}

// set puts a value that holds for all rows.
func (k *compiler) set(at string, t target, v any) {
	value, problem := t.field.convert(v)
	if problem != "" {
		k.mistake("%s: %s", at, problem)
	} else if value != nil {
		t.put(&k.program.base, value)
	}
}

// tree sets the fields of a tree that has the form of JSON. Empty blocks and lists mean nothing.
func (k *compiler) tree(at, path string, tree map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		v, at, path := native(tree[name]), at+"."+name, join(path, name)
		f := findField(path)
		block, isBlock := v.(map[string]any)
		switch {
		case v == nil:
		case f != nil && f.area == inList:
			k.list(at, f, v)
		case f != nil && f.area == inSpec:
			k.set(at, target{field: f}, flat(f, v))
		case isBlock && isBlockPath(path):
			k.tree(at, path, block)
		default:
			k.mistake("%s: there is no such field, or it is not an object: use one of %s", at, strings.Join(Paths(), ", "))
		}
	}
}

// isBlockPath reports whether a path has fields below it.
func isBlockPath(path string) bool {
	return slices.ContainsFunc(fields, func(f field) bool { return f.area == inSpec && strings.HasPrefix(f.path, path+".") })
}

// native brings numbers to the type that rows have.
func native(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case int32:
		return int64(v)
	default:
		return v
	}
}

// flat returns the domains of a list of objects as texts.
func flat(f *field, v any) any {
	list, ok := v.([]any)
	if !ok || f.kind != kindDomains {
		return v
	}
	out := make([]any, len(list))
	for i := range list {
		if out[i] = list[i]; member(list[i], "domain") != "" {
			out[i] = member(list[i], "domain")
		}
	}
	return out
}

// list sets the elements of a list that has a key and a value in each.
func (k *compiler) list(at string, f *field, v any) {
	list, ok := v.([]any)
	if !ok {
		k.mistake("%s: %s has the wrong type: use a list of objects with %s and %s", at, show(v), f.key, f.value)
		return
	}
	for i, element := range list {
		key := member(element, f.key)
		t, err := parseTarget(f.place[0] + "[" + key + "]")
		if err != nil {
			k.mistake("%s[%d]: %w", at, i, err)
			continue
		}
		block, _ := element.(map[string]any)
		switch value := block[f.value]; {
		case value != nil && value != "":
			k.set(fmt.Sprintf("%s[%s].%s", at, key, f.value), t, native(value))
		case f.emptyValue:
			t.put(&k.program.base, "")
		default:
			k.mistake("%s[%s].%s is empty: set a value, or remove the element", at, key, f.value)
		}
	}
}

// addInputs adds what rows fill.
func (k *compiler) addInputs(c Config) {
	for _, m := range c.Mapping {
		k.addMapping(fmt.Sprintf("%s[%s]", k.at("mapping"), m.Column), m)
	}
	for _, e := range c.Expressions {
		k.addExpression(e)
	}
	for _, m := range c.Defaults {
		t, err := parseTarget(m.Field)
		if _, taken := k.seen[t]; err != nil || !taken {
			k.addMapping(fmt.Sprintf("the default mapping of column %s", m.Column), m)
		}
	}
	order := func(in input) int {
		return slices.IndexFunc(fields, func(f field) bool { return f.path == in.field.path })
	}
	slices.SortFunc(k.program.inputs, func(a, b input) int {
		if d := order(a) - order(b); d != 0 {
			return d
		}
		return strings.Compare(a.key, b.key)
	})
}

func (k *compiler) addMapping(at string, m Mapping) {
	if m.Column == "" {
		k.mistake("%s: the column for %s is empty: name the column", at, prose.Quote(m.Field))
		return
	}
	if t, ok := k.claim(at, m.Field); ok {
		k.columns.add(m.Column, m.Optional)
		k.program.inputs = append(k.program.inputs, input{target: t, column: m.Column, optional: m.Optional})
	}
}

func (k *compiler) addExpression(e Expression) {
	at := fmt.Sprintf("%s[%s]", k.at("expressions"), e.Field)
	t, ok := k.claim(at, e.Field)
	if !ok {
		return
	}
	if k.env == nil {
		env, err := environment()
		if err != nil {
			k.mistake("%s: preparing CEL: %w", at, err)
			return
		}
		k.env = env
	}
	compiled, use, err := compileExpression(k.env, e.Expression, t.field, k.program.words)
	if err != nil {
		k.mistake("%s: %w", at, err)
		return
	}
	k.columns.merge(use)
	k.program.inputs = append(k.program.inputs, input{target: t, expression: compiled})
}

// claim takes a field for one mapping or expression.
func (k *compiler) claim(at, path string) (target, bool) {
	t, err := parseTarget(path)
	if err != nil {
		k.mistake("%s: %w", at, err)
		return t, false
	}
	if other, taken := k.seen[t]; taken {
		k.mistake("%s: %s is already set by %s: remove one of the two", at, prose.Quote(path), other)
		return t, false
	}
	k.seen[t] = at
	return t, true
}

// checkWhole finds what no row could ever make right: fields that are needed and that nothing sets.
func (k *compiler) checkWhole() {
	if len(k.program.inputs) == 0 || k.program.inputs[0].field.area != inName {
		k.mistake("%s: nothing sets name, which every %s needs: map a column to name, or add an expression for it", k.at("mapping"), k.program.words.Row)
	}
	fullest := k.program.base.clone()
	for i := range k.program.inputs {
		in := &k.program.inputs[i]
		in.put(&fullest, "anything")
		if list, ok := fullest.Spec[in.field.placeName()].([]any); ok && in.field.area == inList && len(list) > in.field.most {
			k.mistake("%s: %s has more than %d elements together with those of the template, which AWS does not accept: remove some", k.program.words.Path, in.field.place[0], in.field.most)
			return
		}
	}
	if f := missing(fullest.Spec); f != nil {
		k.mistake("%s: nothing sets %s, which is required: set it in %s, from a column or with an expression", k.program.words.Path, f.path, k.at("template"))
	}
}

// placeName is the first name of the place of a field in the spec.
func (f *field) placeName() string {
	if len(f.place) == 0 {
		return ""
	}
	return f.place[0]
}

// columnUse collects which columns are used, and whether rows may leave them out.
type columnUse struct {
	needed map[string]bool
	// whole says that a row is used as a whole.
	whole bool
}

// add notes a use. A column that one use needs is needed.
func (u *columnUse) add(column string, optional bool) {
	if u.needed == nil {
		u.needed = map[string]bool{}
	}
	u.needed[column] = u.needed[column] || !optional
}

func (u *columnUse) merge(other columnUse) {
	for column, needed := range other.needed {
		u.add(column, !needed)
	}
	u.whole = u.whole || other.whole
}

// split returns the columns that are needed and the others, sorted.
func (u *columnUse) split() (required, optional []string) {
	for _, column := range slices.Sorted(maps.Keys(u.needed)) {
		if u.needed[column] {
			required = append(required, column)
		} else {
			optional = append(optional, column)
		}
	}
	return required, optional
}
