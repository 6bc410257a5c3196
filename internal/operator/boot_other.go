//go:build !linux

package operator

import "time"

// sinceBoot is the time of the wall clock, without Go's reading of a clock that may stop while the machine is suspended.
func sinceBoot() time.Time { return time.Now().Round(0) }
