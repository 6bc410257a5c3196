package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os/exec"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// isJSON checks that a collector can parse each line of a log. So it is with every operator of these tests, however it
// ends: see newScene.
func isJSON(t *testing.T, log string) {
	t.Helper()
	for line := range strings.Lines(log) {
		if fields := map[string]any{}; json.Unmarshal([]byte(line), &fields) != nil || fields["msg"] == nil {
			t.Errorf("a line of the log is no JSON with a msg: %q", line)
		}
	}
}

// The last words of an operator that can't start are in its log like all others.
func TestNoAPIServer(t *testing.T) {
	t.Parallel()
	s := newScene(t, stack.Options{WithoutAWS: true})
	closed, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	config, err := clientcmd.LoadFromFile(host.ControlPlane.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range config.Clusters {
		c.Server = "https://" + closed.Addr().String()
	}
	file := t.TempDir() + "/kubeconfig"
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	for name, kubeconfig := range map[string]string{
		"the API server does not answer":      file,
		"the file that leads to it is absent": file + ".absent",
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			cmd := exec.CommandContext(ctx, host.Binary("operator"), "--leader-election-namespace=default")
			cmd.Env = s.Env(map[string]string{"KUBECONFIG": kubeconfig})
			out, err := cmd.CombinedOutput()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
				t.Errorf("it ends with %v, want exit status 1", err)
			}
			isJSON(t, string(out))
			if !strings.Contains(string(out), "The operator ends") {
				t.Errorf("it does not say why it ends:\n%s", out)
			}
		})
	}
}

// The check of an installation says what doesn't work, and the log of its pod can be parsed, too.
func TestCheck(t *testing.T) {
	t.Parallel()
	s := newScene(t, stack.Options{})
	s.checks(`"account":"`+sim.DefaultAccount+`"`, nil)
	s.checks("getting credentials from EC2 instance metadata", map[string]string{
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": s.AWS.URL(),
	})
	s.checks("is not allowed to", nil, "--leader-elect", "--leader-election-namespace="+s.namespace)
	if calls := s.calls(); len(calls) != 2 || calls["GetCallerIdentity"].Total != 1 || calls["ListDistributionTenants"].Total != 1 {
		t.Errorf("the checks have made the calls %v", calls)
	}
}

// checks runs the operator's check, whose log has to contain something. It fails unless that is that all works.
func (s *scene) checks(says string, env map[string]string, flags ...string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	args := append(host.Installation.Args(), "--check", "--leader-elect=false")
	cmd := exec.CommandContext(ctx, host.Binary("operator"), append(args, flags...)...)
	cmd.Env = s.Env(env)
	out, err := cmd.CombinedOutput()
	isJSON(s.t, string(out))
	if works := strings.Contains(string(out), "The installation works"); works != (err == nil) || !strings.Contains(string(out), says) {
		s.t.Errorf("the check ends with %v, and does not say %q:\n%s", err, says, out)
	}
}
