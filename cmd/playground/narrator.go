package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// narrator tells the story: headings, sentences, and commands with what they print.
type narrator struct {
	// began is when the story did.
	began time.Time

	mu  sync.Mutex
	out io.Writer
	// blank is whether the last line was empty.
	blank bool
}

func newNarrator(out io.Writer) *narrator { return &narrator{out: out, began: time.Now()} }

// Write passes a tool's progress on, line by line as it comes.
func (n *narrator) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.blank = string(p) == "\n"
	return n.out.Write(p)
}

func (n *narrator) line(format string, args ...any) { fmt.Fprintf(n, format+"\n", args...) }

func (n *narrator) heading(text string) {
	n.gap()
	n.line("== %s", text)
	n.gap()
}

// gap leaves one blank line, however often it is called.
func (n *narrator) gap() {
	n.mu.Lock()
	blank := n.blank
	n.mu.Unlock()
	if !blank {
		n.line("")
	}
}

// paragraph prints sentences with a blank line after them.
func (n *narrator) paragraph(format string, args ...any) {
	n.line(format, args...)
	n.gap()
}

// command shows what to type for what we are about to do.
func (n *narrator) command(text string) { n.line("$ %s", text) }

// output shows what a command printed, and leaves a blank line after it.
func (n *narrator) output(text string) { n.paragraph("%s", strings.TrimRight(text, "\n")) }

// elapsed is the time since the story began, in words.
func (n *narrator) elapsed() string { return since(n.began) }

func since(t time.Time) string {
	d := time.Since(t)
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
