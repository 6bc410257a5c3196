package authority_test

import (
	"strings"
	"testing"
	"time"

	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/authority"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/dnsserver"
)

// server is a DNS server that has some records and answers for nothing else.
func server(t *testing.T, records ...string) string {
	t.Helper()
	return serve(t, func(w wire.ResponseWriter, q *wire.Msg) {
		m := new(wire.Msg).SetReply(q)
		m.Authoritative = true
		for _, text := range records {
			r, err := wire.NewRR(text)
			if err != nil {
				t.Error(err)
			}
			same := strings.EqualFold(r.Header().Name, q.Question[0].Name)
			if same && (r.Header().Rrtype == q.Question[0].Qtype || r.Header().Rrtype == wire.TypeCNAME) {
				m.Answer = append(m.Answer, r)
			}
		}
		_ = w.WriteMsg(m)
	})
}

func serve(t *testing.T, handle wire.HandlerFunc) string {
	t.Helper()
	s, err := dnsserver.Start(t.Context(), "127.0.0.1:0", handle)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	return s.Address
}

const zone = "example.com"

func change(action dns.Action, name, kind string, values ...string) dns.Change {
	return dns.Change{Action: action, Set: dns.RecordSet{Key: dns.Key{Name: name, Type: kind}, Values: values}}
}

func TestShow(t *testing.T) {
	const target = "d1.cloudfront.net"
	created, deleted := change(dns.Create, "a.example.com", dns.CNAME, target), change(dns.Delete, "a.example.com", dns.CNAME, target)
	apex := change(dns.Create, zone, dns.CNAME, target)
	text := change(dns.Create, "_cf-challenge.example.com", dns.TXT, target)
	for name, test := range map[string]struct {
		records []string
		changes []dns.Change
		want    bool
	}{
		"what was created is there":                        {[]string{"A.example.com. 60 CNAME D1.cloudfront.net."}, []dns.Change{created}, true},
		"it is not there yet":                              {nil, []dns.Change{created}, false},
		"the former value is there":                        {[]string{"a.example.com. 60 CNAME d2.cloudfront.net."}, []dns.Change{created}, false},
		"a wildcard that answers is not it":                {[]string{"a.example.com. 60 A 192.0.2.1"}, []dns.Change{created}, false},
		"what was deleted is gone":                         {nil, []dns.Change{deleted}, true},
		"it is still there":                                {[]string{"a.example.com. 60 CNAME d1.cloudfront.net."}, []dns.Change{deleted}, false},
		"something else is in its place":                   {[]string{"a.example.com. 60 CNAME other.example.net."}, []dns.Change{deleted}, true},
		"what took its place counts":                       {[]string{"a.example.com. 60 CNAME d2.cloudfront.net."}, []dns.Change{deleted, change(dns.Create, "a.example.com", dns.CNAME, "d2.cloudfront.net")}, true},
		"of several changes one is not there":              {[]string{"a.example.com. 60 CNAME d1.cloudfront.net."}, []dns.Change{created, text}, false},
		"a text in two strings":                            {[]string{`_cf-challenge.example.com. 60 TXT "d1.cloud" "front.net"`}, []dns.Change{text}, true},
		"a text with quotes, backslashes and bytes":        {[]string{`a.example.com. 60 TXT "a \"b\" \\c \195\164"`}, []dns.Change{change(dns.Create, "a.example.com", dns.TXT, `a "b" \c ä`)}, true},
		"a flattened name shows addresses":                 {[]string{"example.com. 60 A 192.0.2.1"}, []dns.Change{apex}, true},
		"it shows none yet":                                {[]string{"example.com. 60 TXT other"}, []dns.Change{apex}, false},
		"it shows none any more":                           {nil, []dns.Change{change(dns.Delete, zone, dns.CNAME, target)}, true},
		"it still shows some":                              {[]string{"example.com. 60 A 192.0.2.1"}, []dns.Change{change(dns.Delete, zone, dns.CNAME, target)}, false},
		"several addresses have to be there":               {[]string{"a.example.com. 60 A 192.0.2.1"}, []dns.Change{change(dns.Create, "a.example.com", dns.A, "192.0.2.1", "192.0.2.2")}, false},
		"a set without values can't be seen":               {nil, []dns.Change{change(dns.Create, "a.example.com", dns.A)}, true},
		"a type that DNS does not know can't be asked for": {nil, []dns.Change{change(dns.Create, "a.example.com", "ALIAS", "x")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := authority.Show(t.Context(), []string{server(t, test.records...)}, zone, test.changes)
			if err != nil || got != test.want {
				t.Errorf("got %v, %v; want %v", got, err, test.want)
			}
		})
	}
}

// Below a wildcard that leads to the same, a deleted record can't be told from one that is still there.
func TestADeletionBelowAWildcard(t *testing.T) {
	const target = "d1.cloudfront.net"
	wildcard := func(value string, others ...string) string {
		return serve(t, func(w wire.ResponseWriter, q *wire.Msg) {
			m := new(wire.Msg).SetReply(q)
			m.Authoritative = true
			text := q.Question[0].Name + " 60 CNAME " + value + "."
			for _, other := range others {
				if strings.HasPrefix(other, q.Question[0].Name) {
					text = other
				}
			}
			r, err := wire.NewRR(text)
			if err != nil {
				t.Error(err)
			}
			m.Answer = append(m.Answer, r)
			_ = w.WriteMsg(m)
		})
	}
	deleted := []dns.Change{change(dns.Delete, "a.example.com", dns.CNAME, target)}
	for name, test := range map[string]struct {
		server string
		want   bool
	}{
		"the wildcard leads to the same":              {wildcard(target), true},
		"it leads elsewhere, and the record is gone":  {wildcard("other.example.net"), true},
		"it leads elsewhere, and the record is there": {wildcard("other.example.net", "a.example.com. 60 CNAME "+target+"."), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := authority.Show(t.Context(), []string{test.server}, zone, deleted); err != nil || got != test.want {
				t.Errorf("got %v, %v; want %v", got, err, test.want)
			}
		})
	}
	for name, want := range map[string]bool{"*.a.example.com": true, "*.com": false} {
		own := []dns.Change{change(dns.Delete, name, dns.CNAME, target)}
		if got, err := authority.Show(t.Context(), []string{wildcard(target)}, zone, own); err != nil || got != want {
			t.Errorf("%s counts as gone: %v, %v; want %v", name, got, err, want)
		}
	}
}

func TestAServerThatDoesNotAnswerHasNoSay(t *testing.T) {
	refusing := serve(t, func(w wire.ResponseWriter, q *wire.Msg) {
		_ = w.WriteMsg(new(wire.Msg).SetRcode(q, wire.RcodeRefused))
	})
	remembering := serve(t, func(w wire.ResponseWriter, q *wire.Msg) { _ = w.WriteMsg(new(wire.Msg).SetReply(q)) })
	has, hasNot := server(t, "a.example.com. 60 CNAME d1.cloudfront.net."), server(t)
	created := []dns.Change{change(dns.Create, "a.example.com", dns.CNAME, "d1.cloudfront.net")}
	for name, test := range map[string]struct {
		servers []string
		want    bool
		fails   fault.Kind
	}{
		"all have it":                                  {[]string{has, has}, true, fault.None},
		"one does not have it":                         {[]string{has, hasNot}, false, fault.None},
		"one refuses to answer":                        {[]string{refusing, has}, true, fault.None},
		"the one that answers counts":                  {[]string{refusing, hasNot}, false, fault.None},
		"a resolver that remembers nothing has no say": {[]string{remembering, has}, true, fault.None},
		"none answers":                                 {[]string{refusing}, false, fault.Transient},
		"there are none":                               {nil, false, fault.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := authority.Show(t.Context(), test.servers, zone, created)
			if got != test.want || fault.KindOf(err) != test.fails {
				t.Errorf("got %v, %v; want %v, %s", got, err, test.want, test.fails)
			}
		})
	}
}

// Where no server responds the word of the service counts, once the change is old enough.
func TestAccepted(t *testing.T) {
	created := []dns.Change{change(dns.Create, "a.example.com", dns.CNAME, "d1.cloudfront.net"), change(dns.Create, "b.example.com", dns.CNAME, "d1.cloudfront.net")}
	has := server(t, "a.example.com. 60 CNAME d1.cloudfront.net.", "b.example.com. 60 CNAME d1.cloudfront.net.")
	for name, test := range map[string]struct {
		servers []string
		age     time.Duration
		want    bool
		fails   fault.Kind
	}{
		"the server shows it":         {[]string{has}, 0, true, fault.None},
		"it shows a part":             {[]string{server(t, "a.example.com. 60 CNAME d1.cloudfront.net.")}, time.Hour, false, fault.None},
		"none responds":               {[]string{silent(t)}, 59 * time.Second, false, fault.Transient},
		"none responds after a while": {[]string{silent(t)}, time.Minute, true, fault.None},
		"none is known":               {nil, 59 * time.Second, false, fault.Transient},
		"none is known after a while": {nil, time.Minute, true, fault.None},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := authority.Accepted(t.Context(), test.servers, "", created, func() time.Duration { return test.age })
			if got != test.want || fault.KindOf(err) != test.fails {
				t.Errorf("got %v, %v; want %v, %s", got, err, test.want, test.fails)
			}
		})
	}
}
