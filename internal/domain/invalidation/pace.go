package invalidation

import "time"

// room is how many tenants may be in progress at the same time: AWS has a quota of paths, and one of paths with a star.
func (in Input) room() int {
	room := mostPaths / max(in.Paths, 1)
	if in.Stars > 0 {
		room = min(room, mostStars/in.Stars)
	}
	return max(room, 1)
}

// expected is how long some tenants take if nothing else is invalidated: requests are as far apart as the rate says, or as
// the room of those in progress makes them.
func (in Input) expected(tenants int) time.Duration {
	apart := usual / time.Duration(in.room())
	if in.Rate > 0 {
		apart = max(apart, time.Duration(float64(time.Second)/in.Rate))
	}
	return time.Duration(tenants-1)*apart + usual
}
