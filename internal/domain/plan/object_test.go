package plan_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/plans"
)

// anyLeaf is a value without parts.
var anyLeaf = rapid.OneOf(
	rapid.Map(rapid.Bool(), func(b bool) any { return b }),
	rapid.Map(rapid.Int64(), func(n int64) any { return n }),
	rapid.Map(rapid.Float64Range(0.1, 0.9), func(f float64) any { return f }),
	rapid.Map(rapid.StringMatching(`[a-z]{0,3}`), func(s string) any { return s }),
)

// anyTree is a value with parts in it, up to a depth.
func anyTree(depth int) *rapid.Generator[any] {
	if depth == 0 {
		return anyLeaf
	}
	inner := rapid.Deferred(func() *rapid.Generator[any] { return anyTree(depth - 1) })
	return rapid.OneOf(
		anyLeaf,
		rapid.Map(rapid.MapOfN(rapid.StringMatching(`[a-z]{1,2}`), inner, 0, 4), func(m plans.Tree) any { return m }),
		rapid.Map(rapid.SliceOfN(inner, 0, 3), func(list []any) any { return list }),
	)
}

var anyTexts = rapid.MapOfN(rapid.StringMatching(`[a-z]{1,3}`), rapid.StringMatching(`[a-z]{0,3}`), 0, 4)

func anyObject(t *rapid.T, name string) plan.Object {
	return plan.Object{
		Kind: plan.KindResourceQuota, Namespace: "n", Name: "o",
		Labels: anyTexts.Draw(t, name+"'s labels"), Annotations: anyTexts.Draw(t, name+"'s annotations"),
		Body: rapid.MapOfN(rapid.StringMatching(`[a-z]{1,2}`), anyTree(3), 1, 4).Draw(t, name+"'s body"),
	}
}

// found is the object as it would be read, sharing nothing with it.
func found(o plan.Object) *plan.Live {
	o.Labels, o.Annotations, o.Body = maps.Clone(o.Labels), maps.Clone(o.Annotations), copyOf(o.Body).(plans.Tree)
	return &plan.Live{Object: o}
}

func copyOf(v any) any {
	switch v := v.(type) {
	case plans.Tree:
		if v == nil {
			return v
		}
		out := map[string]any{}
		for k := range v {
			out[k] = copyOf(v[k])
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = copyOf(v[i])
		}
		return out
	default:
		return v
	}
}

// eachPart calls visit with every value in a tree, and with what replaces it there. To replace it by nil removes it.
func eachPart(v any, visit func(part any, replace func(any))) {
	switch v := v.(type) {
	case plans.Tree:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			visit(v[key], func(other any) {
				if v[key] = other; other == nil {
					delete(v, key)
				}
			})
			eachPart(v[key], visit)
		}
	case []any:
		for i := range v {
			visit(v[i], func(other any) { v[i] = other })
			eachPart(v[i], visit)
		}
	}
}

func TestWhatWasAppliedIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := anyObject(t, "the object").Marked()
		if !found(o).UpToDate(o) {
			t.Fatalf("not kept: %+v", o)
		}
		if diff := cmp.Diff(o, o.Marked()); diff != "" {
			t.Fatalf("marking it again changes it (-once +twice):\n%s", diff)
		}
	})
}

func TestWhatOthersAddedIsLeftToThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := anyObject(t, "the object").Marked()
		live := found(o)
		live.Labels = with(live.Labels, "theirs", "x")
		live.Annotations = with(live.Annotations, "theirs", "x")
		live.Body["theirs"] = map[string]any{"x": true}
		eachPart(live.Body, func(part any, _ func(any)) {
			if block, ok := part.(plans.Tree); ok && len(block) > 0 {
				block["theirs"] = []any{"x"}
			}
		})
		if !live.UpToDate(o) {
			t.Fatalf("not kept: %+v", live)
		}
	})
}

func with(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

// changes are all that can be done to one part of an object.
func changes(o plan.Object) []func() {
	var out []func()
	for _, texts := range []map[string]string{o.Labels, o.Annotations} {
		for _, key := range slices.Sorted(maps.Keys(texts)) {
			out = append(out, func() { texts[key] += "x" }, func() { delete(texts, key) })
		}
	}
	eachPart(o.Body, func(part any, replace func(any)) {
		switch part := part.(type) {
		case plans.Tree:
			if len(part) > 0 { // Nothing and an empty block mean the same.
				out = append(out, func() { replace(nil) }, func() { replace("x") })
			}
		case []any:
			out = append(out, func() { replace(append(part, "x")) })
			if len(part) > 0 {
				out = append(out, func() { replace(nil) }, func() { replace(part[1:]) })
			}
		default:
			out = append(out, func() { replace(nil) }, func() { replace([]any{part}) })
		}
	})
	return out
}

func TestAnyChangeOfWhatWasAppliedIsNoticed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := anyObject(t, "the object").Marked()
		live := found(o)
		rapid.SampledFrom(changes(live.Object)).Draw(t, "change")()
		if live.UpToDate(o) {
			t.Fatalf("no difference was seen between\n%+v and\n%+v", live.Object, o)
		}
	})
}

// Of what is not set any more nothing is missing in what was found: the mark tells.
func TestWhatIsNoLongerSetIsNoticed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		was := anyObject(t, "the former object")
		is := found(was).Object
		if list := changes(is); len(list) > 0 {
			rapid.SampledFrom(list).Draw(t, "change")()
		}
		same := cmp.Equal(was, is)
		if kept := found(was.Marked()).UpToDate(is.Marked()); kept != same {
			t.Fatalf("kept is %t, the same is %t, of\n%+v and\n%+v", kept, same, was, is)
		}
		if alike := was.Hash() == is.Hash(); alike != same {
			t.Fatalf("hashed alike is %t, the same is %t, of\n%+v and\n%+v", alike, same, was, is)
		}
	})
}

func TestTheMarkIsNoPartOfTheHash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := anyObject(t, "the object")
		before := found(o).Object
		marked := o.Marked()
		if marked.Annotations[plan.AnnotationApplied] != o.Hash() || marked.Hash() != o.Hash() {
			t.Fatalf("the mark is %q, the hash %q, and %q after it", marked.Annotations[plan.AnnotationApplied], o.Hash(), marked.Hash())
		}
		if diff := cmp.Diff(before, o); diff != "" {
			t.Fatalf("marking changed the object that was marked:\n%s", diff)
		}
	})
}
