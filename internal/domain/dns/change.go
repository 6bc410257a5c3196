package dns

// Action is what a change does.
type Action string

// The actions. A batch deletes what it replaces with its exact value, so that it never overwrites what it has not seen.
const (
	Create Action = "CREATE"
	Delete Action = "DELETE"
)

// Change creates or deletes one record set.
type Change struct {
	Action Action
	Set    RecordSet
	// Owner is the object whose record that is, for providers that keep a note next to a record. A record that is
	// restored for others has none.
	Owner Owner
}

// Sent is a batch that the provider has accepted.
type Sent struct {
	// ID is the provider's id of the change.
	ID      string
	Changes []Change
}
