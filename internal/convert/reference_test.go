package convert_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

func TestReferences(t *testing.T) {
	o := &v1alpha1.DistributionTenant{}
	o.Namespace = "shop"
	if got := convert.References(o); got != nil {
		t.Errorf("a tenant that names its parents by their IDs refers to %+v", got)
	}
	o.Spec.DistributionRef = &v1alpha1.ObjectReference{Name: "main"}
	o.Spec.ConnectionGroupRef = &v1alpha1.ObjectReference{Name: "static"}
	want := []distributiontenant.Reference{
		{Field: distributiontenant.DistributionRef, Kind: "Distribution", Namespace: "shop", Name: "main"},
		{Field: distributiontenant.ConnectionGroupRef, Kind: "ConnectionGroup", Namespace: "shop", Name: "static"},
	}
	if d := cmp.Diff(want, convert.References(o)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestSourceReferences(t *testing.T) {
	main, other := &v1alpha1.ObjectReference{Name: "main"}, &v1alpha1.ObjectReference{Name: "other", Namespace: "platform"}
	inTemplate := func(s v1alpha1.TemplateSpec) *v1alpha1.TenantTemplate { return &v1alpha1.TenantTemplate{Spec: &s} }
	for name, c := range map[string]struct {
		spec v1alpha1.TenantSourceSpec
		want []string
	}{
		"IDs name no object":                  {v1alpha1.TenantSourceSpec{DistributionID: "E1"}, nil},
		"an object in the source's namespace": {v1alpha1.TenantSourceSpec{DistributionRef: main, TargetNamespace: "tenants"}, []string{"spec.distributionRef: Distribution shop/main"}},
		"a template without a spec":           {v1alpha1.TenantSourceSpec{DistributionRef: main, Template: &v1alpha1.TenantTemplate{}}, []string{"spec.distributionRef: Distribution shop/main"}},
		"the template has another one":        {v1alpha1.TenantSourceSpec{DistributionRef: main, Template: inTemplate(v1alpha1.TemplateSpec{DistributionRef: other})}, []string{"spec.template.spec.distributionRef: Distribution platform/other"}},
		"the template has an ID":              {v1alpha1.TenantSourceSpec{DistributionRef: main, Template: inTemplate(v1alpha1.TemplateSpec{DistributionID: "E1"})}, nil},
		"the template names a group as well":  {v1alpha1.TenantSourceSpec{DistributionRef: main, Template: inTemplate(v1alpha1.TemplateSpec{ConnectionGroupRef: other})}, []string{"spec.distributionRef: Distribution shop/main", "spec.template.spec.connectionGroupRef: ConnectionGroup platform/other"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := &v1alpha1.TenantSource{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}, Spec: c.spec}
			var got []string
			for _, r := range convert.SourceReferences(o) {
				text, _, _ := strings.Cut(distributiontenant.References{r}.Unresolvable(), " does not exist")
				got = append(got, text)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestDistributionReference(t *testing.T) {
	tests := map[string]struct {
		change func(*v1alpha1.Distribution)
		want   distributiontenant.Reference
	}{
		"one that was never looked at": {func(*v1alpha1.Distribution) {}, distributiontenant.Reference{}},
		"one that is there":            {func(o *v1alpha1.Distribution) { o.Status.ID = "E1" }, distributiontenant.Reference{ID: "E1"}},
		"one that goes": {func(o *v1alpha1.Distribution) {
			o.Status.ID = "E1"
			o.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		}, distributiontenant.Reference{ID: "E1", Deleting: true}},
		"one that can't be made":        {notReady(""), distributiontenant.Reference{NotReady: resource.ReasonQuotaExceeded}},
		"one that is there, and ailing": {notReady("E1"), distributiontenant.Reference{ID: "E1"}},
		"the usual mode":                {func(o *v1alpha1.Distribution) { o.Spec.ConnectionMode = v1alpha1.ConnectionModeTenantOnly }, distributiontenant.Reference{}},
		"a standard distribution":       {func(o *v1alpha1.Distribution) { o.Spec.ConnectionMode = v1alpha1.ConnectionModeDirect }, distributiontenant.Reference{Direct: true}},
		"one that was not looked at since it has a status for that": {func(o *v1alpha1.Distribution) { o.Spec.Enabled = new(false) }, distributiontenant.Reference{Disabled: true}},
		"one that is disabled in AWS":                               {func(o *v1alpha1.Distribution) { o.Status.Enabled = new(false) }, distributiontenant.Reference{Disabled: true}},
		"one that is to be disabled, which AWS does not know yet": {func(o *v1alpha1.Distribution) {
			o.Spec.Enabled, o.Status.Enabled = new(false), new(true)
		}, distributiontenant.Reference{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := &v1alpha1.Distribution{}
			o.Namespace, o.Name = "shop", "main"
			test.change(o)
			want := test.want
			want.Field, want.Kind, want.Namespace, want.Name, want.Found = distributiontenant.DistributionRef, "Distribution", "shop", "main", true
			if d := cmp.Diff(want, convert.DistributionReference(o)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func notReady(id string) func(*v1alpha1.Distribution) {
	return func(o *v1alpha1.Distribution) {
		o.Status.ID = id
		o.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonQuotaExceeded}}
	}
}

func TestConnectionGroupReference(t *testing.T) {
	for enabled, disabled := range map[*bool]bool{nil: false, new(true): false, new(false): true} {
		o := &v1alpha1.ConnectionGroup{}
		o.Namespace, o.Name, o.Status.Enabled, o.Status.ID = "shop", "static", enabled, "cg_1"
		want := distributiontenant.Reference{
			Field: distributiontenant.ConnectionGroupRef, Kind: "ConnectionGroup", Namespace: "shop", Name: "static", Found: true, ID: "cg_1", Disabled: disabled,
		}
		if d := cmp.Diff(want, convert.ConnectionGroupReference(o)); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}
