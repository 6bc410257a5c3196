package grants_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
)

var everything = grant.Domain{Suffix: "*"}

func granting(name string, domain grant.Domain, namespaces ...string) grant.Grant {
	return grant.Grant{Name: name, Namespaces: grant.Namespaces{Names: namespaces}, Domains: []grant.Domain{domain}}
}

// A grant is not deleted while that would allow an object of its namespaces what the grant refuses.
func TestALostGrantNeverWidens(t *testing.T) {
	t.Parallel()
	wide, narrow := granting(grant.Default, everything), granting("shop", grant.Domain{Suffix: "shop.example.com"}, "shop")
	asks := func(domains ...string) func() []grant.Want {
		return func() (out []grant.Want) {
			for _, d := range domains {
				out = append(out, grant.Want{Thing: grant.ADomain, Field: "spec.domains", Value: d})
			}
			return out
		}
	}
	bounded := wide
	bounded.Namespaces.Names = []string{"playground"}
	for name, tt := range map[string]struct {
		mode     grants.Mode
		grants   []grant.Grant
		fallback *grant.Grant
		object   grants.Object
		instead  string
	}{
		"the default grant allows what is refused now": {
			grants.Enforce, []grant.Grant{narrow}, &wide, grants.Object{Asks: asks("a.shop.example.com", "bank.example.com")}, "the default grant",
		},
		"so does another EdgeGrant": {
			grants.Enforce, []grant.Grant{narrow, granting("all", everything, "*")}, nil, grants.Object{Asks: asks("bank.example.com")}, "the EdgeGrant all",
		},
		"the object asks for what both allow": {
			grants.Enforce, []grant.Grant{narrow}, &wide, grants.Object{Asks: asks("a.shop.example.com"), Present: true}, "",
		},
		"both refuse it": {
			grants.Enforce, []grant.Grant{narrow, granting("all", grant.Domain{Suffix: "other.org"}, "*")}, &wide, grants.Object{Asks: asks("bank.example.com")}, "",
		},
		"the object is being deleted": {
			grants.Enforce, []grant.Grant{narrow}, &wide, grants.Object{Refused: true}, "",
		},
		"the default grant is for other namespaces": {
			grants.Enforce, []grant.Grant{narrow}, &bounded, grants.Object{Asks: asks("bank.example.com")}, "",
		},
		"in an audit nothing is refused": {
			grants.Audit, []grant.Grant{narrow}, &wide, grants.Object{Asks: asks("bank.example.com")}, "",
		},
		"one of two grants that select the namespace equally": {
			grants.Enforce, []grant.Grant{narrow, granting("copy", everything, "shop")}, &wide, grants.Object{Asks: asks("bank.example.com")}, "",
		},
		"a domain that is not proven yet would need no proof": {
			grants.Enforce, []grant.Grant{granting("shop", grant.Domain{Suffix: "*", Proven: true}, "shop")}, &wide,
			grants.Object{Asks: asks("bank.org"), Unproven: []string{"bank.org"}}, "the default grant",
		},
		"a domain that is not proven yet would need one still": {
			grants.Enforce, []grant.Grant{granting("shop", grant.Domain{Suffix: "*", Proven: true}, "shop"), granting("all", grant.Domain{Suffix: "*", Proven: true}, "*")}, nil,
			grants.Object{Asks: asks("bank.org"), Unproven: []string{"bank.org"}}, "",
		},
		"the status tells of a refusal that the spec does not show, such as a database server": {
			grants.Enforce, []grant.Grant{narrow}, &wide, grants.Object{Asks: asks("a.shop.example.com"), Refused: true}, "the default grant",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.object.Kind, tt.object.Namespace, tt.object.Name = "DistributionTenant", "shop", "acme"
			r := grants.New(grants.Options{
				Mode: tt.mode, Clock: clocktesting.NewFakeClock(time.Time{}), Default: tt.fallback,
				Grants:  func(context.Context) ([]grant.Grant, error) { return tt.grants, nil },
				Objects: func(context.Context) ([]grants.Object, error) { return []grants.Object{tt.object}, nil },
			})
			got, err := r.Needed(t.Context(), "shop")
			var widened, instead []string
			if tt.instead != "" {
				widened, instead = []string{"DistributionTenant shop/acme"}, []string{tt.instead}
			}
			if err != nil || got.Objects != 0 || !slices.Equal(got.Widened, widened) || !slices.Equal(got.Instead, instead) {
				t.Errorf("got %+v, %v, want %q by %q", got, err, widened, instead)
			}
		})
	}
}

// That the default grant takes over where an EdgeGrant ends is told once, and so is each namespace for which it did.
func TestADefaultGrantThatTakesOverIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var all []grant.Grant
		var opened int
		var fell []string
		wide := granting(grant.Default, everything)
		r := grants.New(grants.Options{
			Mode: grants.Enforce, Clock: clock.RealClock{}, Default: &wide,
			Grants: func(context.Context) ([]grant.Grant, error) { return all, nil },
			Opened: func(context.Context) { opened++ },
			Fell:   func(_ context.Context, namespace, from string) { fell = append(fell, namespace+" from "+from) },
		})
		changed := func(to ...grant.Grant) {
			all = to
			r.Changed()
			time.Sleep(time.Second) //nolint:forbidigo // the time of the bubble
			synctest.Wait()
			for _, namespace := range []string{"shop", "web", "other"} {
				if _, err := r.Standing(t.Context(), namespace); err != nil {
					t.Fatal(err)
				}
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Start(ctx) }()
		changed()
		if opened != 0 || r.Open(t.Context()) {
			t.Error("the default grant is open before there is any EdgeGrant")
		}
		shop, web := granting("team-shop", everything, "shop"), granting("team-web", everything, "web")
		changed(shop, web)
		changed(web)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if opened != 1 || !r.Open(t.Context()) || !slices.Equal(fell, []string{"shop from team-shop"}) {
			t.Errorf("told %d times that it is open, and that %q fell", opened, fell)
		}
	})
}
