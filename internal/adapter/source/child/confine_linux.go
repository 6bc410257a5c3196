package child

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// attributes make the kernel kill the child when the operator dies, even if the child does not come to see the end of
// its input. A signal from the terminal is the operator's, which ends its reads.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// Hide makes the memory, the environment and the open files of this process unreadable for other processes of the same
// user, such as a reader that runs foreign code. It also prevents core dumps, even those that are piped to a program,
// which RLIMIT_CORE does not prevent. A program that this process starts does not inherit it.
func Hide() {
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // it fails only for values that do not exist
}

// LandlockVersion is the version of Landlock that the kernel supports, and 0 if it supports none or Landlock is off.
func LandlockVersion() int {
	version, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return version
}

// readable are the files that a reader needs: how names are resolved, and where Go looks for the trusted CAs. A folder
// stands for everything below it, and a link for its target. The files in Debian's folder of CAs are links to the last
// two.
var readable = []string{
	"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf",
	"/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem", "/etc/pki/tls/certs", "/etc/pki/tls/cacert.pem",
	"/etc/pki/ca-trust/extracted", "/etc/ssl/certs/ca-certificates.crt", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates",
}

// confine takes from this process every right to files that it does not need. It can open what is readable, and can't
// write, execute or create anything, connect to a socket in the file system, or send a signal to the operator. An older
// kernel takes less, and a kernel without Landlock takes nothing.
func confine() error {
	const file, folder = ll.AccessFSReadFile, ll.AccessFSReadFile | ll.AccessFSReadDir
	paths := append(filepath.SplitList(os.Getenv("SSL_CERT_DIR")), os.Getenv("SSL_CERT_FILE"))
	var rules []landlock.Rule
	for _, path := range append(paths, readable...) {
		switch info, err := os.Stat(path); { //nolint:gosec // the environment is the operator's own
		case err != nil: // no system has all of them
		case info.IsDir():
			rules = append(rules, landlock.PathAccess(folder, path))
		default:
			rules = append(rules, landlock.PathAccess(file, path))
		}
	}
	// Ports are no help: servers are followed to others, and the rules of Landlock know no addresses.
	all := landlock.Config{HandledAccessFS: landlock.V9.HandledAccessFS, Scoped: landlock.V9.Scoped}
	if err := all.BestEffort().Restrict(rules...); err != nil {
		return fmt.Errorf("taking the right to open files from the child: %w", err)
	}
	return nil
}
