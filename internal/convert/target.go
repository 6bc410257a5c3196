package convert

import (
	"cmp"

	"maps"
	"slices"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// Targets are the customer targets that a connection group asks for.
func Targets(o *v1alpha1.ConnectionGroup) (out []distribution.Target) {
	for _, t := range o.Spec.CustomerTargets {
		out = append(out, distribution.Target{Name: t.Name, DNS: *dnsSpec(cmp.Or(t.DNS, &v1alpha1.DNS{}))})
	}
	return out
}

// TargetLedgers reads back from status what was published for targets.
func TargetLedgers(list []v1alpha1.CustomerTargetStatus) map[string][]dns.Entry {
	out := make(map[string][]dns.Entry, len(list))
	for _, t := range list {
		if entries := ledger(t.Records); len(entries) > 0 {
			out[t.Name] = entries
		}
	}
	return out
}

// TargetStatus is what status says of targets, sorted by name.
func TargetStatus(ledgers map[string][]dns.Entry) (out []v1alpha1.CustomerTargetStatus) {
	for _, name := range slices.Sorted(maps.Keys(ledgers)) {
		out = append(out, v1alpha1.CustomerTargetStatus{Name: name, Records: dnsStatus(ledgers[name]).Records})
	}
	return out
}

// HasTarget reports whether the spec of a connection group that stays has the target, and whether status has records of it.
func HasTarget(o *v1alpha1.ConnectionGroup, name string) (wants, has bool) {
	wants = o.DeletionTimestamp.IsZero() && slices.ContainsFunc(o.Spec.CustomerTargets, func(t v1alpha1.CustomerTarget) bool { return t.Name == name })
	has = slices.ContainsFunc(o.Status.CustomerTargets, func(t v1alpha1.CustomerTargetStatus) bool { return t.Name == name })
	return wants, has
}

// ShareTarget reports whether two connection groups have a target in common, in spec or status.
func ShareTarget(a, b *v1alpha1.ConnectionGroup) bool {
	shared := func(name string) bool {
		wants, has := HasTarget(b, name)
		return wants || has
	}
	return slices.ContainsFunc(a.Spec.CustomerTargets, func(t v1alpha1.CustomerTarget) bool { return shared(t.Name) }) ||
		slices.ContainsFunc(a.Status.CustomerTargets, func(t v1alpha1.CustomerTargetStatus) bool { return shared(t.Name) })
}

// PublishedTargets are the targets of a connection group that customers can be told, in the order of the spec.
func PublishedTargets(o *v1alpha1.ConnectionGroup) (out []string) {
	if !o.DeletionTimestamp.IsZero() {
		return nil
	}
	published := func(t v1alpha1.CustomerTargetStatus) bool {
		return slices.ContainsFunc(t.Records, func(r v1alpha1.DNSRecord) bool { return dns.State(r.State) == dns.Published })
	}
	for _, t := range o.Spec.CustomerTargets {
		if slices.ContainsFunc(o.Status.CustomerTargets, func(s v1alpha1.CustomerTargetStatus) bool { return s.Name == t.Name && published(s) }) {
			out = append(out, t.Name)
		}
	}
	return out
}

// DeniedRole is the first of the roles that publishing needs, and taking back what was published, that the administrator
// has not granted. Empty: all are.
func (d Defaults) DeniedRole(role string, published []v1alpha1.DNSRecord) string {
	roles := []string{role}
	for _, r := range published {
		roles = append(roles, r.AssumeRoleARN)
	}
	for _, r := range roles {
		if r != "" && (d.Allows == nil || !d.Allows(r)) {
			return r
		}
	}
	return ""
}
