// Package step is the vocabulary between a rule chain and the driver that carries its
// decisions out.
package step

// Effect says what a step does to the world.
type Effect int

// The effects.
const (
	// Rests: nothing is done; the pass ends.
	Rests Effect = iota
	// Reads: something is read, then decided again.
	Reads
	// Writes: something outside of Kubernetes is changed. There is at most one such
	// step in a pass.
	Writes
	// Keeps: only the object's own metadata is changed.
	Keeps
	// Releases: the finalizer goes, and with it the object.
	Releases
)
