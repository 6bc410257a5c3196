package aws

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const (
	opAssumeRole     = "AssumeRole"
	codeAccessDenied = "AccessDenied"
)

// codeRoleNotAllowed is the code of a role that the administrator has not allowed. It never
// comes from AWS: no call was made.
const codeRoleNotAllowed = "RoleNotAllowed"

const (
	// sessionTime is how long credentials are good for: the most that AWS gives to an operator
	// that has itself assumed a role, which is what it does in a cluster of EKS.
	sessionTime = time.Hour
	// renewBefore is how long before their end credentials are renewed: a call that was
	// signed with them has to reach AWS in time.
	renewBefore = 5 * time.Minute
	// lastUse is how long before their end credentials are used for the last time.
	lastUse = time.Minute
	// A role that was refused is asked for again after firstPause, and in the end only every longestPause: an
	// administrator has to change a policy first, and each try is recorded in two audit logs.
	firstPause, longestPause = time.Minute, 10 * time.Minute
)

// roleErrors classifies what STS says to AssumeRole. A code that is not listed is transient.
var roleErrors = Table{Codes: map[string]fault.Kind{
	"ValidationError":         fault.Invalid,
	"MalformedPolicyDocument": fault.Invalid,
	"PackedPolicyTooLarge":    fault.Invalid,
}}

// RolesConfig is what Roles are made of.
type RolesConfig struct {
	// SDK has the operator's own credentials, the endpoint, the region and the HTTP client.
	SDK awssdk.Config
	// ClusterID is the first part of the external id.
	ClusterID string
	// Allowed are the roles that may be assumed for namespaces. Those of grants are named by administrators.
	Allowed identity.RolePatterns
	// Limiter is that of STS.
	Limiter *Limiter
	Metrics *Metrics
	Clock   clock.PassiveClock
}

// Roles are the credentials of the roles that the operator assumes on behalf of namespaces and grants.
// It is safe for concurrent use.
type Roles struct {
	config RolesConfig
	api    *sts.Client

	mu          sync.Mutex
	credentials *lru.Cache // *roleProvider by assumed
}

// manyRoles is how many credentials are remembered: one for each namespace of the largest fleet. Objects name roles, so
// without a bound anyone who may write them could fill the memory.
const manyRoles = 10_000

// assumed is a role on behalf of a namespace or a grant. Two of them never share credentials: the
// trust policy of the role may want only one of them.
type assumed struct {
	role    string
	subject identity.Subject
}

// NewRoles returns the credentials of roles. It makes no call.
func NewRoles(c RolesConfig) *Roles {
	retryer := NoRetry()
	return &Roles{
		config: c,
		api: sts.NewFromConfig(c.SDK, func(o *sts.Options) {
			o.Retryer = retryer
			o.APIOptions = append(o.APIOptions, Instrument(c.Limiter, c.Metrics)...)
		}),
		credentials: lru.New(manyRoles),
	}
}

// Credentials returns those of a role on behalf of a namespace or a grant. They are asked for at their
// first use, and renewed before they end. A failure is a *fault.Error.
func (r *Roles) Credentials(roleARN string, subject identity.Subject) awssdk.CredentialsProvider {
	key := assumed{roleARN, subject}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.credentials.Get(key); ok {
		return known.(*roleProvider) //nolint:forcetypeassert // nothing else is in it
	}
	provider := r.provider(key)
	if provider.allowed {
		r.credentials.Add(key, provider)
	}
	return provider
}

// Refusal is the last answer of STS for a role, if only an administrator can change it. It makes no call.
func (r *Roles) Refusal(roleARN string, subject identity.Subject) error {
	r.mu.Lock()
	known, ok := r.credentials.Get(assumed{roleARN, subject})
	r.mu.Unlock()
	if !ok {
		return nil
	}
	p := known.(*roleProvider) //nolint:forcetypeassert // nothing else is in it
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refusal == nil {
		return nil
	}
	return p.refusal
}

func (r *Roles) provider(key assumed) *roleProvider {
	externalID := identity.ExternalID(r.config.ClusterID, key.subject)
	return &roleProvider{
		source: stscreds.NewAssumeRoleProvider(r.api, key.role, func(o *stscreds.AssumeRoleOptions) {
			o.ExternalID = &externalID
			o.RoleSessionName = identity.SessionName(key.subject)
			o.Duration = sessionTime
		}),
		clock: r.config.Clock, key: key, externalID: externalID, allowed: key.subject.IsGrant() || r.config.Allowed.Allows(key.role),
	}
}

// roleProvider keeps the credentials of a role, and a refusal too, so that STS is not asked
// again and again. It does what the SDK's cache does, with a clock that tests can set.
type roleProvider struct {
	source     awssdk.CredentialsProvider
	clock      clock.PassiveClock
	key        assumed
	externalID string
	allowed    bool

	// mu is held while STS is called: others that need the credentials wait for its answer.
	mu      sync.Mutex
	current awssdk.Credentials
	// refusal is the last answer, if only an administrator can change it.
	refusal *fault.Error
	until   time.Time
	pause   time.Duration
}

// Retrieve implements aws.CredentialsProvider.
func (p *roleProvider) Retrieve(ctx context.Context) (awssdk.Credentials, error) {
	if !p.allowed {
		return awssdk.Credentials{}, &fault.Error{
			Kind: fault.Denied, Operation: opAssumeRole, Code: codeRoleNotAllowed,
			Message: fmt.Sprintf("the role %s is not in --allowed-roles of the operator", p.key.role),
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now()
	if now.Before(p.current.Expires.Add(-renewBefore)) {
		return p.current, nil
	}
	if p.refusal != nil && now.Before(p.until) {
		again := *p.refusal
		again.RetryAfter = p.until.Sub(now)
		return awssdk.Credentials{}, &again
	}
	fresh, err := p.source.Retrieve(p.queued(ctx))
	if err == nil {
		p.current, p.refusal, p.pause = fresh, nil, 0
		return fresh, nil
	}
	err = p.remember(now, roleErrors.Classify(opAssumeRole, err))
	// While STS can't be reached, the present credentials are used to their end. A refusal counts at once.
	if fault.Is(err, fault.Transient, fault.Throttled) && now.Before(p.current.Expires.Add(-lastUse)) {
		return p.current, nil
	}
	return awssdk.Credentials{}, err
}

// queued has all callers that need the credentials wait for STS in one place, whatever they need them for. In places of
// their own, thousands of objects would wait for calls of which one is made.
func (p *roleProvider) queued(ctx context.Context) context.Context {
	subject := p.key.subject.String()
	return port.WithCall(ctx, port.Call{Key: p.key.role + " for " + subject, Namespace: subject, Class: port.Change})
}

// remember keeps a refusal, so that STS is left alone for a while that grows. Without credentials of the operator's own, the
// role was not asked for.
func (p *roleProvider) remember(now time.Time, err error) error {
	failure, ok := errors.AsType[*fault.Error](err)
	if !ok || failure.Operation != opAssumeRole || !fault.Is(failure, fault.Denied, fault.Invalid) {
		return err
	}
	p.pause = min(max(2*p.pause, firstPause), longestPause)
	p.until = now.Add(p.pause)
	refusal := *failure
	refusal.Message, refusal.RetryAfter = p.explain(failure), p.pause
	p.refusal, p.current = &refusal, awssdk.Credentials{}
	return p.refusal
}

// explain says which policies have to allow the role. STS names neither the external id nor the namespace, nor which of
// the two policies is incomplete.
func (p *roleProvider) explain(failure *fault.Error) string {
	who := "the namespace " + p.key.subject.String()
	if p.key.subject.IsGrant() {
		who = "the EdgeGrant " + p.key.subject.Name()
	}
	text := fmt.Sprintf("could not assume the role %s for %s", p.key.role, who)
	switch {
	case failure.Code != codeAccessDenied:
	case strings.Contains(failure.Message, "sts:TagSession"):
		text += ": the operator's credentials have session tags (EKS Pod Identity), so the role's trust policy " +
			"and the operator's policy must also allow sts:TagSession; or disable the tags with disableSessionTags of the Pod Identity association"
	default:
		text += fmt.Sprintf(": its trust policy must allow the operator sts:AssumeRole with the external ID %s, "+
			"and the operator's policy must allow sts:AssumeRole on the role", p.externalID)
	}
	return prose.Shorten(text+"; AWS says: "+failure.Message, longestMessage)
}
