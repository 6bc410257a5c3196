package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

func TestRunServesUntilStopped(t *testing.T) {
	seed := filepath.Join(t.TempDir(), "seed.yaml")
	if err := os.WriteFile(seed, []byte("distributions: [{id: E2EXAMPLE1}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	reader, writer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, []string{"--listen", "127.0.0.1:0", "--seed", seed, "--deploy-delay", "1s", "--switch", "updateReplaces=true", "--random-seed", "7"}, writer, io.Discard)
	}()
	line := make([]byte, 1024)
	n, err := reader.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	banner := string(line[:n])
	match := regexp.MustCompile(`AWS_ENDPOINT_URL=(http://127\.0\.0\.1:[1-9][0-9]*) AWS_ACCESS_KEY_ID=\S+ AWS_SECRET_ACCESS_KEY=\S+ AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1\n$`).FindStringSubmatch(banner)
	if match == nil {
		t.Fatalf("the line does not say what to export: %q", banner)
	}
	fetch := func(path string) string {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, match[1]+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	for path, want := range map[string]string{
		"/_sim/health":                        `"ok"`,
		"/2020-05-31/distribution/E2EXAMPLE1": "<Status>Deployed</Status>",
		"/_sim/switches":                      `"updateReplaces": true`,
	} {
		if got := fetch(path); !strings.Contains(got, want) {
			t.Errorf("%s answers %s, want %s in it", path, got, want)
		}
	}
	stop()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("stopping: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it did not stop")
	}
}

func TestParseRefusals(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("accounts: [{id: '12'}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args []string
		want []string
	}{
		"an unknown flag":            {[]string{"--port", "1"}, []string{"port"}},
		"an argument":                {[]string{"start"}, []string{"start", "flags only"}},
		"a seed that is not there":   {[]string{"--seed", "/nowhere/seed.yaml"}, []string{"--seed", "/nowhere/seed.yaml"}},
		"a bad seed":                 {[]string{"--seed", bad}, []string{bad, "accounts[0].id", `"12"`, "12 digits"}},
		"an unknown switch":          {[]string{"--switch", "nope=true"}, []string{"nope", "updateReplaces"}},
		"a switch without a value":   {[]string{"--switch", "updateReplaces"}, []string{"name=value"}},
		"a negative delay":           {[]string{"--deploy-delay", "-1s"}, []string{"--deploy-delay", "negative"}},
		"pages without items":        {[]string{"--page-size", "0"}, []string{"--page-size 0", "less than one"}},
		"a DNS address that is none": {[]string{"--listen", "127.0.0.1:0", "--dns-listen", "256.0.0.1:1"}, []string{"--dns-listen", "256.0.0.1"}},
		"an address that is taken":   {[]string{"--listen", "256.0.0.1:1"}, []string{"--listen", "256.0.0.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			var stderr bytes.Buffer
			err := run(t.Context(), tc.args, io.Discard, &stderr)
			if err == nil {
				t.Fatal("it was accepted")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v: does not mention %q", err, want)
				}
			}
		})
	}
}

// TestRunServesDNS asks a zone of the seed over both protocols.
func TestRunServesDNS(t *testing.T) {
	seed := filepath.Join(t.TempDir(), "seed.yaml")
	if err := os.WriteFile(seed, []byte("hostedZones: [{name: test.example, records: [{name: a.test.example, type: A, values: [192.0.2.7]}]}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	reader, writer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, []string{"--listen", "127.0.0.1:0", "--dns-listen", "127.0.0.1:0", "--seed", seed}, writer, io.Discard)
	}()
	lines := bufio.NewReader(reader)
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile(`^simulated DNS ready: dig @(127\.0\.0\.1) -p ([1-9][0-9]*) `).FindStringSubmatch(line)
	if match == nil {
		t.Fatalf("the line does not say whom to ask: %q", line)
	}
	if line, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, "simulated AWS ready") {
		t.Errorf("the second line is %q, %v", line, err)
	}
	for _, network := range []string{"udp", "tcp"} {
		answer, _, err := (&dns.Client{Net: network}).ExchangeContext(t.Context(), new(dns.Msg).SetQuestion("a.test.example.", dns.TypeA), net.JoinHostPort(match[1], match[2]))
		if err != nil || len(answer.Answer) != 1 || !strings.HasSuffix(answer.Answer[0].String(), "192.0.2.7") {
			t.Errorf("over %s: %v, %v", network, answer, err)
		}
	}
	stop()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("stopping: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it did not stop")
	}
}
