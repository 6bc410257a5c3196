package writer

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

// compareNow compares the table. One that can be written, but not be read, is compared later: its rows are written meanwhile.
func (w *Writer) compareNow(ctx context.Context) error {
	leave, err := w.Enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	// The check of what writes says better what is wrong with a table than what reads.
	if _, err := w.Table.Write(ctx, nil); err != nil {
		return err
	}
	if w.why = w.compareTable(ctx); w.why != nil {
		w.uncompared++
		w.compare = w.Now().Add(comparisons.Delay(w.uncompared))
		return nil
	}
	w.uncompared, w.compare = 0, w.Now().Add(compareEvery)
	return nil
}

// compareTable notes the rows that do not say what they should.
func (w *Writer) compareTable(ctx context.Context) error {
	objects, err := w.Fleet.All(ctx)
	if err != nil {
		return err
	}
	c := comparison{Writer: w, want: map[string]Object{}}
	for _, o := range objects {
		if other, twice := c.want[o.Row.Key]; !twice || o.Before(other) {
			c.want[o.Row.Key] = o
		}
		c.newest = max(c.newest, o.Row.Version)
	}
	if err := w.Table.Read(ctx, &c); err != nil {
		return err
	}
	for key, o := range c.want {
		if o.Known {
			w.Differ(key, o.Row.Name)
		}
	}
	for _, found := range c.differ {
		w.Differ(found.Key, found.Name)
	}
	return c.forget(ctx)
}

// comparison is a sink for the rows of the table.
type comparison struct {
	*Writer

	// want has the objects of whose rows none was found yet. found is how many rows were, and differ are those that say something else.
	want   map[string]Object
	found  int
	differ []statetable.Found
	// newest is the highest version of an object; ahead are rows with a higher one.
	newest int64
	ahead  []statetable.Found
}

// Columns implements mapping.Sink.
func (c *comparison) Columns([]mapping.Column) error { return nil }

// Row implements mapping.Sink.
func (c *comparison) Row(row mapping.Row) error {
	found := statetable.FoundIn(row)
	if c.found++; c.MaxRows > 0 && c.found > c.MaxRows {
		return fmt.Errorf("the state table has more than %d rows of this source: delete those with the state %s", c.MaxRows, statetable.Gone)
	}
	if found.Name == "" || utf8.RuneCountInString(found.Key) > statetable.LongestID {
		return nil // the operator has written no such row
	}
	if found.Version > c.newest {
		c.ahead = append(c.ahead, found)
	}
	o, there := c.want[found.Key]
	delete(c.want, found.Key)
	switch {
	case there && o.Known && o.Row.Digest() != found.Digest:
		found.Name = o.Row.Name
		c.differ = append(c.differ, found)
	case !there && (c.Removes || !found.Gone):
		c.differ = append(c.differ, found)
	}
	return nil
}

// forget removes rows with a version that the API server has not reached yet: they are from a time before its data was
// restored, and would never be replaced.
func (c *comparison) forget(ctx context.Context) error {
	if len(c.ahead) == 0 {
		return nil
	}
	now, _, err := c.Fleet.Missed(ctx, "")
	if err != nil {
		return err
	}
	var changes []statetable.Change
	for _, found := range c.ahead {
		if found.Version > now {
			row := statetable.Row{Source: c.Source, Key: found.Key, Name: found.Name, Version: found.Version}
			changes = append(changes, statetable.Change{Row: row, Remove: true})
			c.Differ(found.Key, found.Name)
		}
	}
	for some := range slices.Chunk(changes, batch) {
		if _, err := c.Table.Write(ctx, some); err != nil {
			return err
		}
	}
	return nil
}
