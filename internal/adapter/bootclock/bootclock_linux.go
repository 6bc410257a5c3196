// Package bootclock has the clock by which a lease is measured. It is the same for all processes of a machine, users do not set it, and
// it continues while the machine is suspended.
package bootclock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now is the time since the machine was started, as a time.
func Now() time.Time {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return time.Now().Round(0)
	}
	return time.Unix(t.Unix())
}
