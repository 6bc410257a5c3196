package process

import "syscall"

// attributes makes the kernel kill the child when we die, even by SIGKILL, and
// keeps a Ctrl-C at the terminal from it, so that Stop decides the order.
func attributes(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
