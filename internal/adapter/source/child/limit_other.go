//go:build !linux || race

package child

import "runtime/debug"

// limit only makes the collector work harder: other systems have no such bound, and the race detector needs many times the
// memory of a program.
func limit(memory int64) error {
	debug.SetMemoryLimit(memory)
	return nil
}
