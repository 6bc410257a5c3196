package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	sdk "github.com/redis/go-redis/v9"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

const (
	opListen = "PSUBSCRIBE"
	opConfig = "CONFIG GET"
	// notify is the setting of the server that makes it tell of changes.
	notify = "notify-keyspace-events"
)

const (
	// pingEvery is how often a listener asks whether the server is still there.
	pingEvery = 10 * time.Second
	// silence is how long a server may say nothing at all, not even that it is there.
	silence = 25 * time.Second
)

// Listen implements port.Hints with the server's keyspace notifications. A server
// sends none for FLUSHDB and SWAPDB: the polls find what those change.
func (k *Keys) Listen(ctx context.Context, q mapping.Query, sink port.HintSink) error {
	to, err := parseConnection(q.Connection.Reveal())
	if err != nil {
		return err
	}
	if err := k.checkNotifications(ctx, to); err != nil {
		return err
	}
	to.silence = silence
	r, leave, err := k.connect(ctx, to)
	if err != nil {
		return err
	}
	defer leave()
	return r.follow(ctx, fmt.Sprintf("__keyspace@%d__:", to.options.DB), q.Redis.KeyPattern, sink)
}

// checkNotifications refuses a server that has only some of the keys, or tells of no changes. The connection is one of
// its own: the one that listens can be asked nothing.
func (k *Keys) checkNotifications(ctx context.Context, to connection) error {
	r, leave, err := k.connect(ctx, to)
	if err != nil {
		return err
	}
	defer leave()
	if _, err := r.check(ctx); err != nil {
		return err
	}
	settings, err := r.client.ConfigGet(ctx, notify).Result()
	if err != nil {
		// Most users may not ask, and most hosted servers have no such command. Those servers are believed.
		if err = r.failed(ctx, opConfig, err); fault.Is(err, fault.Denied, fault.Invalid) {
			return nil
		}
		return err
	}
	if flags, told := settings[notify]; told && !notifies(flags) {
		return &fault.Error{Kind: fault.Invalid, Operation: opConfig, Message: fmt.Sprintf(
			"%s: the server does not tell of changes, as its setting %s is %q: set it to Kghx for hashes, Kg$x for strings, or KA", r.host, notify, flags)}
	}
	return nil
}

// notifies reports whether the flags make a server tell of keys that change: by name, when they come and go, and when
// the values of one type at least are written.
func notifies(flags string) bool {
	has := func(either string) bool { return strings.ContainsAny(flags, either) }
	return has("K") && has("Ag") && has("Ah$d")
}

// follow tells of the keys that match until the stream ends.
func (r read) follow(ctx context.Context, prefix, pattern string, sink port.HintSink) error {
	stream := r.client.PSubscribe(ctx, prefix+pattern)
	defer func() { _ = stream.Close() }()
	hinter := store.NewHinter(sink)
	defer hinter.Close()

	// The caller's context is asked why the stream ended: one that is derived from it may end later than the connection.
	following, cancel := context.WithCancel(ctx)
	var pinging sync.WaitGroup
	defer pinging.Wait()
	defer cancel()
	pinging.Go(func() { ping(following, stream) })
	for {
		message, err := stream.Receive(ctx)
		if err != nil {
			return r.lost(ctx, err)
		}
		switch m := message.(type) {
		case *sdk.Subscription:
			sink.Ready()
		case *sdk.Message:
			hinter.Add(strings.TrimPrefix(m.Channel, prefix))
		}
	}
}

// ping makes the server say something from time to time. That it does not is noticed by the connection.
func ping(ctx context.Context, stream *sdk.PubSub) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = stream.Ping(ctx)
		}
	}
}

// lost is the failure of a stream.
func (r read) lost(ctx context.Context, err error) error {
	err = r.failed(ctx, opListen, err)
	if failure, ok := errors.AsType[*fault.Error](err); ok && failure.Code == codeNotPermitted {
		failure.Message = r.host + ": the user is not allowed to listen: its ACL needs +psubscribe, " +
			"and & with __keyspace@, the number of the database, __: and the pattern of the keys"
	}
	return err
}

// audible ends a connection on which nothing was heard for too long.
type audible struct {
	net.Conn
	silence time.Duration
}

// Read implements net.Conn.
func (a audible) Read(into []byte) (int, error) {
	if err := a.SetReadDeadline(time.Now().Add(a.silence)); err != nil {
		return 0, err
	}
	return a.Conn.Read(into)
}
