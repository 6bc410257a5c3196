package resource

import "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"

// SomeFields names what differs, the first few of it.
func SomeFields(diff []Difference) string {
	names := make([]string, len(diff))
	for i, d := range diff {
		names[i] = d.Field
	}
	return prose.List(names)
}

// Difference is one field in which AWS and the spec disagree.
type Difference struct {
	// Field is the path below spec.
	Field string
	// Desired and Observed are the two values as text; empty means absent.
	Desired, Observed string
}

// someItems bounds lists in messages.
const someItems = 5
