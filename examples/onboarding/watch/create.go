package main

import (
	"context"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// create adds the domain that a customer has typed.
func create(ctx context.Context, kube client.Client, typed string) error {
	domain, err := parseDomain(typed)
	if err != nil {
		return err
	}
	return kube.Create(ctx, &v1alpha1.DistributionTenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "customer-" + strings.ReplaceAll(domain, ".", "-")},
		Spec: v1alpha1.DistributionTenantSpec{
			DistributionRef:           &v1alpha1.ObjectReference{Name: "platform"},
			Domains:                   []v1alpha1.TenantDomain{{Domain: domain}},
			ManagedCertificateRequest: &v1alpha1.ManagedCertificateRequest{ValidationTokenHost: "cloudfront"},
		},
	})
}

// parseDomain is the domain that a customer means, also if they paste the address of a page.
func parseDomain(typed string) (string, error) {
	typed = strings.TrimSpace(typed)
	if !strings.Contains(typed, "://") {
		typed = "https://" + typed
	}
	address, err := url.Parse(typed)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(strings.ToLower(address.Hostname()), "."), nil
}
