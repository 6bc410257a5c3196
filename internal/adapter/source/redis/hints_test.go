package redis_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/redis/go-redis/v9"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/redis"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/rowsuite"
)

// configured is the answer to CONFIG GET.
func configured(flags string) string { return bulks("notify-keyspace-events", flags) }

// subscribed is the answer to PSUBSCRIBE, and what follows it.
func subscribed(pattern, then string) string {
	return array(bulk("psubscribe"), bulk(pattern), ":1\r\n") + then
}

// message tells of an event of a key in database 7.
func message(key, event string) string {
	return bulks("pmessage", "__keyspace@7__:customer:*", "__keyspace@7__:"+key, event)
}

func TestListenRefuses(t *testing.T) {
	with := func(answers map[string]string) script {
		return func(command string, _ []string) string { return answers[command] }
	}
	const denied = "-NOPERM User canaryuser has no permissions to run the command\r\n"
	for name, tt := range map[string]struct {
		answer script
		kind   fault.Kind
		says   string
	}{
		"a server that tells of nothing": {
			with(map[string]string{"CONFIG": configured("")}), fault.Invalid, `its setting notify-keyspace-events is "": set it to Kghx`,
		},
		"a server that tells of events by their kind only": {with(map[string]string{"CONFIG": configured("AE")}), fault.Invalid, "notify-keyspace-events"},
		"a server that does not tell of deletions":         {with(map[string]string{"CONFIG": configured("Kh")}), fault.Invalid, "notify-keyspace-events"},
		"a server that tells of lists only":                {with(map[string]string{"CONFIG": configured("Kgl")}), fault.Invalid, "notify-keyspace-events"},
		"a node of a cluster":                              {with(map[string]string{"HELLO": hello("cluster", "master")}), fault.Invalid, "cluster"},
		"a sentinel":                                       {with(map[string]string{"HELLO": hello("sentinel", "sentinel")}), fault.Invalid, "sentinel"},
		"a user who may not listen": {
			with(map[string]string{"CONFIG": denied, "PSUBSCRIBE": denied}), fault.Denied, "its ACL needs +psubscribe",
		},
		"a server that ends the stream":  {with(map[string]string{"CONFIG": configured("AK"), "PSUBSCRIBE": hangUp}), fault.Transient, "the connection was lost"},
		"a server that is loading":       {with(map[string]string{"CONFIG": "-LOADING Redis is loading the dataset in memory\r\n"}), fault.Transient, "loading"},
		"a server that is being stopped": {with(map[string]string{"CONFIG": hangUp}), fault.Transient, "the connection was lost"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, tt.answer)
			err := redis.New(store.Config{}).Listen(t.Context(), s.query(), rowsuite.NewHinted())
			checkFailure(t, err, tt.kind, tt.says)
		})
	}
}

// A notification about a key is a hint, whether the server lets the user look at its settings or not.
func TestListenTellsOfKeys(t *testing.T) {
	for name, config := range map[string]string{
		"all events":                   configured("AK"),
		"those of hashes":              configured("gxhK"),
		"those of texts, and more":     configured("g$xeKE"),
		"those of modules":             configured("gdK"),
		"a user who may not look":      "-NOPERM no permissions\r\n",
		"a server without the command": "-ERR unknown command 'CONFIG', with args beginning with: 'GET'\r\n",
		"a server without the setting": "*0\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan string, 1)
			s := newServer(t, func(command string, arguments []string) string {
				switch command {
				case "CONFIG":
					return config
				case "PSUBSCRIBE":
					asked <- arguments[0]
					return subscribed(arguments[0], message("customer:b", "hset")+message("customer:a", "del")+message("customer:b", "expired"))
				}
				return ""
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			sink := rowsuite.Listen(ctx, redis.New(store.Config{}), s.query())
			select {
			case keys := <-sink.Keys:
				if got := strings.Join(keys, " "); got != "customer:a customer:b" {
					t.Errorf("the hint is of %s", got)
				}
			case err := <-sink.Ended:
				t.Fatalf("the listener ended: %v", err)
			}
			<-sink.Listens
			if pattern := <-asked; pattern != "__keyspace@7__:customer:*" {
				t.Errorf("it listens to %s", pattern)
			}
			cancel()
			if err := <-sink.Ended; !errors.Is(err, context.Canceled) {
				t.Errorf("the listener ended with %v", err)
			}
		})
	}
}

// documented are the commands that the page of the provider tells people to run.
func documented(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile("../../../../docs/tenantsource/redis.md")
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?m)^(?:CONFIG SET|ACL SETUSER) .*$`).FindAllString(string(page), -1)
}

// The access string of the page is enough for ElastiCache to let its user read and hear the keys. The commands that
// ElastiCache forbids are not in it.
func TestDocumentedAccessString(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/tenantsource/redis.md")
	if err != nil {
		t.Fatal(err)
	}
	access := regexp.MustCompile(`--access-string '([^']+)'`).FindStringSubmatch(string(page))[1]
	options, err := sdk.ParseURL(database.Shared(t, mapping.Redis).Owner())
	if err != nil {
		t.Fatal(err)
	}
	owner := sdk.NewClient(options)
	defer owner.Close()
	command := []any{"ACL", "SETUSER", "tenant-source", ">password"}
	for rule := range strings.FieldsSeq(access) {
		command = append(command, rule)
	}
	for _, err := range []error{owner.Do(t.Context(), command...).Err(), owner.HSet(t.Context(), "customer:acme", "name", "acme").Err()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	q := mapping.Query{Connection: mapping.NewSecret("redis://tenant-source:password@" + options.Addr + "/0"), Redis: mapping.RedisQuery{KeyPattern: "customer:*"}}
	var rows collected
	if err := redis.New(store.Config{}).Read(t.Context(), q, &rows); err != nil || len(rows.rows) != 1 {
		t.Errorf("read %v (%v)", rows.rows, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sink := rowsuite.Listen(ctx, redis.New(store.Config{}), q)
	select {
	case <-sink.Listens:
	case err := <-sink.Ended:
		t.Errorf("the user may not listen: %v", err)
	}
	if regexp.MustCompile(`\+(config|acl|cluster|debug|migrate|replicaof|save|shutdown|slaveof|sync)\b`).MatchString(access) {
		t.Errorf("ElastiCache forbids a command of %s", access)
	}
}

// The user of the page reads and hears the keys of the page, and no others.
func TestDocumentedUser(t *testing.T) {
	engine, err := database.Start(t.Context(), mapping.Redis, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Stop() //nolint:errcheck // the test is over
	options, err := sdk.ParseURL(engine.Owner())
	if err != nil {
		t.Fatal(err)
	}
	owner := sdk.NewClient(options)
	defer owner.Close()
	commands := documented(t)
	if len(commands) != 4 { // the last is for the state table
		t.Fatalf("the page has the commands %q, want four", commands)
	}
	owner.ConfigSet(t.Context(), "notify-keyspace-events", "")
	for _, command := range commands {
		var words []any
		for word := range strings.FieldsSeq(command) {
			words = append(words, word)
		}
		if err := owner.Do(t.Context(), words...).Err(); err != nil {
			t.Fatalf("%s: %v", command, err)
		}
	}
	q := mapping.Query{
		Connection: mapping.NewSecret("redis://tenant_source:change-me@" + options.Addr + "/0"),
		Redis:      mapping.RedisQuery{KeyPattern: "customer:*"}, Watch: &mapping.Watch{},
	}
	ctx, cancel := context.WithCancel(t.Context())
	sink := rowsuite.Listen(ctx, redis.New(store.Config{}), q)
	select {
	case <-sink.Listens:
	case err := <-sink.Ended:
		t.Fatalf("the listener ended: %v", err)
	}
	owner.HSet(t.Context(), "invoice:1", "name", "secret")
	owner.HSet(t.Context(), "customer:acme", "name", "acme")
	owner.HSet(t.Context(), "customer:bern", "name", "bern")
	q.Keys = <-sink.Keys
	got, err := read(t.Context(), q)
	if err != nil || len(got.rows) != 2 {
		t.Errorf("the keys %q are %v: %v", q.Keys, got.rows, err)
	}
	q.Redis.KeyPattern = "invoice:*"
	checkFailure(t, redis.New(store.Config{}).Listen(t.Context(), q, rowsuite.NewHinted()), fault.Denied, "+psubscribe")
	cancel()
	if err := <-sink.Ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the listener ended with %v", err)
	}
}
