package convert

import (
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
)

// appliedGeneration is the generation that was applied. A status that has no such field is of an earlier version, or of
// the operator before this one: there observedGeneration meant that.
func appliedGeneration(observed int64, applied *int64) int64 {
	if applied != nil {
		return *applied
	}
	return max(observed, 0)
}

// setGenerations writes which generation was judged, zero for none, and which was applied. A status of an earlier version
// whose one generation still tells both is left as it is: to add the field alone is not worth a write of each object.
func setGenerations(observed *int64, applied **int64, judged, reached int64) {
	old, before := *applied == nil && *observed > 0, appliedGeneration(*observed, *applied)
	if judged > 0 {
		*observed = judged
	}
	same := reached == before && judged == 0
	if same || old && reached == *observed {
		return
	}
	*applied = &reached
}

// judged is the generation that both Ready and Synced speak of, zero where there is none.
func judged(list []chain.Condition) int64 {
	var generations []int64
	for _, c := range list {
		if c.Type == chain.Ready || c.Type == chain.Synced {
			generations = append(generations, c.Generation)
		}
	}
	if len(generations) == 0 {
		return 0
	}
	return slices.Min(generations)
}
