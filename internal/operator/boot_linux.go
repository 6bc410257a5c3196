package operator

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot is the time of a clock that no one sets, and that continues while the machine is suspended.
func sinceBoot() time.Time {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return time.Now()
	}
	return time.Unix(t.Unix())
}
