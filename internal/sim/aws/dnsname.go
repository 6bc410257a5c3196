package aws

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A DNS name is kept as Route 53 prints it, without the dot at the end: in lower
// case, with every byte but a-z, 0-9, hyphen and underscore as an octal escape.
// So a wildcard's first label is \052, dots only separate labels, and two
// spellings of one name are equal.
const wildcardLabel = `\052`

const (
	maxNameLength  = 255
	maxLabelLength = 63
)

// parseName brings a name to the form it is kept in.
func parseName(text string) (string, error) {
	if text == "." || text == "" {
		return "", fmt.Errorf("the name %q is empty", text)
	}
	var labels []string
	var label strings.Builder
	size, total := 0, 1
	end := func() error {
		switch {
		case size == 0:
			return fmt.Errorf("the name %q has an empty label", text)
		case size > maxLabelLength:
			return fmt.Errorf("the name %q has a label of %d characters, but at most %d are possible", text, size, maxLabelLength)
		}
		labels = append(labels, label.String())
		total += size + 1
		label.Reset()
		size = 0
		return nil
	}
	for rest := strings.TrimSuffix(text, "."); rest != ""; {
		if rest[0] == '.' {
			if err := end(); err != nil {
				return "", err
			}
			rest = rest[1:]
			continue
		}
		b, width, err := nameByte(rest)
		if err != nil {
			return "", fmt.Errorf("the name %q %w", text, err)
		}
		writeNameByte(&label, b)
		size++
		rest = rest[width:]
	}
	if err := end(); err != nil {
		return "", err
	}
	if total > maxNameLength {
		return "", fmt.Errorf("the name %q has %d characters, but at most %d are possible", text, total, maxNameLength)
	}
	return strings.Join(labels, "."), nil
}

// nameByte reads a byte of a name, spelled out or as an octal escape.
func nameByte(text string) (b byte, width int, err error) {
	if text[0] != '\\' {
		if text[0] <= ' ' || text[0] > '~' {
			return 0, 0, fmt.Errorf("has the byte %#x in it, which is to be written as an octal escape", text[0])
		}
		return text[0], 1, nil
	}
	if len(text) < 4 {
		return 0, 0, fmt.Errorf("ends within an escape")
	}
	value, err := strconv.ParseUint(text[1:4], 8, 8)
	if err != nil {
		return 0, 0, fmt.Errorf("has the escape %q in it, which is not octal", text[:4])
	}
	return byte(value), 4, nil
}

func writeNameByte(to *strings.Builder, b byte) {
	switch {
	case b >= 'A' && b <= 'Z':
		to.WriteByte(b - 'A' + 'a')
	case b >= 'a' && b <= 'z', b >= '0' && b <= '9', b == '-', b == '_':
		to.WriteByte(b)
	default:
		fmt.Fprintf(to, `\%03o`, b)
	}
}

// hostName is how people and CloudFront write a name: wildcards with an asterisk.
func hostName(name string) string {
	if rest, wild := strings.CutPrefix(name, wildcardLabel+"."); wild {
		return "*." + rest
	}
	return name
}

// parentName cuts the first label off.
func parentName(name string) (string, bool) {
	_, parent, found := strings.Cut(name, ".")
	return parent, found
}

// withinZone tells whether a name is the zone's or below it.
func withinZone(name, zone string) bool {
	return name == zone || strings.HasSuffix(name, "."+zone)
}

// sortKey turns a name into what Route 53 sorts by: labels reversed, escapes as
// they are, with a dot at the end. That dot makes "a-b" come before "a", and
// keeps what is below a name right behind it.
func sortKey(name string) string {
	labels := strings.Split(name, ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".") + "."
}
