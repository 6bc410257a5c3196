// Package query asks DNS servers.
package query

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/values"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

const (
	// timeout is for one question to one server, which may have to ask others.
	timeout = 2 * time.Second
	// payload is the size of an answer that passes any network in one piece.
	payload = 1232
)

// Question is what a server is asked.
type Question struct {
	Name string
	Kind uint16
	// Recursive has a server ask others for what it does not know itself.
	Recursive bool
}

// Answer is what a server has answered to a question, with whatever response code.
type Answer struct {
	*wire.Msg

	server, name string
}

// Ask puts a question to a server, a host with a port, over TCP where the answer is too long for UDP. It is a failure
// if none arrives, and none if it says no: see Answer.Refusal.
func Ask(ctx context.Context, server string, q Question) (Answer, error) {
	question := new(wire.Msg).SetQuestion(wire.Fqdn(q.Name), q.Kind)
	question.RecursionDesired = q.Recursive
	question.SetEdns0(payload, false)
	a := Answer{server: server, name: q.Name}
	for _, network := range []string{"udp", "tcp"} {
		var err error
		client := &wire.Client{Net: network, Timeout: timeout}
		if a.Msg, _, err = client.ExchangeContext(ctx, question, server); err != nil {
			return Answer{}, a.failure("%w", err)
		}
		if !a.Truncated {
			return a, nil
		}
	}
	return Answer{}, a.failure("the response is truncated")
}

func (a Answer) failure(format string, args ...any) error {
	return fmt.Errorf("querying %s for %s: "+format, slices.Concat([]any{a.server, a.name}, args)...)
}

// Refusal is why the answer says nothing of the name, nil if it does: that there is no such name is an answer, with or
// without the CNAMEs that led there.
func (a Answer) Refusal() error {
	if a.Rcode == wire.RcodeSuccess || a.Rcode == wire.RcodeNameError {
		return nil
	}
	return a.failure("got the response code %s", wire.RcodeToString[a.Rcode])
}

// NoAuthority is Refusal, or why the answer is not that of a name server of the zone.
func (a Answer) NoAuthority() error {
	if !a.Authoritative {
		// A resolver, or a proxy in between, tells what it remembers.
		return a.failure("the answer is not that of a name server of the zone")
	}
	return a.Refusal()
}

// Values are those of the set of a type at the very name, as dns.RecordSet has them.
func (a Answer) Values(name, kind string) (out []string) {
	for _, r := range a.Answer {
		if dns.Lower(r.Header().Name) != name || wire.TypeToString[r.Header().Rrtype] != kind {
			continue
		}
		switch r := r.(type) {
		case *wire.CNAME:
			out = append(out, dns.Lower(r.Target))
		case *wire.MX:
			out = append(out, fmt.Sprintf("%d %s", r.Preference, dns.Lower(r.Mx)))
		case *wire.TXT:
			out = append(out, textOf(r))
		default:
			out = append(out, strings.TrimPrefix(r.String(), r.Header().String()))
		}
	}
	return out
}

// Texts are those of the name that was asked for, or of the one that its CNAMEs led to.
func (a Answer) Texts() []string {
	name := dns.Lower(a.name)
	for range a.Answer {
		next := a.Values(name, dns.CNAME)
		if len(next) == 0 {
			break
		}
		name = next[0]
	}
	return a.Values(name, dns.TXT)
}

func textOf(t *wire.TXT) string { return values.Decimal.Unescape(strings.Join(t.Txt, "")) }

// SOA is that of a zone in the answer of one of its servers, nil where it has none.
func SOA(m *wire.Msg, zone string) *wire.SOA {
	if !m.Authoritative || m.Rcode != wire.RcodeSuccess {
		return nil
	}
	for _, r := range m.Answer {
		if soa, ok := r.(*wire.SOA); ok && dns.Lower(soa.Hdr.Name) == zone {
			return soa
		}
	}
	return nil
}

// Silent is the failure of a question that no server has answered.
func Silent(operation, kind string, servers []string, cause error) error {
	return &fault.Error{
		Kind: fault.Transient, Operation: operation, Err: cause,
		Message: fmt.Sprintf("none of the %s %s responded", kind, strings.Join(servers, ", ")),
	}
}
