package tenancy_test

import (
	"slices"
	"testing"

	"github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/install"
)

// A role that the operator may not bind is named, with the fix. Everything else is applied, and the role once it may be
// bound.
func TestRoleThatMayNotBeBound(t *testing.T) {
	t.Parallel()
	s := newScene(t, "bind")
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "bind-customer"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"deletecollection"}},
	}}
	s.create(role)
	s.plan("bind", `{resourceQuota: {hard: {pods: "3"}}, networkIsolation: Namespace, owner: {clusterRole: bind-customer}}`)
	o := s.tenant("bind", "bind")
	s.says(o, kleffv1.ConditionPlanApplied, "False/PartiallyApplied", `RoleBinding "kleff-owner-bind-customer"`, "ClusterRole bind-customer", "tenancy.ownerClusterRoles")
	s.says(o, kleffv1.ConditionTenantReady, "False/PartiallyApplied")
	s.says(plan("bind"), kleffv1.ConditionReady, "False/PlanInvalid", "spec.owner", "ClusterRole bind-customer", "tenancy.ownerClusterRoles")
	s.quotaOf("bind-id")
	s.letsIn("bind-id", "kleff-namespace")
	if s.may("bind-id", "deletecollection", "bind-id") {
		t.Error("the user may do what could not be granted")
	}

	// As the administrator fixes it.
	if _, err := host.Install(t.Context(), install.Options{Values: slices.Concat(values, []string{"tenancy.ownerClusterRoles={edit,view," + role.Name + "}"})}); err != nil {
		t.Fatal(err)
	}
	s.says(o, kleffv1.ConditionTenantReady, "True/Ready")
	s.says(plan("bind"), kleffv1.ConditionReady, "True/RolledOut")
	s.eventually(func(g gomega.Gomega) { g.Expect(s.may("bind-id", "deletecollection", "bind-id")).To(gomega.BeTrue()) })
	s.belongsTo("bind-id", "bind-id", "deletecollection")
}
