package importing

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// Folder says where the fleet is written, and how.
type Folder struct {
	Path string
	// Overwrite lets it replace what an earlier import has written there.
	Overwrite bool
	// PerFile is how many tenants a file has. 0: one, or as many as it takes that there are not more than a thousand
	// files.
	PerFile int
	// State is that of Terraform, nil without one.
	State *State
}

// The files. Everything else in the folder belongs to others.
const (
	kustomization = "kustomization.yaml"
	differences   = "DIFFERENCES.md"
	grantsFile    = "grants.yaml"
	removedFile   = "removed.tf"
	tenantsFolder = "tenants"
)

// maxFiles is how many files of tenants there are by default: Git and editors can handle more, readers can't.
const maxFiles = 1000

// Check refuses a folder that has something in it. It is asked before anything is read, which may take a while.
func (w Folder) Check() error {
	entries, err := os.ReadDir(w.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("reading the folder %s: %w", w.Path, err)
	case len(entries) > 0 && !w.Overwrite:
		return fmt.Errorf("the folder %s is not empty: use another one, or --overwrite to replace what an earlier import has written there", w.Path)
	}
	return nil
}

// Write writes the fleet, and returns how many files that are. It writes into a folder next to it, and moves the files
// when all are there, the list of them last: after a failure there is no kustomization.yaml.
func (w Folder) Write(f *Fleet) (int, error) {
	if err := w.Check(); err != nil {
		return 0, err
	}
	files, err := w.files(f)
	if err != nil {
		return 0, err
	}
	full, err := filepath.Abs(w.Path)
	if err != nil {
		return 0, fmt.Errorf("finding the folder %s: %w", w.Path, err)
	}
	if err := os.MkdirAll(filepath.Dir(full), 0o750); err != nil {
		return 0, fmt.Errorf("making the folder of %s: %w", w.Path, err)
	}
	staged, err := os.MkdirTemp(filepath.Dir(full), ".import-")
	if err != nil {
		return 0, fmt.Errorf("making a folder next to %s: %w", w.Path, err)
	}
	defer os.RemoveAll(staged)
	for _, file := range files {
		name := filepath.Join(staged, filepath.FromSlash(file.name))
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			return 0, fmt.Errorf("making the folder of %s: %w", file.name, err)
		}
		if err := os.WriteFile(name, file.content, 0o600); err != nil {
			return 0, fmt.Errorf("writing %s: %w", file.name, err)
		}
	}
	if err := replace(full, staged, files); err != nil {
		return 0, fmt.Errorf("moving the files to %s: %w", w.Path, err)
	}
	return len(files), nil
}

type file struct {
	name    string
	content []byte
}

// replace moves the files, after those of an earlier import are gone.
func replace(full, staged string, files []file) error {
	if err := os.MkdirAll(full, 0o750); err != nil {
		return err
	}
	earlier, err := written(full)
	if err != nil {
		return err
	}
	for _, name := range earlier {
		if err := os.RemoveAll(filepath.Join(full, name)); err != nil {
			return err
		}
	}
	moved := map[string]bool{}
	for _, f := range files {
		top, _, _ := strings.Cut(f.name, "/")
		if moved[top] || top == kustomization {
			continue
		}
		moved[top] = true
		if err := os.Rename(filepath.Join(staged, top), filepath.Join(full, top)); err != nil {
			return err
		}
	}
	return os.Rename(filepath.Join(staged, kustomization), filepath.Join(full, kustomization))
}

// written are the files and folders of an earlier import, the list of them first.
func written(full string) ([]string, error) {
	names := []string{kustomization}
	for _, pattern := range []string{"distribution-*.yaml", "connectiongroup-*.yaml"} {
		found, err := filepath.Glob(filepath.Join(full, pattern))
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			names = append(names, filepath.Base(name))
		}
	}
	return append(names, tenantsFolder, differences, grantsFile, removedFile), nil
}

// files are those of the fleet, kustomization.yaml last.
func (w Folder) files(f *Fleet) ([]file, error) {
	var files []file
	var resources []string
	add := func(name string, objects ...client.Object) error {
		content, err := manifests(objects)
		if err != nil {
			return err
		}
		files, resources = append(files, file{name, content}), append(resources, name)
		return nil
	}
	if e := f.Distribution; e != nil {
		if err := add("distribution-"+e.Object.GetName()+".yaml", e.Object); err != nil {
			return nil, err
		}
	}
	for _, e := range f.Groups {
		if err := add("connectiongroup-"+e.Object.GetName()+".yaml", e.Object); err != nil {
			return nil, err
		}
	}
	for _, chunk := range w.chunks(f.Tenants) {
		var objects []client.Object
		for _, e := range chunk.entries {
			objects = append(objects, e.Object)
		}
		if err := add(chunk.name, objects...); err != nil {
			return nil, err
		}
	}
	if f.Grant != nil && f.Grant.Object != nil {
		content, err := manifests([]client.Object{f.Grant.Object})
		if err != nil {
			return nil, err
		}
		files = append(files, file{grantsFile, append([]byte(grantHead), content...)})
	}
	files = append(files, file{differences, []byte(f.markdown())}, file{removedFile, []byte(f.removed(w.State))})
	return append(files, file{kustomization, kustomizationOf(resources)}), nil
}

const grantHead = `# An administrator of the platform applies this before the import, and deletes it when everything is adopted: what is
# adopted stays. While it exists it takes the place of the default grant for all objects of the namespace. If they use more,
# such as DNS zones or tables, add it.
`

type chunk struct {
	name    string
	entries []*Entry
}

// chunks are the tenants of each file, in the order of their names.
func (w Folder) chunks(entries []*Entry) []chunk {
	perFile := w.PerFile
	if perFile <= 0 {
		perFile = (len(entries) + maxFiles - 1) / maxFiles
	}
	var out []chunk
	if perFile <= 1 {
		for _, e := range entries {
			out = append(out, chunk{path.Join(tenantsFolder, e.Object.GetName()+".yaml"), []*Entry{e}})
		}
		return out
	}
	for part := range slices.Chunk(entries, perFile) {
		out = append(out, chunk{path.Join(tenantsFolder, fmt.Sprintf("%04d.yaml", len(out)+1)), part})
	}
	return out
}

// manifests renders objects as the documents of one file.
func manifests(objects []client.Object) ([]byte, error) {
	var b bytes.Buffer
	for i, o := range objects {
		text, err := yaml.Marshal(o)
		if err != nil {
			return nil, fmt.Errorf("rendering %s: %w", o.GetName(), err)
		}
		if i > 0 {
			b.WriteString("---\n")
		}
		b.Write(text)
	}
	return b.Bytes(), nil
}

func kustomizationOf(resources []string) []byte {
	var b bytes.Buffer
	b.WriteString("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n")
	if len(resources) == 0 {
		b.WriteString("resources: []\n")
		return b.Bytes()
	}
	b.WriteString("resources:\n")
	for _, name := range resources {
		b.WriteString("  - " + name + "\n")
	}
	return b.Bytes()
}
