package resource

import (
	"fmt"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
)

// The reasons of events that are no reasons of conditions.
const (
	EventAdopted          = "Adopted"
	EventDriftCorrected   = "DriftCorrected"
	EventExternalDeletion = "ExternalDeletion"
	EventRetained         = "Retained"
)

// DriftEvent tells that drift was corrected, if any was.
func DriftEvent(drift []Difference) (chain.Event, bool) {
	if len(drift) == 0 {
		return chain.Event{}, false
	}
	return chain.Event{Warning: true, Reason: EventDriftCorrected, Message: "Set back what was changed in AWS: " + Detail(drift) + "."}, true
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
