package child_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/child"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// stream is a port.Hints that runs in the child, and has nothing to read.
type stream struct {
	reader
	listen func(ctx context.Context, sink port.HintSink) error
}

func (s stream) Listen(ctx context.Context, _ mapping.Query, sink port.HintSink) error {
	return s.listen(ctx, sink)
}

// keys are n of them.
func keys(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("customer:%d", i))
	}
	return out
}

// says writes a piece of a frame, and fails as a stream does that is lost.
func says(frame string) stream {
	return stream{listen: func(_ context.Context, sink port.HintSink) error {
		sink.Ready()
		if _, err := os.Stdout.WriteString(frame); err != nil {
			return err
		}
		return failure
	}}
}

// hints tells of keys before the stream is lost.
func hints(keys ...string) stream {
	return stream{listen: func(_ context.Context, sink port.HintSink) error {
		sink.Ready()
		sink.Hint(keys...)
		return failure
	}}
}

// streams are what may happen in a child that listens, by the name under which it is asked for.
var streams = map[mapping.Provider]port.Rows{
	"some keys":              hints("customer:1", "zürich\x00"),
	"a key that is not text": hints("\xff"),
	"no keys":                hints(),
	"the longest key":        hints(strings.Repeat("x", 1<<10)),
	"a key without room":     hints("a", strings.Repeat("x", 1<<10+1)),
	"as many keys as may be": hints(keys(100)...),
	"too many keys":          hints(keys(101)...),
	"a number":               says("h\x00\x00\x00\x01\x07"),
	"half a hint":            says("h\x00\x00\x00\x02\x81"),
	"a row":                  says("r\x00\x00\x00\x00"),
	"a huge frame":           says("h\x7f\xff\xff\xff"),
	"the end of a table":     says("e\x00\x00\x00\x0b\xa1\x68Complete\xf5"),
	"the end of the process": stream{listen: func(_ context.Context, sink port.HintSink) error {
		sink.Ready()
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}},
	"a panic": stream{listen: func(context.Context, port.HintSink) error { panic("secret") }},
	"nothing": stream{listen: func(ctx context.Context, sink port.HintSink) error {
		sink.Ready()
		<-ctx.Done()
		return ctx.Err()
	}},
	"nothing, and no end": stream{listen: func(_ context.Context, sink port.HintSink) error {
		sink.Ready()
		select {}
	}},
}

// heard is a sink of hints that keeps everything.
type heard struct {
	Listens bool
	Hints   [][]string
	// ready is called when the stream tells of changes.
	ready func()
}

func (h *heard) Ready() {
	h.Listens = true
	if h.ready != nil {
		h.ready()
	}
}

func (h *heard) Hint(keys ...string) { h.Hints = append(h.Hints, keys) }

func listen(ctx context.Context, what mapping.Provider, h *heard) error {
	return child.New(what, child.Options{Timeout: time.Minute, Memory: memory}).Listen(ctx, mapping.Query{Connection: mapping.NewSecret("canary")}, h)
}

// The operator hears everything that a child is told, and in the end why it is over.
func TestHintsAreWhatTheyWere(t *testing.T) {
	for what, want := range map[mapping.Provider][]string{
		"some keys": {"customer:1", "zürich\x00"}, "no keys": nil, "as many keys as may be": keys(100), "the longest key": {strings.Repeat("x", 1<<10)},
		"a key that is not text": {"\xff"},
		// Any row may have changed.
		"a key without room": nil,
	} {
		t.Run(string(what), func(t *testing.T) {
			var h heard
			err := listen(t.Context(), what, &h)
			if diff := cmp.Diff(heard{Listens: true, Hints: [][]string{want}}, h, cmpopts.IgnoreUnexported(heard{})); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			got, classified := errors.AsType[*fault.Error](err)
			if !classified {
				t.Fatalf("the stream ended with %v", err)
			}
			if diff := cmp.Diff(*failure, *got, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("it ended with -want +got:\n%s", diff)
			}
		})
	}
}

// A child that says something else is not believed, and whatever becomes of it has a reason.
func TestStreamsThatBreakOff(t *testing.T) {
	for what, want := range map[mapping.Provider]struct {
		code, text string
	}{
		"too many keys":          {"Crashed", "unintelligible"},
		"a number":               {"Crashed", "unintelligible"},
		"half a hint":            {"Crashed", "unintelligible"},
		"a row":                  {"Crashed", "unintelligible"},
		"a huge frame":           {"Crashed", "unintelligible"},
		"the end of a table":     {"Crashed", "unintelligible"},
		"the end of the process": {"Killed", "signal: killed"},
		"a panic":                {"Crashed", "crashed"},
		"silence":                {"", `no reader for "silence"`}, // it reads, and does not listen
		"unknown":                {"", `no reader for "unknown"`},
	} {
		t.Run(string(what), func(t *testing.T) {
			var h heard
			err := listen(t.Context(), what, &h)
			if fault.CodeOf(err) != want.code || err == nil || !strings.Contains(err.Error(), want.text) || strings.Contains(err.Error(), "secret") {
				t.Errorf("code %q: %v", fault.CodeOf(err), err)
			}
			if len(h.Hints) > 0 {
				t.Errorf("it told of %q", h.Hints)
			}
		})
	}
}

func TestAListenerEndsWithItsContext(t *testing.T) {
	for _, what := range []mapping.Provider{"nothing", "nothing, and no end"} {
		t.Run(string(what), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			begin := time.Now()
			err := listen(ctx, what, &heard{ready: cancel})
			if !errors.Is(err, context.Canceled) || !fault.Is(err, fault.Transient) || time.Since(begin) > 15*time.Second {
				t.Errorf("after %v: %v", time.Since(begin), err)
			}
		})
	}
}
