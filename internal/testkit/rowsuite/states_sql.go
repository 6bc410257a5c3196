package rowsuite

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

func (s *suite) statesInSQL() map[string]func(*testing.T) {
	tests := map[string]func(*testing.T){
		"a row that the database refuses is alone": s.testStateRefused,
		"a row that is locked is alone":            s.testStateLocked,
		"a table may be named with its schema":     s.testStateSchema,
		"a table may have wider types":             s.testStateTypes,
		"a table that is missing is named":         s.testStateMissing,
		"the customers' table is never written":    s.testStateCustomers,
		"a table that refuses all rows is told":    s.testStateRefusesAll,
		"an answer of the server has its words":    s.testStateAnswers,
	}
	for name, d := range definitions {
		if statement := d.statements[s.engine.Provider()]; statement != "" {
			tests["a table "+name] = func(t *testing.T) { s.testStateDefinition(t, statement, d.says) }
		}
	}
	return tests
}

// definitions spoil the table STATES, and have what is said of it.
var definitions = map[string]struct {
	statements map[mapping.Provider]string
	says       string
}{
	"without a column":            {both("ALTER TABLE STATES DROP COLUMN revision"), "has no column revision"},
	"with a column of other name": {both("ALTER TABLE STATES RENAME COLUMN state TO status"), "has no column state"},
	"with a column of other type": {map[mapping.Provider]string{
		mapping.Postgres: "ALTER TABLE STATES ALTER COLUMN generation TYPE text", mapping.MySQL: "ALTER TABLE STATES MODIFY generation text",
	}, "has the column generation with the type text, but it has to be bigint"},
	"without a primary key": {map[mapping.Provider]string{
		mapping.Postgres: "ALTER TABLE STATES DROP CONSTRAINT STATES_pkey", mapping.MySQL: "ALTER TABLE STATES DROP PRIMARY KEY",
	}, "does not have the primary key (source, row_key)"},
	"with another primary key": {map[mapping.Provider]string{
		mapping.Postgres: "ALTER TABLE STATES DROP CONSTRAINT STATES_pkey, ADD PRIMARY KEY (row_key)",
		mapping.MySQL:    "ALTER TABLE STATES DROP PRIMARY KEY, ADD PRIMARY KEY (row_key)",
	}, "does not have the primary key (source, row_key)"},
	"with keys that are compared by other rules": {map[mapping.Provider]string{
		mapping.MySQL: "ALTER TABLE STATES MODIFY row_key varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL",
	}, "has the column row_key with the type varchar COLLATE utf8mb4_general_ci"},
	"with a primary key of the beginnings of texts": {map[mapping.Provider]string{
		mapping.MySQL: "ALTER TABLE STATES DROP PRIMARY KEY, ADD PRIMARY KEY (source(50), row_key(50))",
	}, "has a unique index other than the primary key"},
	"with another unique index": {map[mapping.Provider]string{
		mapping.MySQL: "CREATE UNIQUE INDEX again ON STATES (row_key)",
	}, "has a unique index other than the primary key, with the column row_key"},
}

func both(statement string) map[mapping.Provider]string {
	return map[mapping.Provider]string{mapping.Postgres: statement, mapping.MySQL: statement}
}

// testStateDefinition also shows that nothing is written to a table that is not as it has to be.
func (s *suite) testStateDefinition(t *testing.T, statement, says string) {
	table := s.newStates(t)
	to := table.Target("source")
	must(t, table.Exec(t.Context(), strings.ReplaceAll(statement, "STATES", table.Name())))
	refused, err := s.write(t, table, to, upserts(state(to, "key", 1))...)
	wantFault(t, err, fault.Invalid)
	if !strings.Contains(err.Error(), says) || len(refused) > 0 {
		t.Errorf("got %v and %v, want %q", err, refused, says)
	}
	if rows := raw(t, table); len(rows) > 0 {
		t.Errorf("the table has %v, want no rows", rows)
	}
}

func (s *suite) testStateMissing(t *testing.T) {
	table := s.newStates(t)
	to := table.Target("source")
	for _, name := range []string{"no_such_table", "no_such_schema." + table.Name(), `quo"te'd`, "back`tick\\", `back\slash\'`, "😀"} {
		to.Table = name
		_, err := s.write(t, table, to, upserts(state(to, "key", 1))...)
		wantFault(t, err, fault.NotFound)
		if !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "kubectl cfdt source ddl") {
			t.Errorf("%s: the message does not say which table to create, and how: %v", name, err)
		}
	}
}

func (s *suite) testStateCustomers(t *testing.T) {
	table := s.newStates(t)
	must(t, table.Put(t.Context(), customers(3)...))
	before := s.mustRead(t, table.Table, table.Query())
	to := table.Target("source")
	to.Table = table.Customers()
	_, err := s.write(t, table, to, append(upserts(state(to, "key", 1)), removal(state(to, "customer-00000", 9)))...)
	wantFault(t, err, fault.Invalid)
	if !strings.Contains(err.Error(), "table of its own") {
		t.Errorf("the message does not say that the table is another one: %v", err)
	}
	after := s.mustRead(t, table.Table, table.Query())
	exactlyOnce(t, after, customers(3))
	if len(after.rows) != len(before.rows) {
		t.Errorf("the table was changed: %v", after.rows)
	}
}

func (s *suite) testStateSchema(t *testing.T) {
	table := s.newStates(t)
	schema := map[mapping.Provider]string{mapping.Postgres: "public", mapping.MySQL: database.Canary + "_tenants"}[s.engine.Provider()]
	to := table.Target("source")
	to.Table = schema + "." + table.Name()
	s.mustStates(t, table, to, upserts(state(to, "key", 1), state(to, "other", 1))...)
	s.mustStates(t, table, to, removal(state(to, "other", 1)))
	s.wantStates(t, table, to, state(to, "key", 1))
}

// widens gives STATES types that hold what is written.
var widens = map[mapping.Provider]string{
	mapping.Postgres: `ALTER TABLE STATES ALTER row_key TYPE varchar(300), ALTER message TYPE varchar, ALTER domains TYPE json, ALTER version TYPE numeric,
		ALTER since TYPE timestamp, ADD mine text`,
	mapping.MySQL: "ALTER TABLE STATES MODIFY message longtext, MODIFY domains longtext, MODIFY version decimal(30), " +
		"MODIFY since timestamp NULL, MODIFY reason varchar(100), ADD mine text",
}

func (s *suite) testStateTypes(t *testing.T) {
	table := s.newStates(t)
	must(t, table.Exec(t.Context(), strings.ReplaceAll(widens[s.engine.Provider()], "STATES", table.Name())))
	to := table.Target("source")
	s.mustStates(t, table, to, upserts(state(to, "key", 2), state(to, "other", 1))...)
	must(t, table.Exec(t.Context(), "UPDATE "+table.Name()+" SET mine = 'mine'"))
	s.mustStates(t, table, to, upserts(state(to, "key", 1), state(to, "other", 2))...)
	s.wantStates(t, table, to, state(to, "key", 2), state(to, "other", 2))
	for _, row := range raw(t, table) {
		if row["mine"] != "mine" {
			t.Errorf("the column of others was changed: %v", row)
		}
	}
}

// raises makes a trigger of the table STATES that raises an error for one row.
var raises = map[mapping.Provider]string{
	mapping.Postgres: `CREATE FUNCTION STATES_check() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN IF NEW.row_key = 'raised' THEN RAISE EXCEPTION 'we do not want %', NEW.row_key; END IF; RETURN NEW; END $$;
		CREATE TRIGGER STATES_check BEFORE INSERT ON STATES FOR EACH ROW EXECUTE FUNCTION STATES_check()`,
	mapping.MySQL: `CREATE TRIGGER STATES_check BEFORE INSERT ON STATES FOR EACH ROW
		IF NEW.row_key = 'raised' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'we do not want raised'; END IF`,
}

func (s *suite) testStateRefused(t *testing.T) {
	table := s.newStates(t)
	must(t, table.Exec(t.Context(), strings.ReplaceAll(raises[s.engine.Provider()], "STATES", table.Name())))
	must(t, table.Exec(t.Context(), "ALTER TABLE "+table.Name()+" ADD CONSTRAINT no_free_state CHECK (state <> 'Free')"))
	to := table.Target("source")
	rows := manyRows(to, 1)[:500]
	checked, raised, long := state(to, "checked", 1), state(to, "raised", 1), state(to, "long ", 1)
	for range 1000 {
		long.Key += rand.Text() // a server may compress what it repeats
	}
	checked.State = "Free"
	says := map[string]string{checked.Key: "no_free_state", raised.Key: "we do not want raised", long.Key: ""}
	refused, err := s.write(t, table, to, upserts(append([]statetable.Row{long, raised, checked}, rows...)...)...)
	must(t, err)
	for _, r := range refused {
		text, expected := says[r.Key]
		delete(says, r.Key)
		if !expected || r.Failure.Kind != fault.Invalid || r.Failure.Message == "" || !strings.Contains(r.Failure.Error(), text) {
			t.Errorf("%.20q was refused with %v (%v), want %q", r.Key, r.Failure, r.Failure.Kind, text)
		}
	}
	for key := range says {
		t.Errorf("%.20q was not refused", key)
	}
	s.wantStates(t, table, to, rows...)
}

// throws makes a trigger of the table STATES that throws the error whose number a row has as its key.
var throws = map[mapping.Provider]string{
	mapping.Postgres: `CREATE FUNCTION STATES_throw() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN IF NEW.row_key <> 'fine' THEN RAISE EXCEPTION 'the words of the server' USING ERRCODE = NEW.row_key; END IF; RETURN NEW; END $$;
		CREATE TRIGGER STATES_throw BEFORE INSERT ON STATES FOR EACH ROW EXECUTE FUNCTION STATES_throw()`,
	mapping.MySQL: `CREATE TRIGGER STATES_throw BEFORE INSERT ON STATES FOR EACH ROW BEGIN
		DECLARE number int; IF NEW.row_key <> 'fine' THEN
		SET number = NEW.row_key; SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = number, MESSAGE_TEXT = 'the words of the server'; END IF; END`,
}

// testStateAnswers has errors that are hard to come by. Those of the server end the call, those of a row do not.
func (s *suite) testStateAnswers(t *testing.T) {
	table := s.newStates(t)
	must(t, table.Exec(t.Context(), strings.ReplaceAll(throws[s.engine.Provider()], "STATES", table.Name())))
	to := table.Target("source")
	for what, tt := range map[string]struct {
		codes map[mapping.Provider]string
		kind  fault.Kind
		says  string
		alone bool
	}{
		"a full disk":          {map[mapping.Provider]string{mapping.Postgres: "53100", mapping.MySQL: "1021"}, fault.Quota, "no room left", false},
		"a full table":         {map[mapping.Provider]string{mapping.MySQL: "1114"}, fault.Quota, "no room left", false},
		"a failover":           {map[mapping.Provider]string{mapping.Postgres: "25006", mapping.MySQL: "1290"}, fault.Denied, "connect to the primary", false},
		"a right that is gone": {map[mapping.Provider]string{mapping.Postgres: "42501", mapping.MySQL: "1142"}, fault.Denied, "GRANT SELECT, INSERT, UPDATE, DELETE", false},
		"a deadlock":           {map[mapping.Provider]string{mapping.Postgres: "40P01", mapping.MySQL: "1213"}, fault.Transient, "another session holds a lock", true},
		"a cancellation":       {map[mapping.Provider]string{mapping.Postgres: "57014", mapping.MySQL: "1317"}, fault.Transient, "the write was cancelled on the server", true},
		"a bad value":          {map[mapping.Provider]string{mapping.Postgres: "22001", mapping.MySQL: "1366"}, fault.Invalid, "the words of the server", true},
		"an unknown error":     {map[mapping.Provider]string{mapping.Postgres: "XX000", mapping.MySQL: "1030"}, fault.Transient, "the words of the server", true},
	} {
		code := tt.codes[s.engine.Provider()]
		if code == "" {
			continue
		}
		t.Run(what, func(t *testing.T) {
			refused, err := s.write(t, table, to, upserts(state(to, "fine", 1), state(to, code, 1))...)
			if tt.alone && len(refused) == 1 {
				must(t, err)
				err = refused[0].Failure
			}
			wantFault(t, err, tt.kind)
			if fault.CodeOf(err) != code || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %s with %q", err, code, tt.says)
			}
		})
	}
}

func (s *suite) testStateRefusesAll(t *testing.T) {
	table := s.newStates(t)
	must(t, table.Exec(t.Context(), "ALTER TABLE "+table.Name()+" ADD CONSTRAINT nothing CHECK (version < 0)"))
	to := table.Target("source")
	_, err := s.write(t, table, to, upserts(manyRows(to, 1)...)...)
	wantFault(t, err, fault.Invalid)
	if !strings.Contains(fmt.Sprint(err), "nothing") {
		t.Errorf("the message does not name the constraint: %v", err)
	}
}

func (s *suite) testStateLocked(t *testing.T) {
	table := s.newStates(t)
	to := table.Target("source")
	s.mustStates(t, table, to, upserts(state(to, "a", 1), state(to, "held", 1))...)
	release, err := table.Lock(t.Context(), to.Source, "held")
	must(t, err)
	next := []statetable.Row{state(to, "a", 2), state(to, "b", 2), state(to, "held", 2), state(to, "z", 2)}
	refused, err := s.write(t, table, to, upserts(next...)...)
	must(t, release())
	must(t, err)
	if len(refused) != 1 || refused[0].Key != "held" || refused[0].Failure.Kind != fault.Transient {
		t.Fatalf("the refusals are %v, want the row that is held, for now", refused)
	}
	if !strings.Contains(refused[0].Failure.Message, "another session holds a lock") {
		t.Errorf("the message does not tell of the lock: %v", refused[0].Failure)
	}
	s.wantStates(t, table, to, next[0], next[1], state(to, "held", 1), next[3])
	s.mustStates(t, table, to, upserts(next...)...)
	s.wantStates(t, table, to, next...)
}
