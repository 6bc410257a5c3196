package distribution

import "fmt"

// Words are what messages say of a kind.
type Words struct {
	// Noun is "distribution" or "connection group".
	Noun string
	// Object is the name of the resource, or of the object where a resource has none.
	Object string
	// Field is the field of the spec that names the resource: distributionId or name.
	Field string
	// Command is the word in the commands of the AWS CLI: distribution or connection-group.
	Command string
	// GetFlag is the flag of the command that reads the resource which takes its ID.
	GetFlag string
	// Filter is the key of the AWS CLI's association filter for its tenants.
	Filter string
}

// the names the resource at the beginning of a sentence.
func (w Words) the() string { return "The " + w.Noun }

// label names the resource that was observed.
func (o Observed) label() string {
	if o.Name == "" {
		return o.ID
	}
	return fmt.Sprintf("%s (%s)", o.Name, o.ID)
}
