package aws

import (
	"bufio"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// errNotXML is the cause when a successful answer is no XML document of a service.
var errNotXML = errors.New("the response is not a document of the service")

// peeked is how much of an answer is searched for its root element.
const peeked = 1024

// RefusePages returns a change to the middlewares of an SDK client of a service that speaks
// XML: a check of every successful answer, but for the operations that are answered without
// a body. The SDK takes an empty body for an empty result, does not look at the root
// element, and ignores elements that it does not know: a proxy's login page, or nothing at
// all, would be an empty list.
func RefusePages(bodiless ...string) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Deserialize.Add(pageGuard{bodiless}, middleware.After)
	}
}

type pageGuard struct{ bodiless []string }

// ID implements middleware.DeserializeMiddleware.
func (pageGuard) ID() string { return "OperatorPageGuard" }

// HandleDeserialize implements middleware.DeserializeMiddleware.
func (g pageGuard) HandleDeserialize(
	ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
) (middleware.DeserializeOutput, middleware.Metadata, error) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	if err != nil || slices.Contains(g.bodiless, middleware.GetOperationName(ctx)) {
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

// startsDocument reports whether there is a root element, and whether it may be one of
// the service's. Which name it has exactly is not checked: the names are not documented.
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
