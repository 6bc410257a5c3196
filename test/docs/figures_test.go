package docs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// figure is one that pages name.
type figure struct {
	Measure string
	// Run is the command that measures it.
	Run    string
	Figure string
	// Said are the patterns by which texts name it. The group is the figure.
	Said []string
}

// Figures have one source, bench/figures.json: no text for users names another figure for the same measure.
func TestFiguresAreThoseMeasured(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join(root, "bench", "figures.json"))
	if err != nil {
		t.Fatal(err)
	}
	var figures []figure
	if err := json.Unmarshal(content, &figures); err != nil {
		t.Fatal(err)
	}
	texts := textsWithFigures(t)
	for _, f := range figures {
		for _, said := range f.Said {
			pattern, found := regexp.MustCompile(said), false
			for name, text := range texts {
				for _, m := range pattern.FindAllStringSubmatch(text, -1) {
					found = true
					if m[1] != f.Figure {
						t.Errorf("%s says %q, and %s is %s in bench/figures.json (%s)", name, m[0], f.Measure, f.Figure, f.Run)
					}
				}
			}
			if !found {
				t.Errorf("no text has %q for %s: remove it from bench/figures.json", said, f.Measure)
			}
		}
	}
}

// textsWithFigures are the texts for users, each on one line. The pages for contributors have figures of older runs, too.
func textsWithFigures(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, name := range append(readable(t), "site/home.mjs") {
		if strings.HasPrefix(name, "docs/contributing/") || name == "CHANGELOG.md" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = strings.Join(strings.Fields(string(content)), " ")
	}
	return texts
}
