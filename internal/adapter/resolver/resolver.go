// Package resolver asks public DNS where a name leads.
package resolver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// operation names the failures.
const operation = "ResolveDomain"

const (
	// timeout is for one question to one server. It asks others itself.
	timeout = 2 * time.Second
	// longestChain is how many CNAMEs are followed: as many as common resolvers do.
	longestChain = 8
	// payload is the size of an answer that passes any network in one piece.
	payload = 1232
)

// challengeLabel stands before a name that leads to CloudFront by an alias, with the target
// as its text.
const challengeLabel = "_cf-challenge."

// Resolver asks some DNS servers. It is safe for concurrent use.
type Resolver struct{ servers []string }

var _ port.Resolver = (*Resolver)(nil)

// New returns a resolver that asks the servers, each a host with a port.
func New(servers []string) (*Resolver, error) {
	if len(servers) == 0 {
		return nil, errors.New("no DNS servers: name at least one, for example 1.1.1.1:53")
	}
	for n, s := range servers {
		if slices.Contains(servers[:n], s) {
			return nil, fmt.Errorf("DNS server %q: it is named twice; remove one of the two", s)
		}
		host, number, err := net.SplitHostPort(s)
		if err == nil && host == "" {
			err = errors.New("the host is missing")
		}
		if n, convErr := strconv.ParseUint(number, 10, 16); err == nil && (convErr != nil || n == 0) {
			err = errors.New("the port is not a number from 1 to 65535")
		}
		if err != nil {
			return nil, fmt.Errorf("DNS server %q: %w; use host:port, for example 1.1.1.1:53 or [2606:4700:4700::1111]:53", s, err)
		}
	}
	return &Resolver{servers: servers}, nil
}

// Leads implements port.Resolver. CloudFront asks servers of its own, which may have another
// answer in their caches: so all of ours have to agree. One that does not answer has no say,
// unless none answers.
func (r *Resolver) Leads(ctx context.Context, name, target string) (bool, error) {
	type verdict struct {
		leads bool
		err   error
	}
	verdicts := make(chan verdict, len(r.servers))
	for _, server := range r.servers {
		go func() {
			leads, err := leads(ctx, r.one(server), canonical(name), canonical(target))
			verdicts <- verdict{leads, err}
		}()
	}
	answered, all := 0, true
	var failure error
	for range r.servers {
		v := <-verdicts
		if v.err != nil {
			failure = v.err
			continue
		}
		answered++
		all = all && v.leads
	}
	if answered == 0 {
		return false, &fault.Error{
			Kind: fault.Transient, Operation: operation,
			Message: fmt.Sprintf("none of the DNS servers %s responded", strings.Join(r.servers, ", ")), Err: failure,
		}
	}
	return all, nil
}

// asker puts one question. That there is no such name is an answer, with or without the CNAMEs that led there.
type asker func(ctx context.Context, name string, kind uint16) (*dns.Msg, error)

// one asks one server.
func (r *Resolver) one(server string) asker {
	return func(ctx context.Context, name string, kind uint16) (*dns.Msg, error) {
		return ask(ctx, server, name, kind)
	}
}

// leads reports what one server shows.
func leads(ctx context.Context, ask asker, name, target string) (bool, error) {
	end, answer, err := follow(ctx, ask, name, target)
	if err != nil || end == target {
		return end == target, err
	}
	if len(addresses(answer, end)) == 0 {
		return false, nil
	}
	// An alias shows addresses, and not whose they are.
	for _, at := range []string{name, end} {
		texts, err := challenges(ctx, ask, at)
		if found := slices.Contains(texts, target); err != nil || found || name == end {
			return found, err
		}
	}
	return false, nil
}

// follow goes along the CNAMEs of a name, as far as the target if that is among them, and returns the last answer, in
// which the addresses of the end are. A resolver tells the whole chain at once; a server that only knows its own zones
// is asked again.
func follow(ctx context.Context, ask asker, name, target string) (end string, answer *dns.Msg, err error) {
	asked, end := name, name
	answer, err = ask(ctx, name, dns.TypeA)
	for range longestChain {
		if err != nil || end == target {
			return end, answer, err
		}
		switch next := cnameOf(answer, end); {
		case next != "":
			end = next
		case end == asked || len(addresses(answer, end)) > 0:
			return end, answer, nil
		default:
			asked = end
			answer, err = ask(ctx, end, dns.TypeA)
		}
	}
	// The addresses of a circle are none.
	return end, new(dns.Msg), err
}

func cnameOf(answer *dns.Msg, name string) string {
	for _, r := range answer.Answer {
		if c, ok := r.(*dns.CNAME); ok && canonical(c.Hdr.Name) == name {
			return canonical(c.Target)
		}
	}
	return ""
}

func addresses(answer *dns.Msg, name string) []string {
	var out []string
	for _, r := range answer.Answer {
		if a, ok := r.(*dns.A); ok && canonical(a.Hdr.Name) == name {
			out = append(out, a.A.String())
		}
	}
	return out
}

// challenges are the texts next to an alias, each of which names an endpoint.
func challenges(ctx context.Context, ask asker, name string) ([]string, error) {
	answer, err := ask(ctx, challengeLabel+name, dns.TypeTXT)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range answer.Answer {
		if t, ok := r.(*dns.TXT); ok {
			out = append(out, canonical(strings.Join(t.Txt, "")))
		}
	}
	return out, nil
}

// ask asks a server, over TCP where the answer is too long for UDP.
func ask(ctx context.Context, server, name string, kind uint16) (*dns.Msg, error) {
	question := new(dns.Msg).SetQuestion(dns.Fqdn(name), kind)
	question.SetEdns0(payload, false)
	for _, network := range []string{"udp", "tcp"} {
		client := &dns.Client{Net: network, Timeout: timeout}
		answer, _, err := client.ExchangeContext(ctx, question, server)
		switch {
		case err != nil:
			return nil, fmt.Errorf("querying %s for %s: %w", server, name, err)
		case answer.Truncated:
			continue
		case answer.Rcode == dns.RcodeSuccess, answer.Rcode == dns.RcodeNameError:
			return answer, nil
		}
		return nil, fmt.Errorf("querying %s for %s: got the response code %s", server, name, dns.RcodeToString[answer.Rcode])
	}
	return nil, fmt.Errorf("querying %s for %s: the response is truncated", server, name)
}

func canonical(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }
