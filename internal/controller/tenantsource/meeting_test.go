package tenantsource_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/sourceworld"
)

// inMemory is a world with a table in memory that has n customers, and a source that has followed it once.
func inMemory(t *testing.T, n int, o sourceworld.Options, change ...func(*v1alpha1.TenantSource)) (*sourceworld.World, *memoryTable) {
	t.Helper()
	table := &memoryTable{}
	for i := range n {
		table.rows = append(table.rows, storyRow(i))
	}
	o.Rows = map[mapping.Provider]port.Rows{mapping.Postgres: table}
	w := sourceworld.New(t, kubeConfig, o)
	table.began = w.Clock.Now
	table.slow = func() { w.Clock.Step(2 * interval) }
	w.Source("customers", mapping.Postgres, mapping.Query{SQL: mapping.SQLQuery{Query: "SELECT"}, Connection: mapping.NewSecret("memory")}, change...)
	w.Advance(time.Second)
	return w, table
}

func TestASlowPollIsFollowedByTheNext(t *testing.T) {
	w, table := inMemory(t, 1, sourceworld.Options{})
	table.weather = []string{"slow"}
	w.Advance(3 * interval)
	table.rows = append(table.rows, storyRow(1))
	w.Advance(2 * interval)
	living(t, w, names(2))
}

func TestATenantThatIsDisabledAndDeletedIsWaitedFor(t *testing.T) {
	w, table := inMemory(t, 2, sourceworld.Options{}, func(o *v1alpha1.TenantSource) { o.Spec.DeletionPolicy = v1alpha1.SourceDeletionPolicyDisable })
	table.rows = table.rows[:1]
	w.Advance(3 * interval)
	gone := w.AllTenants()[1]
	if gone.Annotations[v1alpha1.AnnotationSourceDisabled] == "" || *gone.Spec.Enabled {
		t.Fatalf("not disabled: %+v", gone)
	}
	must(t, w.Kube.Delete(t.Context(), &gone))
	table.rows = append(table.rows, storyRow(1))
	w.Advance(2 * interval)
	expect(t, w, "Ready=True/PollSucceeded", "Synced=False/UpdatePending")
	w.Bury()
	w.Advance(interval)
	living(t, w, names(2))
	expect(t, w, "Ready=True/PollSucceeded", "Synced=True/InSync")
	if back := w.AllTenants()[1]; !*back.Spec.Enabled || back.UID == gone.UID {
		t.Errorf("%+v", back)
	}
}

func TestARowThatIsBackEnablesItsTenantAndTouchesNothingElse(t *testing.T) {
	w, table := inMemory(t, 2, sourceworld.Options{}, func(o *v1alpha1.TenantSource) { o.Spec.DeletionPolicy = v1alpha1.SourceDeletionPolicyDisable })
	table.rows = table.rows[:1]
	w.Advance(3 * interval)
	table.rows = append(table.rows, storyRow(1))
	w.Advance(interval)
	back := w.AllTenants()[1]
	if back.Annotations[v1alpha1.AnnotationSourceDisabled] != "" || !*back.Spec.Enabled || len(back.Spec.Domains) != 1 {
		t.Errorf("%+v", back)
	}
	expect(t, w, "Ready=True/PollSucceeded", "Synced=True/InSync")
}

// A user takes the object away from the source between the look and the delete.
func TestALabelThatIsRemovedInTheLastMomentSavesTheTenant(t *testing.T) {
	for _, label := range []string{v1alpha1.LabelSource, v1alpha1.LabelSourceNamespace, v1alpha1.LabelSourceUID} {
		for _, policy := range []v1alpha1.SourceDeletionPolicy{v1alpha1.SourceDeletionPolicyDelete, v1alpha1.SourceDeletionPolicyDisable} {
			t.Run(label+" with "+string(policy), func(t *testing.T) {
				var w *sourceworld.World
				removeLabel := func(ctx context.Context, name string) error {
					var o v1alpha1.DistributionTenant
					if err := w.Kube.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: name}, &o); err != nil {
						return err
					}
					base := o.DeepCopy()
					delete(o.Labels, label)
					return w.Kube.Patch(ctx, &o, client.MergeFrom(base))
				}
				w, table := world(t, &w, interceptor.Funcs{
					Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
						return errors.Join(removeLabel(ctx, o.GetName()), c.Delete(ctx, o, opts...))
					},
					Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
						if strings.HasPrefix((&client.ApplyOptions{}).ApplyOptions(opts).FieldManager, "tenantsource-disable/") {
							return errors.Join(removeLabel(ctx, name(1)), c.Apply(ctx, o, opts...))
						}
						return c.Apply(ctx, o, opts...)
					},
				}, func(o *v1alpha1.TenantSource) { o.Spec.DeletionPolicy = policy })
				table.rows = table.rows[:1]
				w.Advance(4 * interval)
				living(t, w, names(2))
				if o := w.AllTenants()[1]; !*o.Spec.Enabled || o.Annotations[v1alpha1.AnnotationSourceDisabled] != "" {
					t.Errorf("%+v", o)
				}
			})
		}
	}
}

// world is inMemory for interceptors that need the world.
func world(t *testing.T, w **sourceworld.World, funcs interceptor.Funcs, change ...func(*v1alpha1.TenantSource)) (*sourceworld.World, *memoryTable) {
	t.Helper()
	made, table := inMemory(t, 2, sourceworld.Options{Funcs: funcs}, change...)
	*w = made
	return made, table
}

// An object is created between the look and the create.
func TestWhatAppearsInTheLastMomentIsNotTakenOver(t *testing.T) {
	w, table := inMemory(t, 1, sourceworld.Options{Funcs: interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			var wanted v1alpha1.DistributionTenant
			text, err := json.Marshal(o)
			err = errors.Join(err, json.Unmarshal(text, &wanted))
			if wanted.Name == name(1) {
				err = errors.Join(err, c.Create(ctx, &v1alpha1.DistributionTenant{
					ObjectMeta: metav1.ObjectMeta{Namespace: wanted.Namespace, Name: wanted.Name},
					Spec:       v1alpha1.DistributionTenantSpec{DistributionID: "ETHEIRS", Domains: []v1alpha1.TenantDomain{{Domain: "theirs.example.org"}}},
				}))
			}
			return errors.Join(err, c.Apply(ctx, o, opts...))
		},
	}})
	table.rows = append(table.rows, storyRow(1))
	w.Advance(interval)
	all := w.AllTenants()
	if len(all) != 2 || all[1].Spec.DistributionID != "ETHEIRS" || len(all[1].Spec.Domains) != 1 || len(all[1].Labels) > 0 {
		t.Fatalf("%+v", all)
	}
	expect(t, w, "Ready=False/Conflict", "Synced=False/RowsRejected")
}

func TestWhatTheAPIServerRefusesOfOneRowIsThatRows(t *testing.T) {
	w, _ := inMemory(t, 3, sourceworld.Options{}, func(o *v1alpha1.TenantSource) {
		o.Spec.Expressions = []v1alpha1.FieldExpression{{Field: "connectionGroupId", Expression: `row.name == "customer-001" ? "nonsense" : "cg_main"`}}
	})
	living(t, w, []string{name(0), name(2)})
	expect(t, w, "Ready=True/PollSucceeded", "Synced=False/RowsRejected")
	o, _ := w.Get("customers")
	if r := o.Status.RejectedRows; len(r) != 1 || r[0].Row != name(1) || !strings.Contains(r[0].Reason, `"nonsense" is not a connection group ID`) {
		t.Errorf("%+v", r)
	}
	if *o.Status.TenantsDiscovered != 2 || *o.Status.TenantsCreated != 2 {
		t.Errorf("%d tenants, %d created", *o.Status.TenantsDiscovered, *o.Status.TenantsCreated)
	}
}

func TestAnAPIServerThatRefusesEverythingFailsThePoll(t *testing.T) {
	denied := true
	w, table := inMemory(t, 3, sourceworld.Options{Funcs: interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			if denied {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "distributiontenants"}, "x", errors.New("no"))
			}
			return c.Apply(ctx, o, opts...)
		},
	}})
	expect(t, w, "Ready=False/PollFailed", "Synced=False/PollFailed")
	denied = false
	w.Advance(time.Minute)
	living(t, w, names(len(table.rows)))
	expect(t, w, "Ready=True/PollSucceeded", "Synced=True/InSync")
}

// Where the namespace is not granted any more its objects can't be seen either.
func TestASourceThatKeepsItsTenantsGoesWhereItCannotSeeThem(t *testing.T) {
	granted, blind := true, errors.New("the namespace is not watched")
	w, _ := inMemory(t, 2, sourceworld.Options{
		Grant: func(string, string) error {
			if !granted {
				return errors.New("not granted")
			}
			return nil
		},
		Funcs: interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if !granted {
				return blind
			}
			return c.List(ctx, list, opts...)
		}},
	})
	granted = false
	w.Delete("customers")
	w.Advance(time.Minute)
	if _, found := w.Get("customers"); !found {
		t.Fatal("the source is gone, and left tenants behind without a decision about them")
	}
	w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.DeletionPolicy = v1alpha1.SourceDeletionPolicyRetain })
	w.Advance(time.Minute)
	if _, found := w.Get("customers"); found {
		t.Errorf("it is still there\n%s", w.Describe("customers"))
	}
	living(t, w, names(2))
}

func TestASourceThatIsMadeAgainTakesItsTenantsOverAndDeletesNoOther(t *testing.T) {
	w, table := inMemory(t, 3, sourceworld.Options{}, func(o *v1alpha1.TenantSource) { o.Spec.DeletionPolicy = v1alpha1.SourceDeletionPolicyRetain })
	w.Delete("customers")
	w.Advance(time.Minute)
	if _, found := w.Get("customers"); found {
		t.Fatal("the source is still there")
	}
	table.rows = table.rows[:2]
	o := w.Source("customers", mapping.Postgres, mapping.Query{SQL: mapping.SQLQuery{Query: "SELECT"}, Connection: mapping.NewSecret("memory")})
	w.Advance(3 * interval)
	living(t, w, names(3))
	for i, tenant := range w.AllTenants() {
		if ours := tenant.Labels[v1alpha1.LabelSourceUID] == string(o.UID); ours != (i < 2) {
			t.Errorf("%s is the new source's: %t", tenant.Name, ours)
		}
	}
	expect(t, w, "Ready=True/PollSucceeded", "Synced=True/InSync")
}

func TestObjectsOfASourceHaveNoOwner(t *testing.T) {
	w, _ := inMemory(t, 1, sourceworld.Options{})
	foreground := metav1.DeletePropagationForeground
	w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.DeletionPolicy = v1alpha1.SourceDeletionPolicyRetain })
	o := w.AllTenants()[0]
	if len(o.OwnerReferences) > 0 {
		t.Errorf("garbage collection knows no guard: %+v", o.OwnerReferences)
	}
	if diff := cmp.Diff([]string{v1alpha1.Finalizer}, o.Finalizers); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}
	w.Delete("customers", &client.DeleteOptions{PropagationPolicy: &foreground})
	w.Advance(time.Minute)
	living(t, w, names(1))
}

// The first poll of a changed spec fails. The results of the earlier one do not count.
func TestAChangedSpecThatFailsOnceIsNotTakenForAMistakeInTheTable(t *testing.T) {
	w, table := inMemory(t, 12, sourceworld.Options{})
	table.weather = []string{"refused", "enabled renamed", "enabled renamed"}
	w.Edit("customers", func(o *v1alpha1.TenantSource) { o.Spec.Postgres.Query = "SELECT name, domain" })
	w.Advance(time.Second)
	expect(t, w, "Ready=False/PollFailed")
	w.Advance(time.Minute)
	expect(t, w, "Ready=True/PollSucceeded")
	// Of the same spec it is one.
	table.weather = nil
	w.Advance(2 * interval)
	table.weather = []string{"enabled renamed"}
	w.Advance(interval)
	if !strings.Contains(fmt.Sprint(w.Events), `column \"enabled\" is missing`) && !strings.Contains(fmt.Sprint(w.Events), `column "enabled" is missing`) {
		t.Errorf("%+v", w.Events)
	}
}
