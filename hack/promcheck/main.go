// Promcheck parses the PromQL expressions that it reads, each on a line of its own, and names those that are
// none. It is a module of its own because nothing but a test of the chart needs Prometheus's parser.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"

	"github.com/prometheus/prometheus/promql/parser"
)

func main() {
	if err := check(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func check() error {
	var errs []error
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if _, err := parser.ParseExpr(lines.Text()); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", lines.Text(), err))
		}
	}
	return errors.Join(append(errs, lines.Err())...)
}
