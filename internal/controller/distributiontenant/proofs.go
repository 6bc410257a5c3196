package distributiontenant

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
)

// The bounds of one look for proofs: a pass must not wait long for DNS servers that do not answer.
const (
	proofPatience = 5 * time.Second
	proofsAtOnce  = 16
)

// demandedProofs are the domains that have to be proven: those for which the grant demands it, unless an administrator has
// reserved them for the namespace.
func (p *pass) demandedProofs() []string {
	if p.granted == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.in.Desired.Domains), func(d string) bool {
		return !p.granted.DemandsProof(d) || p.DomainClaims.Assigned(p.object.Namespace, d)
	})
}

// proofs asks public DNS for the records that prove domains. Whether another namespace has a domain that is proven now
// is asked at once: until now, the object did not want it.
func (p look) proofs(ctx context.Context, domains []string) {
	ctx, cancel := context.WithTimeout(ctx, proofPatience)
	defer cancel()
	var (
		mu     sync.Mutex
		group  errgroup.Group
		sights = make(map[string]proof.Sight, len(domains))
	)
	group.SetLimit(proofsAtOnce)
	for _, d := range domains {
		group.Go(func() error {
			sight := p.sightOf(ctx, d)
			mu.Lock()
			defer mu.Unlock()
			sights[d] = sight
			return nil
		})
	}
	_ = group.Wait()
	p.in.Attempts.Proofs = p.in.Attempts.Proofs.Saw(p.in.Generation, p.Clock.Now(), sights)
	p.in.World.ProofsKnown = true
	p.judgeDomains()
}

func (p look) sightOf(ctx context.Context, domain string) proof.Sight {
	if p.Resolver == nil {
		return proof.TooFew
	}
	return p.Resolver.LookForProof(ctx, proof.For(p.in.Me.Cluster, p.in.Me.Namespace, domain))
}
