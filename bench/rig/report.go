package rig

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// Mebibyte is in bytes.
const Mebibyte = 1 << 20

// Distribution is one of times, in seconds.
type Distribution struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// DistributionOf sorts the times.
func DistributionOf(d []time.Duration) Distribution {
	if len(d) == 0 {
		return Distribution{}
	}
	slices.Sort(d)
	at := func(share float64) float64 { return d[min(int(share*float64(len(d))), len(d)-1)].Seconds() }
	return Distribution{P50: at(0.5), P99: at(0.99), Max: d[len(d)-1].Seconds()}
}

func (d Distribution) String() string {
	return fmt.Sprintf("p50 %.1f s, p99 %.1f s, all %.1f s", d.P50, d.P99, d.Max)
}

// PrintTimes prints lines of a name and a figure.
func PrintTimes(out io.Writer, lines func(line func(name string, measured bool, format string, args ...any))) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer table.Flush()
	lines(func(name string, measured bool, format string, args ...any) {
		if measured {
			fmt.Fprintf(table, "%s\t"+format+"\n", append([]any{name}, args...)...)
		}
	})
}

// Table prints right-aligned columns.
func Table(out io.Writer) *tabwriter.Writer {
	return tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
}
