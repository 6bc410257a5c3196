package claims_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/claims"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const shop = "shop.example.com"

// store has the claims of a test.
type store struct {
	claims   map[string]claim.Claim
	reported []string
	serial   int
	fails    error
	// removing is called before a claim is removed.
	removing func()
}

func (s *store) Store(_ context.Context, c claim.Claim) (claim.Claim, error) {
	if s.fails != nil {
		return claim.Claim{}, s.fails
	}
	if old, has := s.claims[c.Domain]; has {
		return old, nil
	}
	s.serial++
	c.UID = fmt.Sprintf("uid-%d", s.serial)
	s.claims[c.Domain] = c
	return c, nil
}

func (s *store) Extend(_ context.Context, c claim.Claim) (claim.Claim, error) {
	s.claims[c.Domain] = c
	return c, s.fails
}

func (s *store) Report(_ context.Context, c claim.Claim) error {
	s.reported = append(s.reported, c.Domain)
	return nil
}

func (s *store) Remove(_ context.Context, c claim.Claim) error {
	if s.removing != nil {
		s.removing()
	}
	if s.fails == nil && s.claims[c.Domain].UID == c.UID {
		delete(s.claims, c.Domain)
	}
	return s.fails
}

// rig is a registry with its store, on a clock of its own.
type rig struct {
	*claims.Registry

	store *store
	clock *clocktesting.FakeClock
	woken []claim.Key
}

func newRig() *rig {
	r := &rig{store: &store{claims: map[string]claim.Claim{}}, clock: clocktesting.NewFakeClock(start)}
	r.Registry = claims.New(claims.Options{
		Store: r.store, Clock: r.clock, Hold: 72 * time.Hour, HoldCustomer: 720 * time.Hour,
		Wake: func(keys ...claim.Key) { r.woken = append(r.woken, keys...) },
	})
	return r
}

// object is that of a namespace; those of namespaces that come first in the alphabet are older.
func object(namespace string) claim.Object {
	return claim.Object{Key: claim.Key{Namespace: namespace, Name: "tenant"}, UID: namespace, Created: start.Add(time.Duration(namespace[0]) * time.Minute)}
}

func (r *rig) has(namespace string, stake claim.Stake) {
	r.Observe(object(namespace), []claim.Domain{{Name: shop, Stake: stake, Wanted: true}})
}

// refused reports whether the object of the namespace is.
func (r *rig) refused(namespace string) bool { return r.Judge(object(namespace).Key) != nil }

func TestWhoIsRefusedIsWokenWhenTheDomainIsFree(t *testing.T) {
	for name, free := range map[string]func(r *rig){
		"the object is gone":          func(r *rig) { r.Forget(object("a").Key) },
		"the object wants it no more": func(r *rig) { r.Observe(object("a"), nil) },
		"the namespace gets it":       func(r *rig) { r.Changed(claim.Claim{UID: "u", Domain: shop, Namespace: "b"}) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig()
			r.has("a", claim.InAWS)
			r.has("b", claim.Wants)
			if !r.refused("b") || r.refused("a") {
				t.Fatal("the younger object is not refused, or the older is")
			}
			r.has("a", claim.InAWS)
			if len(r.woken) > 0 {
				t.Fatalf("%v woken for nothing", r.woken)
			}
			free(r)
			if !slices.Contains(r.woken, object("b").Key) || r.refused("b") {
				t.Errorf("woken %v, refused %t", r.woken, r.refused("b"))
			}
			if r.Refused() != 0 {
				t.Errorf("%d objects are refused", r.Refused())
			}
		})
	}
}

// An object that was refused and wants nothing any more is woken once, and not with each change.
func TestWhoWantsNothingIsNotWokenAgain(t *testing.T) {
	r := newRig()
	r.has("a", claim.InAWS)
	r.has("b", claim.Wants)
	if !r.refused("b") {
		t.Fatal("the younger object is not refused")
	}
	r.Observe(object("b"), nil) // it is being deleted
	for range 3 {
		r.Observe(object("a"), nil)
		r.has("a", claim.InAWS)
	}
	if len(r.woken) > 1 || r.Refused() != 0 {
		t.Errorf("woken %v, and %d refused", r.woken, r.Refused())
	}
}

// A claim that has ended is deleted, and the objects that waited are woken. One that could not be deleted is in force.
func TestAClaimEnds(t *testing.T) {
	r := newRig()
	r.has("a", claim.Serves)
	if err := r.HoldDomain(t.Context(), object("a").Key, shop, true); err != nil {
		t.Fatal(err)
	}
	r.Forget(object("a").Key)
	r.has("b", claim.Wants)
	if !r.refused("b") {
		t.Fatal("the domain is not held")
	}
	if next := r.Step(t.Context()); next != 10*time.Minute {
		t.Errorf("the next look is in %s", next)
	}
	if d := cmp.Diff([]string{shop}, r.store.reported); d != "" {
		t.Errorf("reported (-want +got):\n%s", d)
	}
	r.clock.Step(72*time.Hour - 5*time.Minute)
	if next := r.Step(t.Context()); next != 5*time.Minute || !r.refused("b") {
		t.Errorf("the next look is in %s, refused %t", next, r.refused("b"))
	}
	r.clock.Step(5 * time.Minute)
	r.store.fails = errors.New("no")
	if next := r.Step(t.Context()); next > time.Minute || !r.refused("b") {
		t.Errorf("after a failure the next look is in %s, refused %t", next, r.refused("b"))
	}
	r.store.fails = nil
	r.Step(t.Context())
	if len(r.store.claims) > 0 || r.refused("b") || !slices.Contains(r.woken, object("b").Key) {
		t.Errorf("claims %v, refused %t, woken %v", r.store.claims, r.refused("b"), r.woken)
	}
}

// A claim that someone else changes while it is deleted is deleted in its newer version, which is seen before the answer.
func TestAClaimThatChangesWhileItIsDeletedIsNotTakenForTheOlderOne(t *testing.T) {
	r := newRig()
	r.has("a", claim.Serves)
	if err := r.HoldDomain(t.Context(), object("a").Key, shop, true); err != nil {
		t.Fatal(err)
	}
	r.Changed(r.store.claims[shop])
	r.clock.Step(100 * time.Hour)
	r.store.fails = errors.New("the object has been modified")
	r.store.removing = func() {
		newer := r.store.claims[shop]
		newer.Version = "newer"
		r.Changed(newer)
	}
	if next := r.Step(t.Context()); next != 30*time.Second {
		t.Errorf("after a failure the next look is in %s", next)
	}
	if got := r.Claims(); len(got) != 1 || got[0].Version != "newer" {
		t.Errorf("the registry knows %+v", got)
	}
}

// A claim that is still there from an earlier release is extended, so that it lasts as long as after any other.
func TestAClaimIsExtended(t *testing.T) {
	r := newRig()
	key := object("a").Key
	r.has("a", claim.Serves)
	for _, wait := range []time.Duration{0, 70 * time.Hour} {
		r.clock.Step(wait)
		if d := cmp.Diff([]string{shop}, r.Unheld(key, []string{shop}, true)); d != "" {
			t.Errorf("after %s (-want +got):\n%s", wait, d)
		}
		if err := r.HoldDomain(t.Context(), key, shop, true); err != nil {
			t.Fatal(err)
		}
		if left := r.store.claims[shop].Until.Sub(r.clock.Now()); left != 72*time.Hour {
			t.Errorf("the claim lasts for %s", left)
		}
		r.clock.Step(time.Hour)
		if more := r.Unheld(key, []string{shop}, true); len(more) > 0 {
			t.Errorf("%v are claimed once more", more)
		}
	}
}

// While the claim for a domain that is served again is deleted, its object releases the domain: a claim is there in the
// end.
func TestAReleaseWhileTheClaimIsDeleted(t *testing.T) {
	r := newRig()
	key := object("a").Key
	if err := r.HoldDomain(t.Context(), key, shop, true); err != nil {
		t.Fatal(err)
	}
	r.has("a", claim.Serves)
	begun, looked, released := make(chan struct{}), make(chan struct{}), make(chan error)
	r.store.removing = func() { close(begun); <-looked }
	go func() {
		<-begun
		r.Observe(object("a"), []claim.Domain{{Name: shop, Stake: claim.Serves}})
		unheld := r.Unheld(key, []string{shop}, true)
		close(looked)
		if d := cmp.Diff([]string{shop}, unheld); d != "" {
			t.Errorf("while the claim is deleted (-want +got):\n%s", d)
		}
		released <- r.HoldDomain(context.WithoutCancel(t.Context()), key, shop, true)
	}()
	r.Step(t.Context())
	if err := <-released; err != nil {
		t.Error(err)
	}
	if _, held := r.store.claims[shop]; !held {
		t.Error("the domain is released without a claim")
	}
}

// Who was let have a domain keeps it from an older object that is seen later. An older one that was refused before is
// not let in by that.
func TestTheFirstOneThatWasLetInKeepsTheDomain(t *testing.T) {
	r := newRig()
	r.has("b", claim.Wants)
	if r.refused("b") {
		t.Fatal("the only object is refused")
	}
	r.has("a", claim.Wants)
	if !r.refused("a") || r.refused("b") {
		t.Error("the older object has taken the domain from the one that was let in")
	}
}

// A claim that was deleted and made again is not dropped when the deletion of the first is told late.
func TestALateDeletionIsIgnored(t *testing.T) {
	r := newRig()
	r.Changed(claim.Claim{UID: "second", Domain: shop, Namespace: "a"})
	r.Gone(claim.Claim{UID: "first", Domain: shop, Namespace: "a"})
	if r.has("b", claim.Wants); !r.refused("b") {
		t.Error("the claim is gone")
	}
}

func TestWithoutARegistryEveryObjectHasItsDomains(t *testing.T) {
	var r *claims.Registry
	r.Observe(object("a"), nil)
	r.Forget(object("a").Key)
	if r.Judge(object("a").Key) != nil || r.Holds(true) {
		t.Error("something is refused or held")
	}
}
