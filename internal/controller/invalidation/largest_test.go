package invalidation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

// etcdLimit is what etcd takes in one request by default.
const etcdLimit = 1536 << 10

// selected are an object with a selector, and n tenants in AWS that it selects.
func selected(tenants int) []client.Object {
	o := &v1alpha1.Invalidation{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "all", UID: "uid", Generation: 1, CreationTimestamp: metav1.NewTime(world.Epoch)}}
	o.Spec.Paths = []string{"/*"}
	ofGold(o)
	all := []client.Object{o}
	for n := range tenants {
		t := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("tenant-%05d", n), Labels: map[string]string{"tier": "gold"}}}
		t.Status.ID = fmt.Sprintf("dt_%05d", n)
		t.Status.ARN = "arn:aws:cloudfront::" + sim.DefaultAccount + ":distribution-tenant/" + t.Status.ID
		all = append(all, t)
	}
	return all
}

// A selector of the whole fleet is refused with one small write, and without a request for an invalidation.
func TestASelectorOfTenThousandTenants(t *testing.T) {
	clk, cloudFront := clocktesting.NewFakeClock(world.Epoch), sim.New(sim.Options{})
	metrics, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	none := cloud.Limit{Rate: 1e6, Burst: 1e6}
	accounts := cloud.New(cloud.Options{
		SDK: awssdk.Config{
			Region: "us-east-1", BaseEndpoint: awssdk.String("http://aws.test"), HTTPClient: &http.Client{Transport: cloudFront.Transport()},
			Credentials: credentials.NewStaticCredentialsProvider("test", "secret", ""),
		},
		Metrics: metrics, Clock: clk, CloudFront: none, Invalidations: none, ACM: none, Route53: none, STS: none,
	}).Accounts
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	var written []int
	kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(selected(10_000)...).WithStatusSubresource(&v1alpha1.Invalidation{}).WithInterceptorFuncs(interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			data, err := p.Data(o)
			if err != nil {
				return err
			}
			written = append(written, len(data))
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	}).Build()
	driver := &reconcile.Driver[*v1alpha1.Invalidation]{
		Client: kube, Live: kube, Publish: func(*v1alpha1.Invalidation, reconcile.Event) {},
		Kind: invalidation.New(invalidation.Options{Client: kube, Accounts: accounts, Clock: clk, Observer: deaf{}}),
	}
	key := client.ObjectKey{Namespace: "shop", Name: "all"}
	began := time.Now()
	for range 3 {
		if _, err := driver.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
			t.Fatal(err)
		}
		clk.Step(time.Hour)
	}
	var o v1alpha1.Invalidation
	if err := kube.Get(t.Context(), key, &o); err != nil {
		t.Fatal(err)
	}
	t.Logf("three passes took %s, and wrote %v bytes", time.Since(began), written)
	ready := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.Reason != v1alpha1.ReasonValidationFailed || !strings.Contains(ready.Message, "it selects 10000 tenants") || len(o.Status.Tenants) != 0 {
		t.Errorf("status is %+v", o.Status)
	}
	if len(written) != 1 || written[0] > 4096 {
		t.Errorf("writes of %v bytes", written)
	}
	if calls := cloudFront.Calls()[create]; calls.Total != 0 {
		t.Errorf("%d requests", calls.Total)
	}
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

// deaf is told what no one wants to know.
type deaf struct{}

func (deaf) PathsRequested(int)             {}
func (deaf) InvalidationEnded(bool)         {}
func (deaf) InvalidationTook(time.Duration) {}

func size(t *testing.T, v any) int {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return len(text)
}
