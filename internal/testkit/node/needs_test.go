//go:build linux

package node

import "testing"

// What is below a folder that is another one inside is refused, and what only looks like it is not.
func TestHidden(t *testing.T) {
	for path, want := range map[string]bool{
		"/tmp/checkout": true, "/tmp": true, "/var/lib/go": true, "/run/user/0/cache": true,
		"/tmpfiles": false, "/var/library": false, "/srv/checkout": false, "/opt/go": false,
	} {
		if err := hidden(path); (err != nil) != want {
			t.Errorf("%s: %v, want refused %t", path, err, want)
		}
	}
}
