// Package paging is about lists that are read page by page.
package paging

import (
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/retry"
)

// Retries is the patience with one page: of a hundred pages a few fail on any day, and a listing that began again each
// time would never see the end.
const Retries = 5

// Pause is the pause before a page is requested again.
var Pause = retry.Backoff{First: 2 * time.Second, Last: 32 * time.Second}

// Guard knows the markers of the pages of one list. Its zero value knows none.
type Guard struct{ seen map[string]bool }

// Pass notes the marker of the next page, which is empty on the last. It is an error if that marker was seen before:
// the list would be read forever.
func (g *Guard) Pass(operation, next string) error {
	if g.seen[next] {
		return &fault.Error{Kind: fault.Transient, Operation: operation, Message: "AWS returned the same page of the list twice"}
	}
	if g.seen == nil {
		g.seen = map[string]bool{}
	}
	if next != "" {
		g.seen[next] = true
	}
	return nil
}
