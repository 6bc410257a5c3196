package redis_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/redis/go-redis/v9"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/redis"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

func read(ctx context.Context, q mapping.Query) (*collected, error) {
	var got collected
	err := redis.New(store.Config{}).Read(ctx, q, &got)
	return &got, err
}

// checkFailure looks at what all failures have in common.
func checkFailure(t *testing.T, err error, kind fault.Kind, says string) {
	t.Helper()
	if !fault.Is(err, kind) || err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v (%v), want %v that says %q", fault.KindOf(err), err, kind, says)
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(fmt.Sprintf("%v %+v", e, e), "canary") {
			t.Errorf("a secret is in %v", e)
		}
	}
}

// Every kind of key, on the real server.
func TestKeys(t *testing.T) {
	table, err := database.Shared(t, mapping.Redis).NewTable(t.Context(), database.TableOptions{Writable: true})
	if err != nil {
		t.Fatal(err)
	}
	options, err := sdk.ParseURL(table.Query().Connection.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	client := sdk.NewClient(options)
	_, err = client.Pipelined(t.Context(), func(p sdk.Pipeliner) error {
		p.HSet(t.Context(), "customer:hash", "name", "a", "enabled", "true", "bytes", "\xff")
		p.Set(t.Context(), "customer:json", `{"name": "b", "n": 42, "f": 0.5, "big": 12345678901234567890, "list": [1, {"x": 2.0}], "null": null, "enabled": true}`, 0)
		p.Set(t.Context(), "customer:text", "hello", 0)
		p.Set(t.Context(), "customer:two", "{} {}", 0)
		p.RPush(t.Context(), "customer:list", "x")
		return nil
	})
	if err = errors.Join(err, client.Close()); err != nil {
		t.Fatal(err)
	}
	noObject := mapping.Unsupported("string that is not a JSON object")
	for name, tt := range map[string]struct {
		columns []string
		want    map[string]map[string]any
	}{
		"all columns": {nil, map[string]map[string]any{
			"customer:hash": {"name": "a", "enabled": "true", "bytes": mapping.Unsupported("bytes that are not UTF-8")},
			"customer:json": {
				"name": "b", "n": int64(42), "f": 0.5, "big": "12345678901234567890", "list": []any{int64(1), map[string]any{"x": int64(2)}},
				"null": nil, "enabled": true,
			},
			"customer:text": {}, "customer:two": {}, "customer:list": {},
		}},
		"some columns": {[]string{"name", "enabled"}, map[string]map[string]any{
			"customer:hash": {"name": "a", "enabled": "true"},
			"customer:json": {"name": "b", "enabled": true},
			"customer:text": {"name": noObject, "enabled": noObject},
			"customer:two":  {"name": noObject, "enabled": noObject},
			"customer:list": {"name": mapping.Unsupported("list"), "enabled": mapping.Unsupported("list")},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			q := table.Query()
			q.Columns = tt.columns
			got, err := read(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			rows := map[string]map[string]any{}
			for _, r := range got.rows {
				rows[r.Key] = r.Values
			}
			if diff := cmp.Diff(tt.want, rows); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

func TestADatabaseThatIsNotThere(t *testing.T) {
	table, err := database.Shared(t, mapping.Redis).NewTable(t.Context(), database.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	q := table.Query()
	text := q.Connection.Reveal()
	q.Connection = mapping.NewSecret(text[:strings.LastIndex(text, "/")] + "/999999")
	_, err = read(t.Context(), q)
	checkFailure(t, err, fault.Invalid, "no database with this number")
}

// A key that is shown twice is one row, one that has gone has none, and one of the JSON module is read by
// its own command.
func TestAScan(t *testing.T) {
	s := newServer(t, func(command string, arguments []string) string {
		switch command {
		case "SCAN":
			if arguments[0] == "0" {
				return scanned("5", "customer:a", "customer:b", "customer:json")
			}
			return scanned("0", "customer:b", "customer:a", "customer:gone", "customer:going")
		case "TYPE":
			switch arguments[0] {
			case "customer:gone":
				return "+none\r\n"
			case "customer:json":
				return "+ReJSON-RL\r\n"
			}
		case "HGETALL":
			if arguments[0] == "customer:going" {
				return array()
			}
			return bulks("name", arguments[0])
		case "JSON.GET":
			return bulk(`{"name": "json"}`)
		}
		return ""
	})
	got, err := read(t.Context(), s.query())
	if err != nil {
		t.Fatal(err)
	}
	want := []mapping.Row{
		{Key: "customer:a", Values: map[string]any{"name": "customer:a"}},
		{Key: "customer:b", Values: map[string]any{"name": "customer:b"}},
		{Key: "customer:json", Values: map[string]any{"name": "json"}},
	}
	if diff := cmp.Diff(want, got.rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if n := s.connections.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// Fields that are not needed are not asked for, and only a few keys' values at a time: both may be large.
func TestWhatIsKeptInMemory(t *testing.T) {
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = fmt.Sprintf("customer:%d", i)
	}
	var asked, types atomic.Int64
	var fields atomic.Value
	s := newServer(t, func(command string, arguments []string) string {
		switch command {
		case "SCAN":
			return scanned("0", slices.Clone(keys)...)
		case "TYPE":
			// customer:2 goes between the first answer and the second.
			if arguments[0] == "customer:2" && types.Add(1) > 1 {
				return "+none\r\n"
			}
		case "HGETALL":
			return "-NOPERM all fields are asked for\r\n"
		case "HMGET":
			asked.Add(1)
			fields.Store(strings.Join(arguments[1:], " "))
			if arguments[0] == "customer:1" || arguments[0] == "customer:2" {
				return array("$-1\r\n", "$-1\r\n")
			}
			return array(bulk("x.example.com"), bulk(arguments[0]))
		}
		return ""
	})
	q := s.query()
	q.Columns = []string{"name", "domain", "name"}

	sink := &collected{refuse: errors.New("enough")}
	if err := redis.New(store.Config{}).Read(t.Context(), q, sink); !errors.Is(err, sink.refuse) {
		t.Fatal(err)
	}
	if n := asked.Load(); n == 0 || n > 100 {
		t.Errorf("before the first row the values of %d keys were read", n)
	}
	types.Store(0)
	got, err := read(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if fields.Load() != "domain name" || len(got.rows) != 999 {
		t.Fatalf("asked for %v, and got %d rows", fields.Load(), len(got.rows))
	}
	want := []mapping.Row{
		{Key: "customer:0", Values: map[string]any{"name": "customer:0", "domain": "x.example.com"}},
		{Key: "customer:1", Values: map[string]any{}},
		{Key: "customer:3", Values: map[string]any{"name": "customer:3", "domain": "x.example.com"}},
	}
	if diff := cmp.Diff(want, got.rows[:3]); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// always answers one command in one way.
func always(which, answer string) script {
	return func(command string, _ []string) string {
		if command == which {
			return answer
		}
		return ""
	}
}

// oneKey is a scan that finds a key.
func oneKey(then script) script {
	return func(command string, arguments []string) string {
		if command == "SCAN" && arguments[0] == "0" {
			return scanned("9", "customer:a")
		}
		return then(command, arguments)
	}
}

func TestFailures(t *testing.T) {
	info := func(lines ...string) script { return always("INFO", bulk(strings.Join(lines, "\r\n"))) }
	asReplica := func(answer string) script {
		return func(command string, _ []string) string {
			return map[string]string{"HELLO": hello("standalone", "replica"), "INFO": answer}[command]
		}
	}
	denied := "-NOPERM User canaryuser has no permissions to run the 'x' command\r\n"
	infos := 0
	for name, tt := range map[string]struct {
		answer script
		want   fault.Kind
		says   string
	}{
		"a user that is refused": {func(command string, _ []string) string {
			if command == "HELLO" || command == "AUTH" {
				return "-WRONGPASS invalid username-password pair or user is disabled. canarypassword\r\n"
			}
			return ""
		}, fault.Denied, "WRONGPASS"},
		"a user that may not scan":         {always("SCAN", denied), fault.Denied, "SCAN: NOPERM"},
		"a user that may not read a key":   {oneKey(always("TYPE", denied)), fault.Denied, "TYPE: NOPERM"},
		"a user that may not read a hash":  {oneKey(always("HGETALL", denied)), fault.Denied, "HGETALL: NOPERM"},
		"a server that is loading":         {always("SCAN", "-LOADING Redis is loading the dataset in memory\r\n"), fault.Transient, "loading"},
		"a server that says it is loading": {info("role:master", "loading:1"), fault.Transient, "loading"},
		"a replica that has lost its master": {
			info("role:slave", "master_link_status:down"), fault.Transient, "replica without a connection",
		},
		"a replica that copies its master": {
			info("role:slave", "master_link_status:up", "master_sync_in_progress:1"), fault.Transient, "replica without a connection",
		},
		"a replica that refuses to say what it is": {asReplica(denied), fault.Denied, "INFO"},
		"a cluster node":                         {info("role:master", "cluster_enabled:1"), fault.Invalid, "cluster node"},
		"a cluster node that says so in HELLO":   {always("HELLO", hello("cluster", "master")), fault.Invalid, "cluster node"},
		"a cluster node that sends us elsewhere": {oneKey(always("HGETALL", "-MOVED 1 10.0.0.1:6379\r\n")), fault.Invalid, "cluster node"},
		"a sentinel":                             {always("HELLO", hello("sentinel", "master")), fault.Invalid, "sentinel"},
		"a server that got another master meanwhile": {func(command string, _ []string) string {
			if command != "INFO" {
				return ""
			}
			infos++
			return bulk(fmt.Sprintf("run_id:1\r\nrole:slave\r\nmaster_link_status:up\r\nmaster_replid:%d\r\n", infos))
		}, fault.Transient, "during the read"},
		"a connection that is lost in the middle": {oneKey(always("SCAN", hangUp)), fault.Transient, "the connection was lost"},
		"a type that changes":                     {oneKey(always("HGETALL", "-WRONGTYPE Operation against a key\r\n")), fault.Transient, "type of a key changed"},
		"an unknown error":                        {always("SCAN", "-ERR canary something\r\n"), fault.Transient, "could not finish"},
		"too many clients":                        {always("SCAN", "-ERR max number of clients reached\r\n"), fault.Throttled, "connection limit of the server"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, tt.answer)
			_, err := read(t.Context(), s.query())
			checkFailure(t, err, tt.want, tt.says)
			if n := s.connections.Load(); n != 1 {
				t.Errorf("%d connections: a scan must not go on with another server", n)
			}
		})
	}
}

// A server is not refused for a question that the user may not ask, or that an old server does not know.
func TestAServerThatTellsLittle(t *testing.T) {
	for name, answer := range map[string]script{
		"a user that may not ask": always("INFO", "-NOPERM User x has no permissions to run the 'info' command\r\n"),
		"a server without HELLO":  always("HELLO", "-ERR unknown command 'HELLO'\r\n"),
		"a server without INFO":   always("INFO", "-ERR unknown command 'INFO'\r\n"),
		"a replica that keeps up": always("INFO", bulk("run_id:1\r\nrole:slave\r\nmaster_link_status:up\r\nmaster_sync_in_progress:0\r\n")),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := read(t.Context(), newServer(t, answer).query()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestACancelledReadEndsAtOnce(t *testing.T) {
	for name, end := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"cancelled": context.WithCancel,
		"too late": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 2*time.Second) // far more than it takes to get to the scan
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := end(t.Context())
			defer cancel()
			s := newServer(t, func(command string, _ []string) string {
				if command != "SCAN" {
					return ""
				}
				if name == "cancelled" {
					cancel()
				}
				return silent
			})
			_, err := read(ctx, s.query())
			if !errors.Is(err, ctx.Err()) {
				t.Errorf("got %v", err)
			}
			checkFailure(t, err, fault.Transient, "SCAN: 127.0.0.1:")
		})
	}
}

func TestTheTimeoutIsThatOfTheWholeRead(t *testing.T) {
	// Each answer comes at once, and the scan never ends.
	s := newServer(t, always("SCAN", scanned("1")))
	err := redis.New(store.Config{Timeout: 50 * time.Millisecond}).Read(t.Context(), s.query(), &collected{})
	checkFailure(t, err, fault.Transient, "no response within the time limit")
}

func TestTheSinkEndsTheRead(t *testing.T) {
	s := newServer(t, func(command string, arguments []string) string {
		switch command {
		case "SCAN":
			return scanned("1", "customer:a", "customer:b")
		case "HGETALL":
			return bulks("name", arguments[0])
		}
		return ""
	})
	sink := &collected{refuse: errors.New("enough"), after: 1}
	err := redis.New(store.Config{}).Read(t.Context(), s.query(), sink)
	if !errors.Is(err, sink.refuse) || len(sink.rows) != 1 {
		t.Errorf("error %v after %d rows", err, len(sink.rows))
	}
}

func TestNobodyListens(t *testing.T) {
	s := newServer(t, always("", ""))
	if err := s.listener.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := read(t.Context(), s.query())
	checkFailure(t, err, fault.Transient, "refused the connection")
}

func TestConnectionStringsThatAreRefused(t *testing.T) {
	for name, tt := range map[string]struct{ connection, says string }{
		"nothing":                    {"", "does not start with redis://"},
		"another scheme":             {"http://canaryuser:canarypassword@host", "does not start with redis://"},
		"no URL":                     {"redis://canaryuser:canary%zz@host", "is not a URL"},
		"a port that is none":        {"redis://canaryuser:canarypassword@host:canary", "is not a URL"},
		"an address":                 {"redis:canary", "is not a URL"},
		"a socket":                   {"unix://canaryuser:canarypassword@/run/canary.sock", "socket"},
		"no host":                    {"redis://:canarypassword@/0", "has no host"},
		"a database with a name":     {"redis://host/canary", "database number"},
		"a negative database":        {"redis://host?db=-1", "negative database number"},
		"an unverified certificate":  {"rediss://host?skip_verify=true", "SSL_CERT_FILE"},
		"an unknown option":          {"redis://host?canary=1", "options must be known"},
		"the word of others for TLS": {"redis://host?sslmode=canary", "start with rediss:// for TLS"},
		"options that are none":      {"redis://host?canary=%zz", "not in the form name=value"},
		"a time that is none":        {"redis://host?read_timeout=canary", "values of the correct type"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(t.Context(), mapping.Query{Connection: mapping.NewSecret(tt.connection)})
			checkFailure(t, err, fault.Invalid, tt.says)
			if failure, ok := errors.AsType[*fault.Error](err); !ok || failure.Code != mapping.CodeConnectionString {
				t.Errorf("got %v", err)
			}
		})
	}
}

func FuzzConnectionString(f *testing.F) {
	for _, seed := range []string{"redis://u:p@h:1/0", "rediss://h?db=1&skip_verify=false", "unix:///s", "redis://[::1]:1", "redis:?db=1"} {
		f.Add(seed)
	}
	// Nothing is connected to: the read is cancelled already.
	ctx, cancel := context.WithCancel(f.Context())
	cancel()
	f.Fuzz(func(t *testing.T, text string) {
		_, err := read(ctx, mapping.Query{Connection: mapping.NewSecret(text)})
		failure, ok := errors.AsType[*fault.Error](err)
		if !ok {
			t.Fatalf("got %v", err)
		}
		if failure.Kind == fault.Invalid && failure.Code != mapping.CodeConnectionString {
			t.Errorf("got %v", err)
		}
	})
}
