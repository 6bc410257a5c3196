package rfc2136_test

import (
	"cmp"
	"context"
	"net"
	"testing"
	"time"

	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/rfc2136"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// script answers what BIND does not say, or not when it is asked to: with these records and codes, one message each.
type script struct {
	code     int
	unsigned bool
	// secret is that of the server's key; the right one if empty.
	secret string
	// messages are the answers, each with records.
	messages [][]string
	// spoil changes an answer before it is signed.
	spoil func(*wire.Msg)
}

// play starts a server that gives scripted answers, and returns the client for it.
func play(t *testing.T, s script) world {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	w := newWorld(t, func(c *rfc2136.Config) { c.Server = listener.Addr().String() })
	key := shared.Key()
	server := &wire.Server{
		Listener: listener, TsigSecret: map[string]string{key.Name + ".": cmp.Or(s.secret, key.Secret)},
		MsgAcceptFunc: func(wire.Header) wire.MsgAcceptAction { return wire.MsgAccept },
		Handler:       wire.HandlerFunc(func(rw wire.ResponseWriter, q *wire.Msg) { s.answer(rw, q, w) }),
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.ActivateAndServe() // it ends with the test
	}()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		_ = server.ShutdownContext(ctx)
		<-done
	})
	return w
}

func (s script) answer(rw wire.ResponseWriter, q *wire.Msg, w world) {
	messages := s.messages
	if messages == nil {
		messages = [][]string{nil}
	}
	for _, lines := range messages {
		m := new(wire.Msg).SetReply(q)
		m.Rcode, m.Authoritative = s.code, true
		for _, line := range w.lines(lines) {
			rr, err := wire.NewRR(line)
			if err != nil {
				return
			}
			m.Answer = append(m.Answer, rr)
		}
		if s.spoil != nil {
			s.spoil(m)
		}
		if tsig := q.IsTsig(); !s.unsigned {
			m.SetTsig(tsig.Hdr.Name, tsig.Algorithm, tsig.Fudge, int64(tsig.TimeSigned))
		}
		_ = rw.WriteMsg(m)
		rw.TsigTimersOnly(true)
	}
}

const (
	soa   = "@ 300 IN SOA ns1.@ hostmaster.@ 7 3600 3600 86400 60"
	later = "@ 300 IN SOA ns1.@ hostmaster.@ 8 3600 3600 86400 60"
	some  = "a.@ 300 IN A 192.0.2.1"
)

func TestWhatAResponseCodeMeans(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		code     int
		unsigned bool
		want     fault.Kind
	}{
		"FORMERR means that it is refused as it stands": {wire.RcodeFormatError, false, fault.Invalid},
		"so it does without a signature":                {wire.RcodeFormatError, true, fault.Invalid},
		"SERVFAIL may mean anything":                    {wire.RcodeServerFailure, false, fault.Transient},
		"NOTIMP means another server":                   {wire.RcodeNotImplemented, true, fault.Denied},
		"REFUSED means a right that is missing":         {wire.RcodeRefused, true, fault.Denied},
		"YXDOMAIN means that the name is taken":         {wire.RcodeYXDomain, false, fault.Exists},
		"YXRRSET means that the set is there":           {wire.RcodeYXRrset, false, fault.Exists},
		"it has to be signed":                           {wire.RcodeYXRrset, true, fault.Transient},
		"NXRRSET means that the set has changed":        {wire.RcodeNXRrset, false, fault.Conflict},
		"it has to be signed as well":                   {wire.RcodeNXRrset, true, fault.Transient},
		"NOTAUTH means that the zone is elsewhere":      {wire.RcodeNotAuth, false, fault.Denied},
		"without a signature it is about the key":       {wire.RcodeNotAuth, true, fault.Denied},
		"NOTZONE means a name elsewhere":                {wire.RcodeNotZone, false, fault.Invalid},
		"a code that no one knows may mean anything":    {11, false, fault.Transient},
		"success has to be signed":                      {wire.RcodeSuccess, true, fault.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			w := play(t, script{code: tt.code, unsigned: tt.unsigned})
			_, err := w.Change(t.Context(), w.zone, create(w.cname("a", target)))
			expectKind(t, err, tt.want, "UPDATE: ")
		})
	}
}

func TestATransferHasToBeComplete(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]script{
		"without an SOA at its beginning":    {messages: [][]string{{some, soa}}},
		"without any record":                 {messages: [][]string{{}, {soa, some, soa}, {"b.@ 300 IN A 192.0.2.1"}}, spoil: func(m *wire.Msg) { m.Answer = nil; m.Rcode = wire.RcodeServerFailure }},
		"with another SOA at its end":        {messages: [][]string{{soa, some}, {later}}},
		"with something behind its end":      {messages: [][]string{{soa, some, soa, some}}},
		"with the SOA of a zone below":       {messages: [][]string{{soa, "a." + soa, soa}}},
		"with a record of another zone":      {messages: [][]string{{soa, "a.example.org. 300 IN A 192.0.2.1", soa}}},
		"that is not signed":                 {messages: [][]string{{soa, some, soa}}, unsigned: true},
		"that is the answer to another":      {messages: [][]string{{soa, some, soa}}, spoil: func(m *wire.Msg) { m.Id++ }},
		"that fails in the middle":           {messages: [][]string{{soa, some}, {some}}, spoil: failsAt("", "a.")},
		"that is a question and no answer":   {messages: [][]string{{soa, some, soa}}, spoil: func(m *wire.Msg) { m.Response = false }},
		"that is signed with another secret": {messages: [][]string{{soa, some, soa}}, secret: "d3Jvbmc="},
		"that is signed an hour too early":   {messages: [][]string{{soa, some, soa}}, unsigned: true, spoil: signedAt(-time.Hour)},
		"that is signed with another clock":  {messages: [][]string{{soa, some, soa}}, unsigned: true, spoil: signedAt(time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			w := play(t, s)
			page, _, err := w.ListRecords(t.Context(), w.zone, "")
			expectKind(t, err, fault.Transient, "AXFR: ")
			if page != nil {
				t.Errorf("%d sets", len(page))
			}
		})
	}
	w := play(t, script{messages: [][]string{{soa}, {some}, {soa}}})
	if page, _, err := w.ListRecords(t.Context(), w.zone, ""); err != nil || len(page) != 2 {
		t.Errorf("a complete one: %d sets, error %v", len(page), err)
	}
}

// failsAt makes a server fail in the message that begins with a record of that name.
func failsAt(_, label string) func(*wire.Msg) {
	return func(m *wire.Msg) {
		if len(m.Answer) > 0 && m.Answer[0].Header().Name[:2] == label {
			m.Rcode = wire.RcodeServerFailure
		}
	}
}

// signedAt signs with the right key at the wrong time.
func signedAt(by time.Duration) func(*wire.Msg) {
	return func(m *wire.Msg) { m.SetTsig(shared.Key().Name+".", wire.HmacSHA256, 300, time.Now().Add(by).Unix()) }
}

func TestAnSOAHasToBeTheZones(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]script{
		"of another zone":      {messages: [][]string{{"a." + soa}}},
		"none":                 {},
		"not an authoritative": {messages: [][]string{{soa}}, spoil: func(m *wire.Msg) { m.Authoritative = false }},
	} {
		t.Run(name, func(t *testing.T) {
			w := play(t, s)
			_, err := w.GetZone(t.Context(), w.zone)
			expectKind(t, err, fault.Denied, "not the primary")
		})
	}
	w := play(t, script{messages: [][]string{{soa}}})
	zone, err := w.GetZone(t.Context(), w.zone)
	if err != nil || zone != (dns.Zone{ID: w.zone, Name: w.zone}) {
		t.Errorf("zone %v, error %v", zone, err)
	}
}
