package world

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// CachePolicyID is AWS's managed policy CachingOptimized.
const CachePolicyID = "658327ea-f89d-4fab-a63d-7e88639e58f6"

// Distribution builds a minimal multi-tenant distribution.
func (w *World) Distribution(name string, change ...func(*v1alpha1.Distribution)) *v1alpha1.Distribution {
	o := &v1alpha1.Distribution{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name},
		Spec: v1alpha1.DistributionSpec{DistributionConfig: v1alpha1.DistributionConfig{
			Origins: []v1alpha1.Origin{{
				ID: "app", DomainName: "origin.example.com", CustomOriginConfig: &v1alpha1.CustomOriginConfig{},
			}},
			DefaultCacheBehavior: &v1alpha1.CacheBehaviorSettings{
				TargetOriginID: "app", ViewerProtocolPolicy: "redirect-to-https", CachePolicyID: CachePolicyID,
			},
		}},
	}
	for _, c := range change {
		c(o)
	}
	return o
}

// ConnectionGroup builds a minimal connection group.
func (w *World) ConnectionGroup(name string, change ...func(*v1alpha1.ConnectionGroup)) *v1alpha1.ConnectionGroup {
	o := &v1alpha1.ConnectionGroup{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}}
	for _, c := range change {
		c(o)
	}
	return o
}

// ParentStatus is what a Distribution or ConnectionGroup says, nil for an object that is gone.
func (w *World) ParentStatus(o client.Object) *v1alpha1.ResourceStatus {
	w.t.Helper()
	err := w.Kube.Get(w.t.Context(), client.ObjectKeyFromObject(o), o)
	if client.IgnoreNotFound(err) != nil {
		w.t.Fatalf("reading %s: %v", o.GetName(), err)
	}
	if err != nil {
		return nil
	}
	switch o := o.(type) {
	case *v1alpha1.Distribution:
		return &o.Status.ResourceStatus
	case *v1alpha1.ConnectionGroup:
		return &o.Status.ResourceStatus
	}
	w.t.Fatalf("%T is no parent", o)
	return nil
}

// ParentConditions renders the conditions of a Distribution or ConnectionGroup, one in a line.
func (w *World) ParentConditions(o client.Object) string {
	w.t.Helper()
	s := w.ParentStatus(o)
	if s == nil {
		return "object is gone"
	}
	var lines []string
	for _, c := range s.Conditions {
		lines = append(lines, c.Type+"="+string(c.Status)+"/"+c.Reason+": "+c.Message)
	}
	return strings.Join(lines, "\n")
}

// ParentCondition renders one of them as Type=Status/Reason, or says that there is none.
func (w *World) ParentCondition(o client.Object, conditionType string) string {
	w.t.Helper()
	s := w.ParentStatus(o)
	if s == nil {
		return "object is gone"
	}
	c := meta.FindStatusCondition(s.Conditions, conditionType)
	if c == nil {
		return conditionType + " is not there"
	}
	return conditionType + "=" + string(c.Status) + "/" + c.Reason
}
