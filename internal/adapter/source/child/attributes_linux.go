package child

import "syscall"

// attributes make the kernel kill the child when the operator dies, even if the child does not come to see the end of its input.
// A signal from the terminal is the operator's, which ends its reads.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
