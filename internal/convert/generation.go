package convert

import "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"

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

// judged is the generation that both Ready and Synced speak of, zero where there is none. While Ready is True for what
// was applied before, the change since has yet to be judged: who waits for it would take it for done.
func judged(list []chain.Condition, reached int64) int64 {
	generation := int64(0)
	for _, c := range list {
		switch {
		case c.Type == chain.Ready && c.Status && c.Generation != reached:
			return 0
		case c.Type != chain.Ready && c.Type != chain.Synced:
		case generation == 0 || c.Generation < generation:
			generation = c.Generation
		}
	}
	return generation
}
