package writer

import (
	"context"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

// compare notes the rows that do not say what they should.
func (w *Writer) compare(ctx context.Context) error {
	objects, err := w.Fleet.All(ctx)
	if err != nil {
		return err
	}
	// The check of what writes says better what is wrong with a table than what reads.
	if _, err := w.Table.Write(ctx, nil); err != nil {
		return err
	}
	c := comparison{Writer: w, want: map[string]wanted{}}
	for i := range objects {
		row := &objects[i].Row
		c.want[row.Key] = wanted{row.Name, objects[i].Known, row.Digest()}
		c.newest = max(c.newest, row.Version)
	}
	if err := w.Table.Read(ctx, &c); err != nil {
		return err
	}
	for key, o := range c.want {
		if o.known {
			w.Differ(key, o.name)
		}
	}
	return c.forget(ctx)
}

// comparison is a sink for the rows of the table.
type comparison struct {
	*Writer

	// want has the objects of whose rows none was found yet.
	want map[string]wanted
	// newest is the highest version of an object; ahead are rows with a higher one.
	newest int64
	ahead  []statetable.Row
}

type wanted struct {
	name   string
	known  bool
	digest statetable.Digest
}

// Columns implements mapping.Sink.
func (c *comparison) Columns([]mapping.Column) error { return nil }

// Row implements mapping.Sink.
func (c *comparison) Row(row mapping.Row) error {
	found := statetable.FoundIn(row)
	if found.Version > c.newest {
		c.ahead = append(c.ahead, statetable.Row{Source: c.Source, Key: found.Key, Name: found.Name, Version: found.Version})
	}
	o, there := c.want[found.Key]
	delete(c.want, found.Key)
	switch {
	case there && o.known && o.digest != found.Digest:
		c.Differ(found.Key, o.name)
	case !there && (c.Removes || !found.Gone):
		c.Differ(found.Key, found.Name)
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
	for _, row := range c.ahead {
		if row.Version > now {
			changes = append(changes, statetable.Change{Row: row, Remove: true})
			c.Differ(row.Key, row.Name)
		}
	}
	if len(changes) == 0 {
		return nil
	}
	if _, err := c.Table.Write(ctx, changes); err != nil {
		return err
	}
	return nil
}
