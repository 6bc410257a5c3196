//go:build linux

package node_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

var tenants = flag.Int("node.tenants", 10_000, "how many tenants the memory is measured with")

// limit is the chart's for memory.
const limit = 512 << 20

// manyTenants measures the memory of the leader with a large fleet. It has to be done at some time, so calls to AWS are not
// slowed down.
func (w *world) manyTenants() {
	w.helm(secondTag, "aws.rate=1000", "aws.burst=1000")
	w.twoReady()
	w.namespace("many")
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Hour)
	defer cancel()
	fleet, err := stack.NewFleet(ctx, w.kube, "many", "many-", *tenants)
	w.must(err)
	defer fleet.Close()
	before := w.restarts()
	peak := w.measure(func() {
		w.must(fleet.Create(ctx))
		w.must(fleet.WaitReady(ctx))
	})
	w.memory(w.t, fmt.Sprintf("%d tenants: highest working set", *tenants), peak, limit/2)
	w.exactly(w.t, "restarts of containers meanwhile", w.restarts()-before, 0)
}

// measure returns the highest working set of a replica while something happens.
func (w *world) measure(during func()) (peak int64) {
	w.t.Helper()
	var err error
	cgroups := w.memoryCgroups()
	stop := sync.OnceFunc(every(100*time.Millisecond, func() {
		for _, cgroup := range cgroups {
			now, failed := workingSet(cgroup)
			peak, err = max(peak, now), errors.Join(err, failed)
		}
	}))
	defer stop()
	during()
	stop()
	w.must(err)
	killed := 0
	for _, cgroup := range cgroups {
		killed += oomKills(cgroup)
	}
	w.exactly(w.t, "processes that the kernel ended for memory", killed, 0)
	return peak
}

// memoryCgroups are those of the replicas: one that stands by may have to take over meanwhile.
func (w *world) memoryCgroups() (cgroups []string) {
	w.t.Helper()
	for _, pod := range w.pods() {
		cgroup, err := memoryCgroup(w.process(pod))
		w.must(err)
		cgroups = append(cgroups, cgroup)
	}
	return cgroups
}

// memoryCgroup is the folder of a process's cgroup for memory, with version 1 or 2.
func memoryCgroup(pid int) (string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return "", err
	}
	found := ""
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) < 3:
		case parts[1] == "memory":
			return filepath.Join("/sys/fs/cgroup/memory", parts[2]), nil
		case parts[0] == "0":
			found = filepath.Join("/sys/fs/cgroup", parts[2])
		}
	}
	return found, nil
}

// oomKills is how many processes of a cgroup the kernel has ended because there was no memory left.
func oomKills(cgroup string) (n int) {
	for _, name := range []string{"memory.events", "memory.oom_control"} { // version 2, version 1
		text, _ := os.ReadFile(filepath.Join(cgroup, name))
		_, rest, _ := strings.Cut("\n"+string(text), "\noom_kill ")
		value, _, _ := strings.Cut(rest, "\n")
		more, _ := strconv.Atoi(value)
		n += more
	}
	return n
}

// workingSet is what the kubelet calls so: the memory in use without files that can be dropped.
func workingSet(cgroup string) (int64, error) {
	usage, inactive := "memory.current", "inactive_file "
	if strings.HasPrefix(cgroup, "/sys/fs/cgroup/memory/") {
		usage, inactive = "memory.usage_in_bytes", "total_inactive_file "
	}
	text, err := os.ReadFile(filepath.Join(cgroup, usage))
	if err != nil {
		return 0, err
	}
	used, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0, err
	}
	stat, err := os.ReadFile(filepath.Join(cgroup, "memory.stat"))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut("\n"+string(stat), "\n"+inactive)
	value, _, _ := strings.Cut(rest, "\n")
	files, err := strconv.ParseInt(value, 10, 64)
	return used - files, err
}
