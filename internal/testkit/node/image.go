package node

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Image is a container image with one static program.
type Image struct {
	// Name has a registry and a tag.
	Name string
	// Program is the path of the program here. In the image it is in the root folder.
	Program string
	// User is the numbers of a user and a group; root if empty.
	User string
	// Files are added: paths in the image and here. Folders are added with everything in them.
	Files map[string]string
}

// Size is that of an image's layer, in bytes.
type Size struct{ Compressed, Unpacked int64 }

// Base are the files of the image that the Dockerfile begins with, as far as they matter: the certificates and time
// zones of this machine.
func Base() map[string]string {
	return map[string]string{"etc/ssl/certs/ca-certificates.crt": "/etc/ssl/certs/ca-certificates.crt", "usr/share/zoneinfo": "/usr/share/zoneinfo"}
}

// passwd and group are those of the image that the Dockerfile begins with.
const (
	passwd = "root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n"
	group  = "root:x:0:\nnobody:x:65534:\ntty:x:5:\nstaff:x:50:\nnonroot:x:65532:\n"
)

// Write writes the image as an OCI archive, which needs neither a registry nor a container engine.
func (i Image) Write(archive string) (Size, error) {
	layer, size, err := i.layer()
	if err != nil {
		return Size{}, fmt.Errorf("writing the image %s: %w", i.Name, err)
	}
	var out bytes.Buffer
	if err := i.archive(&out, layer); err != nil {
		return Size{}, fmt.Errorf("writing the image %s: %w", i.Name, err)
	}
	return size, os.WriteFile(archive, out.Bytes(), 0o644)
}

// layer is the one layer, compressed, with the digest of what is in it.
func (i Image) layer() (layer, Size, error) {
	var compressed bytes.Buffer
	digest := sha256.New()
	zip := gzip.NewWriter(&compressed)
	counter := &counted{}
	files := tar.NewWriter(io.MultiWriter(zip, digest, counter))
	for _, text := range []struct{ name, content string }{{"etc/passwd", passwd}, {"etc/group", group}} {
		if err := put(files, text.name, 0o644, []byte(text.content)); err != nil {
			return layer{}, Size{}, err
		}
	}
	if err := add(files, filepath.Base(i.Program), i.Program); err != nil {
		return layer{}, Size{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(i.Files)) {
		if err := add(files, name, i.Files[name]); err != nil {
			return layer{}, Size{}, err
		}
	}
	if err := files.Close(); err != nil {
		return layer{}, Size{}, err
	}
	if err := zip.Close(); err != nil {
		return layer{}, Size{}, err
	}
	size := Size{Compressed: int64(compressed.Len()), Unpacked: counter.bytes}
	return layer{compressed.Bytes(), fmt.Sprintf("sha256:%x", digest.Sum(nil))}, size, nil
}

type layer struct {
	content []byte
	// diff is the digest of the layer before it was compressed.
	diff string
}

type counted struct{ bytes int64 }

func (c *counted) Write(p []byte) (int, error) {
	c.bytes += int64(len(p))
	return len(p), nil
}

// add adds a file, or a folder with everything in it.
func add(files *tar.Writer, name, source string) error {
	return filepath.WalkDir(source, func(here string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name := path.Join(name, filepath.ToSlash(strings.TrimPrefix(here, source)))
		if entry.Type() == fs.ModeSymlink {
			target, err := os.Readlink(here)
			if err != nil {
				return err
			}
			return files.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target})
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(here)
		if err != nil {
			return err
		}
		return put(files, name, int64(info.Mode().Perm()), content)
	})
}

// put writes a file without a time, so that equal files make equal images.
func put(files *tar.Writer, name string, mode int64, content []byte) error {
	if err := files.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(content))}); err != nil {
		return err
	}
	_, err := files.Write(content)
	return err
}

const (
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// archive writes the files of an OCI image layout.
func (i Image) archive(out io.Writer, l layer) error {
	files := tar.NewWriter(out)
	blob := func(mediaType string, content []byte) (map[string]any, error) {
		sum := fmt.Sprintf("%x", sha256.Sum256(content))
		return map[string]any{"mediaType": mediaType, "digest": "sha256:" + sum, "size": len(content)},
			put(files, "blobs/sha256/"+sum, 0o644, content)
	}
	layerBlob, err := blob(layerType, l.content)
	if err != nil {
		return err
	}
	config, err := blob(configType, document(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": map[string]any{"User": i.User, "Entrypoint": []string{"/" + filepath.Base(i.Program)}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{l.diff}},
	}))
	if err != nil {
		return err
	}
	manifest, err := blob(manifestType, document(map[string]any{
		"schemaVersion": 2, "mediaType": manifestType, "config": config, "layers": []any{layerBlob},
	}))
	if err != nil {
		return err
	}
	manifest["annotations"] = map[string]string{"io.containerd.image.name": i.Name}
	index := document(map[string]any{"schemaVersion": 2, "manifests": []any{manifest}})
	if err := put(files, "index.json", 0o644, index); err != nil {
		return err
	}
	if err := put(files, "oci-layout", 0o644, document(map[string]any{"imageLayoutVersion": "1.0.0"})); err != nil {
		return err
	}
	return files.Close()
}

// document is JSON of a value that can always be written.
func document(value map[string]any) []byte {
	content, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return content
}
