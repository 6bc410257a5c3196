package aws

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"k8s.io/utils/clock"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const opToken = "Login"

// tokenSeconds is how long a token lets in: the most that the services take.
const tokenSeconds = "900"

// emptyBody is the hash of an empty request.
const emptyBody = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// Tokens is a port.Tokens. A token is the address of a signed request that is never sent: the server hands it to IAM. The
// operator makes no call for it.
type Tokens struct {
	// SDK has the operator's own credentials and region.
	SDK awssdk.Config
	// Roles has the credentials of other identities.
	Roles *Roles
	Clock clock.PassiveClock
}

var _ port.Tokens = Tokens{}

// Token implements port.Tokens.
func (t Tokens) Token(ctx context.Context, l mapping.Login, namespace string) (string, error) {
	provider := t.SDK.Credentials
	if l.AssumeRoleARN != "" {
		provider = t.Roles.Credentials(l.AssumeRoleARN, identity.OfNamespace(namespace))
	}
	credentials, err := provider.Retrieve(ctx)
	if err != nil {
		return "", Table{}.Classify(opToken, err)
	}
	// RDS knows a server by its address, ElastiCache a cache by its name.
	service, resource, who := "rds-db", l.Host, "DBUser"
	if l.Cache != "" {
		service, resource, who = "elasticache", l.Cache, "User"
	}
	query := url.Values{"Action": {"connect"}, who: {l.User}, "X-Amz-Expires": {tokenSeconds}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+resource+"/?"+query.Encode(), http.NoBody)
	if err != nil {
		return "", fmt.Errorf("making a token: %w", err)
	}
	signed, _, err := v4.NewSigner().PresignHTTP(ctx, credentials, request, emptyBody, service, cmp.Or(l.Region, t.SDK.Region), t.Clock.Now().UTC())
	if err != nil {
		return "", fmt.Errorf("signing a token: %w", err)
	}
	return strings.TrimPrefix(signed, "https://"), nil
}
