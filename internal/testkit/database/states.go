package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

// StateTable is a state table, with a user of its own who may write it, and a wire of its own.
type StateTable struct {
	// Table is a table of customers that the same user may write, too.
	*Table

	name  string
	store stateStore
}

// stateStore is what a store has for state tables.
type stateStore interface {
	// define makes a state table.
	define(ctx context.Context, name string) error
	// permit gives the user the rights to read and write the table, to read it, or none.
	permit(ctx context.Context, name string, rights Rights) error
	// states are rows as the owner sees them, with the texts of their columns or fields. NULL is absent.
	states(ctx context.Context, name string, which selection) ([]map[string]string, error)
}

// selection are the rows of a source with some keys; all rows where there are no keys.
type selection struct {
	source string
	keys   []string
}

// where is the selection in SQL. Names and keys in tests have no backslashes.
func (s selection) where() string {
	if len(s.keys) == 0 {
		return ""
	}
	literal := func(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
	keys := make([]string, len(s.keys))
	for i, key := range s.keys {
		keys[i] = literal(key)
	}
	return fmt.Sprintf(" WHERE %s = %s AND %s IN (%s)", statetable.ColumnSource, literal(s.source), statetable.ColumnKey, strings.Join(keys, ", "))
}

// locker is a stateStore that can lock a row.
type locker interface {
	// lock holds the lock on a row until it is released.
	lock(ctx context.Context, name, source, key string) (release func() error, err error)
}

// Rights are those of a user on a state table.
type Rights int

// The rights.
const (
	NoRights Rights = iota
	ReadRights
	WriteRights
)

// NewStateTable makes an empty state table. It is there as long as the engine; Close ends its wire before.
func (e *Engine) NewStateTable(ctx context.Context) (*StateTable, error) {
	customers, err := e.NewTable(ctx, TableOptions{Writable: true})
	if err != nil {
		return nil, err
	}
	store, ok := customers.store.(stateStore)
	if !ok {
		customers.Close()
		return nil, fmt.Errorf("making a state table: there is none in %s", e.provider)
	}
	t := &StateTable{Table: customers, name: fmt.Sprintf("edge_state_%d", customers.number), store: store}
	if err := errors.Join(store.define(ctx, t.name), t.Permit(ctx, WriteRights)); err != nil {
		customers.Close()
		return nil, fmt.Errorf("making a state table in %s: %w", e.provider, err)
	}
	return t, nil
}

// Name is the name of the state table.
func (t *StateTable) Name() string { return t.name }

// Customers is the name of the table of customers.
func (t *StateTable) Customers() string { return t.Table.name }

// Target is the table for the rows of a source, as its user.
func (t *StateTable) Target(source string) statetable.Target {
	return statetable.Target{Query: t.Query(), Table: t.name, Source: source}
}

// Permit gives the user these rights on the state table, and takes all others.
func (t *StateTable) Permit(ctx context.Context, rights Rights) error {
	return t.wrap("granting rights on the states of", t.store.permit(ctx, t.name, rights))
}

// Rows are all rows as the owner sees them, with the texts of their columns or fields. NULL is absent.
func (t *StateTable) Rows(ctx context.Context) ([]map[string]string, error) {
	return t.RowsOf(ctx, "")
}

// RowsOf are the rows of a source with these keys, as Rows returns them. It is cheap where keys are few.
func (t *StateTable) RowsOf(ctx context.Context, source string, keys ...string) ([]map[string]string, error) {
	rows, err := t.store.states(ctx, t.name, selection{source, keys})
	return rows, t.wrap("reading the states of", err)
}

// Lock holds the lock on a row in a session of its own, in SQL databases.
func (t *StateTable) Lock(ctx context.Context, source, key string) (release func() error, err error) {
	l, ok := t.store.(locker)
	if !ok {
		return nil, errors.New("locking a row: the store has no locks")
	}
	return l.lock(ctx, t.name, source, key)
}

// sqlGrants are the rights in SQL.
var sqlGrants = map[Rights]string{ReadRights: "SELECT", WriteRights: "SELECT, INSERT, UPDATE, DELETE"}

func locking(d statetable.Dialect, name string) string {
	where := d.Delete(name)
	return "SELECT 1" + where[strings.Index(where, " FROM "):] + " FOR UPDATE"
}

const anyVersion = 1<<63 - 1

func (p *postgresTable) define(ctx context.Context, name string) error {
	return p.exec(ctx, statetable.Postgres.Definition(name))
}

func (p *postgresTable) permit(ctx context.Context, name string, rights Rights) error {
	if err := p.exec(ctx, fmt.Sprintf("REVOKE ALL ON %s FROM %s", name, p.t.user)); err != nil || rights == NoRights {
		return err
	}
	return p.exec(ctx, fmt.Sprintf("GRANT %s ON %s TO %s", sqlGrants[rights], name, p.t.user))
}

func (p *postgresTable) states(ctx context.Context, name string, which selection) ([]map[string]string, error) {
	owner, err := p.owner.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer owner.Release()
	results, err := owner.Conn().PgConn().Exec(ctx, "SELECT * FROM "+name+which.where()).ReadAll()
	if err != nil {
		return nil, err
	}
	var rows []map[string]string
	for _, values := range results[0].Rows {
		row := map[string]string{}
		for i, field := range results[0].FieldDescriptions {
			if values[i] != nil {
				row[field.Name] = string(values[i])
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (p *postgresTable) lock(ctx context.Context, name, source, key string) (func() error, error) {
	tx, err := p.owner.BeginTx(ctx, pgx.TxOptions{})
	if err != nil {
		return nil, err
	}
	release := func() error { return tx.Rollback(context.WithoutCancel(ctx)) }
	_, err = tx.Exec(ctx, locking(statetable.Postgres, name), source, key, int64(anyVersion))
	return release, err
}

func (m *mysqlTable) define(ctx context.Context, name string) error {
	return m.exec(ctx, statetable.MySQL.Definition(name))
}

func (m *mysqlTable) permit(ctx context.Context, name string, rights Rights) error {
	// To revoke what was never granted is an error.
	err := m.exec(ctx, fmt.Sprintf("GRANT SELECT ON %[1]s TO %[2]s@127.0.0.1; REVOKE ALL ON %[1]s FROM %[2]s@127.0.0.1", name, m.t.user))
	if err != nil || rights == NoRights {
		return err
	}
	return m.exec(ctx, fmt.Sprintf("GRANT %s ON %s TO %s@127.0.0.1", sqlGrants[rights], name, m.t.user))
}

func (m *mysqlTable) states(ctx context.Context, name string, which selection) ([]map[string]string, error) {
	found, err := m.owner.QueryContext(ctx, "SELECT * FROM "+name+which.where())
	if err != nil {
		return nil, err
	}
	defer found.Close()
	names, err := found.Columns()
	if err != nil {
		return nil, err
	}
	var rows []map[string]string
	for found.Next() {
		values, pointers := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range values {
			pointers[i] = &values[i]
		}
		if err := found.Scan(pointers...); err != nil {
			return nil, err
		}
		row := map[string]string{}
		for i, value := range values {
			if value.Valid {
				row[names[i]] = value.String
			}
		}
		rows = append(rows, row)
	}
	return rows, found.Err()
}

// lock takes a session of the table's user: the owner has only one, which other tables need.
func (m *mysqlTable) lock(ctx context.Context, name, source, key string) (func() error, error) {
	session, err := sql.Open("mysql", m.connection(m.address))
	if err != nil {
		return nil, err
	}
	tx, err := session.BeginTx(ctx, nil)
	if err != nil {
		return nil, errors.Join(err, session.Close())
	}
	release := func() error { return errors.Join(tx.Rollback(), session.Close()) }
	_, err = tx.ExecContext(ctx, locking(statetable.MySQL, name), source, key, int64(anyVersion))
	return release, err
}
