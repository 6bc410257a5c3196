package invalidation

// The controller's rights, in each namespace that it watches. Finished objects are deleted.
//
// +kubebuilder:rbac:roleName=invalidations,groups=cloudfront-tenant-operator.io,resources=invalidations,verbs=list;watch;delete
// +kubebuilder:rbac:roleName=invalidations,groups=cloudfront-tenant-operator.io,resources=invalidations/status,verbs=patch
// +kubebuilder:rbac:roleName=invalidations,groups=cloudfront-tenant-operator.io,resources=distributiontenants,verbs=list;watch
// +kubebuilder:rbac:roleName=invalidations,groups=events.k8s.io,resources=events,verbs=create
