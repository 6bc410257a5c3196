package mapping

import (
	"cmp"
	"strings"
)

// Config is what a source says about the objects that its rows become.
type Config struct {
	// DistributionID is the default for all rows, DistributionRef the one that names an object, in the form of
	// spec.distributionRef.
	DistributionID  string
	DistributionRef map[string]any
	// Home is the namespace of objects that are named without one. Empty: that of the tenant.
	Home string
	// ManagedCertificate is the certificate request for rows without a certificate of their own, in
	// the form of spec.managedCertificateRequest. Nil for none.
	ManagedCertificate map[string]any
	Template           Template
	// Key is the column whose value identifies a row, whatever else becomes of it. Empty: the name does.
	Key string
	// Notes are annotations of the operator's own, each with the column whose value it has.
	Notes map[string]string
	// Mapping and Expressions fill fields from a row. No field is named twice among them.
	Mapping     []Mapping
	Expressions []Expression
	// Defaults are mappings that hold where neither Mapping nor Expressions name their field.
	Defaults []Mapping
	// Words are left out where the rows are those of a table.
	Words Words
}

// Words are what messages call things where the rows are something else than those of a table.
type Words struct {
	// Path leads to the template, the mapping and the expressions.
	Path string
	// Row is what a row is.
	Row string
	// Elsewhere says where a value can be made fit before it comes into an expression.
	Elsewhere string
	// ID is an expression for a text that tells rows apart.
	ID string
}

// orTable are the words of a table where none are given.
func (w Words) orTable() Words {
	if w == (Words{}) {
		return Words{Path: "spec", Row: "row", Elsewhere: "in the query or in the store", ID: "string(row.id)"}
	}
	return w
}

// nameExample is an expression for a name.
func (w Words) nameExample() string { return `"t-" + ` + w.ID }

// Template is what every object has unless its row says otherwise.
type Template struct {
	Labels, Annotations map[string]string
	// Spec has the form of the JSON of a DistributionTenant's spec.
	Spec map[string]any
}

// Mapping takes a field from a column.
type Mapping struct {
	Column, Field string
	// Optional columns may be missing in the table; the field is left to the template then.
	Optional bool
}

// Expression computes a field in CEL, with the variable row.
type Expression struct{ Field, Expression string }

// Object is a DistributionTenant as a row and the template want it: exactly the fields that they set.
type Object struct {
	// Name is metadata.name.
	Name string
	// Key identifies the row, if the config names a column for that.
	Key string `json:",omitempty"`
	// Labels and Annotations are those of the user; those of the operator are added when it is applied.
	Labels, Annotations map[string]string
	// Spec has the form of the JSON of a DistributionTenant's spec. Lists that are sets or maps by a key
	// are sorted.
	Spec map[string]any
}

// Rejection says why a row is not used.
type Rejection struct {
	// Row is the key, or the name, or the number of the row: what helps to find it.
	Row string
	// Reason names column or field, value, reason and fix.
	Reason string
	// Name is that of the object that the row would have become; empty when it can't be determined. Then the row may be
	// that of any tenant.
	Name string
	// Conflict is set where an object of that name belongs to someone else.
	Conflict bool
	// Key identifies the row, if the config names a column for that. Kept is set where the row has no name, and is known
	// to belong to no other tenant than those with this key.
	Key  string
	Kept bool
}

// ByUrgency puts first what conditions speak of, since status has room for some only: rows that freeze deletions, then
// rows that meet other objects.
func ByUrgency(a, b Rejection) int {
	rank := func(r Rejection) int {
		switch {
		case r.Name == "" && !r.Kept:
			return 0
		case r.Conflict:
			return 1
		}
		return 2
	}
	byNumber := 0
	if strings.HasPrefix(a.Row, "row ") && strings.HasPrefix(b.Row, "row ") {
		byNumber = cmp.Compare(len(a.Row), len(b.Row)) // row 2 stands before row 10
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), byNumber, strings.Compare(a.Row, b.Row), strings.Compare(a.Reason, b.Reason))
}
