package distribution

import (
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Stakes are the aliases and targets that the object wants, in the order of its spec, and those that it has.
func (in Input) Stakes() (out []claim.Domain) {
	// An object that is not granted gets nothing new, and must not keep a domain from objects that may have it.
	if !in.deleting() && !in.Frozen() {
		for _, alias := range in.Desired.Aliases {
			out = append(out, claim.Domain{Name: alias, Wanted: true})
		}
	}
	for _, alias := range in.Aliases() {
		out = append(out, claim.Domain{Name: alias, Stake: claim.Serves})
	}
	return append(out, in.targetStakes()...)
}

// Aliases are those in AWS, as far as is known: until the resource is read, those that were last seen or, in a process that
// has seen none, those that were applied.
func (in Input) Aliases() []string {
	switch w := in.World; {
	case w.present() && in.view().Mine():
		return w.Resource.Aliases
	case w.Knowledge != resource.Nothing:
		return nil
	case w.Aliases != nil:
		return w.Aliases
	case in.Memory.ID != "" && in.applied():
		return in.Desired.Aliases
	}
	return nil
}

// leaving are the aliases in AWS that the spec has no more.
func (in Input) leaving() []string {
	wanted := map[string]bool{}
	for _, alias := range in.Desired.Aliases {
		wanted[claim.Canonical(alias)] = true
	}
	return slices.DeleteFunc(slices.Clone(in.World.Resource.Aliases), func(alias string) bool { return wanted[claim.Canonical(alias)] })
}

// claimFirst stores claims for aliases before they leave AWS.
func (in Input) claimFirst(aliases []string) (Decision, bool) {
	switch {
	case !in.Policy.Holds || len(aliases) == 0:
		return pass()
	case in.World.Unstored != "":
		return stuck(claim.ReasonClaimNotStored, claim.NotStored(in.World.Unheld, in.World.Unstored))
	case !in.World.UnheldKnown:
		return do(Look{At: LookClaims, Domains: aliases})
	case len(in.World.Unheld) > 0:
		return do(Claim{Domains: in.World.Unheld})
	}
	return pass()
}

// claimed stores claims for all aliases of a resource that is about to be deleted.
func claimed(in Input) (Decision, bool) {
	// A resource whose deletion AWS has accepted has released them.
	if _, accepted := in.view().AwaitDelete(); accepted {
		return pass()
	}
	return in.claimFirst(in.World.Resource.Aliases)
}
