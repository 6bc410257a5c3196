package cli

import (
	"fmt"
	"strings"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// rolloutText tells how far a change of a source's spec has come; empty where none is on its way.
func rolloutText(r *v1alpha1.SourceRolloutStatus) string {
	if r == nil || r.Complete || r.Tenants == nil {
		return ""
	}
	text := fmt.Sprintf("%d of %d tenants have the change", amount(r.Applied), *r.Tenants)
	var more []string
	if r.Step > 0 && r.Target > 0 {
		more = append(more, fmt.Sprintf("step %d reaches %d", r.Step, r.Target))
	}
	if n := amount(r.Failed); n > 0 {
		more = append(more, fmt.Sprintf("%d failed", n))
	}
	return strings.Join(append([]string{text}, more...), ", ")
}

func amount(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}
