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
	// EventDomainMoved (Normal; DistributionTenant): a DomainClaim with `handOver` has moved a domain to this object from
	// another one.
	EventDomainMoved = "DomainMoved"
	// EventDriftCorrected (Warning; DistributionTenant, Distribution, ConnectionGroup): fields or tags that were changed
	// in AWS were set back. The message lists the first five with both values.
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

// Detail renders the first few differences with both values.
func Detail(diff []Difference) string {
	var parts []string
	for _, d := range diff[:min(len(diff), someItems)] {
		parts = append(parts, fmt.Sprintf("%s %q instead of %q", d.Field, d.Observed, d.Desired))
	}
	if more := len(diff) - someItems; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, "; ")
}
