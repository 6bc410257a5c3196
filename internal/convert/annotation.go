package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// Paused reports whether the annotation pauses its object: it does with every value but "false", because a user who
// misspells "true" wants the operator to stop. The note, which follows other text, says so of such a value.
func Paused(annotations map[string]string) (paused bool, note string) {
	switch value, set := annotations[v1alpha1.AnnotationPaused]; {
	case !set, value == v1alpha1.PausedFalse:
		return false, ""
	case value == v1alpha1.PausedTrue:
		return true, ""
	default:
		return true, fmt.Sprintf(" The annotation %s has the value %s, which is neither %q nor %q, so it counts as %q. Set it to %q to keep the object paused.",
			v1alpha1.AnnotationPaused, prose.Quote(value), v1alpha1.PausedTrue, v1alpha1.PausedFalse, v1alpha1.PausedTrue, v1alpha1.PausedTrue)
	}
}

// usersAnnotations are those that users set, each only on the kinds that heed it.
var usersAnnotations = []string{
	v1alpha1.AnnotationPaused, v1alpha1.AnnotationReconcileNow, v1alpha1.AnnotationSyncNow, v1alpha1.AnnotationAbandonDNS,
	v1alpha1.AnnotationApproveDeletions, v1alpha1.AnnotationAbandonDeletions, v1alpha1.AnnotationAcceptCluster, v1alpha1.AnnotationReleaseRollout,
}

// ownAnnotations are the memory of the operator and of its kubectl plugin.
var ownAnnotations = []string{
	v1alpha1.AnnotationCreatePending, v1alpha1.AnnotationAdoptedGeneration, v1alpha1.AnnotationAccount, v1alpha1.AnnotationReleasedBy,
	v1alpha1.AnnotationMovedFrom, v1alpha1.AnnotationSourceHash, v1alpha1.AnnotationSourceRowKey,
	v1alpha1.AnnotationSourceRow, v1alpha1.AnnotationSourceRevision,
	v1alpha1.AnnotationSourceGone, v1alpha1.AnnotationSourceDisabled,
}

// IgnoredAnnotations says which annotations with the operator's prefix have no effect on an object of a kind that heeds
// those.
func IgnoredAnnotations(annotations map[string]string, heeded []string) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		value, ours := annotations[key], strings.HasPrefix(key, v1alpha1.GroupName+"/")
		switch {
		case !ours || slices.Contains(ownAnnotations, key):
		case slices.Contains(heeded, key):
			if key == v1alpha1.AnnotationAbandonDNS && value != v1alpha1.AbandonTrue {
				out = append(out, fmt.Sprintf("The annotation %s has no effect with the value %s: set it to %q.", key, prose.Quote(value), v1alpha1.AbandonTrue))
			}
		case slices.Contains(usersAnnotations, key):
			out = append(out, fmt.Sprintf("The annotation %s has no effect on objects of this kind.", key))
		default:
			out = append(out, fmt.Sprintf("The operator does not know the annotation %s, so it has no effect.%s", prose.Quote(key), nearest(key, heeded)))
		}
	}
	return out
}

// nearest names the annotation that may be meant.
func nearest(key string, heeded []string) string {
	best, least := "", maxTypos+1
	for _, known := range heeded {
		if d := levenshtein.ComputeDistance(key, known); d < least {
			best, least = known, d
		}
	}
	if best == "" {
		return ""
	}
	return " Did you mean " + best + "?"
}

// maxTypos is how many letters of an annotation may be wrong for it to be recognized.
const maxTypos = 4
