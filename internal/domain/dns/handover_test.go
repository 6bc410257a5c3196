package dns_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// The object that hands a name over has its records until they are in the ledger of the other, whichever is older, and
// whichever third object wants the name. The order in which claims are told makes no difference.
func TestHandOver(t *testing.T) {
	const name = "a.example.com"
	ours, moved := cname(name, target), cname(name, "d2.cloudfront.net")
	holding := func(n int, want dns.Record, ledger ...dns.Entry) *dns.Claim {
		return &dns.Claim{Owner: owner(n), Since: born.Add(time.Duration(n) * time.Hour), Wants: []dns.Record{want}, Ledger: ledger}
	}
	inherits := func(c *dns.Claim) *dns.Claim {
		c.Inherits = []string{name}
		return c
	}
	giver := holding(2, ours, entry(ours, dns.Published))
	older := holding(1, ours)
	for what, tt := range map[string]struct {
		receiver *dns.Claim
		// giver, receiver and older are what each is told of its record.
		phases map[string]dns.Phase
		// handed is true when the giver is told that the record is the other's for good.
		handed bool
	}{
		"the receiver has nothing in its ledger yet": {
			inherits(holding(3, ours)), map[string]dns.Phase{"giver": dns.There, "receiver": dns.There, "older": dns.Occupied}, false,
		},
		"the receiver's record leads elsewhere": {
			inherits(holding(3, moved)), map[string]dns.Phase{"giver": dns.There, "receiver": dns.Blocked, "older": dns.Occupied}, false,
		},
		"the receiver is about to publish": {
			inherits(holding(3, ours, entry(ours, dns.Intended))), map[string]dns.Phase{"giver": dns.Occupied, "receiver": dns.There, "older": dns.Occupied}, true,
		},
		"the receiver has published": {
			inherits(holding(3, ours, entry(ours, dns.Published))), map[string]dns.Phase{"giver": dns.Occupied, "receiver": dns.There, "older": dns.Occupied}, true,
		},
		"nothing is handed over": {
			holding(3, ours), map[string]dns.Phase{"giver": dns.There, "receiver": dns.Occupied, "older": dns.Occupied}, false,
		},
	} {
		t.Run(what, func(t *testing.T) {
			claims := []*dns.Claim{giver, tt.receiver, older}
			for range 2 {
				for range claims {
					claims = append(claims[1:], claims[0])
					p := place(name, []dns.RecordSet{ours.Set()}, claims)
					got := map[string]dns.Phase{}
					for who, c := range map[string]*dns.Claim{"giver": giver, "receiver": tt.receiver, "older": older} {
						s := p.Judge(c, c.Wants[0])
						got[who] = s.Phase
						if who == "giver" && s.HandedOver != tt.handed {
							t.Errorf("handed over: %t, want %t", s.HandedOver, tt.handed)
						}
					}
					if d := cmp.Diff(tt.phases, got); d != "" {
						t.Errorf("(-want +got):\n%s", d)
					}
				}
				slices.Reverse(claims)
			}
		})
	}
}

// A record that is handed over comes into the one ledger without a takeover being allowed, and leaves the other at once.
func TestHandOverAdvances(t *testing.T) {
	const name = "a.example.com"
	r := cname(name, target)
	view := func(s dns.Standing) dns.View { return dns.View{Records: map[dns.Record]dns.Standing{r: s}} }
	for what, tt := range map[string]struct {
		ledger []dns.Entry
		view   dns.View
		policy dns.Policy
		want   []dns.Entry
	}{
		"it is there":       {nil, view(dns.Standing{Phase: dns.There}), dns.Policy{Inherits: []string{name}}, []dns.Entry{entry(r, dns.Intended)}},
		"another leads on":  {nil, view(dns.Standing{Phase: dns.Blocked}), dns.Policy{Inherits: []string{name}}, []dns.Entry{entry(r, dns.Intended)}},
		"another name's":    {nil, view(dns.Standing{Phase: dns.There}), dns.Policy{Inherits: []string{"b.example.com"}}, []dns.Entry{}},
		"the former ledger": {[]dns.Entry{entry(r, dns.Published)}, view(dns.Standing{Phase: dns.Occupied, HandedOver: true}), dns.Policy{}, []dns.Entry{}},
	} {
		t.Run(what, func(t *testing.T) {
			if d := cmp.Diff(tt.want, dns.Advance(tt.ledger, []dns.Record{r}, tt.view, tt.policy)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
