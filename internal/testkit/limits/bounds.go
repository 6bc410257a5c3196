package limits

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// Setter writes a value, in YAML, into the fields of spec that a case sets.
type Setter func(value string) string

// In makes a Setter of a format.
func In(format string) Setter {
	return func(value string) string { return fmt.Sprintf(format, value) }
}

// Into makes a Setter of a field of a block.
func (set Setter) Into(format string) Setter {
	return func(value string) string { return set(fmt.Sprintf(format, value)) }
}

// Text is the Setter of a text, which is quoted.
func (set Setter) Text(value string) string { return set(Quote(value)) }

// TextBound is how long a text may be.
type TextBound struct {
	Field string
	// Set are the fields of spec with that text in them.
	Set func(text string) string
	// Longest is how long it may be; Start and End are what it has to start and end with.
	Longest    int
	Start, End string
	// Shortest is what is as short as can be; a text without it may be empty.
	Shortest string
	// Accepts is the longest that its form allows, where that is less than its bound in characters.
	Accepts int
	// Valid is a text that is taken whatever its length, where none can be as long as the bound.
	Valid string
}

// Texts show the shortest and the longest of each text.
func Texts(texts ...TextBound) map[string]Case {
	cases := map[string]Case{}
	for _, text := range texts {
		long := func(n int) string { return text.Set(Padded(text.Start, n-len(text.End)) + text.End) }
		accepted := long(text.Longest)
		switch {
		case text.Valid != "":
			accepted = text.Set(text.Valid)
		case text.Accepts > 0:
			accepted = long(text.Accepts)
		}
		cases[text.Field+" is not too long"] = Case{
			Accepted: accepted, Refused: long(text.Longest + 1),
			Says: []string{"spec." + text.Field, "Too long", strconv.Itoa(text.Longest)},
		}
		if text.Shortest != "" {
			cases[text.Field+" is not empty"] = Case{
				Accepted: text.Set(text.Shortest), Refused: text.Set(""),
				Says: []string{"spec." + text.Field, "at least 1"},
			}
		}
	}
	return cases
}

// NumberBound is how small and how large a number may be.
type NumberBound struct {
	field       string
	set         Setter
	least, most int
}

// Number bounds a number.
func Number(field string, set Setter, least, most int) NumberBound {
	return NumberBound{field, set, least, most}
}

// Numbers show the least and the greatest of each number.
func Numbers(numbers ...NumberBound) map[string]Case {
	cases := map[string]Case{}
	for _, number := range numbers {
		set := func(n int) string { return number.set(strconv.Itoa(n)) }
		cases[number.field+" is not too small"] = Case{
			Accepted: set(number.least), Refused: set(number.least - 1),
			Says: []string{"spec." + number.field, "greater than or equal to " + strconv.Itoa(number.least)},
		}
		cases[number.field+" is not too large"] = Case{
			Accepted: set(number.most), Refused: set(number.most + 1),
			Says: []string{"spec." + number.field, "less than or equal to " + strconv.Itoa(number.most)},
		}
	}
	return cases
}

// ChoiceOf is a field that takes one of a few values.
type ChoiceOf struct {
	field string
	set   Setter
	takes []string
	other string
}

// Choice names all values that a field takes, and one that it does not take.
func Choice(field string, set Setter, takes []string, other string) ChoiceOf {
	return ChoiceOf{field, set, takes, other}
}

// Choices show each value that a field takes, and the one that it does not take.
func Choices(choices ...ChoiceOf) map[string]Case {
	cases := map[string]Case{}
	for _, c := range choices {
		for _, value := range c.takes {
			cases[fmt.Sprintf("%s may be %s and not %s", c.field, value, c.other)] = Case{
				Accepted: c.set(value), Refused: c.set(c.other),
				Says: []string{"spec." + c.field, "Unsupported value: ", c.other, strings.Trim(value, `"`)},
			}
		}
	}
	return cases
}

// ListBound is how many items a list may have.
type ListBound struct {
	Field string
	// Set gets the list.
	Set  Setter
	Most int
	// Item has the number of the item in it.
	Item string
	// Takes are all items there can be, where these are not as many as may be listed, or not to be numbered.
	Takes []string
	// First goes before the numbered items.
	First string
	// Least is how many there have to be, 0 or 1.
	Least int
}

// Taking names all items that there can be.
func (l ListBound) Taking(items ...string) ListBound {
	l.Takes = items
	return l
}

// WithFirst puts an item that is needed before the others.
func (l ListBound) WithFirst(item string) ListBound {
	l.First = item
	return l
}

// items writes a list of n.
func (l ListBound) items(n int) string {
	var items []string
	if l.First != "" {
		items = append(items, l.First)
	}
	for len(items) < n {
		items = append(items, strings.ReplaceAll(l.Item, "%d", strconv.Itoa(len(items))))
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// Lists show the least and the greatest number of items of each list.
func Lists(lists ...ListBound) map[string]Case {
	cases := map[string]Case{}
	for _, l := range lists {
		accepted := l.items(l.Most)
		if l.Takes != nil {
			accepted = "[" + strings.Join(l.Takes, ", ") + "]"
		}
		cases[l.Field+" does not have too many items"] = Case{
			Accepted: l.Set(accepted), Refused: l.Set(l.items(l.Most + 1)),
			Says: []string{"spec." + l.Field, "Too many: " + strconv.Itoa(l.Most+1), "at most " + strconv.Itoa(l.Most)},
		}
		if l.Least > 0 {
			cases[l.Field+" has an item"] = Case{
				Accepted: l.Set(accepted), Refused: l.Set("[]"), Says: []string{"spec." + l.Field, "at least " + strconv.Itoa(l.Least)},
			}
		}
	}
	return cases
}

// Required show that each field of a block has to be there. Fields are those of a block that is whole.
func Required(path string, set Setter, whole string, fields ...string) map[string]Case {
	cases := map[string]Case{}
	for _, field := range fields {
		cases[path+field+" is required"] = Case{
			Accepted: set(whole), Refused: set(Overlay(whole, field+": null")), Says: []string{"spec." + path + field, "Required"},
		}
	}
	return cases
}

// Overlay writes fields over those of a block, all in YAML; a field that is null is taken away.
func Overlay(block, fields string) string {
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
