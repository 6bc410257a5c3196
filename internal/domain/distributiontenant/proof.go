package distributiontenant

import (
	"maps"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// proofs are the domains of the spec that are proven, or have to be. An object that is being deleted proves nothing any
// more.
func (in Input) proofs() []proof.Entry {
	if in.Deleting || len(in.Policy.Proofs)+len(in.Memory.Proofs) == 0 {
		return nil
	}
	return proof.Case{
		Cluster: in.Me.Cluster, Namespace: in.Me.Namespace, Wanted: in.Desired.Domains, Demanded: in.Policy.Proofs,
		Has: slices.Collect(maps.Keys(in.states())), Before: in.Memory.Proofs, Sights: in.Attempts.Proofs.Sights,
	}.Entries()
}

// missingProofs are those that are not proven yet.
func (in Input) missingProofs() []proof.Entry {
	return slices.DeleteFunc(in.proofs(), proof.Entry.Proven)
}

// ProvenDomains are the domains of the spec that the tenant may be given.
func (in Input) ProvenDomains() []string {
	missing := in.missingProofs()
	return slices.DeleteFunc(slices.Clone(in.Desired.Domains), func(d string) bool {
		return slices.ContainsFunc(missing, func(e proof.Entry) bool { return e.Domain == d })
	})
}

// onlyProven is the input as if the spec had only domains that are proven. A tenant keeps those that it has where none of
// the spec is: it needs one.
func (in Input) onlyProven() Input {
	if len(in.missingProofs()) == 0 {
		return in
	}
	if in.Desired.Domains = in.ProvenDomains(); len(in.Desired.Domains) == 0 && in.view().Mine() {
		in.Desired.Domains = in.World.Tenant.Domains
	}
	return in
}

// stillUnproven reports whether the same domains wait for their proofs as when status was written, and nothing but them is
// to be sent.
func (in judged) stillUnproven() bool {
	if in.Memory.Conditions[chain.Synced].Reason != proof.ReasonDomainNotProven || in.resource.Inheriting() || in.certificate.Attach {
		return false
	}
	before := slices.DeleteFunc(slices.Clone(in.Memory.Proofs), proof.Entry.Proven)
	return len(before) > 0 && slices.Equal(domainsOf(before), domainsOf(in.unproven))
}

// states has the domains of the object's own tenant, as far as it is known, with their states.
func (in Input) states() map[string]string {
	switch {
	case in.World.Knowledge == resource.Nothing:
		return in.Memory.DomainStates
	case in.view().Mine():
		return in.World.Tenant.DomainStates
	}
	return nil
}

// proven looks for the records when that is due. A tenant that exists continues without the domains that lack theirs.
func proven(in judged) (Decision, bool) {
	unproven := in.unproven
	switch {
	case len(unproven) == 0:
		return pass()
	case !in.World.ProofsKnown && (in.Nudged || in.Attempts.Proofs.DueIn(in.Generation, in.Now) <= 0):
		return do(Look{At: LookProofs, Domains: domainsOf(unproven)})
	case len(in.Desired.Domains) == 0:
		return in.awaitProof()
	}
	return pass()
}

func domainsOf(entries []proof.Entry) (out []string) {
	for _, e := range entries {
		out = append(out, e.Domain)
	}
	return out
}

// awaitProof ends the pass until the records are looked for again.
func (in judged) awaitProof() (Decision, bool) {
	return rest(*proof.Problem(in.unproven, in.Attempts.Proofs.Sights), in.Attempts.Proofs.DueIn(in.Generation, in.Now))
}

// inTimeForProof ends a rest when the records are to be looked for again, whatever the reason for the rest.
func (in judged) inTimeForProof(d Decision) Decision {
	if len(in.unproven) == 0 {
		return d
	}
	return within(in.Attempts.Proofs.DueIn(in.Generation, in.Now), d)
}
