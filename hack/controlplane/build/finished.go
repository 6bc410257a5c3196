package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// mirrorVariable names a server to download from. It has the files at the same paths, below the name of their host.
const mirrorVariable = "CONTROLPLANE_MIRROR"

// published is the newest Kubernetes release of go.mod's minor version whose programs envtest publishes.
//
// To move to another one, change the versions below, and take the checksums from envtest-releases.yaml in
// kubernetes-sigs/controller-tools and from the .sha256sum that Helm publishes with each archive.
const published = "v1.37.0"

// arePublished reports whether all programs are published for this system: kube-controller-manager is for Linux only.
const arePublished = runtime.GOOS == "linux" && (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64")

// archives are what a demo needs. The one that has no checksum here comes first: its .sha256 is small, and
// shows early whether the network allows a download.
var archives = []archive{
	{
		url:      "https://dl.k8s.io/release/" + published + "/bin/linux/" + runtime.GOARCH + "/kube-controller-manager",
		programs: []string{"kube-controller-manager"},
	},
	{
		url:      "https://get.helm.sh/helm-v4.3.0-linux-" + runtime.GOARCH + ".tar.gz",
		programs: []string{"helm"},
		sums: map[string]string{
			"amd64": "86584a54def73570558f66f5111cc53dfed56689637ae32c1201205d494f54fb",
			"arm64": "31c5794dd55c66a51e6b7d2e2ac7a114ae8b1de41ff1d9ba51748ac973b06a08",
		},
	},
	{
		url: "https://github.com/kubernetes-sigs/controller-tools/releases/download/" +
			"envtest-" + published + "/envtest-" + published + "-linux-" + runtime.GOARCH + ".tar.gz",
		programs: []string{"etcd", "kube-apiserver", "kubectl"},
		sums: map[string]string{
			"amd64": "1d1c453633b72c161a5d5a886cde7ac850be1a2ac796a9e1d4ffacacc6486829" +
				"5bdd2d57aa66cd0c158f5ce510f5dfe3fbc61ac21bd3dcfb875bd70658aa663a",
			"arm64": "ae6a670502988200b0131c943758cfd3d3a58cf4e6247ef7f0e6a6467f1cd9a3" +
				"33c802e86101f0446b1b92a0e327387224e1e44fe1a4693da0929c6e529cfe9a",
		},
	},
}

// archive is a program, or a .tar.gz with some.
type archive struct {
	url      string
	programs []string
	// sums are the SHA-256 or SHA-512 for each architecture. Nil means the SHA-256 that is published as url + ".sha256".
	sums map[string]string
}

// downloader gets finished programs.
type downloader struct {
	archives []archive
	// mirror replaces "https:/" in the URLs if it is not empty.
	mirror string
	// connect bounds how long a server may take to answer the first packet, silence how long it may send nothing, and
	// total all of it: by then a build would be ready.
	connect, silence, total time.Duration
	// tick is how often progress is shown.
	tick time.Duration
}

func newDownloader() *downloader {
	return &downloader{
		archives: archives, mirror: strings.TrimSuffix(os.Getenv(mirrorVariable), "/"),
		connect: 5 * time.Second, silence: 15 * time.Second, total: 10 * time.Minute, tick: 5 * time.Second,
	}
}

// has reports whether everything was downloaded before.
func (d *downloader) has(root string) bool {
	return d != nil && !slices.ContainsFunc(d.archives, func(a archive) bool { return !has(d.dir(root), a.programs) })
}

// dir is the folder of the programs. Its name changes with what is downloaded.
func (d *downloader) dir(root string) string {
	digest := sha256.Sum256(fmt.Append(nil, d.archives))
	return filepath.Join(root, fmt.Sprintf("finished-%s-linux-%s-%x", published, runtime.GOARCH, digest[:6]))
}

// take fills the folder, and reports whether it did. If the network does not allow it, it says why and what to do. An
// error means that it was interrupted.
func (d *downloader) take(ctx context.Context, root string, progress io.Writer) (bool, error) {
	if d.has(root) { // another process may have downloaded just this
		return true, nil
	}
	start := time.Now()
	fmt.Fprintf(progress, "Downloading a finished control plane, Kubernetes %s, about 200 MB, once per user.\n"+
		"PLAYGROUNDFLAGS=--build builds one from source instead.\n", published)
	err := d.download(ctx, root, progress)
	switch {
	case err == nil:
		fmt.Fprintf(progress, "downloaded in %s\n", time.Since(start).Round(time.Second))
		return true, nil
	case ctx.Err() != nil:
		return false, err
	}
	fmt.Fprintf(progress, "Downloading failed, so the control plane is built from source: %s. "+
		"Allow this host, set %s to a mirror, or skip the download with PLAYGROUNDFLAGS=--build.\n", err, mirrorVariable)
	return false, nil
}

// download fills a folder next to the final one and renames it, so that the final one is complete or absent.
func (d *downloader) download(ctx context.Context, root string, progress io.Writer) error {
	ctx, cancel := context.WithTimeoutCause(ctx, d.total, fmt.Errorf("it takes longer than %s", d.total))
	defer cancel()
	dir, temp := d.dir(root), filepath.Join(root, "downloading")
	for _, stale := range []string{temp, dir} { // left by a download that was killed, or damaged since
		if err := os.RemoveAll(stale); err != nil {
			return fmt.Errorf("removing an incomplete download: %w", err)
		}
	}
	defer os.RemoveAll(temp)
	bin := filepath.Join(temp, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	for i, a := range d.archives {
		source := d.source(a.url)
		fmt.Fprintf(progress, "[%d/%d] %s\n", i+1, len(d.archives), source)
		if err := d.install(ctx, a, source, temp, bin, progress); err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
	}
	return os.Rename(bin, dir)
}

func (d *downloader) source(address string) string {
	if d.mirror == "" {
		return address
	}
	return d.mirror + "/" + strings.TrimPrefix(address, "https://")
}

// install puts the programs of an archive into the folder bin, once its checksum was found to be right.
func (d *downloader) install(ctx context.Context, a archive, source, temp, bin string, progress io.Writer) error {
	want, err := d.checksum(ctx, a, source)
	if err != nil {
		return fmt.Errorf("reading its .sha256: %w", err)
	}
	file, err := os.Create(filepath.Join(temp, path.Base(source)))
	if err != nil {
		return err
	}
	defer file.Close()
	digest := hashOf(want)
	if err := d.get(ctx, source, io.MultiWriter(file, digest), progress); err != nil {
		return err
	}
	if got := hex.EncodeToString(digest.Sum(nil)); got != want {
		return fmt.Errorf("its checksum is %s instead of %s", got, want)
	}
	if !strings.HasSuffix(source, ".tar.gz") {
		return errors.Join(file.Chmod(0o755), os.Rename(file.Name(), filepath.Join(bin, a.programs[0])))
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return extract(file, a.programs, bin)
}

// checksum returns the one that is known, or the one that is published.
func (d *downloader) checksum(ctx context.Context, a archive, source string) (string, error) {
	if a.sums != nil {
		return a.sums[runtime.GOARCH], nil
	}
	var text strings.Builder
	if err := d.get(ctx, source+".sha256", &text, io.Discard); err != nil {
		return "", err
	}
	sum, _, _ := strings.Cut(strings.TrimSpace(text.String()), " ")
	if _, err := hex.DecodeString(sum); err != nil || len(sum) != hex.EncodedLen(sha256.Size) {
		return "", errors.New("it holds no checksum")
	}
	return sum, nil
}

// hashOf returns the kind of hash that a checksum is of.
func hashOf(sum string) hash.Hash {
	if len(sum) == hex.EncodedLen(sha512.Size) {
		return sha512.New()
	}
	return sha256.New()
}

// extract writes the programs of a .tar.gz into a folder, from whatever folder of the archive.
func extract(file io.Reader, programs []string, bin string) error {
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	archived := tar.NewReader(unzipped)
	for {
		header, err := archived.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if name := path.Base(header.Name); header.Typeflag == tar.TypeReg && slices.Contains(programs, name) {
			if err := write(filepath.Join(bin, name), archived); err != nil {
				return err
			}
		}
	}
	if !has(bin, programs) {
		return fmt.Errorf("it does not have all of %s", strings.Join(programs, ", "))
	}
	return nil
}

func write(name string, content io.Reader) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}

// get writes what a URL serves, and fails when the server is silent for too long.
func (d *downloader) get(ctx context.Context, source string, to, progress io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alarm := time.AfterFunc(d.silence, func() { cancel(fmt.Errorf("it sent nothing for %s", d.silence)) })
	defer alarm.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, source, nil)
	if err != nil {
		return err
	}
	response, err := d.client().Do(request)
	if err != nil {
		return reason(ctx, source, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("it answered %s", response.Status)
	}
	body := &watched{
		Reader: response.Body, alive: func() { alarm.Reset(d.silence) },
		size: response.ContentLength, progress: progress, tick: d.tick, shown: time.Now(),
	}
	_, err = io.Copy(to, body)
	return reason(ctx, source, err)
}

func (d *downloader) client() *http.Client {
	dialer := &net.Dialer{Timeout: d.connect}
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: d.connect,
		DisableCompression: true, DisableKeepAlives: true, ForceAttemptHTTP2: true,
	}}
}

// reason leaves out what is said elsewhere, and says whose limit ended a request.
func reason(ctx context.Context, source string, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if failed, ok := errors.AsType[*url.Error](err); ok && failed.URL == source {
		return failed.Err
	}
	return err
}

// watched shows how far a download is.
type watched struct {
	io.Reader
	size, done int64
	progress   io.Writer
	tick       time.Duration
	shown      time.Time
	alive      func()
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.alive()
	w.done += int64(n)
	if now := time.Now(); now.Sub(w.shown) >= w.tick || errors.Is(err, io.EOF) {
		w.shown = now
		fmt.Fprintf(w.progress, "      %s\n", megabytes(w.done, w.size))
	}
	return n, err
}

// megabytes says how much of a size is there; a server does not have to tell the size.
func megabytes(done, size int64) string {
	if size < 0 {
		return fmt.Sprintf("%.0f MB", float64(done)/1e6)
	}
	return fmt.Sprintf("%.0f of %.0f MB", float64(done)/1e6, float64(size)/1e6)
}
