package proof_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const shop = "shop.example.com"

func TestTheReasonIsThatOfTheContract(t *testing.T) {
	if proof.ReasonDomainNotProven != v1alpha1.ReasonDomainNotProven {
		t.Errorf("the domain says %s, the API %s", proof.ReasonDomainNotProven, v1alpha1.ReasonDomainNotProven)
	}
}

// A record is the same for ever: customers have created it. It is another one for each cluster, namespace and domain.
func TestRecord(t *testing.T) {
	want := proof.Record{Name: "_cloudfront-tenant-operator.shop.example.com", Value: "cloudfront-tenant-operator=5zgyuqbor4fiiy4jn7umzlzqiwtk5js5"}
	got := proof.For("main", "team", shop)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if wildcard := proof.For("main", "team", "*."+shop); wildcard != got {
		t.Errorf("the wildcard has %v, its parent %v", wildcard, got)
	}
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.StringMatching(`[a-z][a-z0-9.-]{0,8}`)
		a := []string{part.Draw(t, "cluster"), part.Draw(t, "namespace"), part.Draw(t, "domain")}
		b := []string{part.Draw(t, "cluster"), part.Draw(t, "namespace"), part.Draw(t, "domain")}
		if one, two := proof.For(a[0], a[1], a[2]), proof.For(b[0], b[1], b[2]); (one == two) != slices.Equal(a, b) {
			t.Fatalf("%q has %v, and %q has %v", a, one, b, two)
		}
	})
}

func TestEntries(t *testing.T) {
	mine := proof.For("main", "team", shop)
	entry := func(found bool) proof.Entry { return proof.Entry{Domain: shop, Record: mine, Found: found} }
	for name, test := range map[string]struct {
		change func(*proof.Case)
		want   []proof.Entry
	}{
		"a domain that is demanded has to be proven": {func(*proof.Case) {}, []proof.Entry{entry(false)}},
		"one that is not demanded needs no record":   {func(c *proof.Case) { c.Demanded = nil }, nil},
		"a record that is shown proves it":           {func(c *proof.Case) { c.Sights = map[string]proof.Sight{shop: proof.Shown} }, []proof.Entry{entry(true)}},
		"one that only some servers show does not":   {func(c *proof.Case) { c.Sights = map[string]proof.Sight{shop: proof.Partly} }, []proof.Entry{entry(false)}},
		"what the tenant has counts as proven":       {func(c *proof.Case) { c.Has = []string{shop} }, []proof.Entry{entry(true)}},
		"a proof is remembered when its record goes": {func(c *proof.Case) { c.Before = []proof.Entry{entry(true)} }, []proof.Entry{entry(true)}},
		"and while it is not demanded":               {func(c *proof.Case) { c.Before, c.Demanded = []proof.Entry{entry(true)}, nil }, []proof.Entry{entry(true)}},
		"it is forgotten when the spec drops it":     {func(c *proof.Case) { c.Before, c.Wanted, c.Demanded = []proof.Entry{entry(true)}, nil, nil }, nil},
		"the proof of another namespace proves nothing": {func(c *proof.Case) {
			c.Before = []proof.Entry{{Domain: shop, Record: proof.For("main", "other", shop), Found: true}}
		}, []proof.Entry{entry(false)}},
	} {
		t.Run(name, func(t *testing.T) {
			c := proof.Case{Cluster: "main", Namespace: "team", Wanted: []string{shop}, Demanded: []string{shop}}
			test.change(&c)
			if d := cmp.Diff(test.want, c.Entries()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// A record is looked for at once, then soon, then every ten minutes; at once again for another generation.
func TestWhenARecordIsLookedFor(t *testing.T) {
	var a proof.Asked
	at, looks := now, []time.Duration{}
	for at.Sub(now) < time.Hour {
		if due := a.DueIn(1, at); due > 0 {
			at = at.Add(due)
			continue
		}
		looks = append(looks, at.Sub(now))
		a = a.Saw(1, at, nil)
	}
	if len(looks) > 15 || looks[0] != 0 || looks[1] > 10*time.Second {
		t.Errorf("it is looked for at %v", looks)
	}
	for n := 1; n < len(looks); n++ {
		if looks[n]-looks[n-1] > 10*time.Minute {
			t.Errorf("it is looked for at %v", looks)
		}
	}
	if due := a.DueIn(2, at); due > 0 {
		t.Errorf("for another generation it is due in %s", due)
	}
	if a = a.Saw(2, at, nil); a.DueIn(2, at) > 10*time.Second {
		t.Errorf("after the first look for another generation it is due in %s", a.DueIn(2, at))
	}
}

// The message has all that is needed to create the record, and what is wrong with the one that is there.
func TestProblem(t *testing.T) {
	record := proof.For("main", "team", shop)
	one := []proof.Entry{{Domain: shop, Record: record}}
	for sight, says := range map[proof.Sight]string{
		"":            record.Value + `".`,
		proof.Missing: "There is no such record yet.",
		proof.Other:   "The record there has another value.",
		proof.Partly:  "Not all DNS servers return it yet.",
		proof.Silent:  "The DNS servers do not answer.",
		proof.TooFew:  "an administrator has to set --dns-resolvers.",
	} {
		p := proof.Problem(one, map[string]proof.Sight{shop: sight})
		if !strings.HasSuffix(p.Message, says) || !strings.Contains(p.Message, "TXT record "+record.Name+" with the value \""+record.Value) {
			t.Errorf("%q: %s", sight, p.Message)
		}
	}
	var many []proof.Entry
	for n := range 100 {
		domain := fmt.Sprintf("%s%d.example.com", strings.Repeat("long", 40), n)
		many = append(many, proof.Entry{Domain: domain, Record: proof.For("main", "team", domain)})
	}
	if p := proof.Problem(many, nil); len(p.Message) > 1024 || !strings.Contains(p.Message, "status.domains") {
		t.Errorf("%d characters: %s", len(p.Message), p.Message)
	}
}
