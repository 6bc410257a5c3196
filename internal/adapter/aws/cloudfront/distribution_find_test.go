package cloudfront_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/canned"
)

// crowd is a world with distributions of many references, an hour after one another.
func crowd(t *testing.T) (world, map[string]string) {
	t.Helper()
	w := newWorld(t, func(o *sim.Options) { o.PageSize = 2 })
	ids := map[string]string{}
	for _, reference := range []string{"uid-1", "uid-1-1", "uid-10", "uid-1-x", "uid-1-", "UID-1", "other", "uid-7-4294967295"} {
		w.Advance(time.Hour)
		ids[reference] = w.createDistribution(t, reference, plain("tenant-only")).ID
	}
	w.Advance(time.Hour)
	ids["uid-9"] = w.createDistribution(t, "uid-9", plain("direct")).ID
	return w, ids
}

func TestFindDistribution(t *testing.T) {
	tests := map[string]struct {
		prefix string
		mode   v1alpha1.ConnectionMode
		want   string
		absent bool
	}{
		"the last modified of several":                   {prefix: "uid-1", want: "uid-1-1"},
		"a reference that is the whole prefix":           {prefix: "uid-10", want: "uid-10"},
		"a reference with a large number":                {prefix: "uid-7", want: "uid-7-4294967295"},
		"a standard distribution":                        {prefix: "uid-9", mode: "direct", want: "uid-9"},
		"one of the other connection mode is not looked": {prefix: "uid-9", absent: true},
		"no distribution has such a reference":           {prefix: "uid-2", absent: true},
	}
	w, ids := crowd(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			mode := tt.mode
			if mode == "" {
				mode = "tenant-only"
			}
			got, err := w.client.FindDistribution(t.Context(), mode, tt.prefix, time.Time{})
			switch {
			case tt.absent:
				if !fault.Is(err, fault.NotFound) {
					t.Errorf("found %q, error %v, want NotFound", got.CallerReference, err)
				}
			case err != nil:
				t.Error(err)
			case got.ID != ids[tt.want] || got.Raw == nil || got.ETag == "":
				t.Errorf("found %q, want %q", got.CallerReference, tt.want)
			}
		})
	}
}

func TestFindDistributionTakesTheLastModified(t *testing.T) {
	w, ids := crowd(t)
	w.Advance(time.Hour)
	w.edit(t, ids["uid-1"], func(c *types.DistributionConfig) { c.Comment = awssdk.String("touched") })
	got, err := w.client.FindDistribution(t.Context(), "tenant-only", "uid-1", time.Time{})
	if err != nil || got.ID != ids["uid-1"] {
		t.Errorf("found %q, error %v, want the one that was touched", got.CallerReference, err)
	}
}

// The list tells no references: only what may be the one that is looked for is read.
func TestFindDistributionReadsOnlyWhatIsYoungEnough(t *testing.T) {
	for name, tt := range map[string]struct {
		later time.Duration
		reads int
		found bool
	}{
		"at the very second":               {0, 1, true},
		"our clock is ten minutes ahead":   {10 * time.Minute, 1, true},
		"that was long before":             {30 * time.Minute, 0, false},
		"two distributions are that young": {-time.Hour, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			w, ids := crowd(t)
			modified := w.read(t, ids["uid-7-4294967295"]).Modified
			before := w.calls("GetDistribution")
			_, err := w.client.FindDistribution(t.Context(), "tenant-only", "uid-7", modified.Add(tt.later))
			if found := err == nil; found != tt.found || !found && !fault.Is(err, fault.NotFound) {
				t.Errorf("error %v, want found to be %t", err, tt.found)
			}
			if n := w.calls("GetDistribution") - before; n != tt.reads {
				t.Errorf("%d distributions were read, want %d", n, tt.reads)
			}
		})
	}
}

// A caller reference never changes: of what was read before, only what it refers to is read again.
func TestFindDistributionReadsTheOthersOnce(t *testing.T) {
	w, ids := crowd(t)
	reads := func(prefix string, want int, kinds ...fault.Kind) {
		t.Helper()
		before := w.calls("GetDistribution")
		if _, err := w.client.FindDistribution(t.Context(), "tenant-only", prefix, time.Time{}); len(kinds) > 0 && !fault.Is(err, kinds...) {
			t.Errorf("error %v, want %v", err, kinds)
		}
		if n := w.calls("GetDistribution") - before; n != want {
			t.Errorf("%d distributions were read in search of %s, want %d", n, prefix, want)
		}
	}
	// All but the standard one, and the seeded one.
	all := len(ids)
	w.inject(t, sim.Fault{Operation: "GetDistribution", Nth: 4, Times: 1, Error: &sim.FaultError{Status: 403, Code: "AccessDenied"}})
	reads("uid-2", 4, fault.Denied)
	reads("uid-2", all-3, fault.NotFound)
	reads("uid-2", 0, fault.NotFound)
	reads("uid-1", 2, fault.None)
	w.createDistribution(t, "uid-2", plain("tenant-only"))
	reads("uid-2", 1, fault.None)
	reads("uid-10", 1, fault.None)
}

func TestFindDistributionSkipsWhatHasVanished(t *testing.T) {
	w, ids := crowd(t)
	w.Advance(time.Hour)
	gone := w.read(t, ids["uid-1-1"])
	disabled, err := w.client.DisableDistribution(t.Context(), gone)
	if err != nil {
		t.Fatal(err)
	}
	w.Advance(time.Hour)
	w.ChangeSwitches(func(s *sim.Switches) { s.ListLag = 10 * time.Minute })
	if err := w.client.DeleteDistribution(t.Context(), gone.ID, disabled.ETag); err != nil {
		t.Fatal(err)
	}
	before := w.calls("GetDistribution")
	got, err := w.client.FindDistribution(t.Context(), "tenant-only", "uid-1", time.Time{})
	if err != nil || got.ID != ids["uid-1"] {
		t.Errorf("found %q, error %v, want uid-1", got.CallerReference, err)
	}
	if n := w.calls("GetDistribution") - before; n != len(ids) {
		t.Errorf("%d reads, want %d: the seeded one, and the vanished one, which the list still has", n, len(ids))
	}
}

// A distribution that can't be read could be the one: it is not skipped.
func TestFindDistributionEndsWithTheFirstFailure(t *testing.T) {
	w, ids := crowd(t)
	w.inject(t, sim.Fault{Operation: "GetDistribution", Times: 1, Error: &sim.FaultError{Status: 403, Code: "AccessDenied"}})
	if _, err := w.client.FindDistribution(t.Context(), "tenant-only", "uid-1", time.Time{}); !fault.Is(err, fault.Denied) {
		t.Errorf("error %v, want Denied", err)
	}
	if len(ids) == 0 {
		t.Fatal("no distribution was found")
	}
}

// pages answers by marker.
type pages map[string]string

func (p pages) RoundTrip(r *http.Request) (*http.Response, error) {
	marker := r.URL.Query().Get("Marker")
	if body, err := io.ReadAll(orNothing(r.Body)); err == nil {
		if _, rest, ok := strings.Cut(string(body), "<Marker>"); ok {
			marker, _, _ = strings.Cut(rest, "</Marker>")
		}
	}
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{},
		Body: io.NopCloser(strings.NewReader(p[marker])), Request: r,
	}, nil
}

func orNothing(body io.Reader) io.Reader {
	if body == nil {
		return strings.NewReader("")
	}
	return body
}

func TestAListOfDistributionsThatIsNotWhole(t *testing.T) {
	list := func(quantity int, truncated bool, next string, items int) string {
		body := fmt.Sprintf("<DistributionList><Quantity>%d</Quantity><IsTruncated>%t</IsTruncated>", quantity, truncated)
		if next != "" {
			body += "<NextMarker>" + next + "</NextMarker>"
		}
		return body + "<Items>" + strings.Repeat("<DistributionSummary><LastModifiedTime>2000-01-02T03:04:05Z</LastModifiedTime><Id>E1</Id></DistributionSummary>", items) +
			"</Items></DistributionList>"
	}
	tests := map[string]struct {
		pages pages
		whole bool
	}{
		"nothing is missing":                  {pages{"": list(1, true, "a", 1), "a": list(0, false, "", 0)}, true},
		"items are missing":                   {pages{"": list(2, false, "", 1)}, false},
		"the quantity is missing":             {pages{"": "<DistributionList></DistributionList>"}, false},
		"the marker is missing":               {pages{"": list(1, true, "", 1)}, false},
		"a page leads to itself":              {pages{"": list(1, true, "a", 1), "a": list(1, true, "a", 1)}, false},
		"pages lead to each other":            {pages{"": list(1, true, "a", 1), "a": list(1, true, "b", 1), "b": list(1, true, "a", 1)}, false},
		"an id is missing":                    {pages{"": "<DistributionList><Quantity>1</Quantity><Items><DistributionSummary><Enabled>true</Enabled></DistributionSummary></Items></DistributionList>"}, false},
		"a later page is a page of the proxy": {pages{"": list(1, true, "a", 1), "a": "<html><body>Log in</body></html>"}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			client, _, _ := newClient(t, tt.pages, 20)
			want := fault.Transient
			if tt.whole {
				want = fault.NotFound
			}
			_, err := client.FindDistribution(t.Context(), "tenant-only", "uid-1", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
			if !fault.Is(err, want) {
				t.Errorf("error %v, want %v", err, want)
			}
		})
	}
}

// One that has no time could be as young as any, and is read.
func TestADistributionWithoutATimeIsACandidate(t *testing.T) {
	answer := &canned.Transport{Status: http.StatusOK, Body: "<DistributionList><Quantity>1</Quantity><Items><DistributionSummary><Id>E1</Id></DistributionSummary></Items></DistributionList>"}
	client, _, _ := newClient(t, answer, 10)
	_, err := client.FindDistribution(t.Context(), "direct", "uid-1", time.Now())
	if !fault.Is(err, fault.Transient) || !strings.HasPrefix(err.Error(), "GetDistribution:") {
		t.Errorf("error %v, want one of the read", err)
	}
}

func TestTenantsOf(t *testing.T) {
	w := newWorld(t, func(o *sim.Options) { o.PageSize = 3 })
	ask := func(distribution, group string, want []string, wantMore bool) {
		t.Helper()
		got, more, err := w.client.TenantsOf(t.Context(), distribution, group)
		if err != nil || strings.Join(got, " ") != strings.Join(want, " ") || more != wantMore {
			t.Errorf("tenants %v, more %t, error %v; want %v, %t", got, more, err, want, wantMore)
		}
	}
	ask(distributionID, "", nil, false)
	w.create(t, "shop-a")
	w.create(t, "shop-b")
	ask(distributionID, "", []string{"shop-a", "shop-b"}, false)
	ask("E2DIRECT", "", nil, false)
	ask("", "cg_second", nil, false)
	moved := tenant("shop-c")
	moved.ConnectionGroupID = "cg_second"
	if _, err := w.client.CreateTenant(t.Context(), moved, nil, nil); err != nil {
		t.Fatal(err)
	}
	ask("", "cg_second", []string{"shop-c"}, false)
	w.create(t, "shop-d")
	got, more, err := w.client.TenantsOf(t.Context(), distributionID, "")
	if len(got) != 3 || !more || err != nil {
		t.Errorf("of four tenants on pages of three: %v, more %t, error %v", got, more, err)
	}
	calls := len(w.Journal())
	for name, both := range map[string]string{"of nothing": "", "of both": "x"} {
		if _, _, err := w.client.TenantsOf(t.Context(), both, both); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: error %v, want Invalid", name, err)
		}
	}
	if n := len(w.Journal()) - calls; n != 0 {
		t.Errorf("%d calls that would have listed every tenant", n)
	}
}

// A page without a match is not the end of a filtered list, and an end that is not reached is
// no proof that there is no tenant.
func TestTenantsOfGoesOnAfterAnEmptyPage(t *testing.T) {
	const found = "<R><NextMarker>c</NextMarker><DistributionTenantList><DistributionTenantSummary><Name>a</Name></DistributionTenantSummary></DistributionTenantList></R>"
	tests := map[string]struct {
		pages pages
		names int
		more  bool
		kind  fault.Kind
	}{
		"a tenant on the third page": {pages{"": "<R><NextMarker>a</NextMarker></R>", "a": "<R><NextMarker>b</NextMarker></R>", "b": found}, 1, true, fault.None},
		"no tenant on any":           {pages{"": "<R><NextMarker>a</NextMarker></R>", "a": "<R></R>"}, 0, false, fault.None},
		"a circle":                   {pages{"": "<R><NextMarker>a</NextMarker></R>", "a": "<R><NextMarker>b</NextMarker></R>", "b": "<R><NextMarker>a</NextMarker></R>"}, 0, false, fault.Transient},
		"a tenant without a name":    {pages{"": strings.Replace(found, "<Name>a</Name>", "", 1)}, 0, false, fault.Transient},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			client, _, _ := newClient(t, tt.pages, 20)
			names, more, err := client.TenantsOf(t.Context(), "E1", "")
			if len(names) != tt.names || more != tt.more || fault.KindOf(err) != tt.kind {
				t.Errorf("tenants %v, more %t, error %v", names, more, err)
			}
		})
	}
}
