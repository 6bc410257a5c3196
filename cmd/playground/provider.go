package main

import (
	"context"
	"crypto/tls"
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

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/dnsserver"
)

// cloudFrontSuffix is where names end that point to CloudFront.
const cloudFrontSuffix = ".cloudfront.net"

// provider is a simulated DNS provider other than AWS, which runs in this process: an API, and the name server of its
// zone.
type provider struct {
	w    *world
	name string
	// cnames are the records of the zone that may point to CloudFront: where each points, by its name.
	cnames func() map[string]string
	server *http.Server
	names  *dnsserver.Server
	// address is where the API is, and dns where the name server is.
	address, dns string

	mu sync.Mutex
	// told are names that point to CloudFront, as the simulated AWS was told.
	told []string
}

// serve starts the API, with TLS if there is a certificate, and the name server.
func (p *provider) serve(ctx context.Context, api http.Handler, startDNS func(ctx context.Context, address string) (*dnsserver.Server, error), certificates ...tls.Certificate) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("starting the simulated %s: %w", p.name, err)
	}
	if p.names, err = startDNS(ctx, "127.0.0.1:0"); err != nil {
		return errors.Join(fmt.Errorf("starting the name server of the simulated %s: %w", p.name, err), listener.Close())
	}
	p.address, p.dns = listener.Addr().String(), p.names.Address
	if len(certificates) > 0 {
		listener = tls.NewListener(listener, &tls.Config{
			Certificates: certificates, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, // as ServeTLS offers
		})
	}
	p.server = &http.Server{Handler: p.public(ctx, api), ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		if err := p.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			p.w.cancel(fmt.Errorf("the simulated %s ended unexpectedly: %w", p.name, err))
		}
	}()
	return nil
}

func (p *provider) stop() error { return errors.Join(p.server.Close(), p.names.Stop()) }

// public lets the simulated AWS know which names point to CloudFront: it does not ask the name servers of others.
func (p *provider) public(ctx context.Context, api http.Handler) http.Handler {
	return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		api.ServeHTTP(response, request)
		if request.Method == http.MethodGet {
			return
		}
		if err := p.tellAWS(ctx); err != nil && ctx.Err() == nil {
			p.w.cancel(fmt.Errorf("telling the simulated AWS what the zone at %s has: %w", p.name, err))
		}
	})
}

func (p *provider) tellAWS(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var now []string
	for name, target := range p.cnames() {
		if strings.HasSuffix(target, cloudFrontSuffix) {
			now = append(now, name)
		}
	}
	change := map[string][]string{"add": without(now, p.told), "remove": without(p.told, now)}
	p.told = now
	if len(change["add"])+len(change["remove"]) == 0 {
		return nil
	}
	return p.w.aws.Control(ctx, http.MethodPost, "resolving", change, nil)
}

// without returns what is in one list and not in the other.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(text string) bool { return slices.Contains(other, text) })
}

// inDNS is a path in the folder with what the operator has to know of its accounts at DNS providers.
func (w *world) inDNS(elements ...string) string {
	return filepath.Join(append([]string{w.dir, "dns"}, elements...)...)
}

// accountsFile is where the operator finds its accounts at DNS providers.
func (w *world) accountsFile() string { return w.inDNS("accounts.yaml") }

// writeAccounts writes the file, and next to it the credentials as mounted Secrets would have them.
func (w *world) writeAccounts(context.Context) error {
	text, err := yaml.Marshal(map[string]any{"accounts": []any{w.cloudflareAccount(), w.azureAccount()}})
	if err == nil {
		err = errors.Join(
			writeSecret(w.inDNS("cloudflare", "token"), cloudflareToken),
			writeSecret(w.inDNS("azure", "clientSecret"), azureSecret),
			writeSecret(w.accountsFile(), string(text)))
	}
	if err != nil {
		return fmt.Errorf("writing the DNS accounts: %w", err)
	}
	return nil
}

// writeSecret writes a file that is for us only, in a folder that is made.
func writeSecret(path, text string) error {
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
}

// providersEnv points curl and lookups to the simulated Cloudflare, and lookups to the simulated Azure.
func (w *world) providersEnv() []string {
	return []string{
		"CLOUDFLARE_BASE_URL=" + w.cloudflare.url(), "CLOUDFLARE_API_TOKEN=" + cloudflareToken, "CLOUDFLARE_ZONE=" + w.cloudflare.zone.ID,
		cloudflareDNSVariable + "=" + w.cloudflare.dns, azureDNSVariable + "=" + w.azure.dns,
	}
}

// nameServers answer for all zones. That of AWS comes last: it does not refuse a name that it was told of.
func (w *world) nameServers() []string { return []string{w.cloudflare.dns, w.azure.dns, w.dnsAddress} }
