package process

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// TempDir makes a folder and removes those of the same prefix that killed processes
// left behind. Each owner holds a file lock in its folder, which the kernel drops with
// the process: a lock that can be taken has no owner. release closes ours.
func TempDir(prefix string) (dir string, release func(), err error) {
	sweepTempDirs(prefix)
	if dir, err = os.MkdirTemp("", prefix); err != nil {
		return "", nil, err
	}
	file, err := os.Create(filepath.Join(dir, "lock.new"))
	if err != nil {
		return "", nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return "", nil, fmt.Errorf("locking the folder: %w", err)
	}
	// It gets its name once it is held, or another sweep could take it first.
	if err := os.Rename(file.Name(), filepath.Join(dir, "lock")); err != nil {
		return "", nil, err
	}
	return dir, func() { _ = file.Close() }, nil
}

// sweepTempDirs is best effort: a folder of another user stays.
func sweepTempDirs(prefix string) {
	locks, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*", "lock"))
	if err != nil {
		return
	}
	for _, path := range locks {
		file, err := os.Open(path)
		if err != nil {
			continue
		}
		if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.RemoveAll(filepath.Dir(path))
		}
		_ = file.Close()
	}
}
