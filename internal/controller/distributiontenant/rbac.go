package distributiontenant

// The controller's rights, in each namespace that it watches.
//
// +kubebuilder:rbac:roleName=tenants,groups=cloudfront-tenant-operator.io,resources=distributiontenants,verbs=get;list;watch;patch
// +kubebuilder:rbac:roleName=tenants,groups=cloudfront-tenant-operator.io,resources=distributiontenants/status,verbs=patch
// +kubebuilder:rbac:roleName=tenants,groups=cloudfront-tenant-operator.io,resources=distributions;connectiongroups,verbs=get;list;watch
// +kubebuilder:rbac:roleName=tenants,groups=events.k8s.io,resources=events,verbs=create
