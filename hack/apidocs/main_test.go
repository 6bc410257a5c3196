package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// onePage is what crd-ref-docs writes, in small: two groups, and a type that two kinds use.
const onePage = `# API Reference

## Packages
- [example.io/v1](#exampleiov1)


## example.io/v1

Package v1 is one.


### Resource Types
- [Box](#box)
- [Crate](#crate)



#### Box



Box is a box
with a lid. It holds things.



| Field | Description | Default | Validation |
| --- | --- | --- | --- |
| ` + "`spec`" + ` _[BoxSpec](#boxspec)_ | spec is all. |  | Required: \{\} <br /> |


#### BoxSpec



_Appears in:_
- [Box](#box)

| ` + "`lid`" + ` _[Lid](#lid)_ | lid closes it. |  | Optional: \{\} <br /> |


#### Crate

Crate is a crate.

| ` + "`lid`" + ` _[Lid](#lid)_ | lid closes it. |  | MaxLength: 3 <br />Optional: \{\} <br /> |


#### Lid

_Appears in:_
- [BoxSpec](#boxspec)
- [Crate](#crate)
- [Inlined](#inlined)

| ` + "`Flat`" + ` | LidFlat is flat.<br /> |


#### Inlined

Inlined is a part of others, and no field leads to it.


## other.io/v2

### Resource Types
- [Tray](#tray)



#### Tray

Tray is a tray.
`

func TestSplit(t *testing.T) {
	t.Parallel()
	pages, err := split(onePage)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"api.md", "api/box.md", "api/crate.md", "api/tray.md"}
	if d := cmp.Diff(want, slices.Sorted(maps.Keys(pages))); d != "" {
		t.Fatalf("pages (-want +got):\n%s", d)
	}
	for name, c := range map[string]struct {
		page       string
		has, lacks []string
	}{
		"a kind is the title of its page, and its types follow in the order in which they are met": {
			page: "api/box.md", has: []string{"# Box\n\nBox is a box\nwith a lid. It holds things.\n", "\n## BoxSpec\n\n", "\n## Lid\n\n"},
			lacks: []string{"Crate", "Inlined", "Tray", "\n\n\n"},
		},
		"a type that two kinds use is on the page of each, without the other one": {
			page: "api/crate.md", has: []string{"\n## Lid\n\n_Appears in:_\n- [Crate](#crate)\n\n"}, lacks: []string{"BoxSpec"},
		},
		"what the renderer leaves at the end of cells is taken away": {
			page: "api/crate.md", has: []string{"|  | MaxLength: 3 <br />Optional |", "LidFlat is flat. |"}, lacks: []string{`\{\}`, "<br /> |"},
		},
		"a kind without fields has a page": {page: "api/tray.md", has: []string{"# Tray\n\nTray is a tray.\n"}},
		"the index has each kind with its description, and each type with its pages": {
			page: "api.md",
			has: []string{
				"## example.io/v1\n", "| [Box](api/box.md) | Box is a box with a lid. It holds things. |\n", "## other.io/v2\n",
				"| `Lid` | [Box](api/box.md#lid), [Crate](api/crate.md#lid) |\n",
			},
			lacks: []string{"Inlined"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, want := range c.has {
				if !strings.Contains(pages[c.page], want) {
					t.Errorf("%s has no %q:\n%s", c.page, want, pages[c.page])
				}
			}
			for _, unwanted := range c.lacks {
				if strings.Contains(pages[c.page], unwanted) {
					t.Errorf("%s has %q:\n%s", c.page, unwanted, pages[c.page])
				}
			}
		})
	}
}

func TestALayoutThatIsNotKnownIsAnError(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no kinds at all":        "# API Reference\n\n## example.io/v1\n\nText.\n",
		"a kind without section": "## example.io/v1\n\n### Resource Types\n- [Box](#box)\n\n#### Crate\n\nCrate is a crate.\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if pages, err := split(text); err == nil {
				t.Errorf("it is split into %v", pages)
			}
		})
	}
}
