package azuredns

import (
	"net/http"
	"regexp"
	"strings"
	"time"
)

var guid = regexp.MustCompile(`(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// authenticate finds the caller.
func (s *Sim) authenticate(r *request) *refusal {
	header := r.Header.Get("Authorization")
	value, bearer := strings.CutPrefix(header, "Bearer ")
	t, known := s.tokens[value]
	refused := (*refusal)(nil)
	switch {
	case header == "":
		refused = manager(http.StatusUnauthorized, "AuthenticationFailed", "Authentication failed. The 'Authorization' header is missing.")
	case !bearer || !known:
		refused = manager(http.StatusUnauthorized, "InvalidAuthenticationToken", "The access token is invalid.")
	case !s.now().Before(t.expires):
		refused = manager(http.StatusUnauthorized, "ExpiredAuthenticationToken",
			"The access token expiry UTC time '%s' is earlier than current UTC time '%s'.",
			t.expires.UTC().Format(time.DateTime), s.now().UTC().Format(time.DateTime))
	default:
		r.principal = s.principal(t.clientID)
		return nil
	}
	refused.challenge = `Bearer authorization_uri="https://login.windows.net/` + s.options.Tenant + `", error="invalid_token", error_description="The access token is missing or invalid."`
	return refused
}

func (s *Sim) checkSubscription(r *request) *refusal {
	if !guid.MatchString(r.subscription) {
		return manager(http.StatusBadRequest, "InvalidSubscriptionId", "The provided subscription identifier '%s' is malformed or invalid.", r.subscription)
	}
	if strings.EqualFold(r.subscription, DefaultSubscription) {
		return nil
	}
	for _, z := range s.zones {
		if strings.EqualFold(z.subscription, r.subscription) {
			return nil
		}
	}
	return manager(http.StatusNotFound, "SubscriptionNotFound", "The subscription '%s' could not be found.", r.subscription)
}

// authorize refuses what no role of the caller allows, whether the resource exists or not.
func (s *Sim) authorize(r *request) *refusal {
	scope := r.scope()
	for _, g := range r.principal.Grants {
		if within(scope, g.Scope) && (g.Role == DNSZoneContributor || g.Role == Reader && !r.mutating()) {
			return nil
		}
	}
	return manager(http.StatusForbidden, "AuthorizationFailed",
		"The client '%s' with object id '%s' does not have authorization to perform action '%s' over scope '%s' or the scope is invalid. "+
			"If access was recently granted, please refresh your credentials.",
		r.principal.ClientID, r.principal.ClientID, r.action(), scope)
}

// scope is the id of what the request is about. A list of zones needs rights on all that may be in it.
func (r *request) scope() string {
	id := "/subscriptions/" + r.subscription
	if r.group != "" {
		id += "/resourceGroups/" + r.group
	}
	if r.zone != "" {
		id = zoneID(r.subscription, r.group, r.zone)
	}
	if r.name != "" {
		id += "/" + r.kind + "/" + r.name
	}
	return id
}

// action is what the operation does, in the words of roles.
func (r *request) action() string {
	kind := ""
	if r.kind != "" {
		kind = "/" + r.kind
	}
	return "Microsoft.Network/dnszones" + kind + "/" + r.verb()
}

// within reports whether a scope is the other or below it.
func within(scope, other string) bool {
	scope, other = strings.ToLower(scope), strings.ToLower(strings.TrimSuffix(other, "/"))
	return scope == other || strings.HasPrefix(scope, other+"/")
}
