package config

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/resolver"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/advice"
)

// Webhook is how the admission webhook is served.
type Webhook struct {
	Address string
	Name    string
	Deny    List
	DNS     List
}

// Enabled reports whether there is a webhook.
func (w *Webhook) Enabled() bool { return w.Address != "" && w.Address != "0" }

// ServiceName is that of the webhook's Service and of its Secret.
func (w *Webhook) ServiceName() string { return w.Name + "-webhook" }

// Denies are the checks that refuse.
func (w *Webhook) Denies() []advice.Check {
	var out []advice.Check
	for _, name := range w.Deny {
		out = append(out, advice.Check(name))
	}
	return out
}

func (w *Webhook) bind(f *flag.FlagSet) {
	f.StringVar(&w.Address, "webhook-bind-address", "", "Address of the admission webhook for DistributionTenant objects, for example :9443. Empty: no webhook.")
	f.StringVar(&w.Name, "webhook-name", "cloudfront-tenant-operator",
		"Name of the ValidatingWebhookConfiguration. The webhook's Service and its Secret, in the operator's own namespace, have this name followed by -webhook.")
	f.Var(&w.Deny, "webhook-deny", "Comma-separated list of the webhook's checks that reject an object instead of warning: "+checkNames()+". Empty: none.")
	f.Var(&w.DNS, "webhook-dns",
		"Comma-separated list of DNS servers (host:port) that the webhook asks where the domains of an object lead, three domains and 1.5 seconds at most. Empty: no check.")
}

func checkNames() string {
	var names []string
	for _, c := range advice.Checks {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

func (w *Webhook) validate() error {
	for _, name := range w.Deny {
		if !slices.Contains(advice.Checks, advice.Check(name)) {
			return fmt.Errorf("--webhook-deny=%s: there is no check %q; use %s", w.Deny.String(), name, checkNames())
		}
	}
	if len(w.DNS) > 0 {
		if _, err := resolver.New(w.DNS); err != nil {
			return fmt.Errorf("--webhook-dns: %w", err)
		}
	}
	if !w.Enabled() {
		return nil
	}
	if problems := validation.IsDNS1035Label(w.ServiceName()); len(problems) > 0 {
		return fmt.Errorf("--webhook-name=%s: %q is not a valid name for a Service: %s", w.Name, w.ServiceName(), strings.Join(problems, "; "))
	}
	return nil
}
