package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Usage is what the kernel knows of a process. On systems without /proc it is all zero.
type Usage struct {
	// CPU is in seconds.
	CPU float64
	// Peak and Resident are in bytes; Private is the part of Resident that is no file's.
	Peak, Resident, Private float64
}

// ticks a second is what Linux counts CPU time in, on every architecture that Go knows.
const ticks = 100

// UsageOf reads the usage of a process.
func UsageOf(pid int) Usage {
	var u Usage
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return u
	}
	// The command's name in brackets may hold anything; from the state on it is plain.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const user, system = 11, 12
	if len(fields) > system {
		u.CPU = (number(fields[user]) + number(fields[system])) / ticks
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return u
	}
	for line := range strings.Lines(string(status)) {
		name, rest, _ := strings.Cut(line, ":")
		value := strings.Fields(rest)
		if len(value) == 0 {
			continue
		}
		switch name {
		case "VmHWM":
			u.Peak = 1024 * number(value[0])
		case "VmRSS":
			u.Resident = 1024 * number(value[0])
		case "RssAnon":
			u.Private = 1024 * number(value[0])
		}
	}
	return u
}

func number(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return n
}

// ForgetPeak starts a new peak, so that each phase has its own. Where that is not allowed the
// peak is that of the process's life.
func ForgetPeak(pid int) {
	const resetPeak = "5"
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte(resetPeak), 0o600)
}
