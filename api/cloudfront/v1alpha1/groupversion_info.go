// Package v1alpha1 holds the cloudfront-tenant-operator.io/v1alpha1 API: Kubernetes objects that
// stand for CloudFront resources.
//
// The package is data only. Everything one object can get wrong on its own is refused by the schema
// and by CEL rules in the CustomResourceDefinition, so it holds without a webhook; whatever needs a
// second object or AWS to judge is reported in conditions.
//
// Strings AWS reports are never enums in status: an unforeseen value must not make the whole status
// unwritable.
//
// +kubebuilder:object:generate=true
// +groupName=cloudfront-tenant-operator.io
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of this package; it also prefixes the operator's annotations, its
// finalizer and the owner tags it puts on AWS resources.
const GroupName = "cloudfront-tenant-operator.io"

// SchemeGroupVersion is the group and version of the types in this package.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

var schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme registers the types of this package in a scheme.
var AddToScheme = schemeBuilder.AddToScheme

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion,
		&ConnectionGroup{},
		&ConnectionGroupList{},
		&Distribution{},
		&DistributionList{},
		&DistributionTenant{},
		&DistributionTenantList{},
		&EdgeGrant{},
		&EdgeGrantList{},
		&DomainClaim{},
		&DomainClaimList{},
		&Invalidation{},
		&InvalidationList{},
		&TenantSource{},
		&TenantSourceList{},
	)
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}
