package cli

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/fleet"
)

// logLines is how much of the log of each operator's pod is taken.
const logLines = 5000

func bundleCommand(s *session) *cobra.Command {
	file := ""
	c := &cobra.Command{
		Use: "bundle", GroupID: look, Args: cobra.NoArgs, Short: "Collect what a bug report needs, without secrets",
		Long: "Collect what a bug report needs into a .tar.gz file: versions, the operator's Deployment and log, its ConfigMaps, and\n" +
			"all objects of its kinds. Secrets are not read. In what is read, the values of validation tokens, custom headers,\n" +
			"environment variables and anything that looks like a credential are replaced. Names, domains and account IDs stay: look\n" +
			"at the files before you publish them.",
		Example: "  kubectl cfdt bundle -f report.tgz\n  kubectl cfdt bundle -n shop -f report.tgz",
	}
	c.Flags().StringVarP(&file, "filename", "f", "", "file to write; required, - is the standard output")
	c.RunE = run(func(ctx context.Context, _ []string) error {
		if file == "" {
			return fmt.Errorf("say with --filename where to write the bundle")
		}
		files, err := s.bundle(ctx)
		if err != nil {
			return err
		}
		if err := writeBundle(file, s.Streams.Out, files, s.Clock.Now()); err != nil {
			return err
		}
		if file != "-" {
			fmt.Fprintf(s.Streams.Out, "wrote %s to %s; look at them before you publish them\n", count(len(files), "file", "files"), file)
		}
		return nil
	})
	return c
}

// bundled is one file of a bundle.
type bundled struct {
	name    string
	content []byte
}

func (s *session) bundle(ctx context.Context) ([]bundled, error) {
	f, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	var files []bundled
	add := func(name string, value any) error {
		text, err := yaml.Marshal(value)
		files = append(files, bundled{name, []byte(redact(string(text)))})
		return err
	}
	operators, missing := s.operators(ctx)
	v := versions{Plugin: s.Version, Operators: operators}
	if missing != nil {
		v.Unknown = missing.Error()
	}
	if err := add("versions.yaml", v); err != nil {
		return nil, err
	}
	if err := add("status.yaml", s.statusOf(ctx, f)); err != nil {
		return nil, err
	}
	for _, k := range fleet.Kinds {
		items := f.Kind(k.Name)
		for _, i := range items {
			censor(i.Object)
		}
		objects := make([]client.Object, len(items))
		for n, i := range items {
			objects[n] = i.Object
		}
		if err := add("objects/"+k.Names[0]+".yaml", objects); err != nil {
			return nil, err
		}
	}
	for _, o := range operators {
		of, err := s.bundleOperator(ctx, o)
		if err != nil {
			of = append(of, bundled{path.Join("operator", o.Namespace, "error.txt"), []byte(err.Error() + "\n")})
		}
		files = append(files, of...)
	}
	return files, nil
}

// censor takes out of an object what may be confidential.
func censor(o client.Object) {
	o.SetManagedFields(nil)
	annotations := o.GetAnnotations()
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	o.SetAnnotations(annotations)
	switch o := o.(type) {
	case *v1alpha1.DistributionTenant:
		for i := range o.Status.ValidationTokens {
			o.Status.ValidationTokens[i].RedirectTo = redacted
		}
	case *v1alpha1.Distribution:
		for i := range o.Spec.Origins {
			for h := range o.Spec.Origins[i].CustomHeaders {
				o.Spec.Origins[i].CustomHeaders[h].Value = redacted
			}
		}
	}
}

// bundleOperator takes an operator's pods, their logs and its ConfigMaps.
func (s *session) bundleOperator(ctx context.Context, o installation) (files []bundled, err error) {
	c, err := s.client()
	if err != nil {
		return nil, err
	}
	config, err := s.cluster.config()
	if err != nil {
		return nil, err
	}
	typed, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	folder := path.Join("operator", o.Namespace)
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.InNamespace(o.Namespace), client.MatchingLabels{labelName: operatorName}); err != nil {
		return nil, err
	}
	for i := range pods.Items {
		of, err := bundlePod(ctx, typed, folder, &pods.Items[i])
		if err != nil {
			return files, err
		}
		files = append(files, of...)
	}
	var maps corev1.ConfigMapList
	if err := c.List(ctx, &maps, client.InNamespace(o.Namespace)); err != nil {
		return files, err
	}
	for _, m := range maps.Items {
		if m.Name == "kube-root-ca.crt" {
			continue
		}
		text, err := json.MarshalIndent(struct {
			Meta metav1.ObjectMeta `json:"metadata"`
			Data map[string]string `json:"data"`
		}{metav1.ObjectMeta{Name: m.Name, Annotations: m.Annotations, Labels: m.Labels}, m.Data}, "", "  ")
		if err != nil {
			return files, err
		}
		files = append(files, bundled{path.Join(folder, "configmap-"+m.Name+".json"), []byte(redact(string(text)))})
	}
	return files, nil
}

// bundlePod takes a pod without the values of its environment, and the end of its log.
func bundlePod(ctx context.Context, c corev1client.PodsGetter, folder string, pod *corev1.Pod) ([]bundled, error) {
	pod.ManagedFields = nil
	for n := range pod.Spec.Containers {
		for e := range pod.Spec.Containers[n].Env {
			if pod.Spec.Containers[n].Env[e].Value != "" {
				pod.Spec.Containers[n].Env[e].Value = redacted
			}
		}
	}
	text, err := yaml.Marshal(pod)
	if err != nil {
		return nil, err
	}
	log, err := c.Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{TailLines: new(int64(logLines))}).DoRaw(ctx)
	if err != nil {
		log = []byte("the log can't be read: " + err.Error() + "\n")
	}
	return []bundled{
		{path.Join(folder, pod.Name+".yaml"), []byte(redact(string(text)))}, {path.Join(folder, pod.Name+".log"), []byte(redact(string(log)))},
	}, nil
}

// redacted stands for what was taken out.
const redacted = "<redacted>"

// confidential is what looks like a credential: access keys of AWS, user and password of a URL, and values behind names
// that say so.
var confidential = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\b(AKIA|ASIA)[A-Z0-9]{16}\b`), redacted},
	{regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^/\s"'@]+@`), "${1}" + redacted + "@"},
	{regexp.MustCompile(`(?i)((?:password|passwd|secret[_-]?(?:access[_-]?)?key|api[_-]?key|session[_-]?token|authorization|tsig[_-]?secret|client[_-]?secret)["']?\s*[:=]\s*["']?)[^\s"',}]+`), "${1}" + redacted},
	{regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----`), redacted},
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*`), redacted},
}

// redact replaces what looks like a credential.
func redact(text string) string {
	for _, c := range confidential {
		text = c.pattern.ReplaceAllString(text, c.with)
	}
	return text
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
