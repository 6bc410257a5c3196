package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// What the kernel knows of a process. On systems without /proc it is all zero.
type usage struct {
	// cpu is in seconds.
	cpu float64
	// peak and resident are in bytes; private is the part of resident that is no file's.
	peak, resident, private float64
}

// ticks a second is what Linux counts CPU time in, on every architecture that Go knows.
const ticks = 100

func usageOf(pid int) usage {
	var u usage
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return u
	}
	// The command's name in brackets may hold anything; from the state on it is plain.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const user, system = 11, 12
	if len(fields) > system {
		u.cpu = (number(fields[user]) + number(fields[system])) / ticks
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
			u.peak = 1024 * number(value[0])
		case "VmRSS":
			u.resident = 1024 * number(value[0])
		case "RssAnon":
			u.private = 1024 * number(value[0])
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

// forgetPeak starts a new peak, so that each phase has its own. Where that is not allowed the
// peak is that of the process's life.
func forgetPeak(pid int) {
	const resetPeak = "5"
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte(resetPeak), 0o600)
}
