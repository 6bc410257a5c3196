package webhook

import (
	"cmp"
	"context"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/advice"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/upstream"
)

// gather finds out what is known besides the object. The rest is unknown.
func (h *Handler) gather(ctx context.Context, now, before *v1alpha1.DistributionTenant) advice.Known {
	if h.Ungranted != nil {
		if why := h.Ungranted(ctx, now); why != "" {
			return advice.Known{NotGranted: why}
		}
	}
	fresh := added(now, before)
	k := advice.Known{Distribution: h.distribution(ctx, now)}
	for _, domain := range fresh {
		k.Holders = append(k.Holders, h.holders(ctx, now, domain)...)
	}
	if asked := fresh; h.DNS != nil {
		if now.Spec.ManagedCertificateRequest != nil && before.Spec.ManagedCertificateRequest == nil {
			asked = domainsOf(now)
		}
		k.Target = h.target(ctx, now)
		k.Sights = h.look(ctx, now, asked, k.Target)
	}
	return k
}

// holders are the other objects that have a domain. One that is being deleted releases it soon, one that has not proven
// the domain has nothing of it, and one from which the domain is handed over to this object loses it.
func (h *Handler) holders(ctx context.Context, o *v1alpha1.DistributionTenant, domain string) []advice.Holder {
	var list v1alpha1.DistributionTenantList
	if err := h.Cache.List(ctx, &list, client.MatchingFields{indexDomain: domain}, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	var out []advice.Holder
	var c v1alpha1.DomainClaimSpec
	if len(list.Items) > 0 {
		c = h.handOver(ctx, domain)
	}
	for i := range list.Items {
		t := &list.Items[i]
		other := t.Namespace != o.Namespace || t.Name != o.Name
		if t.DeletionTimestamp.IsZero() && other && (!receives(c, o) || receives(c, t)) && !unproven(t, domain) {
			out = append(out, advice.Holder{Domain: domain, Namespace: t.Namespace, Name: t.Name})
		}
	}
	return out
}

// handOver says to whom an administrator hands the domain over. It is empty if the domain is not handed over.
func (h *Handler) handOver(ctx context.Context, domain string) v1alpha1.DomainClaimSpec {
	name := claim.Name(claim.Canonical(domain))
	if h.Claims == nil || name == "" {
		return v1alpha1.DomainClaimSpec{}
	}
	var c v1alpha1.DomainClaim
	if err := h.Claims.Get(ctx, client.ObjectKey{Name: name}, &c); err != nil || !c.DeletionTimestamp.IsZero() || !c.Spec.HandOver {
		return v1alpha1.DomainClaimSpec{}
	}
	return c.Spec
}

// receives reports whether a hand-over is in favor of the object.
func receives(c v1alpha1.DomainClaimSpec, o *v1alpha1.DistributionTenant) bool {
	return c.Namespace == o.Namespace && (c.TenantRef == nil || c.TenantRef.Name == o.Name)
}

func unproven(o *v1alpha1.DistributionTenant, domain string) bool {
	return slices.Contains(convert.Unproven(o), domain)
}

// distribution is what is known of the distribution that an object names: from the Distribution object or, without one,
// from what the controllers have read in AWS lately.
func (h *Handler) distribution(ctx context.Context, o *v1alpha1.DistributionTenant) advice.Distribution {
	if ref := o.Spec.DistributionRef; ref != nil {
		var d v1alpha1.Distribution
		switch err := h.Cache.Get(ctx, client.ObjectKey{Namespace: cmp.Or(ref.Namespace, o.Namespace), Name: ref.Name}, &d); {
		case apierrors.IsNotFound(err):
			return advice.Distribution{Known: true, Missing: true}
		case err != nil:
			return advice.Distribution{}
		}
		return declared(&d)
	}
	var list v1alpha1.DistributionList
	err := h.Cache.List(ctx, &list, client.MatchingFields{indexDistribution: o.Spec.DistributionID}, client.UnsafeDisableDeepCopy)
	if err == nil && len(list.Items) > 0 && list.Items[0].DeletionTimestamp.IsZero() {
		return declared(&list.Items[0])
	}
	d, known := h.Distribution(ctx, o.Namespace, o.Spec.DistributionID)
	if !known || d.Unreadable {
		return advice.Distribution{}
	}
	return advice.Distribution{Known: true, Missing: d.Missing, MultiTenant: d.MultiTenant, Name: o.Spec.DistributionID, Parameters: d.Parameters}
}

// declared is what a Distribution object says.
func declared(d *v1alpha1.Distribution) advice.Distribution {
	out := advice.Distribution{Known: true, MultiTenant: d.Spec.ConnectionMode != v1alpha1.ConnectionModeDirect, Name: d.Status.ID}
	if out.Name == "" {
		out.Name = d.Name
	}
	if d.Spec.TenantConfig == nil {
		return out
	}
	for _, p := range d.Spec.TenantConfig.ParameterDefinitions {
		out.Parameters = append(out.Parameters, parameter(p))
	}
	return out
}

func parameter(p v1alpha1.ParameterDefinition) upstream.Parameter {
	out := upstream.Parameter{Name: p.Name}
	if p.Definition != nil && p.Definition.StringSchema != nil {
		out.Required = ptr.Deref(p.Definition.StringSchema.Required, false)
	}
	return out
}

// target is the endpoint to which the domains of an object have to point, if it is known.
func (h *Handler) target(ctx context.Context, o *v1alpha1.DistributionTenant) string {
	if ref := o.Spec.ConnectionGroupRef; ref != nil {
		var g v1alpha1.ConnectionGroup
		if err := h.Cache.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: ref.Name}, &g); err != nil {
			return ""
		}
		return g.Status.RoutingEndpoint
	}
	return h.Endpoint(ctx, o.Namespace, o.Spec.ConnectionGroupID)
}

// look asks DNS about the first of the domains, unless it is being asked about too many others.
func (h *Handler) look(ctx context.Context, o *v1alpha1.DistributionTenant, domains []string, target string) []advice.Sight {
	if len(domains) == 0 {
		return nil
	}
	select {
	case h.looks <- struct{}{}:
		defer func() { <-h.looks }()
	default:
		h.Observer.Looked(LookBusy)
		return nil
	}
	domains = domains[:min(len(domains), maxDomains)]
	q := advice.Question{Issuers: o.Spec.ManagedCertificateRequest != nil}
	if target != "" {
		q.Targets = []string{target}
	}
	if o.Spec.DNS != nil {
		q.Zone = o.Spec.DNS.ZoneName
	}
	sights, errs := make([]advice.Sight, len(domains)), make([]error, len(domains))
	var group sync.WaitGroup
	for i, d := range domains {
		group.Go(func() {
			of := q
			of.Domain = d
			sights[i], errs[i] = h.DNS.Look(ctx, of)
			sights[i].Place = convert.Place(d)
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			h.Observer.Looked(LookFailed)
			return sights
		}
	}
	h.Observer.Looked(LookAnswered)
	return sights
}
