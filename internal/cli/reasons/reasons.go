// Package reasons has what to do about the reasons of conditions, in the words of the reference pages.
package reasons

// Fix is what to do about a reason of a condition, empty if there is nothing to do. kind is that of the object.
func Fix(kind, reason string) string {
	if kind == "Tenant" || kind == "TenantPlan" {
		if fix, found := kleff[reason]; found {
			return fix
		}
	}
	return cloudFront[reason]
}
