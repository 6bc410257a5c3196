package zone_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// provider is a DNS service with Route 53's rules.
type provider struct {
	clock clock.PassiveClock
	// pageSize is the number of sets, and zones, in one page.
	pageSize int
	// syncAfter is how long a change takes to every server.
	syncAfter time.Duration

	mu      sync.Mutex
	zones   map[string]map[dns.Key]dns.RecordSet
	meta    []dns.Zone
	changes map[string]time.Time
	calls   []string
	batches []int
	// before, if set, is asked before each call, and may do what others do meanwhile.
	before func(call) error
	// lost, if set, says that the answer to a change gets lost after it was carried out.
	lost func(call) bool
	// leavesOut, if set, says that of a change the deletions are carried out only, and the answer is that all went well, or
	// that is lost as well.
	leavesOut func(call) bool
	// stopsAfter, if set, says how many parts of a change are carried out; if those are not all of them it fails.
	stopsAfter func(call) int
}

// call is one call to the provider.
type call struct {
	operation string
	access    dns.Access
	class     port.Class
	zone      string
	name      string
	marker    string
	changes   []dns.Change
}

func newProvider(c clock.PassiveClock) *provider {
	return &provider{
		clock: c, pageSize: 300, syncAfter: 30 * time.Second,
		zones: map[string]map[dns.Key]dns.RecordSet{}, changes: map[string]time.Time{},
	}
}

func (p *provider) addZone(id, name string) {
	p.meta = append(p.meta, dns.Zone{ID: id, Name: name})
	soa := dns.RecordSet{Key: dns.Key{Name: name, Type: "SOA"}, TTL: 900, Values: []string{"ns.example.net. root.example.net. 1 7200 900 1209600 86400"}}
	p.zones[id] = map[dns.Key]dns.RecordSet{soa.Key: soa}
}

// put writes a set past everything.
func (p *provider) put(id string, s dns.RecordSet) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.zones[id][s.Key] = s
}

// remove deletes a set past everything.
func (p *provider) remove(id string, k dns.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.zones[id], k)
}

// removeZone deletes a zone past everything.
func (p *provider) removeZone(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.zones, id)
}

// state renders what a zone holds, without what makes it one.
func (p *provider) state(id string) (out []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.sorted(id) {
		if s.Type != "SOA" {
			out = append(out, s.Name+" "+s.String())
		}
	}
	return out
}

func (p *provider) sorted(id string) []dns.RecordSet {
	return slices.SortedFunc(maps.Values(p.zones[id]), func(a, b dns.RecordSet) int {
		return strings.Compare(a.Name+" "+a.Type, b.Name+" "+b.Type)
	})
}

func (p *provider) As(a dns.Access) port.Zones { return client{p, a} }

// Traits has a batch of Route 53's size: change refuses a larger one.
func (p *provider) Traits() dns.Traits {
	return dns.Traits{
		Batch: dns.Limits{Records: maxBatch, Characters: 32_000}, PageSize: 300, ListZones: "ListZones", ListRecords: "ListRecords",
		Stepwise: p.leavesOut != nil || p.stopsAfter != nil,
	}
}

// maxBatch is how many records one batch may change.
const maxBatch = 1000

// client is the provider as one identity sees it.
type client struct {
	*provider
	access dns.Access
}

func (c client) enter(ctx context.Context, k call) error {
	k.access, k.class = c.access, port.CallOf(ctx).Class
	if err := ctx.Err(); err != nil {
		return &fault.Error{Kind: fault.Transient, Operation: k.operation, Err: err}
	}
	c.mu.Lock()
	c.calls = append(c.calls, k.operation)
	before := c.before
	c.mu.Unlock()
	if before == nil {
		return nil
	}
	return before(k)
}

func failure(kind fault.Kind, operation, format string, args ...any) error {
	return &fault.Error{Kind: kind, Operation: operation, Code: kind.String(), Message: fmt.Sprintf(format, args...)}
}

func (c client) missing(operation, id string) error {
	if _, ok := c.zones[id]; !ok {
		return failure(fault.NotFound, operation, "no hosted zone found with ID: %s", id)
	}
	return nil
}

func (c client) GetZone(ctx context.Context, id string) (dns.Zone, error) {
	if err := c.enter(ctx, call{operation: "GetZone", zone: id}); err != nil {
		return dns.Zone{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, z := range c.meta {
		if z.ID == id {
			return z, nil
		}
	}
	return dns.Zone{}, c.missing("GetZone", id)
}

func (c client) ListZones(ctx context.Context, marker string) ([]dns.Zone, string, error) {
	if err := c.enter(ctx, call{operation: "ListZones", marker: marker}); err != nil {
		return nil, "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	from := 0
	if marker != "" {
		_, _ = fmt.Sscan(marker, &from)
	}
	to := min(from+c.pageSize, len(c.meta))
	next := ""
	if to < len(c.meta) {
		next = fmt.Sprint(to)
	}
	return slices.Clone(c.meta[from:to]), next, nil
}

func (c client) ListRecords(ctx context.Context, id, marker string) ([]dns.RecordSet, string, error) {
	if err := c.enter(ctx, call{operation: "ListRecords", zone: id, marker: marker}); err != nil {
		return nil, "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.missing("ListRecords", id); err != nil {
		return nil, "", err
	}
	if len(c.zones[id]) == 0 {
		// As the adapter has it: a zone holds at least the records that make it one.
		return nil, "", failure(fault.Transient, "ListRecords", "not even the zone's own records")
	}
	var page []dns.RecordSet
	for _, s := range c.sorted(id) {
		at := s.Name + " " + s.Type
		if at < marker {
			continue
		}
		if len(page) == c.pageSize {
			return page, at, nil
		}
		s.Values = slices.Clone(s.Values)
		page = append(page, s)
	}
	return page, "", nil
}

func (c client) ReadName(ctx context.Context, id, name string) ([]dns.RecordSet, error) {
	if err := c.enter(ctx, call{operation: "ReadName", zone: id, name: name}); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.missing("ReadName", id); err != nil {
		return nil, err
	}
	var found []dns.RecordSet
	for _, s := range c.sorted(id) {
		if s.Name == name {
			found = append(found, s)
		}
	}
	return found, nil
}

func (c client) Change(ctx context.Context, id string, changes []dns.Change) (string, error) {
	k := call{operation: "Change", access: c.access, zone: id, changes: changes}
	if err := c.enter(ctx, k); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.missing("Change", id); err != nil {
		return "", err
	}
	next := maps.Clone(c.zones[id])
	if err := change(next, changes); err != nil {
		return "", err
	}
	if c.leavesOut != nil && c.leavesOut(k) {
		for _, one := range changes {
			if one.Action == dns.Create {
				delete(next, one.Set.Key)
			}
		}
	}
	if c.stopsAfter != nil {
		if n := c.stopsAfter(k); n < len(changes) {
			c.carryOut(id, changes[:n])
			return "", failure(fault.Transient, "Change", "a part of the change was carried out, the rest was not")
		}
	}
	c.zones[id] = next
	c.batches = append(c.batches, len(changes))
	changeID := fmt.Sprintf("C%d", len(c.changes)+1)
	c.changes[changeID] = c.clock.Now().Add(c.syncAfter)
	if c.lost != nil && c.lost(k) {
		return "", &fault.Error{Kind: fault.Transient, Operation: "Change", Message: "connection reset"}
	}
	return changeID, nil
}

// carryOut carries changes out that are possible.
func (p *provider) carryOut(id string, changes []dns.Change) {
	for _, c := range changes {
		if c.Action == dns.Delete {
			delete(p.zones[id], c.Set.Key)
			continue
		}
		p.zones[id][c.Set.Key] = c.Set
	}
}

// change does all or nothing to a copy of a zone.
func change(zone map[dns.Key]dns.RecordSet, changes []dns.Change) error {
	exists := 0
	var refused []string
	if len(changes) > maxBatch {
		return failure(fault.Invalid, "Change", "more than 1000 records")
	}
	for _, c := range changes {
		have, some := zone[c.Set.Key]
		equal := have.TTL == c.Set.TTL && have.Alias == c.Set.Alias && slices.Equal(have.Values, c.Set.Values) && !have.Routed
		switch {
		case strings.Contains(c.Set.Name, "impossible"):
			refused = append(refused, c.Set.Name+" is impossible")
		case c.Action == dns.Delete && (!some || !equal):
			refused = append(refused, "the values do not match")
		case c.Action == dns.Delete:
			delete(zone, c.Set.Key)
		case some:
			exists++
			refused = append(refused, "it already exists")
		default:
			zone[c.Set.Key] = c.Set
		}
	}
	for _, c := range changes {
		for k := range zone {
			if _, stands := zone[c.Set.Key]; stands && k != c.Set.Key && k.Clashes(c.Set.Key) {
				refused = append(refused, "a CNAME stands alone")
			}
		}
	}
	switch {
	case len(refused) == 0:
		return nil
	case exists == len(refused):
		return failure(fault.Exists, "Change", "it already exists")
	}
	slices.Sort(refused)
	return failure(fault.Invalid, "Change", "%s", strings.Join(slices.Compact(refused), ", "))
}

func (c client) InSync(ctx context.Context, zone string, sent dns.Sent) (bool, error) {
	id := sent.ID
	if err := c.enter(ctx, call{operation: "InSync", name: id}); err != nil {
		return false, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.changes[id]
	if !ok {
		return false, failure(fault.NotFound, "InSync", "no change")
	}
	var missing []string
	for _, one := range sent.Changes {
		if _, there := c.zones[zone][one.Set.Key]; c.leavesOut != nil && one.Action == dns.Create && !there {
			missing = append(missing, one.Set.Name)
		}
	}
	if len(missing) > 0 {
		return false, dns.NewLeftOut("InSync", missing)
	}
	return !c.clock.Now().Before(at), nil
}
