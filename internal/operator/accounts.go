package operator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/account"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/inventory"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
)

// watches are those of all accounts.
type watches struct {
	mu  sync.Mutex
	all map[string]metrics.Account
}

func (w *watches) add(one metrics.Account) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all[one.ID] = one
}

func (w *watches) remove(account string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all, account)
}

// list has the operator's own account first.
func (w *watches) list() []metrics.Account {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.SortedFunc(maps.Values(w.all), func(a, b metrics.Account) int { return strings.Compare(a.ID, b.ID) })
}

// addAccounts adds what runs for each AWS account: for the operator's own from the start, and for another one from the
// first object on that an EdgeGrant puts there.
func addAccounts(ctx context.Context, mgr ctrl.Manager, c config.Config, env *environment, claimed func(account, tenant string) bool) error {
	all := &watches{all: map[string]metrics.Account{}}
	watching := func(a *account.Account) metrics.Account {
		w := metrics.Account{
			ID: a.ID, Inventory: a.Inventory, Orphans: newOrphans(mgr.GetAPIReader(), a, func(tenant string) bool { return claimed(a.ID, tenant) }, c.ClusterID),
			Expiry: newExpiry(a, clock.RealClock{}), Capacity: newCapacity(a, clock.RealClock{}),
		}
		all.add(w)
		return w
	}
	own := watching(env.Accounts.Own())
	if err := mgr.Add(own.Inventory); err != nil {
		return fmt.Errorf("adding the inventory: %w", err)
	}
	if err := mgr.Add(own.Orphans); err != nil {
		return fmt.Errorf("adding the search for orphaned tenants: %w", err)
	}
	if err := mgr.Add(own.Expiry); err != nil {
		return fmt.Errorf("adding the certificate watch: %w", err)
	}
	if err := mgr.Add(own.Capacity); err != nil {
		return fmt.Errorf("adding the watch over quotas: %w", err)
	}
	env.OnOpen(func(a *account.Account) {
		w := watching(a)
		// Only the active replica reconciles objects, and so opens accounts.
		running, stop := context.WithCancel(ctx)
		a.Close = func() { stop(); all.remove(a.ID) }
		for _, start := range []func(context.Context) error{w.Inventory.Start, w.Orphans.Start, w.Expiry.Start, w.Capacity.Start} {
			go func() {
				if err := start(running); err != nil {
					ctrl.Log.WithName("accounts").Error(err, "Watching an AWS account ended", "account", a.ID)
				}
			}()
		}
	})
	env.gauges.Accounts = all.list
	return nil
}

// newOrphans is the search for tenants that were left behind in an account.
func newOrphans(live client.Reader, a *account.Account, claimed func(tenant string) bool, clusterID string) *inventory.Orphans {
	log := ctrl.Log.WithName("orphans")
	return inventory.NewOrphans(inventory.OrphansOptions{
		Inventory: a.Inventory, Clock: clock.RealClock{}, ClusterID: clusterID, Claimed: claimed, Alive: ownerAlive(live),
		OnFound: func(o inventory.Orphan) {
			log.Info("Found an orphaned distribution tenant: its object no longer exists. Create the object again with adoptionPolicy IfUnowned, or delete the tenant in AWS",
				"tenant", o.Name, "id", o.ID, "object", o.Owner.Namespace+"/"+o.Owner.Name, "account", a.ID)
		},
	})
}

// ownerAlive asks the API server itself whether an object exists: a cache knows only some
// namespaces, and may be behind.
func ownerAlive(reader client.Reader) func(context.Context, ownership.Owner) (bool, error) {
	return func(ctx context.Context, owner ownership.Owner) (bool, error) {
		o := &metav1.PartialObjectMetadata{}
		o.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("DistributionTenant"))
		err := reader.Get(ctx, client.ObjectKey{Namespace: owner.Namespace, Name: owner.Name}, o)
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return string(o.UID) == owner.UID, err
	}
}

// maxNamed is how many certificates are logged at once. A fleet whose renewals have all
// stopped needs no line for each.
const maxNamed = 20

// newExpiry is the watch over what is attached in an account.
func newExpiry(a *account.Account, clk clock.WithTicker) *inventory.Expiry {
	log := ctrl.Log.WithName("certificates")
	if a.ID != "" {
		log = log.WithValues("account", a.ID)
	}
	return inventory.NewExpiry(inventory.ExpiryOptions{
		Inventory: a.Inventory, Certificates: a.Certificates, References: a.References, Clock: clk,
		OnFound: func(found []inventory.AttachedCertificate) {
			for _, c := range found[:min(len(found), maxNamed)] {
				log.Info("An attached certificate expires soon or can't be used. AWS renews a managed certificate only while all its domains point to CloudFront",
					"certificate", c.ARN, "status", c.Status, "notAfter", c.NotAfter, "tenant", c.Tenants[0], "tenants", len(c.Tenants))
			}
			if more := len(found) - maxNamed; more > 0 {
				log.Info("More attached certificates expire soon or can't be used", "certificates", more)
			}
		},
		OnFailure: func(err error) {
			log.Error(err, "Listing the account's certificates failed, so expiring certificates are not detected until it works again")
		},
	})
}

// newCapacity is the watch over what an account may have.
func newCapacity(a *account.Account, clk clock.WithTicker) *inventory.Capacity {
	log := ctrl.Log.WithName("quotas")
	if a.ID != "" {
		log = log.WithValues("account", a.ID)
	}
	return inventory.NewCapacity(inventory.CapacityOptions{
		Inventory: a.Inventory, Quotas: a.Quotas, Counts: a.CloudFront, Clock: clk,
		OnDenied: func(err error) {
			log.Info("Not all limits of the account can be read, so metrics show the documented defaults, and lack what can't be counted", "reason", err.Error())
		},
	})
}
