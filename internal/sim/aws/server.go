package aws

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// maxBody bounds a request; the largest legal one is a distribution
// configuration of some hundred kilobytes.
const maxBody = 4 << 20

// answer is what goes back to the client, or the way in which nothing does.
type answer struct {
	status int
	header http.Header
	body   []byte
	effect FaultEffect // empty: the answer arrives
}

// ServeHTTP implements [http.Handler]: the AWS services, and the control API
// below /_sim/.
func (s *Sim) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, controlPrefix) {
		s.control(w, r)
		return
	}
	a, err := s.exchange(r)
	if err != nil {
		return // the client is gone
	}
	switch a.effect {
	case EffectHang:
		if s.hang(r.Context()) == nil {
			cut(w)
		}
	case EffectReset:
		cut(w)
	case EffectTruncate:
		writeAnswer(w, a, a.body[:len(a.body)/2])
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		panic(http.ErrAbortHandler) // closes the connection without a log line
	default:
		writeAnswer(w, a, a.body)
	}
}

func writeAnswer(w http.ResponseWriter, a answer, body []byte) {
	header := w.Header()
	maps.Copy(header, a.header)
	if len(a.body) > 0 {
		header.Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(body) // a client that went away is no concern of ours
}

// cut closes the connection so that the client sees a reset, not an end.
func cut(w http.ResponseWriter) {
	if hijacker, ok := w.(http.Hijacker); ok {
		if conn, _, err := hijacker.Hijack(); err == nil {
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
			_ = conn.Close()
			return
		}
	}
	panic(http.ErrAbortHandler)
}

// Transport returns a round tripper that answers without a socket. A hang lasts
// until the request's context ends, a reset is an error that wraps ECONNRESET,
// and a truncated body ends with [io.ErrUnexpectedEOF].
func (s *Sim) Transport() http.RoundTripper {
	return transport{s}
}

type transport struct{ sim *Sim }

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if strings.HasPrefix(r.URL.Path, controlPrefix) {
		var w memoryWriter
		t.sim.control(&w, r)
		return w.response(r), nil
	}
	a, err := t.sim.exchange(r)
	if err != nil {
		return nil, err
	}
	switch a.effect {
	case EffectHang:
		if err := t.sim.hang(r.Context()); err != nil {
			return nil, err
		}
		return nil, connectionReset()
	case EffectReset:
		return nil, connectionReset()
	case EffectTruncate:
		resp := response(r, a.status, a.header, a.body)
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(a.body[:len(a.body)/2]), brokenReader{}))
		return resp, nil
	default:
		return response(r, a.status, a.header, a.body), nil
	}
}

func response(r *http.Request, status int, header http.Header, body []byte) *http.Response {
	return &http.Response{
		Status:        strconv.Itoa(status) + " " + http.StatusText(status),
		StatusCode:    status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        header,
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)),
		Request:       r,
	}
}

func connectionReset() error {
	return &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// memoryWriter collects what a handler writes.
type memoryWriter struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *memoryWriter) Header() http.Header {
	if w.header == nil {
		w.header = http.Header{}
	}
	return w.header
}

func (w *memoryWriter) WriteHeader(status int) { w.status = status }

func (w *memoryWriter) Write(p []byte) (int, error) { return w.body.Write(p) }

func (w *memoryWriter) response(r *http.Request) *http.Response {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return response(r, w.status, w.Header(), w.body.Bytes())
}

// exchange takes a request to its answer. An error means that the client gave
// up while the answer was delayed.
func (s *Sim) exchange(r *http.Request) (answer, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(io.LimitReader(r.Body, maxBody+1)); err != nil {
			return answer{}, fmt.Errorf("reading the request: %w", err)
		}
	}
	svc := s.route(r)
	var c *call
	var refused error
	if len(body) > maxBody {
		c, refused = &call{op: unknownOperation}, refuse(http.StatusRequestEntityTooLarge, "RequestTooLarge", "The request is larger than %d bytes.", maxBody)
	} else {
		c, refused = svc.decode(r, body)
	}
	c.svc = svc
	return s.perform(r.Context(), c, credentialOf(r), refused)
}

// perform runs one call: request rate, fault, the operation itself, journal.
func (s *Sim) perform(ctx context.Context, c *call, who credential, refused error) (answer, error) {
	fault, err := s.arrive(c, who, refused == nil)
	if err != nil {
		return s.settle(c, reply{}, err, nil), nil
	}
	if fault != nil && fault.Kind != AfterCommit {
		if err := s.wait(ctx, fault.Latency); err != nil {
			s.settle(c, reply{}, errClientGone, nil)
			return answer{}, err
		}
		if fault.fails() {
			return s.settle(c, reply{}, fault.answer(), fault), nil
		}
	}
	out, err := s.execute(c, refused)
	if fault == nil || fault.Kind != AfterCommit {
		return s.settle(c, out, err, fault), nil
	}
	lost := s.settle(c, out, err, fault)
	if err := s.wait(ctx, fault.Latency); err != nil {
		return answer{}, err
	}
	return lost, nil
}

// arrive admits a call: it finds the account, counts the request against the
// request rates and looks for a fault that matches. It returns an error for a caller that comes too often, or with
// invalid credentials.
func (s *Sim) arrive(c *call, who credential, wellFormed bool) (*Fault, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	c.requestID = s.derive.uuid("request", strconv.FormatUint(s.requests, 10))
	c.now = s.now()
	if err := s.authenticate(c, who); err != nil {
		return nil, err
	}
	if wellFormed {
		s.identify(c)
	}
	if !s.limits.allow(c) {
		c.throttled = true
		return nil, throttled(c.svc)
	}
	return s.faults.match(c, s.derive), nil
}

// execute runs the operation.
func (s *Sim) execute(c *call, refused error) (reply, error) {
	if refused != nil {
		return reply{}, refused
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.now = s.now()
	s.progress(c.now)
	if c.op.mutating {
		s.watch(c.op.name, false)
	}
	out, err := c.op.handle(s, c)
	if c.committed = err == nil && c.op.mutating; c.committed {
		s.watch(c.op.name, true)
	}
	return out, err
}

// settle renders the answer and records the call.
func (s *Sim) settle(c *call, out reply, err error, fault *Fault) answer {
	a := s.render(c, out, err)
	code := codeOK
	if err != nil {
		code = c.svc.codeOf(err)
	}
	if fault != nil && fault.fails() {
		switch {
		case fault.Effect != EffectError:
			a.effect = fault.Effect
			code = string(fault.Effect)
		case fault.Kind == AfterCommit:
			a = s.render(c, reply{}, fault.answer())
			code = fault.Error.Code
		}
		if a.effect == EffectTruncate && len(a.body) < 2 {
			a.effect = EffectReset // nothing to cut short
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record(c, a.status, code, fault)
	return a
}

func (s *Sim) render(c *call, out reply, err error) answer {
	var a answer
	if err != nil {
		a = c.svc.encodeError(c, err)
	} else {
		a = c.svc.encode(c, out)
	}
	a.header.Set("X-Amzn-Requestid", c.requestID)
	a.header.Set("Date", c.now.Format(http.TimeFormat))
	return a
}

// errClientGone is recorded in the journal for a call whose client gave up before it was performed; it is never sent as
// an answer.
var errClientGone = &apiError{Status: statusClientGone, Code: "ClientGone", Message: "the client gave up"}

// statusClientGone is the status web servers log in that case.
const statusClientGone = 499

// throttled is how a service answers a request above the rate.
func throttled(svc service) error {
	return refuse(http.StatusBadRequest, svc.throttleCode(), "Rate exceeded")
}

// wait holds an answer back. It uses a timer, not the clock: latency is about
// the client's patience, which runs in the client's time.
func (s *Sim) wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hang waits until the client gives up. It returns nil if the faults were
// cleared meanwhile; the connection is reset then.
func (s *Sim) hang(ctx context.Context) error {
	released := make(chan struct{})
	s.mu.Lock()
	s.hanging[released] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.hanging, released)
	}()
	select {
	case <-released:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// release cuts the calls that hang. It needs the lock.
func (s *Sim) release() {
	for waiting := range s.hanging {
		close(waiting)
		delete(s.hanging, waiting)
	}
}

// asAPIError finds the refusal in an error; anything else is the simulator's own
// failure.
func asAPIError(err error) *apiError {
	if refused, ok := errors.AsType[*apiError](err); ok {
		return refused
	}
	return &apiError{Status: http.StatusInternalServerError, Code: "InternalError", Message: err.Error()}
}
