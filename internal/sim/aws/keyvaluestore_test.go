package aws_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudfrontkeyvaluestore"
	"github.com/aws/smithy-go"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// The SDK writes, reads and deletes single keys, as people do with the AWS CLI, and sees what AWS refuses.
func TestSingleKeys(t *testing.T) {
	const arn = "arn:aws:cloudfront::111122223333:key-value-store/a"
	seed := sim.DefaultSeed()
	seed.KeyValueStores = []sim.SeedKeyValueStore{{ARN: arn}}
	account := sim.New(sim.Options{Seed: &seed})
	c := sdk.New(sdk.Options{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("AKIA", "secret", ""),
		HTTPClient: &http.Client{Transport: account.Transport()}, RetryMaxAttempts: 1,
	})
	before, err := c.DescribeKeyValueStore(t.Context(), &sdk.DescribeKeyValueStoreInput{KvsARN: awssdk.String(arn)})
	if err != nil {
		t.Fatal(err)
	}
	key := awssdk.String("a/b c")
	put, err := c.PutKey(t.Context(), &sdk.PutKeyInput{KvsARN: awssdk.String(arn), IfMatch: before.ETag, Key: key, Value: awssdk.String("v")})
	if err != nil || *put.ItemCount != 1 {
		t.Fatalf("%+v, %v", put, err)
	}
	if got, err := c.GetKey(t.Context(), &sdk.GetKeyInput{KvsARN: awssdk.String(arn), Key: key}); err != nil || *got.Value != "v" {
		t.Errorf("%+v, %v", got, err)
	}
	code := func(err error) string {
		if api, ok := errors.AsType[smithy.APIError](err); ok {
			return api.ErrorCode()
		}
		return ""
	}
	if _, err := c.DeleteKey(t.Context(), &sdk.DeleteKeyInput{KvsARN: awssdk.String(arn), IfMatch: before.ETag, Key: key}); code(err) != "ConflictException" {
		t.Errorf("with the version before: %v", err)
	}
	if _, err := c.DeleteKey(t.Context(), &sdk.DeleteKeyInput{KvsARN: awssdk.String(arn), IfMatch: put.ETag, Key: key}); err != nil {
		t.Error(err)
	}
	if _, err := c.GetKey(t.Context(), &sdk.GetKeyInput{KvsARN: awssdk.String(arn), Key: key}); code(err) != "ResourceNotFoundException" {
		t.Errorf("a key that was deleted: %v", err)
	}
	if err := account.SetLimits(sim.Limit{Operation: "GetKey"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.GetKey(t.Context(), &sdk.GetKeyInput{KvsARN: awssdk.String(arn), Key: key}); code(err) != "ThrottlingException" {
		t.Errorf("too many calls: %v", err)
	}
	if _, err := sim.ParseSeed("seed", []byte(`keyValueStores: [{arn: routes}]`)); err == nil || !strings.Contains(err.Error(), "key-value-store/<id>") {
		t.Errorf("a seed with another ARN: %v", err)
	}
}
