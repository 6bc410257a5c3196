package moving

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/arn"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/fleet"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
)

// refusals are what stands in the way. Steps that are done already are not checked again.
func (f Facts) refusals() (out []Finding) {
	switch {
	case claim.Name(f.Domain) == "":
		return []Finding{{"the domain " + f.Domain + " is too long", "a DomainClaim could not have its name", "move it by removing it from " + Name(f.From) + " and adding it to " + Name(f.To) + ", with a gap"}}
	case Name(f.From) == Name(f.To):
		fix := "name another object with --to"
		if f.Claim != nil && Made(f.Claim) {
			fix = "the DomainClaim " + f.Claim.Name + " is left of an earlier move from there: end that move, or name the object that has the domain now with --from"
		}
		return []Finding{{Name(f.To) + " is both ends of the move", "a domain moves to another object", fix}}
	case f.Done(DeleteClaim):
		return nil
	}
	for _, check := range []func() *Finding{f.claims, f.claimed, f.ending, f.held, f.account, f.receiver, f.enabled, f.former, f.last, f.certificate, f.dns, f.places, f.rights} {
		if r := check(); r != nil {
			out = append(out, *r)
		}
	}
	for _, o := range f.edited() {
		if r := f.idle(o); r != nil {
			out = append(out, *r)
		}
		if r := f.managed(o); r != nil {
			out = append(out, *r)
		}
	}
	return out
}

// edited are the objects whose spec has yet to be changed.
func (f Facts) edited() (out []*v1alpha1.DistributionTenant) {
	if !f.Done(AddDomain) {
		out = append(out, f.To)
	}
	if !f.Done(RemoveDomain) {
		out = append(out, f.From)
	}
	return out
}

func (f Facts) claims() *Finding {
	if f.Enabled != No {
		return nil
	}
	return &Finding{"the operator does not heed DomainClaims", "it runs without --domain-claims, so that nothing would be moved", "set the chart value controller.domainClaims.enabled to true"}
}

func (f Facts) claimed() *Finding {
	c := f.Claim
	if c == nil || c.Spec.HandOver && c.Spec.Namespace == f.To.Namespace && c.Spec.TenantRef != nil && c.Spec.TenantRef.Name == f.To.Name {
		return nil
	}
	what := "is for the namespace " + c.Spec.Namespace
	if c.Spec.TenantRef != nil {
		what = "hands the domain over to " + c.Spec.Namespace + "/" + c.Spec.TenantRef.Name
	}
	return &Finding{"there is a DomainClaim " + c.Name + " already", "it " + what + ", and a domain has only one claim",
		"delete it with `kubectl delete domainclaim " + c.Name + "`, or set its namespace, handOver and tenantRef for " + Name(f.To)}
}

// ending refuses a claim that may end before the move does.
func (f Facts) ending() *Finding {
	c := f.Claim
	if c == nil || f.Done(WaitForRelease) || c.DeletionTimestamp == nil && c.Spec.Until == nil {
		return nil
	}
	why, fix := "it is being deleted", "wait until it is deleted, and run the command again"
	if c.DeletionTimestamp == nil {
		why, fix = "it is for a time only, until "+c.Spec.Until.UTC().Format(time.RFC3339), "remove spec.until of the claim"
	}
	return &Finding{"the DomainClaim " + c.Name + " may end before the move", why, fix}
}

// enabled refuses a receiver that does not serve.
func (f Facts) enabled() *Finding {
	if f.Done(WaitForMove) || f.To.Spec.Enabled == nil || *f.To.Spec.Enabled {
		return nil
	}
	return &Finding{Name(f.To) + " is disabled", "CloudFront would not answer for the domain after the move", "set spec.enabled of " + Name(f.To) + " to true"}
}

func (f Facts) held() *Finding {
	if Wants(f.From, f.Domain) || f.Done(WaitForMove) || f.Gone {
		return nil
	}
	return &Finding{Name(f.From) + " does not have " + f.Domain, "spec.domains of the object lacks it", "name the object that has it with --from"}
}

func (f Facts) account() *Finding {
	from, to := accountOf(f.From), accountOf(f.To)
	if from == "" || to == "" || from == to {
		return nil
	}
	return &Finding{"the objects are in different AWS accounts", Name(f.From) + " is in " + from + " and " + Name(f.To) + " in " + to + ", and CloudFront moves no domain of an enabled tenant to another account",
		"create an object in the account " + from + " that gets the domain, or move it with a gap"}
}

func accountOf(o *v1alpha1.DistributionTenant) string {
	a, err := arn.Parse(o.Status.ARN)
	if err != nil {
		return ""
	}
	return a.AccountID
}

// receiver says what the receiver lacks. During a move it need not be ready.
func (f Facts) receiver() *Finding {
	i := fleet.Of(f.To)
	why := i.Why()
	switch {
	case f.To.Status.ID != "" && (f.Done(AddDomain) || i.State() == fleet.Ready):
		return nil
	case f.To.Status.ID == "" && f.Done(AddDomain) && len(f.To.Spec.Domains) == 1:
		return &Finding{Name(f.To) + " has no tenant in AWS", "CloudFront moves a domain only to a tenant that exists, and a tenant needs a domain to exist",
			"add another domain to its spec, which a certificate covers. It can be removed afterwards"}
	}
	return &Finding{Name(f.To) + " is not Ready", why.Reason + ": " + why.Message, "see `kubectl cfdt explain " + f.To.Name + " -n " + f.To.Namespace + "`, and wait until it is Ready"}
}

func (f Facts) former() *Finding {
	if f.From.DeletionTimestamp == nil || f.Done(WaitForMove) {
		return nil
	}
	return &Finding{Name(f.From) + " is being deleted", "its tenant stops serving before the domain could be moved", "wait until it is deleted, and add the domain to " + Name(f.To)}
}

// last says that a spec without domains is not valid.
func (f Facts) last() *Finding {
	if !Wants(f.From, f.Domain) || len(f.From.Spec.Domains) != 1 {
		return nil
	}
	return &Finding{Name(f.From) + " has no other domain", "an object needs one, so that this one could not be removed from it",
		"add another domain to it first, such as a technical name. Delete the object after the move if it is not needed any more"}
}

// certificate refuses what a managed certificate can't cover. The names of other certificates are not in the cluster.
func (f Facts) certificate() *Finding {
	c := f.To.Status.Certificate
	if f.Done(WaitForMove) || c == nil || c.Type != v1alpha1.CertificateTypeManaged || f.covered() {
		return nil
	}
	return &Finding{"no certificate of " + Name(f.To) + " covers " + f.Domain, "it serves with " + c.ARN + ", which CloudFront has obtained for its present domains only",
		"attach a certificate that covers the domain with spec.customizations.certificate, or move it with a gap"}
}

// covered reports whether the receiver has a wildcard over the domain.
func (f Facts) covered() bool {
	_, above, _ := strings.Cut(f.Domain, ".")
	return has(f.To, "*."+above)
}

func (f Facts) dns() *Finding {
	published := recorded(f.From, f.Domain) || f.From.Spec.DNS != nil && !f.Done(WaitForMove)
	if !published || f.To.Spec.DNS != nil {
		return nil
	}
	return &Finding{Name(f.To) + " has no spec.dns", "the DNS record of " + f.Domain + " is the operator's, which would delete it with " + Name(f.From),
		"set spec.dns of " + Name(f.To) + " as that of " + Name(f.From)}
}

// places refuses records that are in another place than the receiver's would be: these can't be handed over.
func (f Facts) places() *Finding {
	from, to := f.From.Spec.DNS, f.To.Spec.DNS
	if from == nil || to == nil || f.Done(WaitForMove) {
		return nil
	}
	for _, differs := range []struct{ field, from, to string }{
		{"provider", string(cmp.Or(from.Provider, v1alpha1.DNSProviderRoute53)), string(cmp.Or(to.Provider, v1alpha1.DNSProviderRoute53))},
		{"account", from.Account, to.Account}, {"hostedZoneId", from.HostedZoneID, to.HostedZoneID}, {"zoneName", from.ZoneName, to.ZoneName},
	} {
		if differs.from != differs.to {
			return &Finding{"the objects publish their DNS records in different places",
				fmt.Sprintf("spec.dns.%s is %q for %s and %q for %s, and a record is only handed over within one zone", differs.field, differs.from, Name(f.From), differs.to, Name(f.To)),
				"set spec.dns of one of them as that of the other"}
		}
	}
	return nil
}

func (f Facts) rights() *Finding {
	if len(f.Denied) == 0 || f.Files {
		return nil
	}
	return &Finding{"you may not " + strings.Join(f.Denied, ", nor "), "claims are for administrators of the platform, and a move changes both objects",
		"ask for these rights, or write the changes to files with --patches for those who have them"}
}

// idle refuses objects that the operator does not write to.
func (f Facts) idle(o *v1alpha1.DistributionTenant) *Finding {
	if paused, _ := convert.Paused(o.Annotations); !paused {
		return nil
	}
	return &Finding{Name(o) + " is paused", "the operator changes nothing in AWS for it", "let it go on with `kubectl cfdt resume " + o.Name + " -n " + o.Namespace + "`"}
}

// managed refuses objects whose spec is written by something else, which would undo the change.
func (f Facts) managed(o *v1alpha1.DistributionTenant) *Finding {
	if source := o.Labels[v1alpha1.LabelSource]; source != "" {
		return &Finding{Name(o) + " comes from the TenantSource " + cmp.Or(o.Labels[v1alpha1.LabelSourceNamespace], o.Namespace) + "/" + source, "the source would undo a change of its domains",
			"create the DomainClaim as the plan has it, and move the domain from one row to the other in two steps: add it to the one, and remove it from the other once " + Name(f.To) + " is Ready"}
	}
	for _, owner := range o.OwnerReferences {
		if owner.Controller != nil && *owner.Controller {
			return &Finding{Name(o) + " belongs to the " + owner.Kind + " " + owner.Name, "it would undo a change of the object's domains",
				"create the DomainClaim as the plan has it, and change the domains of the " + owner.Kind + " instead"}
		}
	}
	if manager := Manager(o); manager != "" && !f.Files {
		return &Finding{Name(o) + " is managed by " + manager, "it would undo a change of the object's domains", "write the changes to files with --patches DIR"}
	}
	return nil
}

// Manager is what writes the object's spec, as its labels and annotations say. Empty: nothing that is known.
func Manager(o *v1alpha1.DistributionTenant) string {
	const argo, flux, helm, managed = "argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/", "app.kubernetes.io/managed-by"
	switch {
	case o.Annotations[argo+"tracking-id"] != "" || o.Labels[argo+"instance"] != "":
		return "Argo CD"
	case o.Labels[flux+"name"] != "":
		return "Flux (Kustomization " + o.Labels[flux+"namespace"] + "/" + o.Labels[flux+"name"] + ")"
	case o.Labels[helm+"name"] != "":
		return "Flux (HelmRelease " + o.Labels[helm+"namespace"] + "/" + o.Labels[helm+"name"] + ")"
	}
	for writer, name := range map[string]string{"argocd-controller": "Argo CD", "kustomize-controller": "Flux", "helm-controller": "Flux"} {
		if writes(o, writer) {
			return name
		}
	}
	return o.Labels[managed]
}

// writes reports whether a field manager of that name owns fields of the object.
func writes(o *v1alpha1.DistributionTenant, manager string) bool {
	return slices.ContainsFunc(o.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return e.Manager == manager })
}

// applied reports whether kubectl has applied the object.
func applied(o *v1alpha1.DistributionTenant) bool {
	return writes(o, "kubectl") || o.Annotations["kubectl.kubernetes.io/last-applied-configuration"] != ""
}

// notes are findings that do not stand in the way, and have to be known.
func (f Facts) notes() (out []Finding) {
	if f.Done(WaitForMove) {
		return nil
	}
	if f.Enabled == Unknown {
		out = append(out, Finding{"whether the operator heeds DomainClaims is not known", "its Deployment can't be read", "check that it runs with --domain-claims"})
	}
	if a, b := f.From.Status.DNSTarget, f.To.Status.DNSTarget; a != b && a != "" && b != "" {
		note := Finding{"the objects are in different connection groups", "the domain has to lead to " + b + " instead of " + a + " after the move", "change the customer's record right after the move, or use one connection group for both"}
		if f.To.Spec.DNS != nil {
			note.Fix = "no action is needed: the operator replaces the record a few seconds after the move, and resolvers have the old one for its TTL. Use one connection group for both if that matters"
		}
		out = append(out, note)
	}
	if c := f.To.Status.Certificate; c == nil || c.Type != v1alpha1.CertificateTypeManaged {
		note := Finding{"the names of the certificate of " + Name(f.To) + " are not known here", "CloudFront refuses the move if it does not cover " + f.Domain, "check it in ACM. After a refusal, everything stays as it is, and you can attach another one"}
		out = append(out, note)
	}
	if f.From.Spec.DNS == nil && f.To.Spec.DNS != nil {
		out = append(out, Finding{Name(f.From) + " has no spec.dns, and " + Name(f.To) + " has", "the operator replaces the customer's DNS record, as far as the grant of " + f.To.Namespace + " allows that",
			"remove spec.dns of " + Name(f.To) + " if the customer's record is to stay"})
	}
	for _, o := range f.edited() {
		if applied(o) && !f.Files {
			out = append(out, Finding{Name(o) + " was applied from a manifest", "the next apply of it would undo the change of the domains, and the domain would not be served for a while",
				"change the manifest as well, right after the move, or write the changes to files with --patches DIR"})
		}
	}
	return out
}
