// Package resolver asks public DNS where a name leads.
package resolver

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"slices"
	"strconv"

	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/query"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// operation names the failures.
const operation = "ResolveDomain"

// longestChain is how many CNAMEs are followed: as many as common resolvers do.
const longestChain = 8

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
	answered, all := false, true
	var failure error
	verdicts := each(r.servers, func(server string) (bool, error) {
		return leads(asking(ctx, server), dns.Lower(name), dns.Lower(target))
	})
	for there, err := range verdicts {
		if err != nil {
			failure = err
			continue
		}
		answered, all = true, all && there
	}
	if !answered {
		return false, query.Silent(operation, "DNS servers", r.servers, failure)
	}
	return all, nil
}

// each asks all servers at the same time, and yields what they answer as it comes.
func each[T any](servers []string, ask func(server string) (T, error)) iter.Seq2[T, error] {
	type reply struct {
		answer T
		err    error
	}
	return func(yield func(T, error) bool) {
		replies := make(chan reply, len(servers))
		for _, server := range servers {
			go func() {
				answer, err := ask(server)
				replies <- reply{answer, err}
			}()
		}
		for range servers {
			if r := <-replies; !yield(r.answer, r.err) {
				return
			}
		}
	}
}

// ask puts a question to a server, which asks others for what it does not know.
func ask(ctx context.Context, server, name string, kind uint16) (query.Answer, error) {
	answer, err := query.Ask(ctx, server, query.Question{Name: name, Kind: kind, Recursive: true})
	if err != nil {
		return query.Answer{}, err
	}
	return answer, answer.Refusal()
}

// asker puts a question to the server that it is for.
type asker func(name string, kind uint16) (query.Answer, error)

// asking asks one server.
func asking(ctx context.Context, server string) asker {
	return func(name string, kind uint16) (query.Answer, error) { return ask(ctx, server, name, kind) }
}

// leads reports what one server shows.
func leads(ask asker, name, target string) (bool, error) {
	end, answer, err := follow(ask, name, target)
	if err != nil || end == target {
		return end == target, err
	}
	if len(answer.Values(end, dns.A)) == 0 {
		return false, nil
	}
	// An alias shows addresses, and not whose they are.
	for _, at := range []string{name, end} {
		texts, err := challenges(ask, at)
		if found := slices.Contains(texts, target); err != nil || found || name == end {
			return found, err
		}
	}
	return false, nil
}

// follow goes along the CNAMEs of a name, as far as the target if that is among them, and returns the last answer, in
// which the addresses of the end are. A resolver tells the whole chain at once; a server that only knows its own zones
// is asked again.
func follow(ask asker, name, target string) (end string, answer query.Answer, err error) {
	asked, end := name, name
	answer, err = ask(name, wire.TypeA)
	for range longestChain {
		if err != nil || end == target {
			return end, answer, err
		}
		switch next := answer.Values(end, dns.CNAME); {
		case len(next) > 0 && next[0] != "": // a CNAME to the root leads nowhere
			end = next[0]
		case end == asked || len(answer.Values(end, dns.A)) > 0:
			return end, answer, nil
		default:
			asked = end
			answer, err = ask(end, wire.TypeA)
		}
	}
	// The addresses of a circle are none.
	return end, query.Answer{Msg: new(wire.Msg)}, err
}

// challenges are the texts next to an alias, each of which names an endpoint.
func challenges(ask asker, name string) (out []string, err error) {
	answer, err := ask(challengeLabel+name, wire.TypeTXT)
	if err != nil {
		return nil, err
	}
	for _, text := range answer.Texts() {
		out = append(out, dns.Lower(text))
	}
	return out, nil
}
