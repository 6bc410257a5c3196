package tenantsource

// The controller's rights, in each namespace that it watches. Reading Secrets is granted apart, in
// the namespaces that the administrator names: there is no right to list or watch them.
//
// +kubebuilder:rbac:roleName=sources,groups=cloudfront-tenant-operator.io,resources=tenantsources,verbs=get;list;watch;patch
// +kubebuilder:rbac:roleName=sources,groups=cloudfront-tenant-operator.io,resources=tenantsources/status,verbs=patch
// +kubebuilder:rbac:roleName=sources,groups=cloudfront-tenant-operator.io,resources=distributiontenants,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:roleName=sources,groups=cloudfront-tenant-operator.io,resources=distributions;connectiongroups,verbs=list;watch
// +kubebuilder:rbac:roleName=sources,groups=events.k8s.io,resources=events,verbs=create
