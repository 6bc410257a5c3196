package operator

import (
	"fmt"
	"math/rand/v2"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
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
	confirm, err := addLeadership(mgr, c)
	if err != nil {
		return nil, err
	}
	zones := zone.New(zone.Options{
		Providers: c.dnsProviders(sdk, stsLimiter, calls),
		Clock:     wall, Random: rand.Float64, Observer: observer, OnChange: onChange, Confirm: confirm,
	})
	if err := mgr.Add(zones); err != nil {
		return nil, fmt.Errorf("adding the zones: %w", err)
	}
	return zones, registerZones(ctrlmetrics.Registry, zones)
}

// dnsProviders are the DNS services that spec.dns.provider can name: a new one is its adapter and a line here. Status has to
// tell the records of two services apart before there is a second one: today what is stored there is Route 53's.
func (c Config) dnsProviders(sdk awssdk.Config, stsLimiter *aws.Limiter, calls *aws.Metrics) zone.Providers {
	return zone.Providers{
		dns.Route53: c.route53(sdk, stsLimiter, calls),
	}
}

func (c Config) route53(sdk awssdk.Config, stsLimiter *aws.Limiter, calls *aws.Metrics) *route53.DNS {
	wall := clock.RealClock{}
	return route53.New(route53.Config{
		SDK: sdk, Clock: wall, Metrics: calls,
		Roles: aws.NewRoles(aws.RolesConfig{
			SDK: sdk, ClusterID: c.ClusterID, Allowed: c.allowedRoles(), Limiter: stsLimiter, Metrics: calls, Clock: wall,
		}),
		Limiters: aws.NewLimiters(aws.LimiterConfig{API: "route53", Rate: c.Route53Rate, Burst: c.Route53Burst, Clock: wall, Metrics: calls}),
	})
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
