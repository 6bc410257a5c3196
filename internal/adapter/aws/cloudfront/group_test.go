package cloudfront_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/canned"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/specimen"
)

// groupOf is a normalised group that is on.
func groupOf(anycast string) v1alpha1.ConnectionGroupConfig {
	return convert.NormalizeGroup(v1alpha1.ConnectionGroupConfig{AnycastIPListID: anycast})
}

func TestGroupsSurviveTheRoundTrip(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(t)
		w.ChangeSwitches(func(s *sim.Switches) {
			s.UpdateReplaces = rapid.Bool().Draw(r, "AWS resets what is not sent")
			s.EnabledByDefault = rapid.Bool().Draw(r, "new groups are on")
		})
		check := func(what string, desired v1alpha1.ConnectionGroupConfig, g port.Group, err error) {
			if err != nil {
				r.Fatalf("%s: %v", what, err)
			}
			again, err := w.client.ReadGroup(t.Context(), g.ID)
			if err != nil {
				r.Fatal(err)
			}
			for source, got := range map[string]port.Group{"the answer": g, "a read": again} {
				if diff := convert.GroupDifferences(desired, got.Config); diff != nil {
					r.Fatalf("%s, by %s: differences %+v", what, source, diff)
				}
			}
		}
		first, second := specimen.Groups().Draw(r, "first"), specimen.Groups().Draw(r, "second")
		// The ID of no list is sent only where there is one to remove.
		w.ChangeSwitches(func(s *sim.Switches) { s.Allowed.EmptyAnycastIPList = first.AnycastIPListID != "" })
		created, err := w.client.CreateGroup(t.Context(), "new", convert.NormalizeGroup(first), ownerTags)
		check("created", first, created, err)
		updated, err := w.client.UpdateGroup(t.Context(), created, convert.NormalizeGroup(second))
		check("updated", second, updated, err)
	})
}

func TestGroupsLifeInAWS(t *testing.T) {
	w := newWorld(t)
	created, err := w.client.CreateGroup(t.Context(), "new", groupOf("aip_1"), ownerTags)
	if err != nil {
		t.Fatal(err)
	}
	want := port.Group{
		Observed: distribution.Observed{
			ID: created.ID, ARN: "arn:aws:cloudfront::" + sim.DefaultAccount + ":connection-group/" + created.ID, Name: "new",
			ETag: created.ETag, Status: "InProgress", Enabled: true, Modified: created.Modified,
		},
		RoutingEndpoint: created.RoutingEndpoint, Config: groupOf("aip_1"),
	}
	if diff := cmp.Diff(want, created); diff != "" || created.RoutingEndpoint == "" || created.Modified.IsZero() {
		t.Errorf("created %+v (-want +got):\n%s", created, diff)
	}
	for _, identifier := range []string{created.ID, created.ARN, "new"} {
		got, err := w.client.ReadGroup(t.Context(), identifier)
		if diff := cmp.Diff(created, got); diff != "" || err != nil {
			t.Errorf("by %s: error %v, group (-created +got):\n%s", identifier, err, diff)
		}
	}
	tags, err := w.client.ListTags(t.Context(), created.ARN)
	if diff := cmp.Diff(ownerTags, tags); diff != "" || err != nil {
		t.Errorf("error %v, tags (-want +got):\n%s", err, diff)
	}
	if _, err := w.client.CreateGroup(t.Context(), "new", groupOf(""), ownerTags); !fault.Is(err, fault.Exists) {
		t.Errorf("the same name again: %v, want Exists", err)
	}
	remove := func(etag string) error { return w.client.DeleteGroup(t.Context(), created.ID, etag) }
	if err := remove(created.ETag); !fault.Is(err, fault.NotDisabled) {
		t.Errorf("deleting it while it is on: %v, want NotDisabled", err)
	}
	disabled, err := w.client.DisableGroup(t.Context(), created.ID, created.ETag)
	if err != nil {
		t.Fatal(err)
	}
	off := groupOf("aip_1")
	off.Enabled = new(false)
	if diff := cmp.Diff(off, disabled.Config); diff != "" || disabled.Enabled {
		t.Errorf("disabled (-want +got):\n%s", diff)
	}
	if _, err := w.client.UpdateGroup(t.Context(), created, off); !fault.Is(err, fault.Conflict) {
		t.Errorf("updating with an old ETag: %v, want Conflict", err)
	}
	w.Advance(time.Hour)
	settled, err := w.client.ReadGroup(t.Context(), created.ID)
	if err != nil || !settled.Settled() {
		t.Fatalf("an hour later %+v, error %v", settled.Observed, err)
	}
	if err := remove(created.ETag); !fault.Is(err, fault.Conflict) {
		t.Errorf("deleting with an old ETag: %v, want Conflict", err)
	}
	if err := remove(settled.ETag); err != nil {
		t.Fatal(err)
	}
	if _, err := w.client.ReadGroup(t.Context(), created.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("reading it afterwards: %v, want NotFound", err)
	}
	if err := remove(settled.ETag); !fault.Is(err, fault.NotFound) {
		t.Errorf("deleting it again: %v, want NotFound", err)
	}
}

func TestAGroupInUseStaysOn(t *testing.T) {
	w := newWorld(t)
	moved := tenant("shop")
	moved.ConnectionGroupID = "cg_second"
	if _, err := w.client.CreateTenant(t.Context(), moved, nil, nil); err != nil {
		t.Fatal(err)
	}
	g, err := w.client.ReadGroup(t.Context(), "second")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.client.DisableGroup(t.Context(), g.ID, g.ETag); !fault.Is(err, fault.InUse) {
		t.Errorf("disabling: %v, want InUse", err)
	}
	if err := w.client.DeleteGroup(t.Context(), g.ID, g.ETag); !fault.Is(err, fault.InUse) {
		t.Errorf("deleting: %v, want InUse", err)
	}
	main, err := w.client.ReadGroup(t.Context(), groupID)
	if err != nil || !main.Default || g.Default {
		t.Errorf("default: %t and %t, error %v", main.Default, g.Default, err)
	}
}

// One code stands for a group that is gone and for an Anycast list that never was.
func TestAnAbsentAnycastListIsNoAbsentGroup(t *testing.T) {
	answer := &canned.Transport{Status: http.StatusNotFound, Body: `<ErrorResponse><Error><Code>EntityNotFound</Code></Error></ErrorResponse>`}
	client, _, _ := newClient(t, answer, 10)
	tests := map[string]struct {
		call func() error
		want fault.Kind
	}{
		"an update without a list": {func() error {
			_, err := client.UpdateGroup(t.Context(), seededGroup, groupOf(""))
			return err
		}, fault.NotFound},
		"an update with a list": {func() error {
			_, err := client.UpdateGroup(t.Context(), seededGroup, groupOf("aip_1"))
			return err
		}, fault.Invalid},
		"a disable": {func() error {
			_, err := client.DisableGroup(t.Context(), "cg_1", "E1")
			return err
		}, fault.NotFound},
		"a create": {func() error {
			_, err := client.CreateGroup(t.Context(), "a", groupOf("aip_1"), ownerTags)
			return err
		}, fault.Invalid},
	}
	for name, tt := range tests {
		if err := tt.call(); fault.KindOf(err) != tt.want {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

// Each part of a group is checked.
func TestAnswersThatLackAPartOfAGroup(t *testing.T) {
	parts := []string{
		"<Id>cg_1</Id>", "<Name>a</Name>", "<Arn>arn:1</Arn>", "<RoutingEndpoint>d1.cloudfront.net</RoutingEndpoint>", "<Status>Deployed</Status>",
		"<Enabled>true</Enabled>", "<Ipv6Enabled>true</Ipv6Enabled>",
	}
	for i := range len(parts) + 1 {
		body := "<ConnectionGroup>" + strings.Join(append(append([]string{}, parts[:min(i, len(parts))]...), parts[min(i+1, len(parts)):]...), "") + "</ConnectionGroup>"
		client, _, _ := newClient(t, withETag{&canned.Transport{Status: http.StatusOK, Body: body}}, 10)
		_, err := client.ReadGroup(t.Context(), "cg_1")
		if whole := i == len(parts); whole != (err == nil) || !whole && !fault.Is(err, fault.Transient) {
			t.Errorf("%s: error %v", body, err)
		}
	}
	client, _, _ := newClient(t, &canned.Transport{Status: http.StatusOK, Body: "<ConnectionGroup>" + strings.Join(parts, "") + "</ConnectionGroup>"}, 10)
	if _, err := client.ReadGroup(t.Context(), "cg_1"); !fault.Is(err, fault.Transient) {
		t.Errorf("without an ETag: %v, want a transient error", err)
	}
}

type withETag struct{ http.RoundTripper }

func (e withETag) RoundTrip(r *http.Request) (*http.Response, error) {
	out, err := e.RoundTripper.RoundTrip(r)
	if err == nil {
		out.Header.Set("Etag", "E1")
	}
	return out, err
}
