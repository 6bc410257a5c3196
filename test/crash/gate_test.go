package crash_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// side is one of the ways out of the operator.
type side string

const (
	awsSide  side = "aws"
	kubeSide side = "kube"
	// dnsSide is the API of a DNS provider other than Route 53, where a lifecycle has one. For ExternalDNS that is a part of
	// the API server.
	dnsSide side = "dns"
	// tableSide is the state table of a source.
	tableSide side = "table"
)

// call is what a request asks for.
type call struct {
	side      side
	operation string
	// process is who makes it.
	process string
	// counted calls are boundaries. The others pass: watches, leases, events, discovery.
	counted bool
	writes  bool
	watches bool
	// conditional calls carry the version that they were decided on.
	conditional bool
	// target is the path and the query, decoded.
	target string
	// at is when it arrived.
	at time.Time
	// body is what a write carries.
	body []byte
}

// boundary is the n-th call of an operation since faults were armed.
type boundary struct {
	side      side
	operation string
	n         int
}

func (b boundary) String() string { return fmt.Sprintf("%s:%s#%d", b.side, b.operation, b.n) }

// trigger says when a fault strikes: at a boundary or, where that is empty, at the n-th
// call counted from the fault before.
type trigger struct {
	boundary boundary
	next     int
}

func (t trigger) String() string {
	if t.next > 0 {
		return "next#" + strconv.Itoa(t.next)
	}
	return t.boundary.String()
}

// fault is an effect and when it strikes.
type fault struct {
	at     trigger
	effect string
	struck bool
}

// line is one call in the journal.
type line struct {
	since   time.Duration
	process string
	call    call
	n       int
	fault   string
	outcome string
}

func (l line) String() string {
	name := l.call.operation
	if l.n > 0 {
		name += "#" + strconv.Itoa(l.n)
	}
	s := fmt.Sprintf("%8.3fs %-5s %-4s %-40s %-12s %s", l.since.Seconds(), l.process, l.call.side, name, l.outcome, l.call.target)
	if l.fault != "" {
		s += "   <-- " + l.fault
	}
	return s
}

// gate stands in all ways out of one case's operators. It numbers their calls, writes
// them down, and lets faults strike.
type gate struct {
	next map[side]http.Handler
	// arrived is called with each write as it was sent, before with each write to AWS that is about
	// to be forwarded.
	arrived, before func(c call)
	// answered is called with each answer of AWS that the operator gets whole.
	answered func(c call, answer *httptest.ResponseRecorder)
	// strike carries an effect out. It reports whether the call is dealt with.
	strike func(x *exchange, m moment) bool
	// provider is the DNS provider other than Route 53, nil where the lifecycle has none.
	provider *provider

	mu      sync.Mutex
	began   time.Time
	armed   bool
	counts  map[string]int
	passed  int
	plan    []*fault
	chaos   func(c call) string
	journal []line
	// keeps bounds the journal to n lines at least, 0 for all; dropped counts those that it had before.
	keeps, dropped int
	// struck counts the calls that a fault struck, underway those of them that are not over.
	struck, underway int
	writes           map[side]int
	watches          map[int]context.CancelFunc
	watchN           int
	// watching counts the watches that are open, by process and by what it has ever watched.
	watching map[string]map[string]int
	// refusing connections stands for an API server that is down.
	refusing map[side]bool
}

func newGate(aws, kube http.Handler) *gate {
	return &gate{
		next: map[side]http.Handler{awsSide: aws, kubeSide: kube, tableSide: http.HandlerFunc(carryOut)}, began: time.Now(),
		counts: map[string]int{}, writes: map[side]int{}, watches: map[int]context.CancelFunc{}, watching: map[string]map[string]int{}, refusing: map[side]bool{},
	}
}

// exchange is one call on its way.
type exchange struct {
	call    call
	process *proc
	w       http.ResponseWriter
	r       *http.Request
	body    []byte
	// answer is there once the server has committed.
	answer *httptest.ResponseRecorder
	// effect is what strikes this call.
	effect string
	line   int
}

// arm starts counting: the faults are meant for what comes now.
func (g *gate) arm(plan []*fault) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.armed, g.plan, g.counts, g.passed = true, plan, map[string]int{}, 0
}

// disarm ends all faults and returns those that never struck.
func (g *gate) disarm() (unreached []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range g.plan {
		if !f.struck {
			unreached = append(unreached, f.effect+" at "+f.at.String())
		}
	}
	g.plan, g.chaos = nil, nil
	return unreached
}

func (g *gate) setChaos(chaos func(c call) string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.chaos = chaos
}

// striking reports whether an effect is under way.
func (g *gate) striking() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.underway > 0
}

// deaf reports whether a process that runs lacks a watch that it had.
func (g *gate) deaf() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, open := range g.watching {
		for _, n := range open {
			if n == 0 {
				return true
			}
		}
	}
	return false
}

// forget drops what is known of the watches of a process that has ended.
func (g *gate) forget(process string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.watching, process)
}

// written is how many writes each side was sent.
func (g *gate) written() map[side]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.writes)
}

// seen is how many calls of an operation were made since faults were armed.
func (g *gate) seen(s side, operation string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.counts[string(s)+operation]
}

// boundaries lists the counted calls since faults were armed, in order.
func (g *gate) boundaries() (out []boundary) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range g.journal {
		if l.n > 0 {
			out = append(out, boundary{l.call.side, l.call.operation, l.n})
		}
	}
	return out
}

func (g *gate) text() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var b strings.Builder
	for _, l := range g.journal {
		fmt.Fprintln(&b, l)
	}
	return b.String()
}

// note adds an event that is not a call.
func (g *gate) note(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.add(line{since: time.Since(g.began), process: "-", call: call{operation: fmt.Sprintf(format, args...)}})
}

// dropWatches ends all watches, as a restart of the API server does.
func (g *gate) dropWatches() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, cancel := range g.watches {
		cancel()
	}
}

// refuse makes a side unreachable, or reachable again.
func (g *gate) refuse(s side, refuse bool) {
	g.mu.Lock()
	g.refusing[s] = refuse
	g.mu.Unlock()
	if refuse && s == kubeSide {
		g.dropWatches()
	}
}

func (g *gate) refuses(s side) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refusing[s]
}

// handler takes the calls that one replica makes to one side.
func (g *gate) handler(s side, r *replica) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.ownSecret(req)
		c := g.understand(g.sideOf(s, req), req)
		process := r.running()
		if process == nil || process.isDead() || g.refuses(s) || g.refuses(c.side) {
			reset(w)
			return
		}
		switch {
		case c.watches:
			g.watch(process.name, w, req)
		case !c.counted:
			g.next[c.side].ServeHTTP(w, req)
		default:
			g.exchange(&exchange{call: c, process: process, w: w, r: req})
		}
	})
}

// sideOf is the side that a call is meant for: what a provider has in the cluster is reached by way of the API server.
func (g *gate) sideOf(s side, r *http.Request) side {
	if p := g.provider; s == kubeSide && p != nil && p.inCluster != nil && p.inCluster(r) {
		return dnsSide
	}
	return s
}

func (g *gate) watch(process string, w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer g.opened(process, r.URL.Path, cancel)() // the proxy ends a watch that was cancelled with a panic
	g.next[kubeSide].ServeHTTP(w, r.WithContext(ctx))
}

// opened notes a watch, until closed is called.
func (g *gate) opened(process, path string, cancel context.CancelFunc) (closed func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.watchN++
	n := g.watchN
	g.watches[n] = cancel
	if g.watching[process] == nil {
		g.watching[process] = map[string]int{}
	}
	open := g.watching[process]
	open[path]++
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.watches, n)
		open[path]--
	}
}

// bodyShown is how much of a write is shown in the journal.
const bodyShown = 2000

// shown is what the journal has of a write's body.
func shown(c call) string {
	switch {
	case c.operation == changeRecords:
		return " " + readBatch(c.body).String()
	case c.operation == changeAtBIND:
		return " " + readUpdate(c.body)
	case c.side == tableSide:
		return " " + strings.ReplaceAll(string(c.body[max(0, len(c.body)-bodyShown):]), "\r\n", " ")
	case c.side == dnsSide, c.side == kubeSide, c.operation == deleteCertificate:
		return " " + string(c.body[:min(len(c.body), bodyShown)])
	}
	return ""
}

func (g *gate) exchange(x *exchange) {
	// The whole request is taken in, or a client that gives up would not be noticed.
	body, err := io.ReadAll(x.r.Body)
	if err != nil {
		return
	}
	x.r.Body = io.NopCloser(bytes.NewReader(body))
	x.call.process, x.body = x.process.name, body
	if x.call.writes {
		x.call.body = body
		x.call.target += shown(x.call)
	}
	x.call.at = time.Now()
	defer g.over(x)
	g.arrive(x)
	if x.call.writes && g.arrived != nil {
		g.arrived(x.call)
	}
	if x.effect != "" && g.strike(x, beforeCommit) {
		return
	}
	if !g.forward(x) {
		return
	}
	if x.effect != "" && g.strike(x, afterCommit) {
		return
	}
	if x.call.side == awsSide && g.answered != nil {
		g.answered(x.call, x.answer)
	}
	deliver(x.w, x.answer, len(x.answer.Body.Bytes()))
	if x.effect != "" {
		g.strike(x, afterAnswer)
	}
}

// arrive numbers the call and finds the fault that is meant for it.
func (g *gate) arrive(x *exchange) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := line{since: time.Since(g.began), process: x.process.name, call: x.call}
	if g.armed {
		key := string(x.call.side) + x.call.operation
		g.counts[key]++
		g.passed++
		l.n = g.counts[key]
		x.effect = g.choose(boundary{x.call.side, x.call.operation, l.n}, x.call)
	}
	if l.fault, l.outcome = x.effect, "-"; x.effect != "" {
		g.struck++
		g.underway++
	}
	x.line = g.dropped + len(g.journal)
	g.add(l)
}

// over notes that a call, and what has struck it, has come to its end.
func (g *gate) over(x *exchange) {
	if x.effect == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.underway--
}

// add needs the lock.
func (g *gate) add(l line) {
	if g.keeps > 0 && len(g.journal) >= 2*g.keeps {
		g.journal = slices.Clone(g.journal[g.keeps:])
		g.dropped += g.keeps
	}
	g.journal = append(g.journal, l)
}

func (g *gate) choose(b boundary, c call) string {
	for n, f := range g.plan {
		if f.struck {
			continue
		}
		if f.at.next == 0 && f.at.boundary == b || f.at.next > 0 && g.passed >= f.at.next {
			f.struck = true
			g.passed = 0
			return f.effect
		}
		if n+1 < len(g.plan) {
			break // Each waits for the one before it.
		}
	}
	if g.chaos != nil {
		return g.chaos(c)
	}
	return ""
}

// forward has the server carry the call out. A call of a process that was killed
// meanwhile is lost on the way.
func (g *gate) forward(x *exchange) bool {
	if x.process.isDead() {
		g.settle(x, "lost")
		return false
	}
	if x.call.side == awsSide && x.call.writes && g.before != nil {
		g.before(x.call)
	}
	x.answer = httptest.NewRecorder()
	if x.call.writes && x.call.operation != pollReport {
		g.mu.Lock()
		g.writes[x.call.side]++
		g.mu.Unlock()
	}
	// A call that was sent is carried out, whether or not the client is there to see it.
	g.next[x.call.side].ServeHTTP(x.answer, x.r.WithContext(context.WithoutCancel(x.r.Context())))
	g.settle(x, strconv.Itoa(x.answer.Code))
	return true
}

func (g *gate) settle(x *exchange, outcome string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := x.line - g.dropped; n >= 0 {
		g.journal[n].outcome = outcome
	}
}

// deliver sends an answer, or the first n bytes of it.
func deliver(w http.ResponseWriter, answer *httptest.ResponseRecorder, n int) {
	maps.Copy(w.Header(), answer.Header())
	body := answer.Body.Bytes()
	if len(body) > 0 {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(body[:n]) // a client that went away is no concern of ours
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

// reset closes the connection so that the client sees a reset.
func reset(w http.ResponseWriter) {
	if hijacker, ok := w.(http.Hijacker); ok {
		if conn, _, err := hijacker.Hijack(); err == nil {
			if encrypted, ok := conn.(*tls.Conn); ok {
				conn = encrypted.NetConn()
			}
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
			_ = conn.Close()
			return
		}
	}
	panic(http.ErrAbortHandler)
}
