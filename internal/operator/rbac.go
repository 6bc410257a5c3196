package operator

// The operator's rights in addition to those of the controllers. The chart takes each role's rules from here, and
// leaves out those that the configuration doesn't need. Leader election writes its event in the API from before
// events.k8s.io.
//
// +kubebuilder:rbac:roleName=cluster-id,groups="",resources=namespaces,resourceNames=kube-system,verbs=get
// +kubebuilder:rbac:roleName=leader-election,groups=coordination.k8s.io,resources=leases,verbs=create
// +kubebuilder:rbac:roleName=leader-election,groups=coordination.k8s.io,resources=leases,resourceNames=cloudfront-tenant-operator,verbs=get;update
// +kubebuilder:rbac:roleName=leader-election,groups="",resources=events,verbs=create
// +kubebuilder:rbac:roleName=deletion-budget,groups="",resources=configmaps,verbs=create
// +kubebuilder:rbac:roleName=deletion-budget,groups="",resources=configmaps,resourceNames=cloudfront-tenant-operator-deletion-budget,verbs=get;list;watch;patch
// +kubebuilder:rbac:roleName=deletion-budget,groups=events.k8s.io,resources=events,verbs=create
// +kubebuilder:rbac:roleName=cluster-check,groups="",resources=configmaps,verbs=create
// +kubebuilder:rbac:roleName=cluster-check,groups="",resources=configmaps,resourceNames=cloudfront-tenant-operator-cluster,verbs=get;update
// +kubebuilder:rbac:roleName=cluster-check,groups="",resources=configmaps,resourceNames=kube-root-ca.crt,verbs=get
// +kubebuilder:rbac:roleName=cluster-check-copy,groups="",resources=configmaps,resourceNames=cloudfront-tenant-operator-cluster,verbs=get;update
// +kubebuilder:rbac:roleName=cluster-check,groups=events.k8s.io,resources=events,verbs=create
// +kubebuilder:rbac:roleName=metrics,groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:roleName=metrics,groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
