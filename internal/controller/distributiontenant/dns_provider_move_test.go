package distributiontenant_test

import (
	"testing"
	"time"
)

const moving = "alpha.example.com"

// One edit moves the records between Route 53 and Cloudflare: at every moment one of them leads the name to CloudFront.
func TestAMoveBetweenProviders(t *testing.T) {
	t.Parallel()
	for name, apex := range map[string]bool{"a name below the apex": false, "the apex": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newCFRig(t, rigOptions{served: true}, nil)
			here, there := []string{"CNAME " + moving + " " + mainEndpoint + " 300"}, []string{"CNAME " + moving + " " + mainEndpoint + " 300"}
			domain := moving
			if apex {
				domain = "example.com"
				here = aliasOf(domain, mainEndpoint, "300")
				there = []string{"CNAME example.com " + mainEndpoint + " 300", `TXT _cf-challenge.example.com "` + mainEndpoint + `" 300`}
			}
			r.serving("alpha", withDNS(), domains(domain))
			r.has(coveredZone, here...)
			r.always = []string{domain}
			r.Edit("alpha", atCloudflare())
			r.watched(5 * time.Minute)
			is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
			r.has(coveredZone)
			r.cfHas(there...)
			r.Edit("alpha", withDNS())
			r.watched(5 * time.Minute)
			is(t, r.World, "alpha", readyTrue, syncedTrue, dnsReady)
			r.has(coveredZone, here...)
			r.cfHas()
			if t.Failed() {
				t.Log(r.story())
			}
			r.always = nil
			r.removed("alpha")
			r.cfHas()
		})
	}
}
