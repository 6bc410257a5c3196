package cloudfront

import (
	"errors"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// The operations, as the SDK and IAM call them.
const (
	opCreate         = "CreateDistributionTenant"
	opGet            = "GetDistributionTenant"
	opGetByDomain    = "GetDistributionTenantByDomain"
	opUpdate         = "UpdateDistributionTenant"
	opMoveDomain     = "UpdateDomainAssociation"
	opDelete         = "DeleteDistributionTenant"
	opList           = "ListDistributionTenants"
	opListTags       = "ListTagsForResource"
	opTag            = "TagResource"
	opUntag          = "UntagResource"
	opGetCertificate = "GetManagedCertificateDetails"
	opGetDist        = "GetDistribution"
	opListGroups     = "ListConnectionGroups"
)

// errorTable classifies CloudFront's error codes. A code that is not listed is transient;
// throttles and refused credentials are the same for every service.
var errorTable = aws.Table{
	Codes: map[string]fault.Kind{
		"PreconditionFailed":    fault.Conflict,
		"InvalidIfMatchVersion": fault.Conflict,

		"EntityAlreadyExists":       fault.Exists,
		"DistributionAlreadyExists": fault.Exists,
		// Without this line it would begin like what is invalid.
		"InvalidationBatchAlreadyExists": fault.Exists,

		"CNAMEAlreadyExists": fault.DomainTaken,

		"EntityNotFound":            fault.NotFound,
		"NoSuchInvalidation":        fault.NotFound,
		"NoSuchResource":            fault.NotFound,
		"NoSuchDistribution":        fault.NotFound,
		"ResourceNotFoundException": fault.NotFound,

		"ResourceNotDisabled":     fault.NotDisabled,
		"DistributionNotDisabled": fault.NotDisabled,

		"CannotDeleteEntityWhileInUse": fault.InUse,
		"ResourceInUse":                fault.InUse,

		// Codes that start with TooMany are quotas without standing here.
		"EntityLimitExceeded": fault.Quota,
		// This one has room again once the invalidations in progress have ended.
		"TooManyInvalidationsInProgress": fault.Quota,

		"BatchTooLarge":          fault.Invalid,
		"InconsistentQuantities": fault.Invalid,
		"MalformedInput":         fault.Invalid,
		"MalformedXML":           fault.Invalid,
		"MissingBody":            fault.Invalid,
		"ValidationError":        fault.Invalid,
		"ValidationException":    fault.Invalid,

		// What a distribution refers to and can't have.
		"ContinuousDeploymentPolicyInUse":  fault.Invalid,
		"NoSuchCachePolicy":                fault.Invalid,
		"NoSuchContinuousDeploymentPolicy": fault.Invalid,
		"NoSuchFieldLevelEncryptionConfig": fault.Invalid,
		"NoSuchOrigin":                     fault.Invalid,
		"NoSuchOriginRequestPolicy":        fault.Invalid,
		"NoSuchRealtimeLogConfig":          fault.Invalid,
		"NoSuchResponseHeadersPolicy":      fault.Invalid,
		"RealtimeLogConfigOwnerMismatch":   fault.Invalid,
		"StagingDistributionInUse":         fault.Invalid,
		"TrustedKeyGroupDoesNotExist":      fault.Invalid,
		"TrustedSignerDoesNotExist":        fault.Invalid,
	},
	// CloudFront has dozens of codes for as many members of a distribution, such as InvalidOrigin
	// and IllegalUpdate, and adds one with every new member.
	Prefixes: map[string]fault.Kind{"Invalid": fault.Invalid, "Illegal": fault.Invalid},
	Operations: map[string]map[string]fault.Kind{
		// If something is not found during a create, it is something that the request refers to.
		opCreate:      {"EntityNotFound": fault.Invalid, "NoSuchDistribution": fault.Invalid},
		opCreateDist:  {"EntityNotFound": fault.Invalid, "NoSuchDistribution": fault.Invalid},
		opCreateGroup: {"EntityNotFound": fault.Invalid},
		// An absent distribution has a code of its own.
		opUpdateDist: {"EntityNotFound": fault.Invalid},
		// A list is never absent: this error says nothing about tenants.
		opList:       {"EntityNotFound": fault.Transient, "NoSuchDistribution": fault.Transient},
		opListGroups: {"EntityNotFound": fault.Transient},
		opListDists:  {"EntityNotFound": fault.Transient, "NoSuchDistribution": fault.Transient},
	},
	Texts: []aws.Text{
		// CloudFront has one code for a domain whose control it can't prove, which DNS fixes within minutes, and for
		// mistakes that only a user can fix. Only the text tells them apart.
		{Code: "InvalidArgument", Contains: "verify domain name ownership", Kind: fault.DomainUnverified},
	},
}

// pointsElsewhere is, in lower case, how CloudFront says that it refuses a domain for its DNS. The code is the same as
// for a domain that another resource has.
const pointsElsewhere = "points to another cloudfront distribution"

func classify(operation string, err error) error {
	classified := errorTable.Classify(operation, err)
	if e, ok := errors.AsType[*fault.Error](classified); ok && e.Kind == fault.DomainTaken {
		e.PointsElsewhere = strings.Contains(strings.ToLower(e.Message), pointsElsewhere)
	}
	return classified
}

// present refuses a pointer that the SDK left nil because its element was missing.
func present[T any](operation, what string, value *T) error {
	if value == nil {
		return aws.Unreadable(operation, what)
	}
	return nil
}
