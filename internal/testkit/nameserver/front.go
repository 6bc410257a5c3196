package nameserver

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// Front is an address behind which servers can be exchanged.
type Front struct {
	tcp net.Listener
	udp net.PacketConn

	mu sync.Mutex
	to string
}

// NewFront returns a front that leads to a server, until the test ends.
func NewFront(tb testing.TB, to string) *Front {
	tb.Helper()
	f := &Front{to: to}
	config := &net.ListenConfig{}
	var err error
	for range 20 { // the port of one may be in use by the other
		f.tcp, err = config.Listen(tb.Context(), "tcp", "127.0.0.1:0")
		fatal(tb, err)
		if f.udp, err = config.ListenPacket(tb.Context(), "udp", f.tcp.Addr().String()); err == nil {
			break
		}
		fatal(tb, f.tcp.Close())
	}
	fatal(tb, err)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := f.tcp.Accept()
			if err != nil {
				return
			}
			running.Go(func() { f.session(c) })
		}
	})
	running.Go(func() {
		question := make([]byte, 65_535)
		for {
			n, client, err := f.udp.ReadFrom(question)
			if err != nil {
				return
			}
			f.datagram(question[:n], client)
		}
	})
	tb.Cleanup(func() {
		_ = f.tcp.Close()
		_ = f.udp.Close()
		running.Wait()
	})
	return f
}

// Address is where the front listens, for TCP and UDP.
func (f *Front) Address() string { return f.tcp.Addr().String() }

// Lead leads to another server.
func (f *Front) Lead(to string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.to = to
}

func (f *Front) server() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.to
}

func (f *Front) session(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := (&net.Dialer{}).Dial("tcp", f.server())
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
	_ = client.Close()
	<-done
}

func (f *Front) datagram(question []byte, client net.Addr) {
	m := new(dns.Msg)
	if m.Unpack(question) != nil {
		return
	}
	answer, _, err := (&dns.Client{Net: "udp", Timeout: time.Second}).Exchange(m, f.server())
	if err != nil {
		return
	}
	if packed, err := answer.Pack(); err == nil {
		_, _ = f.udp.WriteTo(packed, client)
	}
}

func fatal(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
