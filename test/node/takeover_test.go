//go:build linux

package node_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

const (
	// rows is how many tenants are created while something happens to the leader, begun how many of them before.
	rows  = 300
	begun = 60
	// frozen and away are how long the leader, and the API server, do nothing.
	frozen = 25 * time.Second
	away   = 35 * time.Second
)

// creation is a number of tenants that are being created.
type creation struct {
	since  uint64
	leader corev1.Pod
	// struck is when something was about to happen to the leader.
	struck time.Time
	// writes are AWS's, once all tenants are Ready.
	writes []write
}

// during creates tenants and strikes when the first exist, waits until all are Ready, and wants each to have been
// created once.
func (w *world) during(name string, strike func(leader corev1.Pod)) creation {
	w.t.Helper()
	w.twoReady()
	w.namespace(name)
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	fleet, err := stack.NewFleet(ctx, w.kube, name, name+"-", rows)
	w.must(err)
	defer fleet.Close()
	c := creation{since: w.aws.now(), leader: w.leader()}
	w.must(fleet.Create(ctx))
	w.eventually(func(g gomega.Gomega) { g.Expect(len(w.aws.created(c.since))).To(gomega.BeNumerically(">=", begun)) })
	if n := len(w.aws.created(c.since)); n == rows {
		w.t.Fatal("all tenants existed before anything happened")
	}
	c.struck = time.Now()
	strike(c.leader)
	if err := fleet.WaitReady(ctx); err != nil {
		w.describe()
		w.must(err)
	}
	c.writes = w.aws.writes(c.since)
	w.eachOnce(name, c)
	return c
}

func (w *world) eachOnce(name string, c creation) {
	w.t.Helper()
	twice := 0
	created := w.aws.created(c.since)
	for _, n := range created {
		if n > 1 {
			twice++
		}
	}
	w.exactly(w.t, name+": tenants created", len(created), rows)
	w.exactly(w.t, name+": of these asked for twice", twice, 0)
}

// of returns the writes of the leader, or of the others.
func (c creation) of(leader bool) (out []write) {
	for _, one := range c.writes {
		if (one.from == c.leader.Status.PodIP) == leader {
			out = append(out, one)
		}
	}
	return out
}

// A Pod that is deleted gives the lease away.
func (w *world) leaderDeleted() {
	c := w.during("deleted", func(leader corev1.Pod) { w.must(w.kube.Delete(w.t.Context(), &leader)) })
	last, first := c.of(true), c.of(false)
	if len(last) == 0 || len(first) == 0 {
		w.t.Fatalf("the leader made %d writes and its successor %d", len(last), len(first))
	}
	handover := first[0].Time.Sub(last[len(last)-1].Time)
	w.duration(w.t, "leader deleted: last write of the old one to first of the new one", handover, 10*time.Second)
	if handover <= 0 {
		w.t.Errorf("the old leader wrote %s after its successor had begun", -handover)
	}
}

// Of a process that is killed the lease expires.
func (w *world) leaderKilled() {
	before := w.restarts()
	c := w.during("killed", func(leader corev1.Pod) { w.must(syscall.Kill(w.process(leader), syscall.SIGKILL)) })
	w.eventually(func(g gomega.Gomega) {
		g.Expect(w.restarts()-before).To(gomega.Equal(1), "the container is started again")
	})
	w.duration(w.t, "leader killed: pause of writes", pause(c.writes, c.struck), 25*time.Second)
}

// A leader that stands still longer than its lease must not write when it continues.
func (w *world) leaderFrozen() {
	var thawed time.Time
	c := w.during("frozen", func(leader corev1.Pod) {
		id := container(leader)
		_, err := w.node.Ctr(w.t.Context(), "tasks", "pause", id)
		// A task that stays frozen would keep the namespaces from ending.
		defer func() { _, _ = w.node.Ctr(context.Background(), "tasks", "resume", id) }()
		w.must(err)
		w.wait(frozen)
		thawed = time.Now()
		_, err = w.node.Ctr(w.t.Context(), "tasks", "resume", id)
		w.must(err)
	})
	old, successor := c.of(true), c.of(false)
	if len(old) == 0 || !old[0].Time.Before(c.struck) || len(successor) == 0 || !successor[0].Time.Before(thawed) {
		w.t.Fatalf("of %d writes of the old leader none was before the freeze, or of %d of the new one none before the thaw", len(old), len(successor))
	}
	after, late := 0, 0
	for _, one := range old {
		if one.Time.After(thawed) {
			after++
		}
		if one.Time.After(thawed.Add(time.Second)) {
			late++
		}
	}
	if last := c.writes[len(c.writes)-1].Time; last.Before(thawed.Add(2 * time.Second)) {
		w.t.Errorf("the last write was %s after the thaw, so the old leader may have had nothing to write", last.Sub(thawed))
	}
	w.duration(w.t, "leader frozen for 25s: pause of writes", pause(c.writes, c.struck), 25*time.Second)
	w.add("writes of the old leader after it was thawed", fmt.Sprint(after), "")
	w.atMost(w.t, "of these more than 1s after", late, 0)
}

// While the API server is away all replicas wait. The leader ends, and the standby has seen its last renewal only now, so
// it waits as long as a lease lasts.
func (w *world) apiServerAway() {
	var back time.Time
	c := w.during("away", func(corev1.Pod) {
		w.must(w.node.ControlPlane.KillAPIServer())
		w.wait(away)
		w.must(w.node.ControlPlane.StartAPIServer(w.t.Context()))
		back = time.Now()
	})
	w.add("API server away for "+back.Sub(c.struck).Round(time.Second).String()+": pause of writes", pause(c.writes, c.struck).Round(10*time.Millisecond).String(), "")
	first := slices.IndexFunc(c.writes, func(one write) bool { return one.Time.After(back) })
	if first < 0 {
		w.t.Fatal("nothing was left to be written when the API server was back")
	}
	w.duration(w.t, "of this after the API server was back", c.writes[first].Time.Sub(back), 25*time.Second)
}

// wait lets time pass in which something stands still.
func (w *world) wait(d time.Duration) {
	ctx, cancel := context.WithTimeout(w.t.Context(), d)
	defer cancel()
	<-ctx.Done()
}

// container is the id of the operator's container.
func container(pod corev1.Pod) string {
	_, id, _ := strings.Cut(pod.Status.ContainerStatuses[0].ContainerID, "://")
	return id
}

// process is the id of the operator's process.
func (w *world) process(pod corev1.Pod) int {
	w.t.Helper()
	out, err := w.node.Ctr(w.t.Context(), "tasks", "list")
	w.must(err)
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == container(pod) {
			pid, err := strconv.Atoi(fields[1])
			w.must(err)
			return pid
		}
	}
	w.t.Fatalf("the container of %s has no process:\n%s", pod.Name, out)
	return 0
}
