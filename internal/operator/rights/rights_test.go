package rights

import (
	"context"
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator/config"
)

// configOf has no guard rail on but those of the flags: each needs rights of its own.
func configOf(t *testing.T, flags ...string) config.Config {
	t.Helper()
	var c config.Config
	f := flag.NewFlagSet("test", flag.ContinueOnError)
	c.Bind(f)
	if err := f.Parse(append([]string{"--deletion-budget=false", "--cluster-check=false", "--domain-claims=false"}, flags...)); err != nil {
		t.Fatal(err)
	}
	return c
}

// A feature that is off asks for no right.
func TestRightsFollowTheFlags(t *testing.T) {
	tenants := []string{
		"list distributiontenants of cloudfront-tenant-operator.io", "watch distributiontenants of cloudfront-tenant-operator.io",
		"get distributiontenants of cloudfront-tenant-operator.io", "patch distributiontenants of cloudfront-tenant-operator.io",
		"patch distributiontenants/status of cloudfront-tenant-operator.io",
		"list distributions of cloudfront-tenant-operator.io", "watch distributions of cloudfront-tenant-operator.io",
		"get distributions of cloudfront-tenant-operator.io", "list connectiongroups of cloudfront-tenant-operator.io",
		"watch connectiongroups of cloudfront-tenant-operator.io", "get connectiongroups of cloudfront-tenant-operator.io",
		"create events of events.k8s.io",
	}
	sources := []string{
		"list tenantsources of cloudfront-tenant-operator.io", "watch tenantsources of cloudfront-tenant-operator.io",
		"get tenantsources of cloudfront-tenant-operator.io", "patch tenantsources of cloudfront-tenant-operator.io",
		"patch tenantsources/status of cloudfront-tenant-operator.io",
	}
	for name, tt := range map[string]struct {
		flags []string
		want  []string
	}{
		"sources alone create, change and delete tenants, and write no status of theirs": {
			[]string{"--cluster-id=c", "--controllers=tenantsource"},
			slices.Concat(sources, tenants[:3], []string{
				"create distributiontenants of cloudfront-tenant-operator.io", "patch distributiontenants of cloudfront-tenant-operator.io",
				"delete distributiontenants of cloudfront-tenant-operator.io",
				"list distributions of cloudfront-tenant-operator.io", "watch distributions of cloudfront-tenant-operator.io",
				"list connectiongroups of cloudfront-tenant-operator.io", "watch connectiongroups of cloudfront-tenant-operator.io",
				"create events of events.k8s.io",
			}),
		},
		"what both controllers need is asked for once": {
			[]string{"--cluster-id=c", "--controllers=distributiontenant,tenantsource"},
			slices.Concat(tenants, sources, []string{
				"create distributiontenants of cloudfront-tenant-operator.io", "delete distributiontenants of cloudfront-tenant-operator.io",
			}),
		},
		"the least": {[]string{"--cluster-id=c"}, tenants},
		"a webhook needs its two objects by name": {
			[]string{"--cluster-id=c", "--webhook-bind-address=:9443", "--webhook-name=edge", "--leader-election-namespace=home"},
			append(slices.Clone(tenants), "get secrets named edge-webhook in namespace home", "update secrets named edge-webhook in namespace home",
				"get validatingwebhookconfigurations of admissionregistration.k8s.io named edge",
				"patch validatingwebhookconfigurations of admissionregistration.k8s.io named edge"),
		},
		"without a cluster id kube-system is read": {nil, append(tenants, "get namespaces named kube-system")},
		"of namespaces that are named, all are asked for": {
			[]string{"--cluster-id=c", "--watch-namespaces=a,b"}, append(in("a", tenants), in("b", tenants)...),
		},
		"an election needs its lease, and tells in events": {
			[]string{"--cluster-id=c", "--leader-elect", "--leader-election-namespace=home"},
			append(tenants, "create leases of coordination.k8s.io in namespace home",
				"get leases of coordination.k8s.io named cloudfront-tenant-operator in namespace home",
				"update leases of coordination.k8s.io named cloudfront-tenant-operator in namespace home",
				"create events in namespace home"),
		},
		"metrics are served to whom the API server lets read them": {
			[]string{"--cluster-id=c", "--metrics-bind-address=:8443"},
			append(tenants, "create tokenreviews of authentication.k8s.io", "create subjectaccessreviews of authorization.k8s.io"),
		},
		"metrics for everybody need nothing": {[]string{"--cluster-id=c", "--metrics-bind-address=:8443", "--metrics-secure=false"}, tenants},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range Needed(configOf(t, append([]string{"--controllers=distributiontenant"}, tt.flags...)...)) {
				got = append(got, r.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("rights (-want +got):\n%s", diff)
			}
		})
	}
}

// Tenants need rights on what is in their namespaces, and can do without those for a mesh and for policies.
func TestRightsForTenants(t *testing.T) {
	byNeed := map[bool]map[string][]string{false: {}, true: {}}
	for _, r := range Needed(configOf(t, "--cluster-id=c", "--controllers=tenant")) {
		if r.Namespace != "" || r.Name != "" || r.For == "" {
			t.Errorf("the right to %s is for %q, and not for the whole cluster", r, r.For)
		}
		kinds := byNeed[r.Optional]
		kinds[strings.TrimLeft(r.Group+"/"+r.Resource, "/")] = append(kinds[strings.TrimLeft(r.Group+"/"+r.Resource, "/")], r.Verb)
	}
	read, all := []string{"list", "watch", "get"}, []string{"list", "watch", "get", "create", "patch", "delete"}
	want := map[bool]map[string][]string{
		false: {
			"kleff.kleff.io/tenants": {"list", "watch", "get", "patch"}, "kleff.kleff.io/tenants/status": {"patch"},
			"kleff.kleff.io/tenantplans": {"list", "watch", "get", "patch"}, "kleff.kleff.io/tenantplans/status": {"patch"},
			"namespaces": all, "resourcequotas": all, "limitranges": all, "networking.k8s.io/networkpolicies": all, "rbac.authorization.k8s.io/rolebindings": all,
			"cloudfront-tenant-operator.io/distributiontenants": all, "apiextensions.k8s.io/customresourcedefinitions": {"list", "watch"},
		},
		true: {
			"networking.istio.io/gateways": all, "security.istio.io/authorizationpolicies": all, "security.istio.io/peerauthentications": all,
			"constraints.gatekeeper.sh/*": read, "events.k8s.io/events": {"create"},
		},
	}
	if diff := cmp.Diff(want, byNeed); diff != "" {
		t.Errorf("rights by whether they are optional (-want +got):\n%s", diff)
	}
}

// The check asks for exactly the rights in the generated roles, each with its purpose.
func TestEveryRightHasAReason(t *testing.T) {
	roles := readRoles(configOf(t).Webhook)
	if len(roles) != len(reasons) {
		t.Errorf("%d roles and reasons for %d", len(roles), len(reasons))
	}
	for name, rules := range roles {
		given := 0
		for _, rule := range rules {
			given += len(rule.APIGroups) * len(rule.Resources) * len(rule.Verbs) * max(len(rule.ResourceNames), 1)
		}
		if asked := rightsOf(rules, reasons[name], ""); len(asked) != given {
			t.Errorf("the role %s gives %d rights, and %d are asked for: %v", name, given, len(asked), asked)
		}
		for _, why := range reasons[name] {
			if len(rightsOf(rules, []reason{why}, "")) == 0 {
				t.Errorf("the role %s gives no right for %s", name, why.resource)
			}
		}
	}
}

func in(namespace string, rights []string) []string {
	var out []string
	for _, r := range rights {
		out = append(out, r+" in namespace "+namespace)
	}
	return out
}

func TestMissingRights(t *testing.T) {
	rights := Needed(configOf(t, "--controllers=distributiontenant", "--watch-namespaces=a,b"))
	required, optional, err := missing(t.Context(), rights, func(_ context.Context, a *authorizationv1.ResourceAttributes) (bool, error) {
		switch {
		case a.Namespace == "b" && a.Verb == "watch" && a.Resource == "distributiontenants", a.Namespace == "a" && a.Resource == "events":
			return false, nil
		case a.Resource == "namespaces":
			return false, errors.New("who asks")
		case a.Subresource != "" && (a.Resource != "distributiontenants" || a.Subresource != "status"):
			t.Errorf("asked for %+v", a)
		}
		return true, nil
	})
	if len(required) != 1 || required[0].String() != "watch distributiontenants of cloudfront-tenant-operator.io in namespace b" {
		t.Errorf("required and missing: %v, want the watch in b", required)
	}
	if len(optional) != 1 || optional[0].String() != "create events of events.k8s.io in namespace a" {
		t.Errorf("optional and missing: %v, want the events in a", optional)
	}
	if err == nil || !strings.Contains(err.Error(), "get namespaces named kube-system: who asks") {
		t.Errorf("got %v, want what could not be asked", err)
	}
}

func TestLackSaysAll(t *testing.T) {
	got := lack("system:serviceaccount:home:operator", []Right{
		{Group: "g", Resource: "things/status", Verb: "patch", For: "one"},
		{Resource: "namespaces", Verb: "get", Name: "kube-system", For: "two"},
		{Group: "g", Resource: "things", Verb: "list", Namespace: "a", For: "three"},
	})
	want := `system:serviceaccount:home:operator is not allowed to:
- patch things/status of g, for one
- get namespaces named kube-system, for two
- list things of g in namespace a, for three
This version's chart grants these permissions: upgrade the release with rbac.create=true. Or grant them manually:
in a ClusterRole with a ClusterRoleBinding:
- {apiGroups: ["g"], resources: ["things/status"], verbs: ["patch"]}
- {apiGroups: [""], resources: ["namespaces"], verbs: ["get"], resourceNames: ["kube-system"]}
in a Role of namespace a:
- {apiGroups: ["g"], resources: ["things"], verbs: ["list"]}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// An API server that can't or won't answer is not a reason to end.
func TestRightsThatCannotBeAsked(t *testing.T) {
	over := make(chan struct{})
	for name, answer := range map[string]http.HandlerFunc{
		"it refuses": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"it fails":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotImplemented) },
		"it hangs":   func(http.ResponseWriter, *http.Request) { <-over },
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(answer)
			t.Cleanup(server.Close)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := Check(ctx, configOf(t), &rest.Config{Host: server.URL}); err != nil {
				t.Errorf("the operator would end: %v", err)
			}
			if name == "it hangs" {
				close(over) // or the server would wait for its handlers
			}
		})
	}
}
