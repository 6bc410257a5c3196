package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGivenControlPlane(t *testing.T) {
	t.Parallel()
	without := func(names ...string) []string {
		return slices.DeleteFunc(slices.Clone(needed), func(name string) bool { return slices.Contains(names, name) })
	}
	for name, test := range map[string]struct {
		// files are executable, and data are not.
		files, data []string
		missing     []string
	}{
		"a folder with everything is used":           {files: needed},
		"what else is in it does not matter":         {files: append(slices.Clone(needed), "kubeadm")},
		"envtest's folder has no controller manager": {files: without("kube-controller-manager", "helm"), missing: []string{"kube-controller-manager", "helm"}},
		"a file that can't be run is missing":        {files: without("kubectl"), data: []string{"kubectl"}, missing: []string{"kubectl"}},
		"an empty folder has nothing":                {missing: needed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for mode, names := range map[os.FileMode][]string{0o700: test.files, 0o600: test.data} {
				for _, file := range names {
					if err := os.WriteFile(filepath.Join(dir, file), nil, mode); err != nil {
						t.Fatal(err)
					}
				}
			}
			want := dir
			if test.missing != nil {
				want = ""
			}
			folder, missing := givenControlPlane(dir)
			if folder != want {
				t.Errorf("the folder is %q, want %q", folder, want)
			}
			if diff := cmp.Diff(test.missing, missing); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFolderThatDoesNotExistIsNoControlPlane(t *testing.T) {
	t.Parallel()
	if folder, missing := givenControlPlane(filepath.Join(t.TempDir(), "nowhere")); folder != "" || len(missing) != len(needed) {
		t.Errorf("it is %q without %v", folder, missing)
	}
}

func TestBuildForbidsTheDownload(t *testing.T) {
	t.Parallel()
	for download, args := range map[string][]string{"--download=true": {"demo"}, "--download=false": {"demo", "--build"}} {
		c, err := parse(args, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if got := controlPlaneArgs("root", c); !slices.Contains(got, download) {
			t.Errorf("%q gets the control plane with %q, want %s", args, got, download)
		}
	}
}

func TestMissingGoIsNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := moduleRoot(t.Context()); err == nil || !strings.Contains(err.Error(), "finding go: ") {
		t.Errorf("the error is %v", err)
	}
}
