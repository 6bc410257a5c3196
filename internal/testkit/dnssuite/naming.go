package dnssuite

import (
	"errors"
	"slices"
	"strings"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// Which zone and which records a name gets.
var namingRows = []row{
	{"wildcards, underscores and names in punycode are published and deleted like others", namesOfAllKinds},
	{"the zone's own name leads to CloudFront, or the object is told why it can't", apex},
	{"a record of the type Alias is published, or the object is told why it can't be", aliases},
	{"of two zones of one name none is guessed", twins},
}

func namesOfAllKinds(r *rig) {
	var wants []dns.Record
	var sets []dns.RecordSet
	labels := []string{"*.wild", "_under.score", "xn--bcher-kva", "a.b.c.d"}
	if long := strings.Repeat("l", 63); r.Can.LongLabel == "" {
		labels = append(labels, long)
	} else {
		_, err := r.change(creates(r.cname(long).Set())...)
		r.refused(err, r.Can.LongLabel)
	}
	for _, labels := range labels {
		wants = append(wants, r.cname(labels))
		sets = append(sets, r.cname(labels).Set())
	}
	o := r.add(wants...)
	r.run(10 * time.Minute)
	r.wantState(o, dns.Published)
	r.wantSets("published", sets...)
	for _, w := range wants {
		if got := r.Answers(strings.Replace(w.Name, "*", "any", 1), w.Type); !slices.Equal(got, []string{target}) {
			r.t.Errorf("servers answer %v for %s", got, w.Name)
		}
	}
	r.wantNoChange("listed again", func() { r.look() })
	r.restart()
	r.wantNoChange("restarted", func() { r.look() })
	r.want(o)
	r.run(10 * time.Minute)
	r.wantState(o, "")
	r.wantSets("deleted")
}

func apex(r *rig) {
	records, err := dns.Wanted(r.Zone.Name, r.Zone, dns.Options{Target: target, TTL: ttl, IPv6: true})
	if r.Can.NoApex != "" {
		r.refused(err, r.Can.NoApex)
		return
	}
	r.must(err)
	before := r.sets()
	mail := r.set("", "MX", "10 mail.example.net")
	if r.Can.NoForeign == "" {
		r.Put(r.Zone.ID, mail)
		before = r.sets()
	}
	o := r.add(records...)
	r.run(10 * time.Minute)
	r.wantState(o, dns.Published)
	want := slices.Clone(before)
	for _, record := range records {
		want = append(want, show(record.Set()))
	}
	slices.Sort(want)
	r.wantLines("published", want)
	if got := r.Answers(r.Zone.Name, dns.A); len(got) == 0 {
		r.t.Error("servers show no address at the zone's own name")
	}
	if got := r.Answers(r.name("_cf-challenge"), dns.TXT); !slices.Equal(got, []string{target}) {
		r.t.Errorf("servers show %v at the name that CloudFront looks at", got)
	}
	r.wantNoChange("listed again", func() { r.look() })
	r.want(o)
	r.run(10 * time.Minute)
	r.wantState(o, "")
	r.wantLines("deleted", before)
}

// refused checks what a user is told.
func (r *rig) refused(err error, text string) {
	r.t.Helper()
	if err == nil {
		r.t.Fatalf("it is possible, and documented as impossible: %s", text)
	}
	if d := gocmp.Diff(text, err.Error()); d != "" {
		r.t.Errorf("what users are told (-documented +told):\n%s", d)
	}
	r.t.Log(text)
}

func aliases(r *rig) {
	records, err := dns.Wanted(r.name("a"), r.Zone, dns.Options{Target: target, TTL: ttl, IPv6: true, Type: dns.Alias})
	if r.Can.NoAlias != "" {
		r.refused(err, r.Can.NoAlias)
		return
	}
	r.must(err)
	o := r.publish("a")
	r.want(o, records...)
	r.run(10 * time.Minute)
	r.wantState(o, dns.Published)
	var sets []dns.RecordSet
	for _, record := range records {
		sets = append(sets, record.Set())
	}
	r.wantSets("a CNAME has become aliases", sets...)
	r.wantNoChange("listed again", func() { r.look() })
	r.want(o, r.cname("a"))
	r.run(10 * time.Minute)
	r.wantState(o, dns.Published)
	r.wantSets("aliases have become a CNAME", r.cname("a").Set())
}

func twins(r *rig) {
	zones, err := r.workers.List(r.t.Context(), r.Access)
	r.must(err)
	found, err := dns.Selector{}.Match(r.name("a"), zones)
	if r.Can.NoTwin != "" {
		r.t.Log(r.Can.NoTwin)
		if err != nil || found != r.Zone {
			r.t.Errorf("the zone of %s is %+v, error %v, want %+v", r.name("a"), found, err, r.Zone)
		}
		return
	}
	var mismatch *dns.MatchError
	if !errors.As(err, &mismatch) || mismatch.Mismatch != dns.Ambiguous {
		r.t.Fatalf("the zone of %s is %+v, error %v, want %s", r.name("a"), found, err, dns.Ambiguous)
	}
	for _, want := range []string{r.Zone.ID, r.Twin.ID, r.Zone.Name} {
		if !strings.Contains(err.Error(), want) {
			r.t.Errorf("the object is told %q, want %s in it", err, want)
		}
	}
	for _, z := range []dns.Zone{r.Zone, r.Twin} {
		if found, err := (dns.Selector{ID: z.ID}).Match(r.name("a"), zones); err != nil || found != z {
			r.t.Errorf("named by its id the zone is %+v, error %v, want %+v", found, err, z)
		}
	}
	in, out := r.publish("a"), r.cname("b")
	out.ZoneID = r.Twin.ID
	other := r.add(out)
	r.run(10 * time.Minute)
	r.wantState(in, dns.Published)
	r.wantState(other, dns.Published)
	r.wantSets("published", r.cname("a").Set())
	if d := gocmp.Diff(showAll([]dns.RecordSet{out.Set()}), r.all(r.Twin)); d != "" && r.IsNote == nil {
		r.t.Errorf("the twin (-want +got):\n%s", d)
	}
}
