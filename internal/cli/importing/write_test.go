package importing_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli/importing"
	sim "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// files are the names of all files of a folder.
func files(t *testing.T, folder string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(folder, path)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// customers are tenants of those names, in the group of their own.
func customers(names ...string) (tenants []sim.SeedTenant) {
	for _, name := range names {
		tenants = append(tenants, sim.SeedTenant{Name: name, ConnectionGroupID: groupID})
	}
	return tenants
}

func TestFilesOfAFleet(t *testing.T) {
	t.Parallel()
	f := imported(t, options(t, newSim(t, fleet(customers("acme", "globex", "initech")...))))
	common := []string{"DIFFERENCES.md", "connectiongroup-static.yaml", "distribution-e2example1.yaml", "kustomization.yaml", "removed.tf"}
	for name, c := range map[string]struct {
		perFile int
		want    []string
	}{
		"a file for each tenant": {0, []string{"tenants/acme.yaml", "tenants/globex.yaml", "tenants/initech.yaml"}},
		"two tenants in a file":  {2, []string{"tenants/0001.yaml", "tenants/0002.yaml"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := write(t, f, func(w *importing.Folder) { w.PerFile = c.perFile })
			if diff := cmp.Diff(append(slices.Clone(common), c.want...), files(t, folder)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			if n := len(manifests(t, folder)); n != 5 {
				t.Errorf("%d objects", n)
			}
			if around := files(t, filepath.Dir(folder)); len(around) != len(common)+len(c.want) {
				t.Errorf("something is left next to the folder: %v", around)
			}
		})
	}
}

func TestOnlyTheFilesOfAnEarlierImportAreReplaced(t *testing.T) {
	t.Parallel()
	folder := write(t, imported(t, options(t, newSim(t, fleet(customers("acme", "globex")...)))))
	mine := filepath.Join(folder, "notes.txt")
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	later := imported(t, options(t, newSim(t, fleet(customers("acme", "initech")...))))
	_, err := importing.Folder{Path: folder}.Write(later)
	if err == nil || !strings.Contains(err.Error(), "is not empty") || !strings.Contains(err.Error(), "--overwrite") {
		t.Errorf("without a word: %v", err)
	}
	if _, err := (importing.Folder{Path: folder, Overwrite: true}).Write(later); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"DIFFERENCES.md", "connectiongroup-static.yaml", "distribution-e2example1.yaml", "kustomization.yaml", "notes.txt", "removed.tf",
		"tenants/acme.yaml", "tenants/initech.yaml",
	}
	if diff := cmp.Diff(want, files(t, folder)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// A fleet that is not written as a whole has no list of its files.
func TestAFailureLeavesNoFleet(t *testing.T) {
	t.Parallel()
	f := imported(t, options(t, newSim(t, fleet(customers("acme")...))))
	folder := write(t, f)
	// The folder of the tenants can't be replaced by a file of that name in it.
	if err := os.RemoveAll(filepath.Join(folder, "tenants")); err != nil {
		t.Fatal(err)
	}
	parent := filepath.Dir(folder)
	blocked := filepath.Join(parent, "blocked")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (importing.Folder{Path: filepath.Join(blocked, "fleet"), Overwrite: true}).Write(f); err == nil {
		t.Error("a fleet was written below a file")
	}
	if found := files(t, parent); slices.ContainsFunc(found, func(name string) bool { return strings.HasPrefix(name, ".import-") }) {
		t.Errorf("left over: %v", found)
	}
}

func TestTerraformForgetsWhatIsImported(t *testing.T) {
	t.Parallel()
	s := newSim(t, fleet(sim.SeedTenant{Name: "acme", ID: "dt_1"}, sim.SeedTenant{Name: "globex", ID: "dt_2"},
		sim.SeedTenant{Name: "staging", ID: "dt_3", Tags: owned("staging", "shop", "x", "u")}))
	f := imported(t, options(t, s))
	resource := func(address, kind, id string) string {
		return fmt.Sprintf(`{"address": %q, "mode": "managed", "type": %q, "values": {"id": %q}}`, address, kind, id)
	}
	const tenant = "aws_cloudfront_distribution_tenant"
	for name, c := range map[string]struct {
		state      string
		says, hush []string
	}{
		"without a state, the blocks are a template": {"", []string{"# removed {", "--terraform-state", "dt_1  acme"}, []string{"\nremoved {"}},
		"a resource has a block": {
			`{"format_version": "1.0", "values": {"root_module": {"resources": [` + resource(tenant+".acme", tenant, "dt_1") + `]}}}`,
			[]string{"removed {\n  from = aws_cloudfront_distribution_tenant.acme\n\n  lifecycle {\n    destroy = false", "The state does not have these", "dt_2  globex"}, nil,
		},
		"a resource in modules has a block without keys": {
			`{"format_version": "1.0", "values": {"root_module": {"child_modules": [{"child_modules": [{"resources": [` +
				resource(`module.eu["a.b[1]"].module.shop[0].`+tenant+`.this`, tenant, "dt_1") + `]}]}]}}}`,
			[]string{"from = module.eu.module.shop." + tenant + ".this\n"}, nil,
		},
		"instances of which all are imported have one block": {
			`{"version": 4, "resources": [{"mode": "managed", "type": "` + tenant + `", "name": "all", "instances": [
				{"index_key": "a", "attributes": {"id": "dt_1"}}, {"index_key": "b", "attributes": {"id": "dt_2"}}]}]}`,
			[]string{"from = " + tenant + ".all\n"}, []string{"state rm"},
		},
		"instances of which some are not imported have commands, for a block would take all": {
			`{"version": 4, "resources": [{"module": "module.shop", "mode": "managed", "type": "` + tenant + `", "name": "all", "instances": [
				{"index_key": "a", "attributes": {"id": "dt_1"}}, {"index_key": 1, "attributes": {"id": "dt_2"}}, {"index_key": "c", "attributes": {"id": "dt_3"}}]}]}`,
			[]string{"2 of the 3 instances", `terraform state rm 'module.shop.` + tenant + `.all["a"]'`, `.all[1]'`}, []string{`["c"]`, "\nremoved {"},
		},
		"the distribution has a block": {
			`{"version": 4, "resources": [{"mode": "managed", "type": "aws_cloudfront_distribution", "name": "main", "instances": [{"attributes": {"id": "E2EXAMPLE1"}}]},
				{"mode": "managed", "type": "aws_cloudfront_monitoring_subscription", "name": "watched", "instances": [{"attributes": {"id": "E2EXAMPLE1"}}]},
				{"mode": "data", "type": "aws_cloudfront_distribution", "name": "seen", "instances": [{"attributes": {"id": "E2EXAMPLE1"}}]}]}`,
			[]string{"from = aws_cloudfront_distribution.main\n"}, []string{"seen", "watched"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := write(t, f, func(w *importing.Folder) {
				if c.state == "" {
					return
				}
				state, err := importing.ReadState([]byte(c.state))
				if err != nil {
					t.Fatal(err)
				}
				w.State = state
			})
			text := read(t, folder, "removed.tf")
			has(t, text, c.says...)
			for _, part := range append(c.hush, "dt_3") {
				if strings.Contains(text, part) {
					t.Errorf("%q is in:\n%s", part, text)
				}
			}
		})
	}
}

func TestStatesThatCanNotBeRead(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]string{
		"no JSON":         "terraform {}",
		"an old version":  `{"version": 3, "modules": []}`,
		"something else":  `{"resources": []}`,
		"an empty object": `{}`,
	} {
		if _, err := importing.ReadState([]byte(state)); err == nil || !strings.Contains(err.Error(), "show -json") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
