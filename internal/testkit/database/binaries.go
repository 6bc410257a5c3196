package database

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// find looks for a program on the PATH, and then where Debian keeps those that it doesn't put there.
func find(name, install string, elsewhere ...string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, pattern := range elsewhere {
		found, err := filepath.Glob(filepath.Join(pattern, name))
		if err == nil && len(found) > 0 {
			return slices.Max(found), nil
		}
	}
	return "", fmt.Errorf("%s is not installed: run hack/databases.sh as root, or install %s", name, install)
}

// asset returns the path of what hack/databases.sh builds, in DATABASE_ASSETS or in the user's cache folder.
func asset(elements ...string) (string, error) {
	dir := os.Getenv("DATABASE_ASSETS")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("finding the cache folder: %w", err)
		}
		dir = filepath.Join(cache, "cloudfront-tenant-operator", "databases", "current")
	}
	path := filepath.Join(append([]string{dir}, elements...)...)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("finding a database: %w: run hack/databases.sh", err)
	}
	return path, nil
}
