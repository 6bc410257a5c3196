package edgegrant

// The controller's rights. Grants are cluster-scoped. The labels of namespaces are read where a grant selects by them.
//
// +kubebuilder:rbac:roleName=grants,groups=cloudfront-tenant-operator.io,resources=edgegrants,verbs=list;watch;patch
// +kubebuilder:rbac:roleName=grants,groups=cloudfront-tenant-operator.io,resources=edgegrants/status,verbs=patch
// +kubebuilder:rbac:roleName=grants,groups="",resources=namespaces,verbs=list;watch
