package process_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
)

// patience is far above what anything here takes.
const patience = time.Minute

func TestRun(t *testing.T) {
	group := newGroup(t)
	for name, test := range map[string]struct {
		command process.Command
		output  string
		fails   string
	}{
		"what it prints is passed on": {
			command: process.Command{Path: "echo", Args: []string{"hello"}}, output: "hello\n",
		},
		"it can read": {
			command: process.Command{Path: "cat", Stdin: strings.NewReader("hello")}, output: "hello",
		},
		"its environment is what was given": {
			command: process.Command{Path: "sh", Args: []string{"-c", "echo $A$HOME"}, Env: []string{"A=b"}}, output: "b\n",
		},
		"a failure has the name": {
			command: process.Command{Name: "the thing", Path: "sh", Args: []string{"-c", "exit 3"}}, fails: "running the thing: exit status 3",
		},
		"what is not there can't be started": {
			command: process.Command{Path: "/nowhere/thing"}, fails: "starting thing: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var output bytes.Buffer
			test.command.Stdout = &output
			err := group.Run(t.Context(), test.command)
			if (err != nil) != (test.fails != "") || err != nil && !strings.Contains(err.Error(), test.fails) {
				t.Errorf("error %v, want %q", err, test.fails)
			}
			if output.String() != test.output {
				t.Errorf("output %q, want %q", &output, test.output)
			}
		})
	}
}

func TestRunEndsWithTheContext(t *testing.T) {
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	began := make(chan string, 1)
	ended := make(chan error, 1)
	group := newGroup(t)
	go func() {
		// The shell's child would keep the output open if the signal went to the shell only.
		ended <- group.Run(ctx, process.Command{Path: "sh", Args: []string{"-c", "echo begun; sleep 600; echo more"}, Stdout: first(began)})
	}()
	<-began
	cancel(reason)
	if err := <-ended; !errors.Is(err, reason) {
		t.Errorf("error %v, want that the context ended", err)
	}
}

func TestStopKillsTheStubborn(t *testing.T) {
	group := newGroup(t)
	log := filepath.Join(t.TempDir(), "log")
	child, err := group.Start(process.Command{Path: "sh", Args: []string{"-c", "trap '' TERM; echo ready; while true; do sleep 600; done"}, LogFile: log})
	if err != nil {
		t.Fatal(err)
	}
	NewWithT(t).Eventually(func() string { return child.LogTail(1) }).WithTimeout(patience).Should(Equal("ready"))
	if err := group.Stop(); err != nil {
		t.Errorf("stopping: %v", err)
	}
	if err := child.Err(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("it ended with %v, want killed", err)
	}
	if _, err := group.Start(process.Command{Path: "true"}); err == nil {
		t.Error("a stopped group starts a child")
	}
	if err := group.Stop(); err != nil {
		t.Errorf("stopping again: %v", err)
	}
}

func TestGuardCleansUp(t *testing.T) {
	folder, kept := filepath.Join(t.TempDir(), "with \"quotes\"\nand lines"), t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	orphan, spared := sleeper(t), sleeper(t)
	told := "folder " + strconv.Quote(folder) + "\n" +
		"watch " + strconv.Quote(strconv.Itoa(orphan.Process.Pid)) + "\n" +
		"watch " + strconv.Quote(strconv.Itoa(spared.Process.Pid)) + "\n" +
		"forget " + strconv.Quote(strconv.Itoa(spared.Process.Pid)) + "\n" +
		"watch \"1\"\nwatch \"\"\n" + // never all processes
		"folder \"" + kept // the process that wrote this was killed
	if err := process.RunGuard(strings.NewReader(told)); err != nil {
		t.Errorf("guarding: %v", err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Errorf("another folder is gone: %v", err)
	}
	if err := orphan.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("the orphan ended with %v, want killed", err)
	}
	if err := spared.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("a process that ended for us before is gone: %v", err)
	}
}

func newGroup(t *testing.T) *process.Group {
	t.Helper()
	group := process.NewGroup(nil)
	t.Cleanup(func() {
		if err := group.Stop(); err != nil {
			t.Errorf("stopping: %v", err)
		}
	})
	return group
}

// sleeper starts a process in a process group of its own.
func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// first passes on the first thing written to it.
type first chan string

func (f first) Write(p []byte) (int, error) {
	select {
	case f <- string(p):
	default:
	}
	return len(p), nil
}
