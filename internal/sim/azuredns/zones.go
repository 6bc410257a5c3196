package azuredns

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// usualPage is how many items a page has, largestTop what a request may ask for at most.
const (
	usualPage  = 500
	largestTop = 1000
)

// page cuts a list into pages. next is a link to the rest, empty for none: with $top the list ends there without a word, as users
// have seen it. A position is a text that grows along the list.
func page[T any](s *Sim, r *request, all []T, position func(T) string) (out []T, next string, refused *refusal) {
	query := r.URL.Query()
	size := usualPage
	if top := query.Get("$top"); top != "" {
		n, err := strconv.Atoi(top)
		if err != nil || n < 1 || n > largestTop {
			return nil, "", badRequest("Invalid $top value: '%s'. It must be a number between '1' and '%d'.", top, largestTop)
		}
		return all[:min(n, len(all))], "", nil
	}
	if s.options.PageSize > 0 {
		size = min(size, s.options.PageSize)
	}
	if query.Has("$recordsetnamesuffix") {
		return nil, "", badRequest("$recordsetnamesuffix is not simulated.")
	}
	if after := query.Get("$skipToken"); after != "" {
		from, err := base64.URLEncoding.DecodeString(after)
		if err != nil {
			return nil, "", badRequest("The $skipToken is invalid.")
		}
		// What the last page ended with may be gone.
		all = slices.DeleteFunc(slices.Clone(all), func(one T) bool { return position(one) <= string(from) })
	}
	if len(all) <= size {
		return all, "", nil
	}
	link := url.URL{Scheme: "https", Host: r.Host, Path: r.URL.Path}
	values := url.Values{"api-version": {apiVersion}, "$skipToken": {base64.URLEncoding.EncodeToString([]byte(position(all[size-1])))}}
	link.RawQuery = values.Encode()
	return all[:size], link.String(), nil
}

func list(items []map[string]any, next string) answer {
	body := map[string]any{"value": items}
	if items == nil {
		body["value"] = []any{}
	}
	if next != "" {
		body["nextLink"] = next
	}
	return answer{status: http.StatusOK, body: body}
}

func (s *Sim) listZones(r *request) (answer, *refusal) {
	var all []*zone
	for _, z := range s.zones {
		if strings.EqualFold(z.subscription, r.subscription) && (r.group == "" || strings.EqualFold(z.group, r.group)) {
			all = append(all, z)
		}
	}
	position := func(z *zone) string { return strings.ToLower(z.group + "/" + z.name) }
	slices.SortFunc(all, func(a, b *zone) int { return strings.Compare(position(a), position(b)) })
	found, next, refused := page(s, r, all, position)
	if refused != nil {
		return answer{}, refused
	}
	var items []map[string]any
	for _, z := range found {
		items = append(items, s.zoneBody(z))
	}
	return list(items, next), nil
}

func (s *Sim) getZone(r *request) (answer, *refusal) {
	z := s.find(r)
	return answer{status: http.StatusOK, etag: z.etag, body: s.zoneBody(z)}, nil
}

func (s *Sim) zoneBody(z *zone) map[string]any {
	properties := map[string]any{
		"maxNumberOfRecordSets": s.options.MaxRecordSets, "maxNumberOfRecordsPerRecordSet": nil,
		"numberOfRecordSets": z.count(), "nameServers": z.servers, "zoneType": "Public",
	}
	if z.private {
		properties["zoneType"] = "Private"
		delete(properties, "nameServers")
	}
	return map[string]any{
		"id": zoneID(z.subscription, z.group, z.name), "name": z.name, "type": "Microsoft.Network/dnszones",
		"etag": z.etag, "location": "global", "tags": map[string]string{}, "properties": properties,
	}
}
