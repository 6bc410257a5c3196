package convert_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
)

// What status says of targets is read back as it was.
func TestTargetsSurviveStatus(t *testing.T) {
	ledgers := map[string][]dns.Entry{
		"cname.shop.example": {{Record: dns.Record{ZoneID: "Z1", Name: "cname.shop.example", Type: dns.CNAME, Value: "d1.cloudfront.net", TTL: 300}, State: dns.Published}},
		"shop.example": {
			{Record: dns.Record{ZoneID: "Z1", Name: "shop.example", Type: dns.A, Value: "d1.cloudfront.net"}, State: dns.Intended, RoleARN: "arn:role"},
			{Record: dns.Record{ZoneID: "Z1", Name: "_cf-challenge.shop.example", Type: dns.TXT, Value: "d1.cloudfront.net", TTL: 300}, State: dns.Retracting},
		},
	}
	if d := cmp.Diff(ledgers, convert.TargetLedgers(convert.TargetStatus(ledgers))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if convert.TargetStatus(nil) != nil {
		t.Error("status speaks of targets that there are not")
	}
}

// Customers are told what leads to the group, in the order of the spec.
func TestWhichTargetsCustomersAreTold(t *testing.T) {
	of := func(name string, state v1alpha1.RecordState) v1alpha1.CustomerTargetStatus {
		return v1alpha1.CustomerTargetStatus{Name: name, Records: []v1alpha1.DNSRecord{{State: state}}}
	}
	o := &v1alpha1.ConnectionGroup{
		Spec: v1alpha1.ConnectionGroupSpec{CustomerTargets: []v1alpha1.CustomerTarget{{Name: "z.shop.example"}, {Name: "a.shop.example"}, {Name: "new.shop.example"}}},
		Status: v1alpha1.ConnectionGroupStatus{CustomerTargets: []v1alpha1.CustomerTargetStatus{
			of("a.shop.example", "Published"), of("new.shop.example", "Intended"), of("old.shop.example", "Published"), of("z.shop.example", "Published"),
		}},
	}
	if d := cmp.Diff([]string{"z.shop.example", "a.shop.example"}, convert.PublishedTargets(o)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if o.DeletionTimestamp = new(metav1.Now()); convert.PublishedTargets(o) != nil {
		t.Error("the targets of a group that is deleted are told")
	}
}
