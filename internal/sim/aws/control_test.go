package aws_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// ask sends a request to the control API and decodes the answer.
func ask[T any](t *testing.T, sim *aws.Sim, method, path, body string) T {
	t.Helper()
	status, text := raw(t, sim, method, "/_sim/"+path, body)
	if status != 200 {
		t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	var out T
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%s %s answers %s: %v", method, path, text, err)
	}
	return out
}

func TestControlAPI(t *testing.T) {
	sim := newSim(t)
	mustCreate(t, sim, "acme")

	t.Run("health", func(t *testing.T) {
		if got := ask[map[string]string](t, sim, "GET", "health", ""); got["status"] != "ok" {
			t.Errorf("health: %v", got)
		}
	})
	t.Run("operations", func(t *testing.T) {
		got := ask[[]string](t, sim, "GET", "operations", "")
		if diff := cmp.Diff(aws.Operations(), got); diff != "" {
			t.Errorf("operations (-want +got):\n%s", diff)
		}
		for _, want := range []string{"CreateDistributionTenant", "DeleteCertificate", "AssumeRole"} {
			if !slices.Contains(got, want) {
				t.Errorf("%s is not listed", want)
			}
		}
	})
	t.Run("calls", func(t *testing.T) {
		got := ask[map[string]aws.OperationCalls](t, sim, "GET", "calls", "")
		want := map[string]aws.OperationCalls{"CreateDistributionTenant": {Total: 1, OK: 1, Committed: 1, Errors: map[string]int{}}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
	t.Run("journal", func(t *testing.T) {
		if got := ask[[]aws.Entry](t, sim, "GET", "journal", ""); len(got) != 1 || got[0].Operation != "CreateDistributionTenant" {
			t.Errorf("journal: %+v", got)
		}
		if got := ask[[]aws.Entry](t, sim, "GET", "journal?since=1", ""); len(got) != 0 {
			t.Errorf("journal since 1: %+v", got)
		}
	})
	t.Run("state", func(t *testing.T) {
		got := ask[aws.State](t, sim, "GET", "state?account=111122223333", "")
		if diff := cmp.Diff(sim.State().Accounts[:1], got.Accounts); diff != "" {
			t.Errorf("state (-want +got):\n%s", diff)
		}
		if got := ask[aws.TenantState](t, sim, "GET", "state?tenant=acme", ""); got.Name != "acme" {
			t.Errorf("tenant: %+v", got)
		}
	})
	t.Run("faults", func(t *testing.T) {
		id := ask[map[string]string](t, sim, "POST", "faults", `{"operation":"GetDistributionTenant","resource":"acme","probability":1,"times":3,"kind":"after-commit","effect":"reset","latency":"1ms"}`)["id"]
		listed := ask[[]map[string]any](t, sim, "GET", "faults", "")
		if len(listed) != 1 || listed[0]["id"] != id || listed[0]["latency"] != "1ms" {
			t.Errorf("faults: %v", listed)
		}
		if got := outcomes(t, sim, 2, "acme"); got != "xx" {
			t.Errorf("calls went %s", got)
		}
		ask[any](t, sim, "DELETE", "faults/"+id, "")
		ask[any](t, sim, "POST", "faults", `{"times":-1,"error":{"status":500,"code":"Boom"}}`)
		ask[any](t, sim, "DELETE", "faults", "")
		if got := outcomes(t, sim, 1, "acme"); got != "." {
			t.Error("a cleared fault struck")
		}
	})
	t.Run("limits", func(t *testing.T) {
		ask[any](t, sim, "POST", "limits", `{"operation":"GetDistributionTenant","rate":0,"burst":1}`)
		got := ask[[]aws.Limit](t, sim, "POST", "limits", `[{"operation":"*","rate":100,"burst":100}]`)
		if len(got) != 2 {
			t.Errorf("limits: %v", got)
		}
		if got := outcomes(t, sim, 2, "acme"); got != ".x" {
			t.Errorf("calls went %s", got)
		}
		ask[any](t, sim, "DELETE", "limits", "")
		if got := ask[[]aws.Limit](t, sim, "GET", "limits", ""); len(got) != 0 {
			t.Errorf("limits after clearing: %v", got)
		}
	})
	t.Run("switches", func(t *testing.T) {
		got := ask[map[string]any](t, sim, "POST", "switches", `{"listLag":"10s","updateReplaces":true,"disregardParameters":["a","b=c"]}`)
		if diff := cmp.Diff(ask[map[string]any](t, sim, "GET", "switches", ""), got); diff != "" {
			t.Errorf("GET and POST disagree:\n%s", diff)
		}
		if got["listLag"] != "10s" || got["updateReplaces"] != true || got["deleteNeedsDeployed"] != true {
			t.Errorf("switches: %v", got)
		}
		if diff := cmp.Diff(map[string]string{"a": "", "b": "c"}, sim.Switches().DisregardParameters); diff != "" {
			t.Errorf("disregarded parameters (-want +got):\n%s", diff)
		}
		if len(got) != len(aws.SwitchNames()) {
			t.Errorf("%d of %d switches are shown", len(got), len(aws.SwitchNames()))
		}
	})
	t.Run("quotas", func(t *testing.T) {
		if got := ask[aws.Quotas](t, sim, "POST", "quotas", `{"tenants":5}`); got.Tenants != 5 || got.ConnectionGroups != 100 {
			t.Errorf("quotas: %+v", got)
		}
	})
	t.Run("clock", func(t *testing.T) {
		ask[any](t, sim, "POST", "clock", `{"advance":"1h"}`)
		if got := sim.Now().Sub(startTime).Hours(); got != 1 {
			t.Errorf("the clock moved %v hours", got)
		}
	})
	t.Run("resolving", func(t *testing.T) {
		got := ask[[]string](t, sim, "POST", "resolving", `{"add":["new.customer.org"],"remove":["live.customer.org"]}`)
		if diff := cmp.Diff([]string{"*.wild.customer.org", "new.customer.org"}, got); diff != "" {
			t.Errorf("resolving (-want +got):\n%s", diff)
		}
	})
	t.Run("seed", func(t *testing.T) {
		ask[any](t, sim, "POST", "seed", "distributions:\n- id: E3NEW\n  parameters:\n  - {name: x, required: true}\n")
		if _, err := client(sim).GetDistribution(t.Context(), &cloudfront.GetDistributionInput{Id: sdk.String("E3NEW")}); err != nil {
			t.Error(err)
		}
	})
	t.Run("reset", func(t *testing.T) {
		ask[any](t, sim, "POST", "reset", "")
		fresh := newSim(t)
		if diff := cmp.Diff(fresh.State(), sim.State()); diff != "" {
			t.Errorf("state after a reset (-fresh +reset):\n%s", diff)
		}
		if diff := cmp.Diff(fresh.Switches(), sim.Switches()); diff != "" {
			t.Errorf("switches after a reset:\n%s", diff)
		}
		if len(sim.Journal()) != 0 || len(sim.Calls()) != 0 || sim.Quotas() != fresh.Quotas() {
			t.Error("journal, calls or quotas outlived the reset")
		}
	})
}

func TestControlAPIIsStrict(t *testing.T) {
	for name, tc := range map[string]struct {
		method, path, body string
		status             int
		text               string
	}{
		"an unknown path":                  {"GET", "nope", "", 404, "docs/contributing/simulator.md"},
		"a method that does not fit":       {"POST", "health", "{}", 405, "POST"},
		"an unknown field":                 {"POST", "faults", `{"operatoin":"*"}`, 400, "operatoin"},
		"an unknown field in a limit":      {"POST", "limits", `{"operation":"*","brust":1}`, 400, "brust"},
		"an unknown operation":             {"POST", "faults", `{"operation":"CreateTenant"}`, 400, "CreateTenant"},
		"two values":                       {"POST", "clock", `{"advance":"1s"} {}`, 400, "one value"},
		"no value":                         {"POST", "clock", ``, 400, "body"},
		"a duration without a unit":        {"POST", "clock", `{"advance":"10"}`, 400, "duration"},
		"a clock that goes back":           {"POST", "clock", `{"advance":"-1s"}`, 400, "advance"},
		"a latency that is no duration":    {"POST", "faults", `{"latency":"soon"}`, 400, "soon"},
		"an unknown switch":                {"POST", "switches", `{"listlag":"1s"}`, 400, "listlag"},
		"a switch that is a number":        {"POST", "switches", `{"listLag":10}`, 400, "listLag"},
		"a list with a number in it":       {"POST", "switches", `{"disregardParameters":[1]}`, 400, "strings"},
		"an unknown quota":                 {"POST", "quotas", `{"tenant":1}`, 400, "tenant"},
		"a journal since something":        {"GET", "journal?since=x", "", 400, "since"},
		"a tenant that is not there":       {"GET", "state?tenant=x", "", 400, "no tenant"},
		"a fault that is not there":        {"DELETE", "faults/fault-9", "", 400, "fault-9"},
		"a name that cannot resolve":       {"POST", "resolving", `{"add":["Bad Name"]}`, 400, "Bad Name"},
		"a seed with an unknown field":     {"POST", "seed", "distribution: []", 400, "distribution"},
		"a seed that AWS would not accept": {"POST", "seed", "tenants: [{name: x, distributionId: E1, domains: [a.example.com]}]", 400, "tenants[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			status, text := raw(t, newSim(t), tc.method, "/_sim/"+tc.path, tc.body)
			if status != tc.status || !strings.Contains(text, tc.text) {
				t.Errorf("answered %d %s; want %d and %q", status, text, tc.status, tc.text)
			}
		})
	}
}

func TestControlAPIOverTheRoundTripper(t *testing.T) {
	sim := newSim(t)
	request := must[*httpRequest](t)(newRequest(t, "GET", "http://sim.invalid/_sim/health"))
	response, err := sim.Transport().RoundTrip(request)
	if err != nil || response.StatusCode != 200 {
		t.Fatalf("%v, %v", response, err)
	}
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
}
