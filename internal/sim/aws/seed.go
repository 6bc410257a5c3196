package aws

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"sigs.k8s.io/yaml"
)

const (
	// DefaultAccount is the account of access keys that were not seeded.
	DefaultAccount = "111122223333"
	// DefaultCertificateARN is the wildcard certificate for *.example.com that
	// is there without a seed.
	DefaultCertificateARN = "arn:aws:acm:us-east-1:111122223333:certificate/00000000-0000-4000-8000-000000000001"
)

// Seed is the world a simulated AWS starts with. Whatever it contains is
// deployed from the start. Fields named account default to the default account.
type Seed struct {
	Accounts         []SeedAccount         `json:"accounts,omitempty"`
	Roles            []SeedRole            `json:"roles,omitempty"`
	Certificates     []SeedCertificate     `json:"certificates,omitempty"`
	Distributions    []SeedDistribution    `json:"distributions,omitempty"`
	ConnectionGroups []SeedConnectionGroup `json:"connectionGroups,omitempty"`
	Tenants          []SeedTenant          `json:"tenants,omitempty"`
	// ResolvingDomains are names whose public DNS leads to CloudFront; *.x
	// stands for every name one label below x.
	ResolvingDomains []string            `json:"resolvingDomains,omitempty"`
	HostedZones      []SeedHostedZone    `json:"hostedZones,omitempty"`
	KeyValueStores   []SeedKeyValueStore `json:"keyValueStores,omitempty"`
	Quotas           *Quotas             `json:"quotas,omitempty"`
}

// SeedAccount is an AWS account and the access key ids that belong to it.
type SeedAccount struct {
	ID         string   `json:"id"`
	AccessKeys []string `json:"accessKeys,omitempty"`
	// Default makes it the account of unknown access keys; otherwise the first
	// account listed is.
	Default bool `json:"default,omitempty"`
}

// SeedCertificate is an ACM certificate in us-east-1.
type SeedCertificate struct {
	Account string   `json:"account,omitempty"` // the one in the ARN if empty
	ARN     string   `json:"arn"`
	Names   []string `json:"names"`
	// Status is ISSUED if empty.
	Status string `json:"status,omitempty"`
	// Type is AMAZON_ISSUED if empty.
	Type string `json:"type,omitempty"`
	// Issuer is Amazon if empty.
	Issuer   string     `json:"issuer,omitempty"`
	NotAfter *time.Time `json:"notAfter,omitempty"`
	// KeyAlgorithm is RSA_2048 if empty, as ACM spells it.
	KeyAlgorithm string `json:"keyAlgorithm,omitempty"`
	// ManagedBy is empty or CLOUDFRONT: a managed certificate whose tenant is gone.
	ManagedBy string `json:"managedBy,omitempty"`
}

// SeedRole is an IAM role that other accounts assume; its account is that of
// the ARN. One that exists is replaced.
type SeedRole struct {
	ARN string `json:"arn"`
	// ExternalID is what a caller has to show; none if empty.
	ExternalID string `json:"externalId,omitempty"`
	// TagSession trusts callers that bring session tags, as those of EKS Pod Identity do.
	TagSession bool `json:"tagSession,omitempty"`
	// Denied makes the role trust no one.
	Denied bool `json:"denied,omitempty"`
}

// SeedDistribution is a distribution. It has one origin and a cache policy,
// made up, so that tenants have something to belong to.
type SeedDistribution struct {
	Account string `json:"account,omitempty"`
	ID      string `json:"id"`
	// ConnectionMode is tenant-only if empty.
	ConnectionMode string          `json:"connectionMode,omitempty"`
	Enabled        *bool           `json:"enabled,omitempty"` // true if absent
	Comment        string          `json:"comment,omitempty"`
	CertificateARN string          `json:"certificateArn,omitempty"`
	Aliases        []string        `json:"aliases,omitempty"`
	Parameters     []SeedParameter `json:"parameters,omitempty"`
	// CallerReference is seed- and the id if empty.
	CallerReference string `json:"callerReference,omitempty"`
	// OriginDomain is origin.example.com if empty.
	OriginDomain string            `json:"originDomain,omitempty"`
	Tags         map[string]string `json:"tags,omitempty"`
}

// SeedParameter is a parameter definition of a multi-tenant distribution.
type SeedParameter struct {
	Name     string `json:"name"`
	Required bool   `json:"required,omitempty"`
	Default  string `json:"default,omitempty"`
}

// SeedConnectionGroup is a connection group. An account has at most one default
// group; without a seeded one it is created when it is needed.
type SeedConnectionGroup struct {
	Account         string            `json:"account,omitempty"`
	ID              string            `json:"id,omitempty"`   // derived if empty
	Name            string            `json:"name,omitempty"` // CreatedByCloudFront-<id> if empty
	RoutingEndpoint string            `json:"routingEndpoint,omitempty"`
	IPv6            *bool             `json:"ipv6,omitempty"`    // true if absent
	Enabled         *bool             `json:"enabled,omitempty"` // true if absent
	Default         bool              `json:"default,omitempty"`
	AnycastIPListID string            `json:"anycastIpListId,omitempty"`
	Tags            map[string]string `json:"tags,omitempty"`
}

// SeedTenant is a distribution tenant, for worlds that had tenants before the operator. Its domains are active, but for
// those that wait for a managed certificate which is not attached.
type SeedTenant struct {
	Account           string            `json:"account,omitempty"`
	ID                string            `json:"id,omitempty"` // derived if empty
	Name              string            `json:"name"`
	DistributionID    string            `json:"distributionId"`
	ConnectionGroupID string            `json:"connectionGroupId,omitempty"`
	Domains           []string          `json:"domains"`
	Parameters        map[string]string `json:"parameters,omitempty"`
	CertificateARN    string            `json:"certificateArn,omitempty"`
	// ManagedCertificate is the one the tenant asked for.
	ManagedCertificate *SeedManagedCertificate `json:"managedCertificate,omitempty"`
	Enabled            *bool                   `json:"enabled,omitempty"` // true if absent
	Tags               map[string]string       `json:"tags,omitempty"`
}

// SeedManagedCertificate is the managed certificate of a tenant, for all of its
// domains.
type SeedManagedCertificate struct {
	ARN string `json:"arn,omitempty"` // derived if empty
	// Status is ISSUED if empty.
	Status string `json:"status,omitempty"`
	// ValidationTokenHost is cloudfront if empty.
	ValidationTokenHost string     `json:"validationTokenHost,omitempty"`
	FailureReason       string     `json:"failureReason,omitempty"`
	NotAfter            *time.Time `json:"notAfter,omitempty"`
	// Attached puts it into the tenant's customizations.
	Attached bool `json:"attached,omitempty"`
}

// SeedHostedZone is a hosted zone of Route 53. Its records are public from the start; NS and SOA of the zone itself are
// added automatically.
type SeedHostedZone struct {
	Account string       `json:"account,omitempty"`
	ID      string       `json:"id,omitempty"` // derived if empty
	Name    string       `json:"name"`
	Private bool         `json:"private,omitempty"`
	Comment string       `json:"comment,omitempty"`
	Records []SeedRecord `json:"records,omitempty"`
}

// SeedRecord is a resource record set.
type SeedRecord struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// TTL is 300 if zero; an alias has none.
	TTL int `json:"ttl,omitempty"`
	// Values are as the API has them: those of TXT records are in quotes.
	Values []string `json:"values,omitempty"`
	// AliasTarget makes it an alias to a host in cloudfront.net.
	AliasTarget string `json:"aliasTarget,omitempty"`
}

// DefaultSeed is the world without a seed: one account with a wildcard
// certificate for *.example.com.
func DefaultSeed() Seed {
	return Seed{
		Accounts:     []SeedAccount{{ID: DefaultAccount, Default: true}},
		Certificates: []SeedCertificate{{ARN: DefaultCertificateARN, Names: []string{"*.example.com"}}},
	}
}

// ParseSeed reads and checks a seed. The source names where the data is from
// in errors, usually a file.
func ParseSeed(source string, data []byte) (Seed, error) {
	seed, err := decodeSeed(source, data)
	if err != nil {
		return Seed{}, err
	}
	if err := seed.Validate(); err != nil {
		return Seed{}, fmt.Errorf("reading seed %s: %w", source, err)
	}
	return seed, nil
}

func decodeSeed(source string, data []byte) (Seed, error) {
	var seed Seed
	if err := yaml.UnmarshalStrict(data, &seed); err != nil {
		return Seed{}, fmt.Errorf("reading seed %s: %w (docs/contributing/simulator.md lists the fields)", source, err)
	}
	return seed, nil
}

// Validate tells what is wrong with a seed by loading it into an empty world.
func (seed Seed) Validate() error {
	scratch := &Sim{options: Options{PageSize: 1, JournalSize: 1, Seed: &seed}, clock: RealClock{}}
	return scratch.restart()
}

// seedError says which value of a seed is wrong, why, and what to do.
type seedError struct {
	field, value, reason, cure string
}

func (e *seedError) Error() string {
	return fmt.Sprintf("%s: %q %s: %s", e.field, e.value, e.reason, e.cure)
}

// refusedSeed words an API refusal of a seeded resource.
func refusedSeed(field, value string, err error) error {
	if _, ok := errors.AsType[*seedError](err); ok {
		return err
	}
	return &seedError{field, value, "is refused as AWS would refuse it", asAPIError(err).Message}
}

var (
	accountID      = regexp.MustCompile(`^[0-9]{12}$`)
	distributionID = regexp.MustCompile(`^[A-Z0-9]{2,32}$`)
	groupID        = regexp.MustCompile(`^cg_[a-zA-Z0-9]{1,64}$`)
	tenantID       = regexp.MustCompile(`^dt_[a-zA-Z0-9]{1,64}$`)
	routingHost    = regexp.MustCompile(`^[a-z0-9]+\.cloudfront\.net$`)
)

// Load adds a seed to the world as it is: certificates that exist are replaced,
// everything else must be new. After an error, what came before it is there.
func (s *Sim) Load(seed Seed) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.load(seed)
}
