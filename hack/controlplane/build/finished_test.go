package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// world is a server with the archives of a release, a user's cache, and a build that only says that it ran.
type world struct {
	*downloader
	t        *testing.T
	files    map[string][]byte
	requests atomic.Int32
	built    int
	progress bytes.Buffer
	cache    string
}

const (
	manager = "/dl.example/manager"
	envtest = "/github.example/envtest.tar.gz"
)

// newWorld serves the files; a handler in special answers for a path instead.
func newWorld(t *testing.T, special map[string]http.HandlerFunc) *world {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("finished programs are for Linux, and the folder of the cache is set as on Linux")
	}
	t.Chdir("..") // where the program runs
	w := &world{t: t, cache: t.TempDir()}
	t.Setenv("XDG_CACHE_HOME", w.cache)
	t.Setenv("HOME", w.cache)
	tools := zipped(t, "etcd", "kubectl")
	sum := sha512.Sum512(tools)
	published := sha256.Sum256(script("manager"))
	w.files = map[string][]byte{
		manager:             script("manager"),
		manager + ".sha256": []byte(hex.EncodeToString(published[:]) + "\n"),
		envtest:             tools,
	}
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		w.requests.Add(1)
		if handler, ok := special[request.URL.Path]; ok {
			handler(response, request)
		} else if content, ok := w.files[request.URL.Path]; ok {
			_, _ = response.Write(content)
		} else {
			http.NotFound(response, request)
		}
	}))
	t.Cleanup(server.Close)
	w.downloader = &downloader{
		mirror: server.URL, connect: time.Minute, silence: time.Minute, total: time.Minute,
		archives: []archive{
			{url: "https:/" + manager, programs: []string{"manager"}},
			{url: "https:/" + envtest, programs: []string{"etcd", "kubectl"}, sums: map[string]string{runtime.GOARCH: hex.EncodeToString(sum[:])}},
		},
	}
	return w
}

// ensure is the program's, with a build that takes no time.
func (w *world) ensure(finished *downloader) (string, error) {
	return ensure(finished, func(_ context.Context, _, dir string, _ []string, _ io.Writer) error {
		w.built++
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for _, name := range binaries {
			if err := os.WriteFile(filepath.Join(dir, name), script("built "+name), 0o755); err != nil {
				return err
			}
		}
		return nil
	}, &w.progress)
}

// unreachable is an address that drops connections: those that it accepts wait in a queue that is full.
func unreachable(t *testing.T) string {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(socket) })
	if err := errors.Join(syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), syscall.Listen(socket, 0)); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(socket)
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
	for {
		waiting, err := net.DialTimeout("tcp", address, 300*time.Millisecond)
		if err != nil {
			return address
		}
		t.Cleanup(func() { _ = waiting.Close() })
	}
}

func script(says string) []byte { return fmt.Appendf(nil, "#!/bin/sh\necho %s\n", says) }

// zipped is a .tar.gz with scripts in a folder, and with a file that is of no interest.
func zipped(t *testing.T, names ...string) []byte {
	t.Helper()
	var result bytes.Buffer
	zip := gzip.NewWriter(&result)
	archive := tar.NewWriter(zip)
	for _, name := range append(names, "README") {
		content := script(name)
		if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "some/folder/" + name, Size: int64(len(content)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return result.Bytes()
}

func TestFinishedProgramsAreDownloadedOnce(t *testing.T) {
	w := newWorld(t, nil)
	dir, err := w.ensure(w.downloader)
	if err != nil || w.built > 0 {
		t.Fatalf("it built %d times, with the error %v, and printed:\n%s", w.built, err, &w.progress)
	}
	for _, name := range []string{"manager", "etcd", "kubectl"} {
		if said, err := exec.CommandContext(t.Context(), filepath.Join(dir, name)).Output(); err != nil || string(said) != name+"\n" {
			t.Errorf("%s said %q, with the error %v", name, said, err)
		}
	}
	if !strings.HasPrefix(w.progress.String(), "Downloading a finished control plane, Kubernetes "+published+", about 200 MB") {
		t.Errorf("it does not begin with the cost:\n%s", &w.progress)
	}
	w.holds(t, filepath.Base(dir))

	before := w.requests.Load()
	if again, err := w.ensure(w.downloader); again != dir || err != nil || w.requests.Load() != before || w.built > 0 {
		t.Errorf("then it is %s, with %d more requests, %d builds and the error %v", again, w.requests.Load()-before, w.built, err)
	}
	if built, err := w.ensure(nil); built == dir || err != nil || w.built != 1 {
		t.Errorf("tests get %s after %d builds, with the error %v; they need what go.mod names", built, w.built, err)
	}
}

// holds checks that nothing else is in the cache, but for the lock.
func (w *world) holds(t *testing.T, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(w.cache, "cloudfront-tenant-operator", "controlplane"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	want = append(want, "lock")
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the cache holds %q, want %q", got, want)
	}
}

func TestAFailedDownloadIsFollowedByTheBuild(t *testing.T) {
	half := func(response http.ResponseWriter, _ *http.Request) {
		response.Header().Set("Content-Length", "1000")
		_, _ = response.Write([]byte("half of it"))
	}
	for name, test := range map[string]struct {
		special map[string]http.HandlerFunc
		change  func(*world)
		path    string
		want    string
	}{
		"an archive with another checksum is not used": {
			change: func(w *world) { w.files[envtest] = append(w.files[envtest], 0) },
			path:   envtest, want: "its checksum is ",
		},
		"a program with another checksum than the published one is not used": {
			change: func(w *world) { w.files[manager] = script("evil") },
			path:   manager, want: "its checksum is ",
		},
		"a page is no published checksum": {
			change: func(w *world) { w.files[manager+".sha256"] = []byte("<html>Log in first") },
			path:   manager, want: "reading its .sha256: it holds no checksum",
		},
		"no published checksum is a failure": {
			change: func(w *world) { delete(w.files, manager+".sha256") },
			path:   manager, want: "reading its .sha256: it answered 404 Not Found",
		},
		"a download that is cut off is not used": {
			special: map[string]http.HandlerFunc{envtest: half},
			path:    envtest, want: "unexpected EOF",
		},
		"an archive that is not there is named": {
			special: map[string]http.HandlerFunc{envtest: http.NotFound},
			path:    envtest, want: "it answered 404 Not Found",
		},
		"a server that stops in the middle is left after a while": {
			special: map[string]http.HandlerFunc{envtest: func(response http.ResponseWriter, request *http.Request) {
				half(response, request)
				_ = http.NewResponseController(response).Flush()
				<-request.Context().Done()
			}},
			change: func(w *world) { w.silence = 300 * time.Millisecond },
			path:   envtest, want: "it sent nothing for 300ms",
		},
		"a server that never answers is left after a while": {
			special: map[string]http.HandlerFunc{manager + ".sha256": func(_ http.ResponseWriter, request *http.Request) { <-request.Context().Done() }},
			change:  func(w *world) { w.silence = 300 * time.Millisecond },
			path:    manager, want: "reading its .sha256: it sent nothing for 300ms",
		},
		"a download that takes longer than a build is left": {
			special: map[string]http.HandlerFunc{envtest: func(response http.ResponseWriter, request *http.Request) {
				for request.Context().Err() == nil {
					_, _ = response.Write([]byte("and on "))
				}
			}},
			change: func(w *world) { w.total = 300 * time.Millisecond },
			path:   envtest, want: "it takes longer than 300ms",
		},
		"a port that refuses is named": {
			change: func(w *world) { w.mirror = "http://127.0.0.1:1" },
			path:   manager, want: "reading its .sha256: dial tcp 127.0.0.1:1: connect: connection refused",
		},
		"a network that drops everything is left after a while": {
			change: func(w *world) { w.mirror, w.connect = "http://"+unreachable(w.t), 300*time.Millisecond },
			path:   manager, want: "i/o timeout",
		},
		"an archive without a program is of no use": {
			change: func(w *world) { w.archives[1].programs = append(w.archives[1].programs, "helm") },
			path:   envtest, want: "it does not have all of etcd, kubectl, helm",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, test.special)
			if test.change != nil {
				test.change(w)
			}
			dir, err := w.ensure(w.downloader)
			if err != nil || w.built != 1 || !has(dir, binaries) {
				t.Fatalf("it built %d times into %q, with the error %v", w.built, dir, err)
			}
			var told []string
			for line := range strings.Lines(w.progress.String()) {
				if strings.Contains(line, "failed") {
					told = append(told, line)
				}
			}
			if len(told) != 1 {
				t.Fatalf("it tells of %d failures:\n%s", len(told), &w.progress)
			}
			for _, want := range []string{"built from source", w.mirror + test.path + ": ", test.want, mirrorVariable, "--build"} {
				if strings.Count(told[0], want) != 1 {
					t.Errorf("it says %q, want %q in it", told[0], want)
				}
			}
			version := filepath.Base(dir)
			current, _, _ := strings.Cut(version, "-etcd-")
			w.holds(t, version, "current-"+current+"-"+runtime.GOOS+"-"+runtime.GOARCH)
		})
	}
}

func TestWhatIsBuiltNeedsNoNetwork(t *testing.T) {
	w := newWorld(t, nil)
	built, err := w.ensure(nil)
	if err != nil || w.built != 1 {
		t.Fatalf("it built %d times, with the error %v", w.built, err)
	}
	if dir, err := w.ensure(w.downloader); dir != built || err != nil || w.built != 1 {
		t.Errorf("then it is %s after %d builds, with the error %v", dir, w.built, err)
	}
	if n := w.requests.Load(); n > 0 {
		t.Errorf("there were %d requests", n)
	}
}

func TestAnInterruptedDownloadIsNotFollowedByTheBuild(t *testing.T) {
	w := newWorld(t, nil)
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	taken, err := w.take(ctx, t.TempDir(), &w.progress)
	if taken || err == nil || strings.Contains(w.progress.String(), "failed") {
		t.Errorf("it was taken: %t, with the error %v:\n%s", taken, err, &w.progress)
	}
}

func TestPublishedProgramsFitTheBuiltOnes(t *testing.T) {
	t.Chdir("..")
	kubernetes, _, err := readVersion()
	if err != nil {
		t.Fatal(err)
	}
	minor := kubernetes[:strings.LastIndex(kubernetes, ".")+1]
	if !strings.HasPrefix(published, minor) {
		t.Errorf("%s is published, and go.mod has %s", published, kubernetes)
	}
	var programs []string
	for _, a := range archives {
		programs = append(programs, a.programs...)
		for arch, sum := range a.sums {
			if digest, err := hex.DecodeString(sum); err != nil || len(digest) != sha256.Size && len(digest) != sha512.Size {
				t.Errorf("%s for %s has the checksum %q, with the error %v", a.url, arch, sum, err)
			}
		}
	}
	slices.Sort(programs)
	if want := []string{"etcd", "helm", "kube-apiserver", "kube-controller-manager", "kubectl"}; !slices.Equal(programs, want) {
		t.Errorf("they are %q, want %q", programs, want)
	}
}
