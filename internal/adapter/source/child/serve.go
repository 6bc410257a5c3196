package child

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// largestRequest has room for the largest Secret.
const largestRequest = 4 << 20

// lastWord is how long a child may still run after it was told to stop. Its parent may not be there any more to kill
// it.
const lastWord = patience - time.Second

// Serve makes this process a child if it was started as one, and does not return then. It must be called before the program
// looks at its arguments. The readers are made in the child.
func Serve(readers func(Options) map[mapping.Provider]port.Rows) {
	if len(os.Args) != 2 || os.Args[1] != Argument {
		return
	}
	if err := serve(os.Stdin, os.Stdout, readers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serve(in io.Reader, out io.Writer, readers func(Options) map[mapping.Provider]port.Rows) error {
	_, body, err := readFrame(in, &bytes.Buffer{}, largestRequest)
	if err != nil {
		return err
	}
	r, err := decodeRequest(body)
	if err != nil {
		return err
	}
	if err := errors.Join(limit(r.Options.Memory), confine()); err != nil {
		return err
	}
	Hide()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel()
		time.AfterFunc(lastWord, func() { os.Exit(1) })
	}()
	return answer(ctx, r, out, readers(r.Options)[r.Provider])
}

// answer reads, listens or writes, and says how that ended.
func answer(ctx context.Context, r request, out io.Writer, reader port.Rows) error {
	err := error(&fault.Error{Kind: fault.Invalid, Operation: operation, Message: fmt.Sprintf("there is no reader for %q", r.Provider)})
	listener, listens := reader.(port.Hints)
	states, writes := reader.(port.States)
	switch {
	case r.Listen && listens:
		err = listener.Listen(ctx, r.Query, hintPipe{out})
	case r.Write != nil && writes:
		err = r.write(ctx, out, states)
	case !r.Listen && r.Write == nil && reader != nil:
		err = reader.Read(ctx, r.Query, r.sink(&pipe{ctx: ctx, out: out}))
	}
	body, encoded := encodeEnd(err)
	if encoded != nil {
		return encoded
	}
	return writeFrame(out, frameEnd, body)
}

// sink is what the reader hands rows to.
func (r request) sink(to mapping.Sink) mapping.Sink {
	if r.Condensed {
		return statetable.Condense(to)
	}
	return to
}

// pipe is a sink that writes frames.
//
//nolint:containedctx // a sink lives as long as one read, whose context this is
type pipe struct {
	ctx context.Context
	out io.Writer
}

// Columns implements mapping.Sink.
func (p *pipe) Columns(columns []mapping.Column) error {
	body, err := encodeColumns(columns)
	return p.send(frameColumns, body, err)
}

// Row implements mapping.Sink.
func (p *pipe) Row(row mapping.Row) error {
	body, err := encodeRow(row)
	return p.send(frameRow, body, err)
}

func (p *pipe) send(kind byte, body []byte, err error) error {
	switch {
	case p.ctx.Err() != nil:
		return fmt.Errorf("the read was cancelled: %w", p.ctx.Err())
	case errors.Is(err, errTooLarge):
		return &fault.Error{Kind: fault.Invalid, Operation: operation, Message: "the names of the columns have more than 1 MiB together: select fewer columns"}
	case err != nil:
		return err
	}
	return writeFrame(p.out, kind, body)
}
