//go:build linux && !race

package child

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"syscall"
)

const kibibyte = 1 << 10

var dataSize = regexp.MustCompile(`(?m)^VmData:\s+(\d+) kB$`)

// limit bounds what this process may have, in addition to what it has now. The bound is on data and not on addresses (RLIMIT_AS): Go
// reserves far more of these than it uses, and how many depends on its version. A process that exceeds the bound ends.
func limit(memory int64) error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return fmt.Errorf("limiting the memory of the child: %w", err)
	}
	found := dataSize.FindSubmatch(status)
	if found == nil {
		return errors.New("limiting the memory of the child: its size is not known")
	}
	used, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil {
		return fmt.Errorf("limiting the memory of the child: %w", err)
	}
	most := uint64(used*kibibyte + memory)
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
		return fmt.Errorf("limiting the memory of the child: %w", err)
	}
	// The collector works harder long before that: what it frees the kernel still counts, and pieces of it are too small for
	// the next value. A stack that grows without end ends earlier, too.
	const share, stacks = 2, 16 << 20
	debug.SetMemoryLimit(used*kibibyte + memory/share)
	debug.SetMaxStack(stacks)
	// Where the memory of the node runs out the child ends before the operator does.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	return nil
}
