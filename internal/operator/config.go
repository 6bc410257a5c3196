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

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/resolver"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/ownership"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Names of the controllers, as --controllers takes them.
const (
	controllerDistributionTenant = "distributiontenant"
	controllerTenantSource       = "tenantsource"
	controllerDistribution       = "distribution"
	controllerConnectionGroup    = "connectiongroup"
	// controllerTenant stands for the two of tenants and plans, of which none is of use without the other.
	controllerTenant = "tenant"
)

// defaultControllers are those of what is in AWS, controllers all of them. Tenants' namespaces take rights in the whole cluster, which
// nobody should have to grant who has no use for them.
var (
	defaultControllers = List{controllerDistributionTenant, controllerTenantSource, controllerDistribution, controllerConnectionGroup}
	controllers        = append(slices.Clone(defaultControllers), controllerTenant)
)

// minReadTimeout is the least time for one read of a table that makes sense.
const minReadTimeout = time.Second

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

	SourceTargets     List
	SourceReadTimeout time.Duration
	SourceMaxRows     int
	DynamoDBEndpoint  string

	ReservedNamespaces List
}

// Bind declares the flags.
func (c *Config) Bind(f *flag.FlagSet) {
	f.StringVar(&c.MetricsAddress, "metrics-bind-address", "0", "Address of the metrics endpoint, for example :8443; 0 turns it off.")
	f.BoolVar(&c.MetricsSecure, "metrics-secure", true, "Serve metrics over HTTPS to those whom the API server lets read /metrics.")
	f.StringVar(&c.MetricsCertPath, "metrics-cert-path", "", "Folder with the certificate of the metrics endpoint. Empty: a self-signed one.")
	f.StringVar(&c.MetricsCertName, "metrics-cert-name", "tls.crt", "File name of that certificate.")
	f.StringVar(&c.MetricsCertKey, "metrics-cert-key", "tls.key", "File name of its key.")
	f.StringVar(&c.ProbeAddress, "health-probe-bind-address", ":8081", "Address of /healthz and /readyz; 0 turns them off.")
	f.BoolVar(&c.EnableHTTP2, "enable-http2", false, "Serve metrics over HTTP/2 too.")
	f.StringVar(&c.PprofAddress, "pprof-bind-address", "0",
		"Address of Go's profiles, for example localhost:6060; 0 turns them off. Everybody who reaches it may read them.")

	f.BoolVar(&c.LeaderElect, "leader-elect", false, "Let one of several replicas be active.")
	f.StringVar(&c.LeaderElectionNamespace, "leader-election-namespace", "", "Namespace of the lease. Empty: the operator's own.")

	f.StringVar(&c.ClusterID, "cluster-id", "", "Name of this cluster in owner tags; it must never change. Empty: the UID of the kube-system namespace.")
	f.Var(&c.WatchNamespaces, "watch-namespaces", "Comma-separated namespaces to watch. Empty: all.")
	c.Controllers = slices.Clone(defaultControllers)
	f.Var(&c.Controllers, "controllers", "Comma-separated controllers to run. There is tenant as well, for Tenant and TenantPlan; it needs rights in the whole cluster.")
	f.IntVar(&c.Workers, "max-concurrent-reconciles", 10, "How many objects of a kind are reconciled at the same time.")

	f.StringVar(&c.AWSRegion, "aws-region", "", "AWS region of the services that have one. Empty: what the environment says, else us-east-1. CloudFront itself is global.")
	f.Float64Var(&c.AWSRate, "aws-rate", 10, "Calls per second to CloudFront, on average.")
	f.IntVar(&c.AWSBurst, "aws-burst", 50, "Calls to CloudFront that may be made at once after a pause.")
	f.DurationVar(&c.SweepInterval, "sweep-interval", 5*time.Minute, "How often all tenants of the account are listed to find what has changed. At least 10s.")
	f.StringVar(&c.DriftPolicy, "drift-policy", string(resource.DriftEnforce), "What to do about changes made in AWS where an object does not say: enforce, report or suspend.")
	f.Var(&c.DefaultTags, "default-tags", "Comma-separated key=value tags for every tenant. A tag of the object wins.")

	f.Float64Var(&c.Route53Rate, "route53-rate", 4, "Calls per second to Route 53, on average, for each AWS account with zones. AWS allows 10 to all who call in the account.")
	f.IntVar(&c.Route53Burst, "route53-burst", 20, "Calls to Route 53 that may be made at once after a pause, for each account.")
	f.Float64Var(&c.ACMRate, "acm-rate", 5, "Calls per second to ACM, on average. AWS allows 10 of each kind to all who call in the account.")
	f.IntVar(&c.ACMBurst, "acm-burst", 10, "Calls to ACM that may be made at once after a pause.")
	f.Var(&c.AllowedRoles, "allowed-roles",
		"Comma-separated IAM roles that objects may name in spec.dns.assumeRoleArn, such as arn:aws:iam::111122223333:role/tenant-dns-*; a star stands for any text between two slashes, or for all accounts. Empty: none.")
	f.Var(&c.DNSResolvers, "dns-resolvers",
		"Comma-separated DNS servers, each host:port, that are asked whether they see a new record before CloudFront is. They delay the creation of a tenant by five minutes at most. Empty: none is asked.")

	f.Var(&c.SourceTargets, "tenantsource-target-namespaces",
		"Comma-separated namespaces that every TenantSource may have its tenants in, or from/to for those of one namespace. Each may use its own. Empty: no other.")
	f.DurationVar(&c.SourceReadTimeout, "tenantsource-read-timeout", 5*time.Minute, "How long reading a table of customers may take. At least 1s.")
	f.IntVar(&c.SourceMaxRows, "tenantsource-max-rows", 200_000, "How many rows a table of customers may have; of one with more nothing is used.")
	c.ReservedNamespaces = slices.Clone(defaultReserved)
	f.Var(&c.ReservedNamespaces, "reserved-namespaces",
		"Comma-separated names of namespaces that no Tenant gets, or beginnings of names with a * after them. The operator's own namespace is reserved as well.")
	f.StringVar(&c.DynamoDBEndpoint, "dynamodb-endpoint", "", "URL of DynamoDB. Empty: what the environment says, else AWS.")
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
	if err := c.validateSources(); err != nil {
		return err
	}
	if err := c.validateTenancy(); err != nil {
		return err
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
		{"pprof-bind-address", c.PprofAddress},
	} {
		if _, _, err := net.SplitHostPort(f.address); err != nil && f.address != "" && f.address != "0" {
			return fmt.Errorf("--%s=%s is no address: use host:port, :port, or 0 to turn it off", f.name, f.address)
		}
	}
	for _, ns := range append(slices.Clone(c.WatchNamespaces), c.LeaderElectionNamespace) {
		if problems := validation.IsDNS1123Label(ns); ns != "" && len(problems) > 0 {
			return fmt.Errorf("%q in --watch-namespaces or --leader-election-namespace is no name of a namespace: %s", ns, strings.Join(problems, "; "))
		}
	}
	if utf8.RuneCountInString(c.ClusterID) > maxTagValue || !tagText.MatchString(c.ClusterID) {
		return fmt.Errorf("--cluster-id=%s: it becomes the value of a tag, so use at most %d letters, digits, spaces and _.:/=+-@", c.ClusterID, maxTagValue)
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
	*t = Tags{}
	for pair := range strings.SplitSeq(text, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return fmt.Errorf("%q is not of the form key=value", pair)
		}
		(*t)[key] = value
	}
	return nil
}

func (t *Tags) validate() error {
	if len(*t) > maxUserTags {
		return fmt.Errorf("--default-tags has %d tags: AWS allows 50, of which the operator needs 4, so use at most %d", len(*t), maxUserTags)
	}
	for _, key := range slices.Sorted(maps.Keys(*t)) {
		switch value := (*t)[key]; {
		case strings.HasPrefix(key, ownership.Prefix):
			return fmt.Errorf("--default-tags: the key %q is reserved for owner tags; choose another", key)
		case strings.HasPrefix(strings.ToLower(key), "aws:"):
			return fmt.Errorf("--default-tags: the key %q is reserved by AWS; choose one without the prefix", key)
		case utf8.RuneCountInString(key) > maxTagKey || utf8.RuneCountInString(value) > maxTagValue:
			return fmt.Errorf("--default-tags: %q is too long; AWS allows %d characters for a key and %d for a value", key, maxTagKey, maxTagValue)
		case !tagText.MatchString(key) || !tagText.MatchString(value):
			return fmt.Errorf("--default-tags: %q has a character that AWS refuses in tags; use letters, digits, spaces and _.:/=+-@", key+"="+value)
		}
	}
	return nil
}
