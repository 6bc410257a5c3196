package cli_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli"
)

// The help of a verb is all that there is to read about it in a terminal.
func TestEveryVerbHasHelp(t *testing.T) {
	t.Parallel()
	root := cli.New(cli.Options{Streams: genericiooptions.NewTestIOStreamsDiscard()})
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		for _, one := range c.Commands() {
			check(one)
		}
		if c == root {
			return
		}
		if c.Long == "" || !strings.HasSuffix(c.Long, ".") {
			t.Errorf("%s: its description is %q", c.CommandPath(), c.Long)
		}
		for line := range strings.Lines(c.Long + "\n" + c.Example) {
			if utf8.RuneCountInString(line) > 121 {
				t.Errorf("%s: a line is longer than 120 columns: %s", c.CommandPath(), line)
			}
		}
		for line := range strings.Lines(c.Example) {
			if !strings.HasPrefix(line, "  "+c.CommandPath()+" ") && strings.TrimSpace(line) != c.CommandPath() {
				t.Errorf("%s: the example %q is about something else", c.CommandPath(), line)
			}
		}
		if c.Example == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
	}
	check(root)
	root.PersistentFlags().VisitAll(described(t, "kubectl cfdt"))
	for _, c := range root.Commands() {
		c.LocalNonPersistentFlags().VisitAll(described(t, c.CommandPath()))
	}
}

func described(t *testing.T, path string) func(f *pflag.Flag) {
	t.Helper()
	return func(f *pflag.Flag) {
		if name, usage := pflag.UnquoteUsage(f); usage == "" || strings.HasSuffix(usage, ".") || strings.Contains(name, " ") {
			t.Errorf("%s: --%s %s: %s", path, f.Name, name, usage)
		}
	}
}
