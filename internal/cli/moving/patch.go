package moving

import (
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
)

// Op is an operation of a JSON patch (RFC 6902). A list of a custom resource can't be appended to in another way.
type Op struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// domainsPath is where an object's domains are.
const domainsPath = "/spec/domains"

// Adding adds the domain to an object whose domains are still what they are now.
func Adding(o *v1alpha1.DistributionTenant, domain string) []Op {
	return []Op{{"test", domainsPath, o.Spec.Domains}, {"add", domainsPath + "/-", v1alpha1.TenantDomain{Domain: domain}}}
}

// Removing removes the domain from an object that still has it in that place.
func Removing(o *v1alpha1.DistributionTenant, domain string) []Op {
	at := fmt.Sprintf("%s/%d", domainsPath, index(o, domain))
	return []Op{{"test", at, o.Spec.Domains[index(o, domain)]}, {"remove", at, nil}}
}

// JSON is a patch as the API server takes it.
func JSON(ops []Op) ([]byte, error) { return json.Marshal(ops) }

// File is a file for Git.
type File struct {
	Path string `json:"path"`
	Text string `json:"-"`
}

// The files for Git, in the order in which they are merged. Patches are components of kustomize.
const (
	ClaimFile         = "1-claim.yaml"
	ReceiverComponent = "2-receiver"
	FormerComponent   = "3-former"
	patchFile         = "patch.yaml"
)

// Changes are the files of the changes that are still to be made.
func (f Facts) Changes() ([]File, error) {
	var out []File
	if !f.Done(CreateClaim) {
		text, err := manifest(f)
		if err != nil {
			return nil, err
		}
		out = append(out, File{ClaimFile, text})
	}
	for _, c := range []struct {
		folder string
		of     *v1alpha1.DistributionTenant
		done   bool
		ops    func(*v1alpha1.DistributionTenant, string) []Op
	}{{ReceiverComponent, f.To, f.Done(AddDomain), Adding}, {FormerComponent, f.From, !Wants(f.From, f.Domain), Removing}} {
		if c.done {
			continue
		}
		files, err := component(c.folder, c.of, c.ops(c.of, f.Domain))
		if err != nil {
			return nil, err
		}
		out = append(out, files...)
	}
	return out, nil
}

// manifest is the claim without what only the API server fills in.
func manifest(f Facts) (string, error) {
	c := f.NewClaim()
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": c.APIVersion, "kind": c.Kind, "metadata": map[string]any{"name": c.Name}, "spec": c.Spec,
	})
	return "# Hands " + f.Domain + " over to " + Name(f.To) + ". Remove it at the end of the move.\n" + string(text), err
}

func component(folder string, o *v1alpha1.DistributionTenant, ops []Op) ([]File, error) {
	patch, err := yaml.Marshal(ops)
	if err != nil {
		return nil, err
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component",
		"patches": []any{map[string]any{"path": patchFile, "target": map[string]any{
			"group": v1alpha1.GroupName, "kind": "DistributionTenant", "name": "^" + strings.ReplaceAll(o.Name, ".", `\.`) + "$",
		}}},
	})
	if err != nil {
		return nil, err
	}
	return []File{{folder + "/kustomization.yaml", string(text)}, {folder + "/" + patchFile, string(patch)}}, nil
}

// guide says which change is merged when, and what to wait for.
func (f Facts) guide() (steps []string) {
	from, to := Name(f.From), Name(f.To)
	if !f.Done(CreateClaim) {
		steps = append(steps, "Merge "+ClaimFile+" into the manifests of the platform: a DomainClaim is for administrators.")
	}
	if !f.Done(AddDomain) {
		steps = append(steps, "Merge "+ReceiverComponent+" into the manifests of "+to+", at the same time or later.")
	}
	if !f.Done(WaitForMove) {
		steps = append(steps, "Wait until "+to+" is Ready and serves "+f.Domain+", and "+from+" has the reason DomainClaimed: see `kubectl cfdt explain "+f.To.Name+" -n "+f.To.Namespace+"` and `kubectl cfdt explain "+f.From.Name+" -n "+f.From.Namespace+"`. Don't remove the domain from "+from+" earlier: it would not be served for a while.")
	}
	if Wants(f.From, f.Domain) {
		steps = append(steps, "Merge "+FormerComponent+" into the manifests of "+from+".")
	}
	last := "Wait until " + from + " is in sync without the domain"
	if f.Claim == nil || Made(f.Claim) {
		last += ", and remove the DomainClaim"
	}
	return append(steps, last+".")
}

// Guide is the text with the files.
func Guide(f Facts) string {
	var b strings.Builder
	for n, step := range f.guide() {
		fmt.Fprintf(&b, "%d. %s\n", n+1, step)
	}
	b.WriteString("\nA folder is a component of kustomize: add it to `components` of the kustomization that has the object, or change the\n" +
		"manifest as its patch.yaml says. A patch fails if the domains in Git are not those in the cluster.\n")
	return b.String()
}
