// Package cloudflare simulates Cloudflare's API v4 as far as it is about zones and their DNS records, and the name
// servers that answer for them. It shares no code with the operator. Where the real service is not documented, it refuses.
package cloudflare

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Options say how a simulated Cloudflare behaves. The zero value is one with zones of the free plan.
type Options struct {
	// Now tells the time; the machine's clock if nil.
	Now func() time.Time
	// RecordQuota is how many records a zone can hold: 200 if zero, as on the free plan.
	RecordQuota int
	// BatchLimit is how many changes a batch can hold: 200 if zero, as on the free plan.
	BatchLimit int
	// CommentLimit is how many characters a comment can have: 100 if zero, as on the free plan.
	CommentLimit int
	// PageSize is the most records in one page, whatever is asked for; 5,000 if zero.
	PageSize int
	// RequestLimit is how many requests a token can make in five minutes: 1,200 if zero.
	RequestLimit int
	// VisibleAfter is how long name servers answer as before after a change.
	VisibleAfter time.Duration
}

// Token is an API token with what it may do.
type Token struct {
	Value string
	// ReadsZones is the permission Zone:Read, ReadsDNS is DNS:Read, and EditsDNS is DNS:Edit, which includes that.
	ReadsZones, ReadsDNS, EditsDNS bool
	// Zones are the ids of the zones that the token is for. Nil is all zones.
	Zones []string
}

// Zone is a domain at Cloudflare.
type Zone struct {
	// ID is 32 hex digits; derived from the name if empty.
	ID   string
	Name string
	// Status is active if empty, Type full, and NameServers are two of Cloudflare's.
	Status, Type string
	NameServers  []string
}

// Record is one DNS record as the API shows it.
type Record struct {
	ID         string         `json:"id"`
	Name       string         `json:"name"`
	Type       string         `json:"type"`
	Content    string         `json:"content"`
	Proxiable  bool           `json:"proxiable"`
	Proxied    bool           `json:"proxied"`
	TTL        int            `json:"ttl"`
	Priority   *int           `json:"priority,omitempty"`
	Settings   map[string]any `json:"settings"`
	Meta       map[string]any `json:"meta"`
	Comment    string         `json:"comment"`
	Tags       []string       `json:"tags"`
	CreatedOn  time.Time      `json:"created_on"`
	ModifiedOn time.Time      `json:"modified_on"`
}

// Sim is a simulated Cloudflare. It is an http.Handler, and safe for concurrent use.
type Sim struct {
	options Options

	mu      sync.Mutex
	tokens  map[string]*tokenState
	zones   []*zoneState
	faults  []*Fault
	journal []Call
	serial  int
}

// zoneState is a zone with its records, and what its name servers were told and when.
type zoneState struct {
	Zone
	records  []Record
	versions []version
}

type version struct {
	at      time.Time
	records []Record
}

// New returns a simulated Cloudflare without zones and tokens.
func New(o Options) *Sim {
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the default of a simulator that runs in real time
	}
	o.RecordQuota = cmp.Or(o.RecordQuota, 200)
	o.BatchLimit = cmp.Or(o.BatchLimit, 200)
	o.CommentLimit = cmp.Or(o.CommentLimit, 100)
	o.PageSize = cmp.Or(o.PageSize, mostRecords)
	o.RequestLimit = cmp.Or(o.RequestLimit, 1200)
	return &Sim{options: o, tokens: map[string]*tokenState{}}
}

// AddToken adds a token, or replaces the permissions of one.
func (s *Sim) AddToken(t Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[t.Value] = &tokenState{Token: t}
}

// RevokeToken makes a token invalid.
func (s *Sim) RevokeToken(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tokens, value)
}

// AddZone adds an empty zone and returns it with its id.
func (s *Sim) AddZone(z Zone) Zone {
	z.ID = cmp.Or(z.ID, derive("zone", z.Name))
	z.Status, z.Type = cmp.Or(z.Status, "active"), cmp.Or(z.Type, "full")
	if z.NameServers == nil {
		z.NameServers = []string{"ada.ns.cloudflare.com", "bob.ns.cloudflare.com"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	state := &zoneState{Zone: z}
	s.zones = append(s.zones, state)
	state.publish(s.options.Now())
	return z
}

// RemoveZone deletes a zone.
func (s *Sim) RemoveZone(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.zones = slices.DeleteFunc(s.zones, func(z *zoneState) bool { return z.ID == id })
}

// PutRecord writes a record as it is, without any check, as an earlier Cloudflare may have taken it. An empty id is
// replaced by a new one; one that is there is overwritten.
func (s *Sim) PutRecord(zoneID string, r Record) Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	z := s.zone(zoneID)
	if z == nil {
		panic("there is no zone " + zoneID)
	}
	if r.ID == "" {
		r.ID = s.newID(z)
	}
	now := s.options.Now()
	if r.CreatedOn.IsZero() {
		r.CreatedOn = now
	}
	r.ModifiedOn = now
	r.Proxiable = proxiable(r.Type)
	z.records = slices.DeleteFunc(slices.Clone(z.records), func(o Record) bool { return o.ID == r.ID })
	z.records = append(z.records, r)
	z.publish(now)
	return r
}

// RemoveRecord deletes a record, if it is there.
func (s *Sim) RemoveRecord(zoneID, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if z := s.zone(zoneID); z != nil {
		z.records = slices.DeleteFunc(slices.Clone(z.records), func(o Record) bool { return o.ID == id })
		z.publish(s.options.Now())
	}
}

// SetVisibleAfter changes how long name servers answer as before after a change.
func (s *Sim) SetVisibleAfter(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options.VisibleAfter = d
}

// Records returns the records of a zone, by name, type and content.
func (s *Sim) Records(zoneID string) []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	z := s.zone(zoneID)
	if z == nil {
		return nil
	}
	return z.sorted()
}

func (z *zoneState) sorted() []Record {
	return slices.SortedFunc(slices.Values(z.records), func(a, b Record) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Type, b.Type), strings.Compare(a.Content, b.Content), strings.Compare(a.ID, b.ID))
	})
}

func (s *Sim) zone(id string) *zoneState {
	for _, z := range s.zones {
		if z.ID == id {
			return z
		}
	}
	return nil
}

// publish tells the name servers. It needs the lock, as all that follows.
func (z *zoneState) publish(now time.Time) {
	z.versions = append(z.versions, version{at: now, records: slices.Clone(z.records)})
}

// visible are the records that name servers show.
func (z *zoneState) visible(now time.Time, after time.Duration) []Record {
	for i, v := range slices.Backward(z.versions) {
		if i == 0 || !now.Before(v.at.Add(after)) {
			z.versions = z.versions[i:]
			return v.records
		}
	}
	return nil
}

func (s *Sim) newID(z *zoneState) string {
	s.serial++
	return derive("record", z.ID, strconv.Itoa(s.serial))
}

// derive makes an id that looks like Cloudflare's.
func derive(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "/")))
	return hex.EncodeToString(sum[:16])
}
