package cloudflare

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

const (
	// zonesPerPage is the most that Cloudflare returns at once.
	zonesPerPage = 50
	// knownFor is how long the name servers of a zone are taken as known: people change them, seldom.
	knownFor  = time.Hour
	zonesPath = "zones"
	// A zone that resolvers find has this status and type.
	zoneActive, zoneFull = "active", "full"
)

// wireZone is a zone as the API shows it.
type wireZone struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Status      string   `json:"status"`
	Type        string   `json:"type"`
	NameServers []string `json:"name_servers"`
}

// resultInfo says of which list a page is.
type resultInfo struct {
	PerPage int  `json:"per_page"`
	Total   *int `json:"total_count"`
}

// zoneInfo is what is remembered of a zone.
type zoneInfo struct {
	name    string
	servers []string
	read    time.Time
}

// zoneID matches an id. It becomes a part of a path, and ledgers are written by people as well.
var zoneID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// GetZone implements port.Zones.
func (d *DNS) GetZone(ctx context.Context, id string) (dns.Zone, error) {
	return d.zone(ctx, id)
}

// pathOf is where a zone is.
func pathOf(id string) string { return zonesPath + "/" + id }

// zone reads a zone.
func (d *DNS) zone(ctx context.Context, id string) (dns.Zone, error) {
	if err := plausible(opGetZone, id); err != nil {
		return dns.Zone{}, err
	}
	var answer struct {
		Result wireZone `json:"result"`
	}
	if err := d.call(ctx, opGetZone, request{path: pathOf(id)}, &answer); err != nil {
		d.forget(id, err)
		return dns.Zone{}, err
	}
	return d.learn(opGetZone, answer.Result)
}

// ListZones implements port.Zones. The marker has the number of the page and how many zones there are: where that
// changes, pages move, and a zone could be missed.
func (d *DNS) ListZones(ctx context.Context, marker string) ([]dns.Zone, string, error) {
	number, before := 1, -1
	if marker != "" {
		if _, err := fmt.Sscanf(marker, "%d/%d", &number, &before); err != nil {
			return nil, "", unreadable(opListZones, "a marker of this list")
		}
	}
	var answer struct {
		Result []wireZone `json:"result"`
		Info   resultInfo `json:"result_info"`
	}
	err := d.call(ctx, opListZones, request{path: zonesPath, query: pageOf(number, zonesPerPage)}, &answer)
	switch total := answer.Info.Total; {
	case err != nil:
		return nil, "", err
	case answer.Result == nil || total == nil || answer.Info.PerPage < 1:
		return nil, "", unreadable(opListZones, "the list of zones with its length")
	case before >= 0 && before != *total:
		return nil, "", fault.New(fault.Transient, opListZones, "zones were added or removed while they were being listed")
	}
	page := make([]dns.Zone, 0, len(answer.Result))
	for _, w := range answer.Result {
		found, err := d.learn(opListZones, w)
		if err != nil {
			return nil, "", err
		}
		page = append(page, found)
	}
	if number*answer.Info.PerPage >= *answer.Info.Total {
		return page, "", nil
	}
	if len(page) == 0 {
		return nil, "", unreadable(opListZones, "the rest of the list of zones")
	}
	return page, fmt.Sprintf("%d/%d", number+1, *answer.Info.Total), nil
}

// learn takes over a zone. One that is not active, or whose records are kept elsewhere, is private: resolvers would not
// find what is published in it.
func (d *DNS) learn(operation string, w wireZone) (dns.Zone, error) {
	if !zoneID.MatchString(w.ID) || w.Name == "" {
		return dns.Zone{}, unreadable(operation, "a zone's id and name")
	}
	name := readName(w.Name)
	info := zoneInfo{name: name, read: d.config.Clock.Now()}
	for _, host := range w.NameServers {
		info.servers = append(info.servers, strings.TrimSuffix(host, ".")+":"+dnsPort)
	}
	d.mu.Lock()
	d.known[w.ID] = info
	d.mu.Unlock()
	return dns.Zone{
		ID: w.ID, Name: name, Apex: dns.FlattenedApex,
		Private: w.Status != zoneActive || w.Type != zoneFull,
	}, nil
}

// info returns what is known of a zone, and asks where that is nothing, or too old.
func (d *DNS) info(ctx context.Context, id string, fresh time.Duration) (zoneInfo, error) {
	d.mu.Lock()
	known, ok := d.known[id]
	d.mu.Unlock()
	if ok && (fresh == 0 || d.config.Clock.Since(known.read) < fresh) {
		return known, nil
	}
	if _, err := d.zone(ctx, id); err != nil {
		return zoneInfo{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.known[id], nil
}

// forget drops what is known of a zone that is gone.
func (d *DNS) forget(id string, err error) {
	if !fault.Is(err, fault.NotFound, fault.Denied) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.known, id)
}

// plausible refuses what can't be the id of a zone.
func plausible(operation, id string) error {
	if zoneID.MatchString(id) {
		return nil
	}
	return fault.New(fault.NotFound, operation, "a zone at Cloudflare has an ID of 32 hexadecimal digits, which %q is not", id)
}
