package v1alpha1_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// The API server's rule and the domain's table of fields are two lists of the same. A path that only one of them
// takes would be refused in the wrong place, or not at all.
func TestTheAPIServerTakesThePathsThatTheDomainTakes(t *testing.T) {
	namespace := newNamespace(t)
	for _, path := range fieldPaths() {
		t.Run(path, func(t *testing.T) {
			err := try(t, "TenantSource", namespace, fmt.Sprintf("mapping: [{column: c, field: %q}]", path))
			if domain := inDomain(path); (err == nil) != (domain == nil) {
				t.Errorf("the API server says %v, the domain %v", err, domain)
			}
		})
	}
	t.Run("the table is taken, and what is not in it is not", func(t *testing.T) {
		for _, path := range mapping.Paths() {
			if err := inDomain(withKey(path, "k")); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		for _, path := range []string{"domain", "spec.domains", "metadata.name"} {
			if inDomain(path) == nil {
				t.Errorf("%s is taken", path)
			}
		}
	})
}

// fieldPaths are all of the table, with all sorts of keys, and some that are nearly of it.
func fieldPaths() []string {
	keys := []string{
		"", "k", "K_1-x", "a.b", "-a", "a-", "a b", "ä", "a:b", "a=b@c+d", "a/b", "a//b", "/b", "a/", "a/b/c", "A/b", "x.example.com/team", "-x/team", "x-/team", "x..y/team",
		"aws:x", "AWS:x", "awsx", "cloudfront-tenant-operator.io/source", "x.cloudfront-tenant-operator.io/source", "xcloudfront-tenant-operator.io/source",
		"kubernetes.io/x", "app.kubernetes.io/name", "k8s.io/x", "kleff.io/tenant", "x.kleff.io/tenant", "xkleff.io/tenant", "a]b", "[", "a\\b", "a#b",
		strings.Repeat("k", 63), strings.Repeat("k", 64), strings.Repeat("k", 128), strings.Repeat("k", 129),
		strings.Repeat("a123456789.", 22) + "example.com/team", strings.Repeat("a123456789.", 22) + "examples.com/team",
		strings.Repeat("a", 63) + ".io/team",
	}
	var paths []string
	for _, path := range mapping.Paths() {
		paths = append(paths, path, strings.ToUpper(path), "spec."+path, path+".x", path+" ", withKey(path, "k")+"[k]")
		if base, _, keyed := strings.Cut(path, "["); keyed {
			paths = append(paths, base, base+"[k", base+"k]", base+".k")
			for _, key := range keys {
				paths = append(paths, withKey(path, key))
			}
		}
	}
	paths = append(paths, "domains[0]", "customizations", "customizations.webAcl", "dns", "metadata.labels", "metadata.name", "status.id", "x")
	slices.Sort(paths)
	return slices.Compact(paths)
}

// withKey replaces the placeholder of a key.
func withKey(path, key string) string {
	base, _, keyed := strings.Cut(path, "[")
	if !keyed {
		return path
	}
	return base + "[" + key + "]"
}

// inDomain asks the compiler of sources whether it takes the path.
func inDomain(path string) error {
	c := mapping.Config{
		DistributionID: "E2EXAMPLE1",
		Mapping:        []mapping.Mapping{{Column: "c", Field: path}},
		Defaults:       []mapping.Mapping{{Column: "name", Field: "name"}, {Column: "domain", Field: "domains"}},
		// The additional requirements of some fields.
		Template: mapping.Template{Spec: map[string]any{
			"customizations": map[string]any{
				"webAcl":          map[string]any{"action": "override"},
				"geoRestrictions": map[string]any{"restrictionType": "none"},
			},
			"managedCertificateRequest": map[string]any{"validationTokenHost": "cloudfront"},
			"dns":                       map[string]any{"provider": "route53"},
			"distributionRef":           map[string]any{"name": "main"},
			"connectionGroupRef":        map[string]any{"name": "static"},
			"keyValues":                 map[string]any{"storeArn": keyStore, "value": "v"},
		}},
	}
	_, err := mapping.Compile(c)
	return err
}
