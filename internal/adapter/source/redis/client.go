// Package redis reads customers from the hashes and JSON values of Redis, and of what speaks its protocol, and writes states to
// hashes.
package redis

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sync/atomic"

	sdk "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// batch is the number of keys that SCAN looks at in one go: enough that the network costs little, and few enough that
// other clients don't wait.
const batch = 1000

// valuesAtOnce is the number of keys whose values are asked for in one go. They are in memory together, and may be large.
const valuesAtOnce = 100

// Keys reads and writes the values of keys. It is safe for concurrent use.
type Keys struct{ store.Config }

var (
	_ port.Rows   = (*Keys)(nil)
	_ port.Hints  = (*Keys)(nil)
	_ port.States = (*Keys)(nil)
)

// New returns a reader of keys. It makes no call. The driver writes to a log of the whole program, past
// ours and with the names of users in it: that log is switched off.
func New(c store.Config) *Keys {
	logging.Disable()
	return &Keys{c}
}

// Read implements port.Rows. A scan sees every key that is there from its beginning to its end; one that comes
// or goes meanwhile may be seen or not. It keeps 16 bytes for each key, about 40 with their place in the set:
// 4 MB for 100,000 customers.
func (k *Keys) Read(ctx context.Context, q mapping.Query, sink mapping.Sink) error {
	if k.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, k.Timeout)
		defer cancel()
	}
	to, err := parseConnection(q.Connection.Reveal())
	if err != nil {
		return err
	}
	r, leave, err := k.connect(ctx, to)
	if err != nil {
		return err
	}
	defer leave()
	r.seen, r.fields = map[fingerprint]struct{}{}, fieldsOf(q.Columns)
	before, err := r.check(ctx)
	if err != nil {
		return err
	}
	if q.Keys != nil {
		err = r.named(ctx, q.Keys, sink)
	} else {
		err = r.scan(ctx, q.Redis.KeyPattern, sink)
	}
	if err != nil {
		return err
	}
	after, err := r.check(ctx)
	if err != nil {
		return err
	}
	if after != before {
		return r.incomplete("INFO", "the server was restarted, or its master changed, during the read")
	}
	return nil
}

// connect opens a connection that ends with the context, or with leave.
func (k *Keys) connect(ctx context.Context, to connection) (r read, leave func(), err error) {
	conn, err := to.dial(ctx, k.Guard)
	if err != nil {
		return read{}, nil, to.failed(ctx, opConnect, err)
	}
	// The driver knows deadlines only; closing the connection is what ends a wait for an answer.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	r = read{connection: to, greeted: &atomic.Bool{}}
	r.client = to.over(conn, r.greeted)
	return r, func() {
		_ = r.client.Close()
		stop()
		_ = conn.Close()
	}, nil
}

// read is one read of the keys.
type read struct {
	connection
	client  *sdk.Client
	greeted *atomic.Bool
	seen    map[fingerprint]struct{}
	fields  fields
}

// fingerprint stands for a key. It is long enough that two keys never share one: the second of them
// would be missing.
type fingerprint [16]byte

// scan gives the values of all keys that match to the sink, each once.
func (r read) scan(ctx context.Context, pattern string, sink mapping.Sink) error {
	for cursor := uint64(0); ; {
		keys, next, err := r.client.Scan(ctx, cursor, pattern, batch).Result()
		if err != nil {
			return r.failed(ctx, "SCAN", err)
		}
		if err := r.named(ctx, r.dropSeen(keys), sink); err != nil {
			return err
		}
		if next == 0 {
			return nil
		}
		cursor = next
	}
}

// dropSeen leaves out the keys that the scan has shown before: while the table of keys grows or shrinks it
// shows some twice.
func (r read) dropSeen(keys []string) []string {
	fresh := keys[:0]
	for _, key := range keys {
		sum := sha256.Sum256([]byte(key))
		id := fingerprint(sum[:len(fingerprint{})])
		if _, known := r.seen[id]; !known {
			r.seen[id] = struct{}{}
			fresh = append(fresh, key)
		}
	}
	return fresh
}

// named gives the values of any number of keys to the sink.
func (r read) named(ctx context.Context, keys []string, sink mapping.Sink) error {
	for some := range slices.Chunk(keys, valuesAtOnce) {
		if err := r.rows(ctx, some, sink); err != nil {
			return err
		}
	}
	return nil
}

// rows gives the values of keys to the sink. A key that has gone since the scan saw it has no row.
func (r read) rows(ctx context.Context, keys []string, sink mapping.Sink) error {
	types := make([]*sdk.StatusCmd, len(keys))
	if err := r.pipelined(ctx, "TYPE", func(p sdk.Pipeliner) {
		for i, key := range keys {
			types[i] = p.Type(ctx, key)
		}
	}); err != nil {
		return err
	}
	read := make([]reader, len(keys))
	if err := r.pipelined(ctx, "HGETALL", func(p sdk.Pipeliner) {
		for i, key := range keys {
			read[i] = r.fields.ask(ctx, p, types[i].Val(), key)
		}
	}); err != nil {
		return err
	}
	for i, key := range keys {
		values, there := read[i]()
		if !there {
			continue
		}
		if err := sink.Row(mapping.Row{Key: key, Values: values}); err != nil {
			return err
		}
	}
	return nil
}

// pipelined sends many commands at once. The failure is that of the first that failed; that a key is not there
// is none.
func (r read) pipelined(ctx context.Context, operation string, fill func(sdk.Pipeliner)) error {
	commands, err := r.client.Pipelined(ctx, func(p sdk.Pipeliner) error {
		fill(p)
		return nil
	})
	for _, command := range commands {
		if err := command.Err(); err != nil && !errors.Is(err, sdk.Nil) {
			return r.failed(ctx, commandName(command, operation), err)
		}
	}
	if err != nil && !errors.Is(err, sdk.Nil) {
		return r.failed(ctx, operation, err)
	}
	return nil
}

// server is what has to be the same at the end of a read as at its beginning.
type server struct{ run, role, replication string }

// check refuses a server that can't tell the whole truth.
func (r read) check(ctx context.Context) (server, error) {
	hello, err := r.hello(ctx)
	if err != nil {
		return server{}, err
	}
	text, err := r.client.Info(ctx).Result()
	if err != nil {
		err = r.failed(ctx, "INFO", err)
		// A user that may not ask is believed, but not by a replica: whether that has all keys only INFO tells.
		if fault.Is(err, fault.Denied, fault.Invalid) && !isReplica(hello["role"]) && hello["mode"] != "cluster" {
			return server{}, nil
		}
		return server{}, err
	}
	info := parseInfo(text)
	switch {
	case hello["mode"] == "cluster", info["redis_mode"] == "cluster", info["cluster_enabled"] == "1":
		return server{}, &fault.Error{Kind: fault.Invalid, Operation: "INFO", Message: r.host + ": " + isCluster}
	case hello["mode"] == "sentinel", info["redis_mode"] == "sentinel":
		return server{}, &fault.Error{Kind: fault.Invalid, Operation: "INFO", Message: r.host +
			": the server is a sentinel, which has no keys: use the address of the server that it monitors"}
	case info["loading"] == "1", info["async_loading"] == "1":
		return server{}, r.incomplete("INFO", "the server is still loading its data")
	case isReplica(info["role"]) && (info["master_link_status"] != "up" || info["master_sync_in_progress"] == "1"):
		return server{}, r.incomplete("INFO", "the server is a replica without a connection to its master and may not have all keys")
	}
	return server{run: info["run_id"], role: info["role"], replication: info["master_replid"]}, nil
}

// hello asks for mode and role, which every user may, since version 6.
func (r read) hello(ctx context.Context) (map[string]string, error) {
	answer, err := r.client.Do(ctx, "HELLO", 2).Slice()
	if err != nil {
		// The driver introduces us before it sends the first command.
		if !r.greeted.Load() {
			return nil, r.failed(ctx, opConnect, err)
		}
		if err = r.failed(ctx, "HELLO", err); !fault.Is(err, fault.Denied, fault.Invalid) {
			return nil, err
		}
		return nil, nil
	}
	told := map[string]string{}
	for i := 0; i+1 < len(answer); i += 2 {
		name, _ := answer[i].(string)
		told[name], _ = answer[i+1].(string)
	}
	return told, nil
}
