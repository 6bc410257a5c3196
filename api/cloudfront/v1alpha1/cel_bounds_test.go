package v1alpha1_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// setter writes a value, in YAML, into the fields of spec that a case sets.
type setter func(value string) string

// in makes a setter of a format.
func in(format string) setter {
	return func(value string) string { return fmt.Sprintf(format, value) }
}

// into makes a setter of a field of a block.
func (set setter) into(format string) setter {
	return func(value string) string { return set(fmt.Sprintf(format, value)) }
}

// text is the setter of a text, which is quoted.
func (set setter) text(value string) string { return set(q(value)) }

// textBound is how long a text may be.
type textBound struct {
	field string
	// set are the fields of spec with that text in them.
	set func(text string) string
	// longest is how long it may be; start and end are what it has to start and end with.
	longest    int
	start, end string
	// shortest is what is as short as can be; a text without it may be empty.
	shortest string
	// accepts is the longest that its form allows, where that is less than its bound in characters.
	accepts int
	// valid is a text that is taken whatever its length, where none can be as long as the bound.
	valid string
}

// textCases show the shortest and the longest of each text.
func textCases(texts ...textBound) map[string]validationCase {
	cases := map[string]validationCase{}
	for _, text := range texts {
		long := func(n int) string { return text.set(padded(text.start, n-len(text.end)) + text.end) }
		accepted := long(text.longest)
		switch {
		case text.valid != "":
			accepted = text.set(text.valid)
		case text.accepts > 0:
			accepted = long(text.accepts)
		}
		cases[text.field+" is not too long"] = validationCase{
			accepted: accepted, refused: long(text.longest + 1),
			says: []string{"spec." + text.field, "Too long", strconv.Itoa(text.longest)},
		}
		if text.shortest != "" {
			cases[text.field+" is not empty"] = validationCase{
				accepted: text.set(text.shortest), refused: text.set(""),
				says: []string{"spec." + text.field, "at least 1"},
			}
		}
	}
	return cases
}

// numberBound is how small and how large a number may be.
type numberBound struct {
	field       string
	set         setter
	least, most int
}

func numberCases(numbers ...numberBound) map[string]validationCase {
	cases := map[string]validationCase{}
	for _, number := range numbers {
		set := func(n int) string { return number.set(strconv.Itoa(n)) }
		cases[number.field+" is not too small"] = validationCase{
			accepted: set(number.least), refused: set(number.least - 1),
			says: []string{"spec." + number.field, "greater than or equal to " + strconv.Itoa(number.least)},
		}
		cases[number.field+" is not too large"] = validationCase{
			accepted: set(number.most), refused: set(number.most + 1),
			says: []string{"spec." + number.field, "less than or equal to " + strconv.Itoa(number.most)},
		}
	}
	return cases
}

// choice is a field that takes one of a few values.
type choice struct {
	field string
	set   setter
	// takes are all values; others is one that it does not take.
	takes []string
	other string
}

func choiceCases(choices ...choice) map[string]validationCase {
	cases := map[string]validationCase{}
	for _, c := range choices {
		for _, value := range c.takes {
			cases[fmt.Sprintf("%s may be %s and not %s", c.field, value, c.other)] = validationCase{
				accepted: c.set(value), refused: c.set(c.other),
				says: []string{"spec." + c.field, "Unsupported value: ", c.other, strings.Trim(value, `"`)},
			}
		}
	}
	return cases
}

// listBound is how many items a list may have.
type listBound struct {
	field string
	// set gets the list.
	set  setter
	most int
	// item has the number of the item in it.
	item string
	// takes are all items there can be, where these are not as many as may be listed, or not to be numbered.
	takes []string
	// first goes before the numbered items.
	first string
	// least is how many there have to be, 0 or 1.
	least int
}

// taking names all items that there can be.
func (l listBound) taking(items ...string) listBound {
	l.takes = items
	return l
}

// withFirst puts an item that is needed before the others.
func (l listBound) withFirst(item string) listBound {
	l.first = item
	return l
}

// items writes a list of n.
func (l listBound) items(n int) string {
	var items []string
	if l.first != "" {
		items = append(items, l.first)
	}
	for len(items) < n {
		items = append(items, strings.ReplaceAll(l.item, "%d", strconv.Itoa(len(items))))
	}
	return "[" + strings.Join(items, ", ") + "]"
}

func listCases(lists ...listBound) map[string]validationCase {
	cases := map[string]validationCase{}
	for _, l := range lists {
		accepted := l.items(l.most)
		if l.takes != nil {
			accepted = "[" + strings.Join(l.takes, ", ") + "]"
		}
		cases[l.field+" does not have too many items"] = validationCase{
			accepted: l.set(accepted), refused: l.set(l.items(l.most + 1)),
			says: []string{"spec." + l.field, "Too many: " + strconv.Itoa(l.most+1), "at most " + strconv.Itoa(l.most)},
		}
		if l.least > 0 {
			cases[l.field+" has an item"] = validationCase{
				accepted: l.set(accepted), refused: l.set("[]"), says: []string{"spec." + l.field, "at least " + strconv.Itoa(l.least)},
			}
		}
	}
	return cases
}

// requiredCases show that each field of a block has to be there. Fields are those of a block that is whole.
func requiredCases(path string, set setter, whole string, fields ...string) map[string]validationCase {
	cases := map[string]validationCase{}
	for _, field := range fields {
		cases[path+field+" is required"] = validationCase{
			accepted: set(whole), refused: set(overlay(whole, field+": null")), says: []string{"spec." + path + field, "Required"},
		}
	}
	return cases
}

// overlay writes fields over those of a block, all in YAML; a field that is null is taken away.
func overlay(block, fields string) string {
	whole, given := map[string]any{}, map[string]any{}
	for text, into := range map[string]*map[string]any{block: &whole, fields: &given} {
		if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
			panic(fmt.Sprintf("%v in %s", err, text))
		}
	}
	maps.Copy(whole, given)
	maps.DeleteFunc(whole, func(_ string, value any) bool { return value == nil })
	text, err := json.Marshal(whole)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// about picks the cases of some fields.
func about(cases map[string]validationCase, fields ...string) map[string]validationCase {
	picked := map[string]validationCase{}
	for name, tc := range cases {
		for _, field := range fields {
			if strings.HasPrefix(tc.accepted, field+": ") {
				picked[name] = tc
			}
		}
	}
	return picked
}
