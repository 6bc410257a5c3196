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
	"sync/atomic"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/query"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// operation names the failures.
const operation = "ResolveDomain"

// Resolver asks some DNS servers. It is safe for concurrent use.
type Resolver struct {
	servers []string
	// turn counts the looks of Where, each of which asks another server first.
	turn atomic.Uint32
	// asked is told how each question of Where has ended.
	asked func(Result)
}

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
	return &Resolver{servers: servers, asked: func(Result) {}}, nil
}

// Leads implements port.Resolver. CloudFront asks servers of its own, which may have another
// answer in their caches: so all of ours have to agree. One that does not answer has no say,
// unless none answers.
func (r *Resolver) Leads(ctx context.Context, name, target string) (bool, error) {
	answered, all := false, true
	var failure error
	verdicts := each(r.servers, func(server string) (bool, error) {
		sight, err := where(asking(ctx, server), dns.Lower(name), []string{dns.Lower(target)})
		return sight.Way == onboarding.Here, err
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

// refusal is the failure of a question that a server has answered with a code that says nothing of the name.
type refusal struct{ error }

// refused reports whether a server has answered that it can't tell.
func refused(err error) bool {
	var r refusal
	return errors.As(err, &r)
}

// ask puts a question to a server, which asks others for what it does not know.
func ask(ctx context.Context, server, name string, kind uint16) (query.Answer, error) {
	answer, err := query.Ask(ctx, server, query.Question{Name: name, Kind: kind, Recursive: true})
	if err != nil {
		return query.Answer{}, err
	}
	if err := answer.Refusal(); err != nil {
		return query.Answer{}, refusal{err}
	}
	return answer, nil
}

// asker puts a question to the server that it is for.
type asker func(name string, kind uint16) (query.Answer, error)

// asking asks one server.
func asking(ctx context.Context, server string) asker {
	return func(name string, kind uint16) (query.Answer, error) { return ask(ctx, server, name, kind) }
}
