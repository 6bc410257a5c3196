package operator

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	clusteradapter "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/kube/cluster"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	domain "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/cluster"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/clone"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/reconcile"
)

// clusterConfigMap is the name of the ConfigMap with the fingerprint of the cluster.
const clusterConfigMap = clusteradapter.Name

// eventClusterMoved (Warning; ConfigMap): the operator runs in another cluster than the one in which it was installed, such
// as a restored copy. Nothing is changed in AWS until an administrator accepts the cluster.
const eventClusterMoved = "ClusterMoved"

// eventClusterIDChanged (Warning; ConfigMap): the operator was started with another cluster ID than before. Nothing is
// changed in AWS until the ID is restored, or an administrator accepts the new one.
const eventClusterIDChanged = "ClusterIDChanged"

// addClusterCheck halts before anything starts if this is another cluster, and looks again from time to time.
func addClusterCheck(ctx context.Context, mgr ctrl.Manager, c config.Config, env *environment) error {
	if !c.ClusterCheck.Enabled {
		return nil
	}
	if c.LeaseNamespace() == "" {
		return fmt.Errorf("--cluster-check needs a namespace for its ConfigMap: set --leader-election-namespace, run the operator in a pod, or turn the check off with --cluster-check=false")
	}
	kube, err := kubernetes.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	key := client.ObjectKey{Namespace: c.LeaseNamespace(), Name: clusterConfigMap}
	store := clusteradapter.Store{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Key: key}
	check := clone.New(clone.Options{
		Identify: func(ctx context.Context) (domain.Identity, error) {
			return clusteradapter.Identify(ctx, kube.Discovery().RESTClient(), mgr.GetAPIReader(), key.Namespace, c.ClusterID)
		},
		Store: store,
		Copy: clusteradapter.Store{
			Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Key: client.ObjectKey{Namespace: c.ClusterCheck.CopyNamespace, Name: clusterConfigMap}, Optional: true,
		},
		Place: domain.Place{Namespace: key.Namespace, ConfigMap: key.Name, Annotation: v1alpha1.AnnotationAcceptCluster},
		Halt:  env.halt, Clock: clock.RealClock{},
		Halted: func(h chain.Halt) {
			about := &corev1.ConfigMap{}
			about.Namespace, about.Name = key.Namespace, key.Name
			reason := eventClusterMoved
			if h.Reason == resource.ReasonClusterIDChanged {
				reason = eventClusterIDChanged
			}
			env.publisher.publish(about, reconcile.Event{Warning: true, Reason: reason, Message: h.Message})
		},
	})
	if err := check.Now(ctx); err != nil {
		return fmt.Errorf("checking whether this is the cluster in which the operator was installed: %w", err)
	}
	if err := mgr.Add(check); err != nil {
		return fmt.Errorf("adding the check of the cluster: %w", err)
	}
	if err := mgr.Add(&selfReport{caller: env.Accounts.Own().Identity.Caller, denied: env.calls.Denied, tell: store.Tell, clock: clock.RealClock{}}); err != nil {
		return fmt.Errorf("adding the report of the AWS identity: %w", err)
	}
	return nil
}
