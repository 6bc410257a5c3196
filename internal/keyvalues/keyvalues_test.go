// Package keyvalues_test shows what only running workers do: how goroutines, claims and calls meet.
package keyvalues_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/keyvalue"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/keyvalues"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const storeARN = "arn:aws:cloudfront::111122223333:key-value-store/s"

// service is the service with one store.
type service struct {
	mu      sync.Mutex
	values  map[string]string
	version int
	calls   int
}

func (s *service) info() keyvalue.Info {
	return keyvalue.Info{ETag: strconv.Itoa(s.version), Items: len(s.values)}
}

func (s *service) DescribeStore(context.Context, string) (keyvalue.Info, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return s.info(), nil
}

func (s *service) ListKeys(context.Context, string, string) (page []keyvalue.Pair, next string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	for name, value := range s.values {
		page = append(page, keyvalue.Pair{Name: name, Value: value})
	}
	return page, "", nil
}

func (s *service) UpdateKeys(_ context.Context, _ string, u keyvalue.Update) (keyvalue.Info, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if u.IfMatch != strconv.Itoa(s.version) {
		return keyvalue.Info{}, fault.New(fault.Conflict, "UpdateKeys", "stale")
	}
	for _, p := range u.Puts {
		s.values[p.Name] = p.Value
	}
	for _, name := range u.Deletes {
		delete(s.values, name)
	}
	s.version++
	return s.info(), nil
}

func (s *service) count() (keys, calls int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.values), s.calls
}

func of(s *service) func(string) (port.KeyValues, bool) {
	return func(string) (port.KeyValues, bool) { return s, true }
}

// claimOf is the claim of an object whose intent is stored.
func claimOf(i int) keyvalue.Claim {
	name := fmt.Sprint("key-", i)
	k := keyvalue.Key{StoreARN: storeARN, Name: name}
	return keyvalue.Claim{
		Owner: keyvalue.Owner{Namespace: "ns", Name: name}, Wants: []keyvalue.Want{{Key: k, Value: "v"}},
		Ledger: []keyvalue.Entry{{Key: k, Digest: keyvalue.Digest("v"), State: keyvalue.Intended}},
	}
}

// A thousand objects that appear together cost far less than a call each, and all of them are woken.
func TestAThousandObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, woken := &service{values: map[string]string{}}, map[string]bool{}
		var mu sync.Mutex
		stores := keyvalues.New(keyvalues.Options{Of: of(s), Clock: clock.RealClock{}, OnChange: func(owners []keyvalue.Owner) {
			mu.Lock()
			defer mu.Unlock()
			for _, o := range owners {
				woken[o.Name] = true
			}
		}})
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = stores.Start(ctx) })
		const many = 1000
		for i := range many {
			running.Go(func() { stores.Declare(claimOf(i)) })
		}
		time.Sleep(time.Minute) //nolint:forbidigo // the time of the bubble
		keys, calls := s.count()
		mu.Lock()
		if keys != many || len(woken) != many || calls > many/40 {
			t.Errorf("%d keys, %d woken, %d calls", keys, len(woken), calls)
		}
		t.Logf("%d calls for %d objects", calls, many)
		mu.Unlock()
		for i := range many {
			stores.Forget(claimOf(i).Owner)
		}
		if got := stores.Stats(); got != (keyvalues.Stats{}) {
			t.Errorf("after all have gone: %+v", got)
		}
		stop()
		running.Wait()
	})
}

func TestAStoreInAnAccountThatIsNotReached(t *testing.T) {
	t.Parallel()
	stores := keyvalues.New(keyvalues.Options{Of: func(string) (port.KeyValues, bool) { return nil, false }, Clock: clock.RealClock{}})
	c := claimOf(1)
	stores.Declare(c)
	stores.Step(t.Context())
	if err := stores.Declare(c).Of(c.Wants[0].Key).Err; fault.KindOf(err) != fault.Denied {
		t.Errorf("without an account: %v", err)
	}
}

// After a restart, no object gets a key of another one that has declared nothing yet.
func TestLedgersAreLearned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{values: map[string]string{"key-1": "v"}}
		var woken []keyvalue.Owner
		stores := keyvalues.New(keyvalues.Options{Of: of(s), Clock: clock.RealClock{}, OnChange: func(o []keyvalue.Owner) { woken = o }})
		first := claimOf(1)
		first.Owner.UID, first.Ledger[0].State = "1", keyvalue.Written
		stores.Learn(first.Owner, first.Ledger)
		second := claimOf(1)
		second.Owner.Name, second.Ledger, second.Wants[0].Takeover = "second", nil, true
		phase := func() keyvalue.Phase { return stores.Declare(second).Of(second.Wants[0].Key).Phase }
		phase()
		for range 5 {
			time.Sleep(min(stores.Step(t.Context()), time.Second)) //nolint:forbidigo // the time of the bubble
		}
		if got := phase(); got != keyvalue.Occupied {
			t.Errorf("before the first object has spoken, the key is %s", got)
		}
		if view := stores.Declare(first); !view.Of(first.Wants[0].Key).Has("v") {
			t.Errorf("its own object sees %+v", view)
		}
		if got := phase(); got != keyvalue.Occupied {
			t.Errorf("while the first object has it, the key is %s", got)
		}
		stores.Forget(first.Owner)
		if got := phase(); got != keyvalue.Present || len(woken) != 1 || woken[0] != second.Owner {
			t.Errorf("after that it is %s; woken: %v", got, woken)
		}
	})
}
