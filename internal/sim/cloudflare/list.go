package cloudflare

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The most and the fewest items of a page, and how many it has where nothing is asked for.
const (
	mostRecords   = 5000
	usualRecords  = 100
	mostZones     = 50
	fewestZones   = 5
	usualZones    = 20
	fewestRecords = 1
)

type wireZone struct {
	ID                  string            `json:"id"`
	Name                string            `json:"name"`
	Status              string            `json:"status"`
	Paused              bool              `json:"paused"`
	Type                string            `json:"type"`
	DevelopmentMode     int               `json:"development_mode"`
	NameServers         []string          `json:"name_servers"`
	OriginalNameServers []string          `json:"original_name_servers"`
	CreatedOn           time.Time         `json:"created_on"`
	ModifiedOn          time.Time         `json:"modified_on"`
	Account             map[string]string `json:"account"`
	Meta                map[string]any    `json:"meta"`
	Owner               map[string]any    `json:"owner"`
	Plan                map[string]any    `json:"plan"`
}

func (z *zoneState) wire(now time.Time) wireZone {
	return wireZone{
		ID: z.ID, Name: z.Name, Status: z.Status, Type: z.Type, NameServers: z.NameServers, CreatedOn: now, ModifiedOn: now,
		Account: map[string]string{"id": derive("account"), "name": "Simulated"},
		Meta:    map[string]any{}, Owner: map[string]any{}, Plan: map[string]any{"name": "Free Website"},
	}
}

// limits bound what a list can be asked for.
type limits struct{ fewest, most, usual, atMost int }

// page cuts the page out that a query asks for.
func page[T any](all []T, q url.Values, l limits) ([]T, *resultInfo, error) {
	number := func(name string, usual, least, most int) (int, error) {
		text := q.Get(name)
		if text == "" {
			return usual, nil
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return 0, refuse(codeBadQuery, "%s must be a number from %d to %d", name, least, most)
		}
		return n, nil
	}
	n, err := number("page", 1, 1, 1<<20)
	if err != nil {
		return nil, nil, err
	}
	per, err := number("per_page", l.usual, l.fewest, l.most)
	if err != nil {
		return nil, nil, err
	}
	per = min(per, l.atMost)
	from := min((n-1)*per, len(all))
	out := all[from:min(from+per, len(all))]
	if out == nil {
		out = []T{}
	}
	return out, &resultInfo{Page: n, PerPage: per, Count: len(out), TotalCount: len(all), TotalPages: (len(all) + per - 1) / per}, nil
}

// known refuses a query with something that is not simulated.
func known(q url.Values, names ...string) error {
	for name, values := range q {
		if !slices.Contains(names, name) || len(values) != 1 {
			return refuse(codeBadQuery, "the query parameter %s is not simulated", name)
		}
	}
	return nil
}

func (s *Sim) listZones(c call) answer {
	q := c.request.URL.Query()
	if err := known(q, "page", "per_page", "name", "status"); err != nil {
		return answer{err: err}
	}
	found := []wireZone{}
	for _, z := range s.zones {
		if !c.token.sees(z.ID) || q.Has("name") && q.Get("name") != z.Name || q.Has("status") && q.Get("status") != z.Status {
			continue
		}
		found = append(found, z.wire(s.options.Now()))
	}
	slices.SortFunc(found, func(a, b wireZone) int { return strings.Compare(a.Name+a.ID, b.Name+b.ID) })
	out, info, err := page(found, q, limits{fewestZones, mostZones, usualZones, mostZones})
	return answer{result: out, info: info, err: err}
}

func (s *Sim) listRecords(c call, z *zoneState) answer {
	q := c.request.URL.Query()
	if err := known(q, "page", "per_page", "name", "name.exact", "content.exact", "type", "match"); err != nil {
		return answer{err: err}
	}
	if q.Has("match") && q.Get("match") != "all" {
		return answer{err: refuse(codeBadQuery, "only match=all is simulated")}
	}
	fits := func(name, value string) bool { return !q.Has(name) || strings.EqualFold(q.Get(name), value) }
	var found []Record
	for _, r := range z.sorted() {
		if fits("name", r.Name) && fits("name.exact", r.Name) && fits("content.exact", r.Content) && fits("type", r.Type) {
			found = append(found, r)
		}
	}
	out, info, err := page(found, q, limits{fewestRecords, mostRecords, usualRecords, s.options.PageSize})
	return answer{result: out, info: info, err: err}
}
