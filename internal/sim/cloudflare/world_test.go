// Package cloudflare_test shows what only the real SDK can: that the simulator speaks Cloudflare's language, and refuses
// what Cloudflare refuses.
package cloudflare_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdkdns "github.com/cloudflare/cloudflare-go/v7/dns"
	"github.com/cloudflare/cloudflare-go/v7/option"
	sdkzones "github.com/cloudflare/cloudflare-go/v7/zones"
	clocktesting "k8s.io/utils/clock/testing"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/cloudflare"
)

const (
	zoneName = "test.example"
	token    = "all-zones"
)

// world is a simulated Cloudflare behind a real socket with the real SDK.
type world struct {
	*sim.Sim
	clock   *clocktesting.FakePassiveClock
	url     string
	zone    sim.Zone
	records *sdkdns.RecordService
	zones   *sdkzones.ZoneService
	// status, code and header are of the last answer.
	status int
	code   int
	header http.Header
}

func newWorld(t *testing.T, change ...func(*sim.Options)) *world {
	t.Helper()
	w := &world{clock: clocktesting.NewFakePassiveClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))}
	options := sim.Options{Now: w.clock.Now}
	for _, c := range change {
		c(&options)
	}
	w.Sim = sim.New(options)
	w.AddToken(sim.Token{Value: token, ReadsZones: true, EditsDNS: true})
	w.zone = w.AddZone(sim.Zone{Name: zoneName})
	server := httptest.NewServer(w.Sim)
	t.Cleanup(server.Close)
	w.url = server.URL + "/client/v4"
	common := []option.RequestOption{
		option.WithBaseURL(w.url), option.WithMaxRetries(0), option.WithAPIToken(token), option.WithMiddleware(w.remember),
	}
	w.records, w.zones = sdkdns.NewRecordService(common...), sdkzones.NewZoneService(common...)
	return w
}

// remember notes what was answered: the SDK's error is of a type that only its own packages can name.
func (w *world) remember(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	w.status, w.code, w.header = 0, 0, nil
	answer, err := next(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	var said struct {
		Errors []struct{ Code int }
	}
	_ = json.Unmarshal(body, &said)
	w.status, w.header = answer.StatusCode, answer.Header
	if len(said.Errors) > 0 {
		w.code = said.Errors[0].Code
	}
	return answer, nil
}

// wants checks how the last request was answered; code 0 is success.
func (w *world) wants(t *testing.T, err error, status, code int) {
	t.Helper()
	if (err != nil) != (code != 0) || w.status != status || w.code != code {
		t.Errorf("answered %d with code %d, error %v; want %d with code %d", w.status, w.code, err, status, code)
	}
}

func put[T any](value *T, present *bool, v T) { *value, *present = v, true }

// fields are what a test writes of a record.
type fields struct {
	name, kind, content string
	ttl                 float64
	comment             string
	proxied             bool
	priority            float64
}

func (f fields) body() (p sdkdns.RecordNewParamsBody) {
	put(&p.Name.Value, &p.Name.Present, f.name)
	put(&p.Type.Value, &p.Type.Present, sdkdns.RecordNewParamsBodyType(f.kind))
	put(&p.Content.Value, &p.Content.Present, f.content)
	put(&p.TTL.Value, &p.TTL.Present, sdkdns.TTL(f.ttl))
	put(&p.Proxied.Value, &p.Proxied.Present, f.proxied)
	if f.comment != "" {
		put(&p.Comment.Value, &p.Comment.Present, f.comment)
	}
	if f.priority != 0 {
		put(&p.Priority.Value, &p.Priority.Present, f.priority)
	}
	return p
}

func (f fields) post() (p sdkdns.RecordBatchParamsPost) {
	put(&p.Name.Value, &p.Name.Present, f.name)
	put(&p.Type.Value, &p.Type.Present, sdkdns.RecordBatchParamsPostsType(f.kind))
	put(&p.Content.Value, &p.Content.Present, f.content)
	put(&p.TTL.Value, &p.TTL.Present, sdkdns.TTL(f.ttl))
	return p
}

func (w *world) create(ctx context.Context, f fields, o ...option.RequestOption) (*sdkdns.RecordResponse, error) {
	var p sdkdns.RecordNewParams
	put(&p.ZoneID.Value, &p.ZoneID.Present, w.zone.ID)
	p.Body = f.body()
	return w.records.New(ctx, p, o...)
}

func (w *world) batch(ctx context.Context, deletes []string, posts ...fields) error {
	var p sdkdns.RecordBatchParams
	put(&p.ZoneID.Value, &p.ZoneID.Present, w.zone.ID)
	var ids []sdkdns.RecordBatchParamsDelete
	for _, id := range deletes {
		var d sdkdns.RecordBatchParamsDelete
		put(&d.ID.Value, &d.ID.Present, id)
		ids = append(ids, d)
	}
	var all []sdkdns.RecordBatchParamsPostUnion
	for _, f := range posts {
		all = append(all, f.post())
	}
	put(&p.Deletes.Value, &p.Deletes.Present, ids)
	put(&p.Posts.Value, &p.Posts.Present, all)
	_, err := w.records.Batch(ctx, p)
	return err
}

func (w *world) list(ctx context.Context, zoneID string, o ...option.RequestOption) ([]sdkdns.RecordResponse, error) {
	var p sdkdns.RecordListParams
	put(&p.ZoneID.Value, &p.ZoneID.Present, zoneID)
	page, err := w.records.List(ctx, p, o...)
	if err != nil {
		return nil, err
	}
	return page.Result, nil
}

func cname(name string) fields {
	return fields{name: name + "." + zoneName, kind: "CNAME", content: "d111.cloudfront.net", ttl: 300}
}

// contents shows the records of the zone as text.
func (w *world) contents() (out []string) {
	for _, r := range w.Records(w.zone.ID) {
		out = append(out, fmt.Sprintf("%s %s %s", strings.TrimSuffix(r.Name, "."+zoneName), r.Type, r.Content))
	}
	return out
}
