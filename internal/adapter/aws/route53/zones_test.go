package route53_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/route53"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/canned"
)

func TestGetZone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, want := range []dns.Zone{{ID: zoneID, Name: zoneName}, {ID: privateID, Name: "private.example", Private: true}} {
		got, err := w.GetZone(t.Context(), want.ID)
		if err != nil || got != want {
			t.Errorf("zone %+v, error %v, want %+v", got, err, want)
		}
	}
	if _, err := w.GetZone(t.Context(), "ZABSENT"); !fault.Is(err, fault.NotFound) {
		t.Errorf("absent zone: %v, want NotFound", err)
	}
	if _, err := w.GetZone(t.Context(), foreignID); !fault.Is(err, fault.Denied) {
		t.Errorf("the zone of another account: %v, want Denied", err)
	}
}

func TestListZones(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.Options) {
		for i := range 150 {
			o.Seed.HostedZones = append(o.Seed.HostedZones, sim.SeedHostedZone{ID: fmt.Sprintf("Z%03d", i), Name: fmt.Sprintf("z%03d.example", i)})
		}
	})
	seen := map[dns.Zone]int{}
	for marker := ""; ; {
		page, next, err := w.ListZones(t.Context(), marker)
		if err != nil {
			t.Fatal(err)
		}
		for _, z := range page {
			seen[z]++
		}
		if marker = next; next == "" {
			break
		}
	}
	if len(seen) != 152 || seen[dns.Zone{ID: privateID, Name: "private.example", Private: true}] != 1 || w.calls("ListHostedZones") != 2 {
		t.Errorf("%d zones in %d calls, want 152, the private one among them, in 2", len(seen), w.calls("ListHostedZones"))
	}
	if _, _, err := w.ListZones(t.Context(), "ZGONE"); !fault.Is(err, fault.Transient) {
		t.Errorf("a list that goes on from a zone which is gone: %v: all zones are never absent", err)
	}
}

func TestListRecordsReadsEverySetOnce(t *testing.T) {
	t.Parallel()
	const many = 650
	w := newWorld(t, func(o *sim.Options) {
		for i := range many {
			o.Seed.HostedZones[0].Records = append(o.Seed.HostedZones[0].Records,
				sim.SeedRecord{Name: fmt.Sprintf("*.n%03d.%s", i, zoneName), Type: "CNAME", Values: []string{target}})
		}
	})
	seen := map[dns.Key]int{}
	for marker := ""; ; {
		page, next, err := w.ListRecords(t.Context(), zoneID, marker)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range page {
			seen[s.Key]++
		}
		if marker = next; next == "" {
			break
		}
	}
	state, _ := w.HostedZone(zoneID)
	want := map[dns.Key]int{}
	for _, r := range state.Records {
		want[dns.Key{Name: r.Name, Type: r.Type}]++
	}
	if diff := cmp.Diff(want, seen); diff != "" || len(want) < many {
		t.Errorf("sets (-want +got):\n%s", diff)
	}
	if n := w.calls("ListResourceRecordSets"); n != 3 {
		t.Errorf("%d calls, want 3 of 300 sets each", n)
	}
}

// A page can end between two sets of one name and type.
func TestAPositionTellsSetsOfOneNameApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 310 {
		w.as(t, &types.ResourceRecordSet{
			Name: awssdk.String("many." + zoneName), Type: types.RRTypeA, TTL: awssdk.Int64(60), Weight: awssdk.Int64(1),
			SetIdentifier:   awssdk.String(fmt.Sprintf("set %03d", i)),
			ResourceRecords: []types.ResourceRecord{{Value: awssdk.String("192.0.2.1")}},
		})
	}
	if got := w.name(t, "many."+zoneName); len(got) != 310 || !got[309].Routed {
		t.Errorf("%d sets, want 310 that are routed", len(got))
	}
}

func TestReadName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.change(t, create(cname("a", target), cname("b.a", target))...)
	for name, tt := range map[string]struct {
		name string
		want []dns.RecordSet
	}{
		"nothing":         {"absent." + zoneName, nil},
		"one set":         {"a." + zoneName, []dns.RecordSet{cname("a", target)}},
		"what is below":   {"b.a." + zoneName, []dns.RecordSet{cname("b.a", target)}},
		"a wildcard":      {"*.wild." + zoneName, []dns.RecordSet{cname("*.wild", target)}},
		"under that none": {"x.wild." + zoneName, nil},
		"several types, and values in an order and form of their own": {"text." + zoneName, []dns.RecordSet{
			{Key: dns.Key{Name: "text." + zoneName, Type: dns.A}, TTL: 300, Values: []string{"192.0.2.1", "192.0.2.2"}},
			{
				Key: dns.Key{Name: "text." + zoneName, Type: dns.TXT}, TTL: 60, Values: []string{"plain", "secondhalf"},
				Exact: []string{`"plain"`, `"second" "half"`},
			},
		}},
		"a value is compared like a name and kept to the letter": {"odd." + zoneName, []dns.RecordSet{{
			Key: dns.Key{Name: "odd." + zoneName, Type: dns.CNAME}, TTL: 77, Values: []string{"old.example.net"},
			Exact: []string{"Old.Example.NET."},
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			before := w.calls("ListResourceRecordSets")
			if diff := cmp.Diff(tt.want, w.name(t, tt.name)); diff != "" {
				t.Errorf("sets (-want +got):\n%s", diff)
			}
			if n := w.calls("ListResourceRecordSets") - before; n != 1 {
				t.Errorf("%d calls", n)
			}
		})
	}
	if _, err := w.ReadName(t.Context(), "ZABSENT", "a.example.com"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a name of no zone: %v, want NotFound", err)
	}
}

func TestWhatIsWrittenIsReadAgainAndDeleted(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]dns.RecordSet{
		"a CNAME":                         cname("shop", target),
		"a wildcard":                      cname("*.shop", target),
		"a name with an underscore":       cname("_x.shop", target),
		"an alias":                        alias("alias."+zoneName, dns.A),
		"an alias for IPv6":               alias("alias."+zoneName, dns.AAAA),
		"an alias at the top of the zone": alias(zoneName, dns.A),
		"a challenge":                     text("_cf-challenge", target),
		"a text with quotes and a slash":  text("quoted", `say "a\b"`),
		"a text of other letters":         text("letters", "grüße; 世界\n"),
		"a text of many strings":          text("long", strings.Repeat("0123456789", 80)),
		"a text as long as one string":    text("edge", strings.Repeat("x", 255)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.change(t, create(set)...)
			found := w.name(t, set.Name)
			var got []dns.RecordSet
			for _, s := range found {
				if s.Type == set.Type {
					got = append(got, s)
				}
			}
			if diff := cmp.Diff([]dns.RecordSet{set}, got); diff != "" {
				t.Fatalf("sets (-want +got):\n%s", diff)
			}
			w.change(t, remove(got...)...)
			if left := w.name(t, set.Name); len(left) != len(found)-1 {
				t.Errorf("left is %v", left)
			}
		})
	}
}

// A record that someone else wrote is replaced in one batch, which has to repeat it exactly.
func TestTakeover(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	theirs := append(w.name(t, "odd."+zoneName), w.name(t, "text."+zoneName)...)
	w.change(t, append(remove(theirs...), create(cname("odd", target), cname("text", target))...)...)
	for _, name := range []string{"odd", "text"} {
		if diff := cmp.Diff([]dns.RecordSet{cname(name, target)}, w.name(t, name+"."+zoneName)); diff != "" {
			t.Errorf("sets (-want +got):\n%s", diff)
		}
	}
}

func TestRoutedSets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as(t, &types.ResourceRecordSet{
		Name: awssdk.String("weighted." + zoneName), Type: types.RRTypeCname, TTL: awssdk.Int64(60), Weight: awssdk.Int64(1),
		SetIdentifier: awssdk.String("one"), ResourceRecords: []types.ResourceRecord{{Value: awssdk.String(target)}},
	})
	sets := w.name(t, "weighted."+zoneName)
	if len(sets) != 1 || !sets[0].Routed {
		t.Fatalf("sets %+v, want a routed one", sets)
	}
	before := w.calls("ChangeResourceRecordSets")
	_, err := w.Change(t.Context(), zoneID, remove(sets...))
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "weighted."+zoneName+" has a routing policy") {
		t.Errorf("error %v", err)
	}
	if w.calls("ChangeResourceRecordSets") != before {
		t.Error("a deletion was sent that can't be exact")
	}
}

func TestWhatCountsAsRouted(t *testing.T) {
	t.Parallel()
	const mark, aliasTo = "<AliasTarget><HostedZoneId>%s</HostedZoneId><DNSName>dmain.cloudfront.net.</DNSName><EvaluateTargetHealth>%s</EvaluateTargetHealth></AliasTarget>", "Z2FDTNDATAQYW2"
	for name, tt := range map[string]struct {
		xml  string
		want bool
	}{
		"an alias for CloudFront":              {fmt.Sprintf(mark, aliasTo, "false"), false},
		"an alias that evaluates health":       {fmt.Sprintf(mark, aliasTo, "true"), true},
		"an alias for something else":          {fmt.Sprintf(mark, "Z35SXDOTRQ7X7K", "false"), true},
		"a plain set":                          {"<TTL>60</TTL>", false},
		"a weight of zero":                     {"<Weight>0</Weight>", true},
		"a region":                             {"<Region>eu-west-1</Region>", true},
		"a place":                              {"<GeoLocation><CountryCode>DE</CountryCode></GeoLocation>", true},
		"a distance":                           {"<GeoProximityLocation><Bias>1</Bias></GeoProximityLocation>", true},
		"addresses of who asks":                {"<CidrRoutingConfig><CollectionId>c</CollectionId><LocationName>l</LocationName></CidrRoutingConfig>", true},
		"a failover":                           {"<Failover>PRIMARY</Failover>", true},
		"several answers":                      {"<MultiValueAnswer>false</MultiValueAnswer>", true},
		"a health check":                       {"<HealthCheckId>h</HealthCheckId>", true},
		"a traffic policy, which wrote it all": {"<TrafficPolicyInstanceId>t</TrafficPolicyInstanceId>", true},
		"an identifier":                        {"<SetIdentifier>s</SetIdentifier>", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sets, err := answering(t, `<ListResourceRecordSetsResponse><ResourceRecordSets><ResourceRecordSet><Name>shop.test.example.</Name><Type>A</Type>`+tt.xml+
				`</ResourceRecordSet></ResourceRecordSets><IsTruncated>false</IsTruncated></ListResourceRecordSetsResponse>`, http.StatusOK).
				ReadName(t.Context(), zoneID, "shop."+zoneName)
			if err != nil || len(sets) != 1 || sets[0].Routed != tt.want {
				t.Errorf("sets %+v, error %v, want routed %t", sets, err, tt.want)
			}
		})
	}
}

// answering is a Route 53 that says one thing.
func answering(t *testing.T, body string, status int) port.Zones {
	t.Helper()
	zones, _ := answeringDNS(t, &canned.Transport{Status: status, Body: body})
	return zones
}

func answeringDNS(t *testing.T, transport http.RoundTripper) (port.Zones, *route53.DNS) {
	t.Helper()
	d, _ := newDNS(t, awssdk.Config{
		BaseEndpoint: awssdk.String("http://route53.invalid"),
		Credentials:  credentials.NewStaticCredentialsProvider("AKIATEST", "secret", ""),
		HTTPClient:   &http.Client{Transport: transport},
	}, clock.RealClock{})
	return d.As(dns.Access{}), d
}

// No answer, and none of Route 53's, is never an empty zone.
func TestAnswersThatCanNotBeBelieved(t *testing.T) {
	t.Parallel()
	calls := map[string]func(port.Zones) error{
		"GetHostedZone":   func(z port.Zones) error { _, err := z.GetZone(t.Context(), zoneID); return err },
		"ListHostedZones": func(z port.Zones) error { _, _, err := z.ListZones(t.Context(), "m"); return err },
		"ListResourceRecordSets": func(z port.Zones) error {
			_, _, err := z.ListRecords(t.Context(), zoneID, "m A ")
			return err
		},
		"ListResourceRecordSets of a name":  func(z port.Zones) error { _, err := z.ReadName(t.Context(), zoneID, "m"); return err },
		"ListResourceRecordSets from start": func(z port.Zones) error { _, _, err := z.ListRecords(t.Context(), zoneID, ""); return err },
		"GetChange":                         func(z port.Zones) error { _, err := z.InSync(t.Context(), "", dns.Sent{ID: "C1"}); return err },
		"ChangeResourceRecordSets": func(z port.Zones) error {
			_, err := z.Change(t.Context(), zoneID, create(cname("a", target)))
			return err
		},
	}
	for name, body := range map[string]string{
		"nothing":                     "",
		"a page of a proxy":           "<html><body>Sign in</body></html>",
		"an empty document":           "<Response/>",
		"a part of one":               "<Response><ResourceRecordSets>",
		"a next page that is missing": "<Response><HostedZones/><ResourceRecordSets/><IsTruncated>true</IsTruncated></Response>",
		"the same page again": "<Response><HostedZones/><ResourceRecordSets/><IsTruncated>true</IsTruncated><NextMarker>m</NextMarker>" +
			"<NextRecordName>m</NextRecordName><NextRecordType>A</NextRecordType></Response>",
	} {
		for operation, call := range calls {
			if strings.HasSuffix(operation, "of a name") && strings.HasPrefix(name, "the same page") {
				continue // a page of a name has no type to start at
			}
			t.Run(operation+": "+name, func(t *testing.T) {
				t.Parallel()
				if err := call(answering(t, body, http.StatusOK)); !fault.Is(err, fault.Transient) {
					t.Errorf("error %v, want a transient one", err)
				}
			})
		}
	}
	if _, _, err := answering(t, "<Response><ResourceRecordSets/><IsTruncated>false</IsTruncated></Response>", http.StatusOK).
		ListRecords(t.Context(), zoneID, ""); !fault.Is(err, fault.Transient) {
		t.Errorf("a zone without any record: %v: it has at least those that make it a zone", err)
	}
}

func TestInSync(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ChangeSwitches(func(s *sim.Switches) { s.Route53SyncDelay = time.Minute })
	id, err := w.Change(t.Context(), zoneID, create(cname("a", target)))
	if err != nil || strings.Contains(id, "/") {
		t.Fatalf("change %q, error %v", id, err)
	}
	for _, want := range []bool{false, true} {
		if got, err := w.InSync(t.Context(), "", dns.Sent{ID: id}); err != nil || got != want {
			t.Errorf("in sync: %t, error %v, want %t", got, err, want)
		}
		w.Advance(time.Minute)
	}
	if _, err := w.InSync(t.Context(), "", dns.Sent{ID: "CABSENT"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("no such change: %v, want NotFound", err)
	}
}
