package docs

import (
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// workflow is what these tests need of a workflow of GitHub Actions.
type workflow struct {
	// name is the path from the root of the module.
	name, text string

	Permissions any            `json:"permissions"`
	Jobs        map[string]job `json:"jobs"`
}

type job struct {
	Uses        string         `json:"uses"`
	Permissions map[string]any `json:"permissions"`
	Container   struct {
		Image string `json:"image"`
	} `json:"container"`
	Steps []struct {
		Uses string         `json:"uses"`
		Run  string         `json:"run"`
		With map[string]any `json:"with"`
	} `json:"steps"`
}

func workflows(t *testing.T) []workflow {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var out []workflow
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		w := workflow{name: path.Join(".github", "workflows", filepath.Base(name)), text: string(text)}
		if err := yaml.Unmarshal(text, &w); err != nil {
			t.Fatalf("%s: %v", w.name, err)
		}
		out = append(out, w)
	}
	if len(out) == 0 {
		t.Fatal("there are no workflows")
	}
	return out
}

// pinned is an action at a commit. Anyone who takes over the action can move a tag or a branch to other code.
var pinned = regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`)

func TestActionsArePinnedToCommits(t *testing.T) {
	t.Parallel()
	versioned := regexp.MustCompile(`uses: \S+@[0-9a-f]{40} # v\d+(?:\.\d+)*$`)
	uses := regexp.MustCompile(`^\s*(?:- )?uses:`)
	for _, w := range workflows(t) {
		for name, j := range w.Jobs {
			actions := []string{j.Uses}
			for _, s := range j.Steps {
				actions = append(actions, s.Uses)
				if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != false {
					t.Errorf("%s: job %s checks out without persist-credentials: false, and every later step could read the token", w.name, name)
				}
			}
			for _, action := range actions {
				if local := strings.HasPrefix(action, "./"); action != "" && !local && !pinned.MatchString(action) {
					t.Errorf("%s: job %s uses %s: name the commit, all 40 digits of it", w.name, name, action)
				}
			}
		}
		for line := range strings.SplitSeq(w.text, "\n") {
			if uses.MatchString(line) && !strings.Contains(line, "uses: ./") && !versioned.MatchString(line) {
				t.Errorf("%s: a comment has to name the version, as in # v1.2.3, for people and for Dependabot: %s", w.name, line)
			}
		}
	}
}

// A job has the permissions that it names, and a workflow gives none to jobs that name none.
func TestWorkflowsHaveLeastPermissions(t *testing.T) {
	t.Parallel()
	for _, w := range workflows(t) {
		if top, ok := w.Permissions.(map[string]any); !ok || len(top) > 0 {
			t.Errorf("%s: begin with permissions: {}, and give each job what it needs; there is %v", w.name, w.Permissions)
		}
		for name, j := range w.Jobs {
			if len(j.Permissions) == 0 {
				t.Errorf("%s: job %s names no permissions", w.name, name)
			}
		}
	}
}

// The value of an expression, such as the title of a pull request, would become part of the script. It belongs into
// env.
func TestScriptsOfWorkflowsHoldNoExpressions(t *testing.T) {
	t.Parallel()
	for _, w := range workflows(t) {
		for name, j := range w.Jobs {
			for _, s := range j.Steps {
				if strings.Contains(s.Run, "${{") {
					t.Errorf("%s: job %s has an expression in a script: %s", w.name, name, s.Run)
				}
			}
		}
	}
}

func TestScriptsOfWorkflowsExist(t *testing.T) {
	t.Parallel()
	script := regexp.MustCompile(`(?m)(?:^|[\s;("])((?:hack|\.ci)/[\w./-]+)`)
	count := 0
	for _, w := range workflows(t) {
		for _, j := range w.Jobs {
			for _, s := range j.Steps {
				for _, m := range script.FindAllStringSubmatch(s.Run, -1) {
					count++
					if info, err := os.Stat(filepath.Join(root, m[1])); err != nil || info.Mode()&0o111 == 0 {
						t.Errorf("%s runs %s, which is no program of the repository", w.name, m[1])
					}
				}
			}
		}
	}
	if count == 0 {
		t.Error("no workflow runs a script of the repository")
	}
}

var from = regexp.MustCompile(`(?m)^FROM (?:--\S+ )*(\S+)`)

// baseImages are those of the Dockerfile.
func baseImages(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range from.FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	return out
}

func TestImagesAreNamedByDigest(t *testing.T) {
	t.Parallel()
	digest := regexp.MustCompile(`^\S+:\S+@sha256:[0-9a-f]{64}$`)
	images := baseImages(t)
	compilers := slices.DeleteFunc(slices.Clone(images), func(image string) bool { return !strings.HasPrefix(image, "golang:") })
	if len(compilers) != 1 || len(images) != 2 {
		t.Fatalf("the Dockerfile is built from %v", images)
	}
	containers := 0
	for _, w := range workflows(t) {
		for name, j := range w.Jobs {
			if j.Container.Image == "" {
				continue
			}
			containers++
			images = append(images, j.Container.Image)
			if strings.HasPrefix(j.Container.Image, "golang:") && j.Container.Image != compilers[0] {
				t.Errorf("%s: job %s runs in %s: what is tested has to be compiled as what is released, with %s", w.name, name, j.Container.Image, compilers[0])
			}
		}
	}
	if containers == 0 {
		t.Error("no workflow runs in a container")
	}
	for _, image := range images {
		if !digest.MatchString(image) {
			t.Errorf("%s: name the tag and the digest", image)
		}
	}
}

// update is an entry of dependabot.yml.
type update struct {
	Ecosystem   string   `json:"package-ecosystem"`
	Directory   string   `json:"directory"`
	Directories []string `json:"directories"`
}

func (u update) covers(ecosystem, dir string) bool {
	return u.Ecosystem == ecosystem && slices.ContainsFunc(append(u.Directories, u.Directory), func(pattern string) bool {
		matches, err := path.Match(pattern, dir)
		return err == nil && matches
	})
}

func TestDependabotKnowsEveryManifest(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, ".github", "dependabot.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Updates []update `json:"updates"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	ecosystems := map[string]string{"go.mod": "gomod", "package.json": "npm", "Dockerfile": "docker"}
	manifests := []string{"/.github/workflows"}
	for _, depth := range []string{"", "*/", "*/*/", "*/*/*/"} {
		for _, name := range slices.Sorted(maps.Keys(ecosystems)) {
			found, err := filepath.Glob(filepath.Join(root, depth, name))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range found {
				manifests = append(manifests, strings.TrimPrefix(filepath.ToSlash(file), root))
			}
		}
	}
	if len(manifests) < 6 {
		t.Fatalf("the repository has these manifests only: %v", manifests)
	}
	for _, manifest := range manifests {
		ecosystem, dir := ecosystems[path.Base(manifest)], path.Dir(manifest)
		if ecosystem == "" {
			ecosystem, dir = "github-actions", "/"
		}
		if strings.Contains(manifest, "/node_modules/") {
			continue
		}
		if !slices.ContainsFunc(config.Updates, func(u update) bool { return u.covers(ecosystem, dir) }) {
			t.Errorf("dependabot.yml has no entry for %s in %s", ecosystem, dir)
		}
	}
}

const changelog = `# Changelog

## [Unreleased]

- To come.

## [1.20.0] - 2027-03-01

### Added

- A feature.

## [1.19.0] - 2027-02-01

[Unreleased]: https://example.com
`

func TestReleaseNotesComeFromTheChangelog(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "CHANGELOG.md")
	if err := os.WriteFile(file, []byte(changelog), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		says, version, want string
	}{
		{"a version has its section", "1.20.0", "\n### Added\n\n- A feature.\n"},
		{"a pre-release has what is unreleased", "1.21.0-rc.1", "\n- To come.\n"},
		{"a section that is empty is not released, and the definitions of links are no part of it", "1.19.0", ""},
		{"nor is a version without a section, even where its number begins another", "1.2", ""},
	} {
		t.Run(c.says, func(t *testing.T) {
			t.Parallel()
			script := exec.CommandContext(t.Context(), filepath.Join(root, "hack", "release-notes.sh"), c.version)
			script.Env = append(os.Environ(), "CHANGELOG="+file)
			out, err := script.Output()
			if (err != nil) != (c.want == "") {
				t.Errorf("hack/release-notes.sh %s ended with %v", c.version, err)
			}
			if diff := cmp.Diff(c.want, string(out)); diff != "" {
				t.Errorf("hack/release-notes.sh %s (-want +got):\n%s", c.version, diff)
			}
		})
	}
}

// Until there is a version, and after each one, the next pre-release has notes.
func TestChangelogHasWhatIsUnreleased(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	headings := regexp.MustCompile(`(?m)^## .*`).FindAllString(string(text), -1)
	version := regexp.MustCompile(`^## \[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}$`)
	for i, heading := range headings {
		if first := i == 0; first != (heading == "## [Unreleased]") || !first && !version.MatchString(heading) {
			t.Errorf("CHANGELOG.md has the heading %q: ## [Unreleased] comes first, then ## [1.2.3] - 2027-01-31", heading)
		}
	}
	if len(headings) == 0 {
		t.Error("CHANGELOG.md has no sections")
	}
}
