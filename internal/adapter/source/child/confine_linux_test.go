package child_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/child"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

func needLandlock(t *testing.T) {
	t.Helper()
	if child.LandlockVersion() == 0 {
		t.Skip("this kernel does not support Landlock, or has it switched off: readers can open files")
	}
}

// signals are those that Landlock refuses since this version.
const signals, signalsSince = "send the operator a signal", 6

// harms are what foreign code in a reader could try. The folder is not one that a reader needs.
var harms = map[string]func(folder string) error{
	"read a file of the operator, such as a token": func(folder string) error { return try(os.ReadFile(filepath.Join(folder, "token"))) },
	"read the users of the system":                 func(string) error { return try(os.ReadFile("/etc/passwd")) },
	"list a folder":                                func(folder string) error { return try(os.ReadDir(folder)) },
	"write a file":                                 func(folder string) error { return os.WriteFile(filepath.Join(folder, "token"), nil, 0o600) },
	"create a file":                                func(folder string) error { return os.WriteFile(filepath.Join(folder, "new"), nil, 0o600) },
	"delete a file":                                func(folder string) error { return os.Remove(filepath.Join(folder, "token")) },
	"read the operator's environment":              func(string) error { return try(os.ReadFile(parentFile("environ"))) },
	"read the operator's memory":                   func(string) error { return try(os.Open(parentFile("mem"))) },
	"list the operator's open files":               func(string) error { return try(os.ReadDir(parentFile("fd"))) },
	"enter the operator's root":                    func(string) error { return try(os.ReadDir(parentFile("root/etc"))) },
	"attach a debugger to the operator":            func(string) error { return syscall.PtraceAttach(os.Getppid()) },
	signals:                                        func(string) error { return syscall.Kill(os.Getppid(), 0) },
	"start a program": func(string) error {
		return exec.CommandContext(context.Background(), "/proc/self/exe", "-test.list=^$").Run()
	},
}

func try[T any](_ T, err error) error { return err }

func parentFile(name string) string { return fmt.Sprintf("/proc/%d/%s", os.Getppid(), name) }

// confined are what only readers do, by the name under which it is asked for.
var confined = map[mapping.Provider]port.Rows{"harms": attempt, "verify": verify}

var attempt = reader(func(_ context.Context, q mapping.Query, sink mapping.Sink) error {
	values := map[string]any{}
	for name, harm := range harms {
		values[name] = errors.Is(harm(q.Connection.Reveal()), os.ErrPermission)
	}
	return sink.Row(mapping.Row{Values: values})
})

func TestAReaderIsConfined(t *testing.T) {
	needLandlock(t)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "token"), []byte("canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	var g got
	if err := readOf(t, "harms", folder, &g); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{}
	for name := range harms {
		want[name] = name != signals || child.LandlockVersion() >= signalsSince
	}
	if diff := cmp.Diff(want, g.rows[0].Values); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	if left, err := os.ReadFile(filepath.Join(folder, "token")); err != nil || string(left) != "canary" {
		t.Errorf("the file is %q: %v", left, err)
	}
}

// A reader that can't open files still finds hosts, and verifies servers.
func TestAReaderCanDoItsWork(t *testing.T) {
	// A folder as Kubernetes mounts it: what is in it are links to a version of it.
	folder := t.TempDir()
	version := filepath.Join(folder, "..2026_01_01")
	if err := errors.Join(os.Mkdir(version, 0o755), os.Symlink("..2026_01_01", filepath.Join(folder, "..data")),
		os.Symlink(filepath.Join("..data", "ca.pem"), filepath.Join(folder, "ca.pem"))); err != nil {
		t.Fatal(err)
	}
	single := filepath.Join(t.TempDir(), "single.pem")
	t.Setenv("SSL_CERT_FILE", single)
	t.Setenv("SSL_CERT_DIR", "/does/not/exist:"+folder)
	for name, path := range map[string]string{"an authority of SSL_CERT_DIR": filepath.Join(version, "ca.pem"), "the one of SSL_CERT_FILE": single} {
		t.Run(name, func(t *testing.T) {
			var g got
			if err := readOf(t, "verify", certificateOf(t, path), &g); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string]any{"verified": "", "resolved": "", "core": int64(0)}, g.rows[0].Values); diff != "" {
				t.Errorf("failures (-want +got):\n%s", diff)
			}
		})
	}
}

var verify = reader(func(ctx context.Context, q mapping.Query, sink mapping.Sink) error {
	certificate, err := x509.ParseCertificate([]byte(q.Connection.Reveal()))
	if err != nil {
		return err
	}
	_, verified := certificate.Verify(x509.VerifyOptions{})
	_, resolved := net.DefaultResolver.LookupHost(ctx, "localhost")
	dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err != nil {
		return err
	}
	return sink.Row(mapping.Row{Values: map[string]any{"verified": text(verified), "resolved": text(resolved), "core": int64(dumpable)}})
})

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func readOf(t *testing.T, what mapping.Provider, connection string, g *got) error {
	t.Helper()
	rows := child.New(what, child.Options{Timeout: time.Minute, Memory: memory})
	return rows.Read(t.Context(), mapping.Query{Connection: mapping.NewSecret(connection)}, g)
}

// certificateOf writes a new authority to a file, and returns a certificate that it has signed.
func certificateOf(t *testing.T, path string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: path}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	root, err := x509.CreateCertificate(rand.Reader, authority, authority, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour)}, authority, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root}), 0o600); err != nil {
		t.Fatal(err)
	}
	return string(leaf)
}

const (
	// hiddenVariable makes the test binary an operator that hides, or not, and says what it can do then.
	hiddenVariable = "TEST_HIDES"
	// peepingVariable makes it a process that looks at another.
	peepingVariable = "TEST_LOOKS_AT"
)

// playHidden is the main function of these processes.
func playHidden() {
	if pid := os.Getenv(peepingVariable); pid != "" {
		for _, name := range looks {
			_, err := os.ReadFile(filepath.Join("/proc", pid, name)) // the memory has no first page
			_, _ = fmt.Fprintln(os.Stdout, name, errors.Is(err, os.ErrPermission))
		}
		os.Exit(0)
	}
	hides := os.Getenv(hiddenVariable)
	if hides == "" {
		return
	}
	if hides == "true" {
		child.Hide()
	}
	var own []error
	for _, name := range []string{"stat", "status", "limits", "maps", "mountinfo"} { // of the metrics of a process, and of a profile
		own = append(own, try(os.ReadFile("/proc/self/"+name)))
	}
	own = append(own, try(os.ReadDir("/proc/self/fd")), try(os.Executable()), read(context.Background(), "all types", &got{}))
	_, _ = fmt.Fprintf(os.Stdout, "%q\n", text(errors.Join(own...)))
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

var looks = []string{"environ", "mem", "maps", "io"}

// A process of the same user, such as a reader on a kernel without Landlock, can't look into an operator that hides, which
// still works. Without hiding it can, or the test would show nothing.
func TestHide(t *testing.T) {
	for name, hides := range map[string]bool{"an operator that hides": true, "one that doesn't": false} {
		t.Run(name, func(t *testing.T) {
			program, user := unprivileged(t)
			operator := exec.CommandContext(t.Context(), program)
			operator.Env, operator.SysProcAttr = append(os.Environ(), hiddenVariable+"="+strconv.FormatBool(hides)), user
			stdin, in := operator.StdinPipe()
			stdout, out := operator.StdoutPipe()
			if err := errors.Join(in, out, operator.Start()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = errors.Join(stdin.Close(), operator.Wait()) })
			if failure, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || failure != "\"\"\n" {
				t.Errorf("the operator can't do its own work: %s %v", failure, err)
			}
			peeping := exec.CommandContext(t.Context(), program)
			peeping.Env, peeping.SysProcAttr = append(os.Environ(), fmt.Sprintf("%s=%d", peepingVariable, operator.Process.Pid)), user
			told, err := peeping.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, told)
			}
			for _, name := range looks {
				if !strings.Contains(string(told), fmt.Sprintf("%s %t\n", name, hides)) {
					t.Errorf("it is refused %s, want %t:\n%s", name, hides, told)
				}
			}
		})
	}
}

// unprivileged copies the test binary to where another user finds it, if this one is root, to which all is allowed.
func unprivileged(t *testing.T) (string, *syscall.SysProcAttr) {
	t.Helper()
	if os.Getuid() != 0 {
		return os.Args[0], nil
	}
	folder, err := os.MkdirTemp("", "hide") //nolint:usetesting // another user could not enter that one
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	program := filepath.Join(folder, "program")
	binary, err := os.ReadFile(os.Args[0])
	if err := errors.Join(err, os.Chmod(folder, 0o755), os.WriteFile(program, binary, 0o755)); err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	return program, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}
