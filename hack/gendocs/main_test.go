package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const moduleRoot = "../.."

func TestWhatIsCommittedIsWhatTheCodeSays(t *testing.T) {
	t.Parallel()
	files, err := pages(moduleRoot)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		committed, err := os.ReadFile(filepath.Join(moduleRoot, "docs", name))
		if err != nil {
			t.Error(err)
			continue
		}
		if d := cmp.Diff(text, string(committed)); d != "" {
			t.Errorf("%s is out of date, run make generate (-generated +committed):\n%s", name, d)
		}
	}
}

func TestEveryReasonSaysWhatToDo(t *testing.T) {
	t.Parallel()
	const head = "package p\n\n// Reasons of a condition.\nconst (\n"
	for name, c := range map[string]struct{ source, row, fails string }{
		"a reason with a fix": {
			"// ReasonX (False): it broke.\n// Fix: repair it.\nReasonX = \"X\"\n", "| `X` | False | It broke. |  | Repair it. |", "",
		},
		"what is well needs none": {"// ReasonX (True): well.\nReasonX = \"X\"\n", "| `X` | True | Well. |  |  |", ""},
		"what manual action is marked": {
			"// ReasonX (False): refused.\n// Fix: allow it.\nReasonX = \"AccessDenied\"\n", "| `AccessDenied` | False | Refused. | yes | Allow it. |", "",
		},
		"a reason without one":      {"// ReasonX (False): it broke.\nReasonX = \"X\"\n", "", "ReasonX has no line"},
		"a type of condition":       {"// ConditionX is X.\nConditionX = \"X\"\n", "| `X` | X. |", ""},
		"a constant of another one": {"// ReasonX (True): well.\nReasonX = other\n", "", "not a literal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "conditions.go")
			if err := os.WriteFile(file, []byte(head+c.source+")\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			page, err := conditionsPage(file)
			switch {
			case c.fails == "" && (err != nil || !strings.Contains(page, c.row)):
				t.Errorf("got %v, want %s in:\n%s", err, c.row, page)
			case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
				t.Errorf("got %v, want %s", err, c.fails)
			}
		})
	}
}

// A heading is where links lead to: two of one name would be one.
func TestConditionsOfAllGroupsAreOnOnePage(t *testing.T) {
	t.Parallel()
	files, err := pages(moduleRoot)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(files["reference/conditions.md"]) {
		title, isHeading := strings.CutPrefix(strings.TrimSpace(line), "## ")
		if isHeading && seen[title] {
			t.Errorf("there are two headings %q", title)
		}
		seen[title] = seen[title] || isHeading
	}
	for _, title := range []string{"Condition types", "Reasons of NamespaceReady", "Reasons of PlanApplied"} {
		if !seen[title] {
			t.Errorf("there is no heading %q, but %v", title, seen)
		}
	}
}

func TestConditionsOfTwoFilesFollowEachOther(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var sources []string
	for _, name := range []string{"A", "B"} {
		file := filepath.Join(folder, name+".go")
		text := "package p\n\n// Condition types of " + name + ".\nconst (\n// Condition" + name + " is one.\nCondition" + name + " = \"" + name + "\"\n)\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, file)
	}
	page, err := conditionsPage(sources...)
	if err != nil {
		t.Fatal(err)
	}
	first, second := strings.Index(page, "## Condition types of A"), strings.Index(page, "## Condition types of B")
	if first < 0 || second < first || !strings.Contains(page, "| `B` | One. |") {
		t.Errorf("got:\n%s", page)
	}
}
