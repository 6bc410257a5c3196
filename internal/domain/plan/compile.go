package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/kubename"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// Compile checks a plan, and prepares it for building the objects of its tenants. The error names every mistake, with
// field, value, reason and fix.
func Compile(name, uid string, generation int64, spec Spec) (*Plan, error) {
	c := compiler{}
	c.checkName(name)
	c.checkKeys(spec)
	c.checkLimits(spec)
	c.checkOwner(spec.OwnerClusterRole)
	c.checkIstio(spec.Istio)
	edge := c.compileEdge(spec.Edge)
	if len(c.mistakes) > 0 {
		return nil, errors.Join(c.mistakes...)
	}
	if len(spec.IngressNamespaces) == 0 {
		spec.IngressNamespaces = []string{"istio-system", "istio-ingress"}
	}
	return &Plan{Name: name, UID: uid, Generation: generation, spec: spec, edge: edge}, nil
}

// compiler collects what is wrong with a plan.
type compiler struct{ mistakes []error }

func (c *compiler) mistake(format string, args ...any) {
	c.mistakes = append(c.mistakes, fmt.Errorf(format, args...))
}

func (c *compiler) checkName(name string) {
	if name == "" || !kubename.IsLabelValue(name) {
		c.mistake("metadata.name %s is not a valid label value (1 to %d letters, digits and inner - _ .): create the plan with another name",
			prose.Quote(name), kubename.LongestLabel)
	}
}

func (c *compiler) checkKeys(spec Spec) {
	c.checkMap("spec.labels", spec.Labels)
	for _, key := range slices.Sorted(maps.Keys(spec.Labels)) {
		if !kubename.IsLabelValue(spec.Labels[key]) {
			c.mistake("spec.labels[%s] %s is not a valid label value: use at most %d letters, digits and inner - _ . , or use an annotation",
				key, prose.Quote(spec.Labels[key]), kubename.LongestLabel)
		}
	}
	c.checkMap("spec.annotations", spec.Annotations)
}

func (c *compiler) checkMap(at string, m map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !kubename.IsQualified(key) {
			c.mistake("%s: %s is not a valid key: use at most %d letters, digits and inner - _ . , with an optional domain prefix, as in example.com/team",
				at, prose.Quote(key), kubename.LongestLabel)
		}
	}
}

func (c *compiler) checkOwner(role string) {
	if role == "." || role == ".." || strings.ContainsAny(role, "/%") {
		c.mistake("spec.owner.clusterRole %s is not a valid ClusterRole name, which has no / and no %%: use one such as edit", prose.Quote(role))
	}
}

// checkLimits finds what the schema of quantities takes and the API server does not.
func (c *compiler) checkLimits(spec Spec) {
	c.checkResources("spec.resourceQuota.hard", spec.ResourceQuota["hard"])
	limits, _ := spec.LimitRange["limits"].([]any)
	for i := range limits {
		limit, _ := limits[i].(map[string]any)
		for _, name := range []string{"default", "defaultRequest", "max", "maxLimitRequestRatio", "min"} {
			c.checkResources(fmt.Sprintf("spec.limitRange.limits[%d].%s", i, name), limit[name])
		}
	}
}

func (c *compiler) checkResources(at string, v any) {
	resources, _ := v.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(resources)) {
		if !kubename.IsQualified(name) {
			c.mistake("%s: %s is not a valid resource name: use one such as cpu, requests.memory or example.com/gpu", at, prose.Quote(name))
		}
		if quantity := fmt.Sprint(resources[name]); strings.HasPrefix(quantity, "-") {
			c.mistake("%s[%s] %s is negative: use a quantity of 0 or more", at, name, prose.Quote(quantity))
		}
	}
}

func (c *compiler) checkIstio(i Istio) {
	if i.Revision != "" && i.Injection != "" && i.Injection != InjectionEnabled {
		c.mistake("spec.istio.revision %s needs sidecar injection, but spec.istio.injection is %s: remove the revision, or set injection to Enabled",
			prose.Quote(i.Revision), i.Injection)
	}
	if i.Revision != "" && !kubename.IsLabelValue(i.Revision) {
		c.mistake("spec.istio.revision %s is not a valid label value: use the name of a revision or a tag of the control plane", prose.Quote(i.Revision))
	}
	if i.Gateway == nil {
		return
	}
	c.checkMap(pathGateway+".selector", i.Gateway.Selector)
	for n, host := range i.Gateway.Hosts {
		c.checkText(fmt.Sprintf("%s.hosts[%d]", pathGateway, n), host, isHost, "valid DNS name for any tenant: use one such as {{username}}.apps.example.com")
	}
	if secret := i.Gateway.TLSSecret; secret != "" {
		c.checkText(pathGateway+".tlsSecret", secret, kubename.IsDomain, "valid Secret name for any tenant: use one such as {{namespace}}-tls")
	}
}

// checkText finds wrong placeholders, and what is illegal even with the shortest and plainest of values in their places.
func (c *compiler) checkText(at, text string, legal func(string) bool, what string) {
	parts, err := parse(text)
	if err != nil {
		c.mistake("%s: %w", at, err)
		return
	}
	var sample strings.Builder
	for _, p := range parts {
		if p.column != nil {
			sample.WriteString("x")
		}
		sample.WriteString(p.text)
	}
	if !legal(strings.ToLower(sample.String())) {
		c.mistake("%s %s is not a %s", at, prose.Quote(text), what)
	}
}
