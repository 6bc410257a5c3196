package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/cloudflare"
)

const (
	// cloudflareZone is the only zone at Cloudflare, and foreignRecord a record of others there.
	cloudflareZone  = "cloudflare.example"
	foreignRecord   = "www." + cloudflareZone
	cloudflareToken = "playground"
	// cloudflareDNSVariable leads lookups to the name server of the zone.
	cloudflareDNSVariable = "PLAYGROUND_CLOUDFLARE_DNS"
)

// cloudflareWorld is the simulated Cloudflare.
type cloudflareWorld struct {
	provider

	sim  *cloudflare.Sim
	zone cloudflare.Zone
}

func (w *world) startCloudflare(ctx context.Context) error {
	c := &cloudflareWorld{sim: cloudflare.New(cloudflare.Options{VisibleAfter: time.Second})}
	c.sim.AddToken(cloudflare.Token{Value: cloudflareToken, ReadsZones: true, EditsDNS: true})
	c.zone = c.sim.AddZone(cloudflare.Zone{Name: cloudflareZone})
	c.sim.PutRecord(c.zone.ID, cloudflare.Record{Name: foreignRecord, Type: "A", Content: "192.0.2.80", TTL: 300, Tags: []string{}})
	c.w, c.name, c.cnames = w, "Cloudflare", c.targets
	if err := c.serve(ctx, c.sim, c.sim.StartDNS); err != nil {
		return err
	}
	w.cloudflare = c
	w.say.line("%-14s %s, simulated", c.name, c.url())
	w.say.line("%-14s %s, DNS of its zone %s", "", c.dns, cloudflareZone)
	return nil
}

func (c *cloudflareWorld) targets() map[string]string {
	out := map[string]string{}
	for _, r := range c.sim.Records(c.zone.ID) {
		if r.Type == "CNAME" {
			out[r.Name] = r.Content
		}
	}
	return out
}

// url is where the API is, and records where the records of the zone are.
func (c *cloudflareWorld) url() string     { return "http://" + c.address + "/client/v4" }
func (c *cloudflareWorld) records() string { return c.url() + "/zones/" + c.zone.ID + "/dns_records" }

// cloudflareAccount is the operator's account there.
func (w *world) cloudflareAccount() map[string]any {
	return map[string]any{
		"name": "main", "provider": "cloudflare", "credentials": w.inDNS("cloudflare"),
		"nameServers": []string{w.cloudflare.dns}, "cloudflare": map[string]string{"baseUrl": w.cloudflare.url()},
	}
}

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
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("calling %s: %w", url, err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("calling %s: %w", url, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		answer, _ := io.ReadAll(response.Body) // the status says enough
		return fmt.Errorf("calling %s: status %d: %s", url, response.StatusCode, answer)
	}
	return nil
}
