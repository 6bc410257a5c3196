package cluster_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/cluster"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
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
	renamed := cluster.Identity{ID: "c0", Issuer: issuer, Keys: []string{"k1"}}
	for name, c := range map[string]struct {
		stored   cluster.Stored
		now      cluster.Identity
		accepted cluster.Identity
		store    bool
		moved    string
		renamed  string
	}{
		"the same cluster is the same, and nothing is written":  {stored: cluster.Stored{Identity: identity(issuer, "k1")}, now: identity(issuer, "k1")},
		"a copy with another issuer is not":                     {stored: cluster.Stored{Identity: identity(issuer, "k1")}, now: identity(other, "k1"), moved: "issuer was " + issuer + " and is " + other},
		"nor one with another CA":                               {stored: cluster.Stored{Identity: identity(issuer, "k1")}, now: identity(issuer, "k2"), moved: "CA of the cluster is another"},
		"both are said":                                         {stored: cluster.Stored{Identity: identity(issuer, "k1")}, now: identity(other, "k2"), moved: ", and the CA"},
		"a CA that is rotated shows both keys":                  {stored: cluster.Stored{Identity: identity(issuer, "k1")}, now: identity(issuer, "k1", "k2"), store: true},
		"and then the new one":                                  {stored: cluster.Stored{Identity: identity(issuer, "k1", "k2")}, now: identity(issuer, "k2"), store: true},
		"an issuer that can't be read any more is a difference": {stored: cluster.Stored{Identity: identity(issuer, "k1")}, now: identity("", "k1"), moved: "can't be read from /.well-known"},
		"and a CA that can't":                                   {stored: cluster.Stored{Identity: identity(issuer, "k1")}, now: identity(issuer), moved: "can't be read from the ConfigMap"},
		"one that never could is learned later":                 {stored: cluster.Stored{Identity: identity("", "k1")}, now: identity(issuer, "k1"), store: true},
		"where only the issuer can be read it decides":          {stored: cluster.Stored{Identity: identity(issuer)}, now: identity(other), moved: "issuer"},
		"another cluster ID halts as well":                      {stored: cluster.Stored{Identity: renamed}, now: identity(issuer, "k1"), renamed: "c0"},
		"also where nothing else is known":                      {stored: cluster.Stored{Identity: cluster.Identity{ID: "c0"}}, now: identity(issuer, "k1"), renamed: "c0"},
		"an ID that was not stored proves nothing":              {stored: cluster.Stored{Identity: cluster.Identity{Issuer: issuer, Keys: []string{"k1"}}}, now: identity(issuer, "k1"), store: true},
		"another cluster with another ID is both":               {stored: cluster.Stored{Identity: renamed}, now: identity(other, "k1"), moved: "issuer", renamed: "c0"},
		"an administrator accepts the very ID":                  {stored: cluster.Stored{Identity: renamed}, now: identity(issuer, "k1"), accepted: identity(issuer, "k1"), store: true},
		"and not the ID of another cluster":                     {stored: cluster.Stored{Identity: renamed}, now: identity(issuer, "k1"), accepted: identity(other, "k1"), renamed: "c0"},
		"nor another ID of this one":                            {stored: cluster.Stored{Identity: renamed}, now: identity(issuer, "k1"), accepted: renamed, renamed: "c0"},
		"an administrator accepts the very cluster":             {stored: cluster.Stored{Identity: identity(issuer, "k1")}, now: identity(other, "k2"), accepted: identity(other, "k2"), store: true},
		"and no other":                                          {stored: cluster.Stored{Identity: identity(issuer, "k1")}, now: identity(other, "k2"), accepted: identity(other, "k3"), moved: "issuer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.accepted.Issuer != "" {
				c.stored.Accepted = c.accepted.Fingerprint()
			}
			v := cluster.Judge(c.stored, c.now)
			if v.Store != c.store || !strings.Contains(v.Moved, c.moved) || (v.Moved == "") != (c.moved == "") || v.Renamed != c.renamed {
				t.Errorf("got %+v", v)
			}
		})
	}
}

func TestFirst(t *testing.T) {
	t.Parallel()
	now := identity(issuer, "k1")
	for name, c := range map[string]struct {
		copied *cluster.Stored
		want   cluster.Identity
	}{
		"at the first start that is the present identity":              {nil, now},
		"an installation in another namespace has left another":        {&cluster.Stored{Identity: identity(other, "k2")}, identity(other, "k2")},
		"but its cluster ID may be that of a second installation here": {&cluster.Stored{Identity: cluster.Identity{ID: "c0", Issuer: issuer, Keys: []string{"k1"}}}, now},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(c.want, cluster.First(c.copied, now)); d != "" {
				t.Errorf("-want +got:\n%s", d)
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
		v := cluster.Judge(stored, now)
		if v.Halts() && v.Store {
			t.Fatalf("stores a cluster that is another one: %+v", v)
		}
		if stored.ID != now.ID && v.Renamed != stored.ID {
			t.Fatalf("has another ID, and goes on: %+v", v)
		}
		if stored.Fingerprint() == now.Fingerprint() && v.Halts() {
			t.Fatalf("the same cluster is another one: %+v", v)
		}
		stored.Accepted = now.Fingerprint()
		if v := cluster.Judge(stored, now); v.Halts() {
			t.Fatalf("was accepted, and is another one: %+v", v)
		}
		if v := cluster.Judge(cluster.Stored{Identity: now}, now); v.Halts() || v.Store {
			t.Fatalf("was stored, and is another one: %+v", v)
		}
	})
}

// The message names what differs, says that nothing is changed and how to undo it, and ends with the command.
func TestTheMessageHasTheCommand(t *testing.T) {
	t.Parallel()
	place := cluster.Place{Namespace: "ns", ConfigMap: "cm", Annotation: "example.io/accept"}
	stored := cluster.Stored{Identity: cluster.Identity{ID: "c0", Issuer: issuer, Keys: []string{"k1"}}}
	for name, c := range map[string]struct {
		now    cluster.Identity
		reason chain.Reason
		says   []string
	}{
		"another cluster":                 {cluster.Identity{ID: "c0", Issuer: other, Keys: []string{"k2"}}, resource.ReasonClusterMoved, []string{"issuer was", "delete the copy"}},
		"another cluster ID":              {identity(issuer, "k1"), resource.ReasonClusterIDChanged, []string{`The cluster ID was "c0" and is "c1".`, `set the chart value controller.clusterID (--cluster-id) to "c0"`}},
		"another cluster with another ID": {identity(other, "k2"), resource.ReasonClusterMoved, []string{"issuer was", `The cluster ID was "c0" and is "c1".`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := cluster.Judge(stored, c.now).Halt(c.now, place)
			if h == nil || h.Reason != c.reason {
				t.Fatalf("the halt is %+v", h)
			}
			for _, text := range append(c.says, "Nothing is changed in AWS.") {
				if !strings.Contains(h.Message, text) {
					t.Errorf("%q does not say %q", h.Message, text)
				}
			}
			if command := "kubectl -n ns annotate configmap cm example.io/accept=" + c.now.Fingerprint() + " --overwrite"; !strings.HasSuffix(h.Message, command) {
				t.Errorf("%q does not end with %q", h.Message, command)
			}
		})
	}
	if h := cluster.Judge(stored, stored.Identity).Halt(stored.Identity, place); h != nil {
		t.Errorf("the same cluster is halted: %+v", h)
	}
}
