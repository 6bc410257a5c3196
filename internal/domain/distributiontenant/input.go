package distributiontenant

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Policy is what the user allows.
type Policy struct {
	resource.Policy

	// RetainCertificates keeps the managed certificates when the tenant is deleted.
	RetainCertificates bool
	// AbandonDNS lets the object go although its records stay.
	AbandonDNS bool
	// Holds means that domains are held for the namespace when they leave AWS.
	Holds bool
	// Proofs are the domains of the spec that the grant wants to be proven.
	Proofs []string
	// DeniedRole is a role that the object needs and the administrator has not granted. Empty: no role is denied.
	DeniedRole string
}

// Input is everything that a decision is based on.
type Input struct {
	resource.Object

	// Deleting is true from the deletion timestamp on.
	Deleting bool

	// Spreads means that changes of what customers are served with reach tenants in steps.
	Spreads bool

	Desired  Desired
	Policy   Policy
	Memory   Memory
	Attempts Attempts
	World    World
}

// moment is as long as it takes to get from one pass to the next, so that a disable and the delete that follows it
// share one proof.
const moment = 5 * time.Second

// view is what the shared rules are asked about.
func (in Input) view() *resource.View {
	v := &resource.View{
		Object: in.Object, Policy: in.Policy.Policy, Memory: in.Memory.Memory, World: in.World.World, Tries: in.Attempts.Tries,
		Noun: "distribution tenant", Present: in.World.present(), Desired: in.Desired.Tags, Deleting: in.Deleting,
		Applied: in.applied(), Retain: in.Policy.Retain, TrustsID: true, TrustsMark: true, Moment: moment,
		Weighs: in.Memory.ID != "" || !in.CreateMark.IsZero() || len(in.Memory.Ledger) > 0,
	}
	if t := in.World.Tenant; t != nil {
		v.ID, v.ARN = t.ID, t.ARN
	}
	v.Harm = in.harm(v)
	return v
}

// applied reports whether what the present generation asks for was the last that AWS was made equal to.
func (in Input) applied() bool { return in.reached(in.Memory.AppliedGeneration, in.Memory.Parents) }

// Pending reports whether what is asked for has not reached AWS yet.
func (in Input) Pending() bool { return !in.applied() }

// reached reports whether the generation is the present one, and the parents those that it leads to.
func (in Input) reached(generation int64, p Parents) bool {
	return generation == in.Generation && in.World.References.leadTo(p)
}
