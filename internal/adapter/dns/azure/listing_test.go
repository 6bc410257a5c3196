package azure_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/azuredns"
)

// holding gives the zone that many addresses, in addition to its SOA and NS.
func holding(many int) func(*settings) {
	return func(s *settings) {
		for n := range many {
			s.sim.Zones[0].Records = append(s.sim.Zones[0].Records, sim.Record{Name: fmt.Sprintf("n%04d", n), Type: "A", TTL: 60, Values: []string{"192.0.2.1"}})
		}
	}
}

// listed lists the zone, with what happens between its pages.
func listed(t *testing.T, w *world, between func()) (sets int, err error) {
	t.Helper()
	for marker := ""; ; between() {
		page, next, err := w.ListRecords(t.Context(), zoneID, marker)
		if sets += len(page); err != nil || next == "" {
			return sets, err
		}
		marker = next
	}
}

// Azure ends a list without a word at the number of sets that it is asked for.
func TestAZoneOfMoreSetsThanAzureListsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, holding(1200))
	if sets, err := listed(t, w, func() {}); sets != 1202 || err != nil {
		t.Errorf("%d sets, error %v", sets, err)
	}
}

// A list that ends before it has what the zone is said to have is none, except where sets were deleted meanwhile.
func TestAListingWithoutItsEnd(t *testing.T) {
	t.Parallel()
	small := func(s *settings) { s.sim.PageSize = 10 }
	w := newWorld(t, holding(25), small, func(s *settings) {
		s.config.HTTPClient = &http.Client{Transport: linkless{sim.New(s.sim).Transport()}}
	})
	_, err := listed(t, w, func() {})
	if !fault.Is(err, fault.Transient) || err.Error() != "RecordSets_ListAllByDnsZone: Azure lists fewer record sets than it says that the zone has" {
		t.Errorf("error %v", err)
	}
	w = newWorld(t, holding(25), small)
	n := 25
	sets, err := listed(t, w, func() {
		n--
		w.RemoveRecord(group, zoneName, fmt.Sprintf("n%04d", n), "A")
	})
	if sets != 25 || err != nil {
		t.Errorf("with two sets deleted meanwhile: %d sets, error %v", sets, err)
	}
}

// linkless leaves out where lists go on.
type linkless struct{ http.RoundTripper }

func (l linkless) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := l.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	var body map[string]any
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		return nil, err
	}
	_ = response.Body.Close()
	delete(body, "nextLink")
	content, err := json.Marshal(body)
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(content)), int64(len(content))
	return response, err
}
