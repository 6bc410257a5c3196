//go:build !linux

package process

import "syscall"

// attributes can't tie the child's life to ours here. A guard can, and then a
// Ctrl-C at the terminal is kept from the child, so that Stop decides the order.
// Without one it stays in our process group, where the Ctrl-C ends it too.
func attributes(guarded bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: guarded}
}
