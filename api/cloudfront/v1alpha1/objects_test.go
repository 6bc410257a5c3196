package v1alpha1_test

import (
	gocmp "cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/kubectl"
)

func TestEverySampleApplies(t *testing.T) {
	var files []string
	for _, folder := range []string{".", "tenantsource", "distribution", "connectiongroup", "by-name", "dns", "platform", "invalidation", "key-values"} {
		found, err := filepath.Glob(filepath.Join("..", "..", "..", "config", "samples", folder, "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			t.Fatalf("there are no samples in %s", folder)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) {
			namespace := newNamespace(t)
			for _, obj := range kubectl.Read(t, file) {
				obj.SetNamespace(namespace)
				if obj.GetKind() == "Secret" {
					checkPlaceholder(t, obj)
					continue
				}
				sample := roundTrip(t, obj)["spec"]
				if err := kube.Create(t.Context(), obj); err != nil {
					t.Errorf("applying %s: %v", obj.GetName(), err)
					continue
				}
				if diff := cmp.Diff(sample, kubectl.Given(roundTrip(t, obj)["spec"], sample)); diff != "" {
					t.Errorf("the API server stored something else (-sample +stored):\n%s", diff)
				}
				checkNotObserved(t, obj)
			}
		})
	}
}

// checkNotObserved checks that the status of a new object shows that the operator has not looked at it yet: for tools
// an object without a status is done.
func checkNotObserved(t *testing.T, obj *unstructured.Unstructured) {
	t.Helper()
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
		t.Fatal(err)
	}
	observed, _, err := unstructured.NestedInt64(obj.Object, "status", "observedGeneration")
	if err != nil || observed != -1 {
		t.Errorf("a new %s was observed at generation %d (%v)", obj.GetKind(), observed, err)
	}
}

// checkPlaceholder creates a sample's Secret, whose password is not a real one.
func checkPlaceholder(t *testing.T, secret *unstructured.Unstructured) {
	t.Helper()
	connection, _, err := unstructured.NestedString(secret.Object, "stringData", "connectionString")
	if err != nil || !strings.Contains(connection, ":change-me@") || !strings.Contains(connection, ".example.com") {
		t.Errorf("the connection string of %s is no placeholder: %v", secret.GetName(), err)
	}
	if err := kube.Create(t.Context(), secret); err != nil {
		t.Errorf("applying %s: %v", secret.GetName(), err)
	}
}

// Every provider has a sample, and the Secret of each source is next to it and offered to it.
func TestSamplesOfSources(t *testing.T) {
	providers := map[string]bool{}
	for _, provider := range []string{"dynamodb", "postgres", "mysql", "mongodb", "redis"} {
		offered := map[string]string{}
		for _, obj := range kubectl.Read(t, filepath.Join("..", "..", "..", "config", "samples", "tenantsource", provider+".yaml")) {
			if obj.GetKind() == "Secret" {
				offered[obj.GetName()] = obj.GetLabels()[v1alpha1.LabelTenantSource]
				continue
			}
			is, _, _ := unstructured.NestedString(obj.Object, "spec", "provider")
			providers[is] = true
			if name, connects, _ := unstructured.NestedString(obj.Object, "spec", is, secretRef, "name"); connects && offered[name] != obj.GetName() {
				t.Errorf("%s: there is no Secret %q before it with the label %s=%s", obj.GetName(), name, v1alpha1.LabelTenantSource, obj.GetName())
			}
		}
	}
	if len(providers) != 5 {
		t.Errorf("the samples show %v, want five providers", providers)
	}
}

// Manifests of the system that had this kind before apply as they are.
func TestManifestsOfThePredecessorApply(t *testing.T) {
	for name, manifest := range map[string]string{
		"a table of DynamoDB": `
apiVersion: cloudfront-tenant-operator.io/v1alpha1
kind: TenantSource
metadata:
  name: customers
spec:
  provider: dynamodb
  pollInterval: 5m
  distributionId: E1A2B3C4D5E6F7
  dynamodb:
    tableName: customers
    region: us-east-1
`,
		"a query of PostgreSQL": `
apiVersion: cloudfront-tenant-operator.io/v1alpha1
kind: TenantSource
metadata:
  name: customers
spec:
  provider: postgres
  distributionId: E1A2B3C4D5E6F7
  postgres:
    connectionSecretRef:
      name: customers
    query: SELECT name, domain FROM customers
`,
	} {
		t.Run(name, func(t *testing.T) {
			obj := &unstructured.Unstructured{}
			if err := yaml.UnmarshalStrict([]byte(manifest), &obj.Object); err != nil {
				t.Fatal(err)
			}
			obj.SetNamespace(newNamespace(t))
			if err := kube.Create(t.Context(), obj); err != nil {
				t.Error(err)
			}
		})
	}
}

// Examples have to work: the sources of the samples and of the pages are taken by the API server, and their
// expressions compile.
func TestSourcesThatPeopleCopy(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	sources := map[string]*unstructured.Unstructured{}
	samples, err := filepath.Glob(filepath.Join(root, "config", "samples", "tenantsource", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range samples {
		for _, obj := range kubectl.Read(t, file) {
			if obj.GetKind() == "TenantSource" {
				sources[filepath.Base(file)] = obj
			}
		}
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "tenantsource", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, filepath.Join(root, "docs", "tenantsource.md"), filepath.Join(root, "docs", "state-table.md"), filepath.Join(root, "docs", "key-values.md")) {
		maps.Copy(sources, sourcesOfPage(t, page))
	}
	if len(sources) < 13 {
		t.Fatalf("found %d sources only", len(sources))
	}
	namespace := newNamespace(t)
	for name, obj := range sources {
		t.Run(name, func(t *testing.T) {
			obj.SetNamespace(namespace)
			if err := kube.Create(t.Context(), obj, client.DryRunAll); err != nil {
				t.Fatal(err)
			}
			typed := &v1alpha1.TenantSource{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, typed); err != nil {
				t.Fatal(err)
			}
			config, err := convert.SourceConfig(typed)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := mapping.Compile(config); err != nil {
				t.Error(err)
			}
		})
	}
}

// sourcesOfPage are the sources in the code blocks of a page.
func sourcesOfPage(t *testing.T, file string) map[string]*unstructured.Unstructured {
	t.Helper()
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]*unstructured.Unstructured{}
	for n, block := range yamlBlock.FindAllSubmatch(page, -1) {
		obj := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict(block[1], &obj.Object); err != nil {
			t.Fatal(err)
		}
		switch obj.GetKind() {
		case "TenantSource":
		case "":
			// A piece of a spec: the rest is that of the least source.
			fields, err := yaml.Marshal(obj.Object["spec"])
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(fields), "provider: dynamodb") && strings.Contains(string(fields), "provider:") {
				fields = append(fields, "distributionId: E2EXAMPLE1\ndynamodb: null\n"...)
			}
			if _, refers, _ := unstructured.NestedMap(obj.Object, "spec", "distributionRef"); refers {
				fields = append(fields, "distributionId: null\n"...)
			}
			obj = newObject(t, "TenantSource", "", "piece", string(fields))
		default:
			continue
		}
		sources[fmt.Sprintf("block %d of %s", n+1, filepath.Base(file))] = obj
	}
	return sources
}

// yamlBlock is a code block of a page, also in a list.
var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

func TestDefaults(t *testing.T) {
	namespace := newNamespace(t)
	guard := map[string]any{"confirmPolls": int64(2), "maxDeletes": int64(10), "maxDeletePercent": int64(5), "window": "24h"}
	table := map[string]any{
		"tableName": "customers", "nameAttribute": "name", "domainAttribute": "domain", "consistentRead": true, "segments": int64(1),
	}
	cases := map[string]struct {
		kind   string // DistributionTenant where it isn't said
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
		"a table is read every five minutes, consistently and in one part, and what vanishes is deleted under the guard": {
			kind:   "TenantSource",
			fields: `{}`,
			want: map[string]any{
				"provider": "dynamodb", "distributionId": "E2EXAMPLE1", "dynamodb": table, "pollInterval": "5m", "deletionPolicy": "Delete", "deletionGuard": guard,
			},
		},
		"what is said of the guard stays, also a zero": {
			kind:   "TenantSource",
			fields: `deletionGuard: {maxDeletes: 0, window: 1h}`,
			want: map[string]any{
				"provider": "dynamodb", "distributionId": "E2EXAMPLE1", "dynamodb": table, "pollInterval": "5m", "deletionPolicy": "Delete",
				"deletionGuard": map[string]any{"confirmPolls": int64(2), "maxDeletes": int64(0), "maxDeletePercent": int64(5), "window": "1h"},
			},
		},
		"a query has no defaults": {
			kind:   "TenantSource",
			fields: store("postgres", nil),
			want: map[string]any{
				"provider": "postgres", "distributionId": "E2EXAMPLE1", "pollInterval": "5m", "deletionPolicy": "Delete", "deletionGuard": guard,
				"postgres": map[string]any{"connectionSecretRef": map[string]any{"name": "db"}, "query": "x"},
			},
		},
		"nothing is added to a template: it would be written over what users set": {
			kind:   "TenantSource",
			fields: `template: {metadata: {}, spec: {customizations: {webAcl: {}, geoRestrictions: {}}, managedCertificateRequest: {}, dns: {provider: route53}}}`,
			want: map[string]any{
				"provider": "dynamodb", "distributionId": "E2EXAMPLE1", "dynamodb": table, "pollInterval": "5m", "deletionPolicy": "Delete", "deletionGuard": guard,
				"template": map[string]any{
					"metadata": map[string]any{},
					"spec": map[string]any{
						"customizations":            map[string]any{"webAcl": map[string]any{}, "geoRestrictions": map[string]any{}},
						"managedCertificateRequest": map[string]any{}, "dns": map[string]any{"provider": "route53"},
					},
				},
			},
		},
		"a distribution serves tenants, is enabled, and speaks HTTPS to its origin; a deletion is reported after half an hour": {
			kind:   "Distribution",
			fields: `{}`,
			want: map[string]any{
				"origins": []any{map[string]any{
					"id": "app", "domainName": "app.example.com", "customOriginConfig": map[string]any{"originProtocolPolicy": "https-only"},
				}},
				"defaultCacheBehavior": map[string]any{"targetOriginId": "app", "viewerProtocolPolicy": "redirect-to-https", "cachePolicyId": cachePolicy},
				"connectionMode":       "tenant-only",
				"enabled":              true,
				"deletionPolicy":       "Delete",
				"deletionTimeout":      "30m",
				"adoptionPolicy":       "Never",
			},
		},
		"a connection group is enabled and has IPv6": {
			kind:   "ConnectionGroup",
			fields: `{}`,
			want: map[string]any{
				"enabled": true, "ipv6Enabled": true, "deletionPolicy": "Delete", "deletionTimeout": "30m", "adoptionPolicy": "Never",
			},
		},
		"what is switched off in a connection group stays off": {
			kind:   "ConnectionGroup",
			fields: `{enabled: false, ipv6Enabled: false, deletionTimeout: 1h30m}`,
			want: map[string]any{
				"enabled": false, "ipv6Enabled": false, "deletionPolicy": "Delete", "deletionTimeout": "1h30m", "adoptionPolicy": "Never",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			obj := newObject(t, gocmp.Or(tc.kind, "DistributionTenant"), namespace, "shop", tc.fields)
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
		AppliedGeneration:        new(int64(0)),
		ID:                       "dt_2whCJoXMYCjHcxaLGrkllvyABC",
		ARN:                      "arn:aws:cloudfront::111122223333:distribution-tenant/dt_2whCJoXMYCjHcxaLGrkllvyABC",
		TenantName:               "shop",
		DistributionID:           "E2EXAMPLE1",
		ConnectionGroupID:        "cg_2whCJoXMYCjHcxaLGrkllvyABC",
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

func TestHowKubectlShowsObjects(t *testing.T) {
	names := map[string][]string{
		"distributiontenants": {"cfdt"}, "tenantsources": {"cfts"}, "distributions": {"cfd"}, "connectiongroups": {"cfcg"}, "edgegrants": {"cfeg"}, "domainclaims": {"cfdc"}, "invalidations": {"inv"},
	}
	kinds, err := discovery.NewDiscoveryClientForConfigOrDie(restConfig).ServerResourcesForGroupVersion(v1alpha1.SchemeGroupVersion.String())
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds.APIResources {
		if strings.Contains(kind.Name, "/") {
			continue
		}
		if diff := cmp.Diff(names[kind.Name], kind.ShortNames); diff != "" {
			t.Errorf("short names of %s (-want +got):\n%s", kind.Name, diff)
		}
		// Never "all": `kubectl delete all --all` would take the fleet.
		var categories []string
		if kind.Namespaced {
			categories = []string{"aws"}
		}
		if diff := cmp.Diff(categories, kind.Categories); diff != "" {
			t.Errorf("categories of %s (-want +got):\n%s", kind.Name, diff)
		}
		delete(names, kind.Name)
	}
	if len(names) > 0 {
		t.Errorf("the API server does not have %v", names)
	}
}

func TestHowKubectlShowsTenants(t *testing.T) {
	obj := newObject(t, "DistributionTenant", newNamespace(t), "shop", `domains: [{domain: a.example.com}, {domain: b.example.com}]`)
	if err := kube.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	// The columns show the resources in use, however they were named.
	if err := unstructured.SetNestedField(obj.Object, "E2EXAMPLE9", "status", "distributionId"); err != nil {
		t.Fatal(err)
	}
	if err := kube.Status().Update(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	table := kubectl.Table(t, restConfig, v1alpha1.SchemeGroupVersion, obj.GetNamespace(), "distributiontenants")
	narrow, wide := kubectl.Columns(table)
	if diff := cmp.Diff([]string{"Name", "STATUS", "READY", "SYNCED", "DOMAIN", "ID", "AGE"}, narrow); diff != "" {
		t.Errorf("columns of kubectl get (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"REASON", "DISTRIBUTION", "CERT-EXPIRES"}, wide); diff != "" {
		t.Errorf("further columns of kubectl get -o wide (-want +got):\n%s", diff)
	}
	if len(table.Rows) != 1 {
		t.Fatalf("got %d rows, want 1", len(table.Rows))
	}
	if diff := cmp.Diff([]any{"a.example.com", "E2EXAMPLE9"}, []any{table.Rows[0].Cells[4], table.Rows[0].Cells[8]}); diff != "" {
		t.Errorf("domain and distribution (-want +got):\n%s", diff)
	}
}

func TestHowKubectlShowsSources(t *testing.T) {
	obj := &v1alpha1.TenantSource{
		ObjectMeta: metav1.ObjectMeta{Name: "customers", Namespace: newNamespace(t)},
		Spec: v1alpha1.TenantSourceSpec{
			Provider: v1alpha1.SourceProviderDynamoDB, DistributionID: "E2EXAMPLE1", DryRun: true,
			DynamoDB: &v1alpha1.DynamoDBSource{TableName: "customers"},
		},
	}
	if err := kube.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	now := metav1.Now()
	obj.Status = v1alpha1.TenantSourceStatus{
		LastPollTime: &now, TenantsDiscovered: new(int32(0)), RejectedRowsTotal: 3, HeldDeletions: &v1alpha1.HeldDeletions{Count: 25, PlanHash: "h"},
		Conditions: []metav1.Condition{
			{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonDeletionHeld, LastTransitionTime: now},
			{Type: v1alpha1.ConditionSynced, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonDeletionHeld, LastTransitionTime: now},
		},
	}
	if err := kube.Status().Update(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	table := kubectl.Table(t, restConfig, v1alpha1.SchemeGroupVersion, obj.Namespace, "tenantsources")
	narrow, wide := kubectl.Columns(table)
	if diff := cmp.Diff([]string{"Name", "PROVIDER", "DISCOVERED", "READY", "DRYRUN", "LASTPOLL", "AGE"}, narrow); diff != "" {
		t.Errorf("columns of kubectl get (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"REASON", "SYNCED", "REJECTED", "ROLLOUT", "WATCHING", "HELD"}, wide); diff != "" {
		t.Errorf("further columns of kubectl get -o wide (-want +got):\n%s", diff)
	}
	if len(table.Rows) != 1 {
		t.Fatalf("got %d rows, want 1", len(table.Rows))
	}
	cells := table.Rows[0].Cells
	// An empty table is a zero and not a blank.
	if diff := cmp.Diff([]any{"customers", "dynamodb", 0.0, "False", true}, cells[:5]); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{"DeletionHeld", "False", 3.0, nil, nil, 25.0}, cells[7:]); diff != "" {
		t.Errorf("further cells (-want +got):\n%s", diff)
	}
}
