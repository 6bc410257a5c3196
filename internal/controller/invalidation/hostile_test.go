package invalidation_test

import (
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// grantOf grants all namespaces two kinds, and one distribution.
func grantOf(version, distribution string) grant.Grant {
	return grant.Grant{
		Name: "all", Version: version, Namespaces: grant.Namespaces{Names: []string{"*"}}, Kinds: []string{"DistributionTenant", "Invalidation"},
		Distributions: []grant.Distribution{{Is: distribution}}, Domains: []grant.Domain{{Suffix: "*"}},
	}
}

// A tenant that its namespace may not have any more is not invalidated, and neither is one that it never could have.
func TestATenantThatIsNotGrantedIsNotInvalidated(t *testing.T) {
	w := offline(t, world.Options{Grants: grants.Enforce, Granted: []grant.Grant{grantOf("1", "*")}}, "shop")
	w.Grant(grantOf("2", "EOTHER"))
	w.Apply(w.Tenant("late"))
	w.Advance(settle)
	apply(t, w, w.Invalidation("first", "shop"))
	apply(t, w, w.Invalidation("second", "late"))
	w.Advance(settle)
	is(t, w, "first", "False/ReferenceNotReady", "has the reason NotGranted, so that its tenant in AWS is not changed")
	is(t, w, "second", "False/ReferenceNotReady", "the DistributionTenant late")
	inAWS(t, w)
	w.Grant(grantOf("3", "*"))
	w.Advance(settle)
	is(t, w, "first", "True/Completed")
	inAWS(t, w, "late /index.html", "shop /index.html")
}

// A namespace reaches its own tenants only, whatever their names and labels are.
func TestTenantsOfAnotherNamespaceAreNotInvalidated(t *testing.T) {
	w := offline(t, world.Options{}, "shop")
	other := w.AddNamespace()
	for name, change := range map[string]func(*v1alpha1.Invalidation){"by-name": func(*v1alpha1.Invalidation) {}, "by-label": ofGold} {
		o := w.Invalidation(name, "shop", change)
		o.Namespace = other
		apply(t, w, o)
	}
	read := func(name string) string {
		var o v1alpha1.Invalidation
		if err := w.Kube.Get(t.Context(), client.ObjectKey{Namespace: other, Name: name}, &o); err != nil {
			t.Fatal(err)
		}
		return o.Status.Conditions[0].Reason + ": " + o.Status.Conditions[0].Message
	}
	w.Advance(settle)
	want := map[string]string{
		"by-name":  "ReferenceNotReady: spec.tenantRef: there is no DistributionTenant shop in this namespace. The invalidation waits for an hour.",
		"by-label": "ReferenceNotReady: spec.selector: it selects no DistributionTenant that is in AWS. The invalidation waits for an hour.",
	}
	if diff := cmp.Diff(want, map[string]string{"by-name": read("by-name"), "by-label": read("by-label")}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.Advance(time.Hour)
	if got := read("by-label"); !strings.HasPrefix(got, "InvalidationFailed: spec.selector: it selects no DistributionTenant") {
		t.Errorf("after an hour: %s", got)
	}
	inAWS(t, w)
}

// A tenant that others take over after it was chosen is theirs, and one that is replaced in AWS has other caches.
func TestATenantIsTakenOverInBetween(t *testing.T) {
	w := offline(t, world.Options{}, "one", "two")
	w.Sim.SetQuotas(sim.Quotas{InvalidationPaths: 1})
	apply(t, w, w.Invalidation("gold", "", ofGold))
	w.Advance(time.Second)
	two, _ := w.Get("two")
	var tags []types.Tag
	for key, value := range (ownership.Owner{Cluster: "another", Namespace: "theirs", Name: "two", UID: "theirs"}).Tags() {
		tags = append(tags, types.Tag{Key: awssdk.String(key), Value: awssdk.String(value)})
	}
	if _, err := w.AWS().TagResource(t.Context(), &sdk.TagResourceInput{Resource: &two.Status.ARN, Tags: &types.Tags{Items: tags}}); err != nil {
		t.Fatal(err)
	}
	w.Advance(settle)
	is(t, w, "gold", "False/InvalidationFailed", "The tenant two was not invalidated")
	if diff := cmp.Diff(map[string]string{"one": "Completed", "two": "Failed"}, states(w, "gold")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	inAWS(t, w, "one /index.html")
}

// More paths than AWS takes at all are refused, and not asked for again and again.
func TestMorePathsThanAWSTakesAreRefusedOnce(t *testing.T) {
	w := offline(t, world.Options{}, "shop")
	w.Sim.SetQuotas(sim.Quotas{InvalidationPaths: 2})
	apply(t, w, w.Invalidation("large", "shop", paths(numbered(3)...)))
	w.Advance(time.Hour)
	is(t, w, "large", "False/InvalidationFailed", "BatchTooLarge")
	if n := w.Calls()[create]; n != 1 {
		t.Errorf("%d requests", n)
	}
}

// AWS refuses paths that the schema of an old version has let in: a path is sent as it was written.
func TestPathsThatAWSRefusesFail(t *testing.T) {
	for name, path := range map[string]string{
		"a star in the middle":  "/*/logo.png",
		"no slash":              "index.html",
		"an address":            "https://shop.example.com/",
		"longer than AWS takes": "/" + strings.Repeat("x", 4000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := offline(t, world.Options{}, "shop")
			apply(t, w, w.Invalidation("first", "shop", paths(path)))
			w.Advance(time.Hour)
			is(t, w, "first", "False/InvalidationFailed", "AWS refused the invalidation")
			inAWS(t, w)
			if s := w.InvalidationStatus("first"); len(s.Tenants[0].Message) > 512 {
				t.Errorf("the message has %d bytes", len(s.Tenants[0].Message))
			}
			if n := w.Calls()[create]; n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// Any text fits into a label's value before the selector is read: the condition shows its beginning.
func TestASelectorThatCannotBeReadFails(t *testing.T) {
	w := offline(t, world.Options{}, "shop")
	apply(t, w, w.Invalidation("first", "", func(o *v1alpha1.Invalidation) {
		o.Spec.TenantRef = nil
		o.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": strings.Repeat("a", 100_000)}}
	}))
	w.Advance(time.Minute)
	is(t, w, "first", "False/ValidationFailed", "spec.selector", "Create another Invalidation with a valid selector.")
	if _, message := w.InvalidationReady("first"); len(message) > 1024 {
		t.Errorf("the message has %d bytes", len(message))
	}
}

// An object of the same name is another one: it is requested again.
func TestAnObjectIsCreatedAgain(t *testing.T) {
	w := offline(t, world.Options{}, "shop")
	for range 2 {
		o := w.Invalidation("deploy", "shop")
		apply(t, w, o)
		w.Advance(time.Second)
		is(t, w, "deploy", "False/InProgress")
		if err := w.Kube.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	w.Advance(settle)
	is(t, w, "deploy", "object is gone")
	inAWS(t, w, "shop /index.html", "shop /index.html")
}

// The limit of a day is that of one namespace. A restart does not give it back: what there is counts again, also what has
// not come to its turn. Deleting objects gives it back only in the next process, as the documentation says.
func TestPathsPerDayOutlastARestart(t *testing.T) {
	w := offline(t, world.Options{PathsPerDay: 10}, "one", "two")
	apply(t, w, w.Invalidation("first", "one", paths(numbered(6)...)))
	w.Advance(settle)
	is(t, w, "first", "True/Completed")
	w.Restart()
	apply(t, w, w.Invalidation("second", "two", paths(numbered(5)...)))
	w.Advance(settle)
	is(t, w, "second", "False/PathLimitReached")
	if err := w.Kube.Delete(t.Context(), w.Invalidation("first", "one")); err != nil {
		t.Fatal(err)
	}
	w.Advance(11 * time.Minute)
	is(t, w, "second", "False/PathLimitReached")
	w.Restart()
	w.Advance(settle)
	is(t, w, "second", "True/Completed")
}

// Objects that are created at the same time share the limit, however many there are, also across a crash.
func TestPathsPerDayOfManyAtOnce(t *testing.T) {
	w := offline(t, world.Options{PathsPerDay: 10}, "shop")
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		apply(t, w, w.Invalidation(name, "shop", paths(numbered(3)...)))
	}
	w.CrashAt(4, true)
	w.Advance(settle)
	if n := len(w.Invalidated()); n != 3 {
		t.Errorf("%d invalidations of 3 paths, and a day has 10", n)
	}
	w.Advance(25 * time.Hour)
	if n := len(w.Invalidated()); n != 5 {
		t.Errorf("%d invalidations after a day", n)
	}
}
