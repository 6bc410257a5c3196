package resolver

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/miekg/dns"
	"golang.org/x/net/publicsuffix"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/advice"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// deepest is how many labels a name may have whose CAA records are looked for: each label is a question.
const deepest = 8

// issue is the property of a CAA record that names who may issue certificates.
const issue = "issue"

var _ port.PublicDNS = (*Resolver)(nil)

// Look implements port.PublicDNS. Each question is answered by the server that is the first to answer.
func (r *Resolver) Look(ctx context.Context, q advice.Question) (advice.Sight, error) {
	domain := canonical(q.Domain)
	s := advice.Sight{Domain: q.Domain}
	issuers := make(chan error, 1)
	go func() {
		if !q.Issuers {
			issuers <- nil
			return
		}
		var err error
		s.IssuersAt, s.Issuers, err = r.issuers(ctx, domain)
		issuers <- err
	}()
	// The two write different members.
	err := r.way(ctx, domain, canonical(q.Zone), &s)
	err = errors.Join(err, <-issuers)
	return s, err
}

// way finds out where a domain leads or, where it does not exist, whether its zone does.
func (r *Resolver) way(ctx context.Context, domain, zone string, s *advice.Sight) error {
	end, answer, err := follow(ctx, r.first, domain, "")
	if err != nil {
		return err
	}
	found := addresses(answer, end)
	var aliases []string
	if len(found) > 0 {
		for _, at := range slices.Compact([]string{domain, end}) {
			texts, err := challenges(ctx, r.first, at)
			if err != nil {
				return err
			}
			aliases = append(aliases, texts...)
		}
	}
	noZone := ""
	if answer.Rcode == dns.RcodeNameError && end == domain {
		if noZone, err = r.noZone(ctx, domain, zone); err != nil {
			return err
		}
	}
	s.Followed, s.End, s.Addresses, s.Aliases, s.NoZone = true, end, found, aliases, noZone
	return nil
}

// noZone is the zone of a domain if there is no such zone: the one that was asked about or, as the parts of a zone
// need no zones of their own, the one that was registered.
func (r *Resolver) noZone(ctx context.Context, domain, zone string) (string, error) {
	if zone == "" {
		registered, err := publicsuffix.EffectiveTLDPlusOne(domain)
		if err != nil {
			return "", nil //nolint:nilerr // a public suffix has no zone above it that someone could register
		}
		zone = registered
	}
	answer, err := r.first(ctx, zone, dns.TypeSOA)
	if err != nil || answer.Rcode != dns.RcodeNameError {
		return "", err
	}
	return zone, nil
}

// issuers finds the CAA records that hold for a domain: those of the nearest name at or above it that has some.
func (r *Resolver) issuers(ctx context.Context, domain string) (at string, issuers []string, err error) {
	if dns.CountLabel(dns.Fqdn(domain)) > deepest {
		return "", nil, nil
	}
	for name, above := domain, true; above; _, name, above = strings.Cut(name, ".") {
		answer, err := r.first(ctx, name, dns.TypeCAA)
		if err != nil {
			return "", nil, err
		}
		var here []string
		restricted := false
		for _, rr := range answer.Answer {
			if c, ok := rr.(*dns.CAA); ok {
				restricted = true
				if strings.EqualFold(c.Tag, issue) {
					value, _, _ := strings.Cut(c.Value, ";")
					here = append(here, prose.Fit(canonical(strings.TrimSpace(value)), prose.LongestQuote))
				}
			}
		}
		switch {
		case len(here) > 0:
			slices.Sort(here)
			return name, slices.Compact(here), nil
		case restricted:
			return "", nil, nil // they restrict something else
		}
	}
	return "", nil, nil
}

// first asks all servers at once and takes the first answer.
func (r *Resolver) first(ctx context.Context, name string, kind uint16) (*dns.Msg, error) {
	type reply struct {
		answer *dns.Msg
		err    error
	}
	replies := make(chan reply, len(r.servers))
	for _, server := range r.servers {
		go func() {
			answer, err := ask(ctx, server, name, kind)
			replies <- reply{answer, err}
		}()
	}
	var failures []error
	for range r.servers {
		got := <-replies
		if got.err == nil {
			return got.answer, nil
		}
		failures = append(failures, got.err)
	}
	return nil, errors.Join(failures...)
}
