package azure

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// identityHints say what to do about the errors of Entra ID, by their number.
var identityHints = map[int]string{
	50027:   "the operator's token is malformed: check AZURE_FEDERATED_TOKEN_FILE",
	53003:   "conditional access refuses the identity: exclude it from the policy",
	70021:   federatedHint,
	90002:   "there is no such tenant: correct tenantId",
	700016:  "there is no such application in the tenant: correct clientId or tenantId",
	700024:  "the service account's token has expired: check the clock of the node",
	700211:  federatedHint,
	700212:  federatedHint,
	700213:  federatedHint,
	900023:  "tenantId is neither the ID of a tenant nor one of its domains: correct it",
	7000215: "the client secret is wrong: put its value, not its ID, into the key clientSecret of the account's Secret",
	7000222: "the client secret has expired: create a new one, and put its value into the key clientSecret of the account's Secret",
}

const federatedHint = "no federated credential of the identity is for the operator's service account: create one with the cluster's issuer, " +
	"the subject system:serviceaccount:<namespace>:<name> and the audience api://AzureADTokenExchange"

const noIdentity = "the node has no such managed identity: assign it to the node, or correct clientId"

// refused says why there is no token.
func (c Credential) refused(err error) error {
	if known, ok := errors.AsType[*fault.Error](err); ok {
		return known
	}
	failed, ok := errors.AsType[*azidentity.AuthenticationFailedError](err)
	if !ok || failed.RawResponse == nil {
		if c.Kind == ManagedIdentity && final(err) && !ok {
			return c.denied("", noIdentity, err)
		}
		return &fault.Error{Kind: fault.Transient, Operation: opToken, Message: "no access token: Entra ID could not be reached", Err: err}
	}
	var said struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
		Codes       []int  `json:"error_codes"`
	}
	if payload, err := runtime.Payload(failed.RawResponse); err == nil {
		_ = json.Unmarshal(payload, &said) // the status says enough where it is something else
	}
	if status := failed.RawResponse.StatusCode; status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout {
		kind := fault.Transient
		if status == http.StatusTooManyRequests {
			kind = fault.Throttled
		}
		return &fault.Error{Kind: kind, Operation: opToken, Code: said.Error, Message: "no access token: Entra ID is overloaded", RetryAfter: retryAfter(failed.RawResponse), Err: err}
	}
	code, text := said.Error, stable(said.Description)
	if c.Kind == ManagedIdentity && failed.RawResponse.StatusCode == http.StatusBadRequest {
		text = noIdentity
	}
	for _, number := range said.Codes {
		if hint, ok := identityHints[number]; ok {
			code, text = fmt.Sprintf("AADSTS%d", number), hint
		}
	}
	return c.denied(code, cmp.Or(text, "Entra ID did not say why"), err)
}

// final reports whether the SDK says that to try again would not help.
func final(err error) bool {
	var marked interface{ NonRetriable() }
	return errors.As(err, &marked)
}

func (c Credential) denied(code, text string, err error) error {
	return &fault.Error{
		Kind: fault.Denied, Operation: opToken, Code: cmp.Or(code, "CredentialUnavailable"),
		Message: prose.Fit(fmt.Sprintf("no access token with credential %s: %s", c.Kind, text), longestMessage), Err: err,
	}
}
