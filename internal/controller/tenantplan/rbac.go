package tenantplan

// The controller's rights, in the whole cluster. The kinds of Gatekeeper's constraints are the cluster's own: all are read, to find
// those of plans, and the chart grants to change those that the administrator names.
//
// +kubebuilder:rbac:roleName=tenancy,groups=kleff.kleff.io,resources=tenantplans,verbs=get;list;watch;patch
// +kubebuilder:rbac:roleName=tenancy,groups=kleff.kleff.io,resources=tenantplans/status,verbs=patch
// +kubebuilder:rbac:roleName=tenancy,groups=kleff.kleff.io,resources=tenants,verbs=get;list;watch
// +kubebuilder:rbac:roleName=tenancy,groups=constraints.gatekeeper.sh,resources=*,verbs=get;list;watch
// +kubebuilder:rbac:roleName=tenancy,groups=events.k8s.io,resources=events,verbs=create
