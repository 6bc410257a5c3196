package aws

import (
	"fmt"
	"maps"
	"math"
	"time"
)

// Limit is a token bucket, one per account: Burst calls at once, Rate more per
// second. A call above it answers "Rate exceeded".
type Limit struct {
	// Operation is the API operation's name, or "*" for a bucket all
	// operations of an account share. A call has to pass both.
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
}

// allow takes a token from each bucket a call is subject to, or none.
func (b *limitBook) allow(account, operation string, now time.Time) bool {
	var taken []*bucket
	for _, key := range []string{"*", operation} {
		limit, ok := b.limits[key]
		if !ok {
			continue
		}
		bkt := b.bucket(account, limit, now)
		if bkt.tokens < 1 {
			return false
		}
		taken = append(taken, bkt)
	}
	for _, bkt := range taken {
		bkt.tokens--
	}
	return true
}

func (b *limitBook) bucket(account string, limit Limit, now time.Time) *bucket {
	key := account + "/" + limit.Operation
	bkt := b.buckets[key]
	if bkt == nil {
		bkt = &bucket{tokens: float64(limit.Burst), filled: now}
		b.buckets[key] = bkt
	}
	if passed := now.Sub(bkt.filled).Seconds(); passed > 0 {
		bkt.tokens = math.Min(float64(limit.Burst), bkt.tokens+passed*limit.Rate)
		bkt.filled = now
	}
	return bkt
}

// SetLimits adds request rates; one for the same operation is replaced and
// starts with a full bucket. None are in force at the start: AWS does not
// publish any for tenants.
func (s *Sim) SetLimits(limits ...Limit) error {
	for _, l := range limits {
		if l.Operation == "" || (l.Operation != "*" && !knownOperation(l.Operation)) {
			return fmt.Errorf("setting a limit: operation %q is not simulated: name one that GET /_sim/operations lists, or \"*\"", l.Operation)
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
	out := make([]Limit, 0, len(s.limits.limits))
	for _, name := range append([]string{"*"}, Operations()...) {
		if l, ok := s.limits.limits[name]; ok {
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
