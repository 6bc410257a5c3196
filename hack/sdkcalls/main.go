// Command sdkcalls prints the operations that the operator can ask AWS for, sorted, one on each line:
// "cloudfront:GetDistribution". Its argument is the folder of the operator's module. It is a module of its own, so that
// what reads Go code is not among the requirements of the operator.
package main

import (
	"errors"
	"fmt"
	"go/types"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

const (
	binary  = "./cmd/operator"
	sdkPath = "github.com/aws/aws-sdk-go-v2/service/"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: sdkcalls DIR")
		os.Exit(2)
	}
	found, err := calls(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "sdkcalls:", err)
		os.Exit(1)
	}
	fmt.Println(strings.Join(found, "\n"))
}

// calls lists the operations. One is used where its method of the SDK's client is named, or the input that only it takes: a
// paginator and an interface hide the method, but they need the input.
func calls(dir string) ([]string, error) {
	paths, err := ownPackages(dir)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	loaded, err := load(dir, packages.LoadSyntax, paths...)
	if err != nil {
		return nil, err
	}
	for _, p := range loaded {
		for _, object := range p.TypesInfo.Uses {
			if c, ok := operation(object); ok {
				found[c] = true
			}
		}
	}
	if len(found) == 0 {
		return nil, errors.New("found no calls of the AWS SDK, which must be wrong")
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// ownPackages are those of this module that the operator is built from.
func ownPackages(dir string) ([]string, error) {
	roots, err := load(dir, packages.NeedName|packages.NeedImports|packages.NeedDeps|packages.NeedModule, binary)
	if err != nil {
		return nil, err
	}
	var paths []string
	packages.Visit(roots, nil, func(p *packages.Package) {
		if p.Module != nil && p.Module.Main {
			paths = append(paths, p.PkgPath)
		}
	})
	return paths, nil
}

func load(dir string, mode packages.LoadMode, patterns ...string) ([]*packages.Package, error) {
	loaded, err := packages.Load(&packages.Config{Mode: mode, Dir: dir}, patterns...)
	if err != nil {
		return nil, fmt.Errorf("loading %s: %w", strings.Join(patterns, " "), err)
	}
	for _, p := range loaded {
		for _, e := range p.Errors {
			return nil, fmt.Errorf("loading %s: %w", p.PkgPath, e)
		}
	}
	return loaded, nil
}

// operation tells which operation of which service an object of the SDK represents.
func operation(object types.Object) (string, bool) {
	if object.Pkg() == nil || !strings.HasPrefix(object.Pkg().Path(), sdkPath) {
		return "", false
	}
	name := object.Name()
	if _, isType := object.(*types.TypeName); isType {
		var isInput bool
		if name, isInput = strings.CutSuffix(name, "Input"); !isInput {
			return "", false
		}
	}
	client, ok := object.Pkg().Scope().Lookup("Client").(*types.TypeName)
	if !ok {
		return "", false
	}
	method, _, _ := types.LookupFieldOrMethod(types.NewPointer(client.Type()), true, object.Pkg(), name)
	f, ok := method.(*types.Func)
	if !ok || f.Signature().Params().Len() != 3 || !f.Signature().Variadic() {
		// Client.Options and the like call no API.
		return "", false
	}
	return strings.TrimPrefix(object.Pkg().Path(), sdkPath) + ":" + name, true
}
