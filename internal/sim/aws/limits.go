package aws

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

const (
	// AllOperations is the bucket all operations of an account share.
	AllOperations = "*"
	// Route53Actions is the bucket all actions of Route 53 share.
	Route53Actions = "route53:*"
	// Route53Changes is the bucket changes of records draw from: one token for
	// a CREATE or DELETE, two for an UPSERT and for making or deleting a zone.
	Route53Changes = "route53:changes"
)

// Limit is a token bucket, one per account: Burst calls at once, Rate more per
// second. A call above it answers "Rate exceeded".
type Limit struct {
	// Operation is the API operation's name, or one of the buckets that several
	// operations share. A call has to pass all that concern it.
	Operation string  `json:"operation"`
	Rate      float64 `json:"rate"`
	Burst     int     `json:"burst"`
}

type limitBook struct {
	limits  map[string]Limit
	buckets map[string]*bucket
}

type bucket struct {
	tokens float64
	filled time.Time

	taken, lowest float64
	refused       int
}

// draw is what a call takes from one bucket.
type draw struct {
	bucket string
	tokens float64
}

// draws lists the buckets a call is subject to.
func (c *call) draws() []draw {
	list := []draw{{AllOperations, 1}, {c.op.name, 1}}
	if _, ok := c.svc.(route53); ok {
		list = append(list, draw{Route53Actions, 1}, draw{Route53Changes, c.changeCost()})
	}
	return list
}

// allow takes the tokens of a call from each bucket it is subject to, or none.
func (b *limitBook) allow(c *call) bool {
	draws := slices.DeleteFunc(c.draws(), func(d draw) bool {
		_, limited := b.limits[d.bucket]
		return !limited || d.tokens == 0
	})
	for _, d := range draws {
		if bkt := b.bucket(c.acct.id, b.limits[d.bucket], c.now); bkt.tokens < d.tokens {
			bkt.refused++
			return false
		}
	}
	for _, d := range draws {
		b.bucket(c.acct.id, b.limits[d.bucket], c.now).take(d.tokens)
	}
	return true
}

func (b *bucket) take(tokens float64) {
	b.tokens -= tokens
	b.taken += tokens
	b.lowest = math.Min(b.lowest, b.tokens)
}

func (b *limitBook) bucket(account string, limit Limit, now time.Time) *bucket {
	key := account + "/" + limit.Operation
	bkt := b.buckets[key]
	if bkt == nil {
		bkt = &bucket{tokens: float64(limit.Burst), lowest: float64(limit.Burst), filled: now}
		b.buckets[key] = bkt
	}
	bkt.fill(limit.Rate, limit.Burst, now)
	return bkt
}

// fill adds the tokens of the time that has passed.
func (b *bucket) fill(rate float64, burst int, now time.Time) {
	if passed := now.Sub(b.filled).Seconds(); passed > 0 {
		b.tokens = math.Min(float64(burst), b.tokens+passed*rate)
		b.filled = now
	}
}

// draw takes a token, if there is one.
func (b *bucket) draw(rate float64, burst int, now time.Time) bool {
	b.fill(rate, burst, now)
	if b.tokens < 1 {
		return false
	}
	b.take(1)
	return true
}

var sharedBuckets = []string{AllOperations, Route53Actions, Route53Changes}

// Route53Limits are the request rates Route 53 documents for every account.
func Route53Limits() []Limit {
	limits := []Limit{{Route53Actions, 10, 50}, {Route53Changes, 100, 1_500}}
	for _, op := range route53Operations {
		l := Limit{Operation: op.name, Rate: 10, Burst: 50}
		switch op.name {
		case "CreateHostedZone":
			l.Rate, l.Burst = 2, 40
		case "DeleteHostedZone":
			l.Rate, l.Burst = 5, 40
		}
		limits = append(limits, l)
	}
	return limits
}

// LimitUse tells what was drawn from one account's bucket since its limit was set.
type LimitUse struct {
	Limit

	Account string  `json:"account"`
	Taken   float64 `json:"taken"`   // tokens
	Lowest  float64 `json:"lowest"`  // tokens that were left at the worst moment
	Refused int     `json:"refused"` // calls for which too few were left
}

// LimitUses lists the buckets that were drawn from, by account.
func (s *Sim) LimitUses() []LimitUse {
	s.mu.Lock()
	defer s.mu.Unlock()
	uses := []LimitUse{}
	for _, account := range slices.Sorted(maps.Keys(s.world.accounts)) {
		for _, l := range s.limits.list() {
			if b := s.limits.buckets[account+"/"+l.Operation]; b != nil {
				uses = append(uses, LimitUse{Limit: l, Account: account, Taken: b.taken, Lowest: b.lowest, Refused: b.refused})
			}
		}
	}
	return uses
}

// SetLimits adds request rates; one for the same operation is replaced and
// starts with a full bucket. None are in force at the start: AWS does not
// publish any for tenants.
func (s *Sim) SetLimits(limits ...Limit) error {
	for _, l := range limits {
		if !slices.Contains(sharedBuckets, l.Operation) && !knownOperation(l.Operation) {
			return fmt.Errorf("setting a limit: operation %q is not simulated: use one from GET /_sim/operations, or one of %q", l.Operation, sharedBuckets)
		}
		if l.Rate < 0 || l.Burst < 0 || math.IsNaN(l.Rate) || math.IsInf(l.Rate, 0) {
			return fmt.Errorf("setting a limit: rate %v and burst %d must not be negative", l.Rate, l.Burst)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next := &limitBook{limits: map[string]Limit{}, buckets: s.limits.buckets}
	if next.buckets == nil {
		next.buckets = map[string]*bucket{}
	}
	maps.Copy(next.limits, s.limits.limits)
	for _, l := range limits {
		next.limits[l.Operation] = l
		for id := range s.world.accounts {
			delete(next.buckets, id+"/"+l.Operation)
		}
	}
	s.limits = next
	return nil
}

// Limits lists the request rates in force.
func (s *Sim) Limits() []Limit {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limits.list()
}

func (b *limitBook) list() []Limit {
	out := make([]Limit, 0, len(b.limits))
	for _, name := range slices.Concat(sharedBuckets, Operations()) {
		if l, ok := b.limits[name]; ok {
			out = append(out, l)
		}
	}
	return out
}

// ClearLimits lifts every request rate.
func (s *Sim) ClearLimits() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits = &limitBook{}
}
