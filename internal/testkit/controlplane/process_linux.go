package controlplane

import "syscall"

// childAttributes makes the kernel kill the child when we die, even by SIGKILL,
// and keeps a Ctrl-C at the terminal from it, so that Stop decides the order.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
