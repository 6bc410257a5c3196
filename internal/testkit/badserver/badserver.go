// Package badserver has servers that speak the protocols of databases and mean harm: lengths of a tebibyte, answers without
// end, rows that come one by one. They listen on loopback.
package badserver

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// Harm is what a server does to its client.
type Harm string

// The harms.
const (
	// Huge announces more than any machine has, and sends no more than that.
	Huge Harm = "a huge length"
	// Flood sends one answer that never ends.
	Flood Harm = "an answer without end"
	// Endless sends rows that never end.
	Endless Harm = "rows without end"
	// Fat sends rows with a value of 1 MiB.
	Fat Harm = "fat rows"
	// Deep sends values inside values.
	Deep Harm = "deep values"
	// Loop never ends and never sends a row.
	Loop Harm = "a scan without end"
	// Slow sends a row a second.
	Slow Harm = "a row a second"
	// Silent accepts the connection and says nothing.
	Silent Harm = "silence"
)

// pace is that of a slow server.
const pace = time.Second

// speaker speaks a protocol to one client.
type speaker func(harm Harm, from *bufio.Reader, to io.Writer, wait func() bool) error

var speakers = map[mapping.Provider]speaker{
	mapping.Postgres: speakPostgres, mapping.MySQL: speakMySQL, mapping.MongoDB: speakMongo, mapping.Redis: speakRedis,
}

var forms = map[mapping.Provider]string{
	mapping.Postgres: "postgres://user:password@%s/customers?sslmode=disable", mapping.MySQL: "user:password@tcp(%s)/customers",
	mapping.MongoDB: "mongodb://%s/?directConnection=true", mapping.Redis: "redis://%s/0",
}

// Harms are those that a protocol can do.
func Harms(provider mapping.Provider) []Harm {
	common := []Harm{Huge, Flood, Endless, Fat, Slow, Silent}
	if provider == mapping.MongoDB || provider == mapping.Redis {
		return append(common, Deep, Loop)
	}
	return common
}

// Start starts a server that ends with the test, and returns the connection string for it.
func Start(t *testing.T, provider mapping.Provider, harm Harm) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { serve(ctx, conn, speakers[provider], harm) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		cancel()
		serving.Wait()
	})
	return fmt.Sprintf(forms[provider], listener.Addr())
}

// serve speaks until the client has had enough.
func serve(ctx context.Context, conn net.Conn, speak speaker, harm Harm) {
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if harm == Silent {
		_, _ = io.Copy(io.Discard, conn)
		return
	}
	wait := func() bool {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(pace):
			return true
		}
	}
	_ = speak(harm, bufio.NewReader(conn), conn, wait) // the client ends it
}

// large is what a flood consists of.
var large = make([]byte, 1<<20)

// flood writes until the client has gone.
func flood(to io.Writer) error {
	for {
		if _, err := to.Write(large); err != nil {
			return err
		}
	}
}

// fat is the length of a fat value.
const fat = 1 << 20

// fatValue is sent as it is: a server in the process of a test must not be what takes its memory.
var fatValue = bytes.Repeat([]byte("x"), fat)

// rows sends rows of one value, each behind a header.
func rows(harm Harm, to io.Writer, wait func() bool, header func(length int) []byte) error {
	value := []byte("x")
	if harm == Fat {
		value = fatValue
	}
	for {
		if harm == Slow && !wait() {
			return io.EOF
		}
		for _, part := range [][]byte{header(len(value)), value} {
			if _, err := to.Write(part); err != nil {
				return err
			}
		}
	}
}
