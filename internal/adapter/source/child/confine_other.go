//go:build !linux

package child

// Hide does nothing: only Linux can hide a process from others of the same user.
func Hide() {}

// LandlockVersion is 0: only Linux has Landlock.
func LandlockVersion() int { return 0 }

func confine() error { return nil }
