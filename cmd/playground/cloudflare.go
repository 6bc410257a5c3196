package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/cloudflare"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/dnsserver"
)

const (
	// cloudflareZone is the only zone at Cloudflare, and foreignRecord a record of others there.
	cloudflareZone  = "cloudflare.example"
	foreignRecord   = "www." + cloudflareZone
	cloudflareToken = "playground"
	// cloudflareDNSVariable leads lookups to the name server of the zone.
	cloudflareDNSVariable = "PLAYGROUND_CLOUDFLARE_DNS"
	// cloudFrontSuffix is where names end that lead to CloudFront.
	cloudFrontSuffix = ".cloudfront.net"
)

// cloudflareWorld is the simulated Cloudflare, which runs in this process.
type cloudflareWorld struct {
	resolving

	sim    *cloudflare.Sim
	zone   cloudflare.Zone
	server *http.Server
	names  *dnsserver.Server
	// url is where the API is, and dns where the name server is.
	url, dns string
}

// resolving are names that lead to CloudFront, as the simulated AWS was told.
type resolving struct {
	mu    sync.Mutex
	names []string
}

// startCloudflare starts the API and the name server.
func (w *world) startCloudflare(ctx context.Context) error {
	c := &cloudflareWorld{sim: cloudflare.New(cloudflare.Options{VisibleAfter: time.Second})}
	c.sim.AddToken(cloudflare.Token{Value: cloudflareToken, ReadsZones: true, EditsDNS: true})
	c.zone = c.sim.AddZone(cloudflare.Zone{Name: cloudflareZone})
	c.sim.PutRecord(c.zone.ID, cloudflare.Record{Name: foreignRecord, Type: "A", Content: "192.0.2.80", TTL: 300, Tags: []string{}})
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("starting the simulated Cloudflare: %w", err)
	}
	if c.names, err = c.sim.StartDNS(ctx, "127.0.0.1:0"); err != nil {
		return errors.Join(fmt.Errorf("starting the name server of the simulated Cloudflare: %w", err), listener.Close())
	}
	c.url, c.dns = "http://"+listener.Addr().String()+"/client/v4", c.names.Address
	c.server = &http.Server{Handler: w.public(ctx, "Cloudflare", c.sim, c.leading, &c.resolving), ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		if err := c.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			w.cancel(fmt.Errorf("the simulated Cloudflare ended unexpectedly: %w", err))
		}
	}()
	w.cloudflare = c
	w.say.line("%-14s %s, simulated", "Cloudflare", c.url)
	w.say.line("%-14s %s, DNS of its zone %s", "", c.dns, cloudflareZone)
	return nil
}

func (c *cloudflareWorld) stop() error {
	return errors.Join(c.server.Close(), c.names.Stop())
}

// public lets the simulated AWS know which names lead to CloudFront: it does not ask the name servers of others.
func (w *world) public(ctx context.Context, provider string, api http.Handler, leading func() []string, told *resolving) http.Handler {
	return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		api.ServeHTTP(response, request)
		if request.Method == http.MethodGet {
			return
		}
		if err := told.update(ctx, w, leading); err != nil && ctx.Err() == nil {
			w.cancel(fmt.Errorf("telling the simulated AWS what the zone at %s has: %w", provider, err))
		}
	})
}

// leading are the names that lead to CloudFront.
func (c *cloudflareWorld) leading() (names []string) {
	for _, record := range c.sim.Records(c.zone.ID) {
		if record.Type == "CNAME" && strings.HasSuffix(record.Content, cloudFrontSuffix) {
			names = append(names, record.Name)
		}
	}
	return names
}

func (r *resolving) update(ctx context.Context, w *world, leading func() []string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := leading()
	change := map[string][]string{"add": without(now, r.names), "remove": without(r.names, now)}
	r.names = now
	if len(change["add"])+len(change["remove"]) == 0 {
		return nil
	}
	return call(ctx, http.MethodPost, w.awsURL+"/_sim/resolving", "", change)
}

// without returns what is in one list and not in the other.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(text string) bool { return slices.Contains(other, text) })
}

// accountsFile is where the operator finds its accounts at DNS providers.
func (w *world) accountsFile() string { return filepath.Join(w.dir, "dns", "accounts.yaml") }

// writeAccounts writes the file, and next to it the credentials as mounted Secrets would have them.
func (w *world) writeAccounts(context.Context) error {
	token := filepath.Join(w.dir, "dns", "cloudflare")
	text, err := yaml.Marshal(map[string]any{"accounts": []any{
		map[string]any{
			"name": "main", "provider": "cloudflare", "credentials": token,
			"nameServers": []string{w.cloudflare.dns}, "cloudflare": map[string]string{"baseUrl": w.cloudflare.url},
		},
		w.azureAccount(),
	}})
	if err == nil {
		err = errors.Join(os.MkdirAll(token, 0o700), os.MkdirAll(w.azureSecretDir(), 0o700))
	}
	if err == nil {
		err = errors.Join(
			os.WriteFile(filepath.Join(token, "token"), []byte(cloudflareToken), 0o600),
			os.WriteFile(filepath.Join(w.azureSecretDir(), "clientSecret"), []byte(azureSecret), 0o600),
			os.WriteFile(w.accountsFile(), text, 0o600))
	}
	if err != nil {
		return fmt.Errorf("writing the DNS accounts: %w", err)
	}
	return nil
}

// cloudflareEnv leads curl and lookups to the simulated Cloudflare, and lookups to the simulated Azure.
func (w *world) cloudflareEnv() []string {
	return []string{
		"CLOUDFLARE_BASE_URL=" + w.cloudflare.url, "CLOUDFLARE_API_TOKEN=" + cloudflareToken, "CLOUDFLARE_ZONE=" + w.cloudflare.zone.ID,
		cloudflareDNSVariable + "=" + w.cloudflare.dns, azureDNSVariable + "=" + w.azure.dns,
	}
}

// nameServers answer for all zones. That of AWS comes last: it does not refuse a name that it was told of.
func (w *world) nameServers() []string { return []string{w.cloudflare.dns, w.azure.dns, w.dnsAddress} }

// cloudflareRecord is what is shown of a record.
type cloudflareRecord struct {
	Name    string `json:"name"`
	Content string `json:"content"`
	Comment string `json:"comment"`
}

// curl is how one calls the API; rest is what comes after the records of the zone. The quotes are for zsh, where a
// question mark stands for a file.
func (c *cloudflareWorld) curl(options, rest string) string {
	return fmt.Sprintf(`curl -s%s -H "Authorization: Bearer $CLOUDFLARE_API_TOKEN" "$CLOUDFLARE_BASE_URL/zones/$CLOUDFLARE_ZONE/dns_records%s"`, options, rest)
}

// record returns the CNAME that the zone has, and its ID. There is at most one.
func (c *cloudflareWorld) record() (cloudflareRecord, string) {
	for _, r := range c.sim.Records(c.zone.ID) {
		if r.Type == "CNAME" {
			return cloudflareRecord{r.Name, r.Content, r.Comment}, r.ID
		}
	}
	return cloudflareRecord{}, ""
}

// call sends JSON, and wants that this succeeds.
func call(ctx context.Context, method, url, token string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("calling %s: %w", url, err)
	}
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("calling %s: %w", url, err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	client := &http.Client{Timeout: 10 * time.Second}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("calling %s: %w", url, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", response.StatusCode, answer)
	}
	if err != nil {
		return fmt.Errorf("calling %s: %w", url, err)
	}
	return nil
}
