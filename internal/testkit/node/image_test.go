package node

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An archive has the program, the files with their links and a user, each blob under its digest, and no time.
func TestImage(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "operator", "program")
	write(t, dir, "zones/Europe/Berlin", "zone")
	if err := os.Symlink("Europe/Berlin", filepath.Join(dir, "zones", "Local")); err != nil {
		t.Fatal(err)
	}
	image := Image{
		Name: "localhost/operator:test", Program: filepath.Join(dir, "operator"), User: "65532:65532",
		Files: map[string]string{"usr/share/zoneinfo": filepath.Join(dir, "zones")},
	}
	archive := filepath.Join(dir, "image.tar")
	size, err := image.Write(archive)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	files := unpack(t, bytes.NewReader(content))
	var index struct {
		Manifests []struct {
			Digest      string
			Annotations map[string]string
		}
	}
	var manifest struct {
		Config struct{ Digest string }
		Layers []struct{ Digest string }
	}
	var config struct {
		Config struct {
			User       string
			Entrypoint []string
		}
		Rootfs struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	read(t, files, "index.json", &index)
	if name := index.Manifests[0].Annotations["io.containerd.image.name"]; name != image.Name {
		t.Errorf("the image is named %q, want %q", name, image.Name)
	}
	read(t, files, blobOf(index.Manifests[0].Digest), &manifest)
	read(t, files, blobOf(manifest.Config.Digest), &config)
	if diff := cmp.Diff([]string{image.User, "/operator"}, append([]string{config.Config.User}, config.Config.Entrypoint...)); diff != "" {
		t.Errorf("user and program (-want +got):\n%s", diff)
	}
	layer := inflate(t, files[blobOf(manifest.Layers[0].Digest)])
	if got := fmt.Sprintf("sha256:%x", sha256.Sum256(layer)); got != config.Rootfs.DiffIDs[0] || int64(len(layer)) != size.Unpacked {
		t.Errorf("the layer is %s with %d bytes, want %s with %d", got, len(layer), config.Rootfs.DiffIDs[0], size.Unpacked)
	}
	got := unpack(t, bytes.NewReader(layer))
	delete(got, "etc/passwd")
	delete(got, "etc/group")
	want := map[string]string{"operator": "program", "usr/share/zoneinfo/Europe/Berlin": "zone", "usr/share/zoneinfo/Local": "-> Europe/Berlin"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the files (-want +got):\n%s", diff)
	}
	if _, err := image.Write(archive); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(archive); err != nil || !bytes.Equal(content, again) {
		t.Errorf("equal files make two images (%v)", err)
	}
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o755)); err != nil {
		t.Fatal(err)
	}
}

func blobOf(digest string) string { return "blobs/" + strings.Replace(digest, ":", "/", 1) }

func read(t *testing.T, files map[string]string, name string, out any) {
	t.Helper()
	if err := json.Unmarshal([]byte(files[name]), out); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func inflate(t *testing.T, content string) []byte {
	t.Helper()
	zip, err := gzip.NewReader(strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// unpack returns the files of an archive, and where links lead. A blob has to be what its name says.
func unpack(t *testing.T, r io.Reader) map[string]string {
	t.Helper()
	out := map[string]string{}
	for files := tar.NewReader(r); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		out[header.Name] = string(content)
		if header.Typeflag == tar.TypeSymlink {
			out[header.Name] = "-> " + header.Linkname
		}
		if sum, blob := strings.CutPrefix(header.Name, "blobs/sha256/"); blob && sum != fmt.Sprintf("%x", sha256.Sum256(content)) {
			t.Errorf("the blob %s is another", sum)
		}
	}
}
