package account_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/account"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
)

const (
	own   = "111122223333"
	blue  = "444455556666"
	green = "777788889999"
)

// caller is the identity of the operator's own credentials.
type caller struct{ asked int }

func (c *caller) Account(context.Context) (string, error) {
	c.asked++
	return own, nil
}

func (c *caller) Caller(context.Context) (account, arn string, err error) {
	return own, "arn:aws:iam::" + own + ":role/operator", nil
}

// rig is a registry with the grants of a test.
type rig struct {
	*account.Registry

	caller   *caller
	accesses []grant.Access
	closed   []string
}

func newRig(accesses ...grant.Access) *rig {
	r := &rig{caller: &caller{}, accesses: accesses}
	r.Registry = account.New(account.Options{
		Own: &account.Account{References: inventory.NewReferences(nil, nil, r.caller, clocktesting.NewFakeClock(time.Time{}))},
		Open: func(id string) *account.Account {
			return &account.Account{ID: id, Close: func() { r.closed = append(r.closed, id) }}
		},
		Accesses: func(context.Context) ([]grant.Access, error) { return r.accesses, nil },
	})
	return r
}

func access(name, id string) grant.Access {
	return grant.Access{Grant: name, Account: grant.Account{ID: id, RoleARN: "arn:aws:iam::" + id + ":role/tenants"}}
}

func TestWhereAnObjectIs(t *testing.T) {
	t.Parallel()
	withoutRole := func(id string) grant.Access { return grant.Access{Grant: "shop", Account: grant.Account{ID: id}} }
	for name, tt := range map[string]struct {
		recorded string
		granted  grant.Access
		others   []grant.Access
		// in is the account, empty for the operator's own, as the grant of that name; wrong is part of why nothing may be
		// changed there.
		in, as, wrong string
		// asks is true where AWS has to tell whose credentials the operator's are.
		asks bool
	}{
		"nothing is granted, and nothing is there":              {},
		"nothing is granted, and something is there":            {recorded: own},
		"a new object of a grant with an account":               {granted: access("shop", blue), in: blue, as: "shop"},
		"an object that is there":                               {recorded: blue, granted: access("shop", blue), in: blue, as: "shop"},
		"an object of the own account gets a grant for another": {recorded: own, granted: access("shop", blue), wrong: "AWS account " + own},
		"an object of another account gets no grant": {
			recorded: blue, others: []grant.Access{access("other", blue)}, in: blue, wrong: "the operator's own AWS account", asks: true,
		},
		"an object gets a grant for a third account": {
			recorded: blue, granted: access("shop", green), others: []grant.Access{access("other", blue)}, in: blue, wrong: "AWS account " + green,
		},
		"no grant gives access to its account any more": {recorded: blue, granted: access("shop", green), wrong: "AWS account " + blue},
		// The chain compares what the credentials show before it believes anything.
		"no grant at all gives access to its account any more": {recorded: blue},
		"others reach the own account by a role":               {recorded: own, others: []grant.Access{access("other", own)}, asks: true},
		"a grant names the own account":                        {granted: withoutRole(own), asks: true},
		"a grant names an account that is not the own":         {granted: withoutRole(blue), wrong: "EdgeGrant shop is for AWS account " + blue, asks: true},
		"an object of the own account that is named":           {recorded: own, granted: withoutRole(own)},
		"an object of an account that is not the named one":    {recorded: blue, granted: withoutRole(own), wrong: "AWS account " + own},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := slices.Clone(tt.others)
			if tt.granted.RoleARN != "" {
				all = append(all, tt.granted)
			}
			r := newRig(all...)
			place, err := r.Of(t.Context(), tt.recorded, tt.granted)
			if err != nil || place.ID != tt.in || place.Grant != tt.as {
				t.Errorf("in %q as %q: %v, want %q as %q", place.ID, place.Grant, err, tt.in, tt.as)
			}
			switch {
			case tt.wrong == "" && place.Wrong != nil:
				t.Errorf("nothing may be changed: %s", place.Wrong.Message)
			case tt.wrong != "" && (place.Wrong == nil || !strings.Contains(place.Wrong.Message, tt.wrong)):
				t.Errorf("got %+v, want %q", place.Wrong, tt.wrong)
			}
			if asked := r.caller.asked > 0; asked != tt.asks {
				t.Errorf("AWS was asked: %t, want %t", asked, tt.asks)
			}
		})
	}
}

// An account stays open as long as a grant gives access to it, and is another one when it is opened again.
func TestPrune(t *testing.T) {
	t.Parallel()
	r := newRig(access("blue", blue), access("green", green))
	opened := map[string]*account.Account{}
	for _, a := range r.accesses {
		place, err := r.Of(t.Context(), "", a)
		if err != nil {
			t.Fatal(err)
		}
		opened[a.ID] = place.Account
	}
	if n := len(r.All()); n != 3 || r.All()[0] != r.Own() {
		t.Errorf("%d accounts are open, want the own and two others", n)
	}
	r.accesses = r.accesses[1:]
	r.Prune(t.Context())
	if !slices.Equal(r.closed, []string{blue}) || len(r.All()) != 2 {
		t.Errorf("closed %v, %d are open", r.closed, len(r.All()))
	}
	r.accesses = append(r.accesses, access("again", blue))
	for id, want := range map[string]bool{blue: false, green: true} {
		place, err := r.Of(t.Context(), id, access("again", id))
		if same := place.Account == opened[id]; err != nil || same != want {
			t.Errorf("%s is the same as before: %t, %v", id, same, err)
		}
	}
}

// A call is made with the role of the grant that it is for, and what is done for no object with that of the first one.
func TestAccess(t *testing.T) {
	t.Parallel()
	r := newRig(access("blue-1", blue), access("green", green), access("blue-2", blue))
	for grantName, want := range map[string]string{"blue-2": "blue-2", "blue-1": "blue-1", "": "blue-1", "green": "blue-1"} {
		got, err := r.Access(t.Context(), blue, grantName)
		if err != nil || got.Grant != want || got.ID != blue {
			t.Errorf("for the grant %q: %+v, %v, want %s", grantName, got, err, want)
		}
	}
	if _, err := r.Access(t.Context(), own, "blue-1"); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), own) {
		t.Errorf("an account that no grant names: %v", err)
	}
}
