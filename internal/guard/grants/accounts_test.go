package grants_test

import (
	"context"
	"slices"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
)

// A grant is needed by what has no other grant, and by what is in an account that no other grant gives access to.
func TestNeeded(t *testing.T) {
	t.Parallel()
	const account, elsewhere = "444455556666", "777788889999"
	in := func(name, id string, namespaces ...string) grant.Grant {
		g := grant.Grant{Name: name, Namespaces: grant.Namespaces{Names: namespaces}}
		if id != "" {
			g.Account = grant.Account{ID: id, RoleARN: "arn:aws:iam::" + id + ":role/tenants"}
		}
		return g
	}
	refused := func(g grant.Grant) grant.Grant {
		g.RoleRefused = true
		return g
	}
	for name, tt := range map[string]struct {
		grants []grant.Grant
		object grants.Object
		want   int
	}{
		"the only grant of the namespace":                       {[]grant.Grant{in("shop", "", "shop")}, grants.Object{Namespace: "shop", Present: true}, 1},
		"another grant selects the namespace less strongly":     {[]grant.Grant{in("shop", "", "shop"), in("all", "", "*")}, grants.Object{Namespace: "shop", Present: true}, 0},
		"an object that has nothing in AWS":                     {[]grant.Grant{in("shop", "", "shop")}, grants.Object{Namespace: "shop"}, 0},
		"the only access to the account of another's object":    {[]grant.Grant{in("shop", account, "shop"), in("all", "", "*")}, grants.Object{Namespace: "other", Present: true, Account: account}, 1},
		"another grant gives access to the account":             {[]grant.Grant{in("shop", account, "shop"), in("all", account, "*")}, grants.Object{Namespace: "shop", Present: true, Account: account}, 0},
		"another grant's role is refused":                       {[]grant.Grant{in("shop", account, "shop"), refused(in("all", account, "*"))}, grants.Object{Namespace: "shop", Present: true, Account: account}, 1},
		"the object is in an account that the grant is not for": {[]grant.Grant{in("shop", account, "shop"), in("all", "", "*")}, grants.Object{Namespace: "other", Present: true, Account: elsewhere}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := grants.New(grants.Options{
				Mode: grants.Enforce, Clock: clocktesting.NewFakeClock(time.Time{}),
				Grants:  func(context.Context) ([]grant.Grant, error) { return tt.grants, nil },
				Objects: func(context.Context) ([]grants.Object, error) { return []grants.Object{tt.object}, nil },
			})
			got, err := r.Needed(t.Context(), "shop")
			var wanted []string
			if tt.want > 0 {
				wanted = []string{tt.object.Namespace}
			}
			if err != nil || got.Objects != tt.want || !slices.Equal(got.Namespaces, wanted) || len(got.Widened) > 0 {
				t.Errorf("got %+v, %v, want %d by %q", got, err, tt.want, wanted)
			}
		})
	}
}
