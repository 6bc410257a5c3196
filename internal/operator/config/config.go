// Package config has everything that can be set from outside: the flags of the operator, their checks, and what follows
// from them.
package config

import (
	"flag"
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/resolver"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Config is everything that can be set from outside.
type Config struct {
	MetricsAddress  string
	MetricsSecure   bool
	MetricsCertPath string
	MetricsCertName string
	MetricsCertKey  string
	ProbeAddress    string
	EnableHTTP2     bool
	PprofAddress    string

	// Check has the process look whether an installation works, and end.
	Check bool

	LeaderElect             bool
	LeaderElectionNamespace string

	ClusterID       string
	WatchNamespaces List
	Controllers     List
	Workers         int

	AWSRegion     string
	AWSRate       float64
	AWSBurst      int
	SweepInterval time.Duration
	DriftPolicy   string
	DefaultTags   Tags

	Route53Rate  float64
	Route53Burst int
	ACMRate      float64
	ACMBurst     int
	AllowedRoles List
	DNSResolvers List
	// WatchDomains has public DNS looked at for the domains that the operator doesn't publish.
	WatchDomains bool
	// DNSAccounts is the file with the accounts at other DNS services than Route 53.
	DNSAccounts string

	Sources Sources
	Tenancy Tenancy

	Budget Budget
	// Rollout is how changes reach tenants.
	Rollout Rollout

	ClusterCheck ClusterCheck
	Grants       Grants

	DomainClaims DomainClaims

	Invalidations Invalidations

	Webhook Webhook
}

// Bind declares the flags.
func (c *Config) Bind(f *flag.FlagSet) {
	f.StringVar(&c.MetricsAddress, "metrics-bind-address", "0", "Address of the metrics endpoint, for example :8443. 0 disables it.")
	f.BoolVar(&c.MetricsSecure, "metrics-secure", true, "Serve metrics over HTTPS, only to clients that the API server allows to read /metrics.")
	f.StringVar(&c.MetricsCertPath, "metrics-cert-path", "", "Directory with the certificate of the metrics endpoint. Empty: use a self-signed certificate.")
	f.StringVar(&c.MetricsCertName, "metrics-cert-name", "tls.crt", "File name of the certificate in that directory.")
	f.StringVar(&c.MetricsCertKey, "metrics-cert-key", "tls.key", "File name of the private key in that directory.")
	f.StringVar(&c.ProbeAddress, "health-probe-bind-address", ":8081", "Address of the /healthz and /readyz endpoints. 0 disables them.")
	f.BoolVar(&c.EnableHTTP2, "enable-http2", false, "Also serve metrics over HTTP/2.")
	f.StringVar(&c.PprofAddress, "pprof-bind-address", "0",
		"Address of the Go pprof endpoint, for example localhost:6060. 0 disables it. The endpoint has no authentication.")

	f.BoolVar(&c.Check, "check", false, "Check the permissions in Kubernetes, the CRDs, the AWS identity and its policy for tenants, and whether a replica leads, and exit. For helm test.")
	f.BoolVar(&c.LeaderElect, "leader-elect", false, "Use leader election, so that only one of several replicas is active.")
	f.StringVar(&c.LeaderElectionNamespace, "leader-election-namespace", "", "Namespace of the leader election lease. Empty: the operator's own namespace.")

	f.StringVar(&c.ClusterID, "cluster-id", "", "ID of this cluster in the owner tags. It must never change: with another one than at its first start, the operator changes nothing in AWS. Empty: the UID of the kube-system namespace.")
	f.Var(&c.WatchNamespaces, "watch-namespaces", "Comma-separated list of namespaces to watch. Empty: all namespaces.")
	c.Controllers = slices.Clone(defaultControllers)
	f.Var(&c.Controllers, "controllers", "Comma-separated list of controllers to run. The controller tenant, for Tenant and TenantPlan, is not in the default and needs cluster-wide permissions.")
	f.IntVar(&c.Workers, "max-concurrent-reconciles", 10, "Number of objects of each kind that are reconciled concurrently.")

	f.StringVar(&c.AWSRegion, "aws-region", "", "AWS region for regional services. Empty: the region of the environment, or us-east-1. CloudFront itself is global.")
	f.Float64Var(&c.AWSRate, "aws-rate", 10, "Average number of calls per second to CloudFront.")
	f.IntVar(&c.AWSBurst, "aws-burst", 50, "Number of calls to CloudFront that may be made in a burst.")
	f.DurationVar(&c.SweepInterval, "sweep-interval", 5*time.Minute, "Interval at which all tenants of the account are listed to find changes. At least 10s.")
	f.StringVar(&c.DriftPolicy, "drift-policy", string(resource.DriftEnforce), "What to do about changes made in AWS when an object does not set spec.driftPolicy: enforce, report or suspend.")
	f.Var(&c.DefaultTags, "default-tags", "Comma-separated list of key=value tags for every tenant. A tag in the object takes precedence.")

	f.Float64Var(&c.Route53Rate, "route53-rate", 4, "Average number of calls per second to Route 53, for each AWS account with hosted zones. AWS allows 10 per account for all clients together.")
	f.IntVar(&c.Route53Burst, "route53-burst", 20, "Number of calls to Route 53 that may be made in a burst, for each account.")
	f.Float64Var(&c.ACMRate, "acm-rate", 5, "Average number of calls per second to ACM. AWS allows 10 of each operation per account for all clients together.")
	f.IntVar(&c.ACMBurst, "acm-burst", 10, "Number of calls to ACM that may be made in a burst.")
	f.Var(&c.AllowedRoles, "allowed-roles",
		"Comma-separated list of IAM roles that objects may use in spec.dns.assumeRoleArn, such as arn:aws:iam::111122223333:role/tenant-dns-*. A * matches any text between two slashes, or any account ID. Empty: no roles.")
	f.Var(&c.DNSResolvers, "dns-resolvers",
		"Comma-separated list of DNS servers (host:port) that must return a new record before the operator creates the tenant in CloudFront. They delay the creation by at most five minutes. Empty: no check. The records that prove domains to a grant are looked up there, too, which needs two servers.")
	f.BoolVar(&c.WatchDomains, "watch-domains", true,
		"Look in public DNS where the domains of customers point that the operator doesn't publish, and ask CloudFront as soon as they point to their tenant. Asks the servers of --dns-resolvers, or those of the pod without them, about at most 50 domains a second.")

	f.StringVar(&c.DNSAccounts, "dns-accounts", "", "File with the accounts at DNS providers other than Route 53. It is followed while the operator runs. Empty: there are none.")

	for _, bind := range []func(*flag.FlagSet){
		c.Sources.bind, c.Tenancy.bind, c.Budget.bind, c.Rollout.bind, c.ClusterCheck.bind, c.Grants.bind, c.DomainClaims.bind, c.Invalidations.bind, c.Webhook.bind,
	} {
		bind(f)
	}
}

// Validate names the first flag that can't be.
func (c *Config) Validate() error {
	switch resource.DriftPolicy(c.DriftPolicy) {
	case resource.DriftEnforce, resource.DriftReport, resource.DriftSuspend:
	default:
		return fmt.Errorf("--drift-policy=%s: use enforce, report or suspend", c.DriftPolicy)
	}
	if len(c.Controllers) == 0 {
		return fmt.Errorf("--controllers is empty: use %s", controllers.String())
	}
	for _, name := range c.Controllers {
		if !slices.Contains(controllers, name) {
			return fmt.Errorf("--controllers=%s: there is no controller %q; use %s", c.Controllers.String(), name, controllers.String())
		}
	}
	if err := c.validateRates(); err != nil {
		return err
	}
	switch {
	case c.Workers < 1:
		return fmt.Errorf("--max-concurrent-reconciles=%d: use at least 1", c.Workers)
	case c.SweepInterval < 10*time.Second:
		return fmt.Errorf("--sweep-interval=%s: use at least 10s", c.SweepInterval)
	}
	for _, valid := range []func() error{
		c.Sources.validate, c.Tenancy.validate, c.validateTenants, c.Budget.validate, c.Rollout.validate, c.Grants.validate, c.DomainClaims.validate,
		c.Invalidations.validate, c.Webhook.validate, c.validateWebhook,
	} {
		if err := valid(); err != nil {
			return err
		}
	}
	if _, err := identity.ParseRolePatterns(c.AllowedRoles); err != nil {
		return fmt.Errorf("--allowed-roles: %w", err)
	}
	if len(c.DNSResolvers) > 0 {
		if _, err := resolver.New(c.DNSResolvers); err != nil {
			return fmt.Errorf("--dns-resolvers: %w", err)
		}
	}
	if err := c.validateNames(); err != nil {
		return err
	}
	return c.DefaultTags.validate()
}

// validateTenants checks what Tenants need besides their own flags.
func (c *Config) validateTenants() error {
	if slices.Contains(c.Controllers, Tenant) && len(c.WatchNamespaces) > 0 {
		return fmt.Errorf("--watch-namespaces=%s can't be combined with the controller %s, which creates namespaces and so must watch all of them: remove one of the two",
			c.WatchNamespaces.String(), Tenant)
	}
	return nil
}

// validateWebhook checks what the webhook needs besides its own flags.
func (c *Config) validateWebhook() error {
	if c.Webhook.Enabled() && !slices.Contains(c.Controllers, DistributionTenant) {
		return fmt.Errorf("--webhook-bind-address needs the controller %s: add it to --controllers, or leave the webhook out", DistributionTenant)
	}
	return nil
}

// validateRates checks the shares of the request rates that the operator may use.
func (c *Config) validateRates() error {
	for _, r := range []struct {
		api   string
		rate  float64
		burst int
	}{{"aws", c.AWSRate, c.AWSBurst}, {"route53", c.Route53Rate, c.Route53Burst}, {"acm", c.ACMRate, c.ACMBurst}} {
		switch {
		case !(r.rate > 0) || math.IsInf(r.rate, 0): // NaN is not above 0 either
			return fmt.Errorf("--%s-rate=%g: use a number above 0", r.api, r.rate)
		case r.burst < 2:
			return fmt.Errorf("--%s-burst=%d: use at least 2", r.api, r.burst)
		}
	}
	return nil
}

// validateNames checks values that would otherwise fail later, with a message that names no flag.
func (c *Config) validateNames() error {
	for _, f := range []struct{ name, address string }{
		{"metrics-bind-address", c.MetricsAddress}, {"health-probe-bind-address", c.ProbeAddress},
		{"pprof-bind-address", c.PprofAddress}, {"webhook-bind-address", c.Webhook.Address},
	} {
		if _, _, err := net.SplitHostPort(f.address); err != nil && f.address != "" && f.address != "0" {
			return fmt.Errorf("--%s=%s is not an address: use host:port, :port, or 0 to disable it", f.name, f.address)
		}
	}
	for _, ns := range append(slices.Clone(c.WatchNamespaces), c.LeaderElectionNamespace) {
		if problems := validation.IsDNS1123Label(ns); ns != "" && len(problems) > 0 {
			return fmt.Errorf("%q in --watch-namespaces or --leader-election-namespace is not a valid namespace name: %s", ns, strings.Join(problems, "; "))
		}
	}
	if utf8.RuneCountInString(c.ClusterID) > maxTagValue || !tagText.MatchString(c.ClusterID) {
		return fmt.Errorf("--cluster-id=%s: it is used as a tag value, so use at most %d letters, digits, spaces and _.:/=+-@", c.ClusterID, maxTagValue)
	}
	return nil
}

// LeaseNamespace is the pod's own unless it is set. A missing one is reported elsewhere.
func (c *Config) LeaseNamespace() string {
	if c.LeaderElectionNamespace != "" {
		return c.LeaderElectionNamespace
	}
	return OwnNamespace()
}

// WebhookNamespace is where the Service and the Secret are.
func (c *Config) WebhookNamespace() string {
	if own := OwnNamespace(); own != "" {
		return own
	}
	return c.LeaderElectionNamespace
}

// JudgesDomains reports whether domains are judged: a controller of objects that have some runs.
func (c *Config) JudgesDomains() bool {
	return c.DomainClaims.Enabled && (slices.Contains(c.Controllers, DistributionTenant) || slices.Contains(c.Controllers, Distribution))
}

// RefuseTenants says why the sources of one namespace may not have tenants in another.
func (c *Config) RefuseTenants(from, to string) error {
	if len(c.WatchNamespaces) > 0 && !slices.Contains(c.WatchNamespaces, to) {
		return fmt.Errorf("the operator does not watch the namespace %q: ask the administrator to add it to --watch-namespaces", to)
	}
	if from == to || slices.Contains(c.Sources.Targets, to) || slices.Contains(c.Sources.Targets, from+"/"+to) {
		return nil
	}
	return fmt.Errorf("sources in the namespace %q are not allowed to have tenants in %q: ask the administrator to add %s/%s to --tenantsource-target-namespaces", from, to, from, to)
}

// RolesAllowed are the roles that objects may name. Validate has read them before.
func (c *Config) RolesAllowed() identity.RolePatterns {
	patterns, err := identity.ParseRolePatterns(c.AllowedRoles)
	if err != nil {
		return identity.RolePatterns{}
	}
	return patterns
}

// Resolver asks public DNS, where that is wanted.
func (c *Config) Resolver() port.Resolver {
	if len(c.DNSResolvers) == 0 {
		return nil
	}
	r, err := resolver.New(c.DNSResolvers)
	if err != nil {
		return nil // Validate refuses what New does
	}
	return r
}
