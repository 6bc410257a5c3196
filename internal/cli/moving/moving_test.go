package moving_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/moving"
)

const domain = "www.example.com"

// object is one that is ready, serves its domains, and has their records.
func object(namespace, name string, domains ...string) *v1alpha1.DistributionTenant {
	o := &v1alpha1.DistributionTenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       v1alpha1.DistributionTenantSpec{DNS: &v1alpha1.DNS{Provider: v1alpha1.DNSProviderRoute53}},
	}
	o.Status.ID, o.Status.ARN, o.Status.DNSTarget = "dt_"+name, "arn:aws:cloudfront::111122223333:distribution-tenant/dt_"+name, "d1.cloudfront.net"
	o.Status.DNS = &v1alpha1.DNSStatus{}
	o.Status.Certificate = &v1alpha1.ServedCertificate{ARN: "arn:aws:acm:us-east-1:111122223333:certificate/1", Type: v1alpha1.CertificateTypeIssued}
	o.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Deployed"}, {Type: "Synced", Status: "True", Reason: "InSync"}}
	for _, d := range domains {
		o.Spec.Domains = append(o.Spec.Domains, v1alpha1.TenantDomain{Domain: d})
		has(o, d)
	}
	return o
}

func has(o *v1alpha1.DistributionTenant, d string) {
	o.Status.DomainResults = append(o.Status.DomainResults, v1alpha1.DomainResult{Domain: d, Status: "active"})
	o.Status.DNS.Records = append(o.Status.DNS.Records, v1alpha1.DNSRecord{Name: d + "."})
}

// facts are those of a move that nothing stands in the way of, and that has not begun.
func facts(change func(*moving.Facts)) moving.Facts {
	f := moving.Facts{Domain: domain, Enabled: moving.Yes, From: object("a", "giver", "giver.example.com", domain), To: object("a", "receiver", "receiver.example.com")}
	change(&f)
	return f
}

func TestWhatStandsInTheWayOfAMove(t *testing.T) {
	paused := map[string]string{v1alpha1.AnnotationPaused: v1alpha1.PausedTrue}
	for name, test := range map[string]struct {
		change func(*moving.Facts)
		// says are parts of the only refusal. None: nothing is refused.
		says []string
	}{
		"nothing":           {func(*moving.Facts) {}, nil},
		"one object":        {func(f *moving.Facts) { f.To = f.From }, []string{"a/giver is both ends", "another object with --to"}},
		"a domain too long": {func(f *moving.Facts) { f.Domain = "*." + strings.Repeat("a.", 124) + "com" }, []string{"too long"}},
		"no claims":         {func(f *moving.Facts) { f.Enabled = moving.No }, []string{"does not heed DomainClaims", "controller.domainClaims.enabled"}},
		"not its domain":    {func(f *moving.Facts) { f.From.Spec.Domains = f.From.Spec.Domains[:1] }, []string{"a/giver does not have " + domain, "--from"}},
		"a claim of others": {func(f *moving.Facts) {
			f.Claim = f.NewClaim()
			f.Claim.Spec.Namespace, f.Claim.Spec.HandOver, f.Claim.Spec.TenantRef = "b", false, nil
		}, []string{"there is a DomainClaim " + domain, "is for the namespace b", "kubectl delete domainclaim " + domain}},
		"a claim for another object": {func(f *moving.Facts) {
			f.Claim = f.NewClaim()
			f.Claim.Spec.TenantRef.Name = "third"
		}, []string{"hands the domain over to a/third"}},
		"a claim for the same": {func(f *moving.Facts) { f.Claim = f.NewClaim() }, nil},
		"another account":      {func(f *moving.Facts) { f.To.Status.ARN = "arn:aws:cloudfront::444455556666:distribution-tenant/dt_1" }, []string{"different AWS accounts", "in 111122223333 and a/receiver in 444455556666"}},
		"a receiver that is not ready": {func(f *moving.Facts) {
			f.To.Status.Conditions[0] = metav1.Condition{Type: "Ready", Status: "False", Reason: "Deploying", Message: "It is deployed."}
		}, []string{"a/receiver is not Ready", "Deploying: It is deployed.", "kubectl cfdt explain receiver -n a"}},
		"a receiver without a tenant": {func(f *moving.Facts) {
			f.To.Status.ID, f.To.Spec.Domains = "", []v1alpha1.TenantDomain{{Domain: domain}}
		}, []string{"a/receiver has no tenant in AWS", "add another domain"}},
		"a disabled receiver": {func(f *moving.Facts) { f.To.Spec.Enabled = new(false) }, []string{"a/receiver is disabled", "spec.enabled"}},
		"a claim that is being deleted": {func(f *moving.Facts) {
			f.Claim = f.NewClaim()
			f.Claim.DeletionTimestamp = &metav1.Time{}
		}, []string{"the DomainClaim " + domain + " may end before the move", "being deleted"}},
		"a claim for a time": {func(f *moving.Facts) {
			f.Claim = f.NewClaim()
			f.Claim.Spec.Until = &metav1.Time{}
		}, []string{"the DomainClaim " + domain + " may end before the move", "spec.until"}},
		"another provider": {func(f *moving.Facts) {
			f.To.Spec.DNS = &v1alpha1.DNS{Provider: v1alpha1.DNSProviderCloudflare, Account: "edge"}
		}, []string{"in different places", `spec.dns.provider is "route53" for a/giver and "cloudflare" for a/receiver`}},
		"another zone": {func(f *moving.Facts) {
			f.To.Spec.DNS = &v1alpha1.DNS{HostedZoneID: "Z2"}
		}, []string{"in different places", `spec.dns.hostedZoneId is "" for a/giver and "Z2" for a/receiver`}},
		"a receiver that has lost its DNS after the move": {func(f *moving.Facts) {
			f.Claim, f.To = f.NewClaim(), object("a", "receiver", "receiver.example.com", domain)
			f.From.Status.DomainResults, f.To.Spec.DNS = nil, nil
		}, []string{"a/receiver has no spec.dns"}},
		"a former object that is deleted during the move": {func(f *moving.Facts) {
			f.Claim, f.To = f.NewClaim(), object("a", "receiver", "receiver.example.com", domain)
			f.FormerDeleted()
		}, nil},
		"a former object that is being deleted": {func(f *moving.Facts) { f.From.DeletionTimestamp = &metav1.Time{} }, []string{"a/giver is being deleted"}},
		"its only domain":                       {func(f *moving.Facts) { f.From.Spec.Domains = f.From.Spec.Domains[1:] }, []string{"a/giver has no other domain", "add another domain to it first"}},
		"a managed certificate": {func(f *moving.Facts) { f.To.Status.Certificate.Type = v1alpha1.CertificateTypeManaged },
			[]string{"no certificate of a/receiver covers " + domain, "spec.customizations.certificate"}},
		"a managed certificate for a wildcard": {func(f *moving.Facts) {
			f.To.Status.Certificate.Type = v1alpha1.CertificateTypeManaged
			has(f.To, "*.example.com")
		}, nil},
		"a receiver without DNS": {func(f *moving.Facts) { f.To.Spec.DNS = nil }, []string{"a/receiver has no spec.dns", "set spec.dns"}},
		"no rights":              {func(f *moving.Facts) { f.Denied = []string{"create domainclaims"} }, []string{"you may not create domainclaims", "--patches"}},
		"no rights, and files":   {func(f *moving.Facts) { f.Denied, f.Files = []string{"create domainclaims"}, true }, nil},
		"a paused receiver":      {func(f *moving.Facts) { f.To.Annotations = paused }, []string{"a/receiver is paused", "kubectl cfdt resume receiver -n a"}},
		"a paused former object": {func(f *moving.Facts) { f.From.Annotations = paused }, []string{"a/giver is paused"}},
		"a source": {func(f *moving.Facts) {
			f.From.Labels, f.Files = map[string]string{v1alpha1.LabelSource: "customers", v1alpha1.LabelSourceNamespace: "shop"}, true
		}, []string{"a/giver comes from the TenantSource shop/customers", "one row to the other in two steps"}},
		"an owner": {func(f *moving.Facts) {
			f.To.OwnerReferences = []metav1.OwnerReference{{Kind: "Tenant", Name: "42", Controller: new(true)}}
		}, []string{"a/receiver belongs to the Tenant 42", "change the domains of the Tenant"}},
		"Argo CD": {func(f *moving.Facts) { f.To.Annotations = map[string]string{"argocd.argoproj.io/tracking-id": "x"} }, []string{"a/receiver is managed by Argo CD", "--patches DIR"}},
		"Flux": {func(f *moving.Facts) {
			f.From.Labels = map[string]string{"kustomize.toolkit.fluxcd.io/name": "fleet", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}
		}, []string{"managed by Flux (Kustomization flux-system/fleet)"}},
		"Argo CD with labels": {func(f *moving.Facts) {
			f.To.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "argocd-controller"}}
		}, []string{"a/receiver is managed by Argo CD"}},
		"Flux with Helm": {func(f *moving.Facts) { f.From.Labels = map[string]string{"helm.toolkit.fluxcd.io/name": "fleet"} }, []string{"managed by Flux (HelmRelease"}},
		"Helm":           {func(f *moving.Facts) { f.From.Labels = map[string]string{"app.kubernetes.io/managed-by": "Helm"} }, []string{"a/giver is managed by Helm"}},
		"Git, and files": {func(f *moving.Facts) {
			f.From.Labels, f.Files = map[string]string{"app.kubernetes.io/managed-by": "Helm"}, true
		}, nil},
		"Git, and it is done": {func(f *moving.Facts) {
			done(f)
			f.From.Labels = map[string]string{"app.kubernetes.io/managed-by": "Helm"}
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := moving.Make(facts(test.change))
			want := min(len(test.says), 1)
			if len(p.Refusals) != want {
				t.Fatalf("%d refusals, want %d: %+v", len(p.Refusals), want, p.Refusals)
			}
			for _, says := range test.says {
				if r := p.Refusals[0]; !strings.Contains(r.What+": "+r.Why+". "+r.Fix, says) {
					t.Errorf("%q is missing in %+v", says, r)
				}
			}
			for _, f := range append(slices.Clone(p.Refusals), p.Notes...) {
				if f.What == "" || f.Why == "" || f.Fix == "" {
					t.Errorf("a finding lacks what, why or what to do: %+v", f)
				}
			}
		})
	}
}

// done ends a move.
func done(f *moving.Facts) {
	f.From, f.To = object("a", "giver", "giver.example.com"), object("a", "receiver", "receiver.example.com", domain)
}

func TestWhichStepIsNext(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*moving.Facts)
		next   moving.Step
	}{
		"at the beginning": {func(*moving.Facts) {}, moving.CreateClaim},
		"with the claim":   {func(f *moving.Facts) { f.Claim = f.NewClaim() }, moving.AddDomain},
		"added": {func(f *moving.Facts) {
			f.Claim = f.NewClaim()
			f.To.Spec.Domains = append(f.To.Spec.Domains, v1alpha1.TenantDomain{Domain: domain})
		}, moving.WaitForMove},
		"moved without its record": {func(f *moving.Facts) {
			f.Claim, f.To = f.NewClaim(), object("a", "receiver", "receiver.example.com", domain)
			f.From.Status.DomainResults = f.From.Status.DomainResults[:1]
		}, moving.WaitForMove},
		"moved, and not seen since the last change": {func(f *moving.Facts) {
			f.Claim, f.To = f.NewClaim(), object("a", "receiver", "receiver.example.com", domain)
			f.From.Status.DomainResults, f.From.Status.DNS.Records, f.To.Generation = nil, nil, 2
		}, moving.WaitForMove},
		"moved": {func(f *moving.Facts) {
			f.Claim, f.To = f.NewClaim(), object("a", "receiver", "receiver.example.com", domain)
			f.From.Status.DomainResults, f.From.Status.DNS.Records = f.From.Status.DomainResults[:1], f.From.Status.DNS.Records[:1]
		}, moving.RemoveDomain},
		"removed, and not in sync": {func(f *moving.Facts) {
			done(f)
			f.Claim, f.From.Generation = f.NewClaim(), 2
		}, moving.WaitForRelease},
		"released": {func(f *moving.Facts) {
			done(f)
			f.Claim = f.NewClaim()
		}, moving.DeleteClaim},
		"with a claim of an administrator": {func(f *moving.Facts) {
			done(f)
			f.Claim = f.NewClaim()
			f.Claim.Annotations = nil
		}, ""},
		"moved to an object that does not serve": {func(f *moving.Facts) {
			f.Claim, f.To = f.NewClaim(), object("a", "receiver", "receiver.example.com", domain)
			f.From.Status.DomainResults, f.From.Status.DNS.Records = nil, nil
			f.To.Status.DomainResults[1].Status = "inactive"
		}, moving.WaitForMove},
		"released, and not ready for another reason": {func(f *moving.Facts) {
			done(f)
			f.Claim = f.NewClaim()
			f.From.Status.Conditions[1].Status = "False"
		}, moving.DeleteClaim},
		"the former object is deleted before the move": {func(f *moving.Facts) {
			f.Claim = f.NewClaim()
			f.To.Spec.Domains = append(f.To.Spec.Domains, v1alpha1.TenantDomain{Domain: domain})
			f.FormerDeleted()
		}, moving.WaitForMove},
		"the former object is deleted after the move": {func(f *moving.Facts) {
			done(f)
			f.Claim = f.NewClaim()
			f.FormerDeleted()
		}, moving.DeleteClaim},
		"over": {done, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if next := moving.Make(facts(test.change)).Next(); next != test.next {
				t.Errorf("the next step is %q, want %q", next, test.next)
			}
		})
	}
}

func TestWhatAMoverHasToKnow(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*moving.Facts)
		says   string
	}{
		"another group":       {func(f *moving.Facts) { f.To.Status.DNSTarget = "d2.cloudfront.net" }, "lead to d2.cloudfront.net instead of d1.cloudfront.net"},
		"a certificate":       {func(*moving.Facts) {}, "the names of the certificate of a/receiver are not known"},
		"an operator unseen":  {func(f *moving.Facts) { f.Enabled = moving.Unknown }, "is not known"},
		"a customer's record": {func(f *moving.Facts) { f.From.Spec.DNS = nil }, "replaces the customer's DNS record"},
		"a manifest":          {func(f *moving.Facts) { f.To.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}} }, "the next apply of it would undo"},
		"records of customers": {func(f *moving.Facts) {
			f.From.Spec.DNS, f.To.Spec.DNS, f.To.Status.DNSTarget = nil, nil, "d2.cloudfront.net"
		}, "change the customer's record right after the move"},
	} {
		t.Run(name, func(t *testing.T) {
			var all strings.Builder
			for _, n := range moving.Make(facts(test.change)).Notes {
				all.WriteString(n.What + ": " + n.Why + ". " + n.Fix + "\n")
			}
			if !strings.Contains(all.String(), test.says) {
				t.Errorf("%q is missing in %s", test.says, all.String())
			}
		})
	}
}

// The files have the changes that are left, and nothing else.
func TestWhichFilesAreWritten(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*moving.Facts)
		want   []string
	}{
		"at the beginning": {func(*moving.Facts) {}, []string{"1-claim.yaml", "2-receiver/kustomization.yaml", "2-receiver/patch.yaml", "3-former/kustomization.yaml", "3-former/patch.yaml"}},
		"moved": {func(f *moving.Facts) {
			f.Claim, f.To = f.NewClaim(), object("a", "receiver", "receiver.example.com", domain)
		}, []string{"3-former/kustomization.yaml", "3-former/patch.yaml"}},
		"over": {done, nil},
	} {
		t.Run(name, func(t *testing.T) {
			files, err := facts(test.change).Changes()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range files {
				got = append(got, f.Path)
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("files (-want +got):\n%s", d)
			}
		})
	}
}
