package aws_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	cftypes "github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	sdkroute53 "github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

const (
	testZone     = "ZTEST"
	privateZone  = "ZPRIVATE"
	homeEndpoint = "dhome.cloudfront.net"
)

func route53Client(sim *aws.Sim, key string, change ...func(*sdkroute53.Options)) *sdkroute53.Client {
	options := sdkroute53.Options{
		Region:       "eu-west-1",
		BaseEndpoint: sdk.String("http://sim.invalid"),
		Credentials:  credentials.NewStaticCredentialsProvider(key, "secret", ""),
		HTTPClient:   &http.Client{Transport: sim.Transport()},
		Retryer:      sdk.NopRetryer{},
	}
	for _, c := range change {
		c(&options)
	}
	return sdkroute53.New(options)
}

// newZoneSim starts a simulator with a public zone for test.example and a
// private one.
func newZoneSim(t *testing.T, change ...func(*aws.Options)) (*aws.Sim, *sdkroute53.Client) {
	t.Helper()
	world := seed()
	world.ConnectionGroups[0].RoutingEndpoint = homeEndpoint
	world.HostedZones = []aws.SeedHostedZone{
		{ID: testZone, Name: "test.example", Records: []aws.SeedRecord{
			{Name: "old.test.example", Type: "CNAME", Values: []string{"somewhere.invalid"}},
			{Name: "old-text.test.example", Type: "TXT", TTL: 60, Values: []string{`"one"`, `"two"`}},
			{Name: "old-alias.test.example", Type: "A", AliasTarget: homeEndpoint},
		}},
		{ID: privateZone, Name: "private.example", Private: true},
		{ID: "ZFOREIGN", Name: "foreign.example", Account: foreignAcct},
	}
	sim := newSim(t, append([]func(*aws.Options){func(o *aws.Options) { o.Seed = &world }}, change...)...)
	return sim, route53Client(sim, "AKIAHOME")
}

func recordOf(name string, kind types.RRType, values ...string) *types.ResourceRecordSet {
	set := &types.ResourceRecordSet{Name: &name, Type: kind, TTL: sdk.Int64(300)}
	for _, v := range values {
		set.ResourceRecords = append(set.ResourceRecords, types.ResourceRecord{Value: &v})
	}
	return set
}

func aliasOf(name string, kind types.RRType, target string) *types.ResourceRecordSet {
	return &types.ResourceRecordSet{Name: &name, Type: kind, AliasTarget: &types.AliasTarget{HostedZoneId: sdk.String("Z2FDTNDATAQYW2"), DNSName: &target}}
}

func create(set *types.ResourceRecordSet) types.Change {
	return types.Change{Action: "CREATE", ResourceRecordSet: set}
}
func upsert(set *types.ResourceRecordSet) types.Change {
	return types.Change{Action: "UPSERT", ResourceRecordSet: set}
}
func remove(set *types.ResourceRecordSet) types.Change {
	return types.Change{Action: "DELETE", ResourceRecordSet: set}
}

func changeZone(t *testing.T, c *sdkroute53.Client, zone string, changes ...types.Change) (*types.ChangeInfo, error) {
	t.Helper()
	out, err := c.ChangeResourceRecordSets(t.Context(), &sdkroute53.ChangeResourceRecordSetsInput{HostedZoneId: &zone, ChangeBatch: &types.ChangeBatch{Changes: append([]types.Change{}, changes...)}})
	if err != nil {
		return nil, err
	}
	return out.ChangeInfo, nil
}

func mustChange(t *testing.T, c *sdkroute53.Client, changes ...types.Change) *types.ChangeInfo {
	t.Helper()
	info, err := changeZone(t, c, testZone, changes...)
	if err != nil {
		t.Fatalf("changing records: %v", err)
	}
	return info
}

// records lists a zone as "TYPE name ttl values", without what every zone has.
func records(sim *aws.Sim, zone string) []string {
	state, _ := sim.HostedZone(zone)
	found := []string{}
	for _, r := range state.Records {
		if r.Type == "NS" || r.Type == "SOA" {
			continue
		}
		found = append(found, strings.TrimSpace(fmt.Sprintf("%s %s %d %s", r.Type, r.Name, r.TTL, strings.Join(append(r.Values, r.AliasTarget), " "))))
	}
	return found
}

var seededRecords = []string{
	"A old-alias.test.example 0 dhome.cloudfront.net",
	`TXT old-text.test.example 60 "one" "two"`,
	"CNAME old.test.example 300 somewhere.invalid",
}

func TestChangeRecords(t *testing.T) {
	textSet := recordOf("old-text.test.example.", "TXT", `"two"`, `"one"`)
	textSet.TTL = sdk.Int64(60)
	for name, tc := range map[string]struct {
		changes []types.Change
		want    []string // in addition to what is seeded
		without []string
	}{
		"records of the usual types": {
			changes: []types.Change{
				create(recordOf("a.test.example", "A", "192.0.2.1", "192.0.2.2")), create(recordOf("a.test.example", "AAAA", "2001:db8::1")),
				create(recordOf("Www.Test.Example.", "CNAME", homeEndpoint)), create(recordOf("mx.test.example", "MX", "10 mail.test.example.")),
			},
			want: []string{"A a.test.example 300 192.0.2.1 192.0.2.2", "AAAA a.test.example 300 2001:db8::1", "MX mx.test.example 300 10 mail.test.example.", "CNAME www.test.example 300 dhome.cloudfront.net"},
		},
		"an alias and its challenge, also at the apex": {
			changes: []types.Change{
				create(aliasOf("test.example", "A", homeEndpoint)), create(aliasOf("test.example", "AAAA", homeEndpoint+".")),
				create(recordOf("_cf-challenge.test.example", "TXT", `"`+homeEndpoint+`"`)),
			},
			want: []string{"A test.example 0 dhome.cloudfront.net", "AAAA test.example 0 dhome.cloudfront.net", `TXT _cf-challenge.test.example 300 "dhome.cloudfront.net"`},
		},
		"wildcards, escaped or not": {
			changes: []types.Change{create(recordOf("*.w.test.example", "CNAME", homeEndpoint)), create(recordOf(`\052.v.test.example`, "CNAME", homeEndpoint))},
			want:    []string{"CNAME *.v.test.example 300 dhome.cloudfront.net", "CNAME *.w.test.example 300 dhome.cloudfront.net"},
		},
		"an upsert of what is there and of what isn't": {
			changes: []types.Change{upsert(recordOf("old.test.example", "CNAME", "new.invalid")), upsert(recordOf("new.test.example", "A", "192.0.2.1"))},
			want:    []string{"A new.test.example 300 192.0.2.1", "CNAME old.test.example 300 new.invalid"},
			without: []string{"CNAME old.test.example 300 somewhere.invalid"},
		},
		"a delete names the values in any order": {
			changes: []types.Change{remove(textSet)},
			without: []string{`TXT old-text.test.example 60 "one" "two"`},
		},
		"a CNAME makes room for an alias in one batch": {
			changes: []types.Change{create(aliasOf("old.test.example", "A", homeEndpoint)), remove(recordOf("old.test.example", "CNAME", "somewhere.invalid"))},
			want:    []string{"A old.test.example 0 dhome.cloudfront.net"},
			without: []string{"CNAME old.test.example 300 somewhere.invalid"},
		},
		"a set is replaced by DELETE and CREATE": {
			changes: []types.Change{remove(recordOf("old.test.example", "CNAME", "somewhere.invalid")), create(recordOf("old.test.example", "CNAME", "x.invalid"))},
			want:    []string{"CNAME old.test.example 300 x.invalid"},
			without: []string{"CNAME old.test.example 300 somewhere.invalid"},
		},
		"weighted sets share a name": {
			changes: []types.Change{create(weighted("a", 1)), create(weighted("b", 2))},
			want:    []string{"A weighted.test.example 300 192.0.2.1", "A weighted.test.example 300 192.0.2.1"},
		},
		"texts of several strings, with quotes and escapes": {
			changes: []types.Change{create(recordOf("t.test.example", "TXT", `"a b" "c\"d"`, `"\344"`))},
			want:    []string{`TXT t.test.example 300 "a b" "c\"d" "\344"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			sim, c := newZoneSim(t)
			mustChange(t, c, tc.changes...)
			want := map[string]int{}
			for _, r := range append(append([]string{}, seededRecords...), tc.want...) {
				want[r]++
			}
			for _, r := range tc.without {
				delete(want, r)
			}
			got := map[string]int{}
			for _, r := range records(sim, testZone) {
				got[r]++
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
		})
	}
}

func weighted(identifier string, weight int64) *types.ResourceRecordSet {
	set := recordOf("weighted.test.example", "A", "192.0.2.1")
	set.SetIdentifier, set.Weight = &identifier, &weight
	return set
}

func TestRefusedBatches(t *testing.T) {
	fine := create(recordOf("fine.test.example", "A", "192.0.2.1"))
	healthy, ttl, zoned := aliasOf("x.test.example", "A", homeEndpoint), aliasOf("x.test.example", "A", homeEndpoint), aliasOf("x.test.example", "A", homeEndpoint)
	healthy.AliasTarget.EvaluateTargetHealth = true
	ttl.TTL = sdk.Int64(300)
	zoned.AliasTarget.HostedZoneId = sdk.String("Z35SXDOTRQ7X7K")
	timeless := recordOf("x.test.example", "A", "192.0.2.1")
	timeless.TTL = nil
	lone := recordOf("x.test.example", "A", "192.0.2.1")
	lone.SetIdentifier = sdk.String("one")
	var long, heavy []types.Change
	for i := range 334 {
		long = append(long, upsert(recordOf(fmt.Sprintf("r%d.test.example", i), "A", "192.0.2.1", "192.0.2.2")))
	}
	for i := range 70 {
		heavy = append(heavy, upsert(recordOf(fmt.Sprintf("r%d.test.example", i), "TXT", `"`+strings.Repeat("x", 228)+`"`)))
	}
	invalid, input := "InvalidChangeBatch", "InvalidInput"
	for name, tc := range map[string]struct {
		zone    string
		changes []types.Change
		code    string
		want    []string
	}{
		"nothing":                           {code: input, want: []string{"changeBatch.changes"}},
		"a CREATE of a set":                 {changes: []types.Change{create(recordOf("OLD.test.example", "CNAME", "x.invalid"))}, code: invalid, want: []string{"[Tried to create resource record set [name='old.test.example.', type='CNAME'] but it already exists]"}},
		"a DELETE of none":                  {changes: []types.Change{remove(recordOf("*.none.test.example", "CNAME", "x.invalid"))}, code: invalid, want: []string{`[Tried to delete resource record set [name='\052.none.test.example.', type='CNAME'] but it was not found]`}},
		"a DELETE of a value":               {changes: []types.Change{remove(recordOf("old.test.example", "CNAME", "x.invalid"))}, code: invalid, want: []string{"but the values provided do not match the current values"}},
		"a DELETE of a TTL":                 {changes: []types.Change{remove(recordOf("old-text.test.example", "TXT", `"one"`, `"two"`))}, code: invalid, want: []string{"but the values provided do not match"}},
		"a DELETE of part":                  {changes: []types.Change{remove(recordOf("old-text.test.example", "TXT", `"one"`))}, code: invalid, want: []string{"but the values provided do not match"}},
		"a DELETE of a target":              {changes: []types.Change{remove(aliasOf("old-alias.test.example", "A", "dother.cloudfront.net"))}, code: invalid, want: []string{"but the values provided do not match"}},
		"an alias by its value":             {changes: []types.Change{remove(recordOf("old-alias.test.example", "A", "192.0.2.1"))}, code: invalid, want: []string{"but the values provided do not match"}},
		"two DELETEs of a set":              {changes: []types.Change{remove(recordOf("old.test.example", "CNAME", "somewhere.invalid")), remove(recordOf("old.test.example.", "CNAME", "somewhere.invalid"))}, code: invalid, want: []string{"invalid set of changes for a resource record set 'CNAME old.test.example.'"}},
		"two UPSERTs of a set":              {changes: []types.Change{upsert(recordOf("n.test.example", "A", "192.0.2.1")), upsert(recordOf("n.test.example", "A", "192.0.2.2"))}, code: invalid, want: []string{"invalid set of changes"}},
		"a CNAME at the apex":               {changes: []types.Change{create(recordOf("test.example", "CNAME", "x.invalid"))}, code: invalid, want: []string{"RRSet of type CNAME with DNS name test.example. is not permitted at apex in zone test.example."}},
		"a CNAME next to a text":            {changes: []types.Change{create(recordOf("old-text.test.example", "CNAME", "x.invalid"))}, code: invalid, want: []string{"RRSet of type CNAME with DNS name old-text.test.example. is not permitted as it conflicts with other records with the same DNS name in zone test.example."}},
		"a text next to a CNAME":            {changes: []types.Change{create(recordOf("old.test.example", "TXT", `"x"`))}, code: invalid, want: []string{"RRSet of type TXT with DNS name old.test.example. is not permitted because a conflicting RRSet of type CNAME"}},
		"both in one batch":                 {changes: []types.Change{create(recordOf("n.test.example", "CNAME", "x.invalid")), create(recordOf("n.test.example", "A", "192.0.2.1"))}, code: invalid, want: []string{"of type CNAME with DNS name n.test.example. is not permitted", "of type A with DNS name n.test.example. is not permitted"}},
		"a name outside":                    {changes: []types.Change{create(recordOf("www.nottest.example", "A", "192.0.2.1"))}, code: invalid, want: []string{"RRSet with DNS name www.nottest.example. is not permitted in zone test.example."}},
		"a name with a space":               {changes: []types.Change{create(recordOf("a b.test.example", "A", "192.0.2.1"))}, code: invalid, want: []string{"FATAL problem", "a b.test.example"}},
		"an empty label":                    {changes: []types.Change{create(recordOf("a..test.example", "A", "192.0.2.1"))}, code: invalid, want: []string{"FATAL problem", "empty label"}},
		"a label too long":                  {changes: []types.Change{create(recordOf(strings.Repeat("a", 64)+".test.example", "A", "192.0.2.1"))}, code: invalid, want: []string{"FATAL problem", "64"}},
		"an alias elsewhere":                {changes: []types.Change{create(aliasOf("x.test.example", "A", "www.test.example"))}, code: invalid, want: []string{"the alias target name does not lie within the target zone"}},
		"an alias to a balancer":            {changes: []types.Change{create(zoned)}, code: invalid, want: []string{"zone Z35SXDOTRQ7X7K"}},
		"an alias of type TXT":              {changes: []types.Change{create(aliasOf("x.test.example", "TXT", homeEndpoint))}, code: invalid, want: []string{"that target was not found"}},
		"an alias with health":              {changes: []types.Change{create(healthy)}, code: invalid, want: []string{"EvaluateTargetHealth"}},
		"an alias with a TTL":               {changes: []types.Change{create(ttl)}, code: input, want: []string{"Expected exactly one of", "found more than one"}},
		"a private alias":                   {zone: privateZone, changes: []types.Change{create(aliasOf("x.private.example", "A", homeEndpoint))}, code: invalid, want: []string{"private"}},
		"no TTL":                            {changes: []types.Change{create(timeless)}, code: input, want: []string{"Missing field 'TTL' in Change with [Action=CREATE, Name=x.test.example, Type=A, SetIdentifier=null]"}},
		"no values":                         {changes: []types.Change{create(recordOf("x.test.example", "A"))}, code: input, want: []string{"Missing field 'ResourceRecords'"}},
		"an unknown type":                   {changes: []types.Change{create(recordOf("x.test.example", "ANAME", "x.invalid"))}, code: input, want: []string{"enum value set"}},
		"an identifier alone":               {changes: []types.Change{create(lone)}, code: input, want: []string{"SetIdentifier"}},
		"an address that's none":            {changes: []types.Change{create(recordOf("x.test.example", "A", "192.0.2.256"))}, code: invalid, want: []string{"not a valid IPv4 address", "192.0.2.256"}},
		"a 4 where a 6 belongs":             {changes: []types.Change{create(recordOf("x.test.example", "AAAA", "192.0.2.1"))}, code: invalid, want: []string{"not a valid IPv6 address"}},
		"two CNAMEs":                        {changes: []types.Change{create(recordOf("x.test.example", "CNAME", "a.invalid", "b.invalid"))}, code: invalid, want: []string{"only one is permitted"}},
		"one value twice":                   {changes: []types.Change{create(recordOf("x.test.example", "A", "192.0.2.1", "192.0.2.1"))}, code: invalid, want: []string{"Duplicate Resource Record: '192.0.2.1'"}},
		"a text without quotes":             {changes: []types.Change{create(recordOf("x.test.example", "TXT", "dhome.cloudfront.net"))}, code: invalid, want: []string{"enclosed in quotation marks"}},
		"a text that ends early":            {changes: []types.Change{create(recordOf("x.test.example", "TXT", `"dhome`))}, code: invalid, want: []string{"enclosed in quotation marks"}},
		"a string too long":                 {changes: []types.Change{create(recordOf("x.test.example", "TXT", `"`+strings.Repeat("x", 256)+`"`))}, code: invalid, want: []string{"too long"}},
		"a broken MX":                       {changes: []types.Change{create(recordOf("x.test.example", "MX", "mail"))}, code: invalid, want: []string{"not one of type MX"}},
		"the zone's own SOA":                {changes: []types.Change{remove(zoneOwn(t, "SOA"))}, code: invalid, want: []string{"exactly one SOA record"}},
		"the zone's own NS":                 {changes: []types.Change{remove(zoneOwn(t, "NS"))}, code: invalid, want: []string{"at least one NS record"}},
		"upserts of 668 records":            {changes: long, code: invalid, want: []string{"limit of 1000"}},
		"32,200 characters":                 {changes: heavy, code: invalid, want: []string{"limit of 32000"}},
		"a plain set next to weighted ones": {changes: []types.Change{create(weighted("a", 1)), create(recordOf("weighted.test.example", "A", "192.0.2.2"))}, code: invalid, want: []string{"cannot be created"}},
		"several at once": {changes: []types.Change{create(recordOf("old.test.example", "CNAME", "x.invalid")), remove(recordOf("none.test.example", "A", "192.0.2.1")), create(recordOf("elsewhere.invalid", "A", "192.0.2.1"))}, code: invalid,
			want: []string{"but it already exists, Tried to delete", "but it was not found, RRSet with DNS name elsewhere.invalid."}},
	} {
		for _, bare := range []bool{false, true} {
			t.Run(name+", bare "+strconv.FormatBool(bare), func(t *testing.T) {
				sim, c := newZoneSim(t)
				sim.ChangeSwitches(func(sw *aws.Switches) { sw.ChangeBatchMessages = bare })
				zone, changes := testZone, tc.changes
				if tc.zone != "" {
					zone = tc.zone
				} else if len(changes) > 0 {
					changes = append([]types.Change{fine}, changes...)
				}
				_, err := changeZone(t, c, zone, changes...)
				wantRefusal(t, err, 400, tc.code)
				text := err.Error()
				if listed, ok := errorAs[*types.InvalidChangeBatch](err); ok {
					if bare == (len(listed.Messages) == 0) {
						t.Errorf("messages %q", listed.Messages)
					}
					text = sdk.ToString(listed.Message)
					if bare {
						text = "[" + strings.Join(listed.Messages, ", ") + "]"
					}
				}
				for _, want := range tc.want {
					if !strings.Contains(text, want) {
						t.Errorf("%s\nlacks %s", text, want)
					}
				}
				if strings.Contains(text, "fine.") {
					t.Errorf("the change that is fine is blamed: %s", text)
				}
				if diff := cmp.Diff(seededRecords, records(sim, testZone)); diff != "" {
					t.Errorf("a refused batch changed records (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// zoneOwn is a record that a zone has from the start.
func zoneOwn(t *testing.T, kind string) *types.ResourceRecordSet {
	t.Helper()
	sim, _ := newZoneSim(t)
	state, _ := sim.HostedZone(testZone)
	for _, r := range state.Records {
		if r.Type == kind {
			set := recordOf(r.Name, types.RRType(kind), r.Values...)
			set.TTL = sdk.Int64(int64(r.TTL))
			return set
		}
	}
	t.Fatalf("the zone has no %s", kind)
	return nil
}

func TestLargestBatches(t *testing.T) {
	sim, c := newZoneSim(t)
	var changes []types.Change
	for i := range 500 {
		changes = append(changes, upsert(recordOf(fmt.Sprintf("u%d.test.example", i), "CNAME", homeEndpoint)))
	}
	mustChange(t, c, changes...)
	changes = nil
	for i := range 1000 {
		changes = append(changes, create(recordOf(fmt.Sprintf("c%d.test.example", i), "CNAME", homeEndpoint)))
	}
	mustChange(t, c, changes...)
	if got := len(records(sim, testZone)); got != 1503 {
		t.Errorf("%d records", got)
	}
	sim.SetQuotas(aws.Quotas{RecordsPerZone: 1505})
	_, err := changeZone(t, c, testZone, create(recordOf("x.test.example", "A", "192.0.2.1")))
	wantRefusal(t, err, 400, "InvalidChangeBatch")
	mustChange(t, c, create(recordOf("x.test.example", "A", "192.0.2.1")), remove(recordOf("c1.test.example", "CNAME", homeEndpoint)))
}

func TestChangesBecomePublic(t *testing.T) {
	sim, c := newZoneSim(t)
	sim.ChangeSwitches(func(sw *aws.Switches) { sw.Route53SyncDelay, sw.DNSPropagationDelay = 30*time.Second, 10*time.Second })
	status := func(id *string) types.ChangeStatus {
		t.Helper()
		out, err := c.GetChange(t.Context(), &sdkroute53.GetChangeInput{Id: id})
		if err != nil {
			t.Fatal(err)
		}
		return out.ChangeInfo.Status
	}
	public := func() bool { return sim.PublicRouting()["new.test.example"] == homeEndpoint }
	info := mustChange(t, c, create(recordOf("new.test.example", "CNAME", homeEndpoint)))
	if info.Status != "PENDING" || !strings.HasPrefix(*info.Id, "/change/C") || !info.SubmittedAt.Equal(startTime) {
		t.Errorf("the answer of a change: %+v", info)
	}
	listed := must[*sdkroute53.ListResourceRecordSetsOutput](t)(c.ListResourceRecordSets(t.Context(), &sdkroute53.ListResourceRecordSetsInput{HostedZoneId: sdk.String(testZone), StartRecordName: sdk.String("new.test.example"), MaxItems: sdk.Int32(1)}))
	if got := *listed.ResourceRecordSets[0].Name; got != "new.test.example." {
		t.Errorf("a PENDING record is not listed: %s", got)
	}
	steps := []struct {
		wait   time.Duration
		status types.ChangeStatus
		public bool
	}{{0, "PENDING", false}, {29 * time.Second, "PENDING", false}, {time.Second, "INSYNC", false}, {9 * time.Second, "INSYNC", false}, {time.Second, "INSYNC", true}}
	for _, step := range steps {
		sim.Advance(step.wait)
		if status(info.Id) != step.status || public() != step.public {
			t.Errorf("at %v: %s, public %v", sim.Now().Sub(startTime), status(info.Id), public())
		}
	}
	mustChange(t, c, remove(recordOf("new.test.example", "CNAME", homeEndpoint)))
	if sim.Advance(39 * time.Second); !public() {
		t.Error("what was removed is gone before resolvers know")
	}
	if sim.Advance(time.Second); public() {
		t.Error("what was removed is still public")
	}
	sim.ChangeSwitches(func(sw *aws.Switches) { sw.Route53NeverInSync = true })
	stuck := mustChange(t, c, create(recordOf("new.test.example", "CNAME", homeEndpoint)))
	if sim.Advance(24 * time.Hour); status(stuck.Id) != "PENDING" || public() {
		t.Error("a change became INSYNC that never should")
	}
	sim.ChangeSwitches(func(sw *aws.Switches) { sw.Route53NeverInSync = false })
	if status(stuck.Id) != "INSYNC" || !public() {
		t.Error("the change is still held back")
	}
	_, err := c.GetChange(t.Context(), &sdkroute53.GetChangeInput{Id: sdk.String("CNOBODY")})
	wantRefusal(t, err, 404, "NoSuchChange")
	_, err = route53Client(sim, foreignKey).GetChange(t.Context(), &sdkroute53.GetChangeInput{Id: info.Id})
	wantRefusal(t, err, 404, "NoSuchChange")
}

func TestOneChangeInFlight(t *testing.T) {
	sim, c := newZoneSim(t)
	sim.ChangeSwitches(func(sw *aws.Switches) { sw.Route53ProcessingDelay = time.Second })
	mustChange(t, c, create(recordOf("a.test.example", "A", "192.0.2.1")))
	_, err := changeZone(t, c, testZone, create(recordOf("b.test.example", "A", "192.0.2.1")))
	wantRefusal(t, err, 400, "PriorRequestNotComplete")
	if _, err := changeZone(t, c, privateZone, create(recordOf("b.private.example", "A", "192.0.2.1"))); err != nil {
		t.Errorf("another zone is held up: %v", err)
	}
	// The SDK counts it as throttling and retries automatically.
	patient := route53Client(sim, "AKIAHOME", func(o *sdkroute53.Options) {
		o.Retryer = retry.NewStandard(func(so *retry.StandardOptions) {
			so.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) {
				sim.Advance(time.Second)
				return 0, nil
			})
		})
	})
	if _, err := changeZone(t, patient, testZone, create(recordOf("b.test.example", "A", "192.0.2.1"))); err != nil {
		t.Errorf("the SDK did not wait for the prior request: %v", err)
	}
	if got := sim.Calls()["ChangeResourceRecordSets"].Errors["PriorRequestNotComplete"]; got != 2 {
		t.Errorf("%d refusals", got)
	}
}

func TestListRecords(t *testing.T) {
	_, c := newZoneSim(t)
	var changes []types.Change
	for i := range 320 {
		changes = append(changes, create(recordOf(fmt.Sprintf("r%03d.test.example", i), "CNAME", homeEndpoint)))
	}
	mustChange(t, c, append(changes, create(recordOf("*.test.example", "CNAME", homeEndpoint)), create(recordOf("x.r000.test.example", "A", "192.0.2.1")), create(recordOf("a.test.example", "A", "192.0.2.1")), create(recordOf("a.test.example", "TXT", `"x"`)), create(weighted("a", 1)), create(weighted("b", 2)))...)
	list := func(in sdkroute53.ListResourceRecordSetsInput) *sdkroute53.ListResourceRecordSetsOutput {
		t.Helper()
		in.HostedZoneId = sdk.String("/hostedzone/" + testZone)
		return must[*sdkroute53.ListResourceRecordSetsOutput](t)(c.ListResourceRecordSets(t.Context(), &in))
	}
	var in sdkroute53.ListResourceRecordSetsInput
	var all []string
	sizes := []int{}
	for {
		out := list(in)
		sizes = append(sizes, len(out.ResourceRecordSets))
		for _, set := range out.ResourceRecordSets {
			all = append(all, *set.Name+" "+string(set.Type)+" "+sdk.ToString(set.SetIdentifier))
		}
		if !out.IsTruncated {
			break
		}
		in = sdkroute53.ListResourceRecordSetsInput{StartRecordName: out.NextRecordName, StartRecordType: out.NextRecordType, StartRecordIdentifier: out.NextRecordIdentifier}
	}
	if diff := cmp.Diff([]int{300, 31}, sizes); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	wantFirst := []string{"test.example. NS ", "test.example. SOA ", `\052.test.example. CNAME `, "a.test.example. A ", "a.test.example. TXT ", "old-alias.test.example. A ", "old-text.test.example. TXT ", "old.test.example. CNAME ", "r000.test.example. CNAME ", "x.r000.test.example. A ", "r001.test.example. CNAME "}
	if diff := cmp.Diff(wantFirst, all[:len(wantFirst)]); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"r319.test.example. CNAME ", "weighted.test.example. A a", "weighted.test.example. A b"}, all[len(all)-3:]); diff != "" {
		t.Errorf("end (-want +got):\n%s", diff)
	}
	for name, tc := range map[string]struct {
		in   sdkroute53.ListResourceRecordSetsInput
		want string
	}{
		"a name that is there":            {sdkroute53.ListResourceRecordSetsInput{StartRecordName: sdk.String("r100.test.example.")}, "r100.test.example. CNAME "},
		"a name that isn't":               {sdkroute53.ListResourceRecordSetsInput{StartRecordName: sdk.String("r100a.test.example")}, "r101.test.example. CNAME "},
		"an asterisk":                     {sdkroute53.ListResourceRecordSetsInput{StartRecordName: sdk.String("*.test.example")}, `\052.test.example. CNAME `},
		"a name and a type":               {sdkroute53.ListResourceRecordSetsInput{StartRecordName: sdk.String("a.test.example"), StartRecordType: "AAAA"}, "a.test.example. TXT "},
		"a type after the last one":       {sdkroute53.ListResourceRecordSetsInput{StartRecordName: sdk.String("r000.test.example"), StartRecordType: "TXT"}, "x.r000.test.example. A "},
		"a name, a type, an identifier":   {sdkroute53.ListResourceRecordSetsInput{StartRecordName: sdk.String("weighted.test.example"), StartRecordType: "A", StartRecordIdentifier: sdk.String("aa")}, "weighted.test.example. A b"},
		"what is below a name comes next": {sdkroute53.ListResourceRecordSetsInput{StartRecordName: sdk.String("a.r000.test.example")}, "x.r000.test.example. A "},
	} {
		t.Run("start at "+name, func(t *testing.T) {
			tc.in.MaxItems = sdk.Int32(1)
			out := list(tc.in)
			set := out.ResourceRecordSets[0]
			if got := *set.Name + " " + string(set.Type) + " " + sdk.ToString(set.SetIdentifier); got != tc.want || len(out.ResourceRecordSets) != 1 {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
	_, err := c.ListResourceRecordSets(t.Context(), &sdkroute53.ListResourceRecordSetsInput{HostedZoneId: sdk.String(testZone), StartRecordType: "A"})
	wantRefusal(t, err, 400, "InvalidInput")
	set := list(sdkroute53.ListResourceRecordSetsInput{StartRecordName: sdk.String("old-alias.test.example"), MaxItems: sdk.Int32(1)}).ResourceRecordSets[0]
	if set.AliasTarget == nil || *set.AliasTarget.DNSName != homeEndpoint+"." || set.TTL != nil || set.ResourceRecords != nil {
		t.Errorf("alias: %+v", set)
	}
	if set := list(sdkroute53.ListResourceRecordSetsInput{StartRecordName: sdk.String("weighted.test.example"), MaxItems: sdk.Int32(1)}).ResourceRecordSets[0]; sdk.ToInt64(set.Weight) != 1 {
		t.Errorf("the weight is not kept: %+v", set)
	}
}

func TestHostedZones(t *testing.T) {
	sim, c := newZoneSim(t)
	ctx := t.Context()
	in := &sdkroute53.CreateHostedZoneInput{Name: sdk.String("New.Example."), CallerReference: sdk.String("ref"), HostedZoneConfig: &types.HostedZoneConfig{Comment: sdk.String("for a test")}}
	made := must[*sdkroute53.CreateHostedZoneOutput](t)(c.CreateHostedZone(ctx, in))
	if *made.HostedZone.Name != "new.example." || *made.HostedZone.ResourceRecordSetCount != 2 || len(made.DelegationSet.NameServers) != 4 || made.ChangeInfo == nil || !strings.HasSuffix(*made.Location, strings.TrimPrefix(*made.HostedZone.Id, "/hostedzone/")) {
		t.Errorf("created: %+v", made)
	}
	got := must[*sdkroute53.GetHostedZoneOutput](t)(c.GetHostedZone(ctx, &sdkroute53.GetHostedZoneInput{Id: made.HostedZone.Id}))
	if *got.HostedZone.Id != *made.HostedZone.Id || *got.HostedZone.Config.Comment != "for a test" || got.HostedZone.Config.PrivateZone {
		t.Errorf("read: %+v", got.HostedZone)
	}
	for name, tc := range map[string]struct {
		call   func() error
		status int
		code   string
	}{
		"the same reference again": {func() error { _, err := c.CreateHostedZone(ctx, in); return err }, 409, "HostedZoneAlreadyExists"},
		"a name that is none": {func() error {
			_, err := c.CreateHostedZone(ctx, &sdkroute53.CreateHostedZoneInput{Name: sdk.String("a..b"), CallerReference: sdk.String("x")})
			return err
		}, 400, "InvalidDomainName"},
		"a zone that does not exist": {func() error {
			_, err := c.GetHostedZone(ctx, &sdkroute53.GetHostedZoneInput{Id: sdk.String("ZNOBODY")})
			return err
		}, 404, "NoSuchHostedZone"},
		"a zone of another": {func() error {
			_, err := c.GetHostedZone(ctx, &sdkroute53.GetHostedZoneInput{Id: sdk.String("ZFOREIGN")})
			return err
		}, 403, "AccessDenied"},
		"records of another": {func() error {
			_, err := changeZone(t, c, "ZFOREIGN", create(recordOf("x.foreign.example", "A", "192.0.2.1")))
			return err
		}, 403, "AccessDenied"},
		"a zone with records": {func() error {
			_, err := c.DeleteHostedZone(ctx, &sdkroute53.DeleteHostedZoneInput{Id: sdk.String(testZone)})
			return err
		}, 400, "HostedZoneNotEmpty"},
		"a start without name": {func() error {
			_, err := c.ListHostedZonesByName(ctx, &sdkroute53.ListHostedZonesByNameInput{HostedZoneId: sdk.String(testZone)})
			return err
		}, 400, "InvalidInput"},
		"more than the quota": {func() error {
			sim.SetQuotas(aws.Quotas{HostedZones: 3})
			_, err := c.CreateHostedZone(ctx, &sdkroute53.CreateHostedZoneInput{Name: sdk.String("more.example"), CallerReference: sdk.String("more")})
			return err
		}, 400, "TooManyHostedZones"},
	} {
		t.Run(name, func(t *testing.T) { wantRefusal(t, tc.call(), tc.status, tc.code) })
	}
	if _, err := c.DeleteHostedZone(ctx, &sdkroute53.DeleteHostedZoneInput{Id: made.HostedZone.Id}); err != nil {
		t.Fatal(err)
	}
	if _, err := changeZone(t, c, privateZone, create(recordOf("private.example", "TXT", `"x"`))); err != nil {
		t.Fatal(err)
	}
	_, err := c.DeleteHostedZone(ctx, &sdkroute53.DeleteHostedZoneInput{Id: sdk.String(privateZone)})
	wantRefusal(t, err, 400, "HostedZoneNotEmpty") // also by a record at the apex
	_, err = c.GetHostedZone(ctx, &sdkroute53.GetHostedZoneInput{Id: made.HostedZone.Id})
	wantRefusal(t, err, 404, "NoSuchHostedZone")
	again := must[*sdkroute53.CreateHostedZoneOutput](t)(c.CreateHostedZone(ctx, in))
	if *again.HostedZone.Id == *made.HostedZone.Id {
		t.Error("a new zone has the id of a deleted one")
	}
}

func TestListZones(t *testing.T) {
	sim, c := newZoneSim(t)
	ctx := t.Context()
	if err := sim.Load(aws.Seed{HostedZones: []aws.SeedHostedZone{{ID: "ZSUB", Name: "sub.test.example"}, {ID: "ZAPP", Name: "app.example"}, {ID: "ZTWIN", Name: "test.example"}}}); err != nil {
		t.Fatal(err)
	}
	byName := func(in sdkroute53.ListHostedZonesByNameInput) (ids []string, out *sdkroute53.ListHostedZonesByNameOutput) {
		out = must[*sdkroute53.ListHostedZonesByNameOutput](t)(c.ListHostedZonesByName(ctx, &in))
		for _, z := range out.HostedZones {
			ids = append(ids, strings.TrimPrefix(*z.Id, "/hostedzone/"))
		}
		return ids, out
	}
	ids, _ := byName(sdkroute53.ListHostedZonesByNameInput{})
	if diff := cmp.Diff([]string{"ZAPP", privateZone, testZone, "ZTWIN", "ZSUB"}, ids); diff != "" {
		t.Errorf("by name (-want +got):\n%s", diff)
	}
	ids, out := byName(sdkroute53.ListHostedZonesByNameInput{DNSName: sdk.String("q.example"), MaxItems: sdk.Int32(1)})
	if diff := cmp.Diff([]string{testZone}, ids); diff != "" || !out.IsTruncated || *out.NextDNSName != "test.example." || *out.NextHostedZoneId != "ZTWIN" {
		t.Errorf("from a name that is not there: %s %+v", diff, out)
	}
	ids, _ = byName(sdkroute53.ListHostedZonesByNameInput{DNSName: out.NextDNSName, HostedZoneId: out.NextHostedZoneId})
	if diff := cmp.Diff([]string{"ZTWIN", "ZSUB"}, ids); diff != "" {
		t.Errorf("the next page (-want +got):\n%s", diff)
	}
	if ids, _ := byName(sdkroute53.ListHostedZonesByNameInput{DNSName: sdk.String("zz.zz")}); len(ids) != 0 {
		t.Errorf("after the last name: %v", ids)
	}
	var all []string
	pages := sdkroute53.NewListHostedZonesPaginator(c, &sdkroute53.ListHostedZonesInput{MaxItems: sdk.Int32(2)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, z := range page.HostedZones {
			all = append(all, strings.TrimPrefix(*z.Id, "/hostedzone/"))
		}
	}
	if diff := cmp.Diff([]string{testZone, privateZone, "ZSUB", "ZAPP", "ZTWIN"}, all); diff != "" {
		t.Errorf("all (-want +got):\n%s", diff)
	}
}

func TestRoute53Buckets(t *testing.T) {
	sim, c := newZoneSim(t)
	if err := sim.SetLimits(aws.Route53Limits()...); err != nil {
		t.Fatal(err)
	}
	throttled := func(action func() error) int {
		for n := 0; ; n++ {
			if err := action(); err != nil {
				wantRefusal(t, err, 400, "Throttling")
				return n
			}
		}
	}
	get := func() error {
		_, err := c.GetHostedZone(t.Context(), &sdkroute53.GetHostedZoneInput{Id: sdk.String(testZone)})
		return err
	}
	if got := throttled(get); got != 50 {
		t.Errorf("%d reads at once", got)
	}
	if _, err := changeZone(t, c, testZone, create(recordOf("x.test.example", "A", "192.0.2.1"))); err == nil {
		t.Error("the bucket all actions share is empty and a change passed")
	}
	if sim.Advance(time.Second); throttled(get) != 10 {
		t.Error("the buckets do not fill at ten a second")
	}
	if _, err := client(sim).GetDistributionTenant(t.Context(), &cloudfront.GetDistributionTenantInput{Identifier: sdk.String("nobody")}); refusalOf(err).Code != "EntityNotFound" {
		t.Errorf("the buckets of Route 53 stand in CloudFront's way: %v", err)
	}
	if _, err := route53Client(sim, foreignKey).GetHostedZone(t.Context(), &sdkroute53.GetHostedZoneInput{Id: sdk.String("ZFOREIGN")}); err != nil {
		t.Errorf("another account has buckets of its own: %v", err)
	}
	sim.Advance(time.Minute)
	batch := 0
	if got := throttled(func() error {
		var changes []types.Change
		for i := range 250 {
			changes = append(changes, upsert(recordOf(fmt.Sprintf("r%d.test.example", i), "A", "192.0.2.1")))
		}
		batch++
		_, err := changeZone(t, c, testZone, changes...)
		return err
	}); got != 3 {
		t.Errorf("%d batches of 250 upserts at once, the bucket has 1,500", got)
	}
	if got := sim.Calls()["ChangeResourceRecordSets"].Throttled; got != 2 {
		t.Errorf("%d throttled changes are counted", got)
	}
	sim.Advance(time.Second) // a hundred tokens
	var many []types.Change
	for i := range 51 {
		many = append(many, upsert(recordOf(fmt.Sprintf("s%d.test.example", i), "A", "192.0.2.1")))
	}
	_, err := changeZone(t, c, testZone, many...)
	wantRefusal(t, err, 400, "Throttling")
	if _, err := changeZone(t, c, testZone, many[1:]...); err != nil {
		t.Errorf("50 upserts draw 100 tokens: %v", err)
	}
	for _, use := range sim.LimitUses() {
		if use.Operation == aws.Route53Changes && (use.Taken != 1600 || use.Lowest != 0 || use.Refused != 2) {
			t.Errorf("use of the change throughput: %+v", use)
		}
	}
}

func TestZonesInFaultsAndJournal(t *testing.T) {
	sim, c := newZoneSim(t)
	for _, resource := range []string{testZone, "test.example", "a.test.example"} {
		if _, err := sim.AddFault(aws.Fault{Operation: "ChangeResourceRecordSets", Resource: resource}); err != nil {
			t.Fatal(err)
		}
		_, err := changeZone(t, c, testZone, create(recordOf("a.test.example", "A", "192.0.2.1")))
		wantRefusal(t, err, 503, "ServiceUnavailable")
	}
	if _, err := sim.AddFault(aws.Fault{Resource: "b.test.example"}); err != nil {
		t.Fatal(err)
	}
	mustChange(t, c, create(recordOf("A.test.example.", "A", "192.0.2.1")))
	journal := sim.Journal()
	last := journal[len(journal)-1]
	want := aws.Entry{ID: testZone, Name: "test.example", Records: []string{"CREATE A a.test.example"}, Committed: true}
	if diff := cmp.Diff(want, aws.Entry{ID: last.ID, Name: last.Name, Records: last.Records, Committed: last.Committed}); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
}

// TestOwnershipFollowsZones creates a tenant too early and again when its record
// is public.
func TestOwnershipFollowsZones(t *testing.T) {
	for name, tc := range map[string]struct {
		records []types.Change
		ok      bool
	}{
		"no record":                      {},
		"a CNAME to the endpoint":        {[]types.Change{create(recordOf("shop.test.example", "CNAME", homeEndpoint))}, true},
		"a CNAME to an unknown endpoint": {[]types.Change{create(recordOf("shop.test.example", "CNAME", "dnobody.cloudfront.net"))}, false},
		"a CNAME elsewhere":              {[]types.Change{create(recordOf("shop.test.example", "CNAME", "old.test.example"))}, false},
		"a wildcard":                     {[]types.Change{create(recordOf("*.test.example", "CNAME", homeEndpoint))}, true},
		"an alias":                       {[]types.Change{create(aliasOf("shop.test.example", "A", homeEndpoint))}, false},
		"an alias and its challenge":     {[]types.Change{create(aliasOf("shop.test.example", "A", homeEndpoint)), create(recordOf("_cf-challenge.shop.test.example", "TXT", `"`+homeEndpoint+`"`))}, true},
	} {
		t.Run(name, func(t *testing.T) {
			sim, c := newZoneSim(t)
			sim.ChangeSwitches(func(sw *aws.Switches) { sw.Route53SyncDelay, sw.DNSPropagationDelay = time.Minute, time.Minute })
			if tc.records != nil {
				mustChange(t, c, tc.records...)
			}
			in := tenantInput("shop", func(in *createInput) {
				in.Domains = domains("shop.test.example")
				in.ConnectionGroupId = sdk.String(homeGroup)
				in.ManagedCertificateRequest = &cftypes.ManagedCertificateRequest{ValidationTokenHost: "cloudfront"}
			})
			sim.Advance(119 * time.Second)
			_, err := client(sim).CreateDistributionTenant(t.Context(), in)
			wantRefusal(t, err, 400, "InvalidArgument")
			sim.Advance(time.Second)
			if _, err = client(sim).CreateDistributionTenant(t.Context(), in); (err == nil) != tc.ok {
				t.Errorf("when the records are public: %v", err)
			}
		})
	}
}

// TestWatch makes sure that nothing happens to the world unseen.
func TestWatch(t *testing.T) {
	var seen []string
	sim, c := newZoneSim(t, func(o *aws.Options) {
		o.Watch = func(v aws.View) {
			_, published := v.PublicRouting()["new.test.example"]
			_, held := v.Domains()["acme.example.com"]
			seen = append(seen, fmt.Sprintf("%s after %v published %v held %v", v.Operation, v.After, published, held))
		}
	})
	mustCreate(t, sim, "acme")
	mustChange(t, c, create(recordOf("new.test.example", "CNAME", homeEndpoint)))
	if _, err := changeZone(t, c, testZone, create(recordOf("new.test.example", "CNAME", homeEndpoint))); err == nil {
		t.Fatal("created twice")
	}
	sim.Advance(time.Second)
	want := []string{
		"CreateDistributionTenant after false published false held false", "CreateDistributionTenant after true published false held true",
		"ChangeResourceRecordSets after false published false held true", "ChangeResourceRecordSets after true published true held true",
		"ChangeResourceRecordSets after false published true held true",
		" after true published true held true",
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
}

func TestPublicRecords(t *testing.T) {
	sim, c := newZoneSim(t)
	sim.ChangeSwitches(func(sw *aws.Switches) { sw.Route53SyncDelay = time.Minute })
	mustChange(t, c, upsert(recordOf("old.test.example", "CNAME", homeEndpoint)))
	value := func() string {
		for _, r := range sim.PublicRecords(testZone) {
			if r.Name == "old.test.example" {
				return r.Values[0]
			}
		}
		return ""
	}
	if got := value(); got != "somewhere.invalid" {
		t.Errorf("resolvers see %s before the change is INSYNC", got)
	}
	if sim.Advance(time.Minute); value() != homeEndpoint {
		t.Errorf("resolvers see %s", value())
	}
	if got := sim.PublicRecords(privateZone); len(got) != 0 {
		t.Errorf("a private zone is public: %v", got)
	}
	want := map[string]string{"old.test.example": homeEndpoint, "old-alias.test.example": homeEndpoint}
	if diff := cmp.Diff(want, sim.PublicRouting()); diff != "" {
		t.Errorf("routing, aliases without a challenge too (-want +got):\n%s", diff)
	}
}

func TestRefusedZoneSeeds(t *testing.T) {
	for name, tc := range map[string]struct {
		yaml string
		want []string
	}{
		"a name":              {`[{name: "a..b"}]`, []string{"hostedZones[0].name", "a..b"}},
		"an id":               {`[{name: a.example, id: zone}]`, []string{"hostedZones[0].id", "zone"}},
		"an id twice":         {`[{name: a.example, id: ZA}, {name: b.example, id: ZA}]`, []string{"hostedZones[1].id"}},
		"a type":              {`[{name: a.example, records: [{name: a.example, type: ANAME, values: [x]}]}]`, []string{"hostedZones[0].records[0]", "type"}},
		"no value":            {`[{name: a.example, records: [{name: a.example, type: A}]}]`, []string{"hostedZones[0].records[0]", "values or an aliasTarget"}},
		"a CNAME at the top":  {`[{name: a.example, records: [{name: a.example, type: CNAME, values: [b.example]}]}]`, []string{"hostedZones[0].records[0]", "apex"}},
		"a record outside":    {`[{name: a.example, records: [{name: x.b.example, type: A, values: [192.0.2.1]}]}]`, []string{"records[0]", "not permitted in zone a.example."}},
		"a record twice":      {`[{name: a.example, records: [{name: x.a.example, type: A, values: [192.0.2.1]}, {name: x.a.example, type: A, values: [192.0.2.2]}]}]`, []string{"records[1]", "already exists"}},
		"a CNAME next to one": {`[{name: a.example, records: [{name: x.a.example, type: A, values: [192.0.2.1]}, {name: x.a.example, type: CNAME, values: [b.example]}]}]`, []string{"hostedZones[0].records", "CNAME"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := aws.ParseSeed("test.yaml", []byte("hostedZones: "+tc.yaml))
			if err == nil {
				t.Fatal("it was accepted")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v: lacks %q", err, want)
				}
			}
		})
	}
}

// TestMoveProvenByZone moves a domain between accounts, with the proof in a zone.
func TestMoveProvenByZone(t *testing.T) {
	for name, tc := range map[string]struct {
		value string
		ok    bool
	}{
		"the target's endpoint": {homeEndpoint, true},
		"another endpoint":      {"dother.cloudfront.net", false},
	} {
		t.Run(name, func(t *testing.T) {
			world := seed()
			world.ConnectionGroups[0].RoutingEndpoint = homeEndpoint
			world.Tenants[0].Enabled = new(false)
			world.HostedZones = []aws.SeedHostedZone{{Name: "example.com", Records: []aws.SeedRecord{
				{Name: "_taken.example.com", Type: "TXT", Values: []string{`"` + tc.value + `"`}},
			}}}
			sim := newSim(t, func(o *aws.Options) { o.Seed = &world })
			target, _ := mustCreate(t, sim, "target", func(in *createInput) { in.ConnectionGroupId = sdk.String(homeGroup) })
			_, err := client(sim).UpdateDomainAssociation(t.Context(), &cloudfront.UpdateDomainAssociationInput{
				Domain: sdk.String("taken.example.com"), TargetResource: &cftypes.DistributionResourceId{DistributionTenantId: target.Id},
			})
			if tc.ok && err != nil {
				t.Errorf("the proof is there: %v", err)
			}
			if !tc.ok {
				wantRefusal(t, err, 400, "InvalidArgument")
			}
		})
	}
}

// TestRoute53Control has a script set the documented rates and look at zones.
func TestRoute53Control(t *testing.T) {
	sim, c := newZoneSim(t)
	if got := ask[[]aws.Limit](t, sim, "POST", "limits", `"route53"`); len(got) != 10 {
		t.Errorf("limits: %+v", got)
	}
	mustChange(t, c, upsert(recordOf("www.test.example", "CNAME", homeEndpoint)))
	want := []aws.LimitUse{
		{Limit: aws.Limit{Operation: aws.Route53Actions, Rate: 10, Burst: 50}, Account: aws.DefaultAccount, Taken: 1, Lowest: 49},
		{Limit: aws.Limit{Operation: aws.Route53Changes, Rate: 100, Burst: 1500}, Account: aws.DefaultAccount, Taken: 2, Lowest: 1498},
		{Limit: aws.Limit{Operation: "ChangeResourceRecordSets", Rate: 10, Burst: 50}, Account: aws.DefaultAccount, Taken: 1, Lowest: 49},
	}
	if diff := cmp.Diff(want, ask[[]aws.LimitUse](t, sim, "GET", "limit-uses", "")); diff != "" {
		t.Errorf("uses (-want +got):\n%s", diff)
	}
	if got := ask[map[string]string](t, sim, "GET", "routing", "")["www.test.example"]; got != homeEndpoint {
		t.Errorf("the record leads to %q", got)
	}
	state := ask[aws.State](t, sim, "GET", "state?account="+aws.DefaultAccount, "")
	if got := state.Accounts[0].HostedZones; len(got) != 2 || got[0].Name != "test.example" || !got[1].Private {
		t.Errorf("zones: %+v", got)
	}
	ask[any](t, sim, "POST", "switches", `{"route53SyncDelay":"1m"}`)
	if info := mustChange(t, c, remove(recordOf("www.test.example", "CNAME", homeEndpoint))); info.Status != "PENDING" {
		t.Errorf("the switch is without effect: %+v", info)
	}
}
