package tenantsource_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	controller "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/controller/tenantsource"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// dripping is a table with pauses: before each of its rows, and before its end.
type dripping []time.Duration

func (d dripping) Read(ctx context.Context, _ mapping.Query, sink mapping.Sink) error {
	for i, pause := range d {
		pause, cancel := context.WithTimeout(ctx, pause)
		<-pause.Done()
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if i == len(d)-1 {
			break
		}
		if err := sink.Row(mapping.Row{}); err != nil {
			return err
		}
	}
	return nil
}

// counted is a sink.
type counted struct{ rows int }

func (c *counted) Columns([]mapping.Column) error { return nil }
func (c *counted) Row(mapping.Row) error          { c.rows++; return nil }

func TestTheFirstRowIsDueSoon(t *testing.T) {
	const due = 15 * time.Second
	for name, tt := range map[string]struct {
		table dripping
		due   time.Duration
		rows  int
		err   error
	}{
		"a first row that does not come ends the read":          {table: dripping{time.Hour, 0}, due: due, err: controller.ErrNoRow},
		"no row and no end are as much":                         {table: dripping{time.Hour}, due: due, err: controller.ErrNoRow},
		"after the first row a table has the whole time":        {table: dripping{due - 1, time.Minute, time.Minute}, due: due, rows: 2},
		"a table without rows has to end in time":               {table: dripping{due - 1}, due: due},
		"the end of the whole time is not that of the first":    {table: dripping{0, time.Hour}, due: due, rows: 1, err: context.DeadlineExceeded},
		"without a bound the first row may take the whole time": {table: dripping{time.Minute, 0}, rows: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()
				var sink counted
				err := controller.Promptly(ctx, tt.due, tt.table, mapping.Query{}, &sink)
				if !errors.Is(err, tt.err) || sink.rows != tt.rows {
					t.Errorf("%d rows, error %v; want %d, %v", sink.rows, err, tt.rows, tt.err)
				}
			})
		})
	}
}
