package cli

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/printers"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/prose"
)

// view is the answer of a verb, which is shown as text unless the user asks for JSON or YAML.
type view interface {
	text(p *page)
}

// output is the flag -o of a verb.
type output struct{ format string }

func outputOf(c *cobra.Command) *output {
	o := &output{}
	c.Flags().StringVarP(&o.format, "output", "o", "", "print json, yaml, kyaml, jsonpath=TEMPLATE or go-template=TEMPLATE instead of text")
	return o
}

// printer prints objects in the format that the user has asked for.
func (o *output) printer() (printers.ResourcePrinter, error) {
	format, template, _ := strings.Cut(o.format, "=")
	switch format {
	case "json":
		return &printers.JSONPrinter{}, nil
	case "yaml":
		return &printers.YAMLPrinter{}, nil
	case "kyaml":
		return &printers.KYAMLPrinter{}, nil
	case "jsonpath":
		p, err := printers.NewJSONPathPrinter(template)
		if err != nil {
			return nil, fmt.Errorf("reading the template of --output: %w", err)
		}
		p.AllowMissingKeys(true)
		return p, nil
	case "go-template":
		p, err := printers.NewGoTemplatePrinter([]byte(template))
		if err != nil {
			return nil, fmt.Errorf("reading the template of --output: %w", err)
		}
		p.AllowMissingKeys(true)
		return p, nil
	}
	return nil, fmt.Errorf("--output=%s: use json, yaml, kyaml, jsonpath=TEMPLATE or go-template=TEMPLATE", o.format)
}

// print shows a view. kind is what it is called in JSON and YAML.
func (s *session) print(o *output, kind string, v view) error {
	if o == nil || o.format == "" {
		v.text(s.page())
		return nil
	}
	printer, err := o.printer()
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{}
	if u.Object, err = plainJSON[map[string]any](v); err != nil {
		return err
	}
	u.SetAPIVersion("cli." + v1alpha1.SchemeGroupVersion.String())
	u.SetKind(kind)
	return printer.PrintObj(u, s.Streams.Out)
}

// plainJSON is a value as JSON has it, with plain texts. YAML can't have others.
func plainJSON[T any](value any) (out T, err error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, err
	}
	plain(out)
	return out, nil
}

// plain makes the texts in a value of JSON plain. It returns the value, of which maps and lists are changed in place.
func plain(value any) any {
	switch v := value.(type) {
	case string:
		return Plain(v)
	case map[string]any:
		for key := range v {
			v[key] = plain(v[key])
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	}
	return value
}

var cells = regexp.MustCompile(`[^\n\t]+`)

// Plain is a text without characters that control a terminal, but with its own line breaks and tabs.
func Plain(text string) string { return cells.ReplaceAllStringFunc(text, prose.Plain) }

// page is where text is shown.
type page struct {
	w     io.Writer
	now   time.Time
	width int
	// mark stands for the beginning of a color until a line is written. It is random, so that no text of others contains
	// it. Empty: there are no colors.
	mark string
}

func (s *session) page() *page {
	p := &page{w: s.Streams.Out, now: s.Clock.Now(), width: 120}
	if f, ok := s.Streams.Out.(*os.File); ok && isTerminal(f) {
		if os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" {
			p.mark = newMark()
		}
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 40 {
			p.width = width
		}
	}
	return p
}

// newMark draws two characters without a meaning, which are as wide as the beginning of a color.
func newMark() string {
	var random [4]byte
	_, _ = rand.Read(random[:]) // it never fails
	const private = 0xF0000
	return string([]rune{private | rune(random[0])<<8 | rune(random[1]), private | rune(random[2])<<8 | rune(random[3])})
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// The colors.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	bold   = "1"
	faint  = "2"
)

// paint colors a text on a terminal.
func (p *page) paint(color, text string) string {
	if p.mark == "" || text == "" {
		return text
	}
	return p.mark + color + "m" + text + p.mark + "0m"
}

// line shows a line, whose texts may come from others.
func (p *page) line(format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = prose.Plain(text)
		}
	}
	line := fmt.Sprintf(format, args...)
	if p.mark != "" {
		line = strings.ReplaceAll(line, p.mark, "\x1b[")
	}
	fmt.Fprintln(p.w, line)
}

// english writes numbers as people read them.
var english = message.NewPrinter(language.English)

func number[N int | int32 | int64](n N) string { return english.Sprintf("%d", n) }

// count is a number of things.
func count[N int | int32 | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}

// ago is how long something has lasted.
func (p *page) ago(t time.Time) string {
	if t.IsZero() {
		return "?"
	}
	return duration.HumanDuration(p.now.Sub(t))
}

// until is how long it takes until then.
func (p *page) until(t time.Time) string {
	if !t.After(p.now) {
		return "a moment"
	}
	return duration.HumanDuration(t.Sub(p.now))
}

// table aligns rows. The last column is as long as it is, up to the width of the page.
type table struct {
	head []string
	rows [][]string
	// colors are those of the rows' cells; a row may have none.
	colors [][]string
}

func (t *table) add(cells ...string) { t.rows, t.colors = append(t.rows, cells), append(t.colors, nil) }

func (t *table) addColored(colors []string, cells ...string) {
	t.rows, t.colors = append(t.rows, cells), append(t.colors, colors)
}

func (p *page) table(t table) {
	rows, colors := t.rows, t.colors
	if t.head != nil {
		heads := make([]string, len(t.head))
		for i := range heads {
			heads[i] = faint
		}
		rows, colors = append([][]string{t.head}, rows...), append([][]string{heads}, colors...)
	}
	widths := map[int]int{}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			color := ""
			if i < len(colors[n]) {
				color = colors[n][i]
			}
			padding := ""
			if i < len(row)-1 {
				padding = strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+3)
			}
			if color != "" {
				cell = p.paint(color, cell)
			}
			b.WriteString(cell + padding)
		}
		p.line("%s", strings.TrimRight(b.String(), " "))
	}
}

// wrapped shows a text with an indent, in lines that fit.
func (p *page) wrapped(indent, text string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(indent)+utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > p.width {
			p.line("%s%s", indent, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		p.line("%s%s", indent, line)
	}
}

// short cuts a text to a length.
func short(text string, length int) string {
	if utf8.RuneCountInString(text) <= length {
		return text
	}
	return string([]rune(text)[:length-1]) + "…"
}

func orNothing(value string) string {
	if value == "" {
		return "nothing"
	}
	return value
}
