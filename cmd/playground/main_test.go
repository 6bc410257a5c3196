package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/process"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/stack"
)

// asPlayground makes this test binary a playground, so that the tests run what
// they were compiled with, race detector included.
const asPlayground = "PLAYGROUND_TEST_RUN_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asPlayground) != "" {
		main()
		os.Exit(0)
	}
	if err := process.TestsAtOnce(2); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := database.StopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func TestUsage(t *testing.T) {
	for name, test := range map[string]struct {
		args   []string
		status int
		want   string
	}{
		"without a command":                   {nil, 2, "use demo, up, lookup, set or db"},
		"with an unknown command":             {[]string{"down"}, 2, "use demo, up, lookup, set or db"},
		"with an unknown flag":                {[]string{"up", "--color"}, 2, "not defined: -color"},
		"with a stray argument":               {[]string{"up", "now"}, 2, `unexpected argument "now"`},
		"with a negative delay":               {[]string{"demo", "--deploy-delay=-1s"}, 2, "--deploy-delay=-1s: use 0 or more"},
		"with more tenants than it can name":  {[]string{"up", "--tenants=100000"}, 2, "--tenants=100000: use 0 to 10000"},
		"with a database that it can't start": {[]string{"up", "--database=oracle"}, 2, "--database=oracle: use postgres, mongodb or none"},
		"with tenants that the demo ignores":  {[]string{"demo", "--tenants=3"}, 2, "--tenants can only be used with up"},
		"asked for help it explains itself":   {[]string{"--help"}, 0, "keeps it running until Ctrl-C"},
		"asked for help on a command it does": {[]string{"up", "--help"}, 0, "-keep-logs"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if status := run(test.args, &stdout, &stderr); status != test.status {
				t.Errorf("status %d, want %d", status, test.status)
			}
			if !strings.Contains(stderr.String(), test.want) {
				t.Errorf("it does not say %q but:\n%s", test.want, &stderr)
			}
			if stdout.Len() > 0 {
				t.Errorf("it started to work:\n%s", &stdout)
			}
		})
	}
}

func TestCallTables(t *testing.T) {
	calls := stack.Calls{
		"UpdateDistributionTenant": {Total: 3, Throttled: 1, Errors: map[string]int{"PreconditionFailed": 1, "Throttling": 1}},
		"CreateDistributionTenant": {Total: 12},
		"GetDistributionTenant":    {}, // the demo's own were taken off
	}
	want := `OPERATION                  CALLS   REFUSED   THROTTLED
CreateDistributionTenant   12      0         0
UpdateDistributionTenant   3       2         1
together                   15
`
	if diff := cmp.Diff(want, callTable(calls)); diff != "" {
		t.Errorf("calls by operation (-want +got):\n%s", diff)
	}

	want = `TENANT        CALLS   OF THESE
(no tenant)   3       shared by many tenants: lists, zones, certificates, distributions and connection groups
shop          3       1 CreateDistributionTenant, 2 UpdateDistributionTenant
`
	got := tenantTable([]sim.Entry{
		{Operation: "ListDistributionTenants"},
		{Operation: "UpdateDistributionTenant", Name: "shop"},
		{Operation: "CreateDistributionTenant", Name: "shop"},
		{Operation: "GetDistribution", Name: "E2EXAMPLE1"},
		{Operation: "ListDistributionTenants"},
		{Operation: "UpdateDistributionTenant", Name: "shop"},
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls by tenant (-want +got):\n%s", diff)
	}
}

func TestHeadingsStandApart(t *testing.T) {
	var out bytes.Buffer
	say := newNarrator(&out)
	say.heading("One")
	say.output("printed\n")
	say.heading("Two")
	say.line("text")
	say.heading("Three")
	want := "\n== One\n\nprinted\n\n== Two\n\ntext\n\n== Three\n\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCommandsCanBeTyped(t *testing.T) {
	for name, test := range map[string]struct{ arg, want string }{
		"a plain word stands as it is":            {"--type=merge", "kubectl --type=merge"},
		"what a shell would take apart is quoted": {`{"spec":{}}`, `kubectl '{"spec":{}}'`},
		"what has quotes gets the others":         {"SELECT 'a'", `kubectl "SELECT 'a'"`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := typed([]string{test.arg}); got != test.want {
				t.Errorf("it says %s, want %s", got, test.want)
			}
		})
	}
}
