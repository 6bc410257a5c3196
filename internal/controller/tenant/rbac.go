package tenant

// The controller's rights, in the whole cluster: a tenant's namespace does not exist before the tenant. Server-side apply is a
// patch, and for what isn't there a creation, too. A RoleBinding needs the right to bind its role besides, which the chart
// grants for the roles that the administrator names.
//
// Istio's objects are read wherever there is Istio, to find out what is to be removed. An administrator who uses no
// mesh for tenants need not let the operator change them.
//
// +kubebuilder:rbac:roleName=tenancy,groups=kleff.kleff.io,resources=tenants,verbs=get;list;watch;patch
// +kubebuilder:rbac:roleName=tenancy,groups=kleff.kleff.io,resources=tenants/status,verbs=patch
// +kubebuilder:rbac:roleName=tenancy,groups=kleff.kleff.io,resources=tenantplans,verbs=get;list;watch
// +kubebuilder:rbac:roleName=tenancy,groups="",resources=namespaces;resourcequotas;limitranges,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:roleName=tenancy,groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:roleName=tenancy,groups=rbac.authorization.k8s.io,resources=rolebindings,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:roleName=tenancy,groups=cloudfront-tenant-operator.io,resources=distributiontenants,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:roleName=tenancy,groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=list;watch
// +kubebuilder:rbac:roleName=tenancy,groups=events.k8s.io,resources=events,verbs=create
// +kubebuilder:rbac:roleName=tenancy,groups=networking.istio.io,resources=gateways,verbs=get;list;watch
// +kubebuilder:rbac:roleName=tenancy,groups=security.istio.io,resources=authorizationpolicies;peerauthentications,verbs=get;list;watch
// +kubebuilder:rbac:roleName=tenancy-istio,groups=networking.istio.io,resources=gateways,verbs=create;patch;delete
// +kubebuilder:rbac:roleName=tenancy-istio,groups=security.istio.io,resources=authorizationpolicies;peerauthentications,verbs=create;patch;delete
