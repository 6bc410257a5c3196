package azuredns

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Principal is an application or a managed identity of the tenant.
type Principal struct {
	ClientID string
	// Secret is a client secret, empty for none. SecretExpired makes it one whose time is over.
	Secret        string
	SecretExpired bool
	// Subject is that of the federated credential, as system:serviceaccount:namespace:name; empty for none.
	Subject string
	// Managed makes it an identity of the machine that the client runs on.
	Managed bool
	Grants  []Grant
}

// Grant gives a principal a role at a scope and all below.
type Grant struct {
	Role Role
	// Scope is the id of a subscription, a resource group or a zone, with a slash at its beginning.
	Scope string
}

// Role is one of Azure's roles.
type Role string

// The roles.
const (
	Reader             Role = "Reader"
	DNSZoneContributor Role = "DNS Zone Contributor"
)

type token struct {
	clientID string
	expires  time.Time
}

// audience is what federated tokens have to be for.
const audience = "api://AzureADTokenExchange"

// FederatedToken is a token as a Kubernetes cluster issues it for a service account. Its signature is none.
func FederatedToken(subject string, expires time.Time) string {
	payload, err := json.Marshal(map[string]any{"sub": subject, "aud": []string{audience}, "exp": expires.Unix()})
	if err != nil {
		panic(err) // strings and numbers can always be rendered
	}
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"none"}`)) + "." + encode(payload) + ".c2lnbmF0dXJl"
}

// ExpireTokens ends all tokens that were issued, as if a clock had been put forward.
func (s *Sim) ExpireTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, t := range s.tokens {
		t.expires = s.now()
		s.tokens[k] = t
	}
}

// ChangePrincipal changes a principal of the given client ID, its grants or its secret.
func (s *Sim) ChangePrincipal(clientID string, change func(*Principal)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s.principal(clientID))
}

func (s *Sim) principal(clientID string) *Principal {
	for _, p := range s.principals {
		if strings.EqualFold(p.ClientID, clientID) {
			return p
		}
	}
	return nil
}

// discover says which hosts are of the same cloud as the authority.
func (s *Sim) discover(r *request) (answer, *refusal) {
	at := r.URL.Query().Get("authorization_endpoint")
	host, _, _ := strings.Cut(strings.TrimPrefix(at, "https://"), "/")
	if !strings.HasPrefix(host, "login.") {
		return answer{}, s.entra(http.StatusBadRequest, "invalid_instance", 50049, "Unknown or invalid instance.")
	}
	return answer{status: http.StatusOK, body: map[string]any{
		"tenant_discovery_endpoint": fmt.Sprintf("https://%s/%s/v2.0/.well-known/openid-configuration", host, s.options.Tenant),
		"api-version":               "1.1",
		"metadata":                  []map[string]any{{"preferred_network": host, "preferred_cache": host, "aliases": []string{host}}},
	}}, nil
}

// configuration names the endpoints of a tenant.
func (s *Sim) configuration(r *request) (answer, *refusal) {
	if refused := s.checkTenant(r); refused != nil {
		return answer{}, refused
	}
	base := "https://" + r.Host + "/" + s.options.Tenant
	return answer{status: http.StatusOK, body: map[string]any{
		"token_endpoint":         base + "/oauth2/v2.0/token",
		"authorization_endpoint": base + "/oauth2/v2.0/authorize",
		"issuer":                 base + "/v2.0",
		// Some clients refuse a configuration without it. The keys there are not simulated: no client here needs them.
		"jwks_uri": base + "/discovery/v2.0/keys",
	}}, nil
}

func (s *Sim) checkTenant(r *request) *refusal {
	tenant, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !strings.EqualFold(tenant, s.options.Tenant) {
		return s.entra(http.StatusBadRequest, "invalid_tenant", 90002,
			"Tenant '%s' not found. Check to make sure you have the correct tenant ID and are signing into the correct cloud.", tenant)
	}
	return nil
}

// entra is a refusal in the form of Entra ID, with ids that differ each time.
func (s *Sim) entra(status int, code string, number int, format string, args ...any) *refusal {
	s.serial++
	text := fmt.Sprintf("AADSTS%d: ", number) + fmt.Sprintf(format, args...)
	text += fmt.Sprintf(" Trace ID: %08x-0000 Correlation ID: %08x-1111 Timestamp: %s", s.serial, s.serial, s.now().UTC().Format("2006-01-02 15:04:05Z"))
	return &refusal{status: status, code: code, message: text, oauth: number}
}

// requestToken issues a token for a secret or for a federated token.
func (s *Sim) requestToken(r *request) (answer, *refusal) {
	if refused := s.checkTenant(r); refused != nil {
		return answer{}, refused
	}
	if r.Method != http.MethodPost || r.ParseForm() != nil {
		return answer{}, s.entra(http.StatusBadRequest, "invalid_request", 900144, "The request body must contain the following parameter: 'grant_type'.")
	}
	form := r.PostForm
	if form.Get("grant_type") != "client_credentials" {
		return answer{}, s.entra(http.StatusBadRequest, "unsupported_grant_type", 70003, "The app requested an unsupported grant type '%s'.", form.Get("grant_type"))
	}
	if scopes := strings.Fields(form.Get("scope")); !slices.ContainsFunc(scopes, isManagement) {
		return answer{}, s.entra(http.StatusBadRequest, "invalid_scope", 70011, "The provided value for the input parameter 'scope' is not valid.")
	}
	p := s.principal(form.Get("client_id"))
	if p == nil || p.Managed && p.Subject == "" {
		return answer{}, s.entra(http.StatusBadRequest, "unauthorized_client", 700016, "Application with identifier '%s' was not found in the directory 'Test'.", form.Get("client_id"))
	}
	if refused := s.prove(p, form.Get("client_secret"), form.Get("client_assertion")); refused != nil {
		return answer{}, refused
	}
	value := s.issue(p)
	return answer{status: http.StatusOK, body: map[string]any{
		"token_type": "Bearer", "expires_in": int(s.options.TokenLifetime.Seconds()), "access_token": value,
	}}, nil
}

// isManagement reports whether a scope or resource is the Resource Manager's, of whichever cloud.
func isManagement(scope string) bool {
	return strings.HasPrefix(scope, "https://management.") || strings.HasPrefix(scope, "https://sim.")
}

// prove refuses a principal that does not show what it has to.
func (s *Sim) prove(p *Principal, secret, assertion string) *refusal {
	switch {
	case assertion != "":
		return s.proveAssertion(p, assertion)
	case secret == "":
		return s.entra(http.StatusUnauthorized, "invalid_client", 7000218, "The request body must contain the following parameter: 'client_assertion' or 'client_secret'.")
	case p.Secret == "" || secret != p.Secret:
		return s.entra(http.StatusUnauthorized, "invalid_client", 7000215,
			"Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client secret ID, for a secret added to app '%s'.", p.ClientID)
	case p.SecretExpired:
		return s.entra(http.StatusUnauthorized, "invalid_client", 7000222, "The provided client secret keys for app '%s' are expired.", p.ClientID)
	}
	return nil
}

func (s *Sim) proveAssertion(p *Principal, assertion string) *refusal {
	var claims struct {
		Sub string   `json:"sub"`
		Aud []string `json:"aud"`
		Exp int64    `json:"exp"`
	}
	parts := strings.Split(assertion, ".")
	payload, err := base64.RawURLEncoding.DecodeString(parts[min(1, len(parts)-1)])
	if len(parts) != 3 || err != nil || json.Unmarshal(payload, &claims) != nil {
		return s.entra(http.StatusUnauthorized, "invalid_client", 50027, "JWT token is invalid or malformed.")
	}
	switch {
	case !slices.Contains(claims.Aud, audience):
		return s.entra(http.StatusUnauthorized, "invalid_client", 700212,
			"No matching federated identity record found for presented assertion audience '%s'.", strings.Join(claims.Aud, ","))
	case p.Subject == "" || claims.Sub != p.Subject:
		return s.entra(http.StatusUnauthorized, "invalid_client", 700213, "No matching federated identity record found for presented assertion subject '%s'.", claims.Sub)
	case claims.Exp <= s.now().Unix():
		return s.entra(http.StatusUnauthorized, "invalid_client", 700024, "Client assertion is not within its valid time range.")
	}
	return nil
}

// requestManagedToken issues a token for an identity of the machine.
func (s *Sim) requestManagedToken(r *request) (answer, *refusal) {
	imds := func(code, text string) (answer, *refusal) {
		return answer{}, &refusal{status: http.StatusBadRequest, code: code, message: text, oauth: -1}
	}
	query := r.URL.Query()
	if r.Header.Get("Metadata") != "true" {
		return imds("bad_request_102", "Required metadata header not specified")
	}
	if resource := query.Get("resource"); !isManagement(resource) {
		return imds("invalid_resource", "AADSTS500011: The resource principal named "+resource+" was not found in the tenant.")
	}
	var found []*Principal
	for _, p := range s.principals {
		if p.Managed && (query.Get("client_id") == "" || strings.EqualFold(p.ClientID, query.Get("client_id"))) {
			found = append(found, p)
		}
	}
	if len(found) != 1 {
		return imds("invalid_request", "Identity not found")
	}
	value := s.issue(found[0])
	seconds := int64(s.options.TokenLifetime.Seconds())
	return answer{status: http.StatusOK, body: map[string]any{
		"access_token": value, "token_type": "Bearer", "resource": query.Get("resource"),
		"expires_in": strconv.FormatInt(seconds, 10), "expires_on": strconv.FormatInt(s.now().Unix()+seconds, 10),
	}}, nil
}

func (s *Sim) issue(p *Principal) string {
	s.serial++
	value := fmt.Sprintf("token-%d", s.serial)
	s.tokens[value] = token{clientID: p.ClientID, expires: s.now().Add(s.options.TokenLifetime)}
	return value
}
