package distributiontenant_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	cfsim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/cloudflare"
)

const cfRecord = "CNAME alpha.example.com " + mainEndpoint + " 300"

func TestATenantAtCloudflare(t *testing.T) {
	t.Parallel()
	r := newCFRig(t, rigOptions{served: true}, nil)
	r.serving("alpha", atCloudflare())
	r.cfHas(cfRecord)
	r.has(coveredZone)
	want := []v1alpha1.DNSRecord{{
		Provider: v1alpha1.DNSProviderCloudflare, Account: "main", ZoneID: r.zone.ID, Name: "alpha.example.com", Type: "CNAME",
		Value: mainEndpoint, TTL: 300, State: "Published",
	}}
	if d := cmp.Diff(want, get(t, r.World, "alpha").Status.DNS.Records); d != "" {
		t.Errorf("status.dns.records (-want +got):\n%s", d)
	}
	for _, c := range r.cf.Records(r.zone.ID) {
		if c.Name == "alpha.example.com" && (c.Proxied || !strings.Contains(c.Comment, "object="+r.Namespace+"/alpha")) {
			t.Errorf("the record is %+v", c)
		}
	}
	if n := r.Calls()["ListHostedZones"]; n != 0 {
		t.Errorf("Route 53 was asked for its zones %d times", n)
	}
	// A quiet zone costs a listing now and then.
	before := len(r.cf.Calls())
	r.Advance(time.Hour)
	if n := len(r.cf.Calls()) - before; n > 8 {
		t.Errorf("%d calls to Cloudflare in a quiet hour", n)
	}
	r.removed("alpha")
	r.cfHas()
}

func TestWhatIsPublishedAtCloudflare(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spec edit
		want []string
	}{
		"the apex is a CNAME that Cloudflare flattens, with its challenge": {
			all(atCloudflare(withTTL(90)), domains("example.com")),
			[]string{"CNAME example.com " + mainEndpoint + " 90", `TXT _cf-challenge.example.com "` + mainEndpoint + `" 90`},
		},
		"a wildcard":           {all(atCloudflare(), domains("*.shop.example.com")), []string{"CNAME *.shop.example.com " + mainEndpoint + " 300"}},
		"punycode":             {all(atCloudflare(), domains("xn--bcher-kva.example.com")), []string{"CNAME xn--bcher-kva.example.com " + mainEndpoint + " 300"}},
		"in a zone by name":    {atCloudflare(zoneNamed("example.com")), []string{cfRecord}},
		"with the account":     {withDNS(at(mainAccount)), []string{cfRecord}},
		"several domains":      {all(atCloudflare(), domains("alpha.example.com", "www.example.com")), []string{cfRecord, "CNAME www.example.com " + mainEndpoint + " 300"}},
		"where a CNAME is due": {atCloudflare(ofType(v1alpha1.RecordTypeCNAME)), []string{cfRecord}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newCFRig(t, rigOptions{}, nil)
			r.serving("alpha", tc.spec)
			r.cfHas(tc.want...)
			r.has(coveredZone)
			r.removed("alpha")
			r.cfHas()
		})
	}
}

// A conflict at Cloudflare is one as everywhere: the record of others stays.
func TestARecordOfOthersAtCloudflare(t *testing.T) {
	t.Parallel()
	r := newCFRig(t, rigOptions{}, nil)
	theirs := r.cf.PutRecord(r.zone.ID, cfsim.Record{Name: "alpha.example.com", Type: "A", Content: "192.0.2.7", TTL: 60})
	r.Apply(r.Tenant("alpha", atCloudflare()))
	r.Advance(10 * time.Minute)
	is(t, r.World, "alpha", "DNSReady=False/DNSConflict", syncedTrue)
	r.cfHas("A alpha.example.com 192.0.2.7 60")
	r.cf.RemoveRecord(r.zone.ID, theirs.ID)
	r.Advance(30 * time.Minute)
	is(t, r.World, "alpha", readyTrue, dnsReady)
	r.cfHas(cfRecord)
	r.removed("alpha")
	r.cfHas()
}
