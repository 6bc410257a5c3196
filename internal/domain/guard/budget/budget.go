// Package budget has the arithmetic of losses, which the deletion budget of the cluster and the guard of a source share.
package budget

// Limit is how many customers a window may lose: the larger of a number and a share of them.
type Limit struct {
	Max     int
	Percent int
}

// Ceiling is the share, in percent, of more than a few customers that no limit exceeds unless it is configured.
const Ceiling = 50

// few is the number of customers up to which there is no ceiling.
const few = 3

// Allows is how many of that many customers a window may lose: never more than the ceiling, in percent, of more than three.
// capped says that it would be more without the ceiling.
func (l Limit) Allows(customers, ceiling int) (allowed int, capped bool) {
	const whole = 100
	allowed = max(l.Max, customers*l.Percent/whole)
	if most := customers * ceiling / whole; customers > few && most < allowed {
		return most, true
	}
	return allowed, false
}
