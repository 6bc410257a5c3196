package crash_test

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

// replacement gives a function of the operator another body. The signature stays, and so do the names of parameters and
// receiver. In the body "original" is the function as it is: a call of it, original(in), may stand anywhere.
type replacement struct {
	// dir is the directory of the package, function one like Relate, Place.Has or (*pass).create.
	dir, function, body string
	// imports are the packages that the body names; those of the operator by their directories.
	imports []string
}

// overlay is the operator's source with functions replaced: the files that change, by their paths.
type overlay struct {
	root  string
	files map[string]string
	// replaced counts the functions.
	replaced int
}

// apply adds the replacements of a mutation to those that are there already. A function that was replaced before is
// replaced once more.
func (o *overlay) apply(m mutation) error {
	for _, r := range m.replacements {
		path, err := o.declaring(r)
		if err != nil {
			return fmt.Errorf("the mutation %q: %w", m.name, err)
		}
		o.replaced++
		if o.files[path], err = r.in(o.files[path], fmt.Sprintf("AsItIs%d", o.replaced), m.name); err != nil {
			return fmt.Errorf("the mutation %q: %s in %s: %w", m.name, r.function, r.dir, err)
		}
	}
	return nil
}

// declaring finds the file that has the function, and reads it.
func (o *overlay) declaring(r replacement) (string, error) {
	paths, err := filepath.Glob(filepath.Join(o.root, filepath.FromSlash(r.dir), "*.go"))
	if err != nil {
		return "", err
	}
	for _, path := range paths {
		text, changed := o.files[path]
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
		if find(file, r.function) != nil {
			o.files[path] = text
			return path, nil
		}
	}
	return "", fmt.Errorf("the package %s has no function %s: the code has moved on; name the function that decides this today", r.dir, r.function)
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

// in returns the text of a file with the function renamed, by the suffix, and another one under its name. What the
// compiler says of that one names the mutation in place of a file.
func (r replacement) in(text, suffix, mutation string) (string, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	f := find(file, r.function)
	offset := func(p token.Pos) int { return set.PositionFor(p, false).Offset }
	original := f.Name.Name + suffix
	if f.Recv != nil && len(f.Recv.List[0].Names) > 0 {
		original = f.Recv.List[0].Names[0].Name + "." + original
	}
	signature := text[offset(f.Type.Pos()):offset(f.Type.End())]
	body := originalWord.ReplaceAllLiteralString(r.body, original)
	text = fmt.Sprintf("%s%s%s\n//line mutation %s:1\n%s {\n%s\n}\n",
		text[:offset(f.Name.End())], suffix, text[offset(f.Name.End()):], strings.ReplaceAll(mutation, ":", ","), signature, body)
	head := offset(file.Name.End())
	return text[:head] + r.missingImports(file) + text[head:], nil
}

// missingImports are the imports that a file needs for the body, in the line of its package clause: the numbers of the
// lines stay.
func (r replacement) missingImports(file *ast.File) (text string) {
	for _, path := range r.imports {
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

// write writes what go build needs to compile the overlay, and returns its path.
func (o *overlay) write(dir string) (string, error) {
	replace := map[string]string{}
	for n, path := range slices.Sorted(maps.Keys(o.files)) {
		replace[path] = filepath.Join(dir, fmt.Sprintf("%d-%s", n, filepath.Base(path)))
		if err := os.WriteFile(replace[path], []byte(o.files[path]), 0o644); err != nil {
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
