package main

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOwnEvents(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source string
		want   []ownEvent
		fails  string
	}{
		"one in a group": {
			"const (\n// eventX (Normal; Tenant): it is\n// done.\neventX = \"X\"\n)",
			[]ownEvent{{"X", "Normal", "Tenant", "it is done."}}, "",
		},
		"one alone": {
			"// EventX (Warning; Tenant, TenantPlan): it broke.\nconst EventX = \"X\"",
			[]ownEvent{{"X", "Warning", "Tenant, TenantPlan", "it broke."}}, "",
		},
		"other constants": {"const (\neventTimeout = 5\nother = \"x\"\neventually = \"y\"\n)", nil, ""},
		"without a type":  {"// EventX tells of X.\nconst EventX = \"X\"", nil, "EventX"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "events.go"), []byte("package p\n\n"+c.source+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := ownEvents(folder)
			switch {
			case c.fails == "" && err != nil, c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
				t.Fatalf("got %v, want %q", err, c.fails)
			case c.fails == "":
				if d := cmp.Diff(c.want, got, cmp.AllowUnexported(ownEvent{})); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

// The page is generated from constants: a reason that is written where the event is made would not be on it.
func TestReasonsOfEventsAreConstantsOrConditions(t *testing.T) {
	t.Parallel()
	found := 0
	err := goFiles(filepath.Join(moduleRoot, "internal"), func(file *ast.File) error {
		ast.Inspect(file, func(n ast.Node) bool {
			r := reasonIn(n)
			if literal, ok := r.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				t.Errorf("package %s: the event %s has no constant: name one event..., with a comment as the others have", file.Name.Name, literal.Value)
			}
			if r != nil {
				found++
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 15 {
		t.Errorf("found %d events only: are they made in another way now?", found)
	}
}

// reasonIn is the reason of an event that is made there, or told by a pass; nil of anything else.
func reasonIn(n ast.Node) ast.Expr {
	switch n := n.(type) {
	case *ast.CompositeLit:
		if name := lastName(n.Type); name != "" && name != "Event" {
			return nil
		}
		for _, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok && lastName(kv.Key) == "Reason" && eventShaped(n) {
				return kv.Value
			}
		}
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "tell" && lastName(f.X) == "p" && len(n.Args) == 2 {
			return n.Args[0]
		}
	}
	return nil
}

// eventShaped tells an event from another literal without a type of its own, as in a slice.
func eventShaped(n *ast.CompositeLit) bool {
	for _, e := range n.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		switch lastName(kv.Key) {
		case "Warning", "Reason", "Message":
		default:
			return false
		}
	}
	return true
}

func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// All events in the tests of the domain have to be on the page.
func TestPageHasWellKnownReasons(t *testing.T) {
	t.Parallel()
	page, err := eventsPage(moduleRoot)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		"| `DriftCorrected` | Warning |", "| `NamespaceDeleted` | Normal |",
		"| Distribution, ConnectionGroup | its deletion waits for its tenants | Warning | `InUse` |",
	} {
		if !strings.Contains(page, row) {
			t.Errorf("the page has no %s", strconv.Quote(row))
		}
	}
	for _, quiet := range []string{"`PendingValidation`", "`DNSPropagating`"} {
		if strings.Contains(strings.TrimSuffix(page, eventsEnd), quiet) {
			t.Errorf("%s has no event, and is on the page", quiet)
		}
	}
}
