package azuredns

import (
	"net/http"
	"regexp"
	"strings"
)

// The operations, as Azure's API description calls them, and those of the token endpoints.
const (
	ListZones        = "Zones_List"
	ListZonesOfGroup = "Zones_ListByResourceGroup"
	GetZone          = "Zones_Get"
	ListRecords      = "RecordSets_ListByDnsZone"
	ListAllRecords   = "RecordSets_ListAllByDnsZone"
	ListRecordsOfOne = "RecordSets_ListByType"
	GetRecord        = "RecordSets_Get"
	PutRecord        = "RecordSets_CreateOrUpdate"
	DeleteRecord     = "RecordSets_Delete"
	Discover         = "InstanceDiscovery"
	OpenIDConfig     = "OpenIDConfiguration"
	RequestToken     = "RequestToken"
	RequestIMDSToken = "RequestManagedIdentityToken"

	unknown = "Unknown"
)

const apiVersion = "2018-05-01"

// request is a call on its way through the simulator.
type request struct {
	*http.Request
	operation string
	// Of the path, as it is spelled there.
	subscription, group, zone, kind, name string
	principal                             *Principal
	committed                             bool
}

func (r *request) mutating() bool { return r.operation == PutRecord || r.operation == DeleteRecord }

// answer is the body of a success. Its body is nil for none.
type answer struct {
	status int
	etag   string
	body   any
}

// ServeHTTP implements http.Handler.
func (s *Sim) ServeHTTP(w http.ResponseWriter, raw *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := parse(raw)
	fault := s.strikes(r.operation)
	out, refused := answer{}, (*refusal)(nil)
	if fault != nil && fault.When != AfterCommit {
		refused = fault.refusal()
	} else {
		out, refused = s.handle(r)
	}
	if fault != nil && fault.When == AfterCommit && refused == nil {
		refused = fault.refusal()
	}
	entry := Entry{Operation: r.operation, Path: raw.URL.Path, Mutating: r.mutating(), Committed: r.committed, Status: out.status}
	if refused != nil {
		entry.Status, entry.Code = refused.status, refused.code
	}
	if fault != nil && fault.Drop {
		entry.Status = 0
		s.journal = append(s.journal, entry)
		panic(http.ErrAbortHandler)
	}
	s.journal = append(s.journal, entry)
	switch {
	case refused != nil:
		refused.write(w)
	case out.body == nil:
		w.WriteHeader(out.status)
	default:
		if out.etag != "" {
			w.Header().Set("ETag", out.etag)
		}
		writeJSON(w, out.status, out.body)
	}
}

var armPath = regexp.MustCompile(
	`(?i)^/subscriptions/([^/]+)(?:/resourceGroups/([^/]+))?/providers/Microsoft\.Network/dnsZones(?:/([^/]+))?(?:/([^/]+))?(?:/([^/]+))?$`)

// parse says which operation a request is.
func parse(raw *http.Request) *request {
	r := &request{Request: raw, operation: unknown}
	path := raw.URL.Path
	switch {
	case path == "/common/discovery/instance":
		r.operation = Discover
	case strings.HasSuffix(path, "/v2.0/.well-known/openid-configuration"):
		r.operation = OpenIDConfig
	case strings.HasSuffix(path, "/oauth2/v2.0/token"):
		r.operation = RequestToken
	case path == "/metadata/identity/oauth2/token":
		r.operation = RequestIMDSToken
	}
	if m := armPath.FindStringSubmatch(path); m != nil {
		r.subscription, r.group, r.zone, r.kind, r.name = m[1], m[2], m[3], m[4], m[5]
		r.operation = r.armOperation()
	}
	return r
}

func (r *request) armOperation() string {
	get := r.Method == http.MethodGet
	switch {
	case r.name != "" && get:
		return GetRecord
	case r.name != "" && r.Method == http.MethodPut:
		return PutRecord
	case r.name != "" && r.Method == http.MethodDelete:
		return DeleteRecord
	case !get || r.name != "":
		return unknown
	case r.kind == "all":
		return ListAllRecords
	case r.kind == "recordsets":
		return ListRecords
	case r.kind != "":
		return ListRecordsOfOne
	case r.zone != "":
		return GetZone
	case r.group != "":
		return ListZonesOfGroup
	}
	return ListZones
}

// handle answers a request that no fault keeps from it.
func (s *Sim) handle(r *request) (answer, *refusal) {
	switch r.operation {
	case unknown:
		return answer{}, manager(http.StatusNotFound, "InvalidResourceType", "%s %s is not simulated.", r.Method, r.URL.Path)
	case Discover:
		return s.discover(r)
	case OpenIDConfig:
		return s.configuration(r)
	case RequestToken:
		return s.requestToken(r)
	case RequestIMDSToken:
		return s.requestManagedToken(r)
	}
	if refused := s.admit(r); refused != nil {
		return answer{}, refused
	}
	switch r.operation {
	case ListZones, ListZonesOfGroup:
		return s.listZones(r)
	case GetZone:
		return s.getZone(r)
	case ListRecords, ListAllRecords, ListRecordsOfOne:
		return s.listRecords(r)
	case GetRecord:
		return s.getRecord(r)
	case PutRecord:
		return s.putRecord(r)
	}
	return s.deleteRecord(r)
}

// admit refuses what the Resource Manager refuses before the DNS service sees it.
func (s *Sim) admit(r *request) *refusal {
	if version := r.URL.Query().Get("api-version"); version != apiVersion {
		return manager(http.StatusBadRequest, "InvalidApiVersionParameter", "The api-version '%s' is invalid. The supported versions are '%s'.", version, apiVersion)
	}
	for _, check := range []func(*request) *refusal{s.authenticate, s.checkSubscription, s.authorize} {
		if refused := check(r); refused != nil {
			return refused
		}
	}
	if refused := s.throttle(r.operation); refused != nil {
		return refused
	}
	if r.group != "" && !s.hasGroup(r.subscription, r.group) {
		return manager(http.StatusNotFound, "ResourceGroupNotFound", "Resource group '%s' could not be found.", r.group)
	}
	if r.zone == "" || s.find(r) != nil {
		return nil
	}
	id := zoneID(r.subscription, r.group, r.zone)
	if r.kind == "" {
		return manager(http.StatusNotFound, "ResourceNotFound",
			"The Resource 'Microsoft.Network/dnszones/%s' under resource group '%s' was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix", r.zone, r.group)
	}
	return manager(http.StatusNotFound, "ParentResourceNotFound",
		"Failed to perform '%s' on resource(s) of type 'dnszones/%s', because the parent resource '%s' could not be found.", r.verb(), r.kind, id)
}

// verb is what the operation does, in the words of roles.
func (r *request) verb() string {
	switch r.operation {
	case PutRecord:
		return "write"
	case DeleteRecord:
		return "delete"
	}
	return "read"
}
