//go:build !linux

// Package bootclock has the clock by which a lease is measured. It is the same for all processes of a machine, and continues
// while the machine is suspended.
package bootclock

import "time"

// Now is the time of the wall clock, without Go's reading of a clock that may stop while the machine is suspended.
func Now() time.Time { return time.Now().Round(0) }
