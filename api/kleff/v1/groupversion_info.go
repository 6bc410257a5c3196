// Package v1 holds the kleff.kleff.io/v1 API: the customers of a platform, and the plans that say what
// a customer's namespace has.
//
// The package is data only. What one object can get wrong on its own, whatever else is in the cluster, is
// refused by the schema and by CEL rules in the CustomResourceDefinition. Names that become labels or a namespace are
// judged by the operator instead, and reported in conditions: manifests that were written for other
// operators of this API have to be taken as they are.
//
// +kubebuilder:object:generate=true
// +groupName=kleff.kleff.io
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of this package.
const GroupName = "kleff.kleff.io"

// SchemeGroupVersion is the group and version of the types in this package.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1"}

var schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme registers the types of this package in a scheme.
var AddToScheme = schemeBuilder.AddToScheme

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion,
		&Tenant{},
		&TenantList{},
		&TenantPlan{},
		&TenantPlanList{},
	)
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}
