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

// fence refuses an operation that may change something, while nothing may be changed. It comes right before the request is
// sent: one that was prepared before the process was paused is not sent after it.
//
// The rules of all kinds see to a halt before. This is for a way that one of them has forgotten, and for a replica that may not
// be the leader any longer.
type fence struct{ halted func() *chain.Halt }

// ID implements middleware.FinalizeMiddleware.
func (fence) ID() string { return "OperatorFence" }

// HandleFinalize implements middleware.FinalizeMiddleware.
func (f fence) HandleFinalize(
	ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
) (middleware.FinalizeOutput, middleware.Metadata, error) {
	operation := middleware.GetOperationName(ctx)
	if f.halted == nil || slices.ContainsFunc(reads, func(prefix string) bool { return strings.HasPrefix(operation, prefix) }) {
		return next.HandleFinalize(ctx, in)
	}
	if h := f.halted(); h != nil {
		return middleware.FinalizeOutput{}, middleware.Metadata{}, &fault.Error{
			Kind: fault.Throttled, Operation: operation, Code: CodeHalted, Message: h.Message, RetryAfter: haltedFor,
		}
	}
	return next.HandleFinalize(ctx, in)
}
