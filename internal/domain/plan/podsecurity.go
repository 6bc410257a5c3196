package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// podSecurityLevels are in their order. A namespace that enforces none enforces the first.
var podSecurityLevels = []string{"privileged", "baseline", "restricted"}

// PodSecurity has the levels of pod security admission; empty for none.
type PodSecurity struct{ Enforce, Audit, Warn, Version string }

// CheckPodSecurityLevel reports a level that does not exist.
func CheckPodSecurityLevel(level string) error {
	if !slices.Contains(podSecurityLevels, level) {
		return fmt.Errorf("%s is not a level of pod security: use %s", prose.Quote(level), strings.Join(podSecurityLevels, ", "))
	}
	return nil
}

// below reports whether the level allows more than the other.
func below(level, other string) bool {
	return slices.Index(podSecurityLevels, level) < slices.Index(podSecurityLevels, other)
}

// CheckMin reports a level that a plan says although it allows more than plans may.
func (s PodSecurity) CheckMin(level string) error {
	if s.Enforce == "" || !below(s.Enforce, level) {
		return nil
	}
	return fmt.Errorf("spec.podSecurity.enforce %s allows more than customers' namespaces may: use %s, or lower --min-pod-security (chart value tenancy.minPodSecurity)",
		prose.Quote(s.Enforce), strings.Join(podSecurityLevels[slices.Index(podSecurityLevels, level):], " or "))
}

// atLeast raises what is enforced to the level.
func (s PodSecurity) atLeast(level string) PodSecurity {
	if below(s.Enforce, level) && level != podSecurityLevels[0] {
		s.Enforce = level
	}
	return s
}
