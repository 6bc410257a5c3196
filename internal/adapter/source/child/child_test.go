package child_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	. "github.com/onsi/gomega"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/child"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/mongodb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/mysql"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/postgres"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/redis"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/rowsuite"
)

const memory = 64 << 20

// parentVariable makes the test binary an operator that reads a table for ever, and prints the process of its child.
const parentVariable = "TEST_READS_FOR_EVER"

func TestMain(m *testing.M) {
	child.Serve(readers)
	playHidden()
	if what := os.Getenv(parentVariable); what != "" {
		_ = read(context.Background(), mapping.Provider(what), &got{at: func(row mapping.Row) error {
			_, err := fmt.Fprintln(os.Stdout, row.Values["pid"])
			return err
		}})
		os.Exit(1)
	}
	os.Exit(database.RunTests(m))
}

// readers are those of the operator, and some that no operator has.
func readers(o child.Options) map[mapping.Provider]port.Rows {
	all := map[mapping.Provider]port.Rows{
		mapping.Postgres: postgres.New(store.Config{Timeout: o.Timeout}),
		mapping.MySQL:    mysql.New(store.Config{Timeout: o.Timeout}),
		mapping.MongoDB:  mongodb.New(store.Config{Timeout: o.Timeout}),
		mapping.Redis:    redis.New(store.Config{Timeout: o.Timeout}),
	}
	maps.Copy(all, played)
	maps.Copy(all, streams)
	maps.Copy(all, confined)
	return all
}

// reader is a port.Rows that runs in the child.
type reader func(context.Context, mapping.Query, mapping.Sink) error

func (r reader) Read(ctx context.Context, q mapping.Query, sink mapping.Sink) error {
	return r(ctx, q, sink)
}

var sink []byte

var allTypes = map[string]any{
	"nil": nil, "true": true, "false": false, "integer": int64(math.MinInt64), "float": 0.1, "infinite": math.Inf(-1),
	"text": "zürich\x00\xff", "empty": "", "unsupported": mapping.Unsupported("bytea"),
	"time": time.Date(294276, 12, 31, 23, 59, 59, 999999000, time.UTC),
	"list": []any{nil, int64(1), []any{}, "x"}, "object": map[string]any{"a": nil, "b": map[string]any{"c": true}},
}

var failure = &fault.Error{Kind: fault.Denied, Operation: "SCAN", Code: "NOPERM", Message: "no", RetryAfter: time.Minute}

// played is what may happen in a child, by the name under which it is asked for.
var played = map[mapping.Provider]port.Rows{
	"all types": reader(func(_ context.Context, q mapping.Query, sink mapping.Sink) error {
		if err := sink.Columns([]mapping.Column{{Name: "a", Type: mapping.TypeTime}}); err != nil {
			return err
		}
		return sink.Row(mapping.Row{Key: q.Connection.Reveal(), Values: allTypes})
	}),
	"failure":   reader(func(context.Context, mapping.Query, mapping.Sink) error { return failure }),
	"unclassed": reader(func(context.Context, mapping.Query, mapping.Sink) error { return errors.New("just\nso") }),
	"late": reader(func(context.Context, mapping.Query, mapping.Sink) error {
		return &fault.Error{Kind: fault.Transient, Operation: "Read", Err: context.DeadlineExceeded}
	}),
	"large": reader(func(_ context.Context, _ mapping.Query, sink mapping.Sink) error {
		large, deep := strings.Repeat("x", 300<<10), any(nil)
		for range 100_000 {
			deep = []any{deep}
		}
		return sink.Row(mapping.Row{Key: large, Values: map[string]any{"name": "a", "large": large, "listed": []any{large}, "deep": deep}})
	}),
	"wide": reader(func(_ context.Context, _ mapping.Query, sink mapping.Sink) error {
		values := map[string]any{"z": "a"}
		for i := range 20 {
			values[strings.Repeat("c", i+1)] = strings.Repeat("x", 100<<10)
		}
		return sink.Row(mapping.Row{Values: values})
	}),
	"huge names": reader(func(_ context.Context, _ mapping.Query, sink mapping.Sink) error {
		return sink.Row(mapping.Row{Values: map[string]any{strings.Repeat("x", 2<<20): true}})
	}),
	"one allocation": reader(func(context.Context, mapping.Query, mapping.Sink) error {
		sink = make([]byte, 1<<40)
		return nil
	}),
	"ever more": reader(func(context.Context, mapping.Query, mapping.Sink) error {
		for {
			sink = append(sink, make([]byte, 1<<20)...)
		}
	}),
	"many rows": reader(func(_ context.Context, _ mapping.Query, sink mapping.Sink) error {
		for {
			if err := sink.Row(mapping.Row{Values: map[string]any{"a": strings.Repeat("x", 1<<10)}}); err != nil {
				return err
			}
		}
	}),
	"panic": reader(func(context.Context, mapping.Query, mapping.Sink) error { panic("secret") }),
	"kill": reader(func(context.Context, mapping.Query, mapping.Sink) error {
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}),
	"garbage": reader(func(context.Context, mapping.Query, mapping.Sink) error {
		_, err := os.Stdout.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
		return err
	}),
	"silence": reader(func(ctx context.Context, _ mapping.Query, sink mapping.Sink) error {
		if err := sink.Row(mapping.Row{}); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}),
	"deaf": reader(func(_ context.Context, _ mapping.Query, sink mapping.Sink) error {
		if err := sink.Row(mapping.Row{Values: map[string]any{"pid": int64(os.Getpid())}}); err != nil {
			return err
		}
		select {}
	}),
	"environment": reader(func(_ context.Context, _ mapping.Query, sink mapping.Sink) error {
		return sink.Row(mapping.Row{Key: strings.Join(append(os.Environ(), os.Args...), "\n")})
	}),
	"process": reader(func(ctx context.Context, _ mapping.Query, sink mapping.Sink) error {
		if err := sink.Row(mapping.Row{Values: map[string]any{"pid": int64(os.Getpid())}}); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}),
}

// got is a sink that keeps everything.
type got struct {
	columns []mapping.Column
	rows    []mapping.Row
	// at is called with each row.
	at func(mapping.Row) error
}

func (g *got) Columns(columns []mapping.Column) error {
	g.columns = columns
	return nil
}

func (g *got) Row(row mapping.Row) error {
	g.rows = append(g.rows, row)
	if g.at != nil {
		return g.at(row)
	}
	return nil
}

func read(ctx context.Context, what mapping.Provider, g *got) error {
	rows := child.New(what, child.Options{Timeout: time.Minute, Memory: memory})
	return rows.Read(ctx, mapping.Query{Connection: mapping.NewSecret("canary\xff")}, g)
}

func TestConformance(t *testing.T) {
	for _, provider := range []mapping.Provider{mapping.Postgres, mapping.MySQL, mapping.MongoDB, mapping.Redis} {
		t.Run(string(provider), func(t *testing.T) {
			rowsuite.Run(t, child.New(provider, child.Options{Timeout: 30 * time.Second, Memory: memory}), database.Shared(t, provider))
		})
	}
}

func TestStates(t *testing.T) {
	for _, provider := range []mapping.Provider{mapping.Postgres, mapping.MySQL} {
		t.Run(string(provider), func(t *testing.T) {
			rows := child.New(provider, child.Options{Timeout: 30 * time.Second, Memory: memory})
			rowsuite.RunStates(t, rows, rows, database.Shared(t, provider))
		})
	}
}

func TestRowsAreWhatTheyWere(t *testing.T) {
	var g got
	if err := read(t.Context(), "all types", &g); err != nil {
		t.Fatal(err)
	}
	want := got{columns: []mapping.Column{{Name: "a", Type: mapping.TypeTime}}, rows: []mapping.Row{{Key: "canary", Values: allTypes}}}
	if diff := cmp.Diff(want, g, cmp.AllowUnexported(got{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestFailuresKeepTheirClass(t *testing.T) {
	for what, want := range map[mapping.Provider]*fault.Error{
		"failure":   failure,
		"unclassed": {Kind: fault.Transient, Operation: "Read", Message: "just so"},
		"late":      {Kind: fault.Transient, Operation: "Read", Err: context.DeadlineExceeded},
	} {
		err := read(t.Context(), what, &got{})
		failure, classified := errors.AsType[*fault.Error](err)
		if !classified {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if diff := cmp.Diff(*want, *failure, cmpopts.EquateErrors()); diff != "" {
			t.Errorf("%s: -want +got:\n%s", what, diff)
		}
	}
}

func TestWhatHasNoRoomIsTheRowsAlone(t *testing.T) {
	const large, deep = mapping.Unsupported("value larger than 256 KiB"), mapping.Unsupported("value nested deeper than 64 levels")
	var g got
	if err := read(t.Context(), "large", &g); err != nil {
		t.Fatal(err)
	}
	want := []mapping.Row{{Key: strings.Repeat("x", 1<<10), Values: map[string]any{"name": "a", "large": large, "listed": large, "deep": deep}}}
	if diff := cmp.Diff(want, g.rows); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	g = got{}
	if err := read(t.Context(), "wide", &g); err != nil {
		t.Fatal(err)
	}
	dropped := 0
	for _, v := range g.rows[0].Values {
		if v == large {
			dropped++
		}
	}
	if values := g.rows[0].Values; len(values) != 21 || dropped == 0 || dropped > 11 || values["z"] != "a" && values["z"] != large {
		t.Errorf("%d values, %d of them dropped, z is %v", len(values), dropped, values["z"])
	}
}

// Whatever becomes of a child is an error with a reason, and the next read works.
func TestDeathsOfChildren(t *testing.T) {
	for what, want := range map[mapping.Provider]struct {
		code, text string
	}{
		"one allocation": {"OutOfMemory", "--tenantsource-read-memory"},
		"ever more":      {"OutOfMemory", "more than the 64 MiB"},
		"many rows":      {"OutOfMemory", "more than 64 MiB together"},
		"huge names":     {"", "names of the columns"},
		"panic":          {"Crashed", "crashed"},
		"kill":           {"Killed", "signal: killed"},
		"garbage":        {"Crashed", "unintelligible"},
		"unknown":        {"", `no reader for "unknown"`},
	} {
		t.Run(string(what), func(t *testing.T) {
			if raceDetector && what == "ever more" {
				t.Skip("with the race detector the memory of a child is not limited")
			}
			err := read(t.Context(), what, &got{})
			if err == nil || fault.CodeOf(err) != want.code || !strings.Contains(err.Error(), want.text) || strings.Contains(err.Error(), "secret") {
				t.Errorf("code %q: %v", fault.CodeOf(err), err)
			}
			if err := read(t.Context(), "all types", &got{}); err != nil {
				t.Error("the next read:", err)
			}
		})
	}
}

func TestCancellation(t *testing.T) {
	for _, what := range []mapping.Provider{"silence", "deaf", "many rows"} {
		t.Run(string(what), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			begin := time.Now()
			err := read(ctx, what, &got{at: func(mapping.Row) error {
				cancel()
				return nil
			}})
			if !errors.Is(err, context.Canceled) || time.Since(begin) > 15*time.Second {
				t.Errorf("after %v: %v", time.Since(begin), err)
			}
		})
	}
}

func TestARefusalOfTheSinkEndsTheRead(t *testing.T) {
	full := errors.New("full")
	err := read(t.Context(), "many rows", &got{at: func(mapping.Row) error { return full }})
	if !errors.Is(err, full) {
		t.Error(err)
	}
}

// The operator's credentials, and those of the database, are not where other processes or a hostile server could see them.
func TestWhatAChildKnows(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "canary")
	t.Setenv("PGSERVICEFILE", "canary") // from which a library would take what a connection string leaves out
	t.Setenv("SSL_CERT_FILE", "/etc/authorities")
	var g got
	if err := read(t.Context(), "environment", &g); err != nil {
		t.Fatal(err)
	}
	if text := g.rows[0].Key; strings.Contains(text, "canary") || !strings.Contains(text, "SSL_CERT_FILE=/etc/authorities\n") {
		t.Error(text)
	}
}

func TestAChildThatIsKilledFromOutside(t *testing.T) {
	err := read(t.Context(), "process", &got{at: func(row mapping.Row) error {
		pid, _ := row.Values["pid"].(int64)
		return syscall.Kill(int(pid), syscall.SIGKILL)
	}})
	if fault.CodeOf(err) != "Killed" {
		t.Error(err)
	}
}

// Whatever the child is doing, it ends with the operator, also where that is killed.
func TestAChildEndsWithItsParent(t *testing.T) {
	for _, what := range []string{"process", "deaf"} {
		t.Run(what, func(t *testing.T) {
			parent := exec.CommandContext(t.Context(), os.Args[0])
			parent.Env = append(os.Environ(), parentVariable+"="+what)
			stdout, err := parent.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := parent.Start(); err != nil {
				t.Fatal(err)
			}
			var pid int
			if _, err := fmt.Fscanln(stdout, &pid); err != nil || syscall.Kill(pid, 0) != nil {
				t.Fatal(pid, err)
			}
			if err := parent.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = parent.Wait() // says that it was killed
			NewWithT(t).Eventually(func() error { return syscall.Kill(pid, 0) }).WithTimeout(10 * time.Second).Should(MatchError(syscall.ESRCH))
		})
	}
}
