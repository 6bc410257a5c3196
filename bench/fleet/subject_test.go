package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// A subject that can't be measured is refused by the name of the flag, with the fix.
func TestFlagsThatCannotBe(t *testing.T) {
	for args, cure := range map[string]string{
		"--tenants=0":              "at least 1",
		"--drifted=1001":           "use 0 to --tenants",
		"--single-changes=1001":    "use 0 to --tenants",
		"--aws-rate=0":             "above 0",
		"--throttle=-1":            "above 0",
		"--last-phase=never":       "use one of idle",
		"--probe=http://localhost": "set --operator to its binary",
		"--operator=/bin/true":     "--crds and --manifest",
	} {
		t.Run(args, func(t *testing.T) {
			_, err := parse(strings.Fields(args))
			name, _, _ := strings.Cut(args, "=")
			if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), cure) {
				t.Errorf("got %v, want the flag %s and %q", err, name, cure)
			}
		})
	}
}

func TestHelpIsNoError(t *testing.T) {
	if _, err := parse([]string{"--help"}); err != flag.ErrHelp { //nolint:errorlint // it is that very error
		t.Errorf("got %v", err)
	}
}

func TestOurManifest(t *testing.T) {
	s, err := subjectOf(config{Ready: ourReady})
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.object(7, false)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"distributionId": "E2EXAMPLE1", "domains": []any{map[string]any{"domain": "tenant-00007.example.com"}}}
	if diff := cmp.Diff(want, first.Object["spec"]); diff != "" || first.GetName() != "tenant-00007" || first.GetNamespace() != namespace {
		t.Errorf("%s/%s (-want +got):\n%s", first.GetNamespace(), first.GetName(), diff)
	}
	changed, err := s.object(7, true)
	if err != nil {
		t.Fatal(err)
	}
	if cmp.Equal(first.Object["spec"], changed.Object["spec"]) {
		t.Error("the change of all specs changes nothing")
	}
}

// Mistakes in a description are reported with the names of the flags they come from.
func TestMistakesInTheDescription(t *testing.T) {
	for name, test := range map[string]struct{ manifest, ready, argument, want string }{
		"a template that ends too soon":    {"{{.Name", ourReady, "", "--manifest"},
		"an argument that can't be filled": {"", ourReady, "{{if}}", "--operator-arg"},
		"a condition without a value":      {"", "{.status.phase}", "", "--ready"},
		"a condition that is no path":      {"", "{.status[}=a", "", "--ready"},
		"an object of a name of its own":   {"metadata: {name: mine}", ourReady, "", "{{.Name}}"},
		"a field that is not there":        {"metadata: {name: {{.Nothing}}}", ourReady, "", "--manifest"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "tenant.yaml")
			if err := os.WriteFile(file, []byte(test.manifest), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := subjectOf(config{Operator: "theirs", Manifest: file, Ready: test.ready, Arguments: listFlag{test.argument}})
			if err == nil {
				_, err = s.object(0, false)
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want something with %q", err, test.want)
			}
		})
	}
}

func TestReady(t *testing.T) {
	object := func(generation int64, status map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"generation": generation}, "status": status,
		}}
	}
	serves := []any{map[string]any{"type": "Synced", "status": "False"}, map[string]any{"type": "Ready", "status": "True"}}
	for name, test := range map[string]struct {
		object *unstructured.Unstructured
		ready  string
		want   bool
	}{
		"nothing is told yet":                   {object(1, nil), ourReady, false},
		"the condition holds":                   {object(1, map[string]any{"conditions": serves}), ourReady, true},
		"it held for another spec":              {object(2, map[string]any{"conditions": serves, "observedGeneration": int64(1)}), ourReady, false},
		"it holds for this one":                 {object(2, map[string]any{"conditions": serves, "observedGeneration": int64(2)}), ourReady, true},
		"a plain field says it":                 {object(1, map[string]any{"phase": "Active"}), "{.status.phase}=Active", true},
		"and has not said the right one":        {object(1, map[string]any{"phase": "Creating"}), "{.status.phase}=Active", false},
		"a value may have an equals sign":       {object(1, map[string]any{"phase": "a=b"}), "{.status.phase}=a=b", true},
		"a number is compared as it is written": {object(1, map[string]any{"left": int64(0)}), "{.status.left}=0", true},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := parseCondition(test.ready)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.holds(test.object); got != test.want {
				t.Errorf("ready: %t, want %t", got, test.want)
			}
		})
	}
}

// Of each tenant's updates the first is the change behind the operator's back, the second the correction.
func TestCorrections(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	got := corrections([]sim.Entry{
		{Operation: opUpdate, ID: "a", Committed: true, Time: at(0)},
		{Operation: "GetDistributionTenant", ID: "a", Time: at(1)},
		{Operation: opUpdate, ID: "a", Committed: false, Time: at(2)},
		{Operation: opUpdate, ID: "b", Committed: true, Time: at(3)},
		{Operation: opUpdate, ID: "a", Committed: true, Time: at(5)},
	})
	if diff := cmp.Diff([]time.Duration{5 * time.Second}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
