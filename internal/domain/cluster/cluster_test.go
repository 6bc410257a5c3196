package cluster_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/cluster"
)

const (
	issuer = "https://oidc.eks.eu-west-1.amazonaws.com/id/ABC"
	other  = "https://oidc.eks.eu-west-1.amazonaws.com/id/XYZ"
)

func identity(issuer string, keys ...string) cluster.Identity {
	return cluster.Identity{ID: "c1", Issuer: issuer, Keys: keys}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stored   *cluster.Stored
		now      cluster.Identity
		accepted cluster.Identity
		store    bool
		moved    string
	}{
		"at the first start everything is stored":               {now: identity(issuer, "k1"), store: true},
		"a cluster that shows nothing of itself is not":         {now: identity("")},
		"the same cluster is the same, and nothing is written":  {stored: &cluster.Stored{Identity: identity(issuer, "k1")}, now: identity(issuer, "k1")},
		"a copy with another issuer is not":                     {stored: &cluster.Stored{Identity: identity(issuer, "k1")}, now: identity(other, "k1"), moved: "issuer was " + issuer + " and is " + other},
		"nor one with another CA":                               {stored: &cluster.Stored{Identity: identity(issuer, "k1")}, now: identity(issuer, "k2"), moved: "CA of the cluster is another"},
		"both are said":                                         {stored: &cluster.Stored{Identity: identity(issuer, "k1")}, now: identity(other, "k2"), moved: ", and the CA"},
		"a CA that is rotated shows both keys":                  {stored: &cluster.Stored{Identity: identity(issuer, "k1")}, now: identity(issuer, "k1", "k2"), store: true},
		"and then the new one":                                  {stored: &cluster.Stored{Identity: identity(issuer, "k1", "k2")}, now: identity(issuer, "k2"), store: true},
		"an issuer that can't be read any more is a difference": {stored: &cluster.Stored{Identity: identity(issuer, "k1")}, now: identity("", "k1"), moved: "can't be read from /.well-known"},
		"and a CA that can't":                                   {stored: &cluster.Stored{Identity: identity(issuer, "k1")}, now: identity(issuer), moved: "can't be read from the ConfigMap"},
		"one that never could is learned later":                 {stored: &cluster.Stored{Identity: identity("", "k1")}, now: identity(issuer, "k1"), store: true},
		"where only the issuer can be read it decides":          {stored: &cluster.Stored{Identity: identity(issuer)}, now: identity(other), moved: "issuer"},
		"another cluster ID alone is only noted":                {stored: &cluster.Stored{Identity: cluster.Identity{ID: "c0", Issuer: issuer, Keys: []string{"k1"}}}, now: identity(issuer, "k1"), store: true},
		"an administrator accepts the very cluster":             {stored: &cluster.Stored{Identity: identity(issuer, "k1")}, now: identity(other, "k2"), accepted: identity(other, "k2"), store: true},
		"and no other":                                          {stored: &cluster.Stored{Identity: identity(issuer, "k1")}, now: identity(other, "k2"), accepted: identity(other, "k3"), moved: "issuer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.accepted.Issuer != "" {
				c.stored.Accepted = c.accepted.Fingerprint()
			}
			v := cluster.Judge(c.stored, c.now)
			if v.Store != c.store || !strings.Contains(v.Moved, c.moved) || (v.Moved == "") != (c.moved == "") {
				t.Errorf("got %+v", v)
			}
		})
	}
}

// Whatever is stored and seen: what differs is never stored without a word from an administrator, and what was accepted is
// the same cluster from then on.
func TestAnotherClusterIsNeverLearned(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		some := func(name string) cluster.Identity {
			return cluster.Identity{
				ID:     rapid.SampledFrom([]string{"c1", "c2"}).Draw(t, name+" id"),
				Issuer: rapid.SampledFrom([]string{"", issuer, other}).Draw(t, name+" issuer"),
				Keys:   rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"k1", "k2", "k3"}), 0, 2, rapid.ID[string]).Draw(t, name+" keys"),
			}
		}
		stored, now := cluster.Stored{Identity: some("stored")}, some("now")
		v := cluster.Judge(&stored, now)
		if v.Moved != "" && v.Store {
			t.Fatalf("stores a cluster that has moved: %+v", v)
		}
		if same := stored.Issuer == now.Issuer && stored.Fingerprint() == now.Fingerprint(); same && v.Moved != "" {
			t.Fatalf("the same cluster has moved: %+v", v)
		}
		stored.Accepted = now.Fingerprint()
		if v := cluster.Judge(&stored, now); v.Moved != "" {
			t.Fatalf("was accepted, and has moved: %+v", v)
		}
		if v := cluster.Judge(&cluster.Stored{Identity: now}, now); v.Moved != "" || v.Store {
			t.Fatalf("was stored, and is another one: %+v", v)
		}
	})
}

func TestTextHasTheCommand(t *testing.T) {
	t.Parallel()
	now := identity(other, "k2")
	v := cluster.Judge(&cluster.Stored{Identity: identity(issuer, "k1")}, now)
	text := v.Text(now, cluster.Place{Namespace: "ns", ConfigMap: "cm", Annotation: "example.io/accept"})
	if command := "kubectl -n ns annotate configmap cm example.io/accept=" + now.Fingerprint() + " --overwrite."; !strings.HasSuffix(text, command) {
		t.Errorf("%q does not end with %q", text, command)
	}
}
