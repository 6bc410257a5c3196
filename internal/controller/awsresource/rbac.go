package awsresource

// The rights of each of the two controllers, in each namespace that is watched. They are apart, so that a user of one
// of them need not grant what the other needs.
//
// +kubebuilder:rbac:roleName=distributions,groups=cloudfront-tenant-operator.io,resources=distributions,verbs=get;list;watch;patch
// +kubebuilder:rbac:roleName=distributions,groups=cloudfront-tenant-operator.io,resources=distributions/status,verbs=patch
// +kubebuilder:rbac:roleName=distributions,groups=events.k8s.io,resources=events,verbs=create
// +kubebuilder:rbac:roleName=connectiongroups,groups=cloudfront-tenant-operator.io,resources=connectiongroups,verbs=get;list;watch;patch
// +kubebuilder:rbac:roleName=connectiongroups,groups=cloudfront-tenant-operator.io,resources=connectiongroups/status,verbs=patch
// +kubebuilder:rbac:roleName=connectiongroups,groups=cloudfront-tenant-operator.io,resources=distributiontenants,verbs=list;watch
// +kubebuilder:rbac:roleName=connectiongroups,groups=events.k8s.io,resources=events,verbs=create
