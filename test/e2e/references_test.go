package e2e_test

import (
	"testing"

	"github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// A tenant is applied before the parents that it names. Their watches wake it, and all three go when they are deleted
// at once.
func TestATenantBeforeItsParents(t *testing.T) {
	t.Parallel()
	s := newScene(t, stack.Options{})
	op := s.operator(stack.OperatorOptions{})
	sample := host.Path("config", "samples", "by-name", "tenant.yaml")
	s.apply(s.tenant("early", func(o *v1alpha1.DistributionTenant) {
		o.Spec.DistributionID, o.Spec.DistributionRef = "", &v1alpha1.ObjectReference{Name: "by-name"}
		o.Spec.ConnectionGroupRef = &v1alpha1.ObjectReference{Name: "by-name"}
	}))
	s.reaches("early", v1alpha1.ConditionReady, "False/ReferenceNotReady")
	s.kubectl("apply", "-f", sample)
	s.ready("early", "by-name")

	var platform v1alpha1.Distribution
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "by-name"}, &platform); err != nil {
		t.Fatal(err)
	}
	for name, tenant := range s.inAWS() {
		if tenant.DistributionID != platform.Status.ID {
			t.Errorf("%s is on %s, and the distribution is %s", name, tenant.DistributionID, platform.Status.ID)
		}
	}

	// A new resource is looked for in AWS for two minutes before it is believed to be gone. Nothing tells this operator
	// that it was.
	s.stop(op)
	s.kubectl("annotate", "cfdt,cfd,cfcg", "--all", v1alpha1.AnnotationCreatePending+"-")
	s.start(op)
	s.kubectl("delete", "--wait=false", "-f", sample)
	s.reaches("early", v1alpha1.ConditionSynced, "False/ReferenceNotReady")
	s.reaches("early", v1alpha1.ConditionReady, "True/Deployed")
	s.kubectl("delete", "--wait=false", "cfdt/early")
	s.eventually(func(g gomega.Gomega) {
		var tenants v1alpha1.DistributionTenantList
		var distributions v1alpha1.DistributionList
		var groups v1alpha1.ConnectionGroupList
		for _, list := range []client.ObjectList{&tenants, &distributions, &groups} {
			g.Expect(kube.List(t.Context(), list, client.InNamespace(s.namespace))).To(gomega.Succeed())
		}
		g.Expect(len(tenants.Items)+len(distributions.Items)+len(groups.Items)).To(gomega.BeZero(), "objects that are left")
	})
	if left := s.inAWS(); len(left) > 0 {
		t.Errorf("left in AWS: %v", left)
	}
}
