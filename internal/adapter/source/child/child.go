// Package child reads tables, and writes those of states, in a process of its own for each read. Anything may answer at a customer's address: the
// libraries of databases believe the lengths that a server sends, and no program survives an allocation that the kernel
// refuses. So the reader is another run of the same program, with a limit of its own: whatever happens to it is a failed read.
//
// The connection string goes to the child over its standard input, which stays open: its end is the word to stop. The
// rows come back over its standard output, in frames of bounded length.
package child

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Argument is the one with which the program is started as a child.
const Argument = "read-table"

const operation = "Read"

// Codes for a child that ended without saying how its read ended.
const (
	codeOutOfMemory = "OutOfMemory"
	codeKilled      = "Killed"
	codeCrashed     = "Crashed"
)

// patience is how long a child that was told to stop may take leave of its server before it is killed.
const patience = 4 * time.Second

// Options are what the reader in the child is told.
type Options struct {
	// Timeout is how long a query may take.
	Timeout time.Duration
	// Memory is how many bytes a read may need in addition to what the program needs to start; and how many its rows may
	// have together, since the operator keeps much of them.
	Memory int64
	// AllowDial are addresses to which a connection is allowed although they are special, and APIServer the hosts of the
	// API server, which is special too.
	AllowDial []netip.Prefix
	APIServer []string
	// Hosts are those of the query.
	Hosts []string
	// Tokens are for logins with AWS IAM, and stay in the parent.
	Tokens port.Tokens `cbor:"-"`
	// Until is when this process stops to write tables, by bootclock; it may be later when it is asked again. Zero is never, and so
	// is nil.
	Until func() time.Time `cbor:"-"`
}

// Rows is a port.Rows that reads in a child process.
type Rows struct {
	provider mapping.Provider
	options  Options
}

var (
	_ port.Rows   = (*Rows)(nil)
	_ port.Hints  = (*Rows)(nil)
	_ port.States = (*Rows)(nil)
)

// New makes Rows. The program has to call Serve when it starts.
func New(provider mapping.Provider, o Options) *Rows { return &Rows{provider: provider, options: o} }

// request is what a child is asked to do.
type request struct {
	Provider mapping.Provider
	mapping.Query
	// Listen asks for hints instead of rows.
	Listen bool
	// Write asks for changes of a table of states instead of rows.
	Write *write
	// Connection is that of the query, which shows itself to no encoder, and stands before it.
	Connection []byte
	Options    Options
}

// Read implements port.Rows.
func (r *Rows) Read(ctx context.Context, q mapping.Query, sink mapping.Sink) error {
	return r.ask(ctx, request{Query: q}, rowFrames(sink, r.options))
}

// Listen implements port.Hints.
func (r *Rows) Listen(ctx context.Context, q mapping.Query, sink port.HintSink) error {
	err := r.ask(ctx, request{Query: q, Listen: true}, hintFrames(sink))
	if err == nil { // a stream has no end but a failure
		return unintelligible()
	}
	return err
}

// frames takes what a child says before it ends. The error is that of the read if said is set, and else that of the pipe.
type frames func(kind byte, body []byte) (said bool, err error)

// ask has a child do what is requested.
func (r *Rows) ask(ctx context.Context, q request, take frames) error {
	if err := r.logIn(ctx, &q.Query); err != nil {
		return err
	}
	// The child is asked to stop when this ends, whatever the reason.
	running, stop := context.WithCancel(ctx)
	defer stop()
	p, err := start(running)
	if err != nil {
		return &fault.Error{Kind: fault.Transient, Operation: operation, Message: "the process that reads the table could not be started", Err: err}
	}
	q.Provider, q.Options = r.provider, r.options
	q.Options.Hosts = q.Hosts
	said, result := p.converse(q, take)
	stop()
	p.end()
	switch {
	case said && (result == nil || ctx.Err() == nil):
		return r.explain(q.Login, result)
	case ctx.Err() != nil:
		return &fault.Error{Kind: fault.Transient, Operation: operation, Message: store.Unanswered(ctx.Err()), Err: ctx.Err()}
	case errors.Is(result, errMalformed):
		return unintelligible()
	}
	return r.obituary(p)
}

// unintelligible is the failure of a child that sends something else than a result.
func unintelligible() error {
	return &fault.Error{Kind: fault.Transient, Operation: operation, Code: codeCrashed, Message: "the process that read the table sent something unintelligible"}
}

// process is a child that runs.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr head
}

func start(ctx context.Context) (*process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding the operator's program: %w", err)
	}
	p := &process{cmd: exec.CommandContext(ctx, program, Argument)} //nolint:gosec // it is this program
	p.cmd.Env, p.cmd.SysProcAttr, p.cmd.Stderr = environment(), attributes(), &p.stderr
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("making the pipe to the child: %w", err)
	}
	if p.stdout, err = p.cmd.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("making the pipe from the child: %w", err)
	}
	p.cmd.Cancel, p.cmd.WaitDelay = p.stdin.Close, patience
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the child: %w", err)
	}
	return p, nil
}

// kept are the variables that a reader needs: where the trusted CAs are, and how names are resolved. The credentials of the
// operator are none of its business.
var kept = []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "GODEBUG", "RES_OPTIONS", "LOCALDOMAIN"}

// environment is that of a child. One processor is enough for a read, and a server that floods it takes no more; of a crash
// only the first line is of use.
func environment() []string {
	env := []string{"GOMAXPROCS=1", "GOTRACEBACK=none"}
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); slices.Contains(kept, name) {
			env = append(env, variable)
		}
	}
	return env
}

// converse sends the request and hands on what comes back. The error is that of the read or of its sink if said is set,
// and else that of the pipe.
func (p *process) converse(r request, take frames) (said bool, err error) {
	body, err := encodeRequest(r)
	if err != nil {
		return false, err
	}
	if err := writeFrame(p.stdin, frameRequest, body); err != nil {
		return false, err
	}
	from, buffer := bufio.NewReader(p.stdout), &bytes.Buffer{}
	for {
		kind, body, err := readFrame(from, buffer, largestFrame)
		if err != nil {
			return false, err
		}
		if kind == frameEnd {
			return decodeEnd(body)
		}
		if said, err := take(kind, body); err != nil {
			return said, err
		}
	}
}

// rowFrames hand columns and rows to a sink, up to the memory that they may take.
func rowFrames(sink mapping.Sink, o Options) frames {
	total := int64(0)
	return func(kind byte, body []byte) (bool, error) {
		if total += int64(len(body)); total > o.Memory {
			return true, o.tooMuch()
		}
		switch kind {
		case frameColumns:
			columns, err := decodeColumns(body)
			if err != nil {
				return false, err
			}
			return true, sink.Columns(columns)
		case frameRow:
			row, err := decodeRow(body)
			if err != nil {
				return false, err
			}
			return true, sink.Row(row)
		}
		return false, errMalformed
	}
}

// end waits for the end of a child whose context has ended. Its remaining output is thrown away: a child that can't get
// rid of it would not end.
func (p *process) end() {
	_, _ = io.Copy(io.Discard, p.stdout)
	_ = p.cmd.Wait() // how it ended is in its state
}

const mebibyte = 1 << 20

func (o Options) tooMuch() error {
	return &fault.Error{Kind: fault.Invalid, Operation: operation, Code: codeOutOfMemory, Message: fmt.Sprintf(
		"the rows have more than %d MiB together: select fewer rows or columns, or ask the administrator to raise --tenantsource-read-memory", o.Memory/mebibyte)}
}

// starved is in the last words of Go's runtime, whose exit status is the same for all of its deaths.
var starved = regexp.MustCompile(`out of memory|cannot allocate memory|cannot map pages|failed to create new OS thread|pthread_create failed|stack exceeds`)

// obituary says why a child is dead that did not say so itself.
func (r *Rows) obituary(p *process) error {
	f := &fault.Error{Kind: fault.Transient, Operation: operation}
	status, _ := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case starved.Match(p.stderr.text):
		f.Code, f.Message = codeOutOfMemory, fmt.Sprintf("the read needed more than the %d MiB of memory that it may use, as for a huge value or row: "+
			"make the table smaller, or ask the administrator to raise --tenantsource-read-memory", r.options.Memory/mebibyte)
	case status.Signaled():
		f.Code, f.Message = codeKilled, fmt.Sprintf("the process that read the table was ended from outside (signal: %s), as when the node or the container has "+
			"no memory left: it is started again for the next poll", status.Signal())
	default:
		f.Code, f.Message = codeCrashed, "the process that read the table crashed, which is a mistake of the operator, "+
			"perhaps because the server's response is malformed: it is started again for the next poll"
	}
	return f
}

// head keeps the beginning of what is written to it.
type head struct{ text []byte }

// enough is for the line in which a Go program says why it dies.
const enough = 4 << 10

// Write implements io.Writer.
func (h *head) Write(data []byte) (int, error) {
	h.text = append(h.text, data[:min(len(data), enough-len(h.text))]...)
	return len(data), nil
}
