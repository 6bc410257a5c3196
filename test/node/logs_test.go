//go:build linux

package node_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// keptLogs is where logs stay. A link can't lead to another mount.
const keptLogs = "/var/log/kept"

// podLogs keeps the logs of Pods, which the kubelet removes with the Pods.
type podLogs struct {
	mu   sync.Mutex
	kept map[uint64]string
}

// keepLogs looks for new logs until the test ends. A link keeps what is written later as well.
func keepLogs(t *testing.T) *podLogs {
	t.Helper()
	if err := os.MkdirAll(keptLogs, 0o755); err != nil {
		t.Fatal(err)
	}
	logs := &podLogs{kept: map[uint64]string{}}
	t.Cleanup(every(200*time.Millisecond, logs.look))
	return logs
}

func (l *podLogs) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, _ := filepath.Glob("/var/log/pods/*/operator/*.log") // the pattern is valid; a rotated file is linked already
	for _, path := range found {
		info, err := os.Stat(path)
		if err != nil {
			continue // it was removed meanwhile
		}
		status, ok := info.Sys().(*syscall.Stat_t)
		if !ok || l.kept[status.Ino] != "" {
			continue
		}
		link := filepath.Join(keptLogs, fmt.Sprint(status.Ino))
		if os.Link(path, link) == nil {
			l.kept[status.Ino] = path
		}
	}
}

// notJSON counts the lines of all logs, and returns those that are not JSON.
func (l *podLogs) notJSON() (lines int, bad []string, err error) {
	l.look()
	l.mu.Lock()
	defer l.mu.Unlock()
	for inode, path := range l.kept {
		file, err := os.Open(filepath.Join(keptLogs, fmt.Sprint(inode)))
		if err != nil {
			return 0, nil, err
		}
		defer file.Close()
		scanner := bufio.NewScanner(file)
		scanner.Buffer(nil, 1<<20)
		parts := map[string]string{} // of a line, by stream
		for scanner.Scan() {
			// Time, stream, F or P for a part of a line, and the text.
			fields := strings.SplitN(scanner.Text(), " ", 4)
			if len(fields) < 4 {
				return 0, nil, fmt.Errorf("%s has the line %q", path, scanner.Text())
			}
			if parts[fields[1]] += fields[3]; fields[2] == "P" {
				continue
			}
			line := parts[fields[1]]
			delete(parts, fields[1])
			lines++
			if !json.Valid([]byte(line)) || !strings.HasPrefix(line, "{") {
				bad = append(bad, line)
			}
		}
		if err := scanner.Err(); err != nil {
			return 0, nil, err
		}
	}
	return lines, bad, nil
}

// everyLineIsJSON looks at all logs since the installation.
func (w *world) everyLineIsJSON() {
	lines, bad, err := w.logs.notJSON()
	w.must(err)
	if lines == 0 {
		w.t.Fatal("there are no logs")
	}
	w.atMost(w.t, fmt.Sprintf("lines of the log that are not JSON, of %d", lines), len(bad), 0)
	for _, line := range bad[:min(len(bad), 20)] {
		w.t.Logf("not JSON: %s", line)
	}
}
