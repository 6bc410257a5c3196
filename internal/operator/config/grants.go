package config

import (
	"flag"
	"fmt"
	"slices"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/convert"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/guard/grants"
)

// grantModes are those that --grants takes.
var grantModes = []string{string(grants.Off), string(grants.Audit), string(grants.Enforce)}

// Grants is how EdgeGrants are meant: Off, Audit or Enforce.
type Grants struct {
	Mode string
	// Default is the JSON of the grant that namespaces have which no EdgeGrant selects.
	Default string
}

// Enabled reports whether namespaces have grants.
func (g *Grants) Enabled() bool { return g.Mode != string(grants.Off) }

func (g *Grants) bind(f *flag.FlagSet) {
	f.StringVar(&g.Mode, "grants", string(grants.Off), "What EdgeGrants do: Off (every namespace may use everything), Audit (objects that ask for more than their grant allows say so), Enforce (nothing is done for such objects).")
	f.StringVar(&g.Default, "default-grant", "", "Grant of the namespaces that no EdgeGrant selects: the JSON of an EdgeGrant's spec, without an account. With the field namespaces, it is the grant of these only. Empty: there is none.")
}

func (g *Grants) validate() error {
	if !slices.Contains(grantModes, g.Mode) {
		return fmt.Errorf("--grants=%s: use Off, Audit or Enforce", g.Mode)
	}
	if _, err := convert.DefaultGrant(g.Default); err != nil {
		return fmt.Errorf("--default-grant: %w", err)
	}
	return nil
}
