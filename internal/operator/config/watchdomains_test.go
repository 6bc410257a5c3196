package config

import (
	"path/filepath"
	"testing"
)

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
