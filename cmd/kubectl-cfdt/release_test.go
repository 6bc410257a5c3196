package main_test

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// plugin is the manifest of krew.
type plugin struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Version          string     `json:"version"`
		Homepage         string     `json:"homepage"`
		ShortDescription string     `json:"shortDescription"`
		Description      string     `json:"description"`
		Platforms        []platform `json:"platforms"`
	} `json:"spec"`
}

type platform struct {
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
	URI    string `json:"uri"`
	SHA256 string `json:"sha256"`
	Bin    string `json:"bin"`
}

// released are the files that the script writes for a version, with a compiler that writes only what it is asked for.
func released(t *testing.T, version string) string {
	t.Helper()
	compiler := filepath.Join(t.TempDir(), "go")
	const fake = `#!/usr/bin/env bash
while [[ "$1" != -o ]]; do shift; done
echo "${GOOS}/${GOARCH} cgo ${CGO_ENABLED}" >"$2"
chmod +x "$2"
`
	if err := os.WriteFile(compiler, []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	script := exec.CommandContext(t.Context(), "../../hack/plugin-files.sh", version, folder)
	script.Env = append(os.Environ(), "PATH="+filepath.Dir(compiler)+":"+os.Getenv("PATH"))
	if out, err := script.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return folder
}

// unpacked are the files of an archive by their names, with the mode of each in front.
func unpacked(t *testing.T, archive string) map[string]string {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for r := tar.NewReader(zipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = h.FileInfo().Mode().String() + " " + string(text)
	}
}

func sum(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	of := sha256.Sum256(text)
	return hex.EncodeToString(of[:])
}

func TestReleaseFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the script needs GNU tar")
	}
	folder := released(t, "1.2.3")
	text, err := os.ReadFile(filepath.Join(folder, "cfdt.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var p plugin
	if err := yaml.UnmarshalStrict(text, &p); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	t.Run("krew takes the manifest", func(t *testing.T) {
		t.Parallel()
		acceptable(t, p)
	})
	license, err := os.ReadFile("../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	var systems []string
	for _, one := range p.Spec.Platforms {
		system, arch := one.Selector.MatchLabels["os"], one.Selector.MatchLabels["arch"]
		systems = append(systems, system+"/"+arch)
		archive := filepath.Join(folder, path.Base(one.URI))
		want := map[string]string{"LICENSE": "-rw-r--r-- " + string(license), one.Bin: "-rwxr-xr-x " + system + "/" + arch + " cgo 0\n"}
		if d := cmp.Diff(want, unpacked(t, archive)); d != "" {
			t.Errorf("the archive of %s/%s (-want +got):\n%s", system, arch, d)
		}
		if got := sum(t, archive); got != one.SHA256 {
			t.Errorf("%s has the checksum %s, and the manifest says %s", archive, got, one.SHA256)
		}
		if strings.HasSuffix(one.Bin, ".exe") != (system == "windows") {
			t.Errorf("the binary for %s is called %s", system, one.Bin)
		}
	}
	if d := cmp.Diff([]string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"}, systems); d != "" {
		t.Errorf("systems (-want +got):\n%s", d)
	}
	again, err := os.ReadFile(filepath.Join(released(t, "1.2.3"), "cfdt.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(text), string(again)); d != "" {
		t.Errorf("the same sources have made another archive (-first +second):\n%s", d)
	}
}

// acceptable checks what krew checks when it installs a plugin, and what its index asks for.
func acceptable(t *testing.T, p plugin) {
	t.Helper()
	if p.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || p.Kind != "Plugin" || p.Metadata.Name != "cfdt" {
		t.Errorf("%s %s %s", p.APIVersion, p.Kind, p.Metadata.Name)
	}
	if p.Spec.Version != "v1.2.3" {
		t.Errorf("the version is %s, and krew wants a semantic one behind a v", p.Spec.Version)
	}
	if text := p.Spec.ShortDescription; text == "" || len(text) > 50 || strings.ContainsAny(text, "\r\n") || strings.HasSuffix(text, ".") {
		t.Errorf("the short description is %q: krew lists it in one line", text)
	}
	if p.Spec.Description == "" || !strings.HasPrefix(p.Spec.Homepage, "https://") {
		t.Errorf("description %q, homepage %q", p.Spec.Description, p.Spec.Homepage)
	}
	for _, one := range p.Spec.Platforms {
		if keys := slices.Sorted(maps.Keys(one.Selector.MatchLabels)); !slices.Equal(keys, []string{"arch", "os"}) {
			t.Errorf("a selector has the keys %v", keys)
		}
		if !regexp.MustCompile(`^[a-f0-9]{64}$`).MatchString(one.SHA256) || one.Bin == "" {
			t.Errorf("%+v", one)
		}
		if !strings.HasPrefix(one.URI, p.Spec.Homepage+"/releases/download/v1.2.3/") || !strings.HasSuffix(one.URI, ".tar.gz") {
			t.Errorf("the address is %s", one.URI)
		}
	}
}
