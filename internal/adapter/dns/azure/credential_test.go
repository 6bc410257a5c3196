package azure_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/azure"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/azuredns"
)

const (
	pod, node = "55555555-5555-5555-5555-555555555555", "66666666-6666-6666-6666-666666666666"
	subject   = "system:serviceaccount:operator:operator"
)

// Each kind of credential opens the zone, and says what is wrong where it does not.
func TestCredentials(t *testing.T) {
	t.Parallel()
	all := []sim.Grant{{Role: sim.DNSZoneContributor, Scope: subscriptionScope}}
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(sim.FederatedToken(subject, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))), 0o600); err != nil {
		t.Fatal(err)
	}
	workload := func(file string) azure.Credential {
		return azure.Credential{Kind: azure.WorkloadIdentity, TenantID: sim.DefaultTenant, ClientID: pod, TokenFile: file}
	}
	secretOf := func(tenant, clientID, value string) azure.Credential {
		return azure.Credential{Kind: azure.ClientSecret, TenantID: tenant, ClientID: clientID, Secret: func() string { return value }}
	}
	for says, tt := range map[string]struct {
		credential azure.Credential
		change     func(*sim.Principal)
		// code and want are of the denial, empty where it works.
		code, want string
	}{
		"workload identity": {credential: workload(file)},
		"a service account that no credential is for": {
			workload(file), func(p *sim.Principal) { p.Subject += "x" }, "AADSTS700213", "the subject system:serviceaccount:<namespace>:<name>",
		},
		"a pod without the token":        {workload(file + "x"), nil, "CredentialUnavailable", "azure.workload.identity/use"},
		"the identity of the node":       {credential: azure.Credential{Kind: azure.ManagedIdentity}},
		"a named identity of the node":   {credential: azure.Credential{Kind: azure.ManagedIdentity, ClientID: node}},
		"an identity that it has not":    {azure.Credential{Kind: azure.ManagedIdentity, ClientID: pod}, nil, "invalid_request", "assign it to the node"},
		"a client secret":                {credential: secretOf(sim.DefaultTenant, client, secret)},
		"a wrong client secret":          {secretOf(sim.DefaultTenant, client, "wrong"), nil, "AADSTS7000215", "put its value, not its ID"},
		"a client secret that ended":     {secretOf(sim.DefaultTenant, client, secret), func(p *sim.Principal) { p.SecretExpired = true }, "AADSTS7000222", "create a new one"},
		"no client secret":               {secretOf(sim.DefaultTenant, client, ""), nil, "CredentialUnavailable", "into the key clientSecret"},
		"an application of no one":       {secretOf(sim.DefaultTenant, "absent", secret), nil, "AADSTS700016", "correct clientId"},
		"a tenant of no one":             {secretOf("77777777-7777-7777-7777-777777777777", client, secret), nil, "AADSTS90002", "correct tenantId"},
		"a tenant that can't be any":     {secretOf("a tenant", client, secret), nil, "CredentialUnavailable", "tenantId"},
		"an identity that may not do it": {secretOf(sim.DefaultTenant, client, secret), func(p *sim.Principal) { p.Grants = nil }, "AuthorizationFailed", "the role DNS Zone Contributor"},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(s *settings) {
				s.config.Credential = tt.credential
				s.sim.Principals = append(s.sim.Principals, sim.Principal{ClientID: pod, Subject: subject, Grants: all}, sim.Principal{ClientID: node, Managed: true, Grants: all})
			})
			if tt.change != nil {
				id := client
				if tt.credential.Kind == azure.WorkloadIdentity {
					id = pod
				}
				w.ChangePrincipal(id, tt.change)
			}
			var texts []string
			for range 2 {
				_, err := w.Change(t.Context(), zoneID, create(cname("a")))
				if tt.want == "" {
					if err != nil {
						t.Fatal(err)
					}
					return
				}
				if !fault.Is(err, fault.Denied) || fault.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v is %s, want %s, %s and %q", err, fault.KindOf(err), fault.Denied, tt.code, tt.want)
				}
				texts = append(texts, err.Error())
			}
			if texts[0] != texts[1] || strings.Contains(texts[0], "Trace") {
				t.Errorf("the text moves:\n%s\n%s", texts[0], texts[1])
			}
		})
	}
}

// A secret that is replaced while the operator runs is used for the next token.
func TestANewSecret(t *testing.T) {
	t.Parallel()
	current := "wrong"
	w := newWorld(t, func(s *settings) { s.config.Credential.Secret = func() string { return current } })
	if _, err := w.GetZone(t.Context(), zoneID); !fault.Is(err, fault.Denied) {
		t.Fatalf("error %v, want %s", err, fault.Denied)
	}
	current = secret
	if _, err := w.GetZone(t.Context(), zoneID); err != nil {
		t.Error(err)
	}
}

// An error of Entra ID that is not known is shown as it is, without what changes each time.
func TestUnknownErrorsOfEntra(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.AddFault(sim.Fault{
		Operation: sim.RequestToken, When: sim.Instead, Status: 400, Code: "interaction_required", OAuth: 50076,
		Message: "AADSTS50076: You must use multi-factor authentication. Trace ID: 0a-b Correlation ID: 0c-d Timestamp: 2026-01-01 00:00:00Z",
	})
	_, err := w.GetZone(t.Context(), zoneID)
	const want = "Zones_Get: interaction_required: no access token with credential ClientSecret: AADSTS50076: You must use multi-factor authentication"
	if !fault.Is(err, fault.Denied) || err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
}

// The whole adapter works over a real socket, with endpoints of its own.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	var server *httptest.Server
	w := newWorld(t, func(s *settings) {
		server = httptest.NewTLSServer(nil)
		t.Cleanup(server.Close)
		s.config.Endpoint, s.config.Authority, s.config.HTTPClient = server.URL, server.URL, server.Client()
	})
	server.Config.Handler = w.Sim
	w.change(t, create(cname("a"))...)
	if sets := w.name(t, "a"); len(sets) != 1 || !sets[0].Is(dns.Record{Name: "a." + zoneName, Type: dns.CNAME, Value: target, TTL: 300}) {
		t.Errorf("sets %v", sets)
	}
	if n := w.Calls(sim.Discover); n != 0 {
		t.Errorf("the cloud was asked %d times whether the authority is one", n)
	}
}
