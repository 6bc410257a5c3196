package distributiontenant

import (
	"cmp"
	"fmt"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// ReferenceField is a field of spec that names an object of this cluster in place of an ID of AWS.
type ReferenceField string

// The fields.
const (
	DistributionRef    ReferenceField = "distributionRef"
	ConnectionGroupRef ReferenceField = "connectionGroupRef"
)

// Reference is an object that the spec names, as the cluster shows it. The zero value but for the field and
// the name is an object that does not exist.
type Reference struct {
	Field                 ReferenceField
	Kind, Namespace, Name string
	// Block is where in spec the field is, if it is that of a template.
	Block string

	Found    bool
	Deleting bool
	// Unread is true when the cluster did not answer whether there is such an object.
	Unread bool
	// ID is the ID in AWS of the object's resource. Empty until the resource exists there and is proven to be the
	// object's own.
	ID string
	// NotReady is why the object is not ready by its own word; empty when it says no such thing.
	NotReady chain.Reason
	// Direct is true for a distribution that can't have tenants.
	Direct bool
	// Endpoint is where the domains of the tenants of a connection group have to point, empty while it is not known.
	Endpoint string
	// Disabled is true for a connection group that CloudFront takes no tenants into, and for a distribution that answers
	// for none of its tenants.
	Disabled bool
}

// References are all that the spec names.
type References []Reference

// Parents are the IDs of the resources that a tenant refers to.
type Parents struct {
	DistributionID, ConnectionGroupID string
}

func (p Parents) of(f ReferenceField) string {
	if f == ConnectionGroupRef {
		return p.ConnectionGroupID
	}
	return p.DistributionID
}

// text names the field, and the object.
func (r Reference) text() string {
	return fmt.Sprintf("spec.%s%s: %s %s/%s", r.Block, r.Field, r.Kind, r.Namespace, r.Name)
}

// problem says why no tenant can use the object, nil when one can. Parents need not be deployed: CloudFront is not
// known to refuse a tenant for that, and a refusal would be retried.
//
// None is stuck. The object's own watch wakes the tenant; a schedule of tries would only keep it waiting.
func (r Reference) problem() *chain.Problem {
	not := func(reason chain.Reason, format string, args ...any) *chain.Problem {
		return &chain.Problem{Reason: reason, Message: r.text() + " " + fmt.Sprintf(format, args...)}
	}
	switch {
	case r.Unread:
		return not(ReasonReferenceNotReady, "could not be read from the cluster. The operator retries.")
	case !r.Found:
		return not(ReasonReferenceNotReady, "does not exist. Create it, or reference another one.")
	case r.Deleting:
		return not(ReasonReferenceNotReady, "is being deleted. Reference another one.")
	case r.Direct:
		return not(resource.ReasonValidationFailed, "has connectionMode direct, so it can't have tenants. Reference one with connectionMode tenant-only.")
	case r.ID == "" && r.NotReady != "":
		return not(ReasonReferenceNotReady, "does not exist in AWS yet. Its Ready condition reports %s.", r.NotReady)
	case r.ID == "":
		return not(ReasonReferenceNotReady, "does not exist in AWS yet.")
	case r.Disabled && r.Field == ConnectionGroupRef:
		return not(ReasonReferenceNotReady, "is disabled in AWS, and CloudFront does not add tenants to a disabled connection group. Enable it (spec.enabled, or in AWS), or reference another one.")
	}
	return nil
}

// Refer takes over what the references of the spec lead to.
func (in *Input) Refer(references []Reference) {
	in.World.References = references
	var led Parents
	for _, r := range references {
		switch r.Field {
		case DistributionRef:
			in.Desired.DistributionID, led.DistributionID = r.ID, r.ID
		case ConnectionGroupRef:
			in.Desired.ConnectionGroupID, led.ConnectionGroupID = r.ID, r.ID
		}
	}
	a := &in.Attempts
	if in.Unresolved() || a.Led == led {
		return
	}
	// An acceptance or refusal with another parent says nothing about this one.
	a.AcceptedFor, a.Accepted = 0, 0
	a.Asked = a.Asked || a.Led != Parents{}
	a.Led = led
}

// Group is the object of the connection group, nil if the spec names no such object.
func (list References) Group() *Reference {
	for i, r := range list {
		if r.Field == ConnectionGroupRef {
			return &list[i]
		}
	}
	return nil
}

// KnowsGroup reports whether it is known in which connection group the tenant is, or will be.
func (in Input) KnowsGroup() bool {
	r := in.World.References.Group()
	return in.World.present() || r == nil || r.problem() == nil
}

// endpointText names where DNS has to point, or says why that is not known and how to find out.
func (in Input) endpointText() string {
	const unlisted = ", which AWS does not list for the operator"
	known := cmp.Or(in.World.RoutingEndpoint, in.Memory.RoutingEndpoint)
	switch id := in.Group(); {
	case !in.KnowsGroup():
		r := in.World.References.Group()
		return fmt.Sprintf("the routing endpoint of %s %s/%s, which is known once that object exists in AWS", r.Kind, r.Namespace, r.Name)
	case known != "":
		return known
	case !in.looked():
		return "the routing endpoint of its connection group, which the operator has not looked up yet"
	case id != "":
		return "the routing endpoint of the connection group " + id + unlisted + ": check the ID, and allow the operator cloudfront:ListConnectionGroups"
	}
	return "the routing endpoint of the account's default connection group" + unlisted +
		": AWS creates that group with the first tenant of the account. Create a ConnectionGroup, reference it in spec.connectionGroupRef, and allow the operator cloudfront:ListConnectionGroups"
}

// looked reports whether it was looked up where DNS has to point for this generation, found or not.
func (in Input) looked() bool {
	return in.World.RoutingKnown || in.Attempts.RoutedFor == in.Generation
}

// answered reports whether there is no need to look that up again for this generation: a refusal is no answer.
func (in Input) answered() bool {
	return in.World.RoutingKnown || in.looked() && !in.Attempts.RoutingRefused && !in.Nudged
}

// Group is the ID of the tenant's connection group, empty for the account's default one.
func (in Input) Group() string {
	if t := in.World.Tenant; t != nil {
		return t.ConnectionGroupID
	}
	return in.Desired.ConnectionGroupID
}

// problem is what is wrong with the first reference that can't be resolved; nil when there is none.
func (list References) problem() *chain.Problem {
	for _, r := range list {
		if p := r.problem(); p != nil {
			return p
		}
	}
	return nil
}

// distribution is the object of the distribution with that ID, nil if the spec names no such object.
func (list References) distribution(id string) *Reference {
	for i, r := range list {
		if r.Field == DistributionRef && r.ID == id {
			return &list[i]
		}
	}
	return nil
}

// Unresolved reports whether it is unknown what the spec asks for, because a reference leads nowhere.
func (in Input) Unresolved() bool { return in.World.References.problem() != nil }

// Unresolvable says why not all references of the spec lead somewhere, empty where they do.
func (in Input) Unresolvable() string { return in.World.References.Unresolvable() }

// Unresolvable says which of them leads nowhere, and why; empty where all lead somewhere.
func (list References) Unresolvable() string {
	if p := list.problem(); p != nil {
		return p.Message
	}
	return ""
}

// leadTo reports whether those are the parents that the references lead to. A field with an ID changes with the
// generation only, and a reference that leads nowhere is not compared.
func (list References) leadTo(p Parents) bool {
	for _, r := range list {
		if r.problem() == nil && p.of(r.Field) != r.ID {
			return false
		}
	}
	return true
}

// referenced stops everything while it is unknown what the spec asks for. A tenant that is there
// stays as it is, whatever else has changed: half a change could be a harmful one.
func referenced(in judged) (Decision, bool) {
	p := in.World.References.problem()
	if p == nil {
		return pass()
	}
	d := Decision{Step: Rest{}, Problem: p}
	if !in.resource.Mine() {
		return d, true
	}
	p.Of = chain.Synced
	p.Message += " Until then, the distribution tenant is not changed."
	if progress, fires := settled(in); fires {
		d.Step = progress.Step
	} else if wait := in.certificate.Wait; in.certificate.Request != nil && wait > 0 {
		d.Step = Rest{After: wait}
	}
	return d, true
}
