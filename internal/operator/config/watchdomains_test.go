package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestServersOfThePod(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file  string
		want  []string
		fails string
	}{
		"one":             {"search team.svc.cluster.local svc.cluster.local\nnameserver 10.43.0.10\noptions ndots:5\n", []string{"10.43.0.10:53"}, ""},
		"IPv6":            {"nameserver 2606:4700:4700::1111\n", []string{"[2606:4700:4700::1111]:53"}, ""},
		"one named twice": {"nameserver 1.1.1.1\nnameserver 8.8.8.8\nnameserver 1.1.1.1\n", []string{"1.1.1.1:53", "8.8.8.8:53"}, ""},
		"none":            {"search example.com\n", nil, "no DNS servers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "resolv.conf")
			if err := os.WriteFile(file, []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := podServers(file)
			if d := cmp.Diff(tt.want, got); d != "" || (err != nil) != (tt.fails != "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("error %v, -want +got\n%s", err, d)
			}
		})
	}
	if _, err := podServers(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no error without a file")
	}
}

// The servers of the flag are asked, and those of the pod only without them.
func TestGuide(t *testing.T) {
	t.Parallel()
	none := filepath.Join(t.TempDir(), "none")
	for name, tt := range map[string]struct {
		config      Config
		some, fails bool
	}{
		"off":                      {Config{DNSResolvers: List{"1.1.1.1:53"}}, false, false},
		"the flag":                 {Config{WatchDomains: true, DNSResolvers: List{"1.1.1.1:53"}}, true, false},
		"a pod that has no server": {Config{WatchDomains: true}, false, true},
	} {
		if got, err := tt.config.guide(none); (got != nil) != tt.some || (err != nil) != tt.fails {
			t.Errorf("%s: %v, error %v", name, got, err)
		}
	}
}
