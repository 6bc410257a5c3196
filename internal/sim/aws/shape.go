package aws

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shape is what an element may hold according to the model of the wire format.
// A request that does not fit is refused before its meaning is looked at.
type shape struct {
	kind    shapeKind
	members []member // of a structure
	items   []string // names a list's items can have, the first is the right one
	of      *shape   // what the items are
	values  []string // the values of an enumeration
}

type shapeKind int

const (
	text shapeKind = iota
	boolean
	whole
	structure
	list
)

// member is an element that a structure can have.
type member struct {
	name     string
	required bool
	shape    *shape
}

var (
	anyText = &shape{kind: text}
	flag    = &shape{kind: boolean}
	number  = &shape{kind: whole}
)

func oneOf(values ...string) *shape { return &shape{kind: text, values: values} }

func need(name string, s *shape) member { return member{name: name, required: true, shape: s} }

func may(name string, s *shape) member { return member{name: name, shape: s} }

func fields(members ...member) *shape { return &shape{kind: structure, members: members} }

// listOf is a list whose items have one of the names; the first is the one of the model.
func listOf(s *shape, names ...string) *shape { return &shape{kind: list, of: s, items: names} }

// counted is the structure most lists of CloudFront are in: how many items, and the items.
func counted(s *shape, item string, more ...member) *shape {
	return fields(append(more, need("Quantity", number), may("Items", listOf(s, item)))...)
}

// fits holds an element against a shape. The path is that of the refusal.
func (s *Sim) fits(n *node, want *shape, path string) error {
	if want.kind == structure {
		return s.fitsStructure(n, want, path)
	}
	if want.kind == list {
		return s.fitsList(n, want, path)
	}
	value := strings.TrimSpace(n.text)
	switch {
	case len(n.kids) > 0:
		return malformed("Unexpected element %s in %s.", n.kids[0].name, path)
	case want.kind == boolean && value != "true" && value != "false":
		return violated(value, path, "Member must be true or false")
	case want.kind == whole:
		if _, err := strconv.ParseInt(value, 10, 64); err != nil {
			return violated(value, path, "Member must be a whole number")
		}
	case len(want.values) > 0 && !slices.Contains(want.values, n.text):
		return violated(n.text, path, "Member must satisfy enum value set: ["+strings.Join(want.values, ", ")+"]")
	}
	return nil
}

func (s *Sim) fitsStructure(n *node, want *shape, path string) error {
	if strings.TrimSpace(n.text) != "" {
		return malformed("Unexpected text %q in %s.", n.text, path)
	}
	for i, kid := range n.kids {
		at := slices.IndexFunc(want.members, func(m member) bool { return m.name == kid.name })
		switch {
		case at < 0:
			return malformed("Unexpected element %s in %s.", kid.name, path)
		case slices.ContainsFunc(n.kids[:i], func(o *node) bool { return o.name == kid.name }):
			return malformed("The element %s stands twice in %s.", kid.name, path)
		}
		if err := s.fits(kid, want.members[at].shape, path+"."+lowerFirst(kid.name)); err != nil {
			return err
		}
	}
	for _, m := range want.members {
		if m.required && n.child(m.name) == nil {
			return malformed("1 validation error detected: Value null at '%s.%s' failed to satisfy constraint: Member must not be null", path, lowerFirst(m.name))
		}
	}
	return checkQuantity(n)
}

func (s *Sim) fitsList(n *node, want *shape, path string) error {
	if len(n.kids) == 0 && s.switches.EmptyItemsRefused {
		return refuse(http.StatusBadRequest, "MalformedInput", "Unexpected list element termination")
	}
	for i, kid := range n.kids {
		if !slices.Contains(want.items, kid.name) {
			return malformed("Unexpected element %s in %s.", kid.name, path)
		}
		if err := s.fits(kid, want.of, fmt.Sprintf("%s.%d.member", path, i+1)); err != nil {
			return err
		}
	}
	return nil
}

// checkQuantity compares a Quantity with the number of Items next to it.
func checkQuantity(n *node) error {
	want, err := n.integer("Quantity")
	if err != nil || want == nil {
		return err
	}
	got := 0
	if items := n.child("Items"); items != nil {
		got = len(items.kids)
	}
	if got != *want {
		return refuse(http.StatusBadRequest, "InconsistentQuantities",
			"The value of Quantity in %s is %d but there are %d items.", n.name, *want, got)
	}
	return nil
}

func malformed(format string, args ...any) error {
	return refuse(http.StatusBadRequest, "MalformedXML", format, args...)
}

func violated(value, path, constraint string) error {
	return malformed("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: %s", value, path, constraint)
}

// lowerFirst spells a member as the service does in refusals.
func lowerFirst(name string) string {
	r, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToLower(r)) + name[size:]
}
