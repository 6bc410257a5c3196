package process_test

import (
	"os"
	"slices"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

const mebibyte = 1 << 20

func TestUsageOfThisProcess(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("there is no /proc here")
	}
	u := process.UsageOf(os.Getpid())
	if u.Resident < mebibyte || u.Peak < u.Resident || u.Private <= 0 || u.Private > u.Resident || u.CPU < 0 {
		t.Errorf("implausible: %+v", u)
	}
	if gone := process.UsageOf(-1); gone != (process.Usage{}) {
		t.Errorf("a process that is not there used %+v", gone)
	}
}

func TestChildren(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("there is no /proc here")
	}
	if !slices.Contains(process.Children(os.Getppid()), os.Getpid()) {
		t.Error("this process is not a child of its parent")
	}
}
