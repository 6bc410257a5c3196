package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The labels that the chart gives what it installs.
const (
	labelName    = "app.kubernetes.io/name"
	labelVersion = "app.kubernetes.io/version"
	operatorName = "cloudfront-tenant-operator"
)

// installation is an operator in the cluster.
type installation struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Version   string `json:"version"`
	Replicas  int32  `json:"replicas"`
	Available int32  `json:"available"`
}

// operators are those of the cluster, as far as the user may see them.
func (s *session) operators(ctx context.Context) ([]installation, error) {
	c, err := s.client()
	if err != nil {
		return nil, err
	}
	var list appsv1.DeploymentList
	if err := c.List(ctx, &list, client.MatchingLabels{labelName: operatorName}); err != nil {
		return nil, err
	}
	var out []installation
	for _, d := range list.Items {
		i := installation{Namespace: d.Namespace, Name: d.Name, Version: cmp.Or(d.Labels[labelVersion], "unknown"), Available: d.Status.AvailableReplicas}
		if d.Spec.Replicas != nil {
			i.Replicas = *d.Spec.Replicas
		}
		out = append(out, i)
	}
	slices.SortFunc(out, func(a, b installation) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	return out, nil
}

type versions struct {
	Plugin    string         `json:"plugin"`
	Operators []installation `json:"operators"`
	Unknown   string         `json:"unknown,omitempty"`
}

func versionCommand(s *session) *cobra.Command {
	c := &cobra.Command{Use: "version", Short: "Show the versions of the plugin and of the operator", Args: cobra.NoArgs,
		Long: "Show the versions of the plugin and of each operator in the cluster. The plugin works with operators of other versions;\n" +
			"use one that is not older than the operator.",
		Example: "  kubectl cfdt version\n  kubectl cfdt version -o jsonpath='{.operators[0].version}'",
	}
	out := outputOf(c)
	c.RunE = run(func(ctx context.Context, _ []string) error {
		v := versions{Plugin: s.Version}
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
	case len(v.Operators) == 0:
		p.line("operator   none found: no Deployment has the label %s=%s", labelName, operatorName)
	}
}
