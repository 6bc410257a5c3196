package aws

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/smithy-go/middleware"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// CodeHalted is the code of a change that is refused because nothing may be changed. It never comes from AWS.
const CodeHalted = "Halted"

// haltedFor is when a caller whose change was refused comes back, unless the release wakes it before.
const haltedFor = 5 * time.Second

// reads are how the names of the operations begin that change nothing. All other operations may change something.
var reads = []string{"Get", "List", "Describe", "AssumeRole", "Query", "Scan", "BatchGet"}

// refuse refuses an operation that may change something, while nothing may be changed. The rules of all kinds see to that
// before; this is for a way that one of them has forgotten, and for a replica that may not be the leader any longer.
func refuse(operation string, halted func() *chain.Halt) error {
	if halted == nil || slices.ContainsFunc(reads, func(prefix string) bool { return strings.HasPrefix(operation, prefix) }) {
		return nil
	}
	h := halted()
	if h == nil {
		return nil
	}
	return &fault.Error{Kind: fault.Throttled, Operation: operation, Code: CodeHalted, Message: h.Message, RetryAfter: haltedFor}
}

// fence asks once more right before the request is sent: one that was prepared before the process was paused is not sent after
// it.
type fence struct{ halted func() *chain.Halt }

// ID implements middleware.FinalizeMiddleware.
func (fence) ID() string { return "OperatorFence" }

// HandleFinalize implements middleware.FinalizeMiddleware.
func (f fence) HandleFinalize(
	ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
) (middleware.FinalizeOutput, middleware.Metadata, error) {
	if err := refuse(middleware.GetOperationName(ctx), f.halted); err != nil {
		return middleware.FinalizeOutput{}, middleware.Metadata{}, err
	}
	return next.HandleFinalize(ctx, in)
}
