package v1alpha1_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

func TestEverySampleApplies(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "config", "samples", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("there are no samples")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			namespace := newNamespace(t)
			for _, obj := range readObjects(t, file) {
				obj.SetNamespace(namespace)
				sample := roundTrip(t, obj)["spec"]
				if err := kube.Create(t.Context(), obj); err != nil {
					t.Errorf("applying %s: %v", obj.GetName(), err)
					continue
				}
				if obj.GetKind() != "DistributionTenant" {
					continue
				}
				if diff := cmp.Diff(sample, unset(roundTrip(t, obj)["spec"], sample)); diff != "" {
					t.Errorf("the API server stored something else (-sample +stored):\n%s", diff)
				}
			}
		})
	}
}

// unset takes the fields that the sample doesn't have, which are defaults, out of what is stored.
func unset(stored, sample any) any {
	given, isMap := sample.(map[string]any)
	fields, ok := stored.(map[string]any)
	if !isMap || !ok {
		return stored
	}
	kept := map[string]any{}
	for field, value := range fields {
		if wanted, ok := given[field]; ok {
			kept[field] = unset(value, wanted)
		}
	}
	return kept
}

func TestDefaults(t *testing.T) {
	namespace := newNamespace(t)
	cases := map[string]struct {
		fields string
		want   map[string]any
	}{
		"a tenant is enabled, deleted with its object, and adopts nothing; the drift policy is the operator's": {
			fields: `{}`,
			want: map[string]any{
				"distributionId": "E2EXAMPLE1",
				"domains":        []any{map[string]any{"domain": "shop.example.com"}},
				"enabled":        true,
				"deletionPolicy": "Delete",
				"adoptionPolicy": "Never",
			},
		},
		"a false enabled stays false": {
			fields: `enabled: false`,
			want: map[string]any{
				"distributionId": "E2EXAMPLE1",
				"domains":        []any{map[string]any{"domain": "shop.example.com"}},
				"enabled":        false,
				"deletionPolicy": "Delete",
				"adoptionPolicy": "Never",
			},
		},
		"a record lives for five minutes and is of the kind that fits": {
			fields: `dns: {provider: route53}`,
			want: map[string]any{
				"distributionId": "E2EXAMPLE1",
				"domains":        []any{map[string]any{"domain": "shop.example.com"}},
				"enabled":        true,
				"deletionPolicy": "Delete",
				"adoptionPolicy": "Never",
				"dns":            map[string]any{"provider": "route53", "ttl": int64(300), "recordType": "Auto"},
			},
		},
		"managed certificates go with their tenant": {
			fields: `managedCertificateRequest: {validationTokenHost: cloudfront}`,
			want: map[string]any{
				"distributionId": "E2EXAMPLE1",
				"domains":        []any{map[string]any{"domain": "shop.example.com"}},
				"enabled":        true,
				"deletionPolicy": "Delete",
				"adoptionPolicy": "Never",
				"managedCertificateRequest": map[string]any{
					"validationTokenHost": "cloudfront", "deleteOnTenantDeletion": true,
				},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			obj := newObject(t, "DistributionTenant", namespace, "shop", tc.fields)
			if err := kube.Create(t.Context(), obj, client.DryRunAll); err != nil {
				t.Fatalf("creating: %v", err)
			}
			if diff := cmp.Diff(tc.want, obj.Object["spec"]); diff != "" {
				t.Errorf("spec differs (-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever AWS says has to fit into status, or one odd value keeps all the rest from being written.
func TestStatusTakesWhatAWSSays(t *testing.T) {
	obj := &v1alpha1.DistributionTenant{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: newNamespace(t)},
		Spec: v1alpha1.DistributionTenantSpec{
			DistributionID: "E2EXAMPLE1",
			Domains:        []v1alpha1.TenantDomain{{Domain: "shop.example.com"}},
		},
	}
	if err := kube.Create(t.Context(), obj); err != nil {
		t.Fatalf("creating: %v", err)
	}
	now := metav1.Now().Rfc3339Copy()
	obj.Status = v1alpha1.DistributionTenantStatus{
		Conditions: []metav1.Condition{{
			Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonDeploying,
			ObservedGeneration: obj.Generation, LastTransitionTime: now, Message: strings.Repeat("m", 1024),
		}},
		ObservedGeneration:       obj.Generation,
		ID:                       "dt_2whCJoXMYCjHcxaLGrkllvyABC",
		ARN:                      "arn:aws:cloudfront::111122223333:distribution-tenant/dt_2whCJoXMYCjHcxaLGrkllvyABC",
		TenantName:               "shop",
		ETag:                     "E23ZP02F085DFQ",
		DistributionTenantStatus: "SomethingNew",
		CreatedTime:              &now,
		LastModifiedTime:         &now,
		DomainResults:            []v1alpha1.DomainResult{{Domain: "shop.example.com", Status: "something-new"}},
		CertificateARN:           certificate,
		ManagedCertificateStatus: "something-new",
		DriftDetected:            true,
		Drift:                    []v1alpha1.DriftedField{{Field: "parameters[tier]", Desired: "gold"}, {Field: "enabled", Desired: "true", Observed: "false"}},
		LastDriftCheckTime:       &now,
		DNSTarget:                "d111111abcdef8.cloudfront.net",
		DNSChangeID:              "/change/C2682N5HXP0BZ4",
		AppliedTagKeys:           []string{"team"},
		Failure:                  &v1alpha1.Failure{Reason: v1alpha1.ReasonQuotaExceeded, Generation: obj.Generation, Since: now},
		ReconcileToken:           "2026-01-02T03:04:05Z",
	}
	want := obj.Status.DeepCopy()
	if err := kube.Status().Update(t.Context(), obj); err != nil {
		t.Fatalf("writing status: %v", err)
	}
	if diff := cmp.Diff(*want, obj.Status); diff != "" {
		t.Errorf("the API server stored another status (-want +got):\n%s", diff)
	}
}

func TestHowKubectlShowsTenants(t *testing.T) {
	kinds, err := discovery.NewDiscoveryClientForConfigOrDie(restConfig).ServerResourcesForGroupVersion(v1alpha1.SchemeGroupVersion.String())
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds.APIResources {
		if kind.Name != "distributiontenants" {
			continue
		}
		if diff := cmp.Diff([]string{"cfdt"}, kind.ShortNames); diff != "" {
			t.Errorf("short names (-want +got):\n%s", diff)
		}
		// Never "all": `kubectl delete all --all` would take the fleet.
		if diff := cmp.Diff([]string{"aws"}, kind.Categories); diff != "" {
			t.Errorf("categories (-want +got):\n%s", diff)
		}
	}

	obj := newObject(t, "DistributionTenant", newNamespace(t), "shop", `domains: [{domain: a.example.com}, {domain: b.example.com}]`)
	if err := kube.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	table := tableOf(t, obj.GetNamespace())
	var narrow, wide []string
	for _, column := range table.ColumnDefinitions {
		if column.Priority == 0 {
			narrow = append(narrow, column.Name)
			continue
		}
		wide = append(wide, column.Name)
	}
	if diff := cmp.Diff([]string{"Name", "STATUS", "READY", "SYNCED", "ID", "AGE"}, narrow); diff != "" {
		t.Errorf("columns of kubectl get (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"REASON", "DOMAINS", "DISTRIBUTION"}, wide); diff != "" {
		t.Errorf("further columns of kubectl get -o wide (-want +got):\n%s", diff)
	}
	if len(table.Rows) != 1 {
		t.Fatalf("got %d rows, want 1", len(table.Rows))
	}
	// A path such as .spec.domains[*].domain would show the first domain only.
	if diff := cmp.Diff([]any{`[{"domain":"a.example.com"},{"domain":"b.example.com"}]`, "E2EXAMPLE1"}, table.Rows[0].Cells[7:]); diff != "" {
		t.Errorf("domains and distribution (-want +got):\n%s", diff)
	}
}

// tableOf lists the tenants of a namespace in the form that kubectl asks for.
func tableOf(t *testing.T, namespace string) *metav1.Table {
	t.Helper()
	text, err := discovery.NewDiscoveryClientForConfigOrDie(restConfig).RESTClient().Get().
		AbsPath("apis", v1alpha1.SchemeGroupVersion.Group, v1alpha1.SchemeGroupVersion.Version, "namespaces", namespace, "distributiontenants").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").
		DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	table := &metav1.Table{}
	if err := json.Unmarshal(text, table); err != nil {
		t.Fatal(err)
	}
	return table
}

// readObjects reads all objects of a YAML file.
func readObjects(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		obj := &unstructured.Unstructured{}
		if err := decoder.Decode(&obj.Object); errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatalf("reading %s: %v", file, err)
		}
		if len(obj.Object) > 0 {
			objects = append(objects, obj)
		}
	}
}
