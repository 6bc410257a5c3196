package cloudfront

import (
	"bufio"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// errNotXML is the cause when a successful answer is no XML document of CloudFront's.
var errNotXML = errors.New("the answer is not a document of CloudFront's")

// peeked is how much of an answer is searched for its root element.
const peeked = 1024

// refusePages adds a check of every successful answer. The SDK takes an empty body for
// an empty result, does not look at the root element, and ignores elements that it does
// not know: a proxy's login page, or nothing at all, would be a list without tenants.
func refusePages(stack *middleware.Stack) error {
	return stack.Deserialize.Add(pageGuard{}, middleware.After)
}

type pageGuard struct{}

// ID implements middleware.DeserializeMiddleware.
func (pageGuard) ID() string { return "OperatorPageGuard" }

// HandleDeserialize implements middleware.DeserializeMiddleware.
func (pageGuard) HandleDeserialize(
	ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
) (middleware.DeserializeOutput, middleware.Metadata, error) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	if err != nil || !answersWithDocument(middleware.GetOperationName(ctx)) {
		return out, metadata, err
	}
	response, ok := out.RawResponse.(*smithyhttp.Response)
	if !ok || response.StatusCode < http.StatusOK || response.StatusCode >= http.StatusMultipleChoices {
		return out, metadata, nil
	}
	body := bufio.NewReaderSize(response.Body, peeked)
	start, readErr := body.Peek(peeked)
	if readErr != nil && !errors.Is(readErr, io.EOF) {
		return out, metadata, &smithy.DeserializationError{Err: readErr}
	}
	if !startsDocument(start) {
		return out, metadata, &smithy.DeserializationError{Err: errNotXML, Snapshot: start}
	}
	response.Body = bufferedBody{Reader: body, Closer: response.Body}
	return out, metadata, nil
}

type bufferedBody struct {
	io.Reader
	io.Closer
}

func answersWithDocument(operation string) bool {
	switch operation {
	case opDelete, opTag, opUntag:
		return false
	}
	return true
}

// startsDocument reports whether there is a root element, and whether it may be one of
// CloudFront's. Which name it has exactly is not checked: the names are not documented.
func startsDocument(start []byte) bool {
	decoder := xml.NewDecoder(bytes.NewReader(start))
	for {
		token, err := decoder.Token()
		if err != nil {
			return false
		}
		if root, ok := token.(xml.StartElement); ok {
			return !strings.EqualFold(root.Name.Local, "html")
		}
	}
}
