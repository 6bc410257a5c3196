package cli

import (
	"context"

	"github.com/spf13/cobra"
)

type versions struct {
	Plugin    string         `json:"plugin"`
	Operators []installation `json:"operators"`
	Unknown   string         `json:"unknown,omitempty"`
	// client is whether the cluster was not asked.
	client bool
}

func versionCommand(s *session) *cobra.Command {
	c := &cobra.Command{Use: "version", Short: "Show the versions of the plugin and of the operator", Args: cobra.NoArgs,
		Long: "Show the versions of the plugin and of each operator in the cluster. The plugin works with operators of other versions;\n" +
			"use one that is not older than the operator.",
		Example: "  kubectl cfdt version\n  kubectl cfdt version -o jsonpath='{.operators[0].version}'",
	}
	clientOnly := false
	c.Flags().BoolVar(&clientOnly, "client", false, "show the version of the plugin only, and do not contact the cluster")
	out := outputOf(c)
	c.RunE = run(func(ctx context.Context, _ []string) error {
		v := versions{Plugin: s.Version}
		if v.client = clientOnly; clientOnly {
			return s.print(out, "Versions", v)
		}
		operators, err := s.operators(ctx)
		if err != nil {
			v.Unknown = err.Error()
		}
		v.Operators = operators
		return s.print(out, "Versions", v)
	})
	return c
}

func (v versions) text(p *page) {
	p.line("plugin     %s", v.Plugin)
	for _, o := range v.Operators {
		p.line("operator   %s   %s/%s, %d of %d replicas available", o.Version, o.Namespace, o.Name, o.Available, o.Replicas)
	}
	switch {
	case v.Unknown != "":
		p.line("operator   unknown: %s", v.Unknown)
	case len(v.Operators) == 0 && !v.client:
		p.line("operator   none found: no Deployment has the label %s=%s", labelName, operatorName)
	}
}
