package main

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// create adds the domain of a customer.
func create(ctx context.Context, kube client.Client, domain string) error {
	return kube.Create(ctx, &v1alpha1.DistributionTenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "customer-" + strings.ReplaceAll(domain, ".", "-")},
		Spec: v1alpha1.DistributionTenantSpec{
			DistributionRef:           &v1alpha1.ObjectReference{Name: "platform"},
			Domains:                   []v1alpha1.TenantDomain{{Domain: domain}},
			ManagedCertificateRequest: &v1alpha1.ManagedCertificateRequest{ValidationTokenHost: "cloudfront"},
		},
	})
}
