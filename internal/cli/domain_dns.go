package cli

import (
	"context"
	"strings"
	"time"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/resolver"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/advice"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/onboarding"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// lookupTimeout is how long the DNS servers have to answer. The rest is shown without them.
const lookupTimeout = 5 * time.Second

// publicSight is what public DNS shows of a domain.
type publicSight struct {
	// Way is where public DNS leads the domain, as in the metric watched_domains, and Seen are the values found instead of
	// its target.
	Way  onboarding.Way `json:"way,omitempty"`
	Seen []string       `json:"seen,omitempty"`
	// NoZone is the zone that does not exist.
	NoZone string `json:"missingZone,omitempty"`
	// Error is why there is no answer.
	Error string `json:"error,omitempty"`

	text string
}

// sightOf asks public DNS. A failure is part of the answer.
func sightOf(ctx context.Context, d domainView, servers []string) *publicSight {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	seen, err := lookUp(ctx, advice.Question{Domain: d.Domain, Targets: d.leadsTo()}, servers)
	if err != nil {
		return &publicSight{Error: err.Error(), text: "Public DNS gave no answer. " + prose.Plain(err.Error())}
	}
	seen.Place = convert.Place(d.Domain)
	return &publicSight{Way: seen.Way, Seen: seen.Seen, NoZone: seen.NoZone, text: seen.Text(strings.Join(d.leadsTo(), ""))}
}

func lookUp(ctx context.Context, q advice.Question, servers []string) (seen advice.Sight, err error) {
	if len(servers) == 0 {
		if servers, err = resolver.Own(resolver.OwnFile); err != nil {
			return seen, err
		}
	}
	r, err := resolver.New(servers)
	if err != nil {
		return seen, err
	}
	return r.Look(ctx, q)
}

// leadsTo is where the domain has to lead.
func (d domainView) leadsTo() []string {
	for _, r := range d.Records {
		if r.Purpose == v1alpha1.PurposeChallenge || r.Purpose == v1alpha1.PurposeRouting && (r.Type == "CNAME" || r.Type == "ALIAS") {
			return []string{r.Value}
		}
	}
	if d.target == "" {
		return nil
	}
	return []string{d.target}
}
