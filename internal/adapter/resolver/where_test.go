package resolver_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/resolver"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
)

const (
	shop = "shop.example.com. "
	text = "_cf-challenge." + shop + "TXT "
)

// chain is a chain of CNAMEs from the shop to the end.
func chain(hops int, end string) (out []string) {
	from := shop
	for n := range hops - 1 {
		to := fmt.Sprintf("n%d.example.net. ", n)
		out, from = append(out, from+"CNAME "+to), to
	}
	return append(out, from+"CNAME "+end)
}

func TestWhere(t *testing.T) {
	t.Parallel()
	type sight = onboarding.Sight
	for name, tt := range map[string]struct {
		records []string
		want    sight
		// questions are those that a resolver is asked, if they matter.
		questions int
	}{
		"no such name":                      {nil, sight{Way: onboarding.Nowhere}, 1},
		"a name without an address":         {[]string{shop + `TXT "hello"`}, sight{Way: onboarding.Nowhere}, 2},
		"a CNAME to the target":             {[]string{shop + "CNAME DMain.cloudfront.net."}, sight{Way: onboarding.Here}, 1},
		"a CNAME to the second target":      {[]string{shop + "CNAME cname.shop.example."}, sight{Way: onboarding.Here}, 1},
		"a target whose own target is gone": {[]string{shop + "CNAME cname.shop.example.", "cname.shop.example. CNAME gone.cloudfront.net."}, sight{Way: onboarding.Here}, 1},
		"a chain through a target to another place": {
			append(chain(3, "cname.shop.example."), "cname.shop.example. CNAME old.example.net.", "old.example.net. A 192.0.2.1"), sight{Way: onboarding.Here}, 0,
		},
		"another name":                           {[]string{shop + "CNAME Old.example.net.", "old.example.net. A 192.0.2.1"}, sight{Way: onboarding.Elsewhere, Seen: []string{"old.example.net"}}, 3},
		"another name that does not exist":       {[]string{shop + "CNAME old.example.net."}, sight{Way: onboarding.Elsewhere, Seen: []string{"old.example.net"}}, 1},
		"the first of several names is shown":    {append(chain(3, "old.example.net."), "old.example.net. A 192.0.2.1"), sight{Way: onboarding.Elsewhere, Seen: []string{"n0.example.net"}}, 0},
		"another endpoint of CloudFront":         {[]string{shop + "CNAME dother.cloudfront.net.", "dother.cloudfront.net. A 192.0.2.1"}, sight{Way: onboarding.Edge, Seen: []string{"dother.cloudfront.net"}}, 1},
		"another endpoint behind a name":         {append(chain(2, "dother.cloudfront.net."), "dother.cloudfront.net. A 192.0.2.1"), sight{Way: onboarding.Edge, Seen: []string{"dother.cloudfront.net"}}, 0},
		"a name that only looks like CloudFront": {[]string{shop + "CNAME cloudfront.net.example.com."}, sight{Way: onboarding.Elsewhere, Seen: []string{"cloudfront.net.example.com"}}, 0},
		"addresses":                              {[]string{shop + "A 192.0.2.2", shop + "A 192.0.2.1"}, sight{Way: onboarding.Elsewhere, Seen: []string{"192.0.2.1", "192.0.2.2"}}, 2},
		"addresses of IPv6 only":                 {[]string{shop + "AAAA 2001:db8::1"}, sight{Way: onboarding.Elsewhere, Seen: []string{"2001:db8::1"}}, 3},
		"more addresses than are shown":          {[]string{shop + "A 192.0.2.5", shop + "A 192.0.2.4", shop + "A 192.0.2.3", shop + "A 192.0.2.2", shop + "A 192.0.2.1"}, sight{Way: onboarding.Elsewhere, Seen: []string{"192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"}}, 2},
		"an alias":                               {[]string{shop + "A 192.0.2.1", text + `"dmain.cloudfront.net"`}, sight{Way: onboarding.Here}, 2},
		"an alias of IPv6 only":                  {[]string{shop + "AAAA 2001:db8::1", text + `"dmain.cloudfront.net"`}, sight{Way: onboarding.Here}, 3},
		"an alias of another endpoint":           {[]string{shop + "A 192.0.2.1", text + `"DOther.cloudfront.net."`}, sight{Way: onboarding.Edge, Seen: []string{"dother.cloudfront.net"}}, 2},
		"a challenge that names something else":  {[]string{shop + "A 192.0.2.1", text + `"hello"`}, sight{Way: onboarding.Elsewhere, Seen: []string{"192.0.2.1"}}, 2},
		"a challenge without an address":         {[]string{text + `"dmain.cloudfront.net"`}, sight{Way: onboarding.Nowhere}, 1},
		"an alias behind a name":                 {[]string{shop + "CNAME in.example.net.", "in.example.net. A 192.0.2.1", `_cf-challenge.in.example.net. TXT "dmain.cloudfront.net"`}, sight{Way: onboarding.Here}, 0},
		"a circle":                               {[]string{shop + "CNAME a.example.net.", "a.example.net. CNAME b.example.net.", "b.example.net. CNAME a.example.net."}, sight{Way: onboarding.Circle, Seen: []string{"a.example.net"}}, 0},
		"a name that leads to itself":            {[]string{shop + "CNAME " + shop}, sight{Way: onboarding.Circle, Seen: []string{"shop.example.com"}}, 1},
		"eight CNAMEs":                           {chain(8, target+"."), sight{Way: onboarding.Here}, 0},
		"nine CNAMEs":                            {chain(9, target+"."), sight{Way: onboarding.Circle, Seen: []string{"n0.example.net"}}, 0},
		"a CNAME to the root":                    {[]string{shop + "CNAME ."}, sight{Way: onboarding.Nowhere}, 1},
		"characters that a terminal obeys":       {[]string{shop + "A 192.0.2.1", text + `"a\027[2J\010b.cloudfront.net"`}, sight{Way: onboarding.Edge, Seen: []string{"a[2j b.cloudfront.net"}}, 2},
		"a text without end":                     {[]string{shop + "A 192.0.2.1", text + strings.Repeat(`"`+strings.Repeat("a", 200)+`" `, 3) + `".cloudfront.net"`}, sight{Way: onboarding.Edge, Seen: []string{strings.Repeat("a", 250) + "…"}}, 2},
	} {
		for how, chases := range map[string]bool{"by a resolver": true, "by a server of zones": false} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				var asked atomic.Int32
				r := newResolver(t, serve(t, zone(t, chases, tt.records...))).Counting(func(result resolver.Result) {
					if result != resolver.Answered {
						t.Errorf("a question is %s", result)
					}
					asked.Add(1)
				})
				got := r.Where(t.Context(), "Shop.example.com.", []string{target, "CName.shop.example."})
				if d := cmp.Diff(tt.want, got); d != "" {
					t.Errorf("-want +got\n%s", d)
				}
				if n := int(asked.Load()); chases && tt.questions > 0 && n != tt.questions {
					t.Errorf("%d questions, want %d", n, tt.questions)
				}
			})
		}
	}
}

func TestWhereSpecialNamesLead(t *testing.T) {
	t.Parallel()
	for name, records := range map[string][]string{
		// A wildcard is a name like others: it is asked about as it is written.
		"*.example.com": {"*.example.com. CNAME dmain.cloudfront.net."},
		// The challenge of a name may be kept elsewhere.
		"shop.example.com": {shop + "A 192.0.2.1", "_cf-challenge." + shop + "CNAME texts.example.net.", `texts.example.net. TXT "dmain.cloudfront.net"`},
	} {
		r := newResolver(t, serve(t, zone(t, true, records...)))
		if got := r.Where(t.Context(), name, []string{target}); got.Way != onboarding.Here {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestWhereServersDiffer(t *testing.T) {
	t.Parallel()
	has := zone(t, true, shop+"CNAME dmain.cloudfront.net.")
	there, too, absent := serve(t, has), serve(t, has), serve(t, zone(t, true))
	older := serve(t, zone(t, true, shop+"CNAME old.example.net.", "old.example.net. A 192.0.2.1"))
	broken, refusing := serve(t, failing(dns.RcodeServerFailure)), serve(t, failing(dns.RcodeRefused))
	// One that can't resolve what the CNAME leads to.
	alias := zone(t, false, shop+"CNAME broken.example.net.")
	halfway := serve(t, func(w dns.ResponseWriter, q *dns.Msg) {
		if q.Question[0].Qtype == dns.TypeCNAME && q.Question[0].Name == "shop.example.com." {
			alias(w, q)
			return
		}
		if strings.HasSuffix(q.Question[0].Name, "example.com.") || q.Question[0].Name == "broken.example.net." {
			failing(dns.RcodeServerFailure)(w, q)
			return
		}
		has(w, q)
	})
	// One that works, and reports that the name servers of the zone do not.
	bogus := serve(t, func(w dns.ResponseWriter, q *dns.Msg) {
		if q.Question[0].Name == "shop.example.com." {
			failing(dns.RcodeServerFailure)(w, q)
			return
		}
		has(w, q)
	})
	// Which server is the first to be asked changes each time, so there are two looks at most ways.
	for name, tt := range map[string]struct {
		servers []string
		want    []onboarding.Sight
	}{
		"all agree":                         {[]string{there, too}, []onboarding.Sight{{Way: onboarding.Here}, {Way: onboarding.Here}}},
		"one has not heard of it yet":       {[]string{there, absent}, []onboarding.Sight{{Way: onboarding.Nowhere}, {Way: onboarding.Partly}}},
		"one has an earlier answer":         {[]string{older, there}, []onboarding.Sight{{Way: onboarding.Partly, Seen: []string{"old.example.net"}}, {Way: onboarding.Elsewhere, Seen: []string{"old.example.net"}}}},
		"those that fail have no say":       {[]string{broken, there, refusing}, []onboarding.Sight{{Way: onboarding.Here}, {Way: onboarding.Here}}},
		"nor do they hide what is wrong":    {[]string{broken, absent}, []onboarding.Sight{{Way: onboarding.Nowhere}, {Way: onboarding.Nowhere}}},
		"a CNAME to what is broken":         {[]string{halfway}, []onboarding.Sight{{Way: onboarding.Failing, Seen: []string{"broken.example.net"}}}},
		"which has no say if another knows": {[]string{halfway, there}, []onboarding.Sight{{Way: onboarding.Here}, {Way: onboarding.Here}}},
		"a zone that is broken":             {[]string{bogus, broken}, []onboarding.Sight{{Way: onboarding.Failing}, {Way: onboarding.Failing}}},
		"one that has it after all":         {[]string{bogus, there}, []onboarding.Sight{{Way: onboarding.Here}, {Way: onboarding.Here}}},
		"all fail, whatever is asked":       {[]string{broken, refusing}, []onboarding.Sight{{Way: onboarding.Silent}, {Way: onboarding.Silent}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newResolver(t, tt.servers...)
			var got []onboarding.Sight
			for range tt.want {
				got = append(got, r.Where(t.Context(), "shop.example.com", []string{target}))
			}
			if d := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

// The servers take turns, so that each has its share of the questions.
func TestServersTakeTurns(t *testing.T) {
	t.Parallel()
	var asked [3]atomic.Int32
	var servers []string
	absent := zone(t, true)
	for n := range asked {
		servers = append(servers, serve(t, func(w dns.ResponseWriter, q *dns.Msg) {
			asked[n].Add(1)
			absent(w, q)
		}))
	}
	r := newResolver(t, servers...)
	for range 9 {
		r.Where(t.Context(), "shop.example.com", []string{target})
	}
	for n := range asked {
		if got := asked[n].Load(); got != 3 {
			t.Errorf("server %d was asked %d times, want 3", n, got)
		}
	}
}

// A server that adds records of other names, or answers for another one, can't lead a name to its target.
func TestAServerThatLies(t *testing.T) {
	t.Parallel()
	says := func(records ...string) dns.HandlerFunc {
		return func(w dns.ResponseWriter, q *dns.Msg) {
			m := new(dns.Msg).SetReply(q)
			for _, r := range records {
				rr, err := dns.NewRR(r)
				if err != nil {
					t.Error(err)
				}
				m.Answer = append(m.Answer, rr)
			}
			answer(w, m)
		}
	}
	for name, tt := range map[string]struct {
		records []string
		want    onboarding.Sight
	}{
		"the name of another customer":       {[]string{"rival.example.com. CNAME dmain.cloudfront.net."}, onboarding.Sight{Way: onboarding.Nowhere}},
		"the addresses of another customer":  {[]string{"rival.example.com. A 192.0.2.1", `_cf-challenge.rival.example.com. TXT "dmain.cloudfront.net"`}, onboarding.Sight{Way: onboarding.Nowhere}},
		"the challenge of another customer":  {[]string{shop + "A 192.0.2.1", `_cf-challenge.rival.example.com. TXT "dmain.cloudfront.net"`}, onboarding.Sight{Way: onboarding.Elsewhere, Seen: []string{"192.0.2.1"}}},
		"a text of the name is no challenge": {[]string{shop + "A 192.0.2.1", shop + `TXT "dmain.cloudfront.net"`}, onboarding.Sight{Way: onboarding.Elsewhere, Seen: []string{"192.0.2.1"}}},
		"a chain with a gap":                 {[]string{shop + "CNAME a.example.net.", "b.example.net. CNAME dmain.cloudfront.net."}, onboarding.Sight{Way: onboarding.Elsewhere, Seen: []string{"a.example.net"}}},
		"a second CNAME":                     {[]string{shop + "CNAME old.example.net.", shop + "CNAME dmain.cloudfront.net."}, onboarding.Sight{Way: onboarding.Elsewhere, Seen: []string{"old.example.net"}}},
		"texts that lead in a circle":        {[]string{shop + "A 192.0.2.1", "_cf-challenge." + shop + "CNAME _cf-challenge." + shop}, onboarding.Sight{Way: onboarding.Elsewhere, Seen: []string{"192.0.2.1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := newResolver(t, serve(t, says(tt.records...))).Where(t.Context(), "shop.example.com", []string{target})
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

// An answer that is too long for UDP is asked for over TCP.
func TestAServerThatTruncates(t *testing.T) {
	t.Parallel()
	full := zone(t, true, shop+"CNAME dmain.cloudfront.net.")
	r := newResolver(t, serve(t, func(w dns.ResponseWriter, q *dns.Msg) {
		if w.RemoteAddr().Network() == "udp" {
			m := new(dns.Msg).SetReply(q)
			m.Truncated = true
			answer(w, m)
			return
		}
		full(w, q)
	}))
	if got := r.Where(t.Context(), "shop.example.com", []string{target}); got.Way != onboarding.Here {
		t.Errorf("%+v", got)
	}
}

// A server that answers too late has no say, and the look ends with its context.
func TestAServerThatIsLate(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	late := serve(t, func(dns.ResponseWriter, *dns.Msg) { <-stop })
	t.Cleanup(func() { close(stop) })
	failed := 0
	r := newResolver(t, late).Counting(func(result resolver.Result) {
		if result == resolver.Failed {
			failed++
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if got := r.Where(ctx, "shop.example.com", []string{target}); got.Way != onboarding.Silent || failed == 0 {
		t.Errorf("%+v after %d failures", got, failed)
	}
	// The other server is asked after it.
	r = newResolver(t, serve(t, zone(t, true, shop+"CNAME dmain.cloudfront.net.")), late)
	if got := r.Where(t.Context(), "shop.example.com", []string{target}); got.Way != onboarding.Here {
		t.Errorf("%+v", got)
	}
}
