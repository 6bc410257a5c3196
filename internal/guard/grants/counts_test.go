package grants_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
)

// Grants that select the same namespaces know which, once each, so that the administrator finds them.
func TestRivalsKnowWhatTheyContest(t *testing.T) {
	t.Parallel()
	named := func(name string, namespaces ...string) grant.Grant {
		return grant.Grant{Name: name, Namespaces: grant.Namespaces{Names: namespaces}}
	}
	one := grant.Usage{Tenants: 1}
	r := grants.New(grants.Options{
		Mode: grants.Enforce, Clock: clocktesting.NewFakeClock(time.Time{}),
		Grants: func(context.Context) ([]grant.Grant, error) {
			return []grant.Grant{named("shop", "shop", "web", "own"), named("copy", "shop", "web", "empty")}, nil
		},
		Objects: func(context.Context) ([]grants.Object, error) {
			return []grants.Object{{Namespace: "web", Usage: one}, {Namespace: "shop", Usage: one}, {Namespace: "own", Usage: one}, {Namespace: "web", Usage: one}}, nil
		},
	})
	got, err := r.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]grants.Census{
		"shop": {Namespaces: 1, Tenants: 1, Rivals: []string{"copy"}, Contested: []string{"shop", "web"}},
		"copy": {Rivals: []string{"shop"}, Contested: []string{"shop", "web"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A refusal while grants are off says what is off, and what to do.
func TestObjectsOfOtherNamespacesNeedAGrant(t *testing.T) {
	t.Parallel()
	var off *grants.Registry
	v, err := off.Judge(t.Context(), grants.Asker{Namespace: "shop", Wants: []grant.Want{{Thing: grant.ADistribution, Field: "spec.distributionRef", Value: "platform/main"}}})
	if err != nil {
		t.Fatal(err)
	}
	const want = "spec.distributionRef: platform/main is an object of another namespace, which only an EdgeGrant can allow, and grants are switched off (--grants=Off). " +
		"Use an object of this namespace, or ask an administrator of the platform."
	if v.Refused == nil || !v.Enforced || v.Refused.Message != want {
		t.Errorf("got %+v", v.Refused)
	}
}
