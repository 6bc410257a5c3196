// What only these tests show: that no advice of the operator is refused by the API server, and that its commands can be
// copied.
package advice

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// advised matches a message that tells to give a field another value.
var advised = regexp.MustCompile(`\b(?:[Ss]et|[Cc]hange|[Cc]orrect|[Rr]emove|[Ee]xtend|another|its) (?:its |the |another )?(spec\.[a-zA-Z]+(?:\.[a-zA-Z]+)*)`)

// again matches a message that tells to create another object.
var again = regexp.MustCompile(`\b[Dd]elete th(is|e) |\bcreate (one|an object|a new) `)

// illegal is the advice for the name of a namespace that is not legal. Only legal ones can't be changed.
const illegal = "set spec.namespace to one"

// A message that tells to change a field which can't be changed leads in a circle: the API server refuses it. Such a message
// has to say that the object is deleted and created again.
func TestNoMessageAdvisesWhatTheAPIServerRefuses(t *testing.T) {
	fixed := fixedFields(t)
	for _, field := range []string{"spec.tenantName", "spec.distributionId", "spec.connectionMode", "spec.targetNamespace", "spec.namespace"} {
		if !fixed[field] {
			t.Errorf("%s can't be changed, and is not found in the CRDs: %v", field, fixed)
		}
	}
	seen := 0
	eachText(t, func(path, text string) {
		for _, m := range advised.FindAllStringSubmatch(text, -1) {
			seen++
			if fixed[m[1]] && text != illegal && !again.MatchString(text) {
				t.Errorf("%s: %s can't be changed, so the advice is refused: %s", path, m[1], text)
			}
		}
	})
	if seen < 20 {
		t.Errorf("only %d messages with advice were found", seen)
	}
}

// A command that is copied from a message runs: nothing is glued to its words, and the text tells where it begins and ends.
// After a colon, prose.Sentence adds no stop.
func TestCommandsCanBeCopied(t *testing.T) {
	seen := 0
	eachText(t, func(path, text string) {
		for part := range strings.SplitSeq(text, " ; ") {
			before, command, found := strings.Cut(part, "kubectl ")
			if !found || strings.HasSuffix(before, `"`) {
				continue // none, or quoted
			}
			seen++
			if before != "" && !strings.HasSuffix(before, ": ") {
				t.Errorf("%s: no colon introduces the command of %q", path, text)
			}
			for word := range strings.FieldsSeq(command) {
				if strings.ContainsAny(word[len(word)-1:], ".,:;)") {
					t.Errorf("%s: %q has more than a command to copy in it: %q", path, text, word)
				}
			}
		}
	})
	if seen < 6 {
		t.Errorf("only %d commands were found", seen)
	}
}

// eachText hands out the texts in the operator's code.
func eachText(t *testing.T, do func(path, text string)) {
	t.Helper()
	err := filepath.WalkDir("../../internal", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "cli" || d.Name() == "testkit") {
			return cmp.Or(err, fs.SkipDir)
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			l, ok := n.(*ast.BasicLit)
			if !ok || l.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(l.Value)
			if err != nil {
				t.Fatal(err)
			}
			do(path, text)
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// fixedFields are the fields of spec that the API server keeps as they are.
func fixedFields(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("../../config/crd/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no CRDs: %v", err)
	}
	out := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &crd); err != nil {
			t.Fatal(err)
		}
		if kind := crd.Spec.Names.Kind; kind == "Invalidation" || kind == "DomainClaim" {
			continue // they stay as they are, and have no policy to advise
		}
		collectFixed("", crd.Spec.Versions[0].Schema.OpenAPIV3Schema, out)
	}
	return out
}

func collectFixed(path string, s *apiextensionsv1.JSONSchemaProps, out map[string]bool) {
	for _, rule := range s.XValidations {
		// A rule with an optional oldSelf is for new objects.
		if strings.Contains(rule.Rule, "oldSelf") && rule.OptionalOldSelf == nil {
			out[strings.TrimPrefix(path+rule.FieldPath, ".")] = true
		}
	}
	for name, child := range s.Properties {
		collectFixed(path+"."+name, &child, out)
	}
}
