package aws

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxNodes and maxDepth bound what a request can make the decoder build. A
	// distribution configuration with every quota used has some thousand nodes
	// and nests twelve deep.
	maxNodes = 50_000
	maxDepth = 40
)

// node is an XML element without its attributes. Requests are read into nodes
// rather than structs because for an update the difference between an absent,
// an empty and a filled element carries meaning, and because a distribution's
// configuration is echoed as it was sent.
type node struct {
	name string
	text string
	kids []*node
}

// parseNode reads one XML document. Namespaces and attributes are dropped.
func parseNode(data []byte) (*node, error) {
	decoder := xml.NewDecoder(bytes.NewReader(data))
	var tree treeBuilder
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading XML: %w", err)
		}
		if err := tree.take(token); err != nil {
			return nil, fmt.Errorf("reading XML: %w", err)
		}
	}
	if tree.root == nil {
		return nil, errors.New("reading XML: no element found")
	}
	return tree.root, nil
}

// treeBuilder makes nodes of tokens.
type treeBuilder struct {
	root  *node
	open  []opened
	count int
}

// opened is an element whose end has not been read. The text of an element
// without children is content and stays as it is; between children it is
// layout and is dropped.
type opened struct {
	*node

	chars []byte
}

func (b *treeBuilder) take(token xml.Token) error {
	switch t := token.(type) {
	case xml.StartElement:
		return b.start(&node{name: t.Name.Local})
	case xml.EndElement:
		last := b.open[len(b.open)-1]
		if len(last.kids) == 0 {
			last.text = string(last.chars)
		}
		b.open = b.open[:len(b.open)-1]
	case xml.CharData:
		if len(b.open) > 0 {
			last := &b.open[len(b.open)-1]
			last.chars = append(last.chars, t...)
		}
	}
	return nil
}

func (b *treeBuilder) start(n *node) error {
	b.count++
	switch {
	case !startsName(n.name):
		return fmt.Errorf("%q is not a valid element name", n.name)
	case b.count > maxNodes || len(b.open) >= maxDepth:
		return errors.New("too many or too deeply nested elements")
	case len(b.open) > 0:
		parent := b.open[len(b.open)-1].node
		parent.kids = append(parent.kids, n)
	case b.root != nil:
		return errors.New("more than one root element")
	default:
		b.root = n
	}
	b.open = append(b.open, opened{node: n})
	return nil
}

// startsName reports whether an element of AWS could have the name. encoding/xml looks at a name together with its
// prefix only, and takes <a:0>.
func startsName(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	return first == '_' || first < utf8.RuneSelf && unicode.IsLetter(first)
}

// child returns the first child of that name, nil if there is none. It works on
// a nil node, so paths can be walked without checks in between.
func (n *node) child(name string) *node {
	if n == nil {
		return nil
	}
	for _, kid := range n.kids {
		if kid.name == name {
			return kid
		}
	}
	return nil
}

// at walks a path of child names.
func (n *node) at(path ...string) *node {
	for _, name := range path {
		n = n.child(name)
	}
	return n
}

// str returns the text of the element at a path, "" if it is absent.
func (n *node) str(path ...string) string {
	if found := n.at(path...); found != nil {
		return found.text
	}
	return ""
}

// items returns the children whose name is one of those given. Lists of the
// newer CloudFront operations are "member" in the API model but carry the
// shape's name in the HTML reference, so both are understood.
func (n *node) items(names ...string) []*node {
	if n == nil {
		return nil
	}
	var found []*node
	for _, kid := range n.kids {
		if slices.Contains(names, kid.name) {
			found = append(found, kid)
		}
	}
	return found
}

// boolean reads a boolean child; nil if it is absent.
func (n *node) boolean(name string) (*bool, error) {
	kid := n.child(name)
	if kid == nil {
		return nil, nil
	}
	switch strings.TrimSpace(kid.text) {
	case "true":
		return new(true), nil
	case "false":
		return new(false), nil
	}
	return nil, invalidArgument("The parameter %s must be true or false, got %q.", name, kid.text)
}

// integer reads a decimal child; nil if it is absent.
func (n *node) integer(name string) (*int, error) {
	kid := n.child(name)
	if kid == nil {
		return nil, nil
	}
	value, err := strconv.Atoi(strings.TrimSpace(kid.text))
	if err != nil {
		return nil, invalidArgument("The parameter %s must be a whole number, got %q.", name, kid.text)
	}
	return &value, nil
}

// isTrue tells whether a child is there and true.
func (n *node) isTrue(name string) bool {
	return strings.TrimSpace(n.str(name)) == "true"
}

// number returns an integer child whose form was checked, 0 if it is absent.
func (n *node) number(name string) int { return n.numberOr(name, 0) }

// numberOr does so with another value for an absent one.
func (n *node) numberOr(name string, absent int) int {
	if value, err := n.integer(name); err == nil && value != nil {
		return *value
	}
	return absent
}

// clone returns a deep copy.
func (n *node) clone() *node {
	if n == nil {
		return nil
	}
	c := &node{name: n.name, text: n.text, kids: make([]*node, 0, len(n.kids))}
	for _, kid := range n.kids {
		c.kids = append(c.kids, kid.clone())
	}
	return c
}

// object is the element as JSON has it. Lists are told by what they are called.
func (n *node) object() map[string]any {
	out := make(map[string]any, len(n.kids))
	for _, kid := range n.kids {
		out[kid.name] = kid.value()
	}
	return out
}

func (n *node) value() any {
	switch {
	case n.name == "Items" || n.name == "ParameterDefinitions":
		items := make([]any, 0, len(n.kids))
		for _, kid := range n.kids {
			items = append(items, kid.value())
		}
		return items
	case len(n.kids) > 0:
		return n.object()
	}
	return n.text
}

// set replaces the child of the same name or adds it.
func (n *node) set(kid *node) {
	for i := range n.kids {
		if n.kids[i].name == kid.name {
			n.kids[i] = kid
			return
		}
	}
	n.kids = append(n.kids, kid)
}

// el builds an element; nil children are left out.
func el(name string, kids ...*node) *node {
	n := &node{name: name}
	for _, kid := range kids {
		if kid != nil {
			n.kids = append(n.kids, kid)
		}
	}
	return n
}

// txt builds an element with text.
func txt(name, text string) *node {
	return &node{name: name, text: text}
}

// opt builds an element with text, nil if the text is empty.
func opt(name, text string) *node {
	if text == "" {
		return nil
	}
	return txt(name, text)
}

func boolEl(name string, value bool) *node {
	return txt(name, strconv.FormatBool(value))
}

func intEl(name string, value int) *node {
	return txt(name, strconv.Itoa(value))
}

// document renders the node as an XML document in a namespace.
func (n *node) document(namespace string) []byte {
	var buf bytes.Buffer
	buf.WriteString(xml.Header)
	n.write(&buf, namespace)
	return buf.Bytes()
}

func (n *node) write(buf *bytes.Buffer, namespace string) {
	buf.WriteByte('<')
	buf.WriteString(n.name)
	if namespace != "" {
		buf.WriteString(` xmlns="`)
		escape(buf, namespace)
		buf.WriteByte('"')
	}
	buf.WriteByte('>')
	if len(n.kids) == 0 {
		escape(buf, n.text)
	}
	for _, kid := range n.kids {
		kid.write(buf, "")
	}
	buf.WriteString("</")
	buf.WriteString(n.name)
	buf.WriteByte('>')
}

// escape writes text as XML character data. Writing to a bytes.Buffer cannot
// fail, and xml.EscapeText has no other error.
func escape(buf *bytes.Buffer, text string) {
	_ = xml.EscapeText(buf, []byte(text))
}
