// Package authority asks the DNS servers of a zone whether they answer as a change says.
package authority

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	wire "github.com/miekg/dns"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// operation names the failures.
const operation = "AskNameServer"

const (
	// timeout is for one question to one server.
	timeout = 2 * time.Second
	// atOnce is how many questions are on their way to one server: a batch has hundreds of names.
	atOnce = 16
	// payload is the size of an answer that passes any network in one piece.
	payload = 1232
)

// Show reports whether all servers, each a host with a port, answer as the changes say. A server that does not answer has
// no say, unless none answers: that is fault.Transient. Of a CNAME at the name that is flattened, empty for none, servers
// show addresses only.
func Show(ctx context.Context, servers []string, flattened string, changes []dns.Change) (bool, error) {
	answered, failure := false, error(nil)
	for _, server := range servers {
		shows, err := shows(ctx, server, flattened, final(changes))
		switch {
		case err != nil:
			failure = err
			continue
		case !shows:
			return false, nil
		}
		answered = true
	}
	if !answered {
		return false, silent(servers, failure)
	}
	return true, nil
}

// final leaves out the deletions at a name at which something is created: that takes their place.
func final(changes []dns.Change) (out []dns.Change) {
	created := map[string]bool{}
	for _, c := range changes {
		created[c.Set.Name] = created[c.Set.Name] || c.Action == dns.Create
	}
	for _, c := range changes {
		if c.Action == dns.Create || !created[c.Set.Name] {
			out = append(out, c)
		}
	}
	return out
}

// shows asks one server for all changes.
func shows(ctx context.Context, server, flattened string, changes []dns.Change) (bool, error) {
	var (
		running sync.WaitGroup
		mu      sync.Mutex
		all     = true
		failure error
	)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	slots := make(chan struct{}, atOnce)
	for _, c := range changes {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break // a server that does not answer one question is not asked the others
		}
		running.Go(func() {
			defer func() { <-slots }()
			ok, err := shown(ctx, server, c, c.Set.Type == dns.CNAME && c.Set.Name == flattened)
			mu.Lock()
			defer mu.Unlock()
			all = all && ok
			if err != nil && failure == nil {
				failure = err
				cancel()
			}
		})
	}
	running.Wait()
	if failure != nil {
		return false, failure
	}
	return all, nil
}

// shown reports whether the server answers as one change says.
func shown(ctx context.Context, server string, c dns.Change, flattened bool) (bool, error) {
	if flattened {
		there, err := leads(ctx, server, c.Set.Name)
		return there == (c.Action == dns.Create), err
	}
	kind, known := wire.StringToType[c.Set.Type]
	if !known {
		return true, nil
	}
	answer, err := ask(ctx, server, c.Set.Name, kind)
	if err != nil {
		return false, err
	}
	there := containsAll(valuesOf(answer, c.Set.Name, c.Set.Type), c.Set.Values)
	if there && c.Action == dns.Delete {
		return covered(ctx, server, c.Set, kind), nil
	}
	return there == (c.Action == dns.Create), nil
}

// unlikely is a label that no zone has. A server that answers for it does so for every name there.
const unlikely = "cloudfront-tenant-operator-wildcard-probe."

// covered reports whether a wildcard shows what a deleted set had shown: then it can't be told whether the set is gone, and
// the name leads to the same.
func covered(ctx context.Context, server string, set dns.RecordSet, kind uint16) bool {
	// What covers a wildcard is a wildcard above its own parent.
	_, parent, below := strings.Cut(strings.TrimPrefix(set.Name, "*."), ".")
	if !below {
		return false
	}
	probe := unlikely + parent
	// The parent may be above the zone, where the server has no say.
	answer, err := ask(ctx, server, probe, kind)
	return err == nil && containsAll(valuesOf(answer, probe, set.Type), set.Values)
}

// leads reports whether the server shows addresses at the very name.
func leads(ctx context.Context, server, name string) (bool, error) {
	answer, err := ask(ctx, server, name, wire.TypeA)
	if err != nil {
		return false, err
	}
	return len(valuesOf(answer, name, dns.A)) > 0, nil
}

func containsAll(have, want []string) bool {
	found := map[string]bool{}
	for _, v := range have {
		found[v] = true
	}
	for _, v := range want {
		if !found[v] {
			return false
		}
	}
	return len(want) > 0
}

// valuesOf are the values of a set in an answer, as dns.RecordSet has them.
func valuesOf(answer *wire.Msg, name, kind string) (out []string) {
	for _, r := range answer.Answer {
		if canonical(r.Header().Name) != name || wire.TypeToString[r.Header().Rrtype] != kind {
			continue
		}
		switch r := r.(type) {
		case *wire.CNAME:
			out = append(out, canonical(r.Target))
		case *wire.MX:
			out = append(out, fmt.Sprintf("%d %s", r.Preference, canonical(r.Mx)))
		case *wire.TXT:
			out = append(out, Unescape(strings.Join(r.Txt, "")))
		default:
			out = append(out, strings.TrimPrefix(r.String(), r.Header().String()))
		}
	}
	return out
}

// ask puts one question. That there is no such name is an answer.
func ask(ctx context.Context, server, name string, kind uint16) (*wire.Msg, error) {
	answer, err := exchange(ctx, server, name, kind)
	if err != nil {
		return nil, err
	}
	return answer, believe(answer, server, name)
}

// believe reports why an answer says nothing of the zone, nil if it does.
func believe(answer *wire.Msg, server, name string) error {
	switch {
	case !answer.Authoritative:
		// A resolver, or a proxy in between, tells what it remembers.
		return fmt.Errorf("querying %s for %s: the answer is not that of a name server of the zone", server, name)
	case answer.Rcode == wire.RcodeSuccess, answer.Rcode == wire.RcodeNameError:
		return nil
	}
	return fmt.Errorf("querying %s for %s: got the response code %s", server, name, wire.RcodeToString[answer.Rcode])
}

// exchange sends one question and returns the answer, over TCP where it is too long for UDP.
func exchange(ctx context.Context, server, name string, kind uint16) (*wire.Msg, error) {
	question := new(wire.Msg).SetQuestion(wire.Fqdn(name), kind)
	question.RecursionDesired = false
	question.SetEdns0(payload, false)
	for _, network := range []string{"udp", "tcp"} {
		client := &wire.Client{Net: network, Timeout: timeout}
		answer, _, err := client.ExchangeContext(ctx, question, server)
		if err != nil {
			return nil, fmt.Errorf("querying %s for %s: %w", server, name, err)
		}
		if !answer.Truncated {
			return answer, nil
		}
	}
	return nil, fmt.Errorf("querying %s for %s: the response is truncated", server, name)
}

func canonical(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// Unescape reads a text that is escaped as in a zone file, as this package's library has it.
func Unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		if i+3 < len(text) {
			if c, err := strconv.ParseUint(text[i+1:i+4], 10, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		i++
		b.WriteByte(text[i])
	}
	return b.String()
}
