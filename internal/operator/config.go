// Package operator puts the operator together: flags, AWS clients, the inventory and the
// controllers. It is the only package that knows them all.
package operator

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"net"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	quantity "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/resolver"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
)

// defaultControllers are those of what is in AWS, controllers all of them. Tenants' namespaces need rights in the whole
// cluster, which no one should have to grant without using them.
var (
	defaultControllers = List{config.DistributionTenant, config.TenantSource, config.Distribution, config.ConnectionGroup, config.Invalidation}
	controllers        = append(slices.Clone(defaultControllers), config.Tenant)
)

// The least that one read of a table needs.
const (
	minReadTimeout = time.Second
	minReadMemory  = 32 * mebibyte
)

// What AWS allows in tags. Of 50 tags the owner tags leave 46.
const (
	maxUserTags = 46
	maxTagKey   = 128
	maxTagValue = 256
)

var tagText = regexp.MustCompile(`^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$`)

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
	// DNSAccounts is the file with the accounts at other DNS services than Route 53.
	DNSAccounts string

	SourceTargets     List
	SourceReadTimeout time.Duration
	// SourceFirstRow is how long the first row of a table may take.
	SourceFirstRow   time.Duration
	SourceMaxRows    int
	SourceMaxWatches int
	SourceReadMemory Size
	SourceAllowDial  List
	DynamoDBEndpoint string

	ReservedNamespaces List
	TenantNamespaces   List
	MinPodSecurity     string

	Budget Budget
	// Rollout is how changes reach tenants.
	Rollout Rollout

	ClusterCheck         bool
	ClusterCopyNamespace string
	// Grants is how EdgeGrants are meant: Off, Audit or Enforce.
	Grants string
	// DefaultGrant is the JSON of the grant that namespaces have which no EdgeGrant selects.
	DefaultGrant string

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

	f.Var(&c.SourceTargets, "tenantsource-target-namespaces",
		"Comma-separated list of namespaces in which any TenantSource may create tenants, or from/to pairs that allow it for the sources of one namespace. Every source may use its own namespace. Empty: no other namespaces.")
	f.DurationVar(&c.SourceFirstRow, "tenantsource-first-row-timeout", 15*time.Second,
		"Maximum time until the first row of the table of a TenantSource, or until its end if it has no rows. At least 1s. A value above --tenantsource-read-timeout has no effect.")
	f.DurationVar(&c.SourceReadTimeout, "tenantsource-read-timeout", 5*time.Minute, "Maximum time to read the table of a TenantSource. At least 1s.")
	f.IntVar(&c.SourceMaxWatches, "tenantsource-max-watches", 20, "Maximum number of TenantSources with spec.watch whose databases report changes at the same time. Others are only read every pollInterval. Each takes a process of about 15 MiB, except with DynamoDB.")
	f.IntVar(&c.SourceMaxRows, "tenantsource-max-rows", 200_000, "Maximum number of rows in the table of a TenantSource. A table with more rows is not used at all.")
	c.SourceReadMemory = 64 * mebibyte
	f.Var(&c.SourceReadMemory, "tenantsource-read-memory",
		"Memory that reading one table may use, such as 64Mi: the process that reads it, and its rows together. Four tables are read at the same time. At least 32Mi. Not for DynamoDB.")
	f.Var(&c.SourceAllowDial, "tenantsource-allow-dial",
		"Comma-separated list of networks (127.0.0.0/8) or addresses at which a TenantSource may have its database although they are loopback, link-local, multicast or those of the API server. Empty: none of these.")
	c.ReservedNamespaces = slices.Clone(defaultReserved)
	f.Var(&c.ReservedNamespaces, "reserved-namespaces",
		"Comma-separated list of namespace names that no Tenant may use, or prefixes followed by *. The operator's own namespace and the ingress namespaces of all TenantPlans are always reserved.")
	f.Var(&c.TenantNamespaces, "tenant-namespaces",
		"Comma-separated list of the only namespace names that Tenants may use, or prefixes followed by *. Empty: all that are not reserved.")
	f.StringVar(&c.MinPodSecurity, "min-pod-security", "baseline",
		"Lowest level of pod security that the namespaces of Tenants enforce: privileged, baseline or restricted. Plans that say nothing get it, and plans that say less are invalid.")
	c.bindBudget(f)
	c.bindRollout(f)
	c.bindClusterCheck(f)
	c.bindGrants(f)
	c.bindDNSAccounts(f)
	c.bindDomainClaims(f)
	c.bindInvalidations(f)
	c.bindWebhook(f)
	f.StringVar(&c.DynamoDBEndpoint, "dynamodb-endpoint", "", "URL of DynamoDB. Empty: the endpoint of the environment, or AWS.")
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
	for _, valid := range []func() error{c.validateSources, c.validateTenancy, c.validateBudget, c.validateRollout, c.validateGrants, c.validateDomainClaims, c.validateInvalidations, c.validateWebhook} {
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

// validateNames checks what would otherwise fail later, and in words that name no flag.
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

// List is a comma-separated flag.
type List []string

// String implements flag.Value.
func (l *List) String() string { return strings.Join(*l, ",") }

// Set implements flag.Value.
func (l *List) Set(text string) error {
	*l = nil
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*l = append(*l, part)
		}
	}
	return nil
}

// mebibyte is the unit in which sizes are usually given.
const mebibyte = 1 << 20

// Size is a flag for a number of bytes, as Kubernetes writes it.
type Size int64

// String implements flag.Value.
func (s *Size) String() string { return quantity.NewQuantity(int64(*s), quantity.BinarySI).String() }

// Set implements flag.Value.
func (s *Size) Set(text string) error {
	parsed, err := quantity.ParseQuantity(text)
	if err != nil {
		return fmt.Errorf("%q is not a size: use a number of bytes, such as 64Mi", text)
	}
	*s = Size(parsed.Value())
	return nil
}

// Tags is a comma-separated flag of key=value pairs.
type Tags map[string]string

// String implements flag.Value.
func (t *Tags) String() string {
	var pairs []string
	for _, k := range slices.Sorted(maps.Keys(*t)) {
		pairs = append(pairs, k+"="+(*t)[k])
	}
	return strings.Join(pairs, ",")
}

// Set implements flag.Value.
func (t *Tags) Set(text string) error {
	tags, err := convert.Tags(text)
	*t = tags
	return err
}

func (t *Tags) validate() error {
	if len(*t) > maxUserTags {
		return fmt.Errorf("--default-tags has %d tags: AWS allows 50 and the operator needs 4 of them, so use at most %d", len(*t), maxUserTags)
	}
	for _, key := range slices.Sorted(maps.Keys(*t)) {
		switch value := (*t)[key]; {
		case strings.HasPrefix(key, ownership.Prefix):
			return fmt.Errorf("--default-tags: the key %q is reserved for owner tags; use another key", key)
		case strings.HasPrefix(strings.ToLower(key), "aws:"):
			return fmt.Errorf("--default-tags: the key %q is reserved by AWS; use a key without this prefix", key)
		case utf8.RuneCountInString(key) > maxTagKey || utf8.RuneCountInString(value) > maxTagValue:
			return fmt.Errorf("--default-tags: %q is too long; AWS allows %d characters for a key and %d for a value", key, maxTagKey, maxTagValue)
		case !tagText.MatchString(key) || !tagText.MatchString(value):
			return fmt.Errorf("--default-tags: %q has a character that AWS does not allow in tags; use letters, digits, spaces and _.:/=+-@", key+"="+value)
		}
	}
	return nil
}
