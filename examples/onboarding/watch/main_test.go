package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/controlplane"
)

const root = "../../.."

var (
	plane *controlplane.ControlPlane
	kube  client.Client
	types = runtime.NewScheme()
)

func TestMain(m *testing.M) {
	os.Exit(controlplane.RunTests(m, controlplane.Options{}, func(cp *controlplane.ControlPlane) (err error) {
		plane = cp
		log.SetLogger(logr.Discard())
		if err := v1alpha1.AddToScheme(types); err != nil {
			return err
		}
		if kube, err = client.New(cp.RESTConfig(), client.Options{Scheme: types}); err != nil {
			return err
		}
		crds := filepath.Join(root, "config", "crd")
		_, err = controlplane.InstallCRDs(cp.RESTConfig(), envtest.CRDInstallOptions{Paths: []string{crds}, ErrorIfPathMissing: true})
		return err
	}))
}

// operate plays the operator: it writes a state of the domain that was added, with the record that its customer sets.
func operate(t *testing.T, domain string, state v1alpha1.DomainState, seen v1alpha1.SeenState) {
	t.Helper()
	var o v1alpha1.DistributionTenant
	key := client.ObjectKey{Namespace: "default", Name: objectName(domain)}
	if err := kube.Get(t.Context(), key, &o); err != nil {
		t.Fatal(err)
	}
	record := v1alpha1.DomainRecord{
		Purpose: v1alpha1.PurposeRouting, Type: "CNAME", Name: domain, Value: "d1.cloudfront.net", PublishedBy: v1alpha1.PartyCustomer, State: seen,
	}
	notKnown := record // nothing is shown of it
	notKnown.Value, notKnown.Purpose, notKnown.Type = "", v1alpha1.PurposeProof, "TXT"
	o.Status.Domains = []v1alpha1.DomainStatus{{
		Domain: domain, State: state, Since: o.CreationTimestamp, Message: "A message.", Records: []v1alpha1.DomainRecord{notKnown, record},
	}}
	if err := kube.Status().Update(t.Context(), &o); err != nil {
		t.Fatal(err)
	}
}

// follow plays the life of a domain, and checks what a watch prints of it.
func follow(t *testing.T, domain string, printed io.Reader) {
	t.Helper()
	lines := bufio.NewScanner(printed)
	prints := func(want string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), strings.TrimPrefix(objectName(domain), "customer-")) || strings.Contains(lines.Text(), domain) {
				break
			}
		}
		if lines.Text() != want {
			t.Fatalf("printed %q, want %q", lines.Text(), want)
		}
	}
	operate(t, domain, v1alpha1.DomainAwaitingDNS, v1alpha1.RecordMissing)
	prints(domain + " AwaitingDNS A message.")
	prints("  set CNAME " + domain + " d1.cloudfront.net")
	operate(t, domain, v1alpha1.DomainLive, v1alpha1.RecordPresent)
	prints(domain + " Live A message.")
	o := &v1alpha1.DistributionTenant{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: objectName(domain)}}
	if err := kube.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	prints("default/" + objectName(domain) + " is deleted")
}

// objectName is the name of the object that was created for a domain.
func objectName(domain string) string { return "customer-" + strings.ReplaceAll(domain, ".", "-") }

// One domain can be in two objects, and each has a state of its own.
func TestOneDomainInTwoObjects(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	object := func(state v1alpha1.DomainState) *v1alpha1.DistributionTenant {
		o := &v1alpha1.DistributionTenant{}
		o.Status.Domains = []v1alpha1.DomainStatus{{Domain: "shop.example.com", State: state}}
		return o
	}
	live, refused := object(v1alpha1.DomainLive), object(v1alpha1.DomainRefused)
	show(&out, nil, live)
	show(&out, nil, refused)
	show(&out, live, live)
	show(&out, refused, refused)
	if want := "shop.example.com Live \nshop.example.com Refused \n"; out.String() != want {
		t.Errorf("got %q", &out)
	}
}

func TestGo(t *testing.T) {
	const domain = "go.customer.example"
	if err := create(t.Context(), kube, "https://Go.Customer.example/cart"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	ended := make(chan error)
	go func() { ended <- watch(ctx, plane.RESTConfig(), types, writer) }()
	follow(t, domain, reader)
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// compiled is a folder with the compiled TypeScript and its libraries.
func compiled(t *testing.T) string {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed: install Debian's packages nodejs and npm", program)
		}
	}
	folder := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "tsconfig.json", "create.ts", "watch.ts"} {
		text, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	modules := filepath.Join(folder, "node_modules")
	if err := os.Symlink(libraries(t), modules); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "node", filepath.Join(modules, "typescript", "lib", "tsc.js"), "-p", folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return folder
}

// libraries are those of package-lock.json, installed into the user's cache folder once per version.
func libraries(t *testing.T) string {
	t.Helper()
	lock, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(lock)
	folder := filepath.Join(cache, "cloudfront-tenant-operator", "onboarding", hex.EncodeToString(sum[:8]))
	modules := filepath.Join(folder, "node_modules")
	if _, err := os.Stat(modules); err == nil {
		return modules
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		t.Fatal(err)
	}
	building, err := os.MkdirTemp(filepath.Dir(folder), "building-") //nolint:usetesting // it is renamed, in one file system
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(building)
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(building, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	install := exec.CommandContext(t.Context(), "npm", "ci", "--prefix", building, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	if err := os.Rename(building, folder); err != nil && !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	return modules
}

func TestTypeScript(t *testing.T) {
	const domain = "typescript.customer.example"
	folder := compiled(t)
	node := func(args ...string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), "node", args...)
		c.Env = append(os.Environ(), "KUBECONFIG="+plane.Kubeconfig())
		c.Stderr = os.Stderr
		return c
	}
	if err := node(filepath.Join(folder, "create.js"), "https://TypeScript.customer.example/cart").Run(); err != nil {
		t.Fatal(err)
	}
	watching := node(filepath.Join(folder, "watch.js"))
	out, err := watching.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := watching.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = watching.Process.Kill()
		_ = watching.Wait()
	}()
	follow(t, domain, out)
}

// The page shows the files as they are.
func TestThePageShowsTheseFiles(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs", "customer-onboarding.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name, language := range map[string]string{"create.go": "go", "watch.go": "go", "create.ts": "ts", "watch.ts": "ts"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if block := "```" + language + "\n" + string(text) + "```\n"; !strings.Contains(string(page), block) {
			t.Errorf("docs/customer-onboarding.md does not show %s as it is", name)
		}
	}
}
