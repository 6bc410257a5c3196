package cli

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/fleet"
)

func bundleCommand(s *session) *cobra.Command {
	file := ""
	c := &cobra.Command{
		Use: "bundle", GroupID: look, Args: cobra.NoArgs, Short: "Collect what a bug report needs, without secrets",
		Long: "Collect what a bug report needs into a .tar.gz file: versions, all objects of the operator's kinds, its ConfigMaps and\n" +
			"log, and of its Deployment and pods the images, resources, arguments and states. Nothing else is taken: no Secrets, no\n" +
			"values of environment variables, no ConfigMaps or annotations of other programs. The values of validation tokens, custom\n" +
			"headers and unknown arguments are replaced, and so is what looks like a credential. Names, domains and account IDs stay:\n" +
			"look at the files before you publish them. At the end, the command shows what it has taken and what it has left out.",
		Example: "  kubectl cfdt bundle -f report.tgz\n  kubectl cfdt bundle -n shop -f report.tgz",
	}
	c.Flags().StringVarP(&file, "filename", "f", "", "file to write; required, - is the standard output")
	c.RunE = run(func(ctx context.Context, _ []string) error {
		if file == "" {
			return fmt.Errorf("say with --filename where to write the bundle")
		}
		b, err := s.bundle(ctx)
		if err != nil {
			return err
		}
		if err := writeBundle(file, s.Streams.Out, b.files, s.Clock.Now()); err != nil {
			return err
		}
		p := s.page()
		if file == "-" {
			p = &page{w: s.Streams.ErrOut, width: p.width}
		}
		p.line("wrote %s to %s; look at them before you publish them", count(len(b.files), "file", "files"), file)
		b.say(p)
		return nil
	})
	return c
}

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

func (s *session) bundle(ctx context.Context) (*bundle, error) {
	f, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	b := newBundle()
	operators, missing := s.operators(ctx)
	v := versions{Plugin: s.Version, Operators: operators}
	if missing != nil {
		v.Unknown = missing.Error()
	}
	if err := b.addYAML("versions.yaml", v); err != nil {
		return nil, err
	}
	if err := b.addYAML("status.yaml", s.statusOf(ctx, f)); err != nil {
		return nil, err
	}
	for _, k := range fleet.Kinds {
		items := f.Kind(k.Name)
		objects := make([]client.Object, len(items))
		for n, i := range items {
			b.censor(i.Object)
			objects[n] = i.Object
		}
		if err := b.addYAML("objects/"+k.Names[0]+".yaml", objects); err != nil {
			return nil, err
		}
	}
	for _, o := range operators {
		if err := s.bundleOperator(ctx, b, o); err != nil {
			b.add(path.Join("operator", o.Namespace, "error.txt"), err.Error()+"\n")
		}
	}
	return b, nil
}

// censor takes out of an object what may be confidential.
func (b *bundle) censor(o client.Object) {
	o.SetManagedFields(nil)
	o.SetAnnotations(b.own(o.GetAnnotations()))
	switch o := o.(type) {
	case *v1alpha1.DistributionTenant:
		for i := range o.Status.ValidationTokens {
			o.Status.ValidationTokens[i].RedirectTo = redacted
			b.leave(leftFields, "status.validationTokens[].redirectTo")
		}
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

func writeBundle(file string, standard io.Writer, files []bundled, now time.Time) (err error) {
	w := standard
	if file != "-" {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		defer func() {
			if closed := f.Close(); err == nil {
				err = closed
			}
		}()
		w = f
	}
	zipped := gzip.NewWriter(w)
	archive := tar.NewWriter(zipped)
	for _, one := range files {
		header := &tar.Header{Name: path.Join("cfdt-bundle", one.name), Mode: 0o600, Size: int64(len(one.content)), ModTime: now}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(one.content); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return zipped.Close()
}
