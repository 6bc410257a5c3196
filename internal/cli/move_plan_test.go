package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// movable makes an object that a domain can be moved from or to, with its own domain and others.
func movable(t *testing.T, ns, name string, also ...string) *v1alpha1.DistributionTenant {
	t.Helper()
	o := &v1alpha1.DistributionTenant{Spec: v1alpha1.DistributionTenantSpec{DistributionID: "E2EXAMPLE1", Domains: []v1alpha1.TenantDomain{{Domain: name + ".example.com"}}}}
	o.Namespace, o.Name = ns, name
	for _, d := range also {
		o.Spec.Domains = append(o.Spec.Domains, v1alpha1.TenantDomain{Domain: d})
	}
	create(t, o)
	ready(o)
	for _, d := range o.Spec.Domains {
		o.Status.DomainResults = append(o.Status.DomainResults, v1alpha1.DomainResult{Domain: d.Domain, Status: "active"})
	}
	if err := admin.Status().Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return o
}

// domainsNow are those of the object's spec.
func domainsNow(t *testing.T, o *v1alpha1.DistributionTenant) (out []string) {
	t.Helper()
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		t.Fatal(err)
	}
	for _, d := range o.Spec.Domains {
		out = append(out, d.Domain)
	}
	return out
}

func noClaim(t *testing.T, name string) {
	t.Helper()
	if err := admin.Get(t.Context(), client.ObjectKey{Name: name}, &v1alpha1.DomainClaim{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("reading the claim %s: %v", name, err)
	}
}

func TestMoveDomainChangesNothingUntilItIsConfirmed(t *testing.T) {
	ns := namespace(t)
	giver, receiver := movable(t, ns, "giver", "plan.example.com"), movable(t, ns, "receiver")
	for name, tt := range map[string]struct {
		input string
		args  []string
		want  string
	}{
		"a plan":                   {"", []string{"--plan"}, ""},
		"without a confirmation":   {"no\n", nil, "nothing was changed"},
		"without an input":         {"", nil, "nothing was changed"},
		"an output without a plan": {"", []string{"-o", "json"}, "use it with --plan"},
	} {
		r := command(t, tt.input, append([]string{"move-domain", "Plan.Example.com.", "--to", "receiver", "-n", ns}, tt.args...)...)
		if (r.failure == nil) != (tt.want == "") || r.failure != nil && !strings.Contains(r.failure.Error(), tt.want) {
			t.Errorf("%s: ends with %v, want %q", name, r.failure, tt.want)
		}
	}
	var plan struct {
		Kind, Domain, From, To string
		Steps                  []struct{ Step string }
		Notes                  []struct{ What string }
	}
	if err := json.Unmarshal([]byte(prints(t, "move-domain", "plan.example.com", "--to", "receiver", "-n", ns, "--plan", "-o", "json")), &plan); err != nil {
		t.Fatal(err)
	}
	if plan.Kind != "MovePlan" || plan.Domain != "plan.example.com" || plan.From != ns+"/giver" || plan.To != ns+"/receiver" || len(plan.Steps) != 6 || plan.Steps[0].Step != "CreateClaim" {
		t.Errorf("the plan is %+v", plan)
	}
	if d := cmp.Diff([]string{"giver.example.com", "plan.example.com"}, domainsNow(t, giver)); d != "" {
		t.Errorf("the giver's domains (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"receiver.example.com"}, domainsNow(t, receiver)); d != "" {
		t.Errorf("the receiver's domains (-want +got):\n%s", d)
	}
	noClaim(t, "plan.example.com")
}

func TestMoveDomainRefusesWhatCannotBeMoved(t *testing.T) {
	ns := namespace(t)
	movable(t, ns, "giver", "refused.example.com", "twice.example.com")
	movable(t, ns, "receiver")
	movable(t, ns, "other", "twice.example.com")
	tenant(t, ns, "deploying", waiting)
	create(t, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "cli-reader"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}}}})
	create(t, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "cli-reader"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cli-reader"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "cli-reader"}},
	})
	for name, tt := range map[string]struct {
		args []string
		want []string
	}{
		"a receiver that is not ready": {[]string{"refused.example.com", "--to", "deploying"}, []string{"can't be moved yet: 1 thing stands in the way", ns + "/deploying is not Ready. Deploying: CloudFront deploys the tenant."}},
		"a user without rights": {[]string{"refused.example.com", "--from", "giver", "--to", "receiver", "--as", "cli-reader"},
			[]string{"You may not create domainclaims, nor patch distributiontenants in namespace " + ns + ", nor delete domainclaims.", "--patches"}},
		"a domain of two objects": {[]string{"twice.example.com", "--to", "receiver"}, []string{ns + "/giver, " + ns + "/other: name the one", "--from"}},
		"a domain of none":        {[]string{"none.example.com", "--to", "receiver"}, []string{"no DistributionTenant has none.example.com"}},
		"no such receiver":        {[]string{"refused.example.com", "--to", "missing"}, []string{"there is no DistributionTenant missing in namespace " + ns}},
		"no such object":          {[]string{"refused.example.com", "--from", "nowhere/missing", "--to", "receiver"}, []string{"there is no DistributionTenant missing in namespace nowhere"}},
		"no receiver":             {[]string{"refused.example.com"}, []string{`"to" not set`}},
	} {
		t.Run(name, func(t *testing.T) {
			r := command(t, "", append([]string{"move-domain", "-n", ns, "--yes"}, tt.args...)...)
			if r.failure == nil {
				t.Fatalf("it was moved:\n%s", r.out)
			}
			shows(t, strings.Join(strings.Fields(r.out+r.failure.Error()), " "), tt.want...)
			noClaim(t, tt.args[0])
		})
	}
}

// kubectl runs kubectl as a user would.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), filepath.Join(plane.BinDir(), "kubectl"), append([]string{"--kubeconfig", plane.Kubeconfig()}, args...)...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// The files do what the command would: kustomize and kubectl patch apply them, and neither does where the domains are not
// those that the command has seen.
func TestPatchesForGitMoveTheDomain(t *testing.T) {
	ns := namespace(t)
	giver, receiver := movable(t, ns, "giver", "git.example.com", "last.example.com"), movable(t, ns, "receiver")
	giver.Labels = map[string]string{"app.kubernetes.io/managed-by": "Helm"}
	if err := admin.Update(t.Context(), giver); err != nil {
		t.Fatal(err)
	}
	move := []string{"move-domain", "git.example.com", "--to", "receiver", "-n", ns}
	if r := command(t, "", append(move, "--yes")...); r.failure == nil || !strings.Contains(strings.Join(strings.Fields(r.out), " "), "is managed by Helm. It would undo a change of the object's domains. Write the changes to files with --patches DIR.") {
		t.Fatalf("an object of Helm: %v\n%s", r.failure, r.out)
	}
	git := t.TempDir()
	dir := filepath.Join(git, "move")
	move = append(move, "--patches", dir)
	shows(t, prints(t, move...), filepath.Join(dir, "1-claim.yaml"), "1. Merge 1-claim.yaml", "2. Merge 2-receiver", "3. Wait until "+ns+"/receiver is Ready", "4. Merge 3-former", "5. Wait until "+ns+"/giver is in sync without the domain, and remove the DomainClaim.")
	if r := command(t, "", move...); r.failure == nil || !strings.Contains(r.failure.Error(), "1-claim.yaml exists") {
		t.Errorf("a second time: %v", r.failure)
	}
	noClaim(t, "git.example.com")

	kubectl(t, "apply", "--dry-run=server", "-f", filepath.Join(dir, "1-claim.yaml"))
	for _, o := range []*v1alpha1.DistributionTenant{giver, receiver} {
		write(t, filepath.Join(git, o.Name+".yaml"), map[string]any{
			"apiVersion": v1alpha1.SchemeGroupVersion.String(), "kind": "DistributionTenant", "metadata": map[string]any{"name": o.Name}, "spec": o.Spec,
		})
	}
	for _, tt := range []struct {
		component, name string
		object          *v1alpha1.DistributionTenant
		want            []string
	}{
		{"2-receiver", "receiver", receiver, []string{"receiver.example.com", "git.example.com"}},
		{"3-former", "giver", giver, []string{"giver.example.com", "last.example.com"}},
	} {
		write(t, filepath.Join(git, "kustomization.yaml"), map[string]any{
			"namespace": ns, "resources": []string{"giver.yaml", "receiver.yaml"}, "components": []string{"move/" + tt.component},
		})
		var built []string
		for document := range strings.SplitSeq(kubectl(t, "kustomize", git), "\n---\n") {
			var o v1alpha1.DistributionTenant
			if err := yaml.Unmarshal([]byte(document), &o); err != nil {
				t.Fatal(err)
			}
			for _, d := range o.Spec.Domains {
				if o.Name == tt.name {
					built = append(built, d.Domain)
				}
			}
		}
		if d := cmp.Diff(tt.want, built); d != "" {
			t.Errorf("what kustomize builds of %s (-want +got):\n%s", tt.component, d)
		}
		patch := []string{"patch", "distributiontenant", tt.name, "-n", ns, "--type=json", "--patch-file", filepath.Join(dir, tt.component, "patch.yaml")}
		kubectl(t, patch...)
		if d := cmp.Diff(tt.want, domainsNow(t, tt.object)); d != "" {
			t.Errorf("what kubectl patch makes of %s (-want +got):\n%s", tt.name, d)
		}
		again := exec.CommandContext(t.Context(), filepath.Join(plane.BinDir(), "kubectl"), append([]string{"--kubeconfig", plane.Kubeconfig()}, patch...)...)
		if out, err := again.CombinedOutput(); err == nil {
			t.Errorf("%s can be applied twice: %s", tt.component, out)
		}
	}
}

func write(t *testing.T, path string, content any) {
	t.Helper()
	text, err := yaml.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
