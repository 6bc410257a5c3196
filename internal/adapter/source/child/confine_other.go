//go:build !linux

package child

import "syscall"

// attributes leave it to the end of the child's input to tell that the operator is dead.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// Hide does nothing: only Linux can hide a process from others of the same user.
func Hide() {}

// LandlockVersion is 0: only Linux has Landlock.
func LandlockVersion() int { return 0 }

func confine() error { return nil }
