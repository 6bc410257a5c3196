package aws

import (
	"context"
	"errors"
	"net/url"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/smithy-go"
)

// ownCredentials are those of the operator. A failure to get them is a *fault.Error that names the service that gives
// them: as a failure of the call that needed them, it would be looked for in CloudFront.
type ownCredentials struct{ awssdk.CredentialsProvider }

// Retrieve implements aws.CredentialsProvider.
func (o ownCredentials) Retrieve(ctx context.Context) (awssdk.Credentials, error) {
	found, err := o.CredentialsProvider.Retrieve(ctx)
	return found, Table{}.Classify(opCredentials+credentialsFrom(err), err)
}

const opCredentials = "getting credentials"

// credentialsFrom says which service did not give credentials, and its host where that is known.
func credentialsFrom(err error) string {
	var text string
	service, host := innermostService(err), hostOf(err)
	_, answered := errors.AsType[smithy.APIError](err)
	switch {
	case service == imds.ServiceID:
		text = " from EC2 instance metadata"
	case service != "":
		text = " from " + service
	case host != "" || answered:
		// The only client of the SDK whose errors do not name the service.
		text = " from the EKS Pod Identity agent"
	}
	if host != "" {
		text += " (" + host + ")"
	}
	return text
}

func innermostService(err error) string {
	service := ""
	for op, ok := errors.AsType[*smithy.OperationError](err); ok; op, ok = errors.AsType[*smithy.OperationError](op.Err) {
		service = op.ServiceID
	}
	return service
}

// hostOf is the host of a request without an answer.
func hostOf(err error) string {
	sent, ok := errors.AsType[*url.Error](err)
	if !ok {
		return ""
	}
	address, err := url.Parse(sent.URL)
	if err != nil {
		return ""
	}
	return address.Hostname()
}
