package e2e_test

import (
	"bytes"
	"os"
	"testing"
)

// The linker drops methods that nothing calls, such as most of the AWS SDK, unless something reachable finds methods by a
// name that is only known at run time. text/template does, and so does a type that embeds reflect.Type. Then the operator
// is half as large again, and takes that memory. To find the culprit, build with -ldflags=-dumpdep, and look for the first
// ReflectMethod.
func TestUnusedMethodsAreNotLinked(t *testing.T) {
	t.Parallel()
	binary, err := os.ReadFile(host.Binary("operator"))
	if err != nil {
		t.Fatal(err)
	}
	for method, want := range map[string]bool{
		"service/cloudfront.(*Client).ListDistributionTenants": true,
		"service/cloudfront.(*Client).ListKeyGroups":           false,
	} {
		if got := bytes.Contains(binary, []byte(method)); got != want {
			t.Errorf("%s is linked: %t, want %t", method, got, want)
		}
	}
}
