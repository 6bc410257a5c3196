package database

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

const debianPostgres = "/usr/lib/postgresql/*/bin"

// proxies are the ports of the tables of an engine.
type proxies struct {
	mu  sync.Mutex
	all []*proxy
}

// open gives a table a port of its own.
func (p *proxies) open(ctx context.Context, t *Table, target string, f filter) error {
	one, err := newProxy(ctx, target, f)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, one)
	t.wire, t.address, t.hangUp = one.wire, one.address(), one.close
	return nil
}

func (p *proxies) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.all {
		one.close()
	}
	p.all = nil
}

type postgresServer struct {
	proxies
	address string
	// url is the owner's connection string.
	url   string
	owner *pgxpool.Pool
}

func (s *postgresServer) ownerURL() string { return s.url }

func (s *postgresServer) start(ctx context.Context, e *Engine) error {
	const install = "the package postgresql"
	initdb, initErr := find("initdb", install, debianPostgres)
	postgres, err := find("postgres", install, debianPostgres)
	credential, credentialErr := process.Unprivileged(e.dir)
	e.credential = credential
	if err := errors.Join(initErr, err, credentialErr); err != nil {
		return err
	}
	ports, err := e.processes.Ports(ctx, 1)
	if err != nil {
		return err
	}
	s.address = ports.Address(0)
	data, secret, password := filepath.Join(e.dir, "data"), filepath.Join(e.dir, "owner"), rand.Text()
	if err := os.WriteFile(secret, []byte(password), 0o644); err != nil { // the folder is closed to others
		return err
	}
	err = e.prepare(ctx, initdb, "-D", data, "-U", "owner", "-A", "scram-sha-256", "--pwfile", secret,
		"-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	if err != nil {
		return err
	}
	s.url = (&url.URL{
		Scheme: "postgres", User: url.UserPassword("owner", password), Host: s.address, Path: "postgres", RawQuery: "sslmode=disable",
	}).String()
	config, err := pgxpool.ParseConfig(s.url)
	if err != nil {
		return fmt.Errorf("reading the owner's connection: %w", err)
	}
	// Nothing has to survive a crash.
	err = e.run(ctx, func(ctx context.Context) error {
		c, err := pgx.ConnectConfig(ctx, config.ConnConfig)
		if err != nil {
			return err
		}
		_, err = c.Exec(ctx, "CREATE DATABASE "+canaryDatabase)
		return errors.Join(err, c.Close(ctx))
	}, postgres, "-D", data, "-p", strconv.Itoa(ports[0]), "-k", "", "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off",
		"-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "shared_buffers=16MB", "-c", "max_connections=200")
	if err != nil {
		return err
	}
	config.ConnConfig.Database = canaryDatabase
	if s.owner, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return err
	}
	// Every user may make temporary tables, and a reader must not write.
	_, err = s.owner.Exec(ctx, "REVOKE TEMPORARY ON DATABASE "+canaryDatabase+" FROM PUBLIC")
	return err
}

func (s *postgresServer) close() {
	s.proxies.close()
	if s.owner != nil {
		s.owner.Close()
	}
}

func (s *postgresServer) newTable(ctx context.Context, t *Table) (store, error) {
	if err := s.open(ctx, t, s.address, nil); err != nil {
		return nil, err
	}
	p := &postgresTable{t: t, owner: s.owner}
	err := p.exec(ctx, fmt.Sprintf(`CREATE TABLE %[1]s (name text UNIQUE, domain text, enabled boolean, connection_group_id text, plan text, slug text);
		CREATE ROLE %[2]s LOGIN PASSWORD '%[3]s'`, t.name, t.user, t.password))
	return p, errors.Join(err, p.allow(ctx, true))
}

type postgresTable struct {
	t     *Table
	owner *pgxpool.Pool
}

func (p *postgresTable) query() mapping.Query {
	connection := url.URL{
		Scheme: "postgres", User: url.UserPassword(p.t.user, p.t.password), Host: p.t.address, Path: canaryDatabase, RawQuery: "sslmode=disable",
	}
	return sqlQuery(p.t, connection.String())
}

func sqlQuery(t *Table, connection string) mapping.Query {
	return mapping.Query{
		Connection: mapping.NewSecret(connection),
		SQL:        mapping.SQLQuery{Query: "SELECT " + strings.Join(columns, ", ") + " FROM " + t.name, Key: "name"},
	}
}

// put sends a chunk as one JSON document, which the table's own type takes apart: a column that is
// called differently by now is none of a row's.
func (p *postgresTable) put(ctx context.Context, rows []map[string]any) error {
	return pgx.BeginFunc(ctx, p.owner, func(tx pgx.Tx) error {
		return chunks(rows, 10_000, func(chunk []map[string]any) error {
			document, err := json.Marshal(chunk)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, fmt.Sprintf("DELETE FROM %[1]s WHERE name IN (SELECT name FROM json_populate_recordset(NULL::%[1]s, $1))", p.t.name), document); err != nil {
				return err
			}
			_, err = tx.Exec(ctx, fmt.Sprintf("INSERT INTO %[1]s SELECT * FROM json_populate_recordset(NULL::%[1]s, $1)", p.t.name), document)
			return err
		})
	})
}

func (p *postgresTable) remove(ctx context.Context, names []string) error {
	_, err := p.owner.Exec(ctx, "DELETE FROM "+p.t.name+" WHERE name = ANY($1)", names)
	return err
}

func (p *postgresTable) truncate(ctx context.Context) error { return p.exec(ctx, "TRUNCATE "+p.t.name) }

func (p *postgresTable) drop(ctx context.Context) error { return p.exec(ctx, "DROP TABLE "+p.t.name) }

func (p *postgresTable) rename(ctx context.Context, from, to string) error {
	return p.exec(ctx, fmt.Sprintf("ALTER TABLE %s RENAME COLUMN %s TO %s", p.t.name, from, to))
}

func (p *postgresTable) allow(ctx context.Context, allowed bool) error {
	rights := "SELECT"
	if p.t.options.Writable {
		rights = "ALL"
	}
	if allowed {
		return p.exec(ctx, fmt.Sprintf("GRANT %s ON %s TO %s", rights, p.t.name, p.t.user))
	}
	return p.exec(ctx, fmt.Sprintf("REVOKE ALL ON %s FROM %s", p.t.name, p.t.user))
}

// show uses row level security: without a policy only the owner sees a row.
func (p *postgresTable) show(ctx context.Context, visible bool) error {
	action := "ENABLE"
	if visible {
		action = "DISABLE"
	}
	return p.exec(ctx, fmt.Sprintf("ALTER TABLE %s %s ROW LEVEL SECURITY", p.t.name, action))
}

func (p *postgresTable) exec(ctx context.Context, statement string) error {
	// The simple protocol takes several statements.
	_, err := p.owner.Exec(ctx, statement, pgx.QueryExecModeSimpleProtocol)
	return err
}

// watch has triggers notify a channel of the table's name, of each row.
func (p *postgresTable) watch(ctx context.Context) (mapping.Query, error) {
	q := p.query()
	q.Watch = &mapping.Watch{Channel: p.t.name}
	return q, p.exec(ctx, fmt.Sprintf(`
CREATE OR REPLACE FUNCTION %[1]s_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF TG_OP <> 'INSERT' THEN PERFORM pg_notify('%[1]s', OLD.name); END IF;
  IF TG_OP <> 'DELETE' THEN PERFORM pg_notify('%[1]s', NEW.name); END IF;
  RETURN NULL; END $$;
CREATE OR REPLACE FUNCTION %[1]s_emptied() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NOTIFY %[1]s; RETURN NULL; END $$;
CREATE OR REPLACE TRIGGER %[1]s_changed AFTER INSERT OR UPDATE OR DELETE ON %[1]s FOR EACH ROW EXECUTE FUNCTION %[1]s_changed();
CREATE OR REPLACE TRIGGER %[1]s_emptied AFTER TRUNCATE ON %[1]s FOR EACH STATEMENT EXECUTE FUNCTION %[1]s_emptied()`, p.t.name))
}
