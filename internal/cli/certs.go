package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/fleet"
)

func certsCommand(s *session) *cobra.Command {
	expiring := ""
	c := &cobra.Command{
		Use: "certs", GroupID: look, Args: cobra.NoArgs, Short: "Show the certificates of the fleet and when they expire",
		Long: "Show the certificates of the fleet, those that expire first at the top, with how many tenants use each. For that\n" +
			"of a distribution, it shows how many tenants inherit it.\n" +
			"The operator reads them about every hour; an object for which none is known yet is counted below.",
		Example: "  kubectl cfdt certs -A\n  kubectl cfdt certs -n shop --expiring 30d",
	}
	c.Flags().StringVar(&expiring, "expiring", "", "show only certificates that expire within this time, such as 30d, 6w or 12h")
	s.cluster.addAll(c)
	out := outputOf(c)
	c.RunE = run(func(ctx context.Context, _ []string) error {
		within, err := days(expiring)
		if err != nil {
			return err
		}
		f, err := s.load(ctx, kindTenant, "Distribution")
		if err != nil {
			return err
		}
		return s.print(out, "Certificates", certificatesOf(f, s.Clock.Now(), within))
	})
	return c
}

// days reads a duration that may be in days or weeks. Empty: zero.
func days(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	for suffix, unit := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if number, found := strings.CutSuffix(text, suffix); found {
			if n, err := strconv.Atoi(number); err == nil && n > 0 {
				return time.Duration(n) * unit, nil
			}
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("--expiring=%s is not a time: use days, weeks or hours, such as 30d, 6w or 12h", text)
	}
	return d, nil
}

// certificates is the answer of certs.
type certificates struct {
	Certificates []certificateUse `json:"certificates"`
	// Unknown counts the tenants of which the operator does not know the certificate.
	Unknown int `json:"unknown,omitempty"`
	// UnknownDistributions counts the distributions with a certificate in ACM of which it does not know the expiry.
	UnknownDistributions int    `json:"unknownDistributions,omitempty"`
	Within               string `json:"within,omitempty"`
}

// certificateUse is a certificate with the distributions that have it, and the tenants that serve with it.
type certificateUse struct {
	ARN      string      `json:"arn"`
	NotAfter metav1.Time `json:"notAfter"`
	Issuer   string      `json:"issuer,omitempty"`
	Type     string      `json:"type,omitempty"`
	// Distributions have it themselves. Inherited counts the tenants that have it from one of them.
	Distributions []string `json:"distributions,omitempty"`
	Tenants       int      `json:"tenants"`
	Inherited     int      `json:"inheritedBy,omitempty"`
	First         string   `json:"firstTenant,omitempty"`
}

// uses are certificates by ARN.
type uses map[string]*certificateUse

// of is the use of a certificate. Objects hear of a renewal one after the other: the latest of them knows.
func (all uses) of(c *v1alpha1.ServedCertificate) *certificateUse {
	u := all[c.ARN]
	if u == nil {
		u = &certificateUse{ARN: c.ARN}
		all[c.ARN] = u
	}
	if c.NotAfter.After(u.NotAfter.Time) {
		u.NotAfter, u.Issuer, u.Type = c.NotAfter, c.Issuer, string(c.Type)
	}
	return u
}

// usesOf are the certificates of the fleet, and how many objects have one that is not known.
func usesOf(f *fleet.Fleet) (all uses, tenants, distributions int) {
	all = uses{}
	for _, t := range f.Tenants() {
		c := t.Status.Certificate
		if c == nil {
			tenants++
			continue
		}
		u := all.of(c)
		u.First = cmp.Or(u.First, t.Namespace+"/"+t.Name)
		u.Tenants++
		if c.ARN != t.Status.CertificateARN {
			u.Inherited++
		}
	}
	for _, d := range f.Distributions() {
		if c := d.Status.Certificate; c != nil {
			u := all.of(c)
			u.Distributions = append(u.Distributions, d.Namespace+"/"+d.Name)
		} else if v := d.Spec.ViewerCertificate; v != nil && v.ACMCertificateARN != "" {
			distributions++
		}
	}
	return all, tenants, distributions
}

func certificatesOf(f *fleet.Fleet, now time.Time, within time.Duration) certificates {
	all, tenants, distributions := usesOf(f)
	out := certificates{Certificates: []certificateUse{}, Unknown: tenants, UnknownDistributions: distributions}
	for _, u := range all {
		if within == 0 || u.NotAfter.Sub(now) <= within {
			out.Certificates = append(out.Certificates, *u)
		}
	}
	if within > 0 {
		out.Within = within.String()
	}
	slices.SortFunc(out.Certificates, func(a, b certificateUse) int {
		return cmp.Or(a.NotAfter.Compare(b.NotAfter.Time), strings.Compare(a.ARN, b.ARN))
	})
	return out
}

// The times before its end at which a certificate is shown as a warning, and as a failure. CloudFront and ACM renew theirs
// earlier than that.
const (
	soon     = 30 * 24 * time.Hour
	verySoon = 14 * 24 * time.Hour
)

func (c certificates) text(p *page) {
	if len(c.Certificates) == 0 && c.Within != "" {
		p.line("no certificate expires within that time")
	}
	t := table{}
	if len(c.Certificates) > 0 {
		t.head = []string{"EXPIRES", "DATE", "TYPE", "ISSUER", "USED BY", "CERTIFICATE"}
	}
	for _, u := range c.Certificates {
		left, color := u.NotAfter.Sub(p.now), green
		switch {
		case left < verySoon:
			color = red
		case left < soon:
			color = yellow
		}
		in := "in " + p.until(u.NotAfter.Time)
		if left <= 0 {
			in = "expired"
		}
		t.addColored([]string{color}, in, u.NotAfter.Format(time.DateOnly), u.Type, u.Issuer, u.by(), u.ARN)
	}
	p.table(t)
	var unknown []string
	if c.Unknown > 0 {
		unknown = append(unknown, count(c.Unknown, "tenant", "tenants"))
	}
	if c.UnknownDistributions > 0 {
		unknown = append(unknown, count(c.UnknownDistributions, "distribution", "distributions"))
	}
	if len(unknown) > 0 {
		p.line("%s", p.paint(faint, "the certificate of "+strings.Join(unknown, " and ")+" is not known (yet)"))
	}
}

// name is the first object that has the certificate; a distribution stands for all that inherit it.
func (u certificateUse) name() string {
	if len(u.Distributions) > 0 {
		return "distribution " + u.Distributions[0]
	}
	return u.First
}

// by says who has the certificate.
func (u certificateUse) by() string {
	if len(u.Distributions) == 0 {
		if u.Tenants == 1 {
			return u.First
		}
		return count(u.Tenants, "tenant", "tenants")
	}
	out := u.name()
	if more := len(u.Distributions) - 1; more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	if u.Inherited > 0 {
		out += ", inherited by " + count(u.Inherited, "tenant", "tenants")
	}
	if own := u.Tenants - u.Inherited; own > 0 {
		out += ", attached to " + count(own, "tenant", "tenants")
	}
	return out
}
