package resolver

import (
	"context"
	"errors"
	"slices"
	"strings"

	wire "github.com/miekg/dns"
	"golang.org/x/net/publicsuffix"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/dns/query"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/advice"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
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
	domain := dns.Lower(q.Domain)
	s := advice.Sight{Domain: q.Domain}
	issuers := make(chan error, 1)
	go func() {
		if !q.Issuers {
			issuers <- nil
			return
		}
		var err error
		s.IssuersAt, s.Issuers, err = issuersOf(r.first(ctx), domain)
		issuers <- err
	}()
	// The two write different members.
	err := r.way(ctx, q, &s)
	err = errors.Join(err, <-issuers)
	return s, err
}

// way finds out where a domain leads or, where it has no record, whether its zone exists.
func (r *Resolver) way(ctx context.Context, q advice.Question, s *advice.Sight) (err error) {
	ask, domain := r.first(ctx), dns.Lower(q.Domain)
	if s.Sight, err = where(ask, domain, lowered(q.Targets)); err == nil && s.Way == onboarding.Nowhere {
		s.NoZone, err = noZone(ask, domain, dns.Lower(q.Zone))
	}
	return err
}

// noZone is the zone of a domain if there is no such zone: the one that was asked about or, as the parts of a zone
// need no zones of their own, the one that was registered.
func noZone(ask asker, domain, zone string) (string, error) {
	if zone == "" {
		registered, err := publicsuffix.EffectiveTLDPlusOne(domain)
		if err != nil {
			return "", nil //nolint:nilerr // a public suffix has no zone above it that someone could register
		}
		zone = registered
	}
	answer, err := ask(zone, wire.TypeSOA)
	if err != nil || answer.Rcode != wire.RcodeNameError {
		return "", err
	}
	return zone, nil
}

// issuersOf finds the CAA records that hold for a domain: those of the nearest name at or above it that has some.
func issuersOf(ask asker, domain string) (at string, issuers []string, err error) {
	if wire.CountLabel(wire.Fqdn(domain)) > deepest {
		return "", nil, nil
	}
	for name, above := domain, true; above; _, name, above = strings.Cut(name, ".") {
		answer, err := ask(name, wire.TypeCAA)
		if err != nil {
			return "", nil, err
		}
		var here []string
		restricted := false
		for _, rr := range answer.Answer {
			if c, ok := rr.(*wire.CAA); ok {
				restricted = true
				if strings.EqualFold(c.Tag, issue) {
					value, _, _ := strings.Cut(c.Value, ";")
					here = append(here, prose.Fit(dns.Lower(strings.TrimSpace(value)), prose.LongestQuote))
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
func (r *Resolver) first(ctx context.Context) asker {
	return func(name string, kind uint16) (query.Answer, error) {
		var failures []error
		for answer, err := range each(r.servers, func(server string) (query.Answer, error) { return ask(ctx, server, name, kind) }) {
			if err == nil {
				return answer, nil
			}
			failures = append(failures, err)
		}
		return query.Answer{}, errors.Join(failures...)
	}
}
