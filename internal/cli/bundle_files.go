package cli

import (
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
)

// bundle is what is collected for a bug report.
type bundle struct {
	files []bundled
	// left are the names of what was left out, by what it is.
	left map[string]map[string]bool
}

// bundled is one file of a bundle.
type bundled struct {
	name    string
	content []byte
}

// What is left out.
const (
	leftAnnotations = "annotations of other programs"
	leftArgs        = "values of other arguments than the operator's"
	leftConfigMaps  = "ConfigMaps of other programs"
	leftEnv         = "values of environment variables"
	leftFields      = "values of fields"
	leftTexts       = "what looks like a credential, in"
)

func newBundle() *bundle { return &bundle{left: map[string]map[string]bool{}} }

func (b *bundle) leave(what string, names ...string) {
	for _, name := range names {
		if b.left[what] == nil {
			b.left[what] = map[string]bool{}
		}
		b.left[what][name] = true
	}
}

func (b *bundle) add(name, text string) {
	text = Plain(text)
	clean := redact(text)
	if clean != text {
		b.leave(leftTexts, name)
	}
	b.files = append(b.files, bundled{name, []byte(clean)})
}

func (b *bundle) addYAML(name string, value any) error {
	known, err := plainJSON[any](value)
	if err != nil {
		return err
	}
	text, err := yaml.Marshal(known)
	b.add(name, string(text))
	return err
}

// say shows what was taken and what was left out.
func (b *bundle) say(p *page) {
	p.line("\ntaken:")
	for _, f := range b.files {
		p.line("  %s", f.name)
	}
	p.line("\nleft out:\n  Secrets, and all that is not listed above")
	for _, what := range slices.Sorted(maps.Keys(b.left)) {
		p.line("  %s:", what)
		p.wrapped("    ", strings.Join(slices.Sorted(maps.Keys(b.left[what])), ", "))
	}
}

// censorRedirects takes out the answers to the challenges of certificates.
func (b *bundle) censorRedirects(domains []v1alpha1.DomainStatus) {
	for _, d := range domains {
		for i := range d.Records {
			if d.Records[i].Purpose == v1alpha1.PurposeHTTP {
				d.Records[i].Value = redacted
				b.leave(leftFields, "status.domains[].records[].value of redirects")
			}
		}
	}
}

// censor takes out of an object what may be confidential.
func (b *bundle) censor(o client.Object) {
	o.SetManagedFields(nil)
	o.SetAnnotations(b.own(o.GetAnnotations()))
	switch o := o.(type) {
	case *v1alpha1.DistributionTenant:
		b.censorRedirects(o.Status.Domains)
	case *v1alpha1.Distribution:
		for i := range o.Spec.Origins {
			for h := range o.Spec.Origins[i].CustomHeaders {
				o.Spec.Origins[i].CustomHeaders[h].Value = redacted
				b.leave(leftFields, "spec.origins[].customHeaders[].value")
			}
		}
	}
}

// own are the annotations that the operator has or reads.
func (b *bundle) own(annotations map[string]string) map[string]string {
	out := map[string]string{}
	for key, value := range annotations {
		switch prefix, _, _ := strings.Cut(key, "/"); prefix {
		case v1alpha1.GroupName, kleffv1.GroupName, strings.TrimPrefix(kleffv1.GroupName, "kleff."):
			out[key] = value
		default:
			b.leave(leftAnnotations, key)
		}
	}
	return out
}
