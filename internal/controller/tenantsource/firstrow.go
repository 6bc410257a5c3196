package tenantsource

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/tenantsource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

var errNoRow = errors.New("no row has come in time")

// prompt is a sink that stops the clock of the first row.
type prompt struct {
	mapping.Sink

	clock *time.Timer
}

// Row implements mapping.Sink.
func (s prompt) Row(row mapping.Row) error {
	s.clock.Stop()
	return s.Sink.Row(row)
}

// promptly reads a table, and breaks off if its first row is not there when it is due. A database that hangs, or a scan that
// finds nothing, would keep its slot for as long as a large table may take. Zero is no bound.
func promptly(ctx context.Context, due time.Duration, rows port.Rows, q mapping.Query, sink mapping.Sink) error {
	if due <= 0 {
		return rows.Read(ctx, q, sink)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	clock := time.AfterFunc(due, func() { cancel(errNoRow) })
	defer clock.Stop()
	err := rows.Read(ctx, q, prompt{sink, clock})
	if err != nil && errors.Is(context.Cause(ctx), errNoRow) {
		return errNoRow
	}
	return err
}

// late says what took too long, or nil if a read failed for another reason.
func (c *Controller) late(err error) *tenantsource.Failure {
	var message string
	switch {
	case errors.Is(err, errNoRow):
		message = fmt.Sprintf("The first row did not come within %s: check the database, make the query or the filter faster, "+
			"or ask the administrator to raise --tenantsource-first-row-timeout", c.FirstRowTimeout)
	case errors.Is(err, context.DeadlineExceeded):
		message = fmt.Sprintf("The table could not be read completely within %s: make the query faster, or ask the "+
			"administrator to raise --tenantsource-read-timeout", c.ReadTimeout)
	default:
		return nil
	}
	return &tenantsource.Failure{Reason: tenantsource.PollFailed, Message: message}
}
