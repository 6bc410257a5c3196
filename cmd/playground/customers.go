package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

// noDatabase is the provider that leaves the table of customers out.
const noDatabase = "none"

// customersDatabase is the database with the table, and stateTable is the table that the operator writes.
const (
	customersDatabase = "customers"
	stateTable        = "edge_state"
)

// customers is the database with the table that a TenantSource follows.
type customers struct {
	product
	engine *database.Engine
	// owner, reader and writer are connection strings: ours, and the operator's for the customers and for their states.
	owner, reader, writer string
}

// product is a kind of database. Each statement has a counterpart in the others.
type product struct {
	provider mapping.Provider
	name     string
	// prepare makes empty tables, and fills in the connection strings.
	prepare func(ctx context.Context, address string, c *customers) error
	fill    func(rows []customer) string
	// The others are what the demo shows and does.
	all, gold, insert, update, remove, empty, states string
	// spec is the source's own part of a TenantSource.
	spec string
}

// customer is a row.
type customer struct{ name, domain, plan string }

// The customers that the demo changes.
const (
	newcomer = "customer-26"
	upgraded = "customer-02"
	leaver   = "customer-11"
)

func newCustomer(i int) customer {
	name := fmt.Sprintf("customer-%02d", i)
	return customer{name: name, domain: name + ".example.com", plan: map[bool]string{true: "gold", false: "basic"}[i%7 == 4]}
}

var postgres = product{
	provider: mapping.Postgres, name: "PostgreSQL", prepare: preparePostgres,
	fill: func(rows []customer) string {
		values := make([]string, len(rows))
		for i, c := range rows {
			values[i] = fmt.Sprintf("('%s', '%s', '%s')", c.name, c.domain, c.plan)
		}
		return "INSERT INTO customers VALUES " + strings.Join(values, ", ")
	},
	all:    "SELECT * FROM customers",
	gold:   "SELECT * FROM customers WHERE plan = 'gold'",
	insert: "INSERT INTO customers VALUES ('" + newcomer + "', '" + newcomer + ".example.com', 'gold')",
	update: "UPDATE customers SET plan = 'gold' WHERE name = '" + upgraded + "'",
	remove: "DELETE FROM customers WHERE name = '" + leaver + "'",
	empty:  "DELETE FROM customers",
	states: "SELECT row_key, state, ready, message FROM edge_state ORDER BY row_key LIMIT 3",
	spec: `    query: SELECT name, domain, plan FROM customers
`,
}

// mongoDB needs nothing but Go: it is a FerretDB, which speaks the protocol.
var mongoDB = product{
	provider: mapping.MongoDB, name: "MongoDB", prepare: prepareMongoDB,
	fill: func(rows []customer) string {
		documents := make([]string, len(rows))
		for i, c := range rows {
			documents[i] = document(c)
		}
		return `{"insert": "customers", "documents": [` + strings.Join(documents, ", ") + `]}`
	},
	all:    `{"find": "customers"}`,
	gold:   `{"find": "customers", "filter": {"plan": "gold"}}`,
	insert: `{"insert": "customers", "documents": [` + document(customer{newcomer, newcomer + ".example.com", "gold"}) + `]}`,
	update: `{"update": "customers", "updates": [{"q": {"name": "` + upgraded + `"}, "u": {"$set": {"plan": "gold"}}}]}`,
	remove: `{"delete": "customers", "deletes": [{"q": {"name": "` + leaver + `"}, "limit": 1}]}`,
	empty:  `{"delete": "customers", "deletes": [{"q": {}, "limit": 0}]}`,
	states: `{"find": "edge_state", "projection": {"_id": 0, "row_key": 1, "state": 1, "ready": 1, "message": 1}, "sort": {"row_key": 1}, "limit": 3}`,
	spec: `    database: ` + customersDatabase + `
    collection: customers
`,
}

func document(c customer) string {
	return fmt.Sprintf(`{"_id": %q, "name": %q, "domain": %q, "plan": %q}`, c.name, c.name, c.domain, c.plan)
}

// startCustomers starts the database that was asked for. If none was, it is PostgreSQL or its replacement, and the rest
// of the story needs neither.
func (w *world) startCustomers(ctx context.Context) error {
	began := time.Now()
	var err error
	switch mapping.Provider(w.config.database) {
	case noDatabase:
		return nil
	case mapping.Postgres:
		err = w.startProduct(ctx, postgres)
	case mapping.MongoDB:
		err = w.startMongoDB(ctx)
	default:
		if err = w.startProduct(ctx, postgres); err != nil && ctx.Err() == nil {
			w.say.line("%-14s not available: %s", postgres.name, firstLine(err))
			began = time.Now()
			err = w.startMongoDB(ctx)
		}
		if err != nil && ctx.Err() == nil {
			w.say.line("%-14s not available: %s", mongoDB.name, firstLine(err))
			return nil
		}
	}
	if err != nil {
		return err
	}
	w.say.line("%-14s %s, ready after %s", w.customers.name, hostOf(w.customers.owner), since(began))
	return nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

func hostOf(address string) string {
	to, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return to.Host
}

// startMongoDB starts a FerretDB, and builds it first unless the tests have.
func (w *world) startMongoDB(ctx context.Context) error {
	if err := w.startProduct(ctx, mongoDB); err == nil || ctx.Err() != nil {
		return err
	}
	w.say.line("%-14s building FerretDB; the first build takes two minutes", mongoDB.name)
	err := w.goTool(ctx, w.say, "-C", filepath.Join(w.root, "hack", "ferretdb"), "build", "-ldflags=-s -w", "-o", filepath.Join(w.bin(), "ferretdb"), ".")
	if err != nil {
		return fmt.Errorf("building FerretDB: %w", err)
	}
	if err := os.Setenv("DATABASE_ASSETS", w.bin()); err != nil { // where the engine is looked for
		return fmt.Errorf("setting DATABASE_ASSETS: %w", err)
	}
	return w.startProduct(ctx, mongoDB)
}

func (w *world) startProduct(ctx context.Context, p product) error {
	engine, err := database.Start(ctx, p.provider, database.Options{Guard: w.guard})
	if err != nil {
		return err
	}
	c := &customers{product: p, engine: engine}
	if err := p.prepare(ctx, engine.Owner(), c); err != nil {
		return errors.Join(fmt.Errorf("preparing %s: %w", p.name, err), engine.Stop())
	}
	w.customers = c
	return nil
}

func preparePostgres(ctx context.Context, address string, c *customers) (err error) {
	reader, writer := strings.ToLower(rand.Text()), strings.ToLower(rand.Text())
	for into, user := range map[*string]*url.Userinfo{
		&c.owner: nil, &c.reader: url.UserPassword("tenant_source", reader), &c.writer: url.UserPassword("edge_state", writer),
	} {
		if *into, err = inDatabase(address, user); err != nil {
			return err
		}
	}
	if _, err = query(ctx, address, "CREATE DATABASE "+customersDatabase); err != nil {
		return err
	}
	_, err = query(ctx, c.owner, `CREATE TABLE customers (name text PRIMARY KEY, domain text NOT NULL, plan text NOT NULL DEFAULT 'basic');
		CREATE ROLE tenant_source LOGIN PASSWORD '`+reader+`';
		GRANT SELECT ON customers TO tenant_source;
		CREATE ROLE edge_state LOGIN PASSWORD '`+writer+`';`+
		statetable.Postgres.Definition(stateTable)+`
		GRANT SELECT, INSERT, UPDATE, DELETE ON `+stateTable+` TO edge_state`)
	return err
}

// prepareMongoDB creates no user: a FerretDB asks for no password.
func prepareMongoDB(ctx context.Context, address string, c *customers) (err error) {
	if c.owner, err = inDatabase(address, nil); err != nil {
		return err
	}
	c.reader, c.writer = c.owner, c.owner
	_, err = query(ctx, c.owner, `{"create": "customers"}`)
	return err
}

// inDatabase points a connection string at our database, and logs in as another user if one is given.
func inDatabase(address string, user *url.Userinfo) (string, error) {
	to, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("reading the database's address: %w", err)
	}
	to.Path = "/" + customersDatabase
	to.User = cmp.Or(user, to.User)
	return to.String(), nil
}
