package nameserver

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

// Wire is a way to a server that fails when it is told to. Its methods are safe for concurrent use.
type Wire struct {
	server   string
	tcp      net.Listener
	udp      net.PacketConn
	release  func()
	running  sync.WaitGroup
	mu       sync.Mutex
	fails    failure
	closed   bool
	sessions map[io.Closer]bool
}

// failure is what happens to a message, or to what follows it.
type failure struct {
	// requests and answers of updates are lost, as many as that.
	requests, answers int
	// cut is after how many bytes of answers a connection ends; zero for never.
	cut int
	// deaf is true while nothing passes.
	deaf bool
}

// Wire makes a new way to the server, over UDP and TCP. It ends with the server.
func (s *Server) Wire(ctx context.Context) (*Wire, error) {
	ports, err := process.HoldPorts(ctx, 1)
	if err != nil {
		return nil, err
	}
	w := &Wire{server: s.Address(), release: ports.Release, sessions: map[io.Closer]bool{}}
	config := &net.ListenConfig{}
	if w.tcp, err = config.Listen(ctx, "tcp", ports.Address(0)); err != nil {
		ports.Release()
		return nil, fmt.Errorf("listening before the server: %w", err)
	}
	if w.udp, err = config.ListenPacket(ctx, "udp", ports.Address(0)); err != nil {
		ports.Release()
		return nil, errors.Join(fmt.Errorf("listening before the server: %w", err), w.tcp.Close())
	}
	w.running.Go(w.accept)
	w.running.Go(w.relay)
	s.depend(w)
	return w, nil
}

// Address is where the server answers by this way.
func (w *Wire) Address() string { return w.tcp.Addr().String() }

// LoseRequests ends the connection instead of passing on an update, n times. It is never carried out.
func (w *Wire) LoseRequests(n int) { w.fail(failure{requests: n}) }

// LoseAnswers ends the connection instead of passing on the answer to an update, n times. It is carried out.
func (w *Wire) LoseAnswers(n int) { w.fail(failure{answers: n}) }

// CutAfter ends each connection after that many bytes of its answers.
func (w *Wire) CutAfter(n int) { w.fail(failure{cut: n}) }

// Deafen lets nothing pass.
func (w *Wire) Deafen() { w.fail(failure{deaf: true}) }

// Heal lets everything pass again.
func (w *Wire) Heal() { w.fail(failure{}) }

func (w *Wire) fail(f failure) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fails = f
}

// Close ends the way.
func (w *Wire) Close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	err := errors.Join(w.tcp.Close(), w.udp.Close())
	for c := range w.sessions {
		_ = c.Close()
	}
	w.mu.Unlock()
	w.running.Wait()
	w.release()
	return err
}

// holds keeps a connection for Close, or closes it where that was called.
func (w *Wire) holds(c io.Closer) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		_ = c.Close()
		return false
	}
	w.sessions[c] = true
	return true
}

func (w *Wire) drop(c io.Closer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.sessions, c)
	_ = c.Close()
}

func (w *Wire) accept() {
	for {
		client, err := w.tcp.Accept()
		if err != nil {
			return
		}
		w.running.Go(func() { w.session(client) })
	}
}

// session passes messages between a client and the server, until one of them ends it or a message is lost.
func (w *Wire) session(client net.Conn) {
	if !w.holds(client) {
		return
	}
	defer w.drop(client)
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", w.server)
	if err != nil || !w.holds(server) {
		return
	}
	defer w.drop(server)
	var answers sync.WaitGroup
	answers.Go(func() {
		defer client.Close()
		w.pass(server, client, func(f *failure) *int { return &f.answers }, true)
	})
	w.pass(client, server, func(f *failure) *int { return &f.requests }, false)
	_ = server.Close()
	answers.Wait()
}

// pass copies messages until one is lost. Updates are counted off where lost points to.
func (w *Wire) pass(from io.Reader, to io.Writer, lost func(*failure) *int, answers bool) {
	const header, update = 12, 5
	passed := 0
	for {
		message, err := frame(from)
		if err != nil || len(message) < 2+header {
			return
		}
		w.mu.Lock()
		f := w.fails
		isUpdate := message[4]>>3&0xf == update
		loses := f.deaf || isUpdate && *lost(&f) > 0
		if loses && !f.deaf {
			*lost(&w.fails)--
		}
		w.mu.Unlock()
		if loses {
			return
		}
		if answers && f.cut > 0 && passed+len(message) > f.cut {
			_, _ = to.Write(message[:max(0, f.cut-passed)])
			return
		}
		passed += len(message)
		if _, err := to.Write(message); err != nil {
			return
		}
	}
}

// frame reads a message with the two bytes of its length.
func frame(from io.Reader) ([]byte, error) {
	length := make([]byte, 2)
	if _, err := io.ReadFull(from, length); err != nil {
		return nil, err
	}
	message := make([]byte, 2+int(binary.BigEndian.Uint16(length)))
	copy(message, length)
	_, err := io.ReadFull(from, message[2:])
	return message, err
}

// relay passes datagrams, with a socket for each question.
func (w *Wire) relay() {
	buffer := make([]byte, 64<<10)
	for {
		n, client, err := w.udp.ReadFrom(buffer)
		if err != nil {
			return
		}
		question := append([]byte(nil), buffer[:n]...)
		w.running.Go(func() { w.datagram(question, client) })
	}
}

func (w *Wire) datagram(question []byte, client net.Addr) {
	w.mu.Lock()
	deaf := w.fails.deaf
	w.mu.Unlock()
	server, err := (&net.Dialer{}).DialContext(context.Background(), "udp", w.server)
	if err != nil || deaf || !w.holds(server) {
		return
	}
	defer w.drop(server)
	answer := make([]byte, 64<<10)
	if _, err := server.Write(question); err != nil {
		return
	}
	if n, err := server.Read(answer); err == nil {
		_, _ = w.udp.WriteTo(answer[:n], client)
	}
}
