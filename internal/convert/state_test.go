package convert_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

func TestStateRow(t *testing.T) {
	early, late := metav1.NewTime(time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)), metav1.NewTime(time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC))
	domain := func(name string, state v1alpha1.DomainState, since metav1.Time) v1alpha1.DomainStatus {
		return v1alpha1.DomainStatus{Domain: name, State: state, Since: since, Message: name + " is " + string(state) + "."}
	}
	usual := func() *v1alpha1.DistributionTenant {
		return &v1alpha1.DistributionTenant{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Name: "acme", Generation: 3, ResourceVersion: "12345678901", CreationTimestamp: early,
				Labels:      map[string]string{v1alpha1.LabelSourceUID: "uid"},
				Annotations: map[string]string{v1alpha1.AnnotationSourceRow: "cust_42", v1alpha1.AnnotationSourceRevision: "7"},
			},
			Status: v1alpha1.DistributionTenantStatus{
				ObservedGeneration: 3, ID: "dt_1", DNSTarget: "d1.cloudfront.net", Certificate: &v1alpha1.ServedCertificate{NotAfter: late},
				Conditions: []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: "Deployed", Message: "Serving."}},
				Domains:    []v1alpha1.DomainStatus{domain("a.example.com", v1alpha1.DomainLive, early)},
			},
		}
	}
	row := statetable.Row{
		Source: "c/shop/customers", Key: "cust_42", Namespace: "shop", Name: "acme", State: "Live", Ready: true, Reason: "Deployed", Message: "Serving.",
		Domains:   `[{"domain":"a.example.com","state":"Live","since":"2026-11-01T10:00:00Z","message":"a.example.com is Live."}]`,
		DNSTarget: "d1.cloudfront.net", TenantID: "dt_1", CertificateExpires: late.Time, Generation: 3, Revision: "7", Since: early.Time, Version: 12345678901,
	}
	for name, tt := range map[string]struct {
		change func(o *v1alpha1.DistributionTenant)
		want   func(r *statetable.Row)
		none   bool
	}{
		"a customer who is served": {},
		"the key is not known before a poll has noted it": {
			change: func(o *v1alpha1.DistributionTenant) {
				o.Annotations = map[string]string{v1alpha1.AnnotationSourceRowKey: "QKRVG77Q3PHH53BV.2JI7SI34EFDEQ5YO"}
			},
			none: true,
		},
		"status speaks of an earlier spec, so nothing is said": {
			change: func(o *v1alpha1.DistributionTenant) { o.Generation = 4 }, none: true,
		},
		"without rowKey the name is the key": {
			change: func(o *v1alpha1.DistributionTenant) { o.Annotations = nil },
			want:   func(r *statetable.Row) { r.Key, r.Revision = "acme", "" },
		},
		"nothing is known of the domains yet": {
			change: func(o *v1alpha1.DistributionTenant) { o.Status.Domains = nil },
			want:   func(r *statetable.Row) { r.State, r.Domains = "Pending", "[]" },
		},
		"the state is that of the worst domain, since it is in it, and says what to do": {
			change: func(o *v1alpha1.DistributionTenant) {
				o.Status.Domains = []v1alpha1.DomainStatus{
					domain("a", v1alpha1.DomainLive, late), domain("b", v1alpha1.DomainAwaitingDNS, early), domain("c", v1alpha1.DomainAwaitingDNS, late), domain("d", v1alpha1.DomainIssuing, late),
				}
			},
			want: func(r *statetable.Row) {
				r.State, r.Since, r.Message, r.Domains = "AwaitingDNS", late.Time, "c is AwaitingDNS.", ""
			},
		},
		"a text has nothing that a database refuses": {
			change: func(o *v1alpha1.DistributionTenant) { o.Status.Conditions[0].Message = "a\x00b\xffc" },
			want:   func(r *statetable.Row) { r.Message = "abc" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			o, want := usual(), row
			if tt.change != nil {
				tt.change(o)
			}
			if tt.want != nil {
				tt.want(&want)
			}
			got, ok := convert.StateRow(o, "c/shop/customers")
			if ok == tt.none {
				t.Fatalf("said: %v", ok)
			}
			if want.Domains == "" {
				got.Domains = ""
			}
			if diff := cmp.Diff(want, got); ok && diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestStateProblem(t *testing.T) {
	sql := func(query, watch string) *v1alpha1.TenantSource {
		o := &v1alpha1.TenantSource{Spec: v1alpha1.TenantSourceSpec{Postgres: &v1alpha1.SQLSource{Query: query}}}
		if watch != "" {
			o.Spec.Watch = &v1alpha1.SourceWatch{Query: watch}
		}
		return o
	}
	redis := func(pattern string) *v1alpha1.TenantSource {
		return &v1alpha1.TenantSource{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "customers"}, Spec: v1alpha1.TenantSourceSpec{Redis: &v1alpha1.RedisSource{KeyPattern: pattern}}}
	}
	for name, tt := range map[string]struct {
		o     *v1alpha1.TenantSource
		table string
		bad   bool
	}{
		"another table":                           {sql("SELECT name, domain FROM customers", ""), "edge_state", false},
		"a column of that name is no table":       {sql("SELECT name, status FROM customers WHERE status = 'on'", ""), "status", false},
		"a table whose name begins so":            {sql("SELECT * FROM edge_state_old", ""), "edge_state", false},
		"the table that is read":                  {sql("SELECT name, domain\n  from edge_state", ""), "edge_state", true},
		"with its schema":                         {sql(`SELECT * FROM public."edge_state" e`, ""), "edge.edge_state", true},
		"joined":                                  {sql("SELECT * FROM customers c LEFT JOIN `edge_state` s ON true", ""), "edge_state", true},
		"with TABLE":                              {sql("TABLE edge_state", ""), "edge_state", true},
		"the table whose changes wake the source": {sql("SELECT * FROM customers", "SELECT max(updated) FROM edge_state"), "edge_state", true},
		"keys that the source does not read":      {redis("customer:*"), "edge_state", false},
		"keys that the source reads":              {redis("*"), "edge_state", true},
		"keys that the source reads, by prefix":   {redis("edge_*"), "edge_state", true},
	} {
		t.Run(name, func(t *testing.T) {
			tt.o.Spec.WriteBack = &v1alpha1.SourceWriteBack{Table: tt.table}
			if got := convert.StateTableOf(tt.o, "cluster").Problem; (got != "") != tt.bad {
				t.Errorf("got %q", got)
			}
		})
	}
}
