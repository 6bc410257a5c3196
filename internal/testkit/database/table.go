package database

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// columns are those of every table, all but enabled texts.
var columns = []string{"name", "domain", "enabled", "connection_group_id", "plan", "slug"}

// TableOptions say how a table differs from the usual one.
type TableOptions struct {
	// JSON makes the values of Redis JSON documents instead of hashes.
	JSON bool
	// Writable lets the table's reader write, too. The operator should write nothing even with such a user.
	Writable bool
}

// Table is a table of customers, with a user of its own who may read it, and a wire of its own.
// Its methods are safe for concurrent use.
type Table struct {
	name           string
	number         int64
	options        TableOptions
	user, password string
	wire           *Wire
	// address is where readers connect.
	address string
	store   store
	// hangUp closes the port of the wire, where it has one of its own.
	hangUp func()
}

// store is what differs between the tables of the engines.
type store interface {
	query() mapping.Query
	put(ctx context.Context, rows []map[string]any) error
	remove(ctx context.Context, names []string) error
	truncate(ctx context.Context) error
	drop(ctx context.Context) error
	rename(ctx context.Context, from, to string) error
	// allow gives the reader its rights, or takes them.
	allow(ctx context.Context, allowed bool) error
	// show lets the reader see the rows, or none.
	show(ctx context.Context, visible bool) error
	exec(ctx context.Context, statement string) error
	// watch makes the engine tell of changes, and lets the reader listen. It returns the query of a listener.
	watch(ctx context.Context) (mapping.Query, error)
}

// NewTable makes an empty table. It goes with the engine; Close ends its wire before.
func (e *Engine) NewTable(ctx context.Context, o TableOptions) (*Table, error) {
	n := e.tables.Add(1)
	t := &Table{
		name: fmt.Sprintf("customers_%d", n), number: n, options: o,
		user: fmt.Sprintf("%s_user_%d", Canary, n), password: Canary + "_" + strings.ToLower(rand.Text()),
	}
	var err error
	if t.store, err = e.server.newTable(ctx, t); err != nil {
		return nil, fmt.Errorf("making a table in %s: %w", e.provider, err)
	}
	return t, nil
}

// Close ends the wire for good, with all connections of readers.
func (t *Table) Close() {
	if t.hangUp != nil {
		t.hangUp()
	}
}

// Name is the name of the table, the collection or, in Redis, of the prefix of its keys.
func (t *Table) Name() string { return t.name }

// Query reads the whole table as its reader.
func (t *Table) Query() mapping.Query { return t.store.query() }

// Watch makes the engine tell of changes of the table as the documentation of its provider says, and returns the query of
// a listener, which is also that of a reader.
func (t *Table) Watch(ctx context.Context) (mapping.Query, error) {
	q, err := t.store.watch(ctx)
	return q, t.wrap("watching", err)
}

// Wire is what lies between the readers and the engine.
func (t *Table) Wire() *Wire { return t.wire }

// Put stores rows: those whose name is there replace what is there. A column that a row doesn't have is NULL or
// absent. In Redis and MongoDB, "_key" is the key (or the _id), where it is not to be the name.
func (t *Table) Put(ctx context.Context, rows ...map[string]any) error {
	return t.wrap("putting rows into", t.store.put(ctx, rows))
}

// Remove removes the rows with these names.
func (t *Table) Remove(ctx context.Context, names ...string) error {
	return t.wrap("removing rows from", t.store.remove(ctx, names))
}

// Truncate removes all rows.
func (t *Table) Truncate(ctx context.Context) error {
	return t.wrap("emptying", t.store.truncate(ctx))
}

// Drop removes the table; in Redis, which has none, all its keys.
func (t *Table) Drop(ctx context.Context) error { return t.wrap("dropping", t.store.drop(ctx)) }

// RenameColumn gives a column, attribute or field another name in all rows.
func (t *Table) RenameColumn(ctx context.Context, from, to string) error {
	return t.wrap("renaming a column of", t.store.rename(ctx, from, to))
}

// Revoke takes the reader's rights.
func (t *Table) Revoke(ctx context.Context) error {
	return t.wrap("revoking the rights on", t.store.allow(ctx, false))
}

// Grant gives the reader back its rights.
func (t *Table) Grant(ctx context.Context) error {
	return t.wrap("granting the rights on", t.store.allow(ctx, true))
}

// HideRows lets reads succeed and see nothing: a privilege too few, an empty replica.
func (t *Table) HideRows(ctx context.Context) error {
	return t.wrap("hiding the rows of", t.store.show(ctx, false))
}

// ShowRows ends HideRows.
func (t *Table) ShowRows(ctx context.Context) error {
	return t.wrap("showing the rows of", t.store.show(ctx, true))
}

// Exec runs an SQL statement as the owner of the table.
func (t *Table) Exec(ctx context.Context, statement string) error {
	return t.wrap("changing", t.store.exec(ctx, statement))
}

// Throttle makes DynamoDB refuse the next n scans as too many; all of them when n is negative.
func (t *Table) Throttle(n int) error {
	d, ok := t.store.(*dynamoTable)
	if !ok {
		return fmt.Errorf("throttling %s: only DynamoDB does that", t.name)
	}
	d.throttle(n)
	return nil
}

// LoseLastKey makes DynamoDB's pages claim to be the last one. With damaged, they keep the checksum that
// they had, as what was changed on its way does.
func (t *Table) LoseLastKey(damaged bool) error {
	d, ok := t.store.(*dynamoTable)
	if !ok {
		return fmt.Errorf("losing the last key of %s: only DynamoDB has one", t.name)
	}
	d.loseLastKey(damaged)
	return nil
}

func (t *Table) wrap(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s %s: %w", what, t.name, err)
	}
	return nil
}

// chunks splits rows so that a statement stays within the limits of its engine.
func chunks[T any](all []T, size int, do func([]T) error) error {
	for len(all) > 0 {
		n := min(size, len(all))
		if err := do(all[:n]); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}
