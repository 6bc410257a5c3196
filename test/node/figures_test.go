//go:build linux

package node_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// figures are what was measured, in the order of the test.
type figures struct{ rows [][3]string }

// duration notes a figure, and fails the test where it is above its bound.
func (f *figures) duration(t *testing.T, what string, got, bound time.Duration) {
	t.Helper()
	f.add(what, got.Round(10*time.Millisecond).String(), "below "+bound.String())
	if got >= bound {
		t.Errorf("%s: %s, want less than %s", what, got, bound)
	}
}

// atMost notes a number of things, and fails the test where there are too many.
func (f *figures) atMost(t *testing.T, what string, got, bound int) {
	t.Helper()
	f.add(what, fmt.Sprint(got), fmt.Sprintf("at most %d", bound))
	if got > bound {
		t.Errorf("%s: %d, want at most %d", what, got, bound)
	}
}

// exactly notes a number of things that has to be right.
func (f *figures) exactly(t *testing.T, what string, got, want int) {
	t.Helper()
	f.add(what, fmt.Sprint(got), fmt.Sprint(want))
	if got != want {
		t.Errorf("%s: %d, want %d", what, got, want)
	}
}

// megabytes notes a size in millions of bytes.
func (f *figures) megabytes(t *testing.T, what string, got int64, bound float64) {
	t.Helper()
	size := float64(got) / 1e6
	f.add(what, fmt.Sprintf("%.1f MB", size), fmt.Sprintf("at most %.1f MB", bound))
	if size > bound {
		t.Errorf("%s: %.1f MB, want at most %.1f", what, size, bound)
	}
}

// memory notes a size in MiB.
func (f *figures) memory(t *testing.T, what string, got, bound int64) {
	t.Helper()
	f.add(what, fmt.Sprintf("%d MiB", got>>20), fmt.Sprintf("below %d MiB", bound>>20))
	if got >= bound {
		t.Errorf("%s: %d MiB, want less than %d", what, got>>20, bound>>20)
	}
}

// add notes a figure without a bound, or one that was compared. It is printed at once: a test may be ended before the table.
func (f *figures) add(what, got, bound string) {
	f.rows = append(f.rows, [3]string{what, got, bound})
	fmt.Fprintf(os.Stdout, "    %s: %s\n", what, got)
}

// print prints the table as Markdown.
func (f *figures) print() {
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	fmt.Fprintln(out)
	for _, row := range append([][3]string{{"what", "figure", "bound"}, {"---", "---", "---"}}, f.rows...) {
		fmt.Fprintf(out, "| %s\t|\n", strings.Join(row[:], "\t| "))
	}
	_ = out.Flush()
}
