// Package docs checks what the documentation says against what there is: pages and
// headings that are linked to, commands, flags, chart values, reasons and metrics.
package docs

import (
	"encoding/json"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	kleffv1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/kleff/v1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/metrics"
)

const root = "../.."

// page is a Markdown file, with its code blocks apart from its text.
type page struct {
	// name is the path from the root of the module.
	name   string
	text   string
	blocks []block
}

// block is a fenced code block.
type block struct {
	language, text string
	// tried is the name by which a test runs it.
	tried string
}

// pages are all that people read: the docs and the pages outside docs/.
func pages(t *testing.T) []page {
	t.Helper()
	names := []string{
		"README.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "GOVERNANCE.md", "MAINTAINERS.md",
		"RELEASING.md", "SECURITY.md", "SUPPORT.md",
	}
	for _, dir := range []string{"docs", "bench", "charts"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".md") {
				names = append(names, strings.TrimPrefix(filepath.ToSlash(path), root+"/"))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var out []page
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, parse(name, string(text)))
	}
	return out
}

var triedMark = regexp.MustCompile(`^<!-- tried: (\S+) -->$`)

func parse(name, text string) page {
	p := page{name: name}
	var prose strings.Builder
	var open *block
	tried := ""
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case open != nil && trimmed == "```":
			p.blocks = append(p.blocks, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		case strings.HasPrefix(trimmed, "```"):
			open = &block{language: strings.TrimPrefix(trimmed, "```"), tried: tried}
			tried = ""
		default:
			if m := triedMark.FindStringSubmatch(trimmed); m != nil {
				tried = m[1]
			}
			prose.WriteString(line + "\n")
		}
	}
	p.text = prose.String()
	return p
}

// commands are the lines of the blocks that are to be typed, with continued lines joined.
func (p page) commands() []string {
	var out []string
	for _, b := range p.blocks {
		if b.language == "sh" {
			out = append(out, strings.Split(strings.ReplaceAll(b.text, "\\\n", " "), "\n")...)
		}
	}
	return out
}

// everything is prose and blocks.
func (p page) everything() string {
	var b strings.Builder
	b.WriteString(p.text)
	for _, block := range p.blocks {
		b.WriteString(block.text)
	}
	return b.String()
}

var (
	heading = regexp.MustCompile(`(?m)^#+ +(.+?) *$`)
	link    = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	anchor  = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
	noise   = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	markup  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// anchors are the places of a page that a link can lead to, as GitHub names them.
func (p page) anchors() map[string]bool {
	out := map[string]bool{}
	for _, m := range anchor.FindAllStringSubmatch(p.text, -1) {
		out[m[1]] = true
	}
	for _, m := range heading.FindAllStringSubmatch(p.text, -1) {
		title := noise.ReplaceAllString(strings.ToLower(markup.ReplaceAllString(m[1], "$1")), "")
		out[strings.ReplaceAll(title, " ", "-")] = true
	}
	return out
}

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	all := pages(t)
	byName := map[string]page{}
	for _, p := range all {
		byName[p.name] = p
	}
	for _, p := range all {
		for _, m := range link.FindAllStringSubmatch(p.text, -1) {
			target, err := url.Parse(m[1])
			if err != nil {
				t.Errorf("%s: %v", p.name, err)
				continue
			}
			if target.Scheme != "" {
				continue
			}
			file := p.name
			if target.Path != "" {
				file = filepath.ToSlash(filepath.Join(filepath.Dir(p.name), target.Path))
			}
			if _, err := os.Stat(filepath.Join(root, file)); err != nil {
				t.Errorf("%s links to %s, which does not exist", p.name, m[1])
				continue
			}
			if to, isPage := byName[file]; target.Fragment != "" && isPage && !to.anchors()[target.Fragment] {
				t.Errorf("%s links to %s: %s has no such heading, but %v", p.name, m[1], file, slices.Sorted(maps.Keys(to.anchors())))
			}
		}
	}
}

// Two types of one name would have one heading on a page of the reference, and links to the second would lead to the first.
func TestHeadingsOfTheReferenceAreUnique(t *testing.T) {
	t.Parallel()
	kinds, types := 0, map[string]bool{}
	for _, p := range pages(t) {
		if path.Dir(p.name) != "docs/reference/api" {
			continue
		}
		kinds++
		seen := map[string]bool{}
		for _, title := range regexp.MustCompile(`(?m)^##? .*`).FindAllString(p.text, -1) {
			if seen[title] {
				t.Errorf("%s has two headings %q: give one of the types another name", p.name, title)
			}
			seen[title], types[title] = true, true
		}
	}
	if kinds != 9 || len(types) < 100 {
		t.Errorf("the reference has %d kinds and %d types only", kinds, len(types))
	}
}

func TestEveryPageIsLinkedFromTheIndex(t *testing.T) {
	t.Parallel()
	indexes := map[string]string{} // by folder
	for _, p := range pages(t) {
		switch {
		case p.name == "README.md":
			indexes["docs"] += p.text
		case path.Base(p.name) == "index.md":
			indexes[path.Dir(p.name)] += p.text
		default:
			// A page is the index of the folder of its name.
			indexes[strings.TrimSuffix(p.name, ".md")] += p.text
		}
	}
	for _, p := range pages(t) {
		if !strings.HasPrefix(p.name, "docs/") || p.name == "docs/index.md" {
			continue
		}
		found := strings.Contains(indexes["docs"], strings.TrimPrefix(p.name, "docs/"))
		if folder := path.Dir(p.name); path.Base(p.name) != "index.md" {
			found = found || strings.Contains(indexes[folder], path.Base(p.name))
		}
		if !found {
			t.Errorf("no index has %s: link it from docs/index.md, or from the index of its folder", p.name)
		}
	}
}

var makeTarget = regexp.MustCompile(`(?m)^([a-z-]+):.*## `)

func TestMakeTargetsExist(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]bool{}
	for _, m := range makeTarget.FindAllStringSubmatch(string(makefile), -1) {
		targets[m[1]] = true
	}
	said := regexp.MustCompile(`(?:^|[\x60$] ?)make ([a-z][a-z-]*)`)
	for _, p := range pages(t) {
		lines := append(strings.Split(p.text, "\n"), p.commands()...)
		for _, b := range p.blocks {
			if b.language == "" {
				lines = append(lines, strings.Split(b.text, "\n")...)
			}
		}
		for _, line := range lines {
			for _, m := range said.FindAllStringSubmatch(strings.TrimSpace(line), -1) {
				if !targets[m[1]] && !foreign(p.name, m[1]) {
					t.Errorf("%s: there is no make %s: %s", p.name, m[1], line)
				}
			}
		}
	}
}

// foreign are targets of another project's Makefile.
func foreign(page, target string) bool {
	return page == "docs/migration/predecessor.md" && (target == "undeploy" || target == "uninstall")
}

func TestFlagsOfTheOperatorExist(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"kubeconfig": true}
	for _, f := range config.Flags() {
		known[f.Name] = true
	}
	plugin := flagsOf(cli.New(cli.Options{}))
	// In prose a flag of the operator is in backticks; in commands it follows cmd/operator.
	quoted := regexp.MustCompile("`--([a-z][a-z0-9-]*)(?:[= ][^`]*)?`")
	typed := regexp.MustCompile(`--([a-z][a-z0-9-]*)`)
	for _, p := range pages(t) {
		if ofOthers[p.name] {
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(p.text, -1) {
			if !known[m[1]] && !strings.HasPrefix(m[1], "zap-") && !flagsOfOthers[m[1]] && !(plugin[m[1]] && strings.Contains(p.text, "kubectl cfdt")) {
				t.Errorf("%s: the operator has no flag --%s", p.name, m[1])
			}
		}
		for _, command := range p.commands() {
			_, arguments, runs := strings.Cut(command, "cmd/operator")
			if !runs {
				continue
			}
			for _, m := range typed.FindAllStringSubmatch(arguments, -1) {
				if !known[m[1]] {
					t.Errorf("%s: the operator has no flag --%s: %s", p.name, m[1], command)
				}
			}
		}
	}
}

// flagsOf are the flags of a command and of all below it.
func flagsOf(c *cobra.Command) map[string]bool {
	all := map[string]bool{"help": true}
	add := func(f *pflag.Flag) { all[f.Name] = true }
	c.Flags().VisitAll(add)
	c.PersistentFlags().VisitAll(add)
	for _, below := range c.Commands() {
		maps.Copy(all, flagsOf(below))
	}
	return all
}

// ofOthers are the pages about other programs, and what their flags are called elsewhere.
var (
	ofOthers      = map[string]bool{"docs/contributing/simulator.md": true, "docs/simulator.md": true, "docs/contributing/benchmarks.md": true, "bench/README.md": true, "docs/contributing/playground.md": true, "docs/playground.md": true, "docs/dns/externaldns.md": true, "docs/import.md": true}
	flagsOfOthers = map[string]bool{
		// Helm.
		"reset-then-reuse-values": true, "reuse-values": true,
		// The Azure CLI.
		"enable-oidc-issuer": true, "enable-workload-identity": true, "take-ownership": true, "wait": true, "force-conflicts": true, "previous": true, "set": true, "set-json": true}
)

// words are those in backticks.
var words = regexp.MustCompile("`([A-Za-z][A-Za-z0-9_]*)`")

func TestReasonsAndMetricsExist(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, name := range []string{"conditions.md", "events.md"} {
		reference, err := os.ReadFile(filepath.Join(root, "docs", "reference", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range words.FindAllStringSubmatch(string(reference), -1) {
			known[m[1]] = true
		}
	}
	measured, err := metrics.Reference()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range measured {
		known[m.Name] = true
	}
	// A reason looks like one word of several capitalised parts.
	reason := regexp.MustCompile(`^(?:[A-Z][a-z]+){2,}$`)
	metric := regexp.MustCompile(`cloudfront_tenant_operator_[a-z_]+`)
	for _, p := range pages(t) {
		if !strings.HasPrefix(p.name, "docs/") || strings.HasPrefix(p.name, "docs/reference/") {
			continue
		}
		for _, m := range metric.FindAllString(p.everything(), -1) {
			if !known[m] && !known[strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(m, "_bucket"), "_sum"), "_count")] {
				t.Errorf("%s: there is no metric %s", p.name, m)
			}
		}
		if p.name == "docs/contributing/simulator.md" {
			continue
		}
		for _, m := range words.FindAllStringSubmatch(p.text, -1) {
			if reason.MatchString(m[1]) && !known[m[1]] && !otherWords[m[1]] {
				t.Errorf("%s: there is no reason %s (if it is none, name it in otherWords)", p.name, m[1])
			}
		}
	}
}

// otherWords look like reasons of conditions and are names of other things.
var otherWords = map[string]bool{
	"ControllerRevision": true, "ResourceGraphDefinition": true,
	// A parameter of a template, and origin request policies of AWS.
	"ClusterName": true, "AllViewer": true, "AllViewerExceptHostHeader": true,
	// Kinds.
	"DistributionTenant": true, "TenantSource": true, "TenantPlan": true, "ConnectionGroup": true, "EdgeGrant": true, "DomainClaim": true, "Invalidation": true, "SelfSubjectAccessReview": true, "ValidatingAdmissionPolicy": true, "ValidatingWebhookConfiguration": true, "ClusterRoleBinding": true,
	// States of a domain, in AWS and in Kubernetes, and phases of claims.
	"AwaitingProof": true, "AlreadyExists": true,
	"HandOver": true, "InProgress": true, "NamespaceDeletionContentFailure": true,
	// Members of CloudFront's API.
	"PrimaryDomainName": true, "UpdateDomainAssociation": true, "CloudFrontDefaultCertificate": true, "AnycastIpListId": true,
	"AssociateAlias": true, "VerifyDnsConfiguration": true, "ListDomainConflicts": true,
	// What CloudFront's logs say, and a dimension of its metrics.
	"RefreshHit": true, "DistributionId": true,
	// An operation of CloudFront KeyValueStore, and its error codes.
	"DescribeKeyValueStore": true, "ConflictException": true, "ValidationException": true,
	// A member of ACM's API, and a metric of it.
	"RenewalSummary": true, "DaysToExpiry": true,
	// Error codes of DynamoDB's streams.
	"LimitExceededException": true, "ExpiredIteratorException": true, "TrimmedDataAccessException": true,
	// Parameters and the output of the CloudFormation template, and a property of parameters.
	"AllowedValues": true, "HostedZoneIds": true, "AssumableRoleArns": true, "KeyValueStoreArns": true, "TableArns": true, "StateTableArns": true, "DatabaseLoginArns": true, "EdgeFunctionArns": true, "LogBucketArns": true, "ServiceAccount": true, "RoleArn": true,
	// Error codes of Azure.
	"AuthorizationFailed": true, "SubscriptionNotFound": true, "ResourceGroupNotFound": true, "ScopeLocked": true, "CredentialUnavailable": true,
	// Values of fields.
	"IfUnowned": true, "NamespaceAndIngress": true, "CloudFront": true,
}

func TestChartValuesExist(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "charts", "cloudfront-tenant-operator", "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	has := func(path string) bool { return hasValue(values, strings.Split(path, ".")...) }
	dotted := regexp.MustCompile("`((?:aws|controller|crds|deletionProtection|image|metrics|networkPolicy|rbac|serviceAccount|tenancy|webhook)\\.[A-Za-z.]+)`")
	set := regexp.MustCompile(`--set ([A-Za-z.]+?)(?:\.?"[^"]*")?=`)
	for _, p := range pages(t) {
		said := dotted.FindAllStringSubmatch(p.text, -1)
		for _, command := range p.commands() {
			said = append(said, set.FindAllStringSubmatch(command, -1)...)
		}
		for _, m := range said {
			if path := strings.TrimSuffix(m[1], "."); !has(path) && !strings.HasSuffix(path, ".yaml") {
				t.Errorf("%s: the chart has no value %s", p.name, path)
			}
		}
	}
}

func hasValue(values map[string]any, path ...string) bool {
	var at any = values
	for _, part := range path {
		level, ok := at.(map[string]any)
		if !ok {
			// A list or a map that is empty by default has anything.
			return false
		}
		if at, ok = level[part]; !ok {
			return false
		}
		// Values in the form of the monitoring API can be anything, whatever the default has.
		if inner, isMap := at.(map[string]any); isMap && (len(inner) == 0 || part == "tlsConfig") {
			return true
		}
	}
	return true
}

// A block of YAML that is no object is values for the chart, if it begins with one of them.
func TestBlocksOfValuesHaveThemAll(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "charts", "cloudfront-tenant-operator", "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			first, _, _ := strings.Cut(b.text, ":")
			if _, known := values[first]; b.language != "yaml" || !known {
				continue
			}
			var said map[string]any
			if err := yaml.Unmarshal([]byte(b.text), &said); err != nil {
				t.Errorf("%s: %v", p.name, err)
				continue
			}
			count++
			for _, path := range leaves(said) {
				if ofGrant := len(path) > 1 && path[0] == "grants" && path[1] == "default"; !ofGrant && !hasValue(values, path...) {
					t.Errorf("%s: the chart has no value %s", p.name, strings.Join(path, "."))
				}
			}
		}
	}
	if count < 3 {
		t.Errorf("pages have %d blocks of values only", count)
	}
}

// leaves are the paths to what is not a map.
func leaves(m map[string]any, at ...string) (out [][]string) {
	for key, value := range m {
		path := append(slices.Clone(at), key)
		if inner, isMap := value.(map[string]any); isMap {
			out = append(out, leaves(inner, path...)...)
			continue
		}
		out = append(out, path)
	}
	return out
}

// Blocks that say that they are tried have to be run by a test.
func TestTriedBlocksAreTried(t *testing.T) {
	t.Parallel()
	sources, err := filepath.Glob(filepath.Join(root, "test", "*", "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	code := ""
	for _, file := range sources {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code += string(text)
	}
	count := 0
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			if b.tried == "" {
				continue
			}
			count++
			if !strings.Contains(code, `"`+b.tried+`"`) {
				t.Errorf("%s: no test runs the block %s", p.name, b.tried)
			}
		}
	}
	if count == 0 {
		t.Error("no page has a block that is tried")
	}
}

// Manifests and policies in pages are read as strictly as the API server and AWS read them:
// a field that does not exist is an error.
func TestBlocksParse(t *testing.T) {
	t.Parallel()
	tenants, sources, parents, customers, claims := 0, 0, 0, 0, 0
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			var err error
			switch {
			case b.language == "yaml" && strings.Contains(b.text, "kind: DistributionTenant"):
				tenants++
				err = yaml.UnmarshalStrict([]byte(b.text), &v1alpha1.DistributionTenant{})
			case b.language == "yaml" && strings.Contains(b.text, "kind: TenantSource"):
				sources++
				err = yaml.UnmarshalStrict([]byte(b.text), &v1alpha1.TenantSource{})
			case b.language == "yaml" && strings.Contains(b.text, "kind: Distribution\n"):
				parents++
				err = yaml.UnmarshalStrict([]byte(b.text), &v1alpha1.Distribution{})
			case b.language == "yaml" && strings.Contains(b.text, "kind: DomainClaim"):
				claims++
				err = yaml.UnmarshalStrict([]byte(b.text), &v1alpha1.DomainClaim{})
			case b.language == "yaml" && strings.Contains(b.text, "kind: ConnectionGroup"):
				parents++
				err = yaml.UnmarshalStrict([]byte(b.text), &v1alpha1.ConnectionGroup{})
			case b.language == "yaml" && strings.Contains(b.text, "kind: Tenant\n"):
				customers++
				err = yaml.UnmarshalStrict([]byte(b.text), &kleffv1.Tenant{})
			case b.language == "yaml" && strings.Contains(b.text, "kind: TenantPlan"):
				customers++
				err = yaml.UnmarshalStrict([]byte(b.text), &kleffv1.TenantPlan{})
			case b.language == "yaml":
				err = yaml.UnmarshalStrict([]byte(b.text), &map[string]any{})
			case b.language == "json":
				err = json.Unmarshal([]byte(b.text), &map[string]any{})
			}
			if err != nil {
				t.Errorf("%s: %v in:\n%s", p.name, err, b.text)
			}
		}
	}
	if tenants == 0 || sources == 0 || parents == 0 || customers == 0 || claims == 0 {
		t.Errorf("pages have %d manifests of tenants, %d of sources, %d of parents, %d of customers and plans, and %d of claims", tenants, sources, parents, customers, claims)
	}
}
