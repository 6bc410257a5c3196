package v1

// Prefix is that of the labels, annotations and finalizers of this API.
const Prefix = "kleff.io/"

// Finalizers.
const (
	// NamespaceFinalizer holds a deleted Tenant until its namespace is positively gone, or released.
	NamespaceFinalizer = Prefix + "namespace-finalizer"
	// PlanFinalizer holds a deleted TenantPlan until no Tenant follows it any more and its constraints are gone.
	PlanFinalizer = Prefix + "plan-finalizer"
)

// Labels of a customer's namespace and, the first two, of every object that the operator keeps in it. An object is a tenant's
// if it carries the UID; without it, it is never changed nor deleted.
const (
	// LabelTenant is the name of the Tenant.
	LabelTenant = Prefix + "tenant"
	// LabelTenantUID is the UID of the Tenant.
	LabelTenantUID = Prefix + "tenant-uid"
	// LabelTenantPlan is spec.plan, by which Gatekeeper's constraints select the namespaces of a plan.
	LabelTenantPlan = Prefix + "tenant-plan"
	// LabelTenantUsername is spec.username.
	LabelTenantUsername = Prefix + "tenant-username"
)

// Labels of the constraints of a plan.
const (
	// LabelPlan is the name of the TenantPlan.
	LabelPlan = Prefix + "plan"
	// LabelPlanUID is its UID. A constraint without it is never changed nor deleted.
	LabelPlanUID = Prefix + "plan-uid"
)

// LabelManagedBy, with the value ManagedBy, is on everything that the operator makes for tenants and plans: it
// caches what has it and nothing else.
const (
	LabelManagedBy = "app.kubernetes.io/managed-by"
	ManagedBy      = "cloudfront-tenant-operator"
)

// Annotations.
const (
	// AnnotationAdoptBy, on a namespace that exists, names the Tenant that may take it over. Users write it. A
	// namespace that was adopted is the tenant's from then on, and goes with it.
	AnnotationAdoptBy = Prefix + "adopt-by"
	// AnnotationApplied is a hash of what the operator last applied to an object, to find out that it no longer
	// sets a field.
	AnnotationApplied = Prefix + "applied"
	// AnnotationWithoutPlan, on the namespace of a Tenant, says that it was created while its plan did not exist or could not be
	// applied: no pods start in it until it has a plan. The operator removes the annotation then.
	AnnotationWithoutPlan = Prefix + "without-plan"
	// AnnotationConstraintKinds, on a TenantPlan, lists the kinds of constraints that the operator may have made for it, so that
	// none is forgotten when the plan no longer names its kind.
	AnnotationConstraintKinds = Prefix + "constraint-kinds"
)

// FieldManager is the name under which the operator applies the objects of tenants and plans.
const FieldManager = "cloudfront-tenant-operator-tenancy"
