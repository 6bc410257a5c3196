package importing_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/aws/cloudfront"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/importing"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/kubectl"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/world"
)

const (
	webACL  = "arn:aws:wafv2:us-east-1:111122223333:global/webacl/edge/a1"
	groupID = "cg_static"
)

// limit is a rate of calls.
type limit struct {
	rate  float64
	burst int
}

// client is the operator's client with the SDK, on a simulated AWS.
func clientOf(t *testing.T, transport http.RoundTripper, l limit) *cloudfront.Client {
	t.Helper()
	metrics, err := aws.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return cloudfront.New(cloudfront.Config{
		SDK: awssdk.Config{
			Region: "us-east-1", BaseEndpoint: awssdk.String("http://aws.test"),
			Credentials: credentials.NewStaticCredentialsProvider("AKIATEST", "secret", ""),
			HTTPClient:  &http.Client{Transport: transport},
		},
		Limiter: aws.NewLimiter(aws.LimiterConfig{API: "cloudfront", Rate: l.rate, Burst: l.burst, Clock: clock.RealClock{}, Metrics: metrics}),
		Metrics: metrics,
	})
}

var unlimited = limit{1e6, 1e6}

// newSim is an AWS with that in it, whose last change was long ago.
func newSim(t *testing.T, seed sim.Seed) *sim.Sim {
	t.Helper()
	if err := seed.Validate(); err != nil {
		t.Fatal(err)
	}
	return sim.New(sim.Options{DeployDelay: time.Minute, Seed: &seed})
}

// fleet is a distribution with a connection group of its own and those tenants.
func fleet(tenants ...sim.SeedTenant) sim.Seed {
	s := world.Seed()
	s.ConnectionGroups = []sim.SeedConnectionGroup{{ID: groupID, Name: "static"}}
	for i := range tenants {
		if tenants[i].DistributionID == "" {
			tenants[i].DistributionID = world.DistributionID
		}
		if tenants[i].Domains == nil {
			tenants[i].Domains = []string{strings.ToLower(tenants[i].Name) + ".example.com"}
		}
	}
	s.Tenants = tenants
	return s
}

// options are those of an import of that AWS into the namespace shop.
func options(t *testing.T, s *sim.Sim) importing.Options {
	t.Helper()
	return importing.Options{
		AWS: clientOf(t, s.Transport(), unlimited), Clock: clock.RealClock{},
		DistributionID: world.DistributionID, Namespace: "shop",
	}
}

func imported(t *testing.T, o importing.Options) *importing.Fleet {
	t.Helper()
	f, err := importing.Import(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// write writes a fleet into a new folder, and returns that.
func write(t *testing.T, f *importing.Fleet, change ...func(*importing.Folder)) string {
	t.Helper()
	w := importing.Folder{Path: filepath.Join(t.TempDir(), "fleet")}
	for _, c := range change {
		c(&w)
	}
	if _, err := w.Write(f); err != nil {
		t.Fatal(err)
	}
	return w.Path
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// manifests are all objects that the kustomization of the folder names.
func manifests(t *testing.T, folder string) (all []client.Object) {
	t.Helper()
	for line := range strings.Lines(read(t, folder, "kustomization.yaml")) {
		name, listed := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !listed {
			continue
		}
		for _, u := range kubectl.Read(t, filepath.Join(folder, name)) {
			o := map[string]client.Object{
				"DistributionTenant": &v1alpha1.DistributionTenant{}, "Distribution": &v1alpha1.Distribution{},
				"ConnectionGroup": &v1alpha1.ConnectionGroup{},
			}[u.GetKind()]
			if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, o, true); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			all = append(all, o)
		}
	}
	return all
}

// has checks that a text has all the parts.
func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is not in:\n%s", p, text)
		}
	}
}
