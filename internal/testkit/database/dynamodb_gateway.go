package database

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

// readOperations are those of users who may only read.
var readOperations = []string{
	"Scan", "Query", "GetItem", "BatchGetItem", "DescribeTable", "ListTables", "DescribeStream", "GetShardIterator", "GetRecords",
}

// gateway is where readers of DynamoDB connect. It passes requests on, and fails for the tables that
// a test spoils.
type gateway struct {
	target string
	// engine has the tables, and streams the streams of those that are watched.
	engine  http.RoundTripper
	streams http.RoundTripper
	server  *http.Server
	address string

	mu     sync.Mutex
	tables map[string]*gated
}

// gated is what the gateway does for a table.
type gated struct {
	wire     *Wire
	writable bool

	mu sync.Mutex
	// watched is whether the table has a stream.
	watched bool
	// denied refuses the credentials, hidden empties what is read.
	denied, hidden bool
	// throttles is how many scans more are refused; all of them when negative.
	throttles int
	// losesKey takes the key from pages, damages leaves them with the checksum that they had.
	losesKey, damages bool
}

func (g *gated) set(change func(*gated)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change(g)
}

func newGateway(ctx context.Context, target string, transport, streams http.RoundTripper) (*gateway, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", process.Loopback(0))
	if err != nil {
		return nil, fmt.Errorf("opening the port of DynamoDB: %w", err)
	}
	g := &gateway{target: target, engine: transport, streams: streams, address: listener.Addr().String(), tables: map[string]*gated{}}
	g.server = &http.Server{Handler: g, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = g.server.Serve(listener) }()
	return g, nil
}

func (g *gateway) endpoint() string { return "http://" + g.address }
func (g *gateway) close()           { _ = g.server.Close() }

// gate makes a table known.
func (g *gateway) gate(name string, wire *Wire, writable bool) *gated {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tables[name] = &gated{wire: wire, writable: writable}
	return g.tables[name]
}

// ServeHTTP implements http.Handler.
func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	table := g.tableOf(body)

	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	l := &link{end: cancel}
	defer table.wire.leave(l)
	if !table.wire.join(l) {
		panic(http.ErrAbortHandler) // closes the connection without an answer
	}
	api, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	status, content := table.refuse(operation)
	var checksum uint32
	if content == nil {
		through := g.engine
		if strings.HasPrefix(api, "DynamoDBStreams") || operation == "DescribeTable" && table.isWatched() {
			through = g.streams
		}
		if status, content, err = g.pass(ctx, through, r, body); err != nil {
			panic(http.ErrAbortHandler)
		}
		if operation == "Scan" && status == http.StatusOK {
			content, checksum = table.spoil(content)
		}
	}
	if checksum == 0 {
		checksum = crc32.ChecksumIEEE(content)
	}
	header := w.Header()
	header.Set("Content-Type", "application/x-amz-json-1.0")
	header.Set("Content-Length", strconv.Itoa(len(content)))
	header.Set("X-Amz-Crc32", strconv.FormatUint(uint64(checksum), 10))
	w.WriteHeader(status)
	if err := table.wire.send(flusher{w}, content, ctx.Done()); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// ofTable finds the table in the ARN of its stream.
var ofTable = regexp.MustCompile(`:table/([\w.-]+)/stream/`)

// tableOf is what a request concerns: the table that it names, or whose stream it names.
func (g *gateway) tableOf(body []byte) *gated {
	var in struct{ TableName, StreamArn, ShardIterator string }
	_ = json.Unmarshal(body, &in) // the engine says what is wrong with it
	if found := ofTable.FindStringSubmatch(in.StreamArn + in.ShardIterator); found != nil {
		in.TableName = found[1]
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if table := g.tables[in.TableName]; table != nil {
		return table
	}
	return &gated{wire: newWire()}
}

func (g *gated) isWatched() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.watched
}

// flusher sends at once, so that what the wire lets through arrives.
type flusher struct{ http.ResponseWriter }

func (f flusher) Write(content []byte) (int, error) {
	n, err := f.ResponseWriter.Write(content)
	return n, errors.Join(err, http.NewResponseController(f.ResponseWriter).Flush())
}

func (g *gateway) pass(ctx context.Context, through http.RoundTripper, r *http.Request, body []byte) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, g.target+r.URL.Path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header = r.Header.Clone()
	request.Header.Del("Accept-Encoding")
	request.Host = r.Host
	response, err := through.RoundTrip(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, content, err
}

// refuse answers for the engine as AWS would, or with nothing.
func (g *gated) refuse(operation string) (int, []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.denied:
		return awsError("com.amazon.coral.service#UnrecognizedClientException", "The security token included in the request is invalid.")
	case !g.writable && !slices.Contains(readOperations, operation):
		return awsError("com.amazon.coral.service#AccessDeniedException",
			"User: arn:aws:iam::111122223333:user/reader is not authorized to perform: dynamodb:"+operation+" because no identity-based policy allows it")
	case operation == "Scan" && g.throttles != 0:
		if g.throttles > 0 {
			g.throttles--
		}
		return awsError("com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
			"The level of configured provisioned throughput for the table was exceeded.")
	}
	return 0, nil
}

func awsError(code, message string) (int, []byte) {
	content, err := json.Marshal(map[string]string{"__type": code, "message": message})
	if err != nil {
		panic(err) // texts always marshal
	}
	return http.StatusBadRequest, content
}

// spoil changes a page, and returns it with its checksum.
func (g *gated) spoil(content []byte) ([]byte, uint32) {
	g.mu.Lock()
	defer g.mu.Unlock()
	whole := crc32.ChecksumIEEE(content)
	page := map[string]json.RawMessage{}
	if err := json.Unmarshal(content, &page); err != nil || !g.losesKey && !g.hidden {
		return content, whole
	}
	if g.hidden {
		page["Items"], page["Count"] = json.RawMessage("[]"), json.RawMessage("0")
	}
	delete(page, "LastEvaluatedKey")
	out, err := json.Marshal(page)
	if err != nil {
		return content, whole
	}
	if g.damages {
		return out, whole
	}
	return out, crc32.ChecksumIEEE(out)
}
