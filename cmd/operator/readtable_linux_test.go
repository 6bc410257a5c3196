package main

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A reader has the same user as the operator: it must not look into the operator's memory and environment. This process has
// begun as the operator does.
func TestTheOperatorIsHidden(t *testing.T) {
	dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err != nil || dumpable != 0 {
		t.Errorf("the process is dumpable: %d %v", dumpable, err)
	}
}
