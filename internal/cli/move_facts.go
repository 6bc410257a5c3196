package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/fleet"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/moving"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
)

// mover moves domains.
type mover struct {
	*session

	k client.WithWatch
}

// facts reads what a move depends on. From is nil where only the receiver has the domain.
func (m mover) facts(ctx context.Context, domain string, f moveFlags) (facts moving.Facts, err error) {
	facts.Domain, facts.Files, facts.Enabled = domain, f.patches != "", m.heedsClaims(ctx)
	if facts.To, err = m.tenantNamed(ctx, f.to); err != nil {
		return facts, err
	}
	if facts.Claim, err = m.claimFor(ctx, domain); err != nil {
		return facts, err
	}
	from := f.from
	if from == "" && facts.Claim != nil {
		from = facts.Claim.Annotations[v1alpha1.AnnotationMovedFrom]
	}
	if from != "" {
		facts.From, err = m.tenantNamed(ctx, from)
	} else {
		facts.From, err = m.holder(ctx, domain, facts.To)
	}
	if apierrors.IsNotFound(err) && facts.Resumes(from) {
		facts.FormerDeleted()
		err = nil
	}
	if err != nil || facts.From == nil || facts.Files {
		return facts, err
	}
	facts.Denied, err = m.denied(ctx, facts)
	return facts, err
}

// heedsClaims reports whether the operator runs with claims.
func (m mover) heedsClaims(ctx context.Context) moving.Tristate {
	run, err := m.settings(ctx)
	switch {
	case err != nil:
		return moving.Unknown
	case run["domain-claims"] == "true":
		return moving.Yes
	}
	return moving.No
}

// tenantNamed reads the object that a user names as [NAMESPACE/]NAME.
func (m mover) tenantNamed(ctx context.Context, named string) (*v1alpha1.DistributionTenant, error) {
	namespace, name, found := strings.Cut(named, "/")
	if !found {
		name = named
		var err error
		if namespace, err = m.cluster.namespace(); err != nil {
			return nil, err
		}
	}
	var o v1alpha1.DistributionTenant
	switch err := m.k.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &o); {
	case meta.IsNoMatchError(err):
		return nil, errNotInstalled
	case apierrors.IsNotFound(err):
		return nil, absent{error: fmt.Errorf("there is no DistributionTenant %s in namespace %s", name, namespace), answer: err}
	case err != nil:
		return nil, fmt.Errorf("reading DistributionTenant %s/%s: %w", namespace, name, err)
	}
	return &o, nil
}

// claimFor is the claim for a domain; nil if there is none.
func (m mover) claimFor(ctx context.Context, domain string) (*v1alpha1.DomainClaim, error) {
	name := claim.Name(domain)
	if name == "" {
		return nil, nil
	}
	var o v1alpha1.DomainClaim
	switch err := m.k.Get(ctx, client.ObjectKey{Name: name}, &o); {
	case meta.IsNoMatchError(err):
		return nil, m.missing(ctx, "DomainClaim")
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading the DomainClaim %s: %w", name, err)
	}
	return &o, nil
}

// holder is the only object besides the receiver that has the domain.
func (m mover) holder(ctx context.Context, domain string, to *v1alpha1.DistributionTenant) (*v1alpha1.DistributionTenant, error) {
	f, err := fleet.Load(ctx, m.k, "", kindTenant)
	if err != nil {
		return nil, err
	}
	if len(f.Gaps) > 0 {
		return nil, fmt.Errorf("looking for the object that has %s: %w. Name it with --from", domain, f.Gaps[0].Err)
	}
	var names []string
	var found *v1alpha1.DistributionTenant
	for _, o := range f.Tenants() {
		if moving.Wants(o, domain) && o.UID != to.UID {
			names, found = append(names, moving.Name(o)), o
		}
	}
	slices.Sort(names)
	switch {
	case len(names) > 1:
		return nil, fmt.Errorf("%s is in the specs of %s: name the one that it is moved from with --from", domain, strings.Join(names, ", "))
	case found == nil && !moving.Wants(to, domain):
		return nil, fmt.Errorf("no DistributionTenant has %s in its spec", domain)
	}
	return found, nil
}

// denied are the rights that a move needs and the user lacks.
func (m mover) denied(ctx context.Context, f moving.Facts) (out []string, err error) {
	for _, right := range []struct {
		step            moving.Step
		verb, resource  string
		namespace, name string
	}{
		{moving.CreateClaim, "create", "domainclaims", "", ""},
		{moving.AddDomain, "patch", "distributiontenants", f.To.Namespace, f.To.Name},
		{moving.WaitForRelease, "watch", "distributiontenants", f.To.Namespace, ""},
		{moving.WaitForRelease, "watch", "distributiontenants", f.From.Namespace, ""},
		{moving.RemoveDomain, "patch", "distributiontenants", f.From.Namespace, f.From.Name},
		{moving.DeleteClaim, "delete", "domainclaims", "", claim.Name(f.Domain)},
	} {
		if f.Done(right.step) || right.step == moving.DeleteClaim && f.Claim != nil && !moving.Made(f.Claim) {
			continue
		}
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Group: v1alpha1.GroupName, Resource: right.resource, Verb: right.verb, Namespace: right.namespace, Name: right.name,
		}}}
		if err := m.k.Create(ctx, review); err != nil {
			return nil, fmt.Errorf("asking for your rights: %w", err)
		}
		text := right.verb + " " + right.resource
		if right.namespace != "" {
			text += " in namespace " + right.namespace
		}
		if !review.Status.Allowed && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out, nil
}

// absent is the API server's answer that there is no such object, in words that name it.
type absent struct {
	error

	answer error
}

func (a absent) Unwrap() error { return a.answer }
