package templates_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestImages judges the image of a container.
func TestImages(t *testing.T) {
	for name, tc := range map[string]struct {
		registry, image string
		// refused is what the image is called in the refusal, empty for one that passes.
		refused string
	}{
		"of the registry":                             {registry: "good.example.com", image: "good.example.com/x"},
		"with a tag":                                  {registry: "good.example.com", image: "good.example.com/x:v1"},
		"with a digest":                               {registry: "good.example.com", image: "good.example.com/x@sha256:0000"},
		"with a tag and a digest":                     {registry: "good.example.com", image: "good.example.com/a/b:v1@sha256:0000"},
		"of a path":                                   {registry: "good.example.com/team", image: "good.example.com/team/x"},
		"of a registry with a slash at its end":       {registry: "good.example.com/", image: "good.example.com/x"},
		"the one that is named":                       {registry: "good.example.com/team/x", image: "good.example.com/team/x:v1"},
		"below the one that is named":                 {registry: "good.example.com/team/x", image: "good.example.com/team/x/y"},
		"with the port that is named":                 {registry: "good.example.com:5000", image: "good.example.com:5000/x:v1"},
		"of a host without a dot":                     {registry: "registry:5000", image: "registry:5000/x"},
		"of localhost":                                {registry: "localhost", image: "localhost/x"},
		"with capitals in its host":                   {registry: "good.example.com", image: "Good.Example.com/x"},
		"of another registry":                         {registry: "good.example.com", image: "evil.example.com/x:v1", refused: "evil.example.com/x"},
		"of a host that begins with the registry":     {registry: "good.example.com", image: "good.example.com.evil.com/x", refused: "good.example.com.evil.com/x"},
		"of a host that ends with the registry":       {registry: "good.example.com", image: "evil-good.example.com/x", refused: "evil-good.example.com/x"},
		"with the registry in its path":               {registry: "good.example.com", image: "evil.com/good.example.com/x", refused: "evil.com/good.example.com/x"},
		"with the registry as its tag":                {registry: "good.example.com", image: "evil.com/x:good.example.com", refused: "evil.com/x"},
		"whose path only begins with the named one":   {registry: "good.example.com/team", image: "good.example.com/team-evil/x", refused: "good.example.com/team-evil/x"},
		"of another path":                             {registry: "good.example.com/team", image: "good.example.com/x", refused: "good.example.com/x"},
		"with a port that is not named":               {registry: "good.example.com", image: "good.example.com:5000/x", refused: "good.example.com:5000/x"},
		"without the port that is named":              {registry: "good.example.com:5000", image: "good.example.com/x", refused: "good.example.com/x"},
		"with another port that begins with the same": {registry: "good.example.com:50", image: "good.example.com:5000/x", refused: "good.example.com:5000/x"},
		"with a dot that is any character":            {registry: "good.example.com", image: "goodxexample.com/x", refused: "goodxexample.com/x"},
		"with a user before the host":                 {registry: "good.example.com", image: "good.example.com@evil.com/x", refused: "docker.io/library/good.example.com"},
		"without a name of a registry":                {registry: "good.example.com", image: "nginx", refused: "docker.io/library/nginx"},
		"named like the registry":                     {registry: "good.example.com", image: "good.example.com", refused: "docker.io/library/good.example.com"},
		"named like the registry, with a tag":         {registry: "good.example.com", image: "good.example.com:v1", refused: "docker.io/library/good.example.com"},
		"of a user of Docker Hub":                     {registry: "good.example.com", image: "someone/x:v1", refused: "docker.io/someone/x"},
		"of Docker Hub":                               {registry: "docker.io", image: "someone/x"},
		"of Docker Hub, with its name":                {registry: "docker.io", image: "docker.io/someone/x"},
		"of Docker Hub, with its older name":          {registry: "docker.io", image: "index.docker.io/someone/x"},
		"official":                                    {registry: "docker.io/library", image: "nginx:1.27"},
		"official, with the name of Docker Hub":       {registry: "docker.io/library", image: "docker.io/nginx"},
		"official, with its whole name":               {registry: "docker.io/library/nginx", image: "docker.io/library/nginx:1.27"},
		"not official":                                {registry: "docker.io/library", image: "someone/nginx", refused: "docker.io/someone/nginx"},
		"of a host in capitals without a dot":         {registry: "docker.io", image: "EVIL/x", refused: "evil/x"},
		"of a host with a port, without a dot":        {registry: "docker.io", image: "evil:5000/x", refused: "evil:5000/x"},
		"of localhost, which is not of Docker Hub":    {registry: "docker.io", image: "localhost/x", refused: "localhost/x"},
		"of a host that contains index.docker.io":     {registry: "docker.io", image: "evil.com/index.docker.io/x", refused: "evil.com/index.docker.io/x"},
		"of an IPv6 address":                          {registry: "docker.io", image: "[::1]:5000/x:v1", refused: "[::1]:5000/x"},
	} {
		t.Run(name, func(t *testing.T) {
			r := review{parameters: fmt.Sprintf("{registries: [%s]}", tc.registry), object: pod(fmt.Sprintf("{containers: [{name: a, image: %q}]}", tc.image))}
			if tc.refused != "" {
				r.want = []string{"images of " + tc.refused + " are not allowed here: use those of " + strings.TrimSuffix(tc.registry, "/") + "/"}
			}
			judge(t, "KleffAllowedRegistries", r)
		})
	}
}

// TestWhereImagesAre judges what a pod has apart from a container.
func TestWhereImagesAre(t *testing.T) {
	const good, evil = "good.example.com/x", "evil.example.com/x"
	for name, spec := range map[string]string{
		"a container":                            `{containers: [{name: a, image: %s}]}`,
		"the second container":                   `{containers: [{name: a, image: good.example.com/x}, {name: b, image: %s}]}`,
		"an init container":                      `{containers: [{name: a, image: good.example.com/x}], initContainers: [{name: b, image: %s}]}`,
		"an ephemeral container":                 `{containers: [{name: a, image: good.example.com/x}], ephemeralContainers: [{name: b, image: %s}]}`,
		"an image volume":                        `{containers: [{name: a, image: good.example.com/x}], volumes: [{name: e, emptyDir: {}}, {name: v, image: {reference: %s}}]}`,
		"a container next to one without a name": `{containers: [{name: a}, {name: b, image: ""}, {name: c, image: %s}]}`,
	} {
		for kind, template := range workloads {
			t.Run(name+"/"+kind, func(t *testing.T) {
				object := func(image string) string {
					return strings.Replace(template, "%s", fmt.Sprintf(spec, image), 1)
				}
				judge(t, "KleffAllowedRegistries", review{parameters: `{registries: [good.example.com]}`, object: object(good)})
				judge(t, "KleffAllowedRegistries", review{parameters: `{registries: [good.example.com]}`, object: object(evil), want: []string{evil}})
			})
		}
	}
}

// TestRefusal judges what is said about several images and registries.
func TestRefusal(t *testing.T) {
	object := pod(`{initContainers: [{name: i, image: "evil.example.com/a:v1"}], containers: [{name: a, image: good.example.com/x}, {name: b, image: nginx}]}`)
	for name, tc := range map[string]struct{ parameters, want string }{
		"all images and all registries": {
			parameters: `{registries: [good.example.com, ghcr.io/example/]}`,
			want:       "images of docker.io/library/nginx, evil.example.com/a are not allowed here: use those of good.example.com/, ghcr.io/example/",
		},
		"a constraint without parameters": {
			want: "images of good.example.com/x, docker.io/library/nginx, evil.example.com/a are not allowed here: the constraint names no registry in spec.parameters.registries",
		},
	} {
		t.Run(name, func(t *testing.T) {
			judge(t, "KleffAllowedRegistries", review{parameters: tc.parameters, object: object, want: []string{tc.want}})
		})
	}
}

// TestCost shows that the largest pods in use don't exceed what an expression may cost.
func TestCost(t *testing.T) {
	var registries, containers []string
	for i := range 100 {
		registries = append(registries, fmt.Sprintf("registry-%d.example.com/%s", i, strings.Repeat("p", 200)))
		containers = append(containers, fmt.Sprintf("{name: c%d, image: 'registry-99.example.com/%s/x:%s'}", i, strings.Repeat("p", 200), strings.Repeat("t", 100)))
	}
	object := pod("{containers: [" + strings.Join(containers, ", ") + "]}")
	start := time.Now()
	judge(t, "KleffAllowedRegistries", review{parameters: "{registries: [" + strings.Join(registries, ", ") + "]}", object: object})
	t.Logf("100 containers and 100 registries: %s", time.Since(start))
	judge(t, "KleffPodSecurity", review{object: object, want: []string{"gain privileges"}})
}
