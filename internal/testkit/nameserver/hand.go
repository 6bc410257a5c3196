package nameserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

const (
	// askTimeout is for one question. A loaded machine may take a while.
	askTimeout = 10 * time.Second
	fudge      = 300
)

// Query asks a question over UDP, and returns the response code and the values in the answer, sorted, as a zone file has
// them.
func (s *Server) Query(ctx context.Context, name, kind string) (code string, values []string, err error) {
	m := new(dns.Msg).SetQuestion(dns.Fqdn(name), dns.StringToType[kind])
	m.SetEdns0(1232, false)
	answer, err := s.ask(ctx, "udp", m)
	if err != nil {
		return "", nil, err
	}
	for _, rr := range answer.Answer {
		values = append(values, strings.TrimPrefix(rr.String(), rr.Header().String()))
	}
	slices.Sort(values)
	return dns.RcodeToString[answer.Rcode], values, nil
}

// Serial is the serial number of a zone, as its SOA has it.
func (s *Server) Serial(ctx context.Context, zone string) (uint32, error) {
	answer, err := s.ask(ctx, "tcp", new(dns.Msg).SetQuestion(dns.Fqdn(zone), dns.TypeSOA))
	if err != nil {
		return 0, err
	}
	for _, rr := range answer.Answer {
		if soa, ok := rr.(*dns.SOA); ok {
			return soa.Serial, nil
		}
	}
	return 0, fmt.Errorf("asking for the SOA of %s: got %s without it", zone, dns.RcodeToString[answer.Rcode])
}

func (s *Server) ask(ctx context.Context, network string, m *dns.Msg) (*dns.Msg, error) {
	m.RecursionDesired = false
	client := &dns.Client{Net: network, Timeout: askTimeout}
	answer, _, err := client.ExchangeContext(ctx, m, s.Address())
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", s.title, err)
	}
	return answer, nil
}

// AddByHand adds records to a zone, each a line of a zone file with a full name.
func (s *Server) AddByHand(ctx context.Context, zone string, lines ...string) error {
	return s.change(ctx, zone, lines, (*dns.Msg).Insert)
}

// DeleteByHand deletes records from a zone, each a line of a zone file with a full name. Their TTL has no meaning.
func (s *Server) DeleteByHand(ctx context.Context, zone string, lines ...string) error {
	return s.change(ctx, zone, lines, (*dns.Msg).Remove)
}

// linesAtOnce keeps a message below 64 KiB.
const linesAtOnce = 200

func (s *Server) change(ctx context.Context, zone string, lines []string, apply func(*dns.Msg, []dns.RR)) error {
	for chunk := range slices.Chunk(lines, linesAtOnce) {
		m := new(dns.Msg).SetUpdate(dns.Fqdn(zone))
		for _, line := range chunk {
			rr, err := dns.NewRR(line)
			if err != nil {
				return fmt.Errorf("reading the record %q: %w", line, err)
			}
			apply(m, []dns.RR{rr})
		}
		if err := s.signedChange(ctx, zone, m); err != nil {
			return err
		}
	}
	return nil
}

// lockTries are how often a change is sent to a server that fails: PowerDNS does while another change holds its database.
const lockTries = 20

func (s *Server) signedChange(ctx context.Context, zone string, m *dns.Msg) error {
	code := ""
	for range lockTries {
		answer, err := s.signed(ctx, m.Copy())
		if err != nil {
			return err
		}
		if code = dns.RcodeToString[answer.Rcode]; answer.Rcode != dns.RcodeServerFailure {
			break
		}
	}
	if code != dns.RcodeToString[dns.RcodeSuccess] {
		return fmt.Errorf("changing %s by hand: got %s", zone, code)
	}
	return nil
}

func (s *Server) signed(ctx context.Context, m *dns.Msg) (*dns.Msg, error) {
	client := &dns.Client{Net: "tcp", Timeout: askTimeout, TsigSecret: map[string]string{dns.Fqdn(s.admin.Name): s.admin.Secret}}
	m.SetTsig(dns.Fqdn(s.admin.Name), dns.Fqdn(s.admin.Algorithm), fudge, time.Now().Unix())
	answer, _, err := client.ExchangeContext(ctx, m, s.Address())
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", s.title, err)
	}
	return answer, nil
}

// Records are all records of a zone but for its SOA, sorted, each as "name TTL type value" without the dot at the end of
// the name.
func (s *Server) Records(ctx context.Context, zone string) ([]string, error) {
	m := new(dns.Msg).SetAxfr(dns.Fqdn(zone))
	m.SetTsig(dns.Fqdn(s.admin.Name), dns.Fqdn(s.admin.Algorithm), fudge, time.Now().Unix())
	transfer := &dns.Transfer{ReadTimeout: askTimeout, TsigSecret: map[string]string{dns.Fqdn(s.admin.Name): s.admin.Secret}}
	envelopes, err := transfer.In(m, s.Address())
	if err != nil {
		return nil, fmt.Errorf("transferring %s: %w", zone, err)
	}
	var lines []string
	for e := range envelopes {
		err = errors.Join(err, e.Error)
		for _, rr := range e.RR {
			h := rr.Header()
			if h.Rrtype != dns.TypeSOA {
				lines = append(lines, fmt.Sprintf("%s %d %s %s", strings.TrimSuffix(h.Name, "."), h.Ttl,
					dns.Type(h.Rrtype), strings.TrimPrefix(rr.String(), h.String())))
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("transferring %s: %w", zone, err)
	}
	slices.Sort(lines)
	return lines, ctx.Err()
}

// Refresh tells a secondary that a zone has changed, and returns when it has the zone as the primary has it now, or later.
func (s *Server) Refresh(ctx context.Context, zone string) error {
	want, err := s.primary.Serial(ctx, zone)
	if err != nil {
		return err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if got, err := s.Serial(ctx, zone); err != nil || reached(got, want) {
			return err
		}
		if _, err := s.ask(ctx, "udp", new(dns.Msg).SetNotify(dns.Fqdn(zone))); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the secondary of %s: %w", zone, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// reached compares serial numbers as RFC 1982 does. The primary may change while a secondary copies the zone, which then has a
// later one.
func reached(got, want uint32) bool { return int32(got-want) >= 0 }
