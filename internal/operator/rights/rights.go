// Package rights lists the rights that the operator needs in the cluster, and checks them at its start.
package rights

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
)

// rolesFile has the roles that are generated from the markers in the code, as the chart has them.
//
//go:embed roles.yaml
var rolesFile string

// controllerRoles are those for the kinds of a controller, in the namespaces that are watched. They leave out Secrets:
// in which namespaces they may be read is known from the sources alone, and each reports it when it may not.
var controllerRoles = []struct{ controller, role string }{
	{config.DistributionTenant, "tenants"}, {config.TenantSource, "sources"}, {config.Distribution, "distributions"},
	{config.ConnectionGroup, "connectiongroups"}, {config.Invalidation, "invalidations"},
}

// Needed lists the rights that the configuration needs. Which ClusterRoles may be bound, and which constraints made, is
// known from the plans alone, and each reports it when it may not.
func Needed(c config.Config) []Right {
	roles, out := readRoles(c.Webhook), []Right(nil)
	watched := []string(c.WatchNamespaces)
	if len(watched) == 0 {
		watched = []string{metav1.NamespaceAll}
	}
	for _, namespace := range watched {
		for _, of := range controllerRoles {
			if slices.Contains(c.Controllers, of.controller) {
				out = append(out, rightsOf(roles[of.role], reasons[of.role], namespace)...)
			}
		}
	}
	own, copied := c.LeaseNamespace(), c.ClusterCheck.CopyNamespace
	for _, of := range []struct {
		needed          bool
		role, namespace string
	}{
		{slices.Contains(c.Controllers, config.Tenant), "tenancy", ""},
		{c.ClusterID == "", "cluster-id", ""},
		{c.LeaderElect && own != "", "leader-election", own},
		{c.Grants.Enabled(), "grants", ""},
		{c.ClusterCheck.Enabled, "cluster-check", own},
		{c.ClusterCheck.Enabled && copied != "", "cluster-check-copy", copied},
		{c.JudgesDomains(), "domain-claims", ""},
		{c.Webhook.Enabled(), "webhook", c.WebhookNamespace()},
		{c.Webhook.Enabled(), "webhook-configuration", ""},
		{c.Budget.Enabled, "deletion-budget", own},
		{c.MetricsSecure && c.MetricsAddress != "" && c.MetricsAddress != "0", "metrics", ""},
	} {
		if of.needed {
			out = append(out, rightsOf(roles[of.role], reasons[of.role], of.namespace)...)
		}
	}
	return distinct(out)
}

// readRoles reads the rules of each role. The webhook's objects have the names of the release, so its roles are not
// generated.
func readRoles(webhook config.Webhook) map[string][]rbacv1.PolicyRule {
	roles := map[string][]rbacv1.PolicyRule{
		"webhook":               {{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{webhook.ServiceName()}, Verbs: []string{"get", "update"}}},
		"webhook-configuration": {{APIGroups: []string{"admissionregistration.k8s.io"}, Resources: []string{"validatingwebhookconfigurations"}, ResourceNames: []string{webhook.Name}, Verbs: []string{"get", "patch"}}},
	}
	for text := range strings.SplitSeq(strings.TrimPrefix(rolesFile, "---\n"), "---\n") {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal([]byte(text), &role); err != nil {
			panic(fmt.Sprintf("the generated roles are no YAML: %v", err))
		}
		roles[role.Name] = role.Rules
	}
	roles["tenancy"] = append(roles["tenancy"], roles["tenancy-istio"]...)
	delete(roles, "tenancy-istio")
	return roles
}

// rightsOf are the rights of a role in a namespace, in the order of its reasons.
func rightsOf(rules []rbacv1.PolicyRule, reasons []reason, namespace string) (out []Right) {
	for _, why := range reasons {
		for _, rule := range rules {
			if !slices.Contains(rule.Resources, why.resource) {
				continue
			}
			for _, v := range verbs {
				if !slices.Contains(rule.Verbs, v.name) {
					continue
				}
				r := Right{Group: rule.APIGroups[0], Resource: why.resource, Verb: v.name, Namespace: namespace, For: why.of(v.name, v.doing), Optional: why.optional}
				if len(rule.ResourceNames) > 0 {
					r.Name = rule.ResourceNames[0]
				}
				out = append(out, r)
			}
		}
	}
	return out
}

// distinct leaves out what two controllers both need the second time.
func distinct(rights []Right) []Right {
	seen := map[authorizationv1.ResourceAttributes]bool{}
	return slices.DeleteFunc(rights, func(r Right) bool {
		again := seen[*r.attributes()]
		seen[*r.attributes()] = true
		return again
	})
}
