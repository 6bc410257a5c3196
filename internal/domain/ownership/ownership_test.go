package ownership_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
)

var me = ownership.Owner{Cluster: "c1", Namespace: "shop", Name: "alpha", UID: "u1"}

func TestRelate(t *testing.T) {
	change := func(how func(map[string]string)) map[string]string {
		tags := me.Tags()
		how(tags)
		return tags
	}
	set := func(key, value string) map[string]string {
		return change(func(tags map[string]string) { tags[key] = value })
	}
	without := func(key string) map[string]string {
		return change(func(tags map[string]string) { delete(tags, key) })
	}
	tests := map[string]struct {
		tags map[string]string
		want ownership.Relation
	}{
		"all four tags":                             {me.Tags(), ownership.Ours},
		"with other tags in addition":               {set("team", "web"), ownership.Ours},
		"no tags":                                   {nil, ownership.Unowned},
		"tags that no operator set":                 {map[string]string{"team": "web"}, ownership.Unowned},
		"a tag of ours that names no owner":         {map[string]string{ownership.Prefix + "later": "x"}, ownership.Unowned},
		"another UID":                               {set(ownership.UIDKey, "u0"), ownership.Former},
		"no UID: the name is ours, the rest is not": {without(ownership.UIDKey), ownership.Former},
		"another name":                              {set(ownership.NameKey, "beta"), ownership.Foreign},
		"another namespace":                         {set(ownership.NamespaceKey, "bank"), ownership.Foreign},
		"another cluster, all else alike":           {set(ownership.ClusterKey, "c2"), ownership.Foreign},
		"no cluster, but our UID":                   {without(ownership.ClusterKey), ownership.Ours},
		"our UID alone":                             {map[string]string{ownership.UIDKey: me.UID}, ownership.Ours},
		"neither cluster nor UID":                   {map[string]string{ownership.NamespaceKey: me.Namespace, ownership.NameKey: me.Name}, ownership.Foreign},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := ownership.Relate(me, test.tags); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

func TestOwnerSurvivesTags(t *testing.T) {
	words := rapid.StringMatching(`[a-z0-9-]{1,8}`)
	rapid.Check(t, func(t *rapid.T) {
		o := ownership.Owner{
			Cluster: words.Draw(t, "cluster"), Namespace: words.Draw(t, "namespace"), Name: words.Draw(t, "name"), UID: words.Draw(t, "uid"),
		}
		user := rapid.MapOfN(rapid.SampledFrom([]string{"team", "cost", ownership.UIDKey}), words, 0, 3).Draw(t, "tags")
		before := maps.Clone(user)
		all := ownership.Merge(user, o)
		if d := cmp.Diff(before, user); d != "" {
			t.Fatalf("merging changed the user's tags:\n%s", d)
		}
		if got, ok := ownership.FromTags(all); !ok || got != o {
			t.Fatalf("%s became %s", o, got)
		}
		if ownership.Relate(o, all) != ownership.Ours {
			t.Fatalf("what %s tagged is not its own", o)
		}
	})
}

func TestKeysAreTheKeysOfTags(t *testing.T) {
	tags := me.Tags()
	if len(tags) != len(ownership.Keys()) {
		t.Errorf("%d keys, %d tags", len(ownership.Keys()), len(tags))
	}
	for _, k := range ownership.Keys() {
		if tags[k] == "" || !strings.HasPrefix(k, ownership.Prefix) {
			t.Errorf("key %q has the value %q", k, tags[k])
		}
	}
}
