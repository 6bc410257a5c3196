package database

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

// mysqlServer is a MariaDB, which speaks MySQL's protocol.
type mysqlServer struct {
	proxies
	address string
	owner   *sql.DB
}

func (s *mysqlServer) start(ctx context.Context, e *Engine) error {
	const install = "the packages mariadb-server-core and mariadb-client-core"
	installDB, installErr := find("mariadb-install-db", install)
	mariadbd, err := find("mariadbd", install, "/usr/sbin", "/usr/libexec")
	credential, credentialErr := process.Unprivileged(e.dir)
	e.credential = credential
	if err := errors.Join(installErr, err, credentialErr); err != nil {
		return err
	}
	ports, err := e.processes.Ports(ctx, 1)
	if err != nil {
		return err
	}
	s.address = ports.Address(0)
	data := "--datadir=" + filepath.Join(e.dir, "data")
	err = e.prepare(ctx, installDB, "--no-defaults", data, "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")
	if err != nil {
		return err
	}
	password := rand.Text()
	// Nothing has to survive a crash. A server that starts deletes the temporary tables of others from a folder that they share.
	err = e.run(ctx, func(ctx context.Context) error { return s.prepare(ctx, password) }, mariadbd, "--no-defaults", data,
		"--bind-address=127.0.0.1", "--port="+strconv.Itoa(ports[0]), "--socket="+filepath.Join(e.dir, "socket"), "--pid-file="+filepath.Join(e.dir, "pid"),
		"--skip-name-resolve", "--skip-log-bin", "--innodb-buffer-pool-size=16M", "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0",
		"--max-connections=200", "--character-set-server=utf8mb4", "--tmpdir="+e.dir)
	if err != nil {
		return err
	}
	s.owner, err = s.connect(password, canaryDatabase)
	return err
}

// prepare makes the database, and gives its owner a password.
func (s *mysqlServer) prepare(ctx context.Context, password string) error {
	owner, err := s.connect("", "")
	if err != nil {
		return err
	}
	defer owner.Close()
	_, err = owner.ExecContext(ctx, "CREATE DATABASE "+canaryDatabase+`;
		DELETE FROM mysql.global_priv WHERE User = '' OR User = 'root' AND Host <> '127.0.0.1'; FLUSH PRIVILEGES;
		ALTER USER root@127.0.0.1 IDENTIFIED BY '`+password+"'")
	return err
}

func (s *mysqlServer) connect(password, database string) (*sql.DB, error) {
	config := mysql.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr, config.DBName = "root", password, "tcp", s.address, database
	config.InterpolateParams, config.MultiStatements, config.Logger = true, true, &mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1) // each has goroutines, which tests would take for a reader's
	return db, nil
}

func (s *mysqlServer) close() {
	s.proxies.close()
	if s.owner != nil {
		_ = s.owner.Close()
	}
}

func (s *mysqlServer) newTable(ctx context.Context, t *Table) (store, error) {
	if err := s.open(ctx, t, s.address, nil); err != nil {
		return nil, err
	}
	m := &mysqlTable{t: t, owner: s.owner, address: s.address}
	err := m.exec(ctx, fmt.Sprintf(`CREATE TABLE %[1]s (name varchar(255) COLLATE utf8mb4_bin UNIQUE, domain varchar(4096), enabled boolean,
		connection_group_id varchar(255), plan varchar(255), slug varchar(255)) ENGINE=InnoDB;
		CREATE USER %[2]s@127.0.0.1 IDENTIFIED BY '%[3]s'`, t.name, t.user, t.password))
	return m, errors.Join(err, m.allow(ctx, true))
}

type mysqlTable struct {
	t     *Table
	owner *sql.DB
	// address is that of the server itself, behind the wire.
	address string
}

func (m *mysqlTable) query() mapping.Query {
	return sqlQuery(m.t, m.connection(m.t.address))
}

func (m *mysqlTable) connection(address string) string {
	return fmt.Sprintf("%s:%s@tcp(%s)/%s", m.t.user, m.t.password, address, canaryDatabase)
}

func (m *mysqlTable) put(ctx context.Context, rows []map[string]any) error {
	tx, err := m.owner.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after the commit there is nothing to roll back
	err = chunks(rows, 2000, func(chunk []map[string]any) error {
		var values []any
		for _, row := range chunk {
			for _, column := range columns {
				values = append(values, row[column])
			}
		}
		one := "(" + strings.TrimSuffix(strings.Repeat("?,", len(columns)), ",") + ")"
		_, err := tx.ExecContext(ctx, "REPLACE INTO "+m.t.name+" VALUES "+strings.TrimSuffix(strings.Repeat(one+",", len(chunk)), ","), values...)
		return err
	})
	return errors.Join(err, tx.Commit())
}

func (m *mysqlTable) remove(ctx context.Context, names []string) error {
	return chunks(names, 2000, func(chunk []string) error {
		values := make([]any, len(chunk))
		for i, name := range chunk {
			values[i] = name
		}
		_, err := m.owner.ExecContext(ctx, "DELETE FROM "+m.t.name+" WHERE name IN (?"+strings.Repeat(",?", len(chunk)-1)+")", values...)
		return err
	})
}

func (m *mysqlTable) truncate(ctx context.Context) error { return m.exec(ctx, "TRUNCATE "+m.t.name) }

func (m *mysqlTable) drop(ctx context.Context) error { return m.exec(ctx, "DROP TABLE "+m.t.name) }

func (m *mysqlTable) rename(ctx context.Context, from, to string) error {
	return m.exec(ctx, fmt.Sprintf("ALTER TABLE %s RENAME COLUMN %s TO %s", m.t.name, from, to))
}

func (m *mysqlTable) allow(ctx context.Context, allowed bool) error {
	rights := "SELECT"
	if m.t.options.Writable {
		rights = "ALL"
	}
	if allowed {
		return m.exec(ctx, fmt.Sprintf("GRANT %s ON %s TO %s@127.0.0.1", rights, m.t.name, m.t.user))
	}
	return m.exec(ctx, fmt.Sprintf("REVOKE ALL ON %s FROM %s@127.0.0.1", m.t.name, m.t.user))
}

// show puts a view in the table's place, as there is no row level security.
func (m *mysqlTable) show(ctx context.Context, visible bool) error {
	if visible {
		return m.exec(ctx, fmt.Sprintf("DROP VIEW %[1]s; RENAME TABLE %[1]s_all TO %[1]s", m.t.name))
	}
	return m.exec(ctx, fmt.Sprintf("RENAME TABLE %[1]s TO %[1]s_all; CREATE VIEW %[1]s AS SELECT * FROM %[1]s_all WHERE false", m.t.name))
}

func (m *mysqlTable) exec(ctx context.Context, statement string) error {
	_, err := m.owner.ExecContext(ctx, statement)
	return err
}

// watch sums up what is in each row.
func (m *mysqlTable) watch(context.Context) (mapping.Query, error) {
	q := m.query()
	q.Watch = &mapping.Watch{Query: "SELECT name, CRC32(CONCAT_WS(',', name, domain, plan)) FROM " + m.t.name + " ORDER BY name LIMIT 1000"}
	return q, nil
}
