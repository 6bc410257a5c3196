package database

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

// Wire is what lies between the readers of a table and its engine. It can fail as a network does.
// Its methods are safe for concurrent use.
type Wire struct {
	mu sync.Mutex
	// fault is what happens when budget, the number of bytes that may still reach readers, is used up.
	fault  wireFault
	budget int64
	sent   int64
	links  map[*link]struct{}
	// changed is closed and replaced when the fault changes.
	changed chan struct{}
	// listen and deaf make a port of its own answer or not; nil where the engine has one for all tables.
	listen func() error
	deaf   func()
}

type wireFault int

const (
	healthy wireFault = iota
	cut
	hang
	drip
	refuse
)

// dripPause is how long a dripping wire waits after each piece.
const dripPause = 100 * time.Millisecond

// link is a connection, or a request where tables share their connections.
type link struct {
	// end ends it at once, without a goodbye.
	end func()
}

// errCut ends a link by order of the test.
var errCut = errors.New("the wire was cut")

func newWire() *Wire { return &Wire{links: map[*link]struct{}{}, changed: make(chan struct{})} }

// CutAfter lets n more bytes pass to readers, and then resets their connections and all new ones.
func (w *Wire) CutAfter(n int64) { w.set(cut, n) }

// HangAfter lets n more bytes pass to readers, and then none, while connections stay open.
func (w *Wire) HangAfter(n int64) { w.set(hang, n) }

// Drip lets pass n bytes at a time to readers, ten times a second.
func (w *Wire) Drip(n int64) { w.set(drip, n) }

// Refuse resets the connections, and lets no server listen. Where all tables share a port, new connections are reset
// before an answer.
func (w *Wire) Refuse() { w.set(refuse, 0) }

// Heal ends the fault.
func (w *Wire) Heal() error {
	w.set(healthy, 0)
	if w.listen != nil {
		return w.listen()
	}
	return nil
}

// Open is the number of connections of readers; of requests, where tables share connections.
func (w *Wire) Open() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.links)
}

// Sent is how many bytes have reached readers.
func (w *Wire) Sent() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent
}

func (w *Wire) set(fault wireFault, budget int64) {
	w.mu.Lock()
	w.fault, w.budget = fault, budget
	close(w.changed)
	w.changed = make(chan struct{})
	w.mu.Unlock()
	if fault == refuse && w.deaf != nil {
		w.deaf()
	}
	if fault == refuse || fault == cut && budget == 0 {
		w.endAll()
	}
}

func (w *Wire) endAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for l := range w.links {
		l.end()
	}
}

// join counts a link; ok is false when it has to be reset at once.
func (w *Wire) join(l *link) (ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.links[l] = struct{}{}
	return w.fault != refuse && (w.fault != cut || w.budget > 0)
}

func (w *Wire) leave(l *link) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.links, l)
}

// take asks to send n bytes. It returns how many may go, and whether to wait with the others until
// changed is closed. Fewer than n and no waiting means that the wire is cut.
func (w *Wire) take(n int64) (granted int64, wait <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fault == healthy {
		w.sent += n
		return n, nil
	}
	granted = min(n, w.budget)
	w.sent += granted
	if w.fault == drip {
		return granted, after(dripPause)
	}
	w.budget -= granted
	if w.fault == hang && granted < n {
		return granted, w.changed
	}
	return granted, nil
}

// after is closed when that time is over.
func after(d time.Duration) <-chan struct{} {
	over := make(chan struct{})
	time.AfterFunc(d, func() { close(over) })
	return over
}

// send writes to a reader what the wire lets through. It returns errCut when the wire is cut in it,
// or gone is closed.
func (w *Wire) send(to io.Writer, content []byte, gone <-chan struct{}) error {
	for len(content) > 0 {
		granted, wait := w.take(int64(len(content)))
		if _, err := to.Write(content[:granted]); err != nil {
			return err
		}
		content = content[granted:]
		switch {
		case len(content) == 0:
		case wait == nil:
			return errCut
		default:
			select {
			case <-wait:
			case <-gone:
				return errCut
			}
		}
	}
	return nil
}

// filter looks at the messages that go to the engine. It answers for the engine by writing to client.
type filter func(client io.Writer, server io.Writer, from io.Reader) error

// proxy is a port of a table's own, with the engine behind its wire.
type proxy struct {
	wire   *Wire
	target string
	ports  process.Ports
	filter filter

	mu       sync.Mutex
	listener net.Listener
	closed   bool
	serving  sync.WaitGroup
}

// newProxy opens a port. The filter may be nil.
func newProxy(ctx context.Context, target string, f filter) (*proxy, error) {
	if f == nil {
		f = func(_, server io.Writer, from io.Reader) error {
			_, err := io.Copy(server, from)
			return err
		}
	}
	p := &proxy{wire: newWire(), target: target, filter: f}
	p.wire.listen, p.wire.deaf = p.listen, p.deaf
	return p, process.RetryInUse(func() (err error) {
		p.ports.Release()
		if p.ports, err = process.HoldPorts(ctx, 1); err != nil {
			return err
		}
		return p.listen()
	})
}

func (p *proxy) address() string { return p.ports.Address(0) }

func (p *proxy) listen() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil || p.closed {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", p.address())
	if err != nil {
		return fmt.Errorf("opening the port of a table: %w", err)
	}
	p.listener = listener
	p.serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			p.serving.Go(func() { p.serve(conn) })
		}
	})
	return nil
}

func (p *proxy) deaf() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
}

// close ends all connections and waits for them.
func (p *proxy) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.wire.Refuse()
	p.serving.Wait()
	p.ports.Release()
}

// serve carries one connection until either side ends it.
func (p *proxy) serve(client net.Conn) {
	gone := make(chan struct{})
	end := sync.OnceFunc(func() {
		reset(client)
		close(gone)
	})
	l := &link{end: end}
	defer p.wire.leave(l)
	defer end()
	if !p.wire.join(l) {
		return
	}
	server, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(context.Background(), "tcp", p.target)
	if err != nil {
		return
	}
	toClient := lockedWriter{mu: &sync.Mutex{}, write: func(content []byte) error { return p.wire.send(client, content, gone) }}
	var up sync.WaitGroup
	up.Go(func() {
		_ = p.filter(toClient, server, client)
		// A reader that is gone gets nothing more, and the engine learns of it.
		_ = server.Close()
		end()
	})
	_, err = io.Copy(toClient, server)
	if err == nil {
		_ = client.Close() // the engine's own goodbye arrives whole
	}
	end()
	_ = server.Close()
	up.Wait()
}

// reset closes so that the other side learns of a broken connection and not of an end.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// lockedWriter lets engine and filter speak to a reader in turns.
type lockedWriter struct {
	mu    *sync.Mutex
	write func([]byte) error
}

func (w lockedWriter) Write(content []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.write(content); err != nil {
		return 0, err
	}
	return len(content), nil
}
