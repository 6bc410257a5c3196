package aws

import (
	"slices"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// CodeHalted is the code of a change that is refused because nothing may be changed. It never comes from AWS.
const CodeHalted = "Halted"

// haltedFor is when a caller whose change was refused comes back, unless the release wakes it before.
const haltedFor = 5 * time.Second

// reads are how the names of the operations begin that change nothing. All other operations may change something.
var reads = []string{"Get", "List", "Describe", "AssumeRole"}

// refuse refuses an operation that may change something, while nothing may be changed. The rules of all kinds see to
// that before; this is for a way that one of them has forgotten.
func (l *Limiter) refuse(operation string) error {
	if l.halted == nil || slices.ContainsFunc(reads, func(prefix string) bool { return strings.HasPrefix(operation, prefix) }) {
		return nil
	}
	h := l.halted()
	if h == nil {
		return nil
	}
	return &fault.Error{Kind: fault.Throttled, Operation: operation, Code: CodeHalted, Message: h.Message, RetryAfter: haltedFor}
}
