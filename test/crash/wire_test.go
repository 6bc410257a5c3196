package crash_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/miekg/dns"
)

// listenTLS serves the DNS provider over https, and has the operator trust the certificate.
func (r *replica) listenTLS() (address string, err error) {
	throwaway := httptest.NewTLSServer(nil) // for its certificate, which is for loopback addresses
	throwaway.Close()
	file := filepath.Join(r.dir, r.name+"-ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: throwaway.Certificate().Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return "", err
	}
	r.env = append(r.env, "SSL_CERT_FILE="+file)
	listener, err := (&net.ListenConfig{}).Listen(r.stage.ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listening for %s: %w", dnsSide, err)
	}
	server := &http.Server{
		Handler: r.stage.gate.handler(dnsSide, r), ReadHeaderTimeout: time.Minute, ErrorLog: silent,
		TLSConfig: &tls.Config{Certificates: throwaway.TLS.Certificates, MinVersion: tls.VersionTLS12},
		// A connection of HTTP/2 can't be reset for one of its calls.
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
	go func() { _ = server.ServeTLS(listener, "", "") }()
	r.servers = append(r.servers, server)
	return listener.Addr().String(), nil
}

// dnsListener is where a replica believes the name server to be. Each message over TCP is a call at the gate. Those over
// UDP pass, as long as the server can be reached.
type dnsListener struct {
	replica *replica
	handler http.Handler
	tcp     net.Listener
	udp     net.PacketConn
	server  string
}

// listenDNS listens for messages of DNS.
func (r *replica) listenDNS() (address string, err error) {
	l := &dnsListener{replica: r, handler: r.stage.gate.handler(dnsSide, r), server: r.stage.elsewhere.service.(*bindService).primary.Address()}
	var config net.ListenConfig
	// The port that the system picks is free for UDP, and may be taken for TCP.
	for range 10 {
		if l.udp, err = config.ListenPacket(r.stage.ctx, "udp", "127.0.0.1:0"); err != nil {
			break
		}
		if l.tcp, err = config.Listen(r.stage.ctx, "tcp", l.udp.LocalAddr().String()); err == nil {
			break
		}
		_ = l.udp.Close()
	}
	if err != nil {
		return "", fmt.Errorf("listening for %s: %w", dnsSide, err)
	}
	go l.accept()
	go l.relay()
	r.servers = append(r.servers, l)
	return l.tcp.Addr().String(), nil
}

// Close implements io.Closer. The sessions end with their clients.
func (l *dnsListener) Close() error { return errors.Join(l.tcp.Close(), l.udp.Close()) }

func (l *dnsListener) accept() {
	for {
		conn, err := l.tcp.Accept()
		if err != nil {
			return
		}
		go l.session(conn)
	}
}

// session takes the messages of a connection, one after the other. The context ends when the client does not wait any more.
func (l *dnsListener) session(conn net.Conn) {
	defer conn.Close()
	ctx, cancel := context.WithCancel(l.replica.stage.ctx)
	defer cancel()
	messages := make(chan []byte)
	go func() {
		defer close(messages)
		defer cancel()
		for {
			message, err := readFrame(conn)
			if err != nil {
				return
			}
			select {
			case messages <- message:
			case <-ctx.Done():
				return
			}
		}
	}()
	for message := range messages {
		if !l.exchange(ctx, conn, message) {
			return
		}
	}
}

// exchange has the gate deal with a message. It reports whether the connection can take another.
func (l *dnsListener) exchange(ctx context.Context, conn net.Conn, message []byte) (open bool) {
	m := new(dns.Msg)
	if err := m.Unpack(message); err != nil || len(m.Question) != 1 {
		return false
	}
	r := &http.Request{Method: http.MethodGet, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(message))}
	kind := dns.TypeToString[m.Question[0].Qtype]
	if m.Opcode == dns.OpcodeUpdate {
		r.Method, kind = http.MethodPost, dns.OpcodeToString[m.Opcode]
	}
	r.URL = &url.URL{Scheme: "dns", Host: kind, Path: "/" + m.Question[0].Name}
	return passOn(l.handler, conn, r.WithContext(ctx))
}

// passOn has a handler deal with a message that is none of HTTP. It reports whether the connection can take another.
func passOn(h http.Handler, conn net.Conn, r *http.Request) (open bool) {
	w := &rawWriter{conn: conn, header: http.Header{}}
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler { //nolint:errorlint // a panic's value is compared as net/http does
				panic(p)
			}
			open = false
		}
	}()
	h.ServeHTTP(w, r)
	return w.wrote
}

// rawWriter sends what is written as it is.
type rawWriter struct {
	conn   net.Conn
	header http.Header
	wrote  bool
}

// Header implements http.ResponseWriter.
func (w *rawWriter) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter. Only HTTP has one.
func (w *rawWriter) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (w *rawWriter) Write(b []byte) (int, error) {
	w.wrote = true
	return w.conn.Write(b)
}

// Hijack implements http.Hijacker.
func (w *rawWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.wrote = false
	return w.conn, nil, nil
}

// relay passes datagrams, each with a socket of its own.
func (l *dnsListener) relay() {
	buffer := make([]byte, dns.MaxMsgSize)
	for {
		n, client, err := l.udp.ReadFrom(buffer)
		if err != nil {
			return
		}
		question := bytes.Clone(buffer[:n])
		go func() {
			if process := l.replica.running(); process == nil || process.isDead() || l.replica.stage.gate.refuses(dnsSide) {
				return
			}
			server, err := (&net.Dialer{}).DialContext(l.replica.stage.ctx, "udp", l.server)
			if err != nil {
				return
			}
			defer server.Close()
			_ = server.SetDeadline(time.Now().Add(10 * time.Second))
			answer := make([]byte, dns.MaxMsgSize)
			if _, err := server.Write(question); err != nil {
				return
			}
			if n, err := server.Read(answer); err == nil {
				_, _ = l.udp.WriteTo(answer[:n], client) // a client that went away is no concern of ours
			}
		}()
	}
}

// frame is a message with its length before it, as it is sent over TCP.
func frame(message []byte) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(message))), message...)
}

func readFrame(r io.Reader) ([]byte, error) {
	var length [2]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	message := make([]byte, binary.BigEndian.Uint16(length[:]))
	_, err := io.ReadFull(r, message)
	return message, err
}
