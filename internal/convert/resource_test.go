package convert_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
)

// The mark of an adoption counts for the object and the resource that it names, and for no other.
func TestTheMarkOfAnAdoption(t *testing.T) {
	type adoption struct {
		generation int64
		id         string
	}
	o := &v1alpha1.Distribution{}
	o.UID, o.Generation = "me", 7
	for name, test := range map[string]struct {
		mark string
		want adoption
	}{
		"as it was written":                   {convert.AdoptedResourceMark(o, "E1"), adoption{7, "E1"}},
		"none":                                {"", adoption{}},
		"of another object":                   {"somebody/7/E1", adoption{}},
		"of no object":                        {"/7/E1", adoption{}},
		"of a tenant, which names no other":   {"me/7", adoption{}},
		"with a generation that is no number": {"me/seven/E1", adoption{}},
	} {
		t.Run(name, func(t *testing.T) {
			o.Annotations = map[string]string{v1alpha1.AnnotationAdoptedGeneration: test.mark}
			var got adoption
			if got.generation, got.id = convert.AdoptedResource(o); got != test.want {
				t.Errorf("%q: got %+v, want %+v", test.mark, got, test.want)
			}
		})
	}
}

func TestStatusSaysWhetherAWSHasTheResourceEnabled(t *testing.T) {
	seen := func(enabled bool) distribution.Report {
		return distribution.Report{Resource: &distribution.Observed{ID: "E1", Enabled: enabled}}
	}
	for name, test := range map[string]struct {
		report distribution.Report
		want   *bool
	}{
		"it is enabled":             {seen(true), new(true)},
		"it is disabled":            {seen(false), new(false)},
		"another one follows it":    {distribution.Report{Forget: true}, nil},
		"it is gone":                {distribution.Report{Absent: true}, nil},
		"this pass has not read it": {distribution.Report{}, new(true)},
	} {
		t.Run(name, func(t *testing.T) {
			s := v1alpha1.ResourceStatus{Enabled: new(true)}
			convert.ResourceReport(&s, test.report, time.Unix(1, 0))
			if d := cmp.Diff(test.want, s.Enabled); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
