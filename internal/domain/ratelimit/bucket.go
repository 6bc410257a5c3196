// Package ratelimit shares a rate of calls between those who ask for it. It is pure: it is told the time, and answers
// with a delay.
package ratelimit

import (
	"container/heap"
	"math"
	"time"
)

// How the rate budget reacts to the service, and how it treats those who wait.
const (
	// lowestRate keeps a throttled operator moving: a call every five seconds.
	lowestRate = 0.2
	// recoverEvery and recoverBy take a default budget from its floor back to full in
	// a little over three minutes, slow enough to notice the next throttle in between.
	recoverEvery = 10 * time.Second
	recoverBy    = 0.5
	// reservedShare of rate and burst belongs to the reserved class alone.
	reservedShare = 0.1
	// grace is how late a caller may come back without losing its place. It buys a
	// work queue that is busy; a caller that vanished costs others no more than that.
	grace = 5 * time.Second
	// longWait is the delay beyond which the forecast is not trusted whole: those ahead
	// may vanish meanwhile.
	longWait = 5 * time.Minute
	// epsilon forgives what adding up fractions of tokens loses.
	epsilon = 1e-6
)

// BucketConfig configures a Bucket.
type BucketConfig struct {
	// Rate is the number of calls a second, and the ceiling of the adaptive rate.
	Rate float64
	// Burst is the number of calls that a full bucket allows at once.
	Burst int
	// Reserved is the class that has a tenth of rate and burst (one call at least) for
	// itself. While others ask for all that there is, the tenth is its guarantee and its limit.
	Reserved int
}

// Bucket divides a rate of calls between callers of different urgency. Callers do not block in it: each one either may
// call now or is told when to ask again.
//
// Classes are numbers, the smallest the most urgent. Within the shared nine tenths a class has strict priority over all
// less urgent ones, and is served in order of arrival. So less urgent classes starve for as long as the more urgent
// ones ask for the whole rate. That is intended: urgent work is finite (every change is made once), and what must
// continue meanwhile is in the reserved class, which can't be starved.
//
// A caller with a key that has to wait holds a place in the queue, and its delay is the
// time until that place's turn at the rate to be expected. It keeps the place however
// often it asks, and loses it when it does not ask within grace of its delay. One
// without a key is told a delay and holds no place.
//
// The rate adapts: it falls when the service throttles and recovers in small steps. A call
// refused after ten clean seconds says that the rate is just too high, and takes a tenth of it;
// one sent at that lower rate and refused too halves it.
// Bursts shrink in proportion, as a burst is what a throttling service minds the most.
//
// Time is a parameter, and a Bucket is not safe for concurrent use.
type Bucket struct {
	config BucketConfig
	// rate is the present adaptive rate of both lanes together.
	rate float64
	now  time.Time
	// slowedAt is when the rate last fell, refusedAt when a call was last refused.
	slowedAt, refusedAt time.Time
	cleanSince          time.Time
	shared              *lane
	reserved            *lane
	places              map[string]*place
	expiry              expiryHeap
}

// NewBucket returns a full bucket. What makes no sense is raised to the smallest that
// does: a rate of the floor, a burst of one.
func NewBucket(config BucketConfig, now time.Time) *Bucket {
	if !(config.Rate >= lowestRate) { // also catches NaN
		config.Rate = lowestRate
	}
	config.Burst = max(config.Burst, 1)
	own := max(1, math.Round(float64(config.Burst)*reservedShare))
	b := &Bucket{
		config: config, rate: config.Rate, now: now, cleanSince: now,
		shared:   &lane{share: 1 - reservedShare, burst: max(1, float64(config.Burst)-own)},
		reserved: &lane{share: reservedShare, burst: own},
		places:   map[string]*place{},
	}
	b.shared.tokens, b.reserved.tokens = b.shared.burst, b.reserved.burst
	return b
}

// Take asks for one call. It returns zero when the caller may go, or the delay after
// which to ask again. A key must not be shared by callers that wait at the same time.
func (b *Bucket) Take(now time.Time, key string, class int) time.Duration {
	b.advance(now)
	b.expire()
	l := b.laneOf(class)
	p := b.places[key]
	if p != nil && p.queue.class != class {
		// What became more or less urgent moves to the queue where it belongs now.
		b.leave(p)
		p = nil
	}
	ahead := l.ahead(class, p)
	need := float64(ahead + 1)
	if from := b.payer(l, need); from != nil {
		from.tokens--
		if p != nil {
			b.leave(p)
		}
		return 0
	}
	delay := soften(b.until(l, need))
	if key != "" {
		b.reserve(key, class, p, b.now.Add(delay+grace))
	}
	return delay
}

// payer is the lane that pays for a call now: the caller's own, or the shared one for the
// reserved class while it is idle; nil when the caller has to wait.
func (b *Bucket) payer(l *lane, need float64) *lane {
	switch {
	case l.tokens+epsilon >= need:
		return l
	case l == b.reserved && need == 1 && b.shared.idle(b.rate/b.config.Rate):
		return b.shared
	}
	return nil
}

// Owe takes a call that is sent now in any case. Later callers wait longer, so that the rate is kept; only the burst
// may be exceeded, by as many calls as are owed.
func (b *Bucket) Owe(now time.Time, class int) {
	b.advance(now)
	b.laneOf(class).tokens--
}

// Throttled says that the service refused a call, sent at that time, for its rate. Of
// several calls that were under way together only the first slows down: the others were sent
// at the old rate and say nothing of the new one.
func (b *Bucket) Throttled(now, sent time.Time) {
	b.advance(now)
	clean := b.refusedAt.IsZero() || b.now.Sub(b.refusedAt) >= recoverEvery
	b.cleanSince, b.refusedAt = b.now, b.now
	if !sent.After(b.slowedAt) {
		return
	}
	b.slowedAt = b.now
	if clean {
		b.rate = max(lowestRate, b.rate*0.9)
	} else {
		b.rate = max(lowestRate, b.rate/2)
	}
	// What was saved up was saved at a rate that proved too high.
	b.shared.tokens = min(b.shared.tokens, 0)
	b.reserved.tokens = min(b.reserved.tokens, 0)
}

// Rate returns the adaptive rate, in calls per second.
func (b *Bucket) Rate(now time.Time) float64 {
	b.advance(now)
	return b.rate
}

// Waiting returns the number of callers that hold a place.
func (b *Bucket) Waiting() int { return len(b.places) }

func (b *Bucket) laneOf(class int) *lane {
	if class == b.config.Reserved {
		return b.reserved
	}
	return b.shared
}

// advance fills both lanes up to now, in the steps in which the rate recovers. A clock
// that goes backwards changes nothing.
func (b *Bucket) advance(now time.Time) {
	for b.now.Before(now) {
		next := now
		recovery := b.cleanSince.Add(recoverEvery)
		recovers := b.rate < b.config.Rate && !recovery.After(now)
		if recovers {
			next = recovery
		}
		elapsed := next.Sub(b.now).Seconds()
		scale := b.rate / b.config.Rate
		over := b.reserved.fill(elapsed*b.rate*b.reserved.share, scale)
		b.shared.fill(elapsed*b.rate*b.shared.share+over, scale)
		b.now = next
		if recovers {
			b.rate = min(b.config.Rate, b.rate+recoverBy)
			b.cleanSince = next
		}
	}
}

// until forecasts when the lane will have so many tokens, if the service stays content and
// the reserved class goes on as it does.
func (b *Bucket) until(l *lane, need float64) time.Duration {
	missing, rate, wait, share := need-l.tokens, b.rate, 0.0, l.share
	if l == b.shared && b.reserved.full(b.rate/b.config.Rate) {
		share = 1
	}
	step := b.cleanSince.Add(recoverEvery).Sub(b.now).Seconds()
	for rate < b.config.Rate && missing > rate*share*step {
		missing -= rate * share * step
		wait += step
		rate, step = rate+recoverBy, recoverEvery.Seconds()
	}
	wait += missing / (min(rate, b.config.Rate) * share)
	// Whole milliseconds, rounded up: who comes back on time must not be early.
	return time.Duration(math.Ceil(wait*1000)) * time.Millisecond
}

// soften shortens long delays, so that the queue notices when it moves faster than forecast. It keeps the order of the
// callers and spreads them out, so they don't all come back at once.
func soften(d time.Duration) time.Duration {
	if d <= longWait {
		return d
	}
	return longWait + (d-longWait)/2
}

func (b *Bucket) reserve(key string, class int, p *place, until time.Time) {
	if p != nil {
		p.until = until
		heap.Fix(&b.expiry, p.index)
		return
	}
	p = &place{key: key, until: until}
	b.laneOf(class).queueOf(class).push(p)
	b.places[key] = p
	heap.Push(&b.expiry, p)
}

func (b *Bucket) leave(p *place) {
	p.queue.remove(p)
	delete(b.places, p.key)
	heap.Remove(&b.expiry, p.index)
}

func (b *Bucket) expire() {
	for len(b.expiry) > 0 && b.expiry[0].until.Before(b.now) {
		b.leave(b.expiry[0])
	}
}
