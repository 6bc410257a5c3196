//go:build !linux

package child

import "syscall"

// attributes leave it to the end of the child's input to tell that the operator is dead.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
