package operator

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/route53"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/resolver"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/zone"
)

// addZones adds the workers that keep DNS zones.
func addZones(mgr ctrl.Manager, c Config, sdk awssdk.Config, stsLimiter *aws.Limiter, calls *aws.Metrics, onChange func([]dns.Owner)) (*zone.Zones, error) {
	wall := clock.RealClock{}
	observer, err := newZoneMetrics(ctrlmetrics.Registry)
	if err != nil {
		return nil, err
	}
	zones := zone.New(zone.Options{
		DNS: route53.New(route53.Config{
			SDK: sdk, Clock: wall, Metrics: calls,
			Roles: aws.NewRoles(aws.RolesConfig{
				SDK: sdk, ClusterID: c.ClusterID, Allowed: c.allowedRoles(), Limiter: stsLimiter, Metrics: calls, Clock: wall,
			}),
			Limiters: aws.NewLimiters(aws.LimiterConfig{API: "route53", Rate: c.Route53Rate, Burst: c.Route53Burst, Clock: wall, Metrics: calls}),
		}),
		Clock: wall, Random: rand.Float64, Observer: observer, OnChange: onChange,
		Confirm: c.leads(mgr.GetAPIReader()),
	})
	if err := mgr.Add(zones); err != nil {
		return nil, fmt.Errorf("adding the zones: %w", err)
	}
	return zones, registerZones(ctrlmetrics.Registry, zones)
}

// allowedRoles are the roles that objects may name. Validate has read them before.
func (c Config) allowedRoles() identity.RolePatterns {
	patterns, err := identity.ParseRolePatterns(c.AllowedRoles)
	if err != nil {
		return identity.RolePatterns{}
	}
	return patterns
}

// resolver asks public DNS, where that is wanted.
func (c Config) resolver() port.Resolver {
	if len(c.DNSResolvers) == 0 {
		return nil
	}
	r, err := resolver.New(c.DNSResolvers)
	if err != nil {
		return nil // Validate refuses what New does
	}
	return r
}

// leads returns what is asked before records are changed: whether the lease still names this
// process. One that was frozen does not know yet that another one leads, and what it would
// publish may have been retracted since. A batch of a thousand records costs one read.
func (c Config) leads(live client.Reader) func(context.Context) error {
	namespace := c.leaseNamespace()
	if !c.LeaderElect || namespace == "" {
		return nil
	}
	host, err := os.Hostname()
	if err != nil {
		return func(context.Context) error {
			return fmt.Errorf("finding the name of the host, which the lease names: %w", err)
		}
	}
	l := &leadership{live: live, key: client.ObjectKey{Namespace: namespace, Name: leaderElectionID}, prefix: host + "_"}
	return l.confirm
}

// leadership knows the lease of this process.
type leadership struct {
	live client.Reader
	key  client.ObjectKey
	// prefix starts the identity of every process on this host; what follows is drawn at the
	// start of each and told to nobody.
	prefix string

	mu sync.Mutex
	// identity is the one of this process, once the lease was seen to name it.
	identity string
}

// confirm fails when the lease can't be read, or names another process.
func (l *leadership) confirm(ctx context.Context) error {
	var lease coordinationv1.Lease
	if err := l.live.Get(ctx, l.key, &lease); err != nil {
		return fmt.Errorf("reading the lease: %w", err)
	}
	holder := ptr.Deref(lease.Spec.HolderIdentity, "")
	l.mu.Lock()
	defer l.mu.Unlock()
	if !strings.HasPrefix(holder, l.prefix) || l.identity != "" && l.identity != holder {
		return fmt.Errorf("the lease %s is held by %q: another replica leads", l.key, holder)
	}
	l.identity = holder
	return nil
}
