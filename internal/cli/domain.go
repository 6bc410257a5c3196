package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/dns"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// NotLive ends a look at a domain that is not live. It is not a failure.
type NotLive struct{ code int }

// Error implements error.
func (NotLive) Error() string { return "the domain is not live" }

// ExitCode says who has to act.
func (n NotLive) ExitCode() int { return n.code }

// The exit codes of a domain that is not live, by who has to act next.
const (
	customerCode = 3
	awsCode      = 4
	refusedCode  = 5
)

// domainOptions are the flags of domain.
type domainOptions struct {
	wait, lookup bool
	timeout      time.Duration
	resolvers    []string
	out          *output
}

func domainCommand(s *session) *cobra.Command {
	o := domainOptions{}
	c := &cobra.Command{
		Use: "domain DOMAIN", GroupID: look, Args: cobra.ExactArgs(1), Short: "Show how far a domain is, and which records its customer has to set",
		Long: "Show how far a domain is on its way to being live, who has to act next, and which records have to be set. The plugin\n" +
			"also asks public DNS where the domain leads now, with the DNS servers of this machine.\n" +
			"Without --namespace, the domain is looked for in the whole cluster.\n" +
			"The exit code is 0 if the domain is live, 3 if it waits for the customer or the platform, 4 if it waits for AWS or\n" +
			"the operator, 5 if it is refused, and 1 after an error.",
		Example: "  kubectl cfdt domain www.example.com\n  kubectl cfdt domain www.example.com -n shop --wait --timeout 30m\n  kubectl cfdt domain www.example.com -o json",
	}
	flags := c.Flags()
	flags.BoolVar(&o.wait, "wait", false, "wait until the domain is live or refused, and show each change")
	flags.DurationVar(&o.timeout, "timeout", 0, "how long to wait, as in 30m; 0 is for ever")
	flags.BoolVar(&o.lookup, "lookup", true, "ask public DNS where the domain leads now")
	flags.StringSliceVar(&o.resolvers, "dns-resolvers", nil, "DNS servers to ask, as host:port; by default those of this machine")
	o.out = outputOf(c)
	c.RunE = run(func(ctx context.Context, args []string) error { return s.domain(ctx, dns.Lower(args[0]), o) })
	return c
}

// domain shows a domain, and waits for it if that is wanted. A document is shown once, at the end.
func (s *session) domain(ctx context.Context, domain string, o domainOptions) error {
	d, err := s.find(ctx, domain)
	if err != nil {
		return err
	}
	show := func() error {
		if o.lookup {
			d.Public = sightOf(ctx, d, o.resolvers)
		}
		return s.print(o.out, "Domain", d)
	}
	document, waits := o.out.format != "", o.wait && !d.ended()
	if !document || !waits {
		if err := show(); err != nil {
			return err
		}
	}
	if waits {
		err := s.waitFor(ctx, o.timeout, &d, func() {
			if !document {
				d.change(s.page())
			}
		})
		if err == nil && document {
			err = show()
		}
		if err != nil {
			return err
		}
	}
	return d.verdict()
}

// domainView is the answer of domain.
type domainView struct {
	// Tenant is the object that has the domain, and Others are further objects that want it.
	Tenant string   `json:"distributionTenant"`
	Others []string `json:"otherDistributionTenants,omitempty"`

	v1alpha1.DomainStatus `json:",inline"`

	// Public is what public DNS shows of the domain now.
	Public *publicSight `json:"publicDNS,omitempty"`

	key    client.ObjectKey
	target string
}

// find finds the object that has a domain. If several want it, it is the one that is the furthest.
func (s *session) find(ctx context.Context, domain string) (domainView, error) {
	f, err := s.load(ctx, kindTenant)
	if err != nil {
		return domainView{}, err
	}
	var found []domainView
	for _, t := range f.Tenants() {
		if d, has := domainOf(t, domain); has {
			found = append(found, d)
		}
	}
	if len(found) == 0 {
		where := "in the cluster"
		if ns := s.cluster.chosen(); ns != "" {
			where = "in namespace " + ns
		}
		return domainView{}, fmt.Errorf("no DistributionTenant %s has the domain %s", where, prose.Quote(domain))
	}
	slices.SortFunc(found, func(a, b domainView) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), strings.Compare(a.Tenant, b.Tenant))
	})
	for _, d := range found[1:] {
		found[0].Others = append(found[0].Others, d.Tenant)
	}
	return found[0], nil
}

// domainOf is what an object says about a domain, and whether it has the domain.
func domainOf(t *v1alpha1.DistributionTenant, domain string) (domainView, bool) {
	key := client.ObjectKeyFromObject(t)
	d := domainView{Tenant: key.String(), key: key, target: t.Status.DNSTarget}
	for _, st := range t.Status.Domains {
		if st.Domain == domain {
			d.DomainStatus = st
			return d, true
		}
	}
	d.DomainStatus = v1alpha1.DomainStatus{
		Domain: domain, Since: t.CreationTimestamp, WaitsFor: v1alpha1.PartyOperator, Message: "The operator has not looked at the domain yet.",
	}
	return d, slices.ContainsFunc(t.Spec.Domains, func(w v1alpha1.TenantDomain) bool { return w.Domain == domain })
}

// rank orders objects that want the same domain.
func (d domainView) rank() int {
	switch d.State {
	case v1alpha1.DomainLive:
		return 0
	case v1alpha1.DomainRefused, "":
		return 2
	default:
		return 1
	}
}

// ended reports whether there is nothing to wait for.
func (d domainView) ended() bool {
	return d.State == v1alpha1.DomainLive || d.State == v1alpha1.DomainRefused
}

// verdict is nil if the domain is live.
func (d domainView) verdict() error {
	switch {
	case d.State == v1alpha1.DomainLive:
		return nil
	case d.State == v1alpha1.DomainRefused:
		return NotLive{refusedCode}
	case d.WaitsFor == v1alpha1.PartyCustomer, d.WaitsFor == v1alpha1.PartyPlatform:
		return NotLive{customerCode}
	}
	return NotLive{awsCode}
}

// errWaited ends the wait for a domain.
var errWaited = errors.New("the domain is live or refused")

// waitFor follows a domain until it is live or refused, or until the time is over, and tells of each change.
func (s *session) waitFor(ctx context.Context, timeout time.Duration, d *domainView, changed func()) error {
	following := ctx
	if timeout > 0 {
		var cancel context.CancelFunc
		following, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	err := s.versions(following, d.key, func(t *v1alpha1.DistributionTenant) error {
		now, has := domainOf(t, d.Domain)
		if !has {
			return fmt.Errorf("DistributionTenant %s no longer has the domain %s", d.Tenant, d.Domain)
		}
		if !equality.Semantic.DeepEqual(d.DomainStatus, now.DomainStatus) {
			d.DomainStatus, d.target = now.DomainStatus, now.target
			changed()
		}
		if d.ended() {
			return errWaited
		}
		return nil
	})
	switch {
	case errors.Is(err, errWaited):
		return nil
	case ctx.Err() == nil && following.Err() != nil:
		fmt.Fprintf(s.Streams.ErrOut, "%s is neither live nor refused after %s\n", d.Domain, timeout)
		return nil
	}
	return err
}

// versions shows each version of an object to a function until that returns an error. The API server ends each watch after
// some minutes; a new one begins with the object as it is then.
func (s *session) versions(ctx context.Context, key client.ObjectKey, show func(*v1alpha1.DistributionTenant) error) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	for {
		var t v1alpha1.DistributionTenant
		if err := c.Get(ctx, key, &t); apierrors.IsNotFound(err) {
			return fmt.Errorf("DistributionTenant %s was deleted", key)
		} else if err != nil {
			return fmt.Errorf("reading DistributionTenant %s: %w", key, err)
		}
		if err := show(&t); err != nil {
			return err
		}
		w, err := c.Watch(ctx, &v1alpha1.DistributionTenantList{}, client.InNamespace(key.Namespace), client.MatchingFields{"metadata.name": key.Name})
		if err != nil {
			return fmt.Errorf("watching DistributionTenant %s: %w", key, err)
		}
		err = showEach(ctx, w, key, show)
		w.Stop()
		if err != nil {
			return err
		}
	}
}

// showEach shows each version of an object until the watch ends.
func showEach(ctx context.Context, w watch.Interface, key client.ObjectKey, show func(*v1alpha1.DistributionTenant) error) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, open := <-w.ResultChan():
			t, is := event.Object.(*v1alpha1.DistributionTenant)
			switch {
			case !open || event.Type == watch.Error:
				return ctx.Err()
			case event.Type == watch.Deleted:
				return fmt.Errorf("DistributionTenant %s was deleted", key)
			case !is:
			default:
				if err := show(t); err != nil {
					return err
				}
			}
		}
	}
}

func (d domainView) text(p *page) {
	state, waits := cmp.Or(string(d.State), "Unknown"), ""
	if d.WaitsFor != "" {
		waits = ", waits for " + partyText(d.WaitsFor)
	}
	p.line("%s   %s for %s%s   DistributionTenant %s", p.paint(bold, d.Domain), p.paint(d.color(), state), p.ago(d.Since.Time), waits, d.Tenant)
	p.wrapped("  ", d.Message)
	if len(d.Others) > 0 {
		p.wrapped("  ", p.paint(yellow, "The domain is also in the spec of "+prose.List(d.Others)+"."))
	}
	if len(d.Records) > 0 {
		p.line("")
		p.table(recordTable(d.Records))
	}
	if d.Public != nil {
		p.line("")
		p.wrapped("", p.paint(faint, "now:")+" "+d.Public.text)
	}
}

// change tells of a change in a line.
func (d domainView) change(p *page) {
	p.wrapped("  ", p.paint(faint, p.now.Format(time.TimeOnly))+"  "+p.paint(d.color(), cmp.Or(string(d.State), "Unknown"))+"  "+d.Message)
}

// recordTable shows what has to be set.
func recordTable(records []v1alpha1.DomainRecord) table {
	t := table{head: []string{"PURPOSE", "TYPE", "NAME", "VALUE", "SET BY", "STATE", "SEEN"}}
	for _, r := range records {
		color := map[v1alpha1.SeenState]string{v1alpha1.RecordPresent: green, v1alpha1.RecordMissing: yellow, v1alpha1.RecordWrong: red}[r.State]
		t.addColored([]string{"", "", "", "", "", color}, string(r.Purpose), r.Type, r.Name, r.Value, string(r.PublishedBy), string(r.State), strings.Join(r.Seen, ", "))
	}
	return t
}

// partyText names who has to act, in a sentence.
func partyText(p v1alpha1.Party) string {
	if p == v1alpha1.PartyAWS {
		return "AWS"
	}
	return "the " + string(p)
}

func (d domainView) color() string {
	switch d.State {
	case v1alpha1.DomainLive:
		return green
	case v1alpha1.DomainRefused, v1alpha1.DomainLost:
		return red
	default:
		return yellow
	}
}
