package convert_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kubevalidation "k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
)

// fill sets every field to something.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("x"), value)
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field)
		}
	default:
		panic(v.Kind().String())
	}
}

// eachLeaf changes one leaf after the other, and puts it back.
func eachLeaf(v reflect.Value, path string, visit func(path string)) {
	change := func(to reflect.Value) {
		before := reflect.New(v.Type()).Elem()
		before.Set(v)
		v.Set(to.Convert(v.Type()))
		visit(path)
		v.Set(before)
	}
	switch v.Kind() {
	case reflect.String:
		if v.Len() > 0 {
			change(reflect.ValueOf(v.String() + "y"))
		}
	case reflect.Bool:
		change(reflect.ValueOf(!v.Bool()))
	case reflect.Int32, reflect.Int64:
		change(reflect.ValueOf(v.Int() + 1))
	case reflect.Pointer:
		if !v.IsNil() {
			eachLeaf(v.Elem(), path, visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachLeaf(v.Index(i), fmt.Sprintf("%s[%d]", path, i), visit)
		}
	case reflect.Map:
		change(reflect.MakeMap(v.Type()))
	case reflect.Struct:
		for i := range v.NumField() {
			eachLeaf(v.Field(i), path+"."+v.Type().Field(i).Name, visit)
		}
	default:
		panic(v.Kind().String())
	}
}

// rendered is all that the domain and the adapters get to see of a source.
func rendered(t *testing.T, o *v1alpha1.TenantSource) string {
	t.Helper()
	config, err := convert.SourceConfig(o)
	if err != nil {
		t.Fatal(err)
	}
	ref := convert.SecretOf(o)
	limits, canaries, _ := convert.SourceLimits(o)
	text, err := json.Marshal([]any{
		config, ref.Name, ref.Field, convert.SourceQuery(o, mapping.NewSecret("canary"), []string{"name"}), convert.SourceGuard(o), convert.TargetNamespace(o), convert.SourcePolicy(o),
		limits, canaries, convert.StateTableOf(o, "cluster"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A field that is never read is a promise that is not kept.
func TestEveryFieldOfASourceArrives(t *testing.T) {
	yes, text := true, "x"
	for provider, block := range map[v1alpha1.SourceProvider]string{
		v1alpha1.SourceProviderDynamoDB: "DynamoDB", v1alpha1.SourceProviderPostgres: "Postgres", v1alpha1.SourceProviderMySQL: "MySQL",
		v1alpha1.SourceProviderMongoDB: "MongoDB", v1alpha1.SourceProviderRedis: "Redis",
	} {
		t.Run(string(provider), func(t *testing.T) {
			o := &v1alpha1.TenantSource{ObjectMeta: metav1.ObjectMeta{Namespace: "platform", Name: "customers"}}
			spec := reflect.ValueOf(&o.Spec).Elem()
			fill(spec)
			for _, other := range []string{"DynamoDB", "Postgres", "MySQL", "MongoDB", "Redis"} {
				if other != block {
					spec.FieldByName(other).SetZero()
				}
			}
			if o.Spec.DynamoDB != nil {
				o.Spec.DynamoDB.ExpressionAttributeValues = []v1alpha1.AttributeValue{
					{Placeholder: ":s", String: &text}, {Placeholder: ":n", Number: "1"}, {Placeholder: ":b", Bool: &yes},
				}
			}
			o.Spec.WriteBack.Deleted = v1alpha1.DeletedStateRemove
			base, seen := rendered(t, o), 0
			eachLeaf(spec, "spec", func(path string) {
				seen++
				switch path {
				case "spec.Provider", "spec.DryRun", "spec.Suspend":
					return // the controller reads them itself
				}
				if rendered(t, o) == base {
					t.Errorf("%s changes nothing", path)
				}
			})
			if seen < 30 {
				t.Errorf("only %d fields were tried", seen)
			}
		})
	}
}

// Where the tenants are in another namespace, the objects that the source names are still those of its own.
func TestWhereASourceLooksForObjects(t *testing.T) {
	for target, want := range map[string]string{"": "", "shop": "", "tenants": "shop"} {
		o := &v1alpha1.TenantSource{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}, Spec: v1alpha1.TenantSourceSpec{
			TargetNamespace: target, DistributionRef: &v1alpha1.ObjectReference{Name: "main"},
		}}
		c, err := convert.SourceConfig(o)
		if err != nil || c.Home != want || c.DistributionRef["name"] != "main" {
			t.Errorf("tenants in %q: home %q, %v, %v", target, c.Home, c.DistributionRef, err)
		}
	}
}

func TestDefaultsOfASource(t *testing.T) {
	o := &v1alpha1.TenantSource{ObjectMeta: metav1.ObjectMeta{Namespace: "platform", Name: "customers"}}
	o.Spec.DynamoDB = &v1alpha1.DynamoDBSource{TableName: "customers"}
	want := tenantsource.Guard{ConfirmPolls: 2, Interval: 5 * time.Minute, MaxDeletes: 10, MaxPercent: 5, Window: 24 * time.Hour, Grace: 24 * time.Hour}
	for name, guard := range map[string]*v1alpha1.DeletionGuard{"without a guard": nil, "with one that says nothing": {}} {
		o.Spec.DeletionGuard = guard
		if d := cmp.Diff(want, convert.SourceGuard(o)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	none := int32(0)
	o.Spec.DeletionGuard = &v1alpha1.DeletionGuard{MaxDeletes: &none, MaxDeletePercent: &none}
	want.MaxDeletes, want.MaxPercent = 0, 0
	if d := cmp.Diff(want, convert.SourceGuard(o)); d != "" {
		t.Errorf("nothing at all may go, where the user says so (-want +got):\n%s", d)
	}
	if convert.TargetNamespace(o) != "platform" || convert.SourcePolicy(o) != tenantsource.PolicyDelete {
		t.Errorf("%s, %s", convert.TargetNamespace(o), convert.SourcePolicy(o))
	}
	q := convert.SourceQuery(o, mapping.Secret{}, nil).DynamoDB
	if !q.ConsistentRead || q.Segments != 1 {
		t.Errorf("%+v", q)
	}
	config, err := convert.SourceConfig(o)
	columns := []mapping.Mapping{{Column: "name", Field: "name"}, {Column: "domain", Field: "domains"}}
	if d := cmp.Diff(columns, config.Defaults); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	o.Spec.DynamoDB, o.Spec.Redis = nil, &v1alpha1.RedisSource{KeyPattern: "customer:*"}
	config, err = convert.SourceConfig(o)
	columns = append(columns, mapping.Mapping{Column: "enabled", Field: "enabled", Optional: true}, mapping.Mapping{Column: "connection_group_id", Field: "connectionGroupId", Optional: true})
	if d := cmp.Diff(columns, config.Defaults); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

// sourceReport is a report of a good poll.
func sourceReport() tenantsource.Report {
	polled := now.Truncate(time.Second)
	return tenantsource.Report{
		Polled: &polled, Generation: 3, Token: "now",
		Result: &tenantsource.Result{
			Rows: 5, Tenants: 3, Created: 1, Updated: 2, Deleted: 4,
			Pending: []tenantsource.PendingChange{{Action: tenantsource.Delete, Name: "acme", Description: "its row no longer exists"}}, PendingTotal: 30,
			Rejected: []mapping.Rejection{{Row: "row 1", Reason: "no domain"}}, RejectedTotal: 2,
			Columns: []tenantsource.SeenColumn{{Column: mapping.Column{Name: "name", Type: mapping.TypeString}, Rows: 5}},
		},
		Pending: &tenantsource.PendingPlan{Hash: "aa", Names: []string{"beta"}}, PendingKnown: true,
		History:    tenantsource.History{{Time: polled.Add(-time.Hour), Count: 3}, {Time: polled, Count: 4}},
		Conditions: []chain.Condition{{Type: chain.Synced, Reason: tenantsource.DeletionHeld, Message: "Held"}, {Type: chain.Ready, Reason: tenantsource.DeletionHeld, Message: "Held"}},
	}
}

func TestMemoryOfASourceReadsWhatStatusWrote(t *testing.T) {
	var s v1alpha1.TenantSourceStatus
	r := sourceReport()
	convert.SourceStatus(&s, 3, r, now)
	want := tenantsource.Memory{Generation: 3, LastPoll: *r.Polled, Token: "now", Columns: r.Result.Columns, Rows: 5, History: r.History, PendingHash: "aa", Complete: *r.Polled}
	if d := cmp.Diff(want, convert.SourceMemory(&s)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if s.DeletionsInWindow != 7 || s.HeldDeletions.Count != 1 || *s.TenantsDiscovered != 3 || s.PendingChangesTotal != 30 || s.RejectedRowsTotal != 2 ||
		!s.LastCompleteTime.Equal(s.LastPollTime) || s.Conditions[0].Type != "Ready" || s.Conditions[0].ObservedGeneration != 3 {
		t.Errorf("%+v", s)
	}
}

func TestAFailedPollKeepsWhatIsKnownOfTheTable(t *testing.T) {
	var s v1alpha1.TenantSourceStatus
	good := sourceReport()
	convert.SourceStatus(&s, 3, good, now)
	later := good.Polled.Add(time.Hour)
	failed := tenantsource.Report{Polled: &later, Generation: 3, History: good.History, Conditions: []chain.Condition{{Type: chain.Ready, Reason: tenantsource.PollFailed, Message: "No answer"}}}

	convert.SourceStatus(&s, 3, failed, later)
	if *s.TenantsDiscovered != 3 || len(s.Columns) != 1 || s.HeldDeletions == nil || s.SyncToken != "now" || !s.LastCompleteTime.Time.Equal(*good.Polled) || !s.LastPollTime.Time.Equal(later) {
		t.Errorf("%+v", s)
	}

	// The reads of an earlier spec say nothing about this one.
	failed.Generation = 4
	convert.SourceStatus(&s, 4, failed, later)
	if len(s.Columns) > 0 || s.ObservedGeneration != 4 {
		t.Errorf("columns of another spec are kept: %+v", s.Columns)
	}
}

func TestTheSameReportWritesTheSameStatus(t *testing.T) {
	var s v1alpha1.TenantSourceStatus
	convert.SourceStatus(&s, 3, sourceReport(), now)
	before := s.DeepCopy()
	convert.SourceStatus(&s, 3, sourceReport(), now.Add(time.Hour))
	if d := cmp.Diff(*before, s); d != "" {
		t.Errorf("an hour later (-want +got):\n%s", d)
	}
}

// statusSchema judges a status as the API server does.
func statusSchema(t *testing.T) validation.SchemaValidator {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "config", "crd", "cloudfront-tenant-operator.io_tenantsources.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &crd); err != nil {
		t.Fatal(err)
	}
	status := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
	var schema apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&status, &schema, nil); err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(&schema)
	if err != nil {
		t.Fatal(err)
	}
	return validator
}

func TestNoReportIsTooLargeForStatus(t *testing.T) {
	validator := statusSchema(t)
	long := func(i int) string { return fmt.Sprintf("%06d", i) + strings.Repeat("ü", 2000) + "\xff" }
	r := sourceReport()
	r.Token = long(0)
	r.Pending = &tenantsource.PendingPlan{Hash: "0123456789abcdef"}
	r.History, r.Result.Columns, r.Result.Rejected, r.Result.Pending = nil, nil, nil, nil
	for i := range 300 {
		r.Pending.Names = append(r.Pending.Names, fmt.Sprintf("t%03d", i))
		r.History = append(r.History, tenantsource.Deletions{Time: now.Add(time.Duration(i) * time.Minute), Count: 1})
		r.Result.Columns = append(r.Result.Columns,
			tenantsource.SeenColumn{Column: mapping.Column{Name: fmt.Sprintf("c%03d", i), Type: mapping.TypeBoolean}},
			tenantsource.SeenColumn{Column: mapping.Column{Name: long(i), Type: mapping.TypeMixed}, Rows: 1},
			tenantsource.SeenColumn{Column: mapping.Column{Type: mapping.TypeMixed}, Rows: 1})
	}
	for i := range 20 { // as many as the domain lets through
		r.Result.Rejected = append(r.Result.Rejected, mapping.Rejection{Row: long(i), Reason: long(i)}, mapping.Rejection{Row: "", Reason: "no name"})[:i+1]
		r.Result.Pending = append(r.Result.Pending, tenantsource.PendingChange{Action: tenantsource.Disable, Name: fmt.Sprintf("t%03d", i), Description: long(i)})
	}
	for i := range r.Conditions {
		r.Conditions[i].Message = long(i)
	}
	var s v1alpha1.TenantSourceStatus
	convert.SourceStatus(&s, 3, r, now)
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	for _, e := range validation.ValidateCustomResource(nil, tree, validator) {
		t.Error(e)
	}
	if len(s.Columns) != 200 || len(s.RecentDeletions) != 64 || len(s.HeldDeletions.Names) != 20 || s.HeldDeletions.Count != 300 || s.DeletionsInWindow != 300 {
		t.Errorf("%d columns, %d deletions, %d names", len(s.Columns), len(s.RecentDeletions), len(s.HeldDeletions.Names))
	}
	if !s.RecentDeletions[63].Time.Time.Equal(r.History[299].Time.Truncate(time.Second)) {
		t.Error("the latest deletions are not among those that are remembered")
	}
	if slices.ContainsFunc(s.Columns, func(c v1alpha1.SourceColumn) bool { return !strings.HasPrefix(c.Name, "c") }) {
		t.Error("a column is remembered under a name that is not its own: the next read would miss it")
	}

	t.Run("the schema refuses what is beyond", func(t *testing.T) {
		bad := tree.(map[string]any)
		bad["syncToken"] = strings.Repeat("x", 257)
		if len(validation.ValidateCustomResource(nil, bad, validator)) == 0 {
			t.Error("this schema takes everything")
		}
	})
}

func TestMarksOfASource(t *testing.T) {
	named := func(namespace, name string) *v1alpha1.TenantSource {
		return &v1alpha1.TenantSource{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("u1")}}
	}
	short := named("platform", "customers")
	want := map[string]string{v1alpha1.LabelSource: "customers", v1alpha1.LabelSourceNamespace: "platform", v1alpha1.LabelSourceUID: "u1"}
	if d := cmp.Diff(want, convert.SourceLabels(short)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if m := convert.SourceManager(short); m != "tenantsource/platform/customers" {
		t.Error(m)
	}
	if m := convert.SourceDisabler(short); m != "tenantsource-disable/platform/customers" {
		t.Error(m)
	}

	names := rapid.Custom(func(t *rapid.T) string {
		return strings.Repeat("a", rapid.IntRange(0, 70).Draw(t, "lead")) + rapid.StringMatching(`[a-z0-9]([a-z0-9.-]{0,170}[a-z0-9])?`).Draw(t, "name")
	})
	namespaces := rapid.StringMatching(`[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?`)
	rapid.Check(t, func(t *rapid.T) {
		one, other := named(namespaces.Draw(t, "namespace"), names.Draw(t, "name")), named(namespaces.Draw(t, "namespace"), names.Draw(t, "name"))
		labels := convert.SourceLabels(one)
		for key, value := range labels {
			if problems := kubevalidation.IsValidLabelValue(value); len(problems) > 0 || value == "" {
				t.Fatalf("%s=%q: %v", key, value, problems)
			}
		}
		managers := []string{convert.SourceManager(one), convert.SourceDisabler(one)}
		if len(managers[0]) > 128 || len(managers[1]) > 128 || managers[0] == managers[1] {
			t.Fatalf("%q", managers)
		}
		if one.Name != other.Name && labels[v1alpha1.LabelSource] == convert.SourceLabels(other)[v1alpha1.LabelSource] {
			t.Fatalf("%s and %s have one label", one.Name, other.Name)
		}
		if (one.Name != other.Name || one.Namespace != other.Namespace) && managers[0] == convert.SourceManager(other) {
			t.Fatalf("%s and %s have one field manager", one.Name, other.Name)
		}
		if len(one.Name) <= 63 && labels[v1alpha1.LabelSource] != one.Name {
			t.Fatalf("%s is shortened needlessly", one.Name)
		}
	})
}

func TestSourcesSpeakTheContractsWords(t *testing.T) {
	api := map[string]bool{}
	for _, value := range constants(t, "../../api/cloudfront/v1alpha1", "Reason") {
		api[value] = true
	}
	for _, reason := range []chain.Reason{
		tenantsource.PollSucceeded, tenantsource.DryRunComplete, tenantsource.PollFailed, tenantsource.SourceError, tenantsource.Conflict, tenantsource.InvalidConfig, tenantsource.DeletionHeld,
		tenantsource.Deleting, tenantsource.InSync, tenantsource.RowsRejected, tenantsource.DeletionPending, tenantsource.DryRun, tenantsource.Suspended,
		tenantsource.UpdatePending, tenantsource.ReferenceNotReady,
	} {
		if !api[string(reason)] {
			t.Errorf("%s is not part of the contract", reason)
		}
	}
	for domain, contract := range map[string]string{
		string(chain.Ready): v1alpha1.ConditionReady, string(chain.Synced): v1alpha1.ConditionSynced,
		string(mapping.DynamoDB): string(v1alpha1.SourceProviderDynamoDB), string(mapping.Postgres): string(v1alpha1.SourceProviderPostgres),
		string(mapping.MySQL): string(v1alpha1.SourceProviderMySQL), string(mapping.MongoDB): string(v1alpha1.SourceProviderMongoDB), string(mapping.Redis): string(v1alpha1.SourceProviderRedis),
		string(tenantsource.PolicyDelete): string(v1alpha1.SourceDeletionPolicyDelete), string(tenantsource.PolicyDisable): string(v1alpha1.SourceDeletionPolicyDisable),
		string(tenantsource.PolicyRetain): string(v1alpha1.SourceDeletionPolicyRetain),
	} {
		if domain != contract {
			t.Errorf("the domain says %q, the contract %q", domain, contract)
		}
	}
}

// The label of a long name is a legal name, too.
func TestNoTwoSourcesHaveOneLabel(t *testing.T) {
	named := func(name string) *v1alpha1.TenantSource {
		return &v1alpha1.TenantSource{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	}
	label := convert.SourceLabels(named(strings.Repeat("a", 80)))[v1alpha1.LabelSource]
	if other := convert.SourceLabels(named(label))[v1alpha1.LabelSource]; other == label {
		t.Errorf("the source %q has the label of another", label)
	}
	if label := convert.SourceLabels(named("customers-0123456789abcdef"))[v1alpha1.LabelSource]; label != "customers-0123456789abcdef" {
		t.Errorf("a name that is no shortened one became %q", label)
	}
}

func TestDeletionsAreRememberedWhenTheWindowGrows(t *testing.T) {
	var s v1alpha1.TenantSourceStatus
	at, made := now, 0
	for _, stretch := range []struct {
		window, pause time.Duration
		n             int
	}{{time.Hour, 75 * time.Second, 48}, {24 * time.Hour, 30 * time.Minute, 40}} {
		for range stretch.n {
			convert.SourceStatus(&s, 1, tenantsource.Report{History: convert.SourceMemory(&s).History.With(at, 1, 0, stretch.window)}, at)
			at, made = at.Add(stretch.pause), made+1
		}
	}
	if got := convert.SourceMemory(&s).History.Within(at, 24*time.Hour).Total(); got != made {
		t.Errorf("%d deletions are remembered, want %d", got, made)
	}
}

// A Secret is a source's to read only if its label says so, and the message has the command that sets it.
func TestWhichSecretsASourceMayRead(t *testing.T) {
	const key = v1alpha1.LabelTenantSource
	long := strings.Repeat("a", 64)
	for name, tt := range map[string]struct {
		source string
		labels map[string]string
		want   string
	}{
		"a Secret with the name of the source":      {source: "customers", labels: map[string]string{key: "customers"}},
		"a Secret for all sources":                  {source: "customers", labels: map[string]string{key: "Any", "team": "shop"}},
		"a Secret for all, and a source of its own": {source: long, labels: map[string]string{key: "Any"}},
		"a source with the longest name of a label": {source: long[1:], labels: map[string]string{key: long[1:]}},
		"a Secret without labels": {
			source: "customers",
			want: `the Secret "db" does not have the label cloudfront-tenant-operator.io/tenantsource, which offers it to a source: ` +
				`to offer it to this one, run: kubectl -n shop label secret db cloudfront-tenant-operator.io/tenantsource=customers`,
		},
		"a Secret of another source": {
			source: "customers", labels: map[string]string{key: "orders"},
			want: `the Secret "db" has the label cloudfront-tenant-operator.io/tenantsource=orders and is not offered to this source: ` +
				`to offer it to all sources of the namespace, run: kubectl -n shop label secret db --overwrite cloudfront-tenant-operator.io/tenantsource=Any`,
		},
		"a label without a value": {
			source: "customers", labels: map[string]string{key: ""},
			want: `the Secret "db" has the label cloudfront-tenant-operator.io/tenantsource= and is not offered to this source: ` +
				`to offer it to all sources of the namespace, run: kubectl -n shop label secret db --overwrite cloudfront-tenant-operator.io/tenantsource=Any`,
		},
		"a source whose name is no label": {
			source: long,
			want: `the Secret "db" is not offered to a source, and the name of this source is longer than the 63 characters of a label: ` +
				`to offer it to all sources of the namespace, run: kubectl -n shop label secret db cloudfront-tenant-operator.io/tenantsource=Any`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := &v1alpha1.TenantSource{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: tt.source}}
			o.Spec.Postgres = &v1alpha1.SQLSource{ConnectionSecretRef: &v1alpha1.SecretReference{Name: "db"}}
			if got := convert.SecretRefusal(o, convert.SecretOf(o).Name, tt.labels); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
