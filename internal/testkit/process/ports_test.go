package process_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

// Two processes take enough of the 12,000 ports to meet by chance.
const manyPorts = 500

// What the test binary is when it is started by a test: a process that holds ports and prints them, or one that listens
// on an address, until its input ends or it is stopped.
const (
	holderVariable   = "TEST_HOLDS_PORTS"
	listenerVariable = "TEST_LISTENS_ON"
)

func TestMain(m *testing.M) {
	switch address := os.Getenv(listenerVariable); {
	case address != "":
		listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("listening")
		_, _ = listener.Accept()
	case os.Getenv(holderVariable) != "":
		for range manyPorts {
			ports, err := process.HoldPorts(context.Background(), 1)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(ports[0])
		}
		_, _ = io.Copy(io.Discard, os.Stdin)
	default:
		goleak.VerifyTestMain(m)
	}
}

// Nothing listens on the ports, and still each is given to one: in one process, and in another one until it is killed.
func TestAHeldPortIsGivenOnce(t *testing.T) {
	other := exec.CommandContext(t.Context(), os.Args[0])
	other.Env = append(os.Environ(), holderVariable+"=1")
	stdin, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	taken := map[int]string{}
	for range manyPorts {
		var port int
		if _, err := fmt.Fscanln(stdout, &port); err != nil {
			t.Fatal(err)
		}
		if taken[port] != "" {
			t.Fatalf("the other process holds %d twice", port)
		}
		taken[port] = "the other process"
	}
	for range manyPorts {
		ports, err := process.HoldPorts(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		defer ports.Release()
		if by := taken[ports[0]]; by != "" {
			t.Errorf("%d is held by %s", ports[0], by)
		}
		taken[ports[0]] = "this process"
	}
	if err := other.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = other.Wait() // says that it was killed
}

func TestAGroupHoldsItsPortsUntilItStops(t *testing.T) {
	group := newGroup(t)
	ports, err := group.Ports(t.Context(), 3)
	if err != nil || len(ports) != 3 {
		t.Fatal(ports, err)
	}
	if err := group.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := group.Ports(t.Context(), 1); err == nil {
		t.Error("a stopped group holds ports")
	}
}

func TestMorePortsThanThereAre(t *testing.T) {
	if ports, err := process.HoldPorts(t.Context(), 100_000); err == nil {
		t.Errorf("%d ports", len(ports))
	}
	ports, err := process.HoldPorts(t.Context(), 1)
	if err != nil {
		t.Errorf("the ports of a failure are not given back: %v", err)
	}
	ports.Release()
}

// A process of another user, which does not know what we hold, takes the port first.
func TestWhatMeetsAPortInUseIsStartedAgain(t *testing.T) {
	group := newGroup(t)
	var seen process.Ports
	var listeners []net.Listener
	defer func() {
		for _, l := range listeners {
			_ = l.Close()
		}
	}()
	var child *process.Child
	err := process.RetryInUse(func() error {
		ports, err := group.Ports(t.Context(), 1)
		if err != nil {
			return err
		}
		if seen = append(seen, ports...); len(seen) < 3 {
			listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", ports.Address(0))
			if err != nil {
				return err
			}
			listeners = append(listeners, listener)
		}
		child, err = group.Start(process.Command{
			Path: os.Args[0], Env: []string{listenerVariable + "=" + ports.Address(0)}, LogFile: filepath.Join(t.TempDir(), "log"),
		})
		if err != nil {
			return err
		}
		NewWithT(t).Eventually(func() string { return child.LogTail(1) }).WithTimeout(patience).ShouldNot(BeEmpty())
		if strings.Contains(child.LogTail(1), "in use") {
			<-child.Ended()
		}
		return child.Err()
	})
	if err != nil || len(seen) != 3 || seen[0] == seen[2] || child.LogTail(1) != "listening" {
		t.Errorf("error %v, ports %v, the child says %q", err, seen, child.LogTail(1))
	}
}

func TestWhatFailsForAnotherReasonIsNotStartedAgain(t *testing.T) {
	starts, reason := 0, errors.New("no such file")
	err := process.RetryInUse(func() error {
		starts++
		return reason
	})
	if !errors.Is(err, reason) || starts != 1 {
		t.Errorf("error %v after %d starts", err, starts)
	}
	starts = 0
	err = process.RetryInUse(func() error {
		starts++
		return fmt.Errorf("listening: %w", syscall.EADDRINUSE)
	})
	if !errors.Is(err, syscall.EADDRINUSE) || starts != 5 {
		t.Errorf("error %v after %d starts", err, starts)
	}
}
