package azuredns

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// kinds are the types that this version of the API knows.
var kinds = []string{"A", "AAAA", "CAA", "CNAME", "MX", "NS", "PTR", "SOA", "SRV", "TXT"}

func (s *Sim) listRecords(r *request) (answer, *refusal) {
	z := s.find(r)
	all := z.sorted()
	if r.operation == ListRecordsOfOne {
		kind := strings.ToUpper(r.kind)
		if !slices.Contains(kinds, kind) {
			return answer{}, badRequest("The record type '%s' is not valid.", r.kind)
		}
		all = slices.DeleteFunc(all, func(one Record) bool { return one.key().kind != kind })
	}
	found, next, refused := page(s, r, all, func(one Record) string { return one.key().position() })
	if refused != nil {
		return answer{}, refused
	}
	var items []map[string]any
	for _, one := range found {
		items = append(items, z.recordBody(one))
	}
	return list(items, next), nil
}

func (s *Sim) getRecord(r *request) (answer, *refusal) {
	z := s.find(r)
	k, refused := r.key()
	if refused != nil {
		return answer{}, refused
	}
	found, ok := z.sets[k]
	if !ok {
		return answer{}, provider(http.StatusNotFound, "NotFound",
			"The resource record '%s' does not exist in resource group '%s' of subscription '%s'.", r.name, strings.ToLower(r.group), r.subscription)
	}
	return answer{status: http.StatusOK, etag: found.ETag, body: z.recordBody(found)}, nil
}

func (s *Sim) putRecord(r *request) (answer, *refusal) {
	z := s.find(r)
	k, refused := r.key()
	if refused != nil {
		return answer{}, refused
	}
	before, exists := z.sets[k]
	set, refused := r.decode(k.kind)
	if refused != nil {
		return answer{}, refused
	}
	if refused := r.precondition(before, exists); refused != nil {
		return answer{}, refused
	}
	if refused := s.judge(z, set, exists); refused != nil {
		return answer{}, refused
	}
	if exists {
		set.Name = before.Name
	}
	set.ETag = s.etag()
	z.store(set, s.now().Add(s.options.VisibleAfter))
	r.committed = true
	status := http.StatusCreated
	if exists {
		status = http.StatusOK
	}
	return answer{status: status, etag: set.ETag, body: z.recordBody(set)}, nil
}

func (s *Sim) deleteRecord(r *request) (answer, *refusal) {
	z := s.find(r)
	k, refused := r.key()
	if refused != nil {
		return answer{}, refused
	}
	if k.name == "@" && (k.kind == "SOA" || k.kind == "NS") {
		return answer{}, badRequest("The record set of type '%s' at the apex of the zone cannot be deleted.", k.kind)
	}
	before, exists := z.sets[k]
	if !exists {
		return answer{status: http.StatusNoContent}, nil
	}
	if refused := r.precondition(before, exists); refused != nil {
		return answer{}, refused
	}
	z.remove(k, s.now().Add(s.options.VisibleAfter))
	r.committed = true
	return answer{status: http.StatusOK}, nil
}

// key is the place that the path names.
func (r *request) key() (key, *refusal) {
	k := key{strings.ToLower(r.name), strings.ToUpper(r.kind)}
	if !slices.Contains(kinds, k.kind) {
		return k, manager(http.StatusBadRequest, "InvalidResourceType", "The resource type '%s' could not be found in the namespace 'Microsoft.Network'.", "dnszones/"+r.kind)
	}
	return k, nil
}

// precondition judges the headers that make a write conditional.
func (r *request) precondition(before Record, exists bool) *refusal {
	match, none := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
	switch {
	case none != "" && none != "*":
		return badRequest("The If-None-Match header must be '*'.")
	case none == "*" && match != "":
		return badRequest("The headers If-Match and If-None-Match exclude each other.")
	case none == "*" && exists:
		return provider(http.StatusPreconditionFailed, "PreconditionFailed", "The Record set %s exists already and hence cannot be created again.", r.name)
	case match == "" || match == "*" && exists:
		return nil
	case !exists || match != before.ETag:
		return provider(http.StatusPreconditionFailed, "PreconditionFailed", "The Record set %s has been modified (etag mismatch).", r.name)
	}
	return nil
}

func (r *request) decode(kind string) (Record, *refusal) {
	var body struct {
		ID, Name, Type, ETag string
		Properties           *properties
	}
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil || body.Properties == nil {
		return Record{}, manager(http.StatusBadRequest, "InvalidRequestContent", "The request content was invalid and could not be deserialized.")
	}
	set, refused := body.Properties.record(kind)
	set.Name, set.Type = r.name, kind
	return set, refused
}

func (z *zone) recordBody(r Record) map[string]any {
	fqdn := z.name + "."
	if r.Name != "@" {
		fqdn = r.Name + "." + fqdn
	}
	p := toWire(r)
	p.FQDN, p.ProvisioningState = fqdn, "Succeeded"
	return map[string]any{
		"id": zoneID(z.subscription, z.group, z.name) + "/" + r.Type + "/" + r.Name, "name": r.Name,
		"type": "Microsoft.Network/dnszones/" + r.Type, "etag": r.ETag, "properties": p,
	}
}
