package store_test

import (
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
)

// A special address is recognized in whatever form it is written. Nothing is dialled: the hook is called before.
func TestGuard(t *testing.T) {
	guard := store.NewGuard(t.Context(), []netip.Prefix{netip.MustParsePrefix("127.0.7.0/24"), netip.MustParsePrefix("fe80::7/128")}, []string{"10.43.0.1", "fd12::1"})
	for address, want := range map[string]string{
		"127.0.0.1:5432":                     "a loopback address",
		"127.255.0.1:5432":                   "a loopback address",
		"[::1]:5432":                         "a loopback address",
		"[::ffff:127.0.0.1]:5432":            "127.0.0.1 is a loopback address",
		"[64:ff9b::127.0.0.1]:5432":          "127.0.0.1 is a loopback address",
		"[64:ff9b::169.254.169.254]:80":      "a link-local address",
		"[64:ff9b:1::169.254.169.254]:80":    "behind a gateway to IPv4",
		"0.0.0.0:5432":                       "an unspecified address",
		"0.1.2.3:5432":                       "an unspecified address",
		"[::]:5432":                          "an unspecified address",
		"169.254.169.254:80":                 "169.254.169.254 is a link-local address",
		"169.254.170.23:80":                  "a link-local address",
		"[fe80::1%eth0]:80":                  "a link-local address",
		"[fd00:ec2::254]:80":                 "a link-local address",
		"224.0.0.1:80":                       "a multicast address",
		"[ff02::1]:80":                       "a multicast address",
		"255.255.255.255:80":                 "a multicast address",
		"10.43.0.1:6379":                     "10.43.0.1 is that of the Kubernetes API server",
		"[::ffff:10.43.0.1]:443":             "that of the Kubernetes API server",
		"[fd12::1]:443":                      "that of the Kubernetes API server",
		"127.0.7.1:5432":                     "",
		"[::ffff:127.0.7.1]:5432":            "",
		"[fe80::7%eth0]:80":                  "",
		"10.43.0.2:443":                      "",
		"192.168.1.5:5432":                   "",
		"100.64.0.1:5432":                    "",
		"[fd12::2]:5432":                     "",
		"[2001:db8::1]:5432":                 "",
		"localhost:5432":                     "checking an address",
		"db.example.com.:5432":               "checking an address",
		"[::ffff:0:0]:1":                     "an unspecified address",
		"[0:0:0:0:0:ffff:a9fe:a9fe%eth0]:80": "a link-local address",
	} {
		err := guard.Dialer().Control("tcp", address, nil)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
	var none *store.Guard
	if none.Dialer().Control != nil {
		t.Error("no guard checks something")
	}
}

// A server tells which others there are, and may name anything.
func TestNoSocketIsDialled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	var none *store.Guard
	if conn, err := none.DialContext(t.Context(), "unix", path); err == nil {
		t.Error("connected", conn.Close())
	}
}
