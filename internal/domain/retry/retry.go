// Package retry says when to look or try again. All of it is a pure function of times, counts and a random number: the
// waiting is done by the work queue.
package retry

import "time"

// FirstRetry and LastRetry are the bounds of the usual schedule.
const (
	FirstRetry = 5 * time.Second
	LastRetry  = 30 * time.Minute
)

// Schedule says when something is due again that has been failing since a known time: First
// after the first failure, then each gap as long as the whole time before it, up to Last.
type Schedule struct{ First, Last time.Duration }

// The schedules.
var (
	// Usual is for failures that only a user, or a slow external system, can fix. The first tries catch what recovers
	// within seconds; the ceiling keeps ten thousand blocked objects at about five calls a second.
	Usual = Schedule{First: FirstRetry, Last: LastRetry}
	// Proof is for a domain that does not point to CloudFront yet as far as AWS sees: a user is waiting for it, and
	// records take minutes to propagate.
	Proof = Schedule{First: FirstRetry, Last: 5 * time.Minute}
	// Republished is for creates that names have to be published for each time: with less time
	// between them the names would never be out of DNS.
	Republished = Schedule{First: 5 * time.Minute, Last: LastRetry}
	// Certificates is for requests of certificates that failed: ACM allows an account 5,000
	// requests a year, and a certificate that failed has usually been tried for three days.
	Certificates = Schedule{First: 10 * time.Minute, Last: 24 * time.Hour}
	// Places is for a zone or an endpoint that was missing. One list, remembered for a minute, answers for all objects that
	// miss one.
	Places = Schedule{First: time.Minute, Last: LastRetry}
)

// The intervals at which objects in flight are followed. A deployment usually takes from one to five minutes, so it is
// read often for the first two minutes of its flight, and then less and less often up to the interval of the quiet
// sweep.
const (
	FollowEvery = 10 * time.Second
	followFresh = 2 * time.Minute
	// landingEvery is the shortest pause between two looks at what should land any moment.
	landingEvery = 2 * time.Second
	// followedPages is how many pages of the list following asks for in a second, where it
	// lists: more tenants are followed at the same cost, less often.
	followedPages = 5
)

// Jitter spreads d by up to a tenth on both sides. random is in [0, 1).
func Jitter(d time.Duration, random float64) time.Duration {
	return time.Duration(float64(d) * (0.9 + 0.2*random))
}

// Next says when the next try is due. It depends only on since and now, so it survives a restart without a counter, and
// a restart does not reset it.
func (s Schedule) Next(since, now time.Time) time.Time {
	gap := s.First
	for due := since.Add(gap); ; due = due.Add(gap) {
		if due.After(now) {
			return due
		}
		if elapsed := due.Sub(since); gap < s.Last {
			gap = min(elapsed, s.Last)
		} else {
			// On the plateau the next due time is found without walking to it.
			steps := now.Sub(due)/s.Last + 1
			return due.Add(steps * s.Last)
		}
	}
}

// Backoff is the pause before the next try after n failures in a row: First after the first failure, then
// twice as long after each, up to Last.
type Backoff struct{ First, Last time.Duration }

// Delay is the pause after n failures.
func (b Backoff) Delay(failures int) time.Duration {
	pause := b.First
	for ; failures > 1 && pause < b.Last; failures-- {
		pause *= 2
	}
	return min(pause, b.Last)
}

// The bounds of the pause after AWS said that something has changed meanwhile. Mostly a fresh
// look tells what; where reads lag behind, looking more often does not make them faster.
const (
	firstLook = time.Second
	lastLook  = 30 * time.Second
)

// LookAgain is the pause before the next look after n conflicts in a row.
func LookAgain(n int) time.Duration { return Backoff{First: firstLook, Last: lastLook}.Delay(n) }

// FollowDelay is the pause between two looks at an object that has been in flight for
// age, when flights usually take as long as usual; zero is for unknown. Before nine tenths of that
// there is nothing to see, and until half as long again it may land at any moment. It never
// exceeds quiet, the interval of the sweep that sees every object anyway.
func FollowDelay(age, usual, quiet time.Duration) time.Duration {
	age = max(age, 0)
	first := usual - usual/10
	switch {
	case age < first:
		return min(max(first-age, landingEvery), quiet)
	case age < usual+usual/2:
		return min(max(landingEvery, age/10), quiet)
	case age <= followFresh:
		return min(FollowEvery, quiet)
	}
	return min(max(FollowEvery, age/6), quiet)
}

// FollowPause is the pause after a listing that follows what is in flight, by its pages and the time that it took.
// While more is being launched that will not land yet it is longer, because each of those needs another listing in any
// case; and at least as long as the listing, which was slow because launches wait for the same calls.
func FollowPause(pages int, took time.Duration, launching bool) time.Duration {
	pause := time.Duration(pages) * time.Second / followedPages
	if launching {
		return max(pause, took, FollowEvery)
	}
	return max(pause, landingEvery)
}

// UsualFlight updates the usual duration of flights with that of one more: at once when it was shorter,
// because the first to land of many that were checked together tells the most; otherwise slowly, because a flight that
// was checked too late only seems long.
func UsualFlight(usual, took time.Duration) time.Duration {
	if usual == 0 || took < usual {
		return took
	}
	return usual + (took-usual)/64
}
