package redis_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/redis/go-redis/v9"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/redis"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

const stateSource = "c1/shop/customers"

func puts(keys ...string) []statetable.Change {
	changes := make([]statetable.Change, len(keys))
	for i, key := range keys {
		changes[i].Row = statetable.Row{Source: stateSource, Key: key, State: "Ready", Version: 1}
	}
	return changes
}

// told is all that is said of a write, and the keys that were refused.
func told(refused []statetable.Refusal, err error) (text string, keys []string) {
	text = fmt.Sprint(err)
	for _, r := range refused {
		keys = append(keys, r.Key)
		text += r.Failure.Error()
	}
	return text, keys
}

func TestAKeyOfAnotherTypeIsRefused(t *testing.T) {
	engine := database.Shared(t, mapping.Redis)
	table, err := engine.NewStateTable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(table.Close)
	to := table.Target(stateSource)
	owner, err := sdk.ParseURL(engine.Owner())
	if err != nil {
		t.Fatal(err)
	}
	options, err := sdk.ParseURL(to.Connection.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	owner.DB = options.DB
	client := sdk.NewClient(owner)
	defer client.Close()
	if err := client.Set(t.Context(), to.RedisKey("b"), "precious", 0).Err(); err != nil {
		t.Fatal(err)
	}
	for name, remove := range map[string]bool{"written": false, "removed": true} {
		t.Run(name, func(t *testing.T) {
			changes := puts("a", "b", "c")
			for i := range changes {
				changes[i].Remove = remove
			}
			refused, err := redis.New(store.Config{}).Write(t.Context(), to, changes)
			text, keys := told(refused, err)
			if diff := cmp.Diff([]string{"b"}, keys); diff != "" || err != nil || !strings.Contains(text, "not a hash") {
				t.Errorf("%s, refused (-want +got):\n%s", text, diff)
			}
			if there, err := client.Get(t.Context(), to.RedisKey("b")).Result(); there != "precious" {
				t.Errorf("the key has %q, error %v", there, err)
			}
		})
	}
}

func TestWritesThatAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		answers script
		want    fault.Kind
		text    string
		refused []string
	}{
		"all is well": {evaluated(":1"), fault.None, "", nil},
		"no right":    {evaluated("-NOPERM this user has no permissions to run the 'eval' command"), fault.Denied, "+eval", nil},
		"no right, as Redis 6 says it": {
			evaluated("-ERR The user executing the script can't run this command or subcommand"), fault.Denied, "+hset", nil,
		},
		"a replica":                     {evaluated("-READONLY You can't write against a read only replica."), fault.Invalid, "connect to the primary", nil},
		"a replica that has no primary": {evaluated("-MASTERDOWN Link with MASTER is down"), fault.Invalid, "connect to the primary", nil},
		"no memory":                     {evaluated("-OOM command not allowed when used memory > 'maxmemory'."), fault.Quota, "maxmemory", nil},
		"no disk":                       {evaluated("-MISCONF Redis is configured to save RDB snapshots"), fault.Quota, "disk", nil},
		"too few replicas":              {evaluated("-NOREPLICAS Not enough good replicas to write."), fault.Transient, "too few replicas", nil},
		"no scripts":                    {evaluated("-ERR unknown command 'EVAL'"), fault.Invalid, "no scripts", nil},
		"a key of another type":         {evaluated("-WRONGTYPE Operation against a key"), fault.None, "not a hash", []string{"a", "b"}},
		"a node of a cluster":           {evaluated("-MOVED 3999 127.0.0.1:6381"), fault.Invalid, "cluster", nil},
		"a connection that is lost":     {func(command string, _ []string) string { return map[string]string{"EVAL": hangUp}[command] }, fault.Transient, "", nil},
		"a replica that takes writes": {func(command string, _ []string) string {
			return map[string]string{"INFO": bulk("run_id:1\r\nredis_mode:standalone\r\nrole:slave\r\nmaster_link_status:up\r\n"), "EVAL": ":1\r\n"}[command]
		}, fault.Invalid, "connect to the primary", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, tt.answers)
			refused, err := redis.New(store.Config{}).Write(t.Context(), statetable.Target{Query: s.query(), Table: "states", Source: stateSource}, puts("a", "b"))
			text, keys := told(refused, err)
			if diff := cmp.Diff(tt.refused, keys); diff != "" || fault.KindOf(err) != tt.want || !strings.Contains(text, tt.text) {
				t.Errorf("%s (%v), refused (-want +got):\n%s", text, fault.KindOf(err), diff)
			}
			if strings.Contains(text, "canary") {
				t.Errorf("a secret is told: %s", text)
			}
		})
	}
}

// evaluated is a server with that answer to scripts.
func evaluated(answer string) script {
	return func(command string, _ []string) string {
		if command == "EVAL" {
			return answer + "\r\n"
		}
		return ""
	}
}
