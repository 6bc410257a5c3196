package distributiontenant

// The controller's rights, in each namespace that it watches.
//
// +kubebuilder:rbac:roleName=tenants,groups=cloudfront-tenant-operator.io,resources=distributiontenants,verbs=get;list;watch;patch
// +kubebuilder:rbac:roleName=tenants,groups=cloudfront-tenant-operator.io,resources=distributiontenants/status,verbs=patch
// +kubebuilder:rbac:roleName=tenants,groups=cloudfront-tenant-operator.io,resources=distributions;connectiongroups,verbs=get;list;watch
// +kubebuilder:rbac:roleName=tenants,groups=events.k8s.io,resources=events,verbs=create

// Claims are in no namespace, and are only used where the operator is told to.
//
// +kubebuilder:rbac:roleName=domain-claims,groups=cloudfront-tenant-operator.io,resources=domainclaims,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:roleName=domain-claims,groups=cloudfront-tenant-operator.io,resources=domainclaims/status,verbs=patch
