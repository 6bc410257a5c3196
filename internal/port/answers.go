package port

// Answer is what an error of the API server means for one of many objects that are written alike.
type Answer int

// The answers.
const (
	// Passing says nothing of the object: the same request may succeed the next time.
	Passing Answer = iota
	// Changed means that the object is another one, or another version, than the one that was looked at.
	Changed
	// Missing means that there is no such object, or no namespace for it.
	Missing
	// KindMissing means that the cluster does not have the kind of the object.
	KindMissing
	// RefusedOne is a refusal of this object. Others may be taken.
	RefusedOne
	// RefusedAll is a refusal that may be meant for every object: a right that is missing, or a webhook that is down.
	RefusedAll
)
