package main

import (
	"bytes"
	_ "embed" // for the manifest
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/template"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/yaml"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// How our own operator is run and seen: in the same words in which another one is described.
const (
	ourReady = `{.status.conditions[?(@.type=="Ready")].status}=True`
	ourProbe = "http://{{.ProbeAddress}}/readyz"
)

var ourArguments = []string{
	"--health-probe-bind-address={{.ProbeAddress}}", "--metrics-bind-address=0",
	"--aws-rate={{.AWSRate}}", "--aws-burst={{.AWSBurst}}", "--sweep-interval={{.SweepInterval}}",
	"--deletion-budget", "--leader-election-namespace=" + namespace, "--watch-domains=false",
	"--route53-rate=9", "--route53-burst=40", "--acm-rate=1000", "--acm-burst=1000",
}

//go:embed tenant.yaml
var ourManifest string

// subject is the operator that is measured, as the command line describes it.
type subject struct {
	arguments []*template.Template
	probe     *template.Template
	manifest  *template.Template
	ready     condition
	// dns is true when tenants have a managed certificate and a record, connectionGroupID the
	// group that they are in then.
	dns               bool
	connectionGroupID string
	config            config
}

func subjectOf(c config) (*subject, error) {
	arguments, probe, text := []string(c.Arguments), c.Probe, ourManifest
	if c.Operator == "" {
		arguments, probe = ourArguments, ourProbe
		if c.Grants > 0 {
			arguments = slices.Concat(arguments, teamArguments)
		}
	} else {
		file, err := os.ReadFile(c.Manifest)
		if err != nil {
			return nil, fmt.Errorf("reading --manifest: %w", err)
		}
		text = string(file)
	}
	s := &subject{dns: c.DNS, config: c}
	var err error
	for _, a := range arguments {
		t, failure := parseTemplate("operator-arg", a)
		s.arguments, err = append(s.arguments, t), errors.Join(err, failure)
	}
	var failures [3]error
	s.probe, failures[0] = parseTemplate("probe", probe)
	s.manifest, failures[1] = parseTemplate("manifest", text)
	s.ready, failures[2] = parseCondition(c.Ready)
	return s, errors.Join(err, errors.Join(failures[:]...))
}

func parseTemplate(flag, text string) (*template.Template, error) {
	t, err := template.New(flag).Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("--%s=%s: %w", flag, text, err)
	}
	return t, nil
}

func render(t *template.Template, data any) (string, error) {
	var out bytes.Buffer
	if err := t.Execute(&out, data); err != nil {
		return "", fmt.Errorf("filling in --%s: %w", t.Name(), err)
	}
	return out.String(), nil
}

// tenantData is what a manifest may refer to.
type tenantData struct {
	N                                       int
	Namespace, Name, DistributionID, Domain string
	// ConnectionGroupID is set where tenants have DNS records; their zone is there then.
	ConnectionGroupID string
	// Changed is true for the manifest after the change of all specs.
	Changed bool
}

// object renders the manifest of the n-th tenant.
func (s *subject) object(n int, changed bool) (*unstructured.Unstructured, error) {
	name, zone := nameOf(n), "example.com"
	if s.dns {
		zone = zoneName
	}
	team := s.config.team(n)
	text, err := render(s.manifest, tenantData{
		N: n, Namespace: s.config.namespaceOf(team), Name: name, DistributionID: distributionIn(s.config.accountOf(team)), Domain: name + "." + zone,
		ConnectionGroupID: s.connectionGroupID, Changed: changed,
	})
	if err != nil {
		return nil, err
	}
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		return nil, fmt.Errorf("parsing the rendered --manifest: %w", err)
	}
	if o.GetName() != name {
		return nil, fmt.Errorf("--manifest has the object name %q: use {{.Name}}, so that each object can be found", o.GetName())
	}
	return o, nil
}

func nameOf(n int) string { return fmt.Sprintf("tenant-%05d", n) }

// condition is a jsonpath and the value that it has to have.
type condition struct {
	text, value string
}

func parseCondition(text string) (condition, error) {
	path, value, found := cutLast(text)
	if !found {
		return condition{}, fmt.Errorf("--ready=%s: use JSONPATH=VALUE, for example %s", text, ourReady)
	}
	c := condition{text: path, value: value}
	_, err := c.compile()
	return c, err
}

// cutLast cuts at the "=" behind the path, which may have some of its own.
func cutLast(text string) (path, value string, found bool) {
	end := strings.LastIndex(text, "}=")
	if end < 0 {
		return "", "", false
	}
	return text[:end+1], text[end+2:], true
}

func (c condition) compile() (*jsonpath.JSONPath, error) {
	path := jsonpath.New("ready").AllowMissingKeys(true)
	if err := path.Parse(c.text); err != nil {
		return nil, fmt.Errorf("--ready=%s: %w", c.text, err)
	}
	return path, nil
}

// holds reports whether the object is ready at its present generation. One that does not say
// which generation its status speaks of is taken at its word.
func (c condition) holds(o *unstructured.Unstructured) bool {
	observed, told, err := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	if err == nil && told && observed != o.GetGeneration() {
		return false
	}
	path, err := c.compile() // a parsed path keeps state
	if err != nil {
		return false
	}
	var out bytes.Buffer
	return path.Execute(&out, o.Object) == nil && out.String() == c.value
}

// program is how the subject is run.
func (b *bench) program() *stack.Program {
	path := b.Operator
	if path == "" {
		path = b.Host.Binary("operator")
	}
	return &stack.Program{Path: path, Arguments: func(probes, metrics string) (arguments []string, probe string, err error) {
		data := struct {
			config

			ProbeAddress, MetricsAddress string
		}{b.config, probes, metrics}
		for _, t := range b.subject.arguments {
			argument, err := render(t, data)
			if err != nil {
				return nil, "", err
			}
			arguments = append(arguments, argument)
		}
		probe, err = render(b.subject.probe, data)
		return arguments, probe, err
	}}
}
