package accounts

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/kubename"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// Account is what the administrator says of one account. Exactly one of the blocks is there, named like the provider.
type Account struct {
	// Name is what spec.dns.account says.
	Name     string      `json:"name"`
	Provider dns.Service `json:"provider"`
	// Credentials is the folder with the keys of the Secret, one file each.
	Credentials string `json:"credentials,omitempty"`
	// NameServers are asked whether a change is in effect, each as host:port. Default: those that the zone names.
	NameServers []string `json:"nameServers,omitempty"`
	// Rate is how many calls go out a second, Burst how many of them at once. Default: what suits the provider.
	Rate  float64 `json:"rate,omitempty"`
	Burst int     `json:"burst,omitempty"`

	Cloudflare  *Cloudflare  `json:"cloudflare,omitempty"`
	Azure       *Azure       `json:"azure,omitempty"`
	RFC2136     *RFC2136     `json:"rfc2136,omitempty"`
	ExternalDNS *ExternalDNS `json:"externalDNS,omitempty"`
}

// Cloudflare is an account there. The Secret has the key token.
type Cloudflare struct {
	// BaseURL is for a proxy in front of the API. Default: that of Cloudflare.
	BaseURL string `json:"baseUrl,omitempty"`
}

// Azure is a subscription, or one resource group of it. The Secret, if any, has the key clientSecret.
type Azure struct {
	SubscriptionID string `json:"subscriptionId"`
	ResourceGroup  string `json:"resourceGroup,omitempty"`
	TenantID       string `json:"tenantId,omitempty"`
	ClientID       string `json:"clientId,omitempty"`
	// Credential is WorkloadIdentity (the default), ManagedIdentity or ClientSecret.
	Credential string `json:"credential,omitempty"`
	// Cloud is Public (the default), Government or China.
	Cloud string `json:"cloud,omitempty"`
	// ResourceManagerEndpoint and AuthorityHost are where a private cloud has its Resource Manager and issues tokens, each an
	// https URL. Default: those of the cloud.
	ResourceManagerEndpoint string `json:"resourceManagerEndpoint,omitempty"`
	AuthorityHost           string `json:"authorityHost,omitempty"`
	// Audience is who the tokens for a private cloud are for. Default: its Resource Manager.
	Audience string `json:"audience,omitempty"`
}

// RFC2136 is a server with dynamic updates. The Secret has the key tsigSecret.
type RFC2136 struct {
	// Server is the primary, Secondaries are the servers that get the zones from it, each as host:port.
	Server      string   `json:"server"`
	Secondaries []string `json:"secondaries,omitempty"`
	Zones       []string `json:"zones"`
	TSIG        TSIG     `json:"tsig"`
}

// TSIG is the key with which updates and transfers are signed.
type TSIG struct {
	Name string `json:"name"`
	// Algorithm is hmac-sha256 by default.
	Algorithm string `json:"algorithm,omitempty"`
}

// ExternalDNS is an installation of it that reads DNSEndpoint objects. It has no Secret.
type ExternalDNS struct {
	// Namespace has the DNSEndpoints, which get Labels.
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels,omitempty"`
	// Domains are the zones that it publishes in.
	Domains []string `json:"domains"`
}

// key is where the account is found.
func (a Account) key() dns.Provider { return dns.Provider{Service: a.Provider, Account: a.Name} }

// Secret reads a key of the account's Secret. It is read for each call, so that a credential can be rotated.
func (a Account) Secret(key string) (string, error) {
	if a.Credentials == "" {
		return "", fmt.Errorf("no Secret is set: set secretName to one with the key %s", key)
	}
	text, err := os.ReadFile(filepath.Join(a.Credentials, key))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", fmt.Errorf("the Secret has no key %s: add it", key)
	case err != nil:
		return "", fmt.Errorf("reading the key %s of the Secret: %w", key, err)
	case strings.TrimSpace(string(text)) == "":
		return "", fmt.Errorf("the key %s of the Secret is empty: give it a value", key)
	}
	return strings.TrimSpace(string(text)), nil
}

// parsed is an account of the file, or what is wrong with it.
type parsed struct {
	account Account
	// text is the account as the file has it, to see whether it has changed.
	text string
	err  error
}

// noProvider has the place of an account that names no provider: an empty one would be that of Route 53.
const noProvider dns.Service = "none"

var accountName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// parse reads the accounts of a file. A mistake in one account is reported for that account; the error is about the
// file.
func parse(text []byte) ([]parsed, error) {
	var file struct {
		Accounts []json.RawMessage `json:"accounts"`
	}
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		return nil, fmt.Errorf("the file of DNS accounts is not valid: %w", err)
	}
	var out []parsed
	for i, raw := range file.Accounts {
		p := parsed{text: string(raw)}
		var lenient struct {
			Name     string      `json:"name"`
			Provider dns.Service `json:"provider"`
		}
		if err := json.Unmarshal(raw, &lenient); err != nil {
			return nil, fmt.Errorf("accounts[%d] is not valid: %w", i, err)
		}
		if p.err = yaml.UnmarshalStrict(raw, &p.account); p.err == nil {
			p.err = p.account.validate()
		}
		// An account with an unknown field still has its place: objects that name it report the mistake.
		p.account.Name, p.account.Provider = lenient.Name, cmp.Or(lenient.Provider, noProvider)
		same := func(o parsed) bool { return o.account.key() == p.account.key() }
		if at := slices.IndexFunc(out, same); at >= 0 {
			out[at].err = fmt.Errorf("two accounts of %s are named %s: rename one of them", p.account.Provider, prose.Quote(p.account.Name))
			continue
		}
		out = append(out, p)
	}
	return out, nil
}

// services are those that need an account.
var services = []dns.Service{dns.Cloudflare, dns.Azure, dns.RFC2136, dns.ExternalDNS}

func (a Account) validate() error {
	switch {
	case !accountName.MatchString(a.Name):
		return fmt.Errorf("name %s is not valid: use at most 63 lower-case letters, digits and inner hyphens", prose.Quote(a.Name))
	case !slices.Contains(services, a.Provider):
		return fmt.Errorf("provider %s is not valid: use cloudflare, azure, rfc2136 or externaldns", prose.Quote(string(a.Provider)))
	case a.Rate < 0 || a.Burst < 0:
		return errors.New("rate and burst can't be negative: remove them for the defaults, or set positive numbers")
	}
	blocks := map[dns.Service]bool{
		dns.Cloudflare: a.Cloudflare != nil, dns.Azure: a.Azure != nil, dns.RFC2136: a.RFC2136 != nil, dns.ExternalDNS: a.ExternalDNS != nil,
	}
	for _, service := range services {
		if blocks[service] && service != a.Provider {
			return fmt.Errorf("the block %s belongs to another provider than %s: remove it, or change provider", service, a.Provider)
		}
	}
	for _, server := range a.NameServers {
		if err := hostPort(server); err != nil {
			return fmt.Errorf("nameServers: %w", err)
		}
	}
	return a.validateBlock()
}

func (a Account) validateBlock() error {
	switch a.Provider {
	case dns.Azure:
		return a.Azure.validate()
	case dns.RFC2136:
		return a.RFC2136.validate()
	case dns.ExternalDNS:
		if len(a.NameServers) == 0 {
			return errors.New("nameServers is empty: name some of the zones' own name servers as host:port, because ExternalDNS does not tell what it has published")
		}
		return a.ExternalDNS.validate()
	case dns.Cloudflare, dns.Route53:
	}
	return nil
}

func (a *Azure) validate() error {
	switch {
	case a == nil || a.SubscriptionID == "":
		return errors.New("azure.subscriptionId is missing: set it to the subscription that has the zones")
	case !slices.Contains([]string{"", "WorkloadIdentity", "ManagedIdentity", "ClientSecret"}, a.Credential):
		return fmt.Errorf("azure.credential %s is not valid: use WorkloadIdentity, ManagedIdentity or ClientSecret", prose.Quote(a.Credential))
	case !slices.Contains([]string{"", "Public", "Government", "China"}, a.Cloud):
		return fmt.Errorf("azure.cloud %s is not valid: use Public, Government or China", prose.Quote(a.Cloud))
	case a.Credential == "ClientSecret" && (a.TenantID == "" || a.ClientID == ""):
		return errors.New("azure.tenantId and azure.clientId are required with credential ClientSecret: set both")
	}
	return a.validateEndpoints()
}

func (a *Azure) validateEndpoints() error {
	private := a.ResourceManagerEndpoint != ""
	switch {
	case private != (a.AuthorityHost != ""):
		return errors.New("azure.resourceManagerEndpoint and azure.authorityHost belong together: set both for a private cloud, and otherwise neither")
	case private && a.Cloud != "":
		return errors.New("azure.cloud and azure.resourceManagerEndpoint exclude each other: remove cloud for a private cloud")
	case !private && a.Audience != "":
		return errors.New("azure.audience is for private clouds: remove it, or set azure.resourceManagerEndpoint and azure.authorityHost")
	case !private:
		return nil
	}
	return errors.Join(httpsURL("azure.resourceManagerEndpoint", a.ResourceManagerEndpoint), httpsURL("azure.authorityHost", a.AuthorityHost))
}

// httpsURL refuses what no token may be sent to.
func httpsURL(field, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%s %s is not an https URL: use for example https://management.region.example.com", field, prose.Quote(text))
	}
	return nil
}

func (r *RFC2136) validate() error {
	switch {
	case r == nil || r.Server == "":
		return errors.New("rfc2136.server is missing: set it to host:port of the primary server")
	case len(r.Zones) == 0:
		return errors.New("rfc2136.zones is empty: name the zones that the key may change")
	case r.TSIG.Name == "":
		return errors.New("rfc2136.tsig.name is missing: set it to the name of the key")
	}
	for _, server := range append([]string{r.Server}, r.Secondaries...) {
		if err := hostPort(server); err != nil {
			return fmt.Errorf("rfc2136: %w", err)
		}
	}
	return zoneNames("rfc2136.zones", r.Zones)
}

func (e *ExternalDNS) validate() error {
	switch {
	case e == nil || len(e.Domains) == 0:
		return errors.New("externalDNS.domains is empty: name the zones that ExternalDNS publishes in")
	case !kubename.IsNamespace(e.Namespace):
		return fmt.Errorf("externalDNS.namespace %s is not a namespace: name the one that ExternalDNS reads DNSEndpoints in", prose.Quote(e.Namespace))
	}
	return zoneNames("externalDNS.domains", e.Domains)
}

func zoneNames(field string, zones []string) error {
	for _, zone := range zones {
		if name, err := dns.Canonical(zone); err != nil || name != zone {
			return fmt.Errorf("%s: %s is not a zone name: write it in lower case, without a dot at the end, and internationalized names in punycode",
				field, prose.Quote(zone))
		}
	}
	return nil
}

func hostPort(server string) error {
	host, port, err := net.SplitHostPort(server)
	if err != nil || host == "" || port == "" {
		return fmt.Errorf("%s is not host:port: use for example ns1.example.com:53 or [2606:4700:4700::1111]:53", prose.Quote(server))
	}
	return nil
}
