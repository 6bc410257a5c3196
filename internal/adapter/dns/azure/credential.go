package azure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
)

// CredentialKind says how the operator proves who it is.
type CredentialKind string

// The kinds.
const (
	// WorkloadIdentity is a token of the pod's service account, which a federated credential of the identity trusts.
	WorkloadIdentity CredentialKind = "WorkloadIdentity"
	// ManagedIdentity is the identity of the node.
	ManagedIdentity CredentialKind = "ManagedIdentity"
	// ClientSecret is a secret of an application.
	ClientSecret CredentialKind = "ClientSecret"
)

// Credential is the identity of an account.
type Credential struct {
	Kind CredentialKind
	// TenantID and ClientID name the identity. Workload identity finds them in the pod's environment if they are empty. A
	// managed identity needs no tenant, and a client ID only where the node has several.
	TenantID, ClientID string
	// TokenFile has the service account's token. Empty: the file that the pod's environment names.
	TokenFile string
	// Secret returns the client secret as it is now.
	Secret func() string
}

// tokenFileVariable names the file in pods that the webhook of workload identity has changed.
const tokenFileVariable = "AZURE_FEDERATED_TOKEN_FILE"

// source returns what asks for tokens. custom is true where the authority is not one of Azure's: then only our own
// configuration vouches for it.
func (c Credential) source(o policy.ClientOptions, custom bool) (azcore.TokenCredential, error) {
	var (
		made azcore.TokenCredential
		err  error
	)
	switch c.Kind {
	case WorkloadIdentity:
		made, err = azidentity.NewWorkloadIdentityCredential(&azidentity.WorkloadIdentityCredentialOptions{
			ClientOptions: o, ClientID: c.ClientID, TenantID: c.TenantID, TokenFilePath: c.TokenFile, DisableInstanceDiscovery: custom,
		})
	case ManagedIdentity:
		options := &azidentity.ManagedIdentityCredentialOptions{ClientOptions: o}
		if c.ClientID != "" {
			options.ID = azidentity.ClientID(c.ClientID)
		}
		made, err = azidentity.NewManagedIdentityCredential(options)
	case ClientSecret:
		if c.TenantID == "" || c.ClientID == "" || c.Secret == nil {
			return nil, errors.New("credential ClientSecret needs tenantId, clientId and a Secret with the key clientSecret")
		}
		made = &secretSource{credential: c, options: o, custom: custom}
	default:
		return nil, fmt.Errorf("credential %q is not known: use %s, %s or %s", c.Kind, WorkloadIdentity, ManagedIdentity, ClientSecret)
	}
	if err != nil {
		return nil, fmt.Errorf("preparing credential %s: %w", c.Kind, err)
	}
	return &source{credential: c, inner: made}, nil
}

// source tells failures to get a token from those of the call that needs it.
type source struct {
	credential Credential
	inner      azcore.TokenCredential
}

// GetToken implements azcore.TokenCredential.
func (s *source) GetToken(ctx context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	if err := s.credential.readable(); err != nil {
		return azcore.AccessToken{}, err
	}
	token, err := s.inner.GetToken(ctx, o)
	if err != nil {
		return azcore.AccessToken{}, s.credential.refused(err)
	}
	return token, nil
}

// readable reports a token file that is missing. The SDK's error for it has no type.
func (c Credential) readable() error {
	if c.Kind != WorkloadIdentity {
		return nil
	}
	file := c.TokenFile
	if file == "" {
		file = os.Getenv(tokenFileVariable)
	}
	if _, err := os.Stat(file); err != nil { //nolint:gosec // the administrator, or the pod's environment, names the file
		return c.denied("", "the token of the operator's service account is not mounted: label the operator's pod with azure.workload.identity/use: \"true\"", err)
	}
	return nil
}

// secretSource asks with a secret that can change.
type secretSource struct {
	credential Credential
	options    policy.ClientOptions
	custom     bool

	mu     sync.Mutex
	secret string
	inner  azcore.TokenCredential
}

// GetToken implements azcore.TokenCredential.
func (s *secretSource) GetToken(ctx context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	inner, err := s.current()
	if err != nil {
		return azcore.AccessToken{}, err
	}
	return inner.GetToken(ctx, o)
}

// current is the source for the secret as it is now.
func (s *secretSource) current() (azcore.TokenCredential, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	secret := s.credential.Secret()
	if s.inner != nil && secret == s.secret {
		return s.inner, nil
	}
	if secret == "" {
		return nil, s.credential.denied("", "the Secret of the account has no client secret: put its value into the key clientSecret", nil)
	}
	made, err := azidentity.NewClientSecretCredential(s.credential.TenantID, s.credential.ClientID, secret,
		&azidentity.ClientSecretCredentialOptions{ClientOptions: s.options, DisableInstanceDiscovery: s.custom})
	if err != nil {
		return nil, s.credential.denied("", "tenantId is not the ID of a tenant: correct it", err)
	}
	s.secret, s.inner = secret, made
	return made, nil
}
