// Package instant keeps a point in time in a third of the memory that time.Time takes, for what is remembered of every tenant.
package instant

import "time"

// Instant is a point in time after 1970, in nanoseconds of Unix time. The zero value is the zero time.
type Instant int64

// Of is the instant of a time.
func Of(t time.Time) Instant {
	if t.IsZero() {
		return 0
	}
	return Instant(t.UnixNano())
}

// Time is the time of an instant, in UTC.
func (i Instant) Time() time.Time {
	if i == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(i)).UTC()
}
