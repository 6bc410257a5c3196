package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Usage is what the kernel knows of a process. On systems without /proc it is all zero.
type Usage struct {
	// CPU is in seconds, and EndedCPU that of children that have ended.
	CPU, EndedCPU float64
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
	const user, system, endedUser, endedSystem = 11, 12, 13, 14
	if len(fields) > endedSystem {
		u.CPU = (number(fields[user]) + number(fields[system])) / ticks
		u.EndedCPU = (number(fields[endedUser]) + number(fields[endedSystem])) / ticks
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

// Children are the processes that a process has started.
func Children(pid int) (children []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		const parent = 1
		if len(fields) > parent && fields[parent] == strconv.Itoa(pid) {
			children = append(children, int(number(filepath.Base(filepath.Dir(file)))))
		}
	}
	return children
}
