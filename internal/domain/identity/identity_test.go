package identity_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
)

func TestExternalID(t *testing.T) {
	for name, tt := range map[string]struct{ cluster, namespace, want string }{
		"the cluster ID is a UID unless another one was configured": {
			"7b0f1f5e-54f5-4f0e-b14a-0b6a5f5d7e0f", "shop", "7b0f1f5e-54f5-4f0e-b14a-0b6a5f5d7e0f/shop",
		},
		"what a tag takes and an external id does not is spelled out": {"Köln 1=a", "shop", "K=C3=B6ln=201=3Da/shop"},
		"what both take stays": {"eu/prod:1@x_y.z+1-2", "shop", "eu/prod:1@x_y.z+1-2/shop"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := identity.ExternalID(tt.cluster, identity.OfNamespace(tt.namespace)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

var (
	clusterID = rapid.StringMatching(`[a-cö =/:%@.+_-]{1,12}`)
	namespace = rapid.StringMatching(`[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?`)
)

// An external ID is a proof only if no other namespace and no grant can have the same one.
func TestNoTwoSubjectsShareAnExternalID(t *testing.T) {
	allowed := regexp.MustCompile(`^[\w+=,.@:/-]+$`)
	rapid.Check(t, func(t *rapid.T) {
		c1, c2 := clusterID.Draw(t, "cluster"), clusterID.Draw(t, "other cluster")
		s1, s2 := subject(t, ""), subject(t, "other ")
		one, other := identity.ExternalID(c1, s1), identity.ExternalID(c2, s2)
		if (one == other) != (c1 == c2 && s1 == s2) {
			t.Fatalf("(%s, %s) and (%s, %s) have %s and %s", c1, s1, c2, s2, one, other)
		}
		if !allowed.MatchString(one) {
			t.Fatalf("AWS does not take %s", one)
		}
	})
}

// subject draws a namespace or a grant. The names of grants are those of DNS subdomains.
func subject(t *rapid.T, which string) identity.Subject {
	name := namespace.Draw(t, which+"namespace")
	if rapid.Bool().Draw(t, which+"grant") {
		return identity.OfGrant(name)
	}
	return identity.OfNamespace(name)
}

func TestSessionName(t *testing.T) {
	long := strings.Repeat("a", 60)
	for name, tt := range map[string]struct{ namespace, want string }{
		"it names the operator and the namespace":       {"shop", "cloudfront-tenant-operator@shop"},
		"the longest that fits":                         {strings.Repeat("b", 37), "cloudfront-tenant-operator@" + strings.Repeat("b", 37)},
		"one that is too long is cut and told by a sum": {long, "cloudfront-tenant-operator@" + strings.Repeat("a", 26) + "-11ee391211"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := identity.SessionName(identity.OfNamespace(tt.namespace)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	if identity.SessionName(identity.OfNamespace(long+"-x")) == identity.SessionName(identity.OfNamespace(long+"-y")) {
		t.Error("two namespaces can't be told apart in an audit log")
	}
	rapid.Check(t, func(t *rapid.T) {
		name := identity.SessionName(subject(t, ""))
		if !regexp.MustCompile(`^[\w+=,.@-]{2,64}$`).MatchString(name) {
			t.Fatalf("AWS does not take %s", name)
		}
	})
}
