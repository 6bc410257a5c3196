package chain

// Effect says what a step does to the world.
type Effect int

// The effects.
const (
	// Rest: nothing is done; the pass ends.
	Rest Effect = iota
	// Read: something is read, then decided again.
	Read
	// Write: something outside of Kubernetes is changed. There is at most one such step in a pass.
	Write
	// Apply: objects of the cluster are changed, the finalizer and the annotations of this one included.
	Apply
	// Release: the finalizer is removed, and the object is gone.
	Release
)

// Step is the one thing that a decision asks for. Each kind has its own.
type Step interface {
	// Effect says what the step does to the world.
	Effect() Effect
}

// A step embeds the one of these that tells its effect.
type (
	// Rests is embedded in a step that does nothing.
	Rests struct{}
	// Reads is embedded in a step that reads something.
	Reads struct{}
	// Writes is embedded in a step that changes something outside of Kubernetes.
	Writes struct{}
	// Applies is embedded in a step that changes objects of the cluster.
	Applies struct{}
	// Releases is embedded in the step that removes the finalizer.
	Releases struct{}
)

// Effect is Rest.
func (Rests) Effect() Effect { return Rest }

// Effect is Read.
func (Reads) Effect() Effect { return Read }

// Effect is Write.
func (Writes) Effect() Effect { return Write }

// Effect is Apply.
func (Applies) Effect() Effect { return Apply }

// Effect is Release.
func (Releases) Effect() Effect { return Release }
