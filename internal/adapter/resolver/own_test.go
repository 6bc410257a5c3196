package resolver_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/resolver"
)

func TestOwn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file  string
		want  []string
		fails string
	}{
		"one":             {"search team.svc.cluster.local svc.cluster.local\nnameserver 10.43.0.10\noptions ndots:5\n", []string{"10.43.0.10:53"}, ""},
		"IPv6":            {"nameserver 2606:4700:4700::1111\n", []string{"[2606:4700:4700::1111]:53"}, ""},
		"one named twice": {"nameserver 1.1.1.1\nnameserver 8.8.8.8\nnameserver 1.1.1.1\n", []string{"1.1.1.1:53", "8.8.8.8:53"}, ""},
		"none":            {"search example.com\n", nil, "names no DNS servers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "resolv.conf")
			if err := os.WriteFile(file, []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := resolver.Own(file)
			if d := cmp.Diff(tt.want, got); d != "" || (err != nil) != (tt.fails != "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("error %v, -want +got\n%s", err, d)
			}
		})
	}
	if _, err := resolver.Own(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no error without a file")
	}
}
