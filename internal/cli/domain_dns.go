package cli

import (
	"context"
	"strings"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/resolver"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/advice"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// lookupTimeout is how long the DNS servers have to answer. The rest is shown without them.
const lookupTimeout = 5 * time.Second

// publicSight is what public DNS shows of a domain.
type publicSight struct {
	// Leads is whether the domain leads to its target.
	Leads bool `json:"leadsToTarget"`
	// End is the last name of its CNAMEs, or itself. Addresses are those of the end, and Challenges the endpoints that the
	// TXT records next to them name.
	End        string   `json:"end,omitempty"`
	Addresses  []string `json:"addresses,omitempty"`
	Challenges []string `json:"challenges,omitempty"`
	// NoZone is the zone that does not exist.
	NoZone string `json:"missingZone,omitempty"`
	// Error is why there is no answer.
	Error string `json:"error,omitempty"`

	domain, target string
}

// sightOf asks public DNS. A failure is part of the answer.
func sightOf(ctx context.Context, d domainView, servers []string) *publicSight {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	s := &publicSight{domain: d.Domain, target: d.leadsTo()}
	if err := s.look(ctx, servers); err != nil {
		s.Error = err.Error()
	}
	return s
}

func (s *publicSight) look(ctx context.Context, servers []string) (err error) {
	if len(servers) == 0 {
		if servers, err = resolver.Own(resolver.OwnFile); err != nil {
			return err
		}
	}
	r, err := resolver.New(servers)
	if err != nil {
		return err
	}
	seen, err := r.Look(ctx, advice.Question{Domain: s.domain})
	if err != nil {
		return err
	}
	s.End, s.Addresses, s.Challenges, s.NoZone = seen.End, seen.Addresses, seen.Aliases, seen.NoZone
	if s.target != "" {
		s.Leads, err = r.Leads(ctx, s.domain, s.target)
	}
	return err
}

// leadsTo is where the domain has to lead.
func (d domainView) leadsTo() string {
	for _, r := range d.Records {
		if r.Purpose == v1alpha1.PurposeChallenge || r.Purpose == v1alpha1.PurposeRouting && (r.Type == "CNAME" || r.Type == "ALIAS") {
			return r.Value
		}
	}
	return d.target
}

func (s *publicSight) text() string {
	switch {
	case s.Error != "":
		return "no answer. " + prose.Plain(s.Error)
	case s.Leads:
		return s.domain + " leads to " + s.target + "."
	case s.NoZone != "":
		return "there is no zone " + s.NoZone + "."
	case s.End != s.domain:
		return s.domain + " leads to " + s.End + "."
	case len(s.Addresses) > 0 && len(s.Challenges) == 0:
		return s.domain + " has the addresses " + strings.Join(s.Addresses, ", ") + ", without the TXT record _cf-challenge." + s.domain + " that CloudFront requires with addresses."
	case len(s.Addresses) > 0:
		return s.domain + " has the addresses " + strings.Join(s.Addresses, ", ") + ", and their TXT record names " + prose.List(s.Challenges) + "."
	}
	return "no record."
}
