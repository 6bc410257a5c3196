// Package ratelimit shares a rate of calls between callers. It is pure: it is told the time, and answers
// with a delay.
package ratelimit

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"time"
)

// How the rate reacts to the service, and how it treats callers that wait.
const (
	// lowestRate keeps a throttled operator moving: a call every five seconds.
	lowestRate = 0.2
	// recoverEvery and recoverBy take a default rate from its floor back to full in
	// a little over three minutes, slow enough to notice the next throttle in between.
	recoverEvery = 10 * time.Second
	recoverBy    = 0.5
	// reservedShare of rate and burst belongs to the reserved class alone.
	reservedShare = 0.1
	// floorShare of the rate is the least that is left to the background.
	floorShare = 0.05
	// leastBurst is one call for each lane.
	leastBurst = 3
	// grace is how late a caller may come back without losing its place. It buys a
	// work queue that is busy; a caller that vanished costs others no more than that.
	grace = 5 * time.Second
	// longWait is the delay beyond which the forecast is not fully trusted: callers that are ahead may vanish
	// meanwhile.
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
	// Background is the first of the least urgent classes, which have a twentieth of the rate as a floor, all together.
	Background int
}

// Caller asks for a call.
type Caller struct {
	// Key names the caller, so that it keeps its place when it asks again. It must not be shared by callers that wait at
	// the same time. It is empty for a caller that holds no place.
	Key string
	// Namespace is for whom the call is made, empty for the operator itself.
	Namespace string
	Class     int
}

// Bucket divides a rate of calls between callers of different urgency. Callers do not block in it: each one either may
// call now or is told when to ask again.
//
// Classes are numbers, the smallest the most urgent. Within what is not reserved a class has strict priority over all
// less urgent ones, which get little for as long as the more urgent ones ask for the whole rate: urgent work is finite,
// as every change is made once. Work that must continue meanwhile is in the reserved class, which can't be starved, or
// in the background, which has a floor.
//
// Within a class namespaces take turns, and each is served in order of arrival: one that asks for ten thousand calls
// keeps another that asks for one waiting for two of them. A caller keeps its turn, whatever it owes later.
//
// A caller with a key that has to wait holds a place in the queue, and its delay is the
// time until that place's turn at the rate to be expected. It keeps the place however
// often it asks, and loses it when it does not ask within grace of its delay. One
// without a key is told a delay and holds no place. Places are worth nothing while calls are lost because the callers
// that hold them do not come: then a caller that is there may go.
//
// The rate adapts: it falls when the service throttles and recovers in small steps. A call
// refused after ten clean seconds says that the rate is just too high, and takes a tenth of it;
// one sent at that lower rate and refused too halves it.
// Bursts shrink in proportion, as a burst is what a throttling service minds the most.
//
// Time is a parameter, and a Bucket is not safe for concurrent use.
type Bucket struct {
	config BucketConfig
	// rate is the present adaptive rate of all lanes together.
	rate float64
	now  time.Time
	// slowedAt is when the rate last fell, refusedAt when a call was last refused.
	slowedAt, refusedAt time.Time
	cleanSince          time.Time
	shared              *lane
	reserved            *lane
	// floor has no queues: callers that take from it wait in the shared lane.
	floor  *lane
	places map[string]*place
	expiry expiryHeap
}

// NewBucket returns a full bucket. Values that are too small are raised to the smallest useful ones: the lowest rate, a
// burst of one call for each lane.
func NewBucket(config BucketConfig, now time.Time) *Bucket {
	if !(config.Rate >= lowestRate) { // also catches NaN
		config.Rate = lowestRate
	}
	config.Burst = max(config.Burst, leastBurst)
	own := max(1, math.Round(float64(config.Burst)*reservedShare))
	b := &Bucket{
		config: config, rate: config.Rate, now: now, cleanSince: now,
		shared:   &lane{share: 1 - reservedShare - floorShare, burst: float64(config.Burst) - own - 1},
		reserved: &lane{share: reservedShare, burst: own},
		floor:    &lane{share: floorShare, burst: 1},
		places:   map[string]*place{},
	}
	for _, l := range b.lanes() {
		l.tokens = l.burst
	}
	return b
}

// Take asks for one call. It returns zero when the caller may go, or the delay after
// which to ask again.
func (b *Bucket) Take(now time.Time, c Caller) time.Duration {
	b.advance(now)
	b.expire()
	p := b.places[c.Key]
	if p != nil && p.queue.class != c.Class {
		// A caller that became more or less urgent moves to its new queue.
		b.leave(p)
		p = nil
	}
	options := b.options(c, p)
	if from := b.payer(options); from != nil {
		from.tokens--
		if p != nil {
			b.leave(p)
		}
		return 0
	}
	delay := b.until(options[0])
	for _, o := range options[1:] {
		delay = min(delay, b.until(o))
	}
	delay = soften(delay)
	if c.Key != "" {
		b.reserve(c, p, b.now.Add(delay+grace))
	}
	return delay
}

// option is a lane from which a caller may take, and how many tokens have to be there so that the callers before it
// have theirs.
type option struct {
	lane *lane
	need float64
}

// options are those of a caller, the one that it prefers first.
func (b *Bucket) options(c Caller, p *place) []option {
	own := b.laneOf(c.Class)
	options := []option{{own, float64(own.ahead(math.MinInt, c, p) + 1)}}
	if b.background(c.Class) {
		options = append(options, option{b.floor, float64(own.ahead(b.config.Background, c, p) + 1)})
	}
	return options
}

// payer is the lane that pays for a call now: one of the caller's own, also out of turn while the callers whose turn it
// is let calls get lost; or the shared one for the reserved class while it is idle. It is nil when the caller has to
// wait.
func (b *Bucket) payer(options []option) *lane {
	for _, o := range options {
		if o.lane.tokens+epsilon >= o.need {
			o.lane.lost = 0
			return o.lane
		}
	}
	own, scale := options[0], b.rate/b.config.Rate
	switch {
	case own.lane.lost >= 1 && own.lane.fullAfter(scale) == 0:
		return own.lane
	case own.lane == b.reserved && own.need == 1 && b.shared.idle(scale):
		return b.shared
	}
	return nil
}

// Owe takes a call that is sent now in any case. Later callers wait longer, so that the rate is kept; only the burst
// may be exceeded, by as many calls as are owed.
func (b *Bucket) Owe(now time.Time, class int) {
	b.advance(now)
	from := b.laneOf(class)
	if b.background(class) && from.tokens+epsilon < 1 {
		from = b.floor
	}
	from.tokens--
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
	// The saved tokens were saved at a rate that proved too high.
	for _, l := range b.lanes() {
		l.tokens = min(l.tokens, 0)
	}
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

func (b *Bucket) background(class int) bool {
	return class >= b.config.Background && class != b.config.Reserved
}

func (b *Bucket) lanes() []*lane { return []*lane{b.shared, b.reserved, b.floor} }

// advance fills all lanes up to now, in the steps in which the rate recovers. A clock
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
		over += b.floor.fill(elapsed*b.rate*b.floor.share, scale)
		b.shared.fill(elapsed*b.rate*b.shared.share+over, scale)
		b.now = next
		if recovers {
			b.rate = min(b.config.Rate, b.rate+recoverBy)
			b.cleanSince = next
		}
	}
}

// until forecasts when a lane will have n tokens, if the service refuses nothing and no caller takes from the other
// lanes meanwhile. If one does, the caller comes early and asks again, which costs little. A caller that comes late
// leaves tokens unused, and a full lane loses the tokens that it can't hold.
func (b *Bucket) until(o option) time.Duration {
	inflow, rate, wait := b.inflow(o), b.rate, 0.0
	step := b.cleanSince.Add(recoverEvery).Sub(b.now).Seconds()
	for rate < b.config.Rate && inflow > rate*step {
		inflow -= rate * step
		wait += step
		rate, step = rate+recoverBy, recoverEvery.Seconds()
	}
	wait += inflow / min(rate, b.config.Rate)
	// Whole milliseconds, rounded up: a caller that comes back on time must not be early.
	return time.Duration(math.Ceil(wait*1000)) * time.Millisecond
}

// inflow is how many tokens must flow into all lanes together until a lane has what it needs. The shared lane gets its
// share, and from each of the others that is full what flows into that one.
func (b *Bucket) inflow(o option) float64 {
	missing, share, inflow := o.need-o.lane.tokens, o.lane.share, 0.0
	if o.lane != b.shared {
		return missing / share
	}
	scale := b.rate / b.config.Rate
	others := []*lane{b.reserved, b.floor}
	slices.SortFunc(others, func(l, m *lane) int { return cmp.Compare(l.fullAfter(scale), m.fullAfter(scale)) })
	for _, other := range others {
		full := other.fullAfter(scale)
		if (full-inflow)*share >= missing {
			break
		}
		missing -= (full - inflow) * share
		inflow, share = full, share+other.share
	}
	return inflow + missing/share
}

// soften shortens long delays, so that the queue notices when it moves faster than forecast. It keeps the order of the
// callers and spreads them out, so they don't all come back at once.
func soften(d time.Duration) time.Duration {
	if d <= longWait {
		return d
	}
	return longWait + (d-longWait)/2
}

func (b *Bucket) reserve(c Caller, p *place, until time.Time) {
	if p != nil {
		p.until = until
		heap.Fix(&b.expiry, p.index)
		return
	}
	p = &place{caller: c, until: until}
	b.laneOf(c.Class).queueOf(c.Class).push(p)
	b.places[c.Key] = p
	heap.Push(&b.expiry, p)
}

func (b *Bucket) leave(p *place) {
	p.queue.remove(p)
	delete(b.places, p.caller.Key)
	heap.Remove(&b.expiry, p.index)
}

func (b *Bucket) expire() {
	for len(b.expiry) > 0 && b.expiry[0].until.Before(b.now) {
		b.leave(b.expiry[0])
	}
}
