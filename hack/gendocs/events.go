package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distribution"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/distributiontenant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/edgegrant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/claim"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/invalidation"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/proof"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

const eventsIntro = `# Events

Every event that the operator writes, with its reason, its type and the kind of object that it is about. An event
reports a change once. The current state is in the [conditions](conditions.md), which don't expire. A tenant that
is created without a problem has one event, ` + "`Created`" + `, then ` + "`Updated`" + ` when its managed certificate is attached, and
` + "`Published`" + ` when its DNS records are there.

` + "```sh" + `
kubectl get events --field-selector involvedObject.name=acme
kubectl get events --all-namespaces --field-selector reportingComponent=cloudfront-tenant-operator,type=Warning
kubectl get events --all-namespaces --field-selector reason=Retained
` + "```" + `

EdgeGrants, Tenants and TenantPlans are not in a namespace; their events are in the namespace ` + "`default`" + `. The API server
deletes events after an hour unless it is configured otherwise. Without the right to write events, the operator logs that
once at its start and works without them.

## Reasons that only events have

| reason | type | about | meaning |
|---|---|---|---|
`

const changesIntro = `
## Changes of a condition

These events have the reason of a condition. [Conditions](conditions.md) has the meaning of each reason and how to fix
the problem.

| about | when | type | reasons |
|---|---|---|---|
`

const eventsEnd = `
Reasons of a DistributionTenant, Distribution or ConnectionGroup that only need time, such as ` + "`Creating`, `Deploying` and\n`PendingValidation`" + `, have no event.
`

// eventsPage renders the page from the constants and rules of the module in that folder.
func eventsPage(root string) (string, error) {
	own, err := ownEvents(filepath.Join(root, "internal"))
	if err != nil {
		return "", err
	}
	changes, err := changeRows(root)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(eventsIntro)
	for _, e := range own {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", e.reason, e.kind, e.about, capital(e.meaning))
	}
	b.WriteString(changesIntro)
	for _, c := range changes {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.about, c.when, c.kind, strings.Join(c.reasons, ", "))
	}
	b.WriteString(eventsEnd)
	return b.String(), nil
}

// ownEvent is a reason that no condition has.
type ownEvent struct{ reason, kind, about, meaning string }

var (
	eventConstant = regexp.MustCompile(`^[eE]vent[A-Z]`)
	eventComment  = regexp.MustCompile(`^\w+ \((Normal|Warning); ([A-Za-z, ]+)\): (.+)$`)
)

// ownEvents finds the constants below a folder that are the reason of an event, by their names.
func ownEvents(folder string) ([]ownEvent, error) {
	var out []ownEvent
	err := goFiles(folder, func(file *ast.File) error {
		for _, d := range file.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			events, err := eventsOf(group)
			if err != nil {
				return err
			}
			out = append(out, events...)
		}
		return nil
	})
	slices.SortFunc(out, func(a, b ownEvent) int { return strings.Compare(a.reason, b.reason) })
	return out, err
}

func eventsOf(group *ast.GenDecl) ([]ownEvent, error) {
	var out []ownEvent
	for _, s := range group.Specs {
		v, ok := s.(*ast.ValueSpec)
		if !ok || !eventConstant.MatchString(v.Names[0].Name) || !isText(v) {
			continue
		}
		name, value, err := constant(s)
		if err != nil {
			return nil, err
		}
		doc := v.Doc.Text()
		if len(group.Specs) == 1 && doc == "" {
			doc = group.Doc.Text()
		}
		m := eventComment.FindStringSubmatch(oneLine(doc))
		if m == nil {
			return nil, fmt.Errorf("the comment of %s has to be like: %s (Warning; Tenant, TenantPlan): what happened", name, name)
		}
		out = append(out, ownEvent{reason: value, kind: m[1], about: m[2], meaning: m[3]})
	}
	return out, nil
}

func isText(v *ast.ValueSpec) bool {
	literal, ok := v.Values[0].(*ast.BasicLit)
	return ok && literal.Kind == token.STRING
}

// goFiles parses every file below a folder that is not a test.
func goFiles(folder string, look func(*ast.File) error) error {
	return filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments)
		if err != nil {
			return fmt.Errorf("reading the events: %w", err)
		}
		return look(file)
	})
}

// change is one way in which a condition becomes an event.
type change struct {
	about, when, kind string
	reasons           []string
}

// changeRows says which reasons of conditions become events of which type, as the Events functions of the chains and
// the transition functions of the controllers have it.
func changeRows(root string) ([]change, error) {
	cloudfront, err := reasonsOf(filepath.Join(root, "api", "cloudfront", "v1alpha1", "conditions.go"))
	if err != nil {
		return nil, err
	}
	kleff, err := reasonsOf(filepath.Join(root, "api", "kleff", "v1", "conditions.go"))
	if err != nil {
		return nil, err
	}
	err = errors.Join(cloudfront.have("the Ready", "the CertificateReady", "the DNSReady", "a TenantSource's Ready", "a TenantSource's RolledOut", "the Watching", "the StateWritten",
		"an EdgeGrant's Ready", "an Invalidation's Ready"),
		kleff.have("TenantReady", "NamespaceReady", "PlanApplied", "MeshReady", "RolledOut"))
	if err != nil {
		return nil, err
	}
	tenants, err := known(root, "resource", "certificate", "publication", "guard/claim", "distributiontenant")
	if err != nil {
		return nil, err
	}
	parents, err := known(root, "resource", "distribution")
	if err != nil {
		return nil, err
	}
	tenants[string(grant.NotGranted)], parents[string(grant.NotGranted)] = true, true
	return slices.Concat(
		resourceRows("DistributionTenant", cloudfront, []string{"the Ready", "the CertificateReady", "the DNSReady"}, func(r string) bool {
			// Without a request CertificateReady does not keep Ready from being True.
			return tenants[r] && r != string(distributiontenant.ReasonNotConfigured) && distributiontenant.Alarming(chain.Reason(r))
		}, string(claim.ReasonDomainClaimed)),
		tenantRows(),
		resourceRows("Distribution, ConnectionGroup", cloudfront, []string{"the Ready"}, func(r string) bool {
			return parents[r] && r != string(distribution.ReasonInUse) && resource.Alarming(chain.Reason(r))
		}),
		deletionRows(),
		sourceRows(cloudfront),
		invalidationRows(),
		grantRows(cloudfront),
		customerRows(kleff),
	), nil
}

// resourceRows are those of what is in AWS: quiet reasons are no event. Some reasons of Ready are listed as those of another
// condition, which has them more often.
func resourceRows(about string, all reasons, groups []string, alarming func(string) bool, more ...string) []change {
	var alarms []string
	for _, reason := range more {
		alarms = append(alarms, code(reason))
	}
	for _, group := range groups {
		for _, r := range all.group(group) {
			if !r.holds && alarming(r.name) {
				alarms = append(alarms, code(r.name))
			}
		}
	}
	slices.Sort(alarms)
	ready := "`Ready` becomes True"
	if about == "DistributionTenant" {
		ready += " after a reason that had a warning"
	}
	return []change{
		{about, ready, "Normal", []string{code(string(resource.ReasonDeployed))}},
		{about, "`Ready` is False for another reason than before", "Warning", alarms},
		{about, "`Synced` is False for another reason than before", "Warning", []string{code(string(resource.ReasonDriftDetected)), code(string(resource.ReasonDriftNotConverging))}},
	}
}

// tenantRows are those that only a tenant has.
func tenantRows() []change {
	const about = "DistributionTenant"
	return []change{
		{about, "`Ready` is False for another reason than before", "Normal", []string{code(string(proof.ReasonDomainNotProven))}},
		{about, "`Synced` is False for another reason than before, and `Ready` does not have this reason: the tenant keeps serving and is not changed", "Warning",
			[]string{code(string(claim.ReasonDomainClaimed)), code(string(grant.NotGranted))}},
	}
}

// grantRows are those of an EdgeGrant: that grants are off is no news.
func grantRows(all reasons) []change {
	_, alarms := split(all.group("an EdgeGrant's Ready"), string(edgegrant.Off))
	alarms = append(alarms, code(string(edgegrant.InUse)), code(string(edgegrant.InvalidSpec)))
	slices.Sort(alarms)
	return []change{{"EdgeGrant", "`Ready` is False for another reason than before", "Warning", alarms}}
}

// deletionRows are those of a deletion in two phases.
func deletionRows() []change {
	const about = "Distribution, ConnectionGroup"
	step := func(s distribution.DeletionStep) string { return code(string(s)) }
	return []change{
		{about, "its deletion waits for its tenants", "Warning", []string{step(distribution.StepInUse)}},
		{about, "its deletion reaches the next step", "Normal", []string{step(distribution.StepDisabling), step(distribution.StepSettling), step(distribution.StepDeleting)}},
		{about, "`DeletionStalled` becomes True", "Warning", []string{code(string(distribution.DeletionStalled))}},
	}
}

func sourceRows(all reasons) []change {
	const about, when = "TenantSource", "`Ready` has another reason than before, at the end of a poll or while the source is being deleted"
	normal, warning := split(all.group("a TenantSource's Ready"))
	moves, stops := split(all.group("a TenantSource's RolledOut"), "RollingOut", "RolloutPaused")
	listens, lost := split(all.group("the Watching"))
	written, unwritten := split(all.group("the StateWritten"))
	const other = " has another reason than before"
	const rolledOut, watching, stateWritten = "`RolledOut`" + other, "`Watching`" + other, "`StateWritten`" + other
	return []change{
		{about, when, "Normal", append(normal, code(string(resource.ReasonDeleting)))},
		{about, when, "Warning", warning},
		{about, "`Ready`" + other, "Warning", []string{code(string(grant.NotGranted))}},
		{about, rolledOut, "Normal", moves},
		{about, rolledOut, "Warning", stops},
		{about, watching, "Normal", listens},
		{about, watching, "Warning", lost},
		{about, stateWritten, "Normal", written},
		{about, stateWritten, "Warning", unwritten},
	}
}

// invalidationRows are those of an Invalidation: what it only waits for is no event.
func invalidationRows() []change {
	const about, when = "Invalidation", "`Ready` has another reason than before"
	normal, alarms := invalidation.Told()
	codes := func(reasons []chain.Reason) (out []string) {
		for _, r := range reasons {
			out = append(out, code(string(r)))
		}
		slices.Sort(out)
		return out
	}
	return []change{{about, when, "Normal", codes(normal)}, {about, when, "Warning", codes(alarms)}}
}

// customerRows are those of Tenant and TenantPlan, whose reasons are named in groups.
func customerRows(all reasons) []change {
	var tenant []reason
	for _, group := range []string{"NamespaceReady", "PlanApplied", "MeshReady"} {
		for _, r := range all.group(group) {
			if !r.holds {
				tenant = append(tenant, r)
			}
		}
	}
	tenant = append(all.group("TenantReady"), tenant...)
	calm, alarms := split(tenant, "Creating", "Terminating")
	alarms = append(alarms, "and the reasons of its DistributionTenant's `Ready`, which `EdgeReady` repeats")
	done, failed := split(all.group("RolledOut"), "RollingOut", "RolloutPaused")
	failed = append(failed, "`PlanInvalid`", "`CRDMissing`", "`Error`", "`Terminating`")
	slices.Sort(failed)
	const tenantReady, ready = "`TenantReady` has another reason than before", "`Ready` has another reason than before"
	return []change{
		{"Tenant", tenantReady, "Normal", calm},
		{"Tenant", tenantReady, "Warning", alarms},
		{"TenantPlan", ready, "Normal", done},
		{"TenantPlan", ready, "Warning", failed},
	}
}

// split separates the reasons of events of type Normal, those that hold and the quiet ones, from the others.
func split(all []reason, quiet ...string) (normal, warning []string) {
	for _, r := range all {
		if r.holds || slices.Contains(quiet, r.name) {
			normal = append(normal, code(r.name))
			continue
		}
		warning = append(warning, code(r.name))
	}
	return normal, warning
}

// reason is one of a condition; holds tells that the condition is True then.
type reason struct {
	name  string
	holds bool
}

// reasons are those of a file of the API by the titles of their groups.
type reasons map[string][]reason

// group finds a group by the rest of its title after "Reasons of".
func (r reasons) group(of string) []reason {
	for title, group := range r {
		if strings.HasPrefix(title, "Reasons of "+of+" ") || title == "Reasons of "+of || strings.HasPrefix(title, "Reasons of "+of+",") {
			return group
		}
	}
	return nil
}

// have is an error that names a group that is not there: without it rows of the page would be empty.
func (r reasons) have(groups ...string) error {
	for _, of := range groups {
		if len(r.group(of)) == 0 {
			return fmt.Errorf("no group of conditions has a title that begins with: Reasons of %s", of)
		}
	}
	return nil
}

func reasonsOf(source string) (reasons, error) {
	file, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("reading the conditions: %w", err)
	}
	out := reasons{}
	for _, d := range file.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		title, _, _ := strings.Cut(strings.TrimSuffix(oneLine(group.Doc.Text()), "."), ". ")
		for _, s := range group.Specs {
			name, value, err := constant(s)
			if err != nil {
				return nil, err
			}
			doc := oneLine(s.(*ast.ValueSpec).Doc.Text()) //nolint:forcetypeassert // constant has seen to it
			out[title] = append(out[title], reason{name: value, holds: strings.HasPrefix(doc, name+" (True)")})
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no reasons in " + source)
	}
	return out, nil
}

// known are the reasons that packages of the domain have as constants.
func known(root string, packages ...string) (map[string]bool, error) {
	out := map[string]bool{}
	for _, name := range packages {
		err := goFiles(filepath.Join(root, "internal", "domain", name), func(file *ast.File) error {
			ast.Inspect(file, func(n ast.Node) bool {
				v, ok := n.(*ast.ValueSpec)
				if !ok || len(v.Values) != 1 || !strings.HasPrefix(v.Names[0].Name, "Reason") {
					return true
				}
				if literal, ok := v.Values[0].(*ast.BasicLit); ok {
					if value, err := strconv.Unquote(literal.Value); err == nil {
						out[value] = true
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
