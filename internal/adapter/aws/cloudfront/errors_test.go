package cloudfront_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/cloudfront"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/canned"
)

// call finds the operation of that name.
func call(t *testing.T, client *cloudfront.Client, name string) error {
	t.Helper()
	for _, op := range append(append([]operation{}, reads...), writes...) {
		if op.name == name {
			return op.call(t.Context(), client, distributiontenant.Observed{ID: "dt_1", ARN: arnPrefix + "dt_1", ETag: "E1"})
		}
	}
	t.Fatalf("no operation %s", name)
	return nil
}

func TestClassification(t *testing.T) {
	const (
		create, update, remove = "CreateDistributionTenant", "UpdateDistributionTenant", "DeleteDistributionTenant"
		get, list, tag         = "GetDistributionTenant", "ListDistributionTenants", "TagResource"

		createDist, updateDist, removeDist    = "CreateDistributionWithTags", "UpdateDistribution", "DeleteDistribution"
		createGroup, updateGroup, removeGroup = "CreateConnectionGroup", "UpdateConnectionGroup", "DeleteConnectionGroup"
		listDists                             = "ListDistributionsByConnectionMode"
	)
	tests := []struct {
		name      string
		operation string
		status    int
		code      string
		message   string
		want      fault.Kind
	}{
		{"a missing permission", get, 403, "AccessDenied", "", fault.Denied},
		{"a missing permission in the newer spelling", get, 403, "AccessDeniedException", "", fault.Denied},
		{"credentials that ran out", update, 403, "ExpiredToken", "", fault.Denied},
		{"unknown credentials", get, 403, "InvalidClientTokenId", "", fault.Denied},
		{"a wrong secret", get, 403, "SignatureDoesNotMatch", "", fault.Denied},
		{"a token of another kind", get, 403, "UnrecognizedClientException", "", fault.Denied},
		{"CloudFront's own throttle, a 400", get, 400, "Throttling", "Rate exceeded", fault.Throttled},
		{"the throttle of other services", create, 400, "ThrottlingException", "", fault.Throttled},
		{"a throttle that sounds like a quota", get, 429, "TooManyRequestsException", "", fault.Throttled},
		{"a limit of requests", get, 503, "RequestLimitExceeded", "", fault.Throttled},
		{"a request to slow down", get, 503, "SlowDown", "", fault.Throttled},
		{"unavailable, which asks for nothing", get, 503, "ServiceUnavailable", "", fault.Transient},
		{"an internal error", create, 500, "InternalError", "", fault.Transient},
		{"a stale ETag", update, 412, "PreconditionFailed", "", fault.Conflict},
		{"a missing ETag", remove, 400, "InvalidIfMatchVersion", "", fault.Conflict},
		{"a name that is taken", create, 409, "EntityAlreadyExists", "", fault.Exists},
		{"a domain that is taken, by whomever", create, 409, "CNAMEAlreadyExists", "", fault.DomainTaken},
		{"a domain that is taken at an update", update, 409, "CNAMEAlreadyExists", "", fault.DomainTaken},
		{"an absent tenant", get, 404, "EntityNotFound", "", fault.NotFound},
		{"an absent tenant at an update", update, 404, "EntityNotFound", "", fault.NotFound},
		{"an absent tenant at a delete", remove, 404, "EntityNotFound", "", fault.NotFound},
		{"what a new tenant refers to is absent, not the tenant", create, 404, "EntityNotFound", "", fault.Invalid},
		{"a list is never absent", list, 404, "EntityNotFound", "", fault.Transient},
		{"an absent resource of tags", tag, 404, "NoSuchResource", "", fault.NotFound},
		{"an absent distribution", "GetDistribution", 404, "NoSuchDistribution", "", fault.NotFound},
		{"a delete of what is enabled", remove, 409, "ResourceNotDisabled", "", fault.NotDisabled},
		{"a delete of what others use", remove, 409, "CannotDeleteEntityWhileInUse", "", fault.InUse},
		{"a code that is not modelled for the operation", remove, 409, "ResourceInUse", "", fault.InUse},
		{"a quota", create, 400, "EntityLimitExceeded", "", fault.Quota},
		{"a quota under a name of its own", create, 400, "TooManyDistributionCNAMEs", "", fault.Quota},
		{"a domain whose control is not proven", create, 400, "InvalidArgument",
			"The provided Domain Name is not valid. Could not verify Domain Name ownership.", fault.DomainUnverified},
		{"the same in another case", update, 400, "InvalidArgument", "could not VERIFY domain name OWNERSHIP", fault.DomainUnverified},
		{"the same words under another code", create, 400, "InvalidTagging", "verify domain name ownership", fault.Invalid},
		{"a real mistake under the same code", create, 400, "InvalidArgument", "Parameter tier is not declared", fault.Invalid},
		{"a distribution that takes no tenants", create, 409, "InvalidAssociation", "", fault.Invalid},
		{"tags that CloudFront refuses", create, 400, "InvalidTagging", "", fault.Invalid},
		{"a change that CloudFront refuses", update, 400, "IllegalUpdate", "", fault.Invalid},
		{"a body that got lost", update, 400, "MissingBody", "", fault.Invalid},
		{"an unknown code", update, 409, "BrandNew", "", fault.Transient},
		{"an unknown code for a mistake", update, 400, "InvalidNovelty", "", fault.Invalid},

		{"a caller reference that was used", createDist, 409, "DistributionAlreadyExists", "", fault.Exists},
		{"an alias that is taken", createDist, 409, "CNAMEAlreadyExists", "", fault.DomainTaken},
		{"what a new distribution refers to is absent", createDist, 404, "EntityNotFound", "", fault.Invalid},
		{"a distribution that a new one refers to", createDist, 404, "NoSuchDistribution", "", fault.Invalid},
		{"a distribution too many", createDist, 400, "TooManyDistributions", "", fault.Quota},
		{"a multi-tenant distribution too many", createDist, 400, "EntityLimitExceeded", "", fault.Quota},
		{"a distribution that is gone", updateDist, 404, "NoSuchDistribution", "", fault.NotFound},
		{"what a distribution refers to is gone", updateDist, 404, "EntityNotFound", "", fault.Invalid},
		{"an update without an ETag", updateDist, 400, "InvalidIfMatchVersion", "", fault.Conflict},
		{"an update with a stale ETag", updateDist, 412, "PreconditionFailed", "", fault.Conflict},
		{"a staging distribution that is in use", updateDist, 409, "StagingDistributionInUse", "", fault.Invalid},
		{"a distribution that is on, or not settled", removeDist, 409, "DistributionNotDisabled", "", fault.NotDisabled},
		{"a distribution that others use", removeDist, 409, "ResourceInUse", "", fault.InUse},
		{"a distribution that was deleted", removeDist, 404, "NoSuchDistribution", "", fault.NotFound},
		{"a deletion with a stale ETag", removeDist, 412, "PreconditionFailed", "", fault.Conflict},
		{"a list of distributions is never absent", listDists, 404, "NoSuchDistribution", "", fault.Transient},
		{"a list of distributions is never absent, in other words", listDists, 404, "EntityNotFound", "", fault.Transient},
		{"a group's name that is taken", createGroup, 409, "EntityAlreadyExists", "", fault.Exists},
		{"a group too many", createGroup, 400, "EntityLimitExceeded", "", fault.Quota},
		{"an Anycast list that is absent", createGroup, 404, "EntityNotFound", "", fault.Invalid},
		{"a group that is in use", updateGroup, 409, "ResourceInUse", "", fault.InUse},
		{"a group that is gone", updateGroup, 404, "EntityNotFound", "", fault.NotFound},
		{"a group that is on", removeGroup, 409, "ResourceNotDisabled", "", fault.NotDisabled},
		{"a group that has tenants, or is the default one", removeGroup, 409, "CannotDeleteEntityWhileInUse", "", fault.InUse},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := fmt.Sprintf("<ErrorResponse><Error><Code>%s</Code><Message>%s</Message></Error><RequestId>8f3c</RequestId></ErrorResponse>",
				tt.code, tt.message)
			client, _, _ := newClient(t, &canned.Transport{Status: tt.status, Body: body}, 100)
			err := call(t, client, tt.operation)
			got, ok := errors.AsType[*fault.Error](err)
			if !ok {
				t.Fatalf("error %v is not classified", err)
			}
			want := &fault.Error{Kind: tt.want, Operation: tt.operation, Code: tt.code, Message: tt.message}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(fault.Error{}, "Err")); diff != "" {
				t.Errorf("fault (-want +got):\n%s", diff)
			}
			if api, ok := errors.AsType[smithy.APIError](err); !ok || api.ErrorCode() != tt.code {
				t.Errorf("the cause is lost: %v", errors.Unwrap(err))
			}
		})
	}
}

func TestAPlain404IsShownWithItsStatus(t *testing.T) {
	client, _, _ := newClient(t, &canned.Transport{Status: http.StatusNotFound}, 100)
	err := call(t, client, "GetDistributionTenant")
	const want = "GetDistributionTenant: a response with status 404 and no error code"
	if err == nil || err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
}

// Everything that CloudFront can find wrong with a distribution is the fault of the request: to send the same again is
// of no use.
func TestEveryRefusalOfADistributionIsUnderstood(t *testing.T) {
	invalid := []string{
		"ContinuousDeploymentPolicyInUse", "IllegalFieldLevelEncryptionConfigAssociationWithCacheBehavior", "IllegalOriginAccessConfiguration",
		"IllegalUpdate", "InconsistentQuantities", "InvalidArgument", "InvalidDefaultRootObject", "InvalidDomainNameForOriginAccessControl",
		"InvalidErrorCode", "InvalidForwardCookies", "InvalidFunctionAssociation", "InvalidGeoRestrictionParameter", "InvalidHeadersForS3Origin",
		"InvalidLambdaFunctionAssociation", "InvalidLocationCode", "InvalidMinimumProtocolVersion", "InvalidOrigin", "InvalidOriginAccessControl",
		"InvalidOriginAccessIdentity", "InvalidOriginKeepaliveTimeout", "InvalidOriginReadTimeout", "InvalidProtocolSettings",
		"InvalidQueryStringParameters", "InvalidRelativePath", "InvalidRequiredProtocol", "InvalidResponseCode", "InvalidTTLOrder",
		"InvalidTagging", "InvalidViewerCertificate", "InvalidWebACLId", "MalformedInput", "MissingBody", "NoSuchCachePolicy",
		"NoSuchContinuousDeploymentPolicy", "NoSuchFieldLevelEncryptionConfig", "NoSuchOrigin", "NoSuchOriginRequestPolicy",
		"NoSuchRealtimeLogConfig", "NoSuchResponseHeadersPolicy", "RealtimeLogConfigOwnerMismatch", "StagingDistributionInUse",
		"TrustedKeyGroupDoesNotExist", "TrustedSignerDoesNotExist",
	}
	quota := []string{
		"TooManyCacheBehaviors", "TooManyCertificates", "TooManyDistributionCNAMEs", "TooManyDistributionsAssociatedToKeyGroup",
		"TooManyFunctionAssociations", "TooManyOriginCustomHeaders", "TooManyOrigins", "TooManyTrustedSigners",
	}
	for kind, codes := range map[fault.Kind][]string{fault.Invalid: invalid, fault.Quota: quota} {
		for _, code := range codes {
			for _, operation := range []string{"CreateDistributionWithTags", "UpdateDistribution"} {
				body := "<ErrorResponse><Error><Code>" + code + "</Code></Error></ErrorResponse>"
				client, _, _ := newClient(t, &canned.Transport{Status: http.StatusBadRequest, Body: body}, 10)
				if err := call(t, client, operation); fault.KindOf(err) != kind {
					t.Errorf("%v: %v, want %v", err, fault.KindOf(err), kind)
				}
			}
		}
	}
}
