// Package overlay builds the operator with deliberate mistakes in it: a test that does not notice them proves nothing.
package overlay

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// modulePath begins the import path of each package of the operator.
const modulePath = "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/"

// Replacement gives a function of the operator another body. The signature stays, and so do the names of parameters and
// receiver. In the body "original" is the function as it is: a call of it, original(in), may stand anywhere.
type Replacement struct {
	// Dir is the directory of the package, Function one like Relate, Place.Has or (*pass).create.
	Dir, Function, Body string
	// Imports are the packages that the body names; those of the operator by their directories.
	Imports []string
}

// Source is the operator's source with functions replaced: the files that change, by their paths. The sources on disk stay
// as they are.
type Source struct {
	root  string
	files map[string]string
	// replaced counts the functions.
	replaced int
}

// Of is the source in a checkout before anything in it is replaced.
func Of(root string) *Source { return &Source{root: root, files: map[string]string{}} }

// Apply adds the replacements of a mutation to those that are there already. A function that was replaced before is
// replaced once more.
func (s *Source) Apply(mutation string, replacements ...Replacement) error {
	for _, r := range replacements {
		path, err := s.declaring(r)
		if err != nil {
			return fmt.Errorf("the mutation %q: %w", mutation, err)
		}
		s.replaced++
		if s.files[path], err = r.in(s.files[path], fmt.Sprintf("AsItIs%d", s.replaced), mutation); err != nil {
			return fmt.Errorf("the mutation %q: %s in %s: %w", mutation, r.Function, r.Dir, err)
		}
	}
	return nil
}

// declaring finds the file that has the function, and reads it.
func (s *Source) declaring(r Replacement) (string, error) {
	paths, err := filepath.Glob(filepath.Join(s.root, filepath.FromSlash(r.Dir), "*.go"))
	if err != nil {
		return "", err
	}
	for _, path := range paths {
		text, changed := s.files[path]
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		if !changed {
			read, err := os.ReadFile(path)
			if err != nil {
				return "", err
			}
			text = string(read)
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			return "", err
		}
		if find(file, r.Function) != nil {
			s.files[path] = text
			return path, nil
		}
	}
	return "", fmt.Errorf("the package %s has no function %s: the code has moved on; name the function that decides this today", r.Dir, r.Function)
}

// find returns the declaration of a function or method, nil when the file has none of that name.
func find(file *ast.File, function string) *ast.FuncDecl {
	for _, d := range file.Decls {
		if f, is := d.(*ast.FuncDecl); is && nameOf(f) == function {
			return f
		}
	}
	return nil
}

// nameOf is a function's name with its receiver, without type parameters: Relate, Place.Has, (*pass).create.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	star, pointer := receiver.(*ast.StarExpr)
	if pointer {
		receiver = star.X
	}
	switch generic := receiver.(type) {
	case *ast.IndexExpr:
		receiver = generic.X
	case *ast.IndexListExpr:
		receiver = generic.X
	}
	if pointer {
		return "(*" + types.ExprString(receiver) + ")." + f.Name.Name
	}
	return types.ExprString(receiver) + "." + f.Name.Name
}

var originalWord = regexp.MustCompile(`\boriginal\b`)

// in returns the text of a file with the function renamed, by the suffix, and another one under its name. The
// compiler's messages about that one name the mutation in place of a file.
func (r Replacement) in(text, suffix, mutation string) (string, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	f := find(file, r.Function)
	offset := func(p token.Pos) int { return set.PositionFor(p, false).Offset }
	original := f.Name.Name + suffix
	if f.Recv != nil && len(f.Recv.List[0].Names) > 0 {
		original = f.Recv.List[0].Names[0].Name + "." + original
	}
	signature := text[offset(f.Type.Pos()):offset(f.Type.End())]
	body := originalWord.ReplaceAllLiteralString(r.Body, original)
	text = fmt.Sprintf("%s%s%s\n//line mutation %s:1\n%s {\n%s\n}\n",
		text[:offset(f.Name.End())], suffix, text[offset(f.Name.End()):], strings.ReplaceAll(mutation, ":", ","), signature, body)
	head := offset(file.Name.End())
	return text[:head] + r.missingImports(file) + text[head:], nil
}

// missingImports are the imports that a file needs for the body, in the line of its package clause: the numbers of the
// lines stay.
func (r Replacement) missingImports(file *ast.File) (text string) {
	for _, path := range r.Imports {
		if strings.HasPrefix(path, "internal/") || strings.HasPrefix(path, "api/") {
			path = modulePath + path
		}
		quoted := strconv.Quote(path)
		if !slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == quoted }) {
			text += "; import " + quoted
		}
	}
	return text
}

// Write writes what go build needs to compile the overlay, and returns its path.
func (s *Source) Write(dir string) (string, error) {
	replace := map[string]string{}
	for n, path := range slices.Sorted(maps.Keys(s.files)) {
		replace[path] = filepath.Join(dir, fmt.Sprintf("%d-%s", n, filepath.Base(path)))
		if err := os.WriteFile(replace[path], []byte(s.files[path]), 0o644); err != nil {
			return "", fmt.Errorf("writing the overlay: %w", err)
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("writing the overlay: %w", err)
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o644)
}
