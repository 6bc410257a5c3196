package dynamodb

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"strconv"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

var errChecksum = errors.New("the response does not match its checksum")

// refuseDamage checks every answer as a whole before anything is taken from it.
func refuseDamage(stack *middleware.Stack) error {
	return stack.Deserialize.Add(intact{}, middleware.After)
}

type intact struct{}

// ID implements middleware.DeserializeMiddleware.
func (intact) ID() string { return "OperatorIntact" }

// HandleDeserialize implements middleware.DeserializeMiddleware.
func (intact) HandleDeserialize(
	ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
) (middleware.DeserializeOutput, middleware.Metadata, error) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	if err != nil {
		return out, metadata, err
	}
	response, ok := out.RawResponse.(*smithyhttp.Response)
	if !ok {
		return out, metadata, nil
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(body))
	if err == nil && !sound(body, response.Header.Get("X-Amz-Crc32")) {
		err = errChecksum
	}
	if err != nil {
		return out, metadata, &smithy.DeserializationError{Err: err}
	}
	return out, metadata, nil
}

// sound compares the checksum. A substitute for DynamoDB in tests may send none.
func sound(body []byte, checksum string) bool {
	if checksum == "" {
		return true
	}
	want, err := strconv.ParseUint(checksum, 10, 32)
	return err == nil && crc32.ChecksumIEEE(body) == uint32(want)
}
