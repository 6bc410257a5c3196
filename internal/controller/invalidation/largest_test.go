package invalidation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cloud"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/invalidation"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	domain "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/invalidation"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// etcdLimit is what etcd takes in one request by default.
const etcdLimit = 1536 << 10

// selected are an object with a selector, and n tenants that it selects, and the same tenants for the simulated AWS.
func selected(tenants int, paths ...string) ([]client.Object, sim.Seed) {
	o := &v1alpha1.Invalidation{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "all", UID: "uid", ResourceVersion: "0", Generation: 1, CreationTimestamp: metav1.NewTime(world.Epoch)}}
	o.Spec.Paths = paths
	ofGold(o)
	all, seed := []client.Object{o}, sim.Seed{Distributions: []sim.SeedDistribution{{ID: "E2FLEET"}}}
	for n := range tenants {
		t := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: fmt.Sprintf("tenant-%05d", n), UID: types.UID(fmt.Sprint("uid-", n)), Labels: map[string]string{"tier": "gold"},
			CreationTimestamp: metav1.NewTime(world.Epoch.Add(-time.Hour)),
		}}
		t.Status.ID = fmt.Sprintf("dt_%05d", n)
		t.Status.ARN = "arn:aws:cloudfront::" + sim.DefaultAccount + ":distribution-tenant/" + t.Status.ID
		me := ownership.Owner{Cluster: world.ClusterID, Namespace: t.Namespace, Name: t.Name, UID: string(t.UID)}
		seed.Tenants = append(seed.Tenants, sim.SeedTenant{
			ID: t.Status.ID, Name: t.Name, DistributionID: "E2FLEET", Domains: []string{t.Name + ".example.com"}, Tags: me.Tags(),
		})
		all = append(all, t)
	}
	return all, seed
}

// fleet is an operator with a clock of its own, which invalidates at the documented rate.
type fleet struct {
	*reconcile.Driver[*v1alpha1.Invalidation]

	clock  *clocktesting.FakeClock
	aws    *sim.Sim
	kube   client.Client
	counts counts
	// object is the invalidation, and tenants are the other objects by their names. The client of the tests would encode and
	// decode all of them again in every pass.
	object  *v1alpha1.Invalidation
	tenants map[string]*v1alpha1.DistributionTenant
	// largest is the size of the largest write of status, lists is how often all tenants were listed.
	largest, lists, writes int
}

type counts struct{ paths, completed, failed int }

func (c *counts) PathsRequested(n int) { c.paths += n }

func (c *counts) InvalidationEnded(completed bool) {
	if completed {
		c.completed++
		return
	}
	c.failed++
}

func (c *counts) InvalidationTook(time.Duration) {}

func newFleet(t *testing.T, tenants int, paths ...string) *fleet {
	t.Helper()
	objects, seed := selected(tenants, paths...)
	f := &fleet{clock: clocktesting.NewFakeClock(world.Epoch), tenants: map[string]*v1alpha1.DistributionTenant{}}
	f.aws = sim.New(sim.Options{Seed: &seed, Clock: f.clock, DeployDelay: 50 * time.Second})
	metrics, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	none := cloud.Limit{Rate: 1e6, Burst: 1e6}
	accounts := cloud.New(cloud.Options{
		SDK: awssdk.Config{
			Region: "us-east-1", BaseEndpoint: awssdk.String("http://aws.test"), HTTPClient: &http.Client{Transport: f.aws.Transport()},
			Credentials: credentials.NewStaticCredentialsProvider("test", "secret", ""),
		},
		Metrics: metrics, Clock: f.clock, CloudFront: none, Invalidations: cloud.Limit{Rate: 0.5, Burst: 5}, ACM: none, Route53: none, STS: none,
	}).Accounts
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, o := range objects[1:] {
		f.tenants[o.GetName()], _ = o.(*v1alpha1.DistributionTenant)
	}
	f.object, _ = objects[0].(*v1alpha1.Invalidation)
	f.kube = fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{Get: f.get, List: f.list, SubResourcePatch: f.patch}).Build()
	f.Driver = &reconcile.Driver[*v1alpha1.Invalidation]{
		Client: f.kube, Live: f.kube, Publish: func(*v1alpha1.Invalidation, reconcile.Event) {},
		Kind: invalidation.New(invalidation.Options{
			Client: f.kube, Accounts: accounts, Clock: f.clock, ClusterID: world.ClusterID, Rate: 0.5, Observer: &f.counts,
		}),
	}
	return f
}

func (f *fleet) get(_ context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	switch o := o.(type) {
	case *v1alpha1.Invalidation:
		f.object.DeepCopyInto(o)
	case *v1alpha1.DistributionTenant:
		if f.tenants[key.Name] == nil {
			return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
		}
		f.tenants[key.Name].DeepCopyInto(o)
	}
	return nil
}

func (f *fleet) list(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
	switch list := list.(type) {
	case *v1alpha1.InvalidationList:
		list.Items = append(list.Items, *f.object.DeepCopy())
	case *v1alpha1.DistributionTenantList:
		f.lists++
		for _, o := range f.tenants {
			list.Items = append(list.Items, *o)
		}
	}
	return nil
}

func (f *fleet) patch(_ context.Context, _ client.Client, _ string, o client.Object, p client.Patch, _ ...client.SubResourcePatchOption) error {
	data, err := p.Data(o)
	if changed, ok := o.(*v1alpha1.Invalidation); ok {
		f.largest = max(f.largest, len(data))
		f.writes++
		changed.ResourceVersion = strconv.Itoa(f.writes)
		changed.DeepCopyInto(f.object)
	}
	return err
}

// pass reconciles the object once, and waits as long as that asks for.
func (f *fleet) pass(t *testing.T) v1alpha1.InvalidationStatus {
	t.Helper()
	key := client.ObjectKey{Namespace: "shop", Name: "all"}
	result, err := f.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
	if err != nil {
		t.Fatal(err)
	}
	f.clock.Step(max(result.RequeueAfter, time.Millisecond))
	return f.object.Status
}

// A whole fleet is invalidated at the rate that AWS documents, in the time that was said before, with a status of bounded size and
// one request for each tenant.
func TestAFleetIsInvalidatedInTheTimeThatWasSaid(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		tenants  int
		paths    []string
		expected time.Duration
	}{
		"5,000 tenants": {5_000, []string{"/index.html", "/app.js"}, 2*time.Hour + 47*time.Minute + 53*time.Second},
		"with a star, at most 15 are in progress":    {300, []string{"/*"}, 26*time.Minute + 10*time.Second},
		"with 250 paths, at most 12 are in progress": {200, numbered(250), 21*time.Minute + 58*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, tc.tenants, tc.paths...)
			s := f.pass(t)
			ready := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady)
			before := fmt.Sprintf("0 of %d tenants are requested from AWS, as fast as it documents. The last is expected to be completed at %s.",
				tc.tenants, world.Epoch.Add(tc.expected).Format(time.RFC3339))
			if f.aws.Calls()[create].Total != 0 || ready == nil || ready.Message != before || !s.ExpectedCompletionTime.Equal(new(metav1.NewTime(world.Epoch.Add(tc.expected)))) {
				t.Errorf("before the first request: %+v", s)
			}
			passes := 1
			for s.CompletionTime == nil && f.clock.Since(world.Epoch) < 10*time.Hour {
				s = f.pass(t)
				passes++
			}
			took := s.CompletionTime.Sub(world.Epoch)
			t.Logf("%s were expected, and it took %s, %d passes, %d lists, and writes of up to %d bytes", tc.expected, took, passes, f.lists, f.largest)
			if off := (took - tc.expected).Abs(); off > tc.expected/10 {
				t.Errorf("it took %s, and %s were expected", took, tc.expected)
			}
			if *s.Total != int32(tc.tenants) || *s.Requested != *s.Total || *s.Completed != *s.Total || *s.Failed != 0 || len(s.Tenants) > 100 {
				t.Errorf("status counts %d, %d, %d, %d, and has %d tenants", *s.Total, *s.Requested, *s.Completed, *s.Failed, len(s.Tenants))
			}
			if f.counts != (counts{paths: tc.tenants * len(tc.paths), completed: tc.tenants}) {
				t.Errorf("counted %+v", f.counts)
			}
			once(t, f.aws, tc.tenants)
			if f.largest > 32<<10 || f.lists > tc.tenants/40+3 {
				t.Errorf("writes of %d bytes, %d lists", f.largest, f.lists)
			}
		})
	}
}

// once checks that each tenant has one invalidation in AWS, that none was refused, and that they came at the documented rate.
func once(t *testing.T, s *sim.Sim, tenants int) {
	t.Helper()
	of := map[string]int{}
	var times []time.Time
	for _, i := range s.Invalidations("") {
		of[i.Of]++
		times = append(times, i.CreatedTime)
	}
	if len(of) != tenants || len(times) != tenants || s.Calls()[create].Total != tenants {
		t.Errorf("%d invalidations of %d tenants, by %d calls", len(times), len(of), s.Calls()[create].Total)
	}
	slices.SortFunc(times, time.Time.Compare)
	const burst = 5
	for n := burst; n < len(times); n++ {
		if d := times[n].Sub(times[n-burst]); d < 2*time.Second {
			t.Fatalf("requests %d to %d came within %s", n-burst, n, d)
		}
	}
	if d := times[len(times)-1].Sub(times[0]); d < time.Duration(len(times)-burst)*2*time.Second {
		t.Errorf("%d requests came within %s", len(times), d)
	}
}

// A process that ends in the middle leaves nothing behind that the next one asks for again. Tenants that were created meanwhile are
// not asked for, and those that were deleted are not missed.
func TestAFleetSurvivesARestart(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 250, "/index.html")
	s := f.pass(t)
	for s.Requested == nil || *s.Requested < 120 {
		s = f.pass(t)
	}
	f.Kind = invalidation.New(invalidation.Options{
		Client: f.kube, Accounts: f.Kind.(*invalidation.Controller).Accounts, Clock: f.clock, ClusterID: world.ClusterID, Rate: 0.5, Observer: &f.counts,
	})
	late := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "tenant-99999", Labels: map[string]string{"tier": "gold"}, CreationTimestamp: metav1.NewTime(f.clock.Now()),
	}}
	late.Status.ID = "dt_late"
	f.tenants[late.Name] = late
	delete(f.tenants, "tenant-00249")
	for s.CompletionTime == nil && f.clock.Since(world.Epoch) < 2*time.Hour {
		s = f.pass(t)
	}
	if *s.Total != 249 || *s.Completed != 249 || f.counts.completed != 249 {
		t.Errorf("status counts %d of %d, metrics %+v", *s.Completed, *s.Total, f.counts)
	}
	once(t, f.aws, 249)
}

// The largest object that the schema takes fits into etcd when the longest texts are in its status, and so does its status
// into one write.
func TestTheLargestObject(t *testing.T) {
	w := world.New(t, kubeConfig, world.Options{})
	o := w.Invalidation("largest", "")
	ofGold(o)
	o.Annotations = map[string]string{v1alpha1.AnnotationPaused: v1alpha1.PausedTrue}
	o.Spec.Paths = nil
	for n := range 300 {
		path := fmt.Sprintf("/%03d", n)
		o.Spec.Paths = append(o.Spec.Paths, path+strings.Repeat("x", 1024-len(path)))
	}
	apply(t, w, o)
	in := convert.Invalidation(o)
	in.Memory.Started, in.Memory.Finished, in.World.Unsaved = w.Clock.Now(), w.Clock.Now(), true
	for n := range domain.MostTenants {
		name := fmt.Sprintf("t%03d", n)
		in.Memory.Tenants = append(in.Memory.Tenants, domain.Tenant{
			Name: name + strings.Repeat("n", 253-len(name)), TenantID: strings.Repeat("i", 128), InvalidationID: strings.Repeat("v", 128),
			State: domain.Failed, Message: strings.Repeat("m", 512),
		})
	}
	base := o.DeepCopy()
	convert.InvalidationReport(&o.Status, in, domain.Conclude(in, domain.Outcome{}), w.Clock.Now())
	if err := w.Kube.Status().Patch(t.Context(), o, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
	var stored v1alpha1.Invalidation
	if err := w.Kube.Get(t.Context(), client.ObjectKeyFromObject(o), &stored); err != nil {
		t.Fatal(err)
	}
	whole, status := size(t, stored), size(t, stored.Status)
	t.Logf("the object has %d bytes, of which %d are its status and %d its managed fields", whole, status, size(t, stored.ManagedFields))
	if len(stored.Status.Tenants) != domain.MostTenants || status > 150_000 || whole > etcdLimit*3/4 {
		t.Errorf("%d tenants in %d bytes of status; %d bytes in all, and etcd takes %d", len(stored.Status.Tenants), status, whole, etcdLimit)
	}
}

func size(t *testing.T, v any) int {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return len(text)
}
