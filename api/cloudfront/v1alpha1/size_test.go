package v1alpha1_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// long returns a text of n characters that starts with a number, so that no two are equal.
func long(n, number int) string {
	prefix := fmt.Sprintf("%d-", number)
	return prefix + strings.Repeat("x", n-len(prefix))
}

// largest is the status in which every list is full and every text as long as may be.
func largest() v1alpha1.DistributionTenantStatus {
	now := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	s := v1alpha1.DistributionTenantStatus{
		ObservedGeneration: 1, ID: long(128, 0), ARN: long(2048, 0), TenantName: long(253, 0), ETag: long(256, 0), DistributionID: long(128, 0), ConnectionGroupID: long(128, 0),
		CertificateARN: long(2048, 0), ManagedCertificateStatus: long(64, 0), DNSTarget: long(253, 0), DNSChangeID: long(128, 0),
		ReconcileToken: long(256, 0), CreatedTime: &now, LastModifiedTime: &now, LastDriftCheckTime: &now,
		Failure: &v1alpha1.Failure{Reason: long(128, 0), Generation: 1, Since: now},
		CertificateRequest: &v1alpha1.SentCertificateRequest{
			ValidationTokenHost: v1alpha1.ValidationTokenHostSelfHosted, PrimaryDomainName: long(253, 0), Time: now,
		},
		Certificate: &v1alpha1.ServedCertificate{ARN: long(2048, 0), NotAfter: now, Issuer: long(256, 0), Type: v1alpha1.CertificateTypeImported},
		DNS:         &v1alpha1.DNSStatus{},
	}
	for n := range 16 {
		s.Conditions = append(s.Conditions, metav1.Condition{
			Type: fmt.Sprintf("Type%d", n), Status: metav1.ConditionFalse, Reason: "Reason", Message: long(1024, n), LastTransitionTime: now,
		})
	}
	for n := range 20 {
		s.Drift = append(s.Drift, v1alpha1.DriftedField{Field: long(512, n), Desired: long(1024, n), Observed: long(1024, n)})
	}
	for n := range 50 {
		s.ManagedCertificates = append(s.ManagedCertificates, long(2048, n))
		s.AppliedTagKeys = append(s.AppliedTagKeys, long(128, n))
	}
	for n := range 100 {
		s.DomainResults = append(s.DomainResults, v1alpha1.DomainResult{Domain: long(253, n), Status: long(64, n)})
	}
	for n := range 400 {
		s.DNS.Records = append(s.DNS.Records, v1alpha1.DNSRecord{
			ZoneID: long(64, n), Name: long(300, n), Type: "CNAME", Value: long(1024, n), TTL: 172800, State: "Retracting",
			AssumeRoleARN: long(640, n),
		})
	}
	for n := range 64 { // all of them together keep no more than that
		s.DNS.Records[n].Replaced = []v1alpha1.ReplacedRecord{{Type: "CNAME", TTL: new(int64(2147483647)), Values: []string{long(1024, n)}}}
	}
	return s
}

// largestOfSource is the same of a TenantSource.
func largestOfSource() v1alpha1.TenantSourceStatus {
	now := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	many := int32(1_000_000_000)
	s := v1alpha1.TenantSourceStatus{
		ObservedGeneration: 1, LastPollTime: &now, LastCompleteTime: &now, SyncToken: long(256, 0),
		TenantsDiscovered: &many, TenantsCreated: &many, TenantsUpdated: &many, TenantsDeleted: &many,
		PendingChangesTotal: many, RejectedRowsTotal: many, DeletionsInWindow: many,
		HeldDeletions: &v1alpha1.HeldDeletions{Count: many, PlanHash: long(64, 0)},
	}
	for n := range 16 {
		s.Conditions = append(s.Conditions, metav1.Condition{
			Type: fmt.Sprintf("Type%d", n), Status: metav1.ConditionFalse, Reason: "Reason", Message: long(1024, n), LastTransitionTime: now,
		})
	}
	for n := range 20 {
		s.PendingChanges = append(s.PendingChanges, v1alpha1.PendingChange{Action: "Disable", TenantName: long(253, n), Description: long(512, n)})
		s.RejectedRows = append(s.RejectedRows, v1alpha1.RejectedRow{Row: long(253, n), Reason: long(1024, n)})
		s.HeldDeletions.Names = append(s.HeldDeletions.Names, long(253, n))
	}
	for n := range 64 {
		s.RecentDeletions = append(s.RecentDeletions, v1alpha1.RecentDeletions{Time: metav1.NewTime(now.Add(time.Duration(n) * time.Minute)), Count: many})
	}
	for n := range 200 {
		s.Columns = append(s.Columns, v1alpha1.SourceColumn{Name: long(255, n), Type: long(16, n), Rows: many})
	}
	return s
}

func TestTheLargestStatusOfASourceFits(t *testing.T) {
	o := &v1alpha1.TenantSource{Spec: v1alpha1.TenantSourceSpec{
		Provider: v1alpha1.SourceProviderDynamoDB, DistributionID: "E2EXAMPLE1", DynamoDB: &v1alpha1.DynamoDBSource{TableName: "customers"},
	}}
	o.Name, o.Namespace = "largest", newNamespace(t)
	for n := range 100 {
		o.Spec.Mapping = append(o.Spec.Mapping, v1alpha1.FieldMapping{
			Column: long(255, n), Field: v1alpha1.FieldPath(fmt.Sprintf("parameters[%s]", long(128, n))),
		})
	}
	for n := range 50 {
		o.Spec.Expressions = append(o.Spec.Expressions, v1alpha1.FieldExpression{
			Field: v1alpha1.FieldPath(fmt.Sprintf("tags[%s]", long(128, n))), Expression: long(2048, n),
		})
	}
	if err := kube.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	base := o.DeepCopy()
	o.Status = largestOfSource()
	want := o.Status.DeepCopy()
	text, err := json.Marshal(o.Status)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("status has %d bytes", len(text))
	if err := kube.Status().Patch(t.Context(), o, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*want, o.Status); diff != "" {
		t.Errorf("the API server stored another status (-want +got):\n%s", diff)
	}
}

// A status that the schema takes must fit into the store, or an object would be stuck whose
// ledger has grown.
func TestTheLargestStatusFits(t *testing.T) {
	o := &v1alpha1.DistributionTenant{Spec: v1alpha1.DistributionTenantSpec{DistributionID: "E2EXAMPLE1"}}
	o.Name, o.Namespace = "largest", newNamespace(t)
	for n := range 100 {
		o.Spec.Domains = append(o.Spec.Domains, v1alpha1.TenantDomain{
			Domain: fmt.Sprintf("d%d.%s.example.com", n, strings.Repeat(strings.Repeat("x", 60)+".", 3)+strings.Repeat("x", 40)),
		})
	}
	if err := kube.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	base := o.DeepCopy()
	o.Status = largest()
	text, err := json.Marshal(o.Status)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("status has %d bytes", len(text))
	if err := kube.Status().Patch(t.Context(), o, client.MergeFrom(base)); err != nil {
		t.Error(err)
	}
}

// A distribution that is as large as the schema takes it, with usual texts, is validated within the API server's budget
// and fits into the store.
func TestTheLargestDistributionFits(t *testing.T) {
	const most = 250
	settings := func(n int) v1alpha1.CacheBehaviorSettings {
		return v1alpha1.CacheBehaviorSettings{
			TargetOriginID: fmt.Sprint("origin-", n), ViewerProtocolPolicy: "https-only", CachePolicyID: "658327ea-f89d-4fab-a63d-7e88639e58f6",
		}
	}
	o := &v1alpha1.Distribution{}
	o.Name, o.Namespace = "largest", newNamespace(t)
	o.Spec.DefaultCacheBehavior = new(settings(0))
	o.Spec.TenantConfig = &v1alpha1.TenantConfig{ParameterDefinitions: []v1alpha1.ParameterDefinition{{
		Name: "tenant", Definition: &v1alpha1.ParameterSchema{StringSchema: &v1alpha1.StringSchema{Required: new(true)}},
	}}}
	for n := range most {
		o.Spec.Origins = append(o.Spec.Origins, v1alpha1.Origin{
			ID: fmt.Sprint("origin-", n), DomainName: fmt.Sprintf("{{tenant}}.o%d.example.com", n), CustomOriginConfig: &v1alpha1.CustomOriginConfig{},
		})
		for h := range 30 {
			o.Spec.Origins[n].CustomHeaders = append(o.Spec.Origins[n].CustomHeaders, v1alpha1.CustomHeader{Name: fmt.Sprint("X-Header-", h), Value: long(20, h)})
		}
		o.Spec.CacheBehaviors = append(o.Spec.CacheBehaviors, v1alpha1.CacheBehavior{PathPattern: fmt.Sprintf("/path-%d/*", n), CacheBehaviorSettings: settings(n)})
	}
	began := time.Now()
	if err := kube.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Logf("the API server took %s", time.Since(began))
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the object has %d bytes", len(text))
	if len(text) > 1<<20 {
		t.Errorf("the object has %d bytes, and etcd takes one and a half million", len(text))
	}
}
