package parent

// The rights of both controllers, in each namespace that is watched.
//
// +kubebuilder:rbac:roleName=parents,groups=cloudfront-tenant-operator.io,resources=distributions;connectiongroups,verbs=get;list;watch;patch
// +kubebuilder:rbac:roleName=parents,groups=cloudfront-tenant-operator.io,resources=distributions/status;connectiongroups/status,verbs=patch
// +kubebuilder:rbac:roleName=parents,groups=events.k8s.io,resources=events,verbs=create
