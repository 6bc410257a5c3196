package api_test

import (
	"os/exec"
	"strings"
	"testing"
)

// Programs that use our objects import the API packages; they must not get a controller framework or an SDK
// with them.
func TestAPIDependsOnTypesOnly(t *testing.T) {
	const module = "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/"
	forbidden := []string{
		"sigs.k8s.io/controller-runtime",
		"k8s.io/client-go",
		"github.com/aws/",
		module + "internal/",
	}

	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "./...")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("listing the dependencies of the API packages: %v\n%s", err, stderr.String())
	}
	if !strings.Contains(string(out), module+"api/") {
		t.Fatal("no API package was listed, so nothing was checked")
	}
	for path := range strings.Lines(string(out)) {
		for _, prefix := range forbidden {
			if strings.HasPrefix(path, prefix) {
				t.Errorf("the API packages depend on %s", strings.TrimSpace(path))
			}
		}
	}
}
