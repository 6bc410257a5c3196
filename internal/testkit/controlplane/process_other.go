//go:build !linux

package controlplane

import "syscall"

// childAttributes can't tie the child's life to ours here. The child stays in
// our process group, so that a Ctrl-C at the terminal ends it too.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
