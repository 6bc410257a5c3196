package dns

import (
	"slices"
	"strings"
)

// The types of the sets that mark the names at which a zone begins and ends.
const (
	soa = "SOA"
	ns  = "NS"
)

// delegation finds the NS set by which a zone leaves a name to other servers: one at the name or above it, but below the
// zone's own name, which has an SOA. If there are several, the one nearest to the zone's own name counts, as for
// resolvers.
func delegation(sets map[string][]RecordSet, name string) *RecordSet {
	var found *RecordSet
	for above := true; above; _, name, above = strings.Cut(name, ".") {
		at := sets[name]
		if slices.ContainsFunc(at, func(s RecordSet) bool { return s.Type == soa }) {
			return found
		}
		if i := slices.IndexFunc(at, func(s RecordSet) bool { return s.Type == ns }); i >= 0 {
			found = &at[i]
		}
	}
	// Where the zone begins is not known.
	return nil
}
