package crash_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// mutation is a deliberate mistake in the operator. It is compiled in with an overlay: the
// sources stay as they are.
type mutation struct {
	name  string
	edits []textEdit
	// cases are the names of those that have to catch it: one is enough.
	cases []string
	// oracles are those that may object.
	oracles []string
}

// textEdit replaces a text that has to stand in the file exactly once.
type textEdit struct{ file, old, new string }

const (
	actFile    = "internal/controller/distributiontenant/act.go"
	lookFile   = "internal/controller/distributiontenant/look.go"
	keepFile   = "internal/domain/distributiontenant/keep.go"
	removeFile = "internal/domain/distributiontenant/remove.go"

	removeParentFile = "internal/domain/distribution/remove.go"

	publishFile   = "internal/domain/distributiontenant/ledger.go"
	recordFile    = "internal/domain/dns/place.go"
	ledgerFile    = "internal/domain/dns/ledger.go"
	batchFile     = "internal/zone/send.go"
	disposalFile  = "internal/domain/distributiontenant/certificate_removal.go"
	conclusionsOf = "internal/controller/distributiontenant/conclude.go"
)

const (
	markStored = `	if err := p.hold(ctx, k, map[string]string{v1alpha1.AnnotationCreatePending: mark}); err != nil {`
	created    = `	t, err := p.Inventory.Create(ctx, s)
`
)

func mutations() []mutation {
	return slices.Concat(tenantMutations(), dnsMutations(), parentMutations())
}

// parentMutations are mistakes about distributions and connection groups.
func parentMutations() []mutation {
	return []mutation{
		{
			name: "the caller reference is made anew for each try",
			edits: []textEdit{{"internal/controller/distribution/distribution.go", `	return string(o.UID)
}`, `	return string(o.UID) + "-" + strconv.FormatInt(time.Now().Unix(), 10)
}`}},
			cases:   []string{"lag/dist-create/new tenants hidden 20s/aws:CreateDistributionWithTags#1/kill-committed"},
			oracles: []string{oracleDuplicate},
		}, {
			name: "a distribution is deleted before its disable has settled",
			edits: []textEdit{{removeParentFile, `	if r.Settled() {
		return pass()`, `	if !r.Enabled {
		return pass()`}},
			cases:   []string{"reference/dist-delete/undisturbed"},
			oracles: []string{oracleTwoPhases},
		}, {
			name: "a distribution is disabled without asking for its tenants",
			edits: []textEdit{{removeParentFile, `	case d == nil:
		return do(Look{At: LookDependents})`, `	case d == nil && in.World.Resource.Enabled:
		return pass()
	case d == nil:
		return do(Look{At: LookDependents})`}},
			cases:   []string{"reference/dist-in-use/undisturbed"},
			oracles: []string{oracleOffline},
		}, {
			name: "a connection group that can't be read is taken for gone",
			edits: []textEdit{{"internal/controller/awsresource/observe.go", `	if fault.Is(err, fault.NotFound) {
		p.seen = nil`, `	if err != nil {
		p.seen = nil`}},
			cases:   []string{"kill and errors/group-delete/aws:UpdateConnectionGroup#1/kill-committed, then errors"},
			oracles: []string{oracleLeak},
		},
	}
}

// dnsMutations are mistakes about zones and certificates.
func dnsMutations() []mutation {
	unsynced := "dns/managed-delete/not in sync for " + syncTime.String()
	return []mutation{
		{
			name: "names are out of DNS after the tenant, not before",
			edits: []textEdit{{publishFile, `	if in.keepsTenant() {
		return pass()
	}
	left :=`, `	if in.keepsTenant() || in.World.present() {
		return pass()
	}
	left :=`}},
			cases:   []string{unsynced},
			oracles: []string{oracleDangling},
		}, {
			name: "a record leaves the ledger when its deletion was sent, not when it is in sync",
			edits: []textEdit{{ledgerFile, `	case Absent:
		if !wanted {
			return ""
		}
	case Unknown, Coming, There, Leaving, Refused:`, `	case Absent, Leaving:
		if !wanted {
			return ""
		}
	case Unknown, Coming, There, Refused:`}},
			cases:   []string{unsynced},
			oracles: []string{oracleDangling},
		}, {
			name: "what is to be published is sent before it is stored",
			edits: []textEdit{{conclusionsOf, `	report := distributiontenant.Conclude(p.in, p.out)
`, `	report := distributiontenant.Conclude(p.in, p.out)
	p.declare(report.Ledger)
`}},
			cases:   []string{"away/publish/kube:patch distributiontenants/status#1/kube-away"},
			oracles: []string{oracleLedger},
		}, {
			name:    "a record is deleted by its name, whatever its value",
			edits:   []textEdit{{recordFile, `		if s.Is(r) {`, `		if s.Key == r.Key() {`}},
			cases:   []string{"reference/taken-record/undisturbed"},
			oracles: []string{oracleLeak, oracleLedger},
		}, {
			name:    "a batch is sent without asking who leads",
			edits:   []textEdit{{batchFile, `	if err := z.opts.Confirm(ctx); err != nil {`, `	if err := error(nil); err != nil {`}},
			cases:   []string{"frozen/managed-early/kube:patch distributiontenants/status#1/freeze-later"},
			oracles: []string{oracleLedger, oracleLeak, oracleDangling},
		}, {
			name:    "the certificate is requested with every update",
			edits:   []textEdit{{keepFile, `diff, request, attach := in.diff(), in.requestDue(), in.attachable()`, `diff, request, attach := in.diff(), in.request(), in.attachable()`}},
			cases:   []string{"reference/managed/undisturbed"},
			oracles: []string{oracleLiveness, oracleQuiescence, oracleDifferential, oracleHonesty},
		}, {
			name: "a certificate that the spec names is deleted with the tenant",
			edits: []textEdit{{disposalFile, `		case arn == in.Desired.Customizations.CertificateARN:
			continue
`, ``}, {disposalFile, `	seen := slices.Clone(in.Memory.Certificates)
`, `	seen := slices.Clone(in.Memory.Certificates)
	if named := in.Desired.Customizations.CertificateARN; named != "" && !slices.Contains(seen, named) {
		seen = append(seen, named)
	}
`}},
			cases:   []string{"reference/equal-record/undisturbed"},
			oracles: []string{oracleDelete},
		},
	}
}

func tenantMutations() []mutation {
	return []mutation{
		{
			name:    "the create mark is not stored",
			edits:   []textEdit{{actFile, markStored, "\t_ = mark\n\tif err := p.hold(ctx, k, nil); err != nil {"}},
			cases:   []string{"lag/create-delete/new tenants hidden 20s/aws:CreateDistributionTenant#1/kill-committed"},
			oracles: []string{oracleLeak},
		}, {
			name: "the grace after a create mark is not waited for",
			edits: []textEdit{{removeFile, `	if in.CreateMark.IsZero() || wait <= 0 {
		return pass()`, `	if in.CreateMark.IsZero() || wait <= GracePeriod {
		return pass()`}},
			cases:   []string{"lag/create-delete/new tenants hidden 20s/aws:CreateDistributionTenant#1/kill-committed"},
			oracles: []string{oracleLeak},
		}, {
			name:    "the finalizer is not stored before the create",
			edits:   []textEdit{{actFile, markStored, "\t_ = mark\n\tif err := error(nil); err != nil {"}},
			cases:   []string{"kill/create-delete/aws:CreateDistributionTenant#1/kill-committed"},
			oracles: []string{oracleLeak},
		}, {
			name: "If-Match is ignored: a refused update is forced",
			edits: []textEdit{{"internal/adapter/aws/cloudfront/write.go", `	out, err := c.api.UpdateDistributionTenant(ctx, in, c.write)
`, `	out, err := c.api.UpdateDistributionTenant(ctx, in, c.write)
	if err != nil {
		if now, unread := c.GetTenant(ctx, *in.Id); unread == nil {
			in.IfMatch = &now.ETag
			out, err = c.api.UpdateDistributionTenant(ctx, in, c.write)
		}
	}
`}},
			cases:   []string{"frozen/edit-domains/aws:UpdateDistributionTenant#1/freeze-before", "frozen/disable/aws:UpdateDistributionTenant#1/freeze-before"},
			oracles: []string{oracleDifferential, oracleHonesty},
		}, {
			name: "a tenant is not looked up by its name",
			edits: []textEdit{{keepFile, `	case in.refusedWith(fault.Exists):
		return do(Look{At: LookTenant})
	case in.Memory.ID == "" && in.CreateMark.IsZero():`, `	case in.refusedWith(fault.Exists) && in.Memory.ID != "":
		return do(Look{At: LookTenant})
	case in.Memory.ID == "":`}},
			cases:   []string{"kill/create/aws:CreateDistributionTenant#1/kill-committed", "aws/create/aws:CreateDistributionTenant#1/error-committed"},
			oracles: []string{oracleCalls},
		}, {
			name: "whatever has the name is taken for ours",
			edits: []textEdit{{"internal/domain/ownership/ownership.go", `	switch {
	case !ok:
		return Unowned`, `	switch {
	case true:
		return Ours
	case !ok:
		return Unowned`}},
			cases:   []string{"reference/adopt/undisturbed"},
			oracles: []string{oracleForeign, oracleLiveness},
		}, {
			name: "a tenant that can't be read is taken for gone",
			edits: []textEdit{{lookFile, `	if fault.Is(err, fault.NotFound) {
		p.in.World.Knowledge, p.in.World.Tenant = resource.Absent, nil`, `	if err != nil {
		p.in.World.Knowledge, p.in.World.Tenant = resource.Absent, nil`}},
			cases:   []string{"kill and errors/delete/aws:UpdateDistributionTenant#1/kill-committed, then errors"},
			oracles: []string{oracleLeak},
		}, {
			name: "what the list does not show is taken for gone",
			edits: []textEdit{{removeFile, `	if in.World.Knowledge == Nothing {
		return do(Look{At: LookTenant})`, `	if in.World.Knowledge == Nothing && in.World.Swept {
		return do(LetGo{})
	}
	if in.World.Knowledge == Nothing {
		return do(Look{At: LookTenant})`}},
			cases:   []string{"lag/create-delete/list 30s/aws:CreateDistributionTenant#1/kill-committed"},
			oracles: []string{oracleLeak},
		}, {
			name: "an enabled tenant is deleted without being disabled",
			edits: []textEdit{{removeFile, `	if !t.Enabled {
		return pass()`, `	if t.ID != "" {
		return pass()`}},
			cases:   []string{"reference/delete/undisturbed"},
			oracles: []string{oracleLiveness},
		}, {
			name: "the object is let go although the deletion failed",
			edits: []textEdit{{actFile, `	case err != nil && !fault.Is(err, fault.NotFound):
		return err
	}`, `	}`}, {actFile, `	p.in.World.Knowledge, p.in.World.Tenant = resource.Nothing, nil
`, `	p.in.World.Knowledge, p.in.World.Tenant = resource.Absent, nil
`}},
			cases:   []string{"aws/delete/aws:DeleteDistributionTenant#2/error-before"},
			oracles: []string{oracleLeak},
		}, {
			name: "after a lost answer the tenant is created under another name",
			edits: []textEdit{{actFile, created, created + `	if fault.Is(err, fault.Transient) {
		s.Tenant.Name += "-2"
		t, err = p.Inventory.Create(ctx, s)
	}
`}},
			cases:   []string{"aws/create/aws:CreateDistributionTenant#1/error-before"},
			oracles: []string{oracleDuplicate, oracleLiveness, oracleDifferential, oracleHonesty},
		}, {
			name: "status is written on each pass",
			edits: []textEdit{{"internal/reconcile/driver.go", `	if !equality.Semantic.DeepEqual(d.Kind.Status(base), d.Kind.Status(o)) {`,
				`	if _ = equality.Semantic; true {`}},
			cases:   []string{"reference/create/undisturbed"},
			oracles: []string{oracleQuiescence},
		}, {
			name: "Ready does not wait for the deployment",
			edits: []textEdit{
				{keepFile, `	if t == nil || t.Status == Deployed {`, `	if t == nil || t.Status != "" {`},
				{"internal/domain/distributiontenant/conclude.go", `	case in.World.Tenant.Status != Deployed:
`, `	case in.World.Tenant.Status == "":
`},
			},
			cases:   []string{"reference/create/undisturbed"},
			oracles: []string{oracleHonesty},
		}, {
			name:    "a tenant that is to stay is deleted",
			edits:   []textEdit{{removeFile, `	if !in.Policy.Retain {`, `	if in.Policy.Adoption != "" {`}},
			cases:   []string{"reference/retain/undisturbed"},
			oracles: []string{oracleDelete},
		},
	}
}

// overlay writes what go build needs to compile the mutation, and returns its path.
func (m mutation) overlay(root, dir string) (string, error) {
	texts := map[string]string{}
	for _, e := range m.edits {
		file := filepath.Join(root, filepath.FromSlash(e.file))
		if _, read := texts[file]; !read {
			text, err := os.ReadFile(file)
			if err != nil {
				return "", fmt.Errorf("the mutation %q: %w", m.name, err)
			}
			texts[file] = string(text)
		}
		if n := strings.Count(texts[file], e.old); n != 1 {
			return "", fmt.Errorf("the mutation %q: its text stands in %s %d times, not once. The code has moved on: give the mutation a text of today.\n%s", m.name, e.file, n, e.old)
		}
		texts[file] = strings.Replace(texts[file], e.old, e.new, 1)
	}
	replace := map[string]string{}
	for n, file := range slices.Sorted(maps.Keys(texts)) {
		replace[file] = filepath.Join(dir, fmt.Sprintf("%d-%s", n, filepath.Base(file)))
		if err := os.WriteFile(replace[file], []byte(texts[file]), 0o644); err != nil {
			return "", fmt.Errorf("the mutation %q: %w", m.name, err)
		}
	}
	path := filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("the mutation %q: %w", m.name, err)
	}
	return path, os.WriteFile(path, text, 0o644)
}

// TestMutationsApply fails when the code has moved on from under a mutation, or a case
// that has to catch it is no more.
func TestMutationsApply(t *testing.T) {
	references, err := readReferences()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, k := range allCases(references, *seed) {
		names[k.name()] = true
	}
	for _, m := range mutations() {
		if _, err := m.overlay(theRig.root, t.TempDir()); err != nil {
			t.Error(err)
		}
		for _, name := range m.cases {
			if !names[name] {
				t.Errorf("the mutation %q is to be caught by %q, which does not exist", m.name, name)
			}
		}
	}
}

// TestMutations builds each mistake into the operator and wants an oracle to object: a
// campaign that can't fail proves nothing.
func TestMutations(t *testing.T) {
	if *count == 0 {
		t.Skip("it takes minutes: it belongs to the whole campaign")
	}
	references, err := readReferences()
	if err != nil {
		t.Fatal(err)
	}
	cases := allCases(references, *seed)
	began := time.Now()
	list := slices.DeleteFunc(mutations(), func(m mutation) bool { return !isNamed(m.name) })
	slots := slot{free: make(chan struct{}, *parallel)}
	var (
		mu     sync.Mutex
		group  sync.WaitGroup
		caught int
	)
	fmt.Fprintf(os.Stdout, "\n%-62s %s\n", "mutation", "caught by")
	for _, m := range list {
		slots.take()
		group.Go(func() {
			defer slots.release()
			by, err := m.play(t, cases, references)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				t.Error(err)
			case by == "":
				t.Errorf("nobody noticed that %s", m.name)
			default:
				caught++
			}
			fmt.Fprintf(os.Stdout, "%-62s %s\n", m.name, cmp.Or(by, "NOBODY"))
		})
	}
	group.Wait()
	fmt.Fprintf(os.Stdout, "%d of %d mutations caught in %s\n", caught, len(list), time.Since(began).Round(time.Second))
}

// play runs the mistaken operator through the cases that have to catch it.
func (m mutation) play(t *testing.T, cases []*kase, references map[string]*reference) (by string, err error) {
	t.Helper()
	dir := t.TempDir()
	overlay, err := m.overlay(theRig.root, dir)
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "operator")
	if err := theRig.build(t.Context(), binary, overlay, false); err != nil {
		return "", err
	}
	var chosen []*kase
	for _, k := range cases {
		if slices.Contains(m.cases, k.name()) {
			chosen = append(chosen, m.hurried(k))
		}
	}
	for _, r := range playWith(t.Context(), chosen, references, binary, func(*result) {}) {
		for _, v := range r.Violations {
			if slices.Contains(m.oracles, v.Oracle) {
				return v.Oracle + " in " + r.Name, nil
			}
		}
		t.Log(story(r))
	}
	return "", nil
}

// hurried waits less long for what will never come.
func (m mutation) hurried(k *kase) *kase {
	if !slices.Contains(m.oracles, oracleLiveness) {
		return k
	}
	copied := *k
	copied.setUp = func(o *options) {
		if k.setUp != nil {
			k.setUp(o)
		}
		o.patience = 75 * time.Second
	}
	return &copied
}
