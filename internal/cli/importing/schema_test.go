package importing_test

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/importing"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// The schemas refuse exactly what the API server refuses, for the same reasons.
func TestRefusalsAreThoseOfTheAPIServer(t *testing.T) {
	t.Parallel()
	w := world.New(t, kubeConfig, world.Options{Shared: true})
	tenant := func(change func(*v1alpha1.DistributionTenant)) client.Object {
		o := w.Tenant("acme", change)
		o.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "DistributionTenant"}
		return o
	}
	distribution := func(change func(*v1alpha1.Distribution)) client.Object {
		o := w.Distribution("main", change)
		o.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "Distribution"}
		return o
	}
	group := func(change func(*v1alpha1.ConnectionGroup)) client.Object {
		o := w.ConnectionGroup("static", change)
		o.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "ConnectionGroup"}
		return o
	}
	for name, c := range map[string]struct {
		object client.Object
		// says are parts of the reasons. None: the object is taken.
		says []string
	}{
		"a tenant":       {tenant(func(*v1alpha1.DistributionTenant) {}), nil},
		"a distribution": {distribution(func(*v1alpha1.Distribution) {}), nil},
		"a group":        {group(func(*v1alpha1.ConnectionGroup) {}), nil},
		"a domain with an underscore": {tenant(func(o *v1alpha1.DistributionTenant) {
			o.Spec.Domains = []v1alpha1.TenantDomain{{Domain: "my_shop.example.com"}}
		}), []string{"spec.domains[0].domain: ", `"my_shop.example.com" is not a fully qualified domain name`}},
		"too many tags": {tenant(func(o *v1alpha1.DistributionTenant) {
			for key := range manyTags(47) {
				o.Spec.Tags = append(o.Spec.Tags, v1alpha1.Tag{Key: key})
			}
		}), []string{"spec.tags: Too many: 47"}},
		"a domain twice": {tenant(func(o *v1alpha1.DistributionTenant) {
			o.Spec.Domains = append(o.Spec.Domains, o.Spec.Domains[0])
		}), []string{"spec.domains[1]: Duplicate value"}},
		"a web ACL of WAF Classic": {distribution(func(o *v1alpha1.Distribution) {
			o.Spec.WebACLID = "473e64fd-f30b-4765-81a0-62ad96dd167a"
		}), []string{"spec.webACLId: ", "WAF Classic web ACLs are not supported"}},
		"a behavior without a cache policy": {distribution(func(o *v1alpha1.Distribution) {
			o.Spec.DefaultCacheBehavior.CachePolicyID = ""
		}), []string{"spec.defaultCacheBehavior.cachePolicyId: Required value"}},
		"a security policy that is newer than the kind": {distribution(func(o *v1alpha1.Distribution) {
			o.Spec.ViewerCertificate = &v1alpha1.ViewerCertificate{ACMCertificateARN: "arn:aws:acm:us-east-1:111122223333:certificate/c", MinimumProtocolVersion: "TLSv1.9_2042"}
		}), []string{`spec.viewerCertificate.minimumProtocolVersion: Unsupported value: "TLSv1.9_2042"`}},
		"a group with a name that can't be": {group(func(o *v1alpha1.ConnectionGroup) { o.Spec.Name = "a b" }),
			[]string{"spec.name: ", `"a b" is not a connection group name`}},
	} {
		t.Run(name, func(t *testing.T) {
			refusals, err := importing.Refusals(t.Context(), c.object)
			if err != nil {
				t.Fatal(err)
			}
			copied, _ := c.object.DeepCopyObject().(client.Object)
			refused := w.Kube.Create(t.Context(), copied, client.DryRunAll)
			if (refused == nil) != (len(refusals) == 0) || (refused == nil) != (len(c.says) == 0) {
				t.Fatalf("the API server says %v, and the schema %q", refused, refusals)
			}
			for _, part := range c.says {
				if !strings.Contains(refused.Error(), part) || !slices.ContainsFunc(refusals, func(r string) bool { return strings.Contains(r, part) }) {
					t.Errorf("%q is not in both: the API server says %v, and the schema %q", part, refused, refusals)
				}
			}
		})
	}
}
