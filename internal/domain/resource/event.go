package resource

import (
	"fmt"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
)

// Reasons of events that are not reasons of conditions. The reference page of events is generated from these comments.
const (
	// EventAdopted (Normal; DistributionTenant, Distribution, ConnectionGroup): an existing resource in AWS was adopted.
	// The message names its previous owner, if it had one.
	EventAdopted = "Adopted"
	// EventCreated (Normal; DistributionTenant, Distribution, ConnectionGroup, Invalidation): the operator created the resource
	// in AWS. The message has its ID. For an Invalidation it lists the first five invalidations with their tenants.
	EventCreated = "Created"
	// EventDeleted (Normal; DistributionTenant, Distribution, ConnectionGroup): the operator deleted the resource in AWS.
	EventDeleted = "Deleted"
	// EventDisabled (Normal; DistributionTenant, Distribution, ConnectionGroup): the operator disabled the resource in AWS, so that it can be
	// deleted.
	EventDisabled = "Disabled"
	// EventUpdated (Normal; DistributionTenant, Distribution, ConnectionGroup, Tenant, TenantPlan): the operator changed the
	// resource in AWS, or the objects in the cluster, because the spec or the plan changed or objects were missing. The message
	// lists the first five fields with both values, or the first five objects.
	EventUpdated = "Updated"
	// EventDomainMoved (Normal; DistributionTenant): a DomainClaim with `handOver` has moved a domain to this object from
	// another one.
	EventDomainMoved = "DomainMoved"
	// EventDriftCorrected (Warning; DistributionTenant, Distribution, ConnectionGroup, Tenant, TenantPlan): changes that others
	// made to fields or tags in AWS, to DNS records, or to objects in the cluster were reverted. The message lists the first
	// five; for AWS and DNS it has both values.
	EventDriftCorrected = "DriftCorrected"
	// EventExternalDeletion (Warning; DistributionTenant, Distribution, ConnectionGroup): the resource was deleted outside
	// of Kubernetes and is created again.
	EventExternalDeletion = "ExternalDeletion"
	// EventRetained (Normal; DistributionTenant, Distribution, ConnectionGroup): the object was deleted and its resource
	// stays in AWS, because of `deletionPolicy: Retain` or because its tags do not prove that it belongs to the object.
	EventRetained = "Retained"
)

// DriftEvent tells that drift was corrected, if any was.
func DriftEvent(drift []Difference) (chain.Event, bool) {
	if len(drift) == 0 {
		return chain.Event{}, false
	}
	return chain.Event{Warning: true, Reason: EventDriftCorrected, Message: "Reverted changes made in AWS: " + Detail(drift) + "."}, true
}

// Changes renders the first few fields that were changed, with both values.
func Changes(diff []Difference) string {
	return some(diff, func(d Difference) string { return fmt.Sprintf("%s from %q to %q", d.Field, d.Observed, d.Desired) })
}

// Detail renders the first few differences with both values.
func Detail(diff []Difference) string {
	return some(diff, func(d Difference) string { return fmt.Sprintf("%s %q instead of %q", d.Field, d.Observed, d.Desired) })
}

// some renders the first few differences, and counts the others.
func some(diff []Difference, render func(Difference) string) string {
	var parts []string
	for _, d := range diff[:min(len(diff), someItems)] {
		parts = append(parts, render(d))
	}
	if more := len(diff) - someItems; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, "; ")
}
