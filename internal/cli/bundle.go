package cli

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
			"look at the files before you publish them. At the end, the command shows what it has taken and what it has left out.\n" +
			"Without --namespace, it takes the objects of all namespaces.",
		Example: "  kubectl cfdt bundle --output report.tgz\n  kubectl cfdt bundle -n shop --output report.tgz",
	}
	c.Flags().StringVar(&file, "output", "", "file to write; - is the standard output")
	_ = c.MarkFlagRequired("output")
	c.RunE = run(func(ctx context.Context, _ []string) error {
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
		p.line("wrote %s of %s to %s; look at them before you publish them", count(len(b.files), "file", "files"), s.cluster.scope(), file)
		b.say(p)
		return nil
	})
	return c
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
