package convert_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/rollout"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/plan"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantplan"
)

// The domain spells the words of the API a second time. None of either may be missing from the other.
func TestTheDomainSpeaksTheWordsOfTenants(t *testing.T) {
	const api, domain = "../../api/kleff/v1", "../domain/plan"
	for _, prefix := range []string{"Reason", "Condition"} {
		if d := cmp.Diff(constants(t, api, prefix), constants(t, domain, prefix)); d != "" {
			t.Errorf("constants %s... (-contract +domain):\n%s", prefix, d)
		}
	}
	for domain, contract := range map[string]string{
		plan.LabelTenant: kleffv1.LabelTenant, plan.LabelTenantUID: kleffv1.LabelTenantUID,
		plan.LabelTenantPlan: kleffv1.LabelTenantPlan, plan.LabelTenantUsername: kleffv1.LabelTenantUsername,
		plan.LabelPlan: kleffv1.LabelPlan, plan.LabelPlanUID: kleffv1.LabelPlanUID,
		plan.LabelManagedBy: kleffv1.LabelManagedBy, plan.ManagedBy: kleffv1.ManagedBy,
		plan.AnnotationAdoptBy: kleffv1.AnnotationAdoptBy, plan.AnnotationApplied: kleffv1.AnnotationApplied,
		plan.AnnotationWithoutPlan: kleffv1.AnnotationWithoutPlan,
		string(plan.IsolationNone): string(kleffv1.IsolationNone), string(plan.IsolationNamespace): string(kleffv1.IsolationNamespace),
		string(plan.IsolationNamespaceAndIngress): string(kleffv1.IsolationNamespaceAndIngress),
		string(plan.InjectionEnabled):             string(kleffv1.InjectionEnabled), string(plan.InjectionDisabled): string(kleffv1.InjectionDisabled),
		string(plan.InjectionAmbient):       string(kleffv1.InjectionAmbient),
		plan.KindDistributionTenant.Group:   v1alpha1.SchemeGroupVersion.Group,
		plan.KindDistributionTenant.Version: v1alpha1.SchemeGroupVersion.Version,
	} {
		if domain != contract {
			t.Errorf("the domain says %q, the contract %q", domain, contract)
		}
	}
}

func TestCustomer(t *testing.T) {
	o := &kleffv1.Tenant{
		ObjectMeta: metav1.ObjectMeta{Name: "example", UID: "u1"},
		Spec:       kleffv1.TenantSpec{Plan: "basic", UserID: "user-1", Username: "User", Suspended: true},
	}
	want := plan.Tenant{Name: "example", UID: "u1", Namespace: "user-1", UserID: "user-1", Username: "User", Plan: "basic", Suspended: true}
	if d := cmp.Diff(want, convert.Tenant(o)); d != "" {
		t.Errorf("the user gives the name (-want +got):\n%s", d)
	}
	o.Spec.Namespace = "theirs"
	want.Namespace, want.Explicit = "theirs", true
	if d := cmp.Diff(want, convert.Tenant(o)); d != "" {
		t.Errorf("the spec gives the name (-want +got):\n%s", d)
	}
}

// Whatever a plan says arrives.
func TestPlanSpec(t *testing.T) {
	seven := int32(7)
	o := &kleffv1.TenantPlan{Spec: kleffv1.TenantPlanSpec{
		ResourceQuota:     &corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"pods": resource.MustParse("10")}},
		LimitRange:        &corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: "Container", Max: corev1.ResourceList{"cpu": resource.MustParse("1500m")}}}},
		PodSecurity:       &kleffv1.PodSecurity{Enforce: "baseline", Audit: "restricted", Warn: "privileged", Version: "v1.36"},
		NetworkIsolation:  kleffv1.IsolationNamespace,
		IngressNamespaces: []string{"edge"},
		Owner:             &kleffv1.Owner{ClusterRole: "edit"},
		Labels:            map[string]kleffv1.LabelValue{"tier": "basic"},
		Annotations:       map[string]kleffv1.AnnotationValue{"note": "text"},
		Istio: &kleffv1.Istio{
			Injection: kleffv1.InjectionAmbient, Revision: "1-29", AuthorizationPolicy: kleffv1.IsolationNamespaceAndIngress, PeerAuthentication: "STRICT",
			Gateway: &kleffv1.Gateway{Selector: map[string]kleffv1.LabelValue{"istio": "x"}, Hosts: []string{"a.example.com"}, TLSSecret: "tls"},
		},
		Gatekeeper: &kleffv1.Gatekeeper{Constraints: []kleffv1.Constraint{
			{Kind: "A", Name: "one", EnforcementAction: "warn", Parameters: &runtime.RawExtension{Raw: []byte(`{"limit":2}`)}, Kinds: []kleffv1.MatchKinds{{APIGroups: []string{""}, Kinds: []string{"Pod"}}}},
			{Kind: "B", Name: "two"},
		}},
		DistributionTenant: &kleffv1.EdgeTemplate{
			Template:    &v1alpha1.TenantTemplate{Metadata: &v1alpha1.TemplateMetadata{Labels: map[string]v1alpha1.TemplateLabelValue{"team": "edge"}}},
			Mapping:     []v1alpha1.FieldMapping{{Column: "username", Field: "tenantName"}},
			Expressions: []v1alpha1.FieldExpression{{Field: "domains", Expression: "[row.name]"}},
		},
		Rollout: &kleffv1.Rollout{MaxConcurrent: 3, MaxFailedPercent: &seven},
	}}
	got, err := convert.PlanSpec(o)
	if err != nil {
		t.Fatal(err)
	}
	template := got.Edge.Template
	want := plan.Spec{
		ResourceQuota:     map[string]any{"hard": map[string]any{"pods": "10"}},
		LimitRange:        map[string]any{"limits": []any{map[string]any{"type": "Container", "max": map[string]any{"cpu": "1500m"}}}},
		PodSecurity:       plan.PodSecurity{Enforce: "baseline", Audit: "restricted", Warn: "privileged", Version: "v1.36"},
		NetworkIsolation:  plan.IsolationNamespace,
		IngressNamespaces: []string{"edge"},
		OwnerClusterRole:  "edit",
		Labels:            map[string]string{"tier": "basic"},
		Annotations:       map[string]string{"note": "text"},
		Istio: plan.Istio{
			Injection: plan.InjectionAmbient, Revision: "1-29", AuthorizationPolicy: plan.IsolationNamespaceAndIngress, PeerAuthentication: "STRICT",
			Gateway: &plan.Gateway{Selector: map[string]string{"istio": "x"}, Hosts: []string{"a.example.com"}, TLSSecret: "tls"},
		},
		Constraints: []plan.Constraint{
			{Kind: "A", Name: "one", EnforcementAction: "warn", Parameters: map[string]any{"limit": 2.0}, Kinds: []plan.MatchKinds{{APIGroups: []string{""}, Kinds: []string{"Pod"}}}},
			{Kind: "B", Name: "two", EnforcementAction: "deny"},
		},
		Edge: &mapping.Config{
			Defaults: []mapping.Mapping{{Column: "name", Field: "name"}}, Template: template,
			Mapping: []mapping.Mapping{{Column: "username", Field: "tenantName"}}, Expressions: []mapping.Expression{{Field: "domains", Expression: "[row.name]"}},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]string{"team": "edge"}, template.Labels); d != "" {
		t.Errorf("labels of the template (-want +got):\n%s", d)
	}
	if d := cmp.Diff(rollout.Limits{MaxConcurrent: 3, MaxFailedPercent: 7}, convert.PlanLimits(o)); d != "" {
		t.Errorf("limits (-want +got):\n%s", d)
	}
}

// An object that was stored before the schema had a default gets it nevertheless.
func TestPlanDefaults(t *testing.T) {
	o := &kleffv1.TenantPlan{}
	got, err := convert.PlanSpec(o)
	if d := cmp.Diff(plan.Spec{IngressNamespaces: []string{"istio-system", "istio-ingress"}}, got); d != "" || err != nil {
		t.Errorf("%v, (-want +got):\n%s", err, d)
	}
	limits := rollout.Limits{MaxConcurrent: 10, MaxFailedPercent: 10}
	if d := cmp.Diff(limits, convert.PlanLimits(o)); d != "" {
		t.Errorf("limits (-want +got):\n%s", d)
	}
	zero := int32(0)
	o.Spec.Rollout = &kleffv1.Rollout{MaxFailedPercent: &zero}
	if limits.MaxFailedPercent = 0; convert.PlanLimits(o) != limits {
		t.Errorf("none may fail, and the limits are %+v", convert.PlanLimits(o))
	}
	o.Spec.Gatekeeper = &kleffv1.Gatekeeper{Constraints: []kleffv1.Constraint{{Kind: "A", Name: "one", Parameters: &runtime.RawExtension{Raw: []byte("[]")}}}}
	if _, err := convert.PlanSpec(o); err == nil {
		t.Error("parameters that are no object were taken")
	}
}

func TestFollower(t *testing.T) {
	plan := &kleffv1.TenantPlan{ObjectMeta: metav1.ObjectMeta{Name: "basic", UID: "p1"}}
	condition := func(kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: "so it is"}
	}
	there := condition(kleffv1.ConditionNamespaceReady, metav1.ConditionTrue, "Provisioned")
	for name, tt := range map[string]struct {
		change     func(*kleffv1.Tenant)
		conditions []metav1.Condition
		want       tenantplan.Follower
	}{
		"one that has the plan":          {conditions: []metav1.Condition{there}, want: tenantplan.Follower{Generation: 3, Named: true, Able: true}},
		"one that has none of it":        {func(o *kleffv1.Tenant) { o.Status.Plan, o.Status.PlanUID = "", "p0" }, []metav1.Condition{there}, tenantplan.Follower{Named: true, Able: true}},
		"one that has it of a lost plan": {func(o *kleffv1.Tenant) { o.Status.PlanUID = "p0" }, []metav1.Condition{there}, tenantplan.Follower{Named: true, Able: true, Generation: tenantplan.Restored}},
		"one that goes to another":       {func(o *kleffv1.Tenant) { o.Spec.Plan = "gold" }, []metav1.Condition{there}, tenantplan.Follower{Generation: 3, Able: true}},
		"one that is deleted":            {func(o *kleffv1.Tenant) { o.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, []metav1.Condition{there}, tenantplan.Follower{Generation: 3, Named: true}},
		"one without a namespace":        {nil, []metav1.Condition{condition(kleffv1.ConditionNamespaceReady, metav1.ConditionFalse, "Creating")}, tenantplan.Follower{Generation: 3, Named: true}},
		"one that could not have all":    {nil, []metav1.Condition{there, condition(kleffv1.ConditionPlanApplied, metav1.ConditionFalse, "PartiallyApplied")}, tenantplan.Follower{Generation: 3, Named: true, Able: true, Failure: "PartiallyApplied: so it is"}},
		"one whose gateway can't be":     {nil, []metav1.Condition{there, condition(kleffv1.ConditionMeshReady, metav1.ConditionFalse, "Error")}, tenantplan.Follower{Generation: 3, Named: true, Able: true, Failure: "Error: so it is"}},
		"one whose edge tenant can't be": {nil, []metav1.Condition{there, condition(kleffv1.ConditionEdgeReady, metav1.ConditionFalse, "Error")}, tenantplan.Follower{Generation: 3, Named: true, Able: true, Failure: "Error: so it is"}},
		"a mesh that is not there, an edge that is slow and constraints that fail are no failure of the plan": {nil, []metav1.Condition{
			there, condition(kleffv1.ConditionMeshReady, metav1.ConditionFalse, "CRDMissing"), condition(kleffv1.ConditionEdgeReady, metav1.ConditionFalse, "Creating"),
			condition(kleffv1.ConditionPolicyReady, metav1.ConditionFalse, "Error"),
		}, tenantplan.Follower{Generation: 3, Named: true, Able: true}},
	} {
		t.Run(name, func(t *testing.T) {
			o := &kleffv1.Tenant{
				ObjectMeta: metav1.ObjectMeta{Name: "example", UID: "u1"}, Spec: kleffv1.TenantSpec{Plan: "basic"},
				Status: kleffv1.TenantStatus{Plan: "basic", PlanUID: "p1", PlanGeneration: 3, Conditions: tt.conditions},
			}
			if tt.change != nil {
				tt.change(o)
			}
			tt.want.Name, tt.want.UID = "example", "u1"
			if d := cmp.Diff(tt.want, convert.Follower(o, plan)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// A report is in status, is read from there again, and changes nothing when it is written once more.
func TestCustomerStatus(t *testing.T) {
	r := tenant.Report{
		Memory:     tenant.Memory{Namespace: "n", Plan: "basic", PlanUID: "p1", PlanGeneration: 3},
		Conditions: []chain.Condition{{Type: "PlanApplied", Status: true, Reason: "Applied", Message: "all"}, {Type: "EdgeReady", Reason: "Error", Message: "no"}},
	}
	s := &kleffv1.TenantStatus{ObservedGeneration: 1}
	first := time.Unix(1000, 5)
	convert.TenantStatus(s, 2, r, first)
	if s.ObservedGeneration != 2 || s.AppliedGeneration == nil || *s.AppliedGeneration != 1 {
		t.Errorf("generation %d was observed and %v applied by a pass over the second that did not settle", s.ObservedGeneration, s.AppliedGeneration)
	}
	if d := cmp.Diff(r.Memory, convert.TenantMemory(s)); d != "" {
		t.Errorf("memory (-want +got):\n%s", d)
	}
	sorted := []chain.Condition{r.Conditions[1], r.Conditions[0]}
	for i := range sorted {
		sorted[i].Generation = 2
	}
	if d := cmp.Diff(sorted, convert.Conditions(s.Conditions)); d != "" {
		t.Errorf("conditions (-want +got):\n%s", d)
	}
	before := s.DeepCopy()
	convert.TenantStatus(s, 2, r, first.Add(time.Hour))
	if d := cmp.Diff(before, s); d != "" {
		t.Errorf("the same report changes status (-before +after):\n%s", d)
	}
	r.Settled, r.Conditions = true, []chain.Condition{{Type: "EdgeReady", Status: true, Reason: "Ready", Message: "yes"}}
	convert.TenantStatus(s, 4, r, first.Add(time.Hour))
	if s.ObservedGeneration != 4 || len(s.Conditions) != 2 || !s.Conditions[0].LastTransitionTime.Equal(&metav1.Time{Time: time.Unix(4600, 0)}) {
		t.Errorf("a report that settles leaves %+v", s)
	}
}

func TestPlanStatus(t *testing.T) {
	s := &kleffv1.TenantPlanStatus{}
	convert.PlanStatus(s, &kleffv1.TenantPlan{ObjectMeta: metav1.ObjectMeta{Generation: 5}}, tenantplan.Report{Rollout: rollout.Rollout{Tenants: 3, Applied: 2, Failed: 1}, Conditions: []chain.Condition{{Type: "Ready", Reason: "RollingOut", Message: "x"}}}, time.Unix(1000, 0))
	three, two, one := int32(3), int32(2), int32(1)
	want := &kleffv1.TenantPlanStatus{
		ObservedGeneration: 5, Tenants: &three, Applied: &two, Failed: &one,
		Conditions: []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse, Reason: "RollingOut", Message: "x", ObservedGeneration: 5, LastTransitionTime: metav1.NewTime(time.Unix(1000, 0))}},
	}
	if c := s.Content; c == nil || c.Generation != 5 || c.ObservedGeneration != 5 || c.Hash == "" {
		t.Errorf("the content is %+v", c)
	}
	s.Content = nil
	if d := cmp.Diff(want, s); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestPlanAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		conditions []metav1.Condition
		content    *kleffv1.PlanContent
		accepted   bool
		refusal    string
	}{
		"nothing is known":            {},
		"all tenants have it":         {[]metav1.Condition{{Type: "RolledOut", Status: metav1.ConditionTrue, Reason: "RolledOut", ObservedGeneration: 2}}, nil, true, ""},
		"some tenants failed":         {[]metav1.Condition{{Type: "RolledOut", Reason: "TenantsFailed", ObservedGeneration: 2}}, nil, true, ""},
		"it may not have been asked":  {[]metav1.Condition{{Type: "RolledOut", Reason: "RollingOut", ObservedGeneration: 2}}, nil, false, ""},
		"it was refused":              {[]metav1.Condition{{Type: "RolledOut", Reason: "PlanInvalid", Message: "spec.owner: no", ObservedGeneration: 2}}, nil, false, "spec.owner: no"},
		"the one before was refused":  {[]metav1.Condition{{Type: "RolledOut", Reason: "PlanInvalid", Message: "spec.owner: no", ObservedGeneration: 1}}, nil, false, ""},
		"the one before was accepted": {[]metav1.Condition{{Type: "RolledOut", Status: metav1.ConditionTrue, Reason: "RolledOut", ObservedGeneration: 1}}, nil, false, ""},
		"the one before gave the same": {
			[]metav1.Condition{{Type: "RolledOut", Status: metav1.ConditionTrue, Reason: "RolledOut", ObservedGeneration: 1}}, &kleffv1.PlanContent{Generation: 1, ObservedGeneration: 2}, true, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := &kleffv1.TenantPlan{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Status: kleffv1.TenantPlanStatus{ObservedGeneration: 2, Conditions: tt.conditions, Content: tt.content}}
			if accepted, refusal := convert.PlanAnswer(o); accepted != tt.accepted || refusal != tt.refusal {
				t.Errorf("accepted %t, refusal %q", accepted, refusal)
			}
		})
	}
}
