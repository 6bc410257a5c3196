package crash_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/redis"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

// oracleStates wants the state table to say what the status of the objects says, and rows of others to stay as they are.
const oracleStates = "state table"

// writeState is the call that writes one row of a state table.
const writeState = "WriteState"

// stateSecret has the connection string for writing. Each replica gets one of its own, which leads to the gate.
const stateSecret = "states"

// tableFaults strike each call that writes a row.
var tableFaults = []string{"error-before", "error-committed", "throttle", "denied", "hang-before", "hang-committed", "late", "reset-before", "reset-committed", "truncated"}

// statesWithin is how soon after the end of the changes the table has to have them, where nothing went wrong; after a failure the next
// try comes a minute later at most.
const (
	statesWithin      = 5 * time.Second
	statesWithinAtAll = time.Minute + statesWithin
)

// writeStates has the source write a state table, in which there are rows of other sources.
func (s *stage) writeStates(o *v1alpha1.TenantSource) {
	engine, err := theStore()
	s.must("starting the store", err)
	s.source.states, err = engine.NewStateTable(s.ctx)
	s.must("making a state table", err)
	for _, other := range []string{"another/" + s.namespace + "/" + customers, s.stateSource() + "-2"} {
		row := statetable.Row{Source: other, Key: "acme", Name: "acme", State: "Live", Domains: "[]", Since: time.Now(), Updated: time.Now(), Version: 1}
		_, err := redis.New(store.Config{Timeout: time.Minute}).Write(s.ctx, s.source.states.Target(other), []statetable.Change{{Row: row}})
		s.must("writing a row of another source", err)
	}
	_, s.source.theirs = s.stateRows()
	for _, r := range s.replicas {
		connection, err := url.Parse(s.source.states.Query().Connection.Reveal())
		s.must("reading the connection string", err)
		r.states.upstream.Store(connection.Host)
		connection.Host = r.states.listener.Addr().String()
		here := metav1.ObjectMeta{Namespace: s.namespace, Name: stateSecret + "-" + r.name, Labels: map[string]string{v1alpha1.LabelTenantSource: customers}}
		s.must("creating the Secret", s.rig.kube.Create(s.ctx, &corev1.Secret{ObjectMeta: here, StringData: map[string]string{"connectionString": connection.String()}}))
	}
	o.Spec.WriteBack = &v1alpha1.SourceWriteBack{Table: s.source.states.Name(), ConnectionSecretRef: &v1alpha1.SecretReference{Name: stateSecret}}
}

// ownSecret has a replica read the Secret that is its own.
func (r *replica) ownSecret(req *http.Request) {
	if strings.HasSuffix(req.URL.Path, "/secrets/"+stateSecret) {
		req.URL.Path += "-" + r.name
	}
}

// stateSource names the source in the state table.
func (s *stage) stateSource() string { return clusterID + "/" + s.namespace + "/" + customers }

// stateRows are the rows of the source by their keys, and those of others by source.
func (s *stage) stateRows() (ours, theirs map[string]map[string]string) {
	rows, err := s.source.states.Rows(s.ctx)
	s.must("reading the state table", err)
	ours, theirs = map[string]map[string]string{}, map[string]map[string]string{}
	for _, row := range rows {
		if row[statetable.ColumnSource] == s.stateSource() {
			ours[row[statetable.ColumnKey]] = row
		} else {
			theirs[row[statetable.ColumnSource]] = row
		}
	}
	if len(ours)+len(theirs) != len(rows) {
		s.violate(oracleStates, "a key has two rows: %v", rows)
	}
	return ours, theirs
}

// wrongStates says what is wrong with the state table; empty if it says what the objects say.
func (s *stage) wrongStates() string {
	objects := s.objects()
	rows, theirs := s.stateRows()
	if !reflect.DeepEqual(theirs, s.source.theirs) {
		return fmt.Sprintf("rows of other sources were\n%v, and are\n%v", s.source.theirs, theirs)
	}
	gone := map[string]bool{}
	for _, name := range s.namesOfSource() {
		gone[name] = true
	}
	for i := range objects {
		want, known := convert.StateRow(&objects[i], s.stateSource())
		got, found := rows[objects[i].Name]
		delete(rows, objects[i].Name)
		delete(gone, objects[i].Name)
		read := mapping.Row{Values: anyOf(got)}
		if known && (!found || want.Digest() != statetable.DigestOf(read) || want.Version < statetable.VersionOf(read)) {
			return fmt.Sprintf("the row of %s is\n%v, and has to be\n%+v", objects[i].Name, got, want)
		}
	}
	for name := range gone {
		if _, found := rows[name]; !found {
			return fmt.Sprintf("%s is gone, and has no row", name)
		}
	}
	for key, row := range rows {
		if row["state"] != statetable.Gone {
			return fmt.Sprintf("there is no object for the row %s: %v", key, row)
		}
	}
	return ""
}

func anyOf(texts map[string]string) map[string]any {
	values := map[string]any{}
	for name, text := range texts {
		values[name] = text
	}
	return values
}

// namesOfSource are the names of all objects that the source ever had.
func (s *stage) namesOfSource() (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range maps.Values(s.uids) {
		out = append(out, name)
	}
	return out
}

// states is when the state table says what the objects say.
func (s *stage) states() bool { return s.wrongStates() == "" }

// awaitStates gives the operator the time that it may take to write what has changed.
func (s *stage) awaitStates(k *kase) {
	within := statesWithin
	if k.family != "reference" {
		within = statesWithinAtAll
	}
	for end := time.Now().Add(within); !s.states() && time.Now().Before(end); {
		s.pause(50 * time.Millisecond)
	}
}

func (s *stage) checkStates() {
	if s.source == nil {
		return
	}
	if problem := s.wrongStates(); problem != "" {
		s.violate(oracleStates, "at the end %s", problem)
	}
}

// tableListener is where a replica believes the state table to be. Each command of Redis is a call at the gate.
type tableListener struct {
	replica  *replica
	listener net.Listener
	// upstream is the address of the table.
	upstream atomic.Value
}

// listenTable listens for commands of Redis.
func (r *replica) listenTable() (*tableListener, error) {
	listener, err := (&net.ListenConfig{}).Listen(r.stage.ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for %s: %w", tableSide, err)
	}
	l := &tableListener{replica: r, listener: listener}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go l.session(conn)
		}
	}()
	r.servers = append(r.servers, listener)
	return l, nil
}

// session takes the commands of a connection, one after the other, and has a connection of its own to the table.
func (l *tableListener) session(conn net.Conn) {
	defer conn.Close()
	ctx, cancel := context.WithCancel(l.replica.stage.ctx)
	defer cancel()
	server, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", fmt.Sprint(l.upstream.Load()))
	if err != nil {
		return
	}
	defer server.Close()
	// All that is sent at once has room: that the client is gone is only learned by reading on.
	commands := make(chan []byte, 1000)
	go func() {
		defer close(commands)
		defer cancel()
		for from := bufio.NewReader(conn); ; {
			command, err := readRESP(from)
			if err != nil {
				return
			}
			select {
			case commands <- command:
			case <-ctx.Done():
				return
			}
		}
	}()
	ctx = context.WithValue(ctx, tableKey{}, &tableConn{server, bufio.NewReader(server)})
	for command := range commands {
		r := &http.Request{Method: http.MethodPost, Header: http.Header{}, URL: &url.URL{Scheme: "redis", Host: "table"}, Body: io.NopCloser(bytes.NewReader(command))}
		if !passOn(l.replica.stage.gate.handler(tableSide, l.replica), conn, r.WithContext(ctx)) {
			return
		}
	}
}

// tableConn is a connection to the table, and tableKey finds it in the context of a call.
type (
	tableConn struct {
		conn  net.Conn
		reads *bufio.Reader
	}
	tableKey struct{}
)

// carryOut is the handler of a call to a table.
func carryOut(w http.ResponseWriter, r *http.Request) {
	to, _ := r.Context().Value(tableKey{}).(*tableConn)
	command, err := io.ReadAll(r.Body)
	if err == nil {
		_, err = to.conn.Write(command)
	}
	var answer []byte
	if err == nil {
		answer, err = readRESP(to.reads)
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(answer) // a client that went away is no concern of ours
}

// understandTable knows the scripts that write rows. All other commands pass.
func understandTable(c *call, r *http.Request) {
	_, command, _ := bytes.Cut(peek(r), []byte("\r\n"))
	if bytes.HasPrefix(bytes.ToUpper(command), []byte("$4\r\nEVAL\r\n")) {
		c.operation, c.counted, c.writes = writeState, true, true
	}
}

// refuseState answers as Redis does.
func refuseState(x *exchange, code string) {
	answer := map[string]string{"AccessDenied": "NOPERM no permissions", "Throttling": "OOM command not allowed"}[code]
	if answer == "" {
		answer = "LOADING the dataset is being loaded"
	}
	_, _ = io.WriteString(x.w, "-"+answer+"\r\n") // a client that went away is no concern of ours
}

// readRESP reads one command or answer of Redis.
func readRESP(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(line[1:])))
	switch {
	case line[0] == '$' && err == nil && n >= 0:
		text := make([]byte, n+2)
		_, err := io.ReadFull(r, text)
		return append(line, text...), err
	case line[0] == '*' && err == nil:
		for range n {
			element, err := readRESP(r)
			if err != nil {
				return nil, err
			}
			line = append(line, element...)
		}
	case strings.IndexByte("$*", line[0]) >= 0 && err != nil:
		return nil, errors.New("not the protocol of Redis")
	}
	return line, nil
}

// stateMutations are mistakes about the state table.
func stateMutations() []mutation {
	return []mutation{{
		name: "an older row replaces a newer one",
		replacements: []replacement{{redisStates, "arguments", `out := original(c)
			if !c.Remove {
				out[0] = int64(1<<62)
			}
			return out`, nil}},
		cases:   []string{"table/source-follow/table:WriteState#1/late", "table/source-watch/table:WriteState#1/late"},
		oracles: []string{oracleStates},
	}, {
		name:         "a difference is forgotten when the database fails",
		replacements: []replacement{{stateWriter, "(*Writer).putBack", ``, nil}},
		cases:        []string{"storm/source-follow/state table", "storm/source-watch/state table"},
		oracles:      []string{oracleStates},
	}, {
		name: "gone rows are not written",
		replacements: []replacement{{stateWriter, "(*Writer).change", `c, says, err := original(ctx, d)
			if c.Row.State == statetable.Gone {
				says = leave
			}
			return c, says, err`, []string{stateRules}}},
		cases:   []string{"reference/source-follow/undisturbed"},
		oracles: []string{oracleStates},
	}}
}
