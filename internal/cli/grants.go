package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/fleet"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
)

func grantsCommand(s *session) *cobra.Command {
	c := &cobra.Command{Use: "grants", GroupID: look, Short: "Show what namespaces may use",
		Long:    "Show what namespaces may use, by the EdgeGrants of the cluster.",
		Example: "  kubectl cfdt grants check shop --grants=Enforce"}
	mode, byDefault := "", ""
	check := &cobra.Command{
		Use: "check NAMESPACE", Args: cobra.ExactArgs(1), Short: "Show which EdgeGrant a namespace has, and which objects ask for more",
		Long: "Show which EdgeGrant a namespace has, and which of its objects ask for more, by the operator's own rules. The mode and\n" +
			"the default grant are read from the operator's Deployment, unless the flags say otherwise: use them to find out what\n" +
			"Enforce would refuse before you switch it on.",
		Example: "  kubectl cfdt grants check shop\n  kubectl cfdt grants check shop --grants=Enforce",
	}
	check.Flags().StringVar(&mode, "grants", "", "judge as if the operator ran with this mode: Off, Audit or Enforce")
	check.Flags().StringVar(&byDefault, "default-grant", "", "judge as if the operator ran with this default grant (JSON)")
	out := outputOf(check)
	check.RunE = run(func(ctx context.Context, args []string) error {
		run, err := s.settings(ctx)
		if err != nil && mode == "" {
			return fmt.Errorf("%w. Say with --grants how it runs", err)
		}
		mode, byDefault = cmp.Or(mode, run["grants"], string(grants.Off)), cmp.Or(byDefault, run["default-grant"])
		answer, err := s.checkGrants(ctx, args[0], grants.Mode(mode), byDefault)
		if err != nil {
			return err
		}
		return s.print(out, "GrantCheck", answer)
	})
	c.AddCommand(check)
	return c
}

// grantCheck is the answer of grants check.
type grantCheck struct {
	Namespace string        `json:"namespace"`
	Mode      string        `json:"mode"`
	Grant     string        `json:"grant,omitempty"`
	Rivals    []string      `json:"rivals,omitempty"`
	Account   string        `json:"account,omitempty"`
	Objects   int           `json:"objects"`
	Refused   []grantDenial `json:"refused,omitempty"`
	// Allows is the gist of the grant.
	Allows string `json:"allows,omitempty"`
}

type grantDenial struct {
	Name    string `json:"name"`
	Message string `json:"message"`
}

func (s *session) checkGrants(ctx context.Context, namespace string, mode grants.Mode, byDefault string) (grantCheck, error) {
	out := grantCheck{Namespace: namespace, Mode: string(mode)}
	if mode != grants.Off && mode != grants.Audit && mode != grants.Enforce {
		return out, fmt.Errorf("--grants=%s: use Off, Audit or Enforce", mode)
	}
	c, err := s.client()
	if err != nil {
		return out, err
	}
	fallback, err := convert.DefaultGrant(byDefault)
	if err != nil {
		return out, fmt.Errorf("--default-grant: %w", err)
	}
	if err := c.Get(ctx, client.ObjectKey{Name: namespace}, &corev1.Namespace{}); err != nil {
		return out, fmt.Errorf("reading the namespace: %w", err)
	}
	registry := fleet.Grants(c, mode, fallback)
	if registry != nil {
		standing, err := registry.Standing(ctx, namespace)
		if err != nil {
			return out, err
		}
		if out.Rivals = standing.Rivals; standing.Grant != nil {
			out.Grant, out.Account, out.Allows = standing.Grant.Name, standing.Grant.Account.ID, allows(standing.Grant)
		}
	}
	f, err := fleet.Load(ctx, c, namespace, kindTenant, "Distribution", "ConnectionGroup", "TenantSource")
	if err != nil {
		return out, err
	}
	for _, i := range f.All() {
		out.Objects++
		v, err := registry.Judge(ctx, grants.Asker{Namespace: namespace, UID: string(i.Object.GetUID()), Wants: convert.Wants(i.Object)})
		if err != nil {
			return out, err
		}
		if v.Refused != nil {
			out.Refused = append(out.Refused, grantDenial{Name: i.Kind + " " + i.Name(), Message: v.Refused.Message})
		}
	}
	return out, nil
}

// applies names the grant.
func (g grantCheck) applies() string {
	if g.Grant == grant.Default {
		return "the default grant"
	}
	return "EdgeGrant " + g.Grant
}

func (g grantCheck) text(p *page) {
	applies := "no EdgeGrant"
	switch {
	case g.Mode == string(grants.Off):
		applies = "everything: grants are switched off"
	case len(g.Rivals) > 0:
		applies = p.paint(red, "nothing: "+strings.Join(g.Rivals, " and ")+" select it equally")
	case g.Grant != "":
		applies = g.applies()
	}
	p.line("namespace %s   %s   mode %s", p.paint(bold, g.Namespace), applies, g.Mode)
	if g.Account != "" {
		p.line("its objects are in AWS account %s", g.Account)
	}
	if len(g.Refused) == 0 {
		p.line("%s, none asks for more than that", count(g.Objects, "object", "objects"))
		return
	}
	p.line("%s ask for more:", p.paint(red, fmt.Sprintf("%d of %s", len(g.Refused), count(g.Objects, "object", "objects"))))
	for _, r := range g.Refused {
		p.line("\n  %s", p.paint(bold, r.Name))
		p.wrapped("    ", r.Message)
	}
}
