package aws

import "time"

// Clock tells the time. The shape is that of PassiveClock in k8s.io/utils/clock
// minus Since, so every clock of that package fits.
type Clock interface {
	Now() time.Time
}

// RealClock is the machine's clock. It is the only place of this package that
// reads real time; inside a testing/synctest bubble it is the bubble's clock.
type RealClock struct{}

// Now returns the current time in UTC.
func (RealClock) Now() time.Time {
	return time.Now().UTC() //nolint:forbidigo // the one clock that is real by definition
}
