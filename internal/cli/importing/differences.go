package importing

import (
	"fmt"
	"strings"
)

// markdown is the page about what the manifests leave out, and what they would change.
func (f *Fleet) markdown() string {
	var b strings.Builder
	t := f.Tally()
	fmt.Fprintf(&b, "# What differs\n\nThis is about the import of the distribution %s. When the manifests are applied, %s would change nothing but owner tags.\n",
		f.DistributionID, objects(t.Clean))
	for _, section := range []func() (title, text string){f.changes, f.problems, f.skippedPage, f.toolsPage, f.notes, f.grantPage} {
		if title, text := section(); text != "" {
			fmt.Fprintf(&b, "\n## %s\n\n%s", title, text)
		}
	}
	if t.Different == 0 && t.Troubled == 0 && len(f.Skipped) == 0 {
		b.WriteString("\nNothing differs, and nothing was left out.\n")
	}
	return b.String()
}

func objects(n int) string { return count(n, "object") }

func (f *Fleet) changes() (title, text string) {
	var b strings.Builder
	for _, e := range f.Entries() {
		if e.Clean() {
			continue
		}
		when := "The operator changes this when the object is applied:"
		if !e.AtOnce {
			when = "An adopted object stays as it is until its spec changes. The next change of the spec then changes this, too:"
		}
		fmt.Fprintf(&b, "### %s\n\n%s\n\n| field | manifest | AWS |\n|---|---|---|\n", e.heading(), when)
		for _, d := range e.Differences {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(d.Field), cell(d.Desired), cell(d.Observed))
		}
		b.WriteString("\n")
	}
	return "Fields that differ", b.String()
}

func (e *Entry) heading() string {
	return fmt.Sprintf("%s %s (%s)", e.Kind, e.Object.GetName(), e.ID)
}

// cell is a text in a table, as code. An absent value is a dash.
func cell(text string) string {
	if text == "" {
		return "-"
	}
	text = strings.NewReplacer("|", `\|`, "\n", " ", "`", "'").Replace(text)
	return "`" + text + "`"
}

func (f *Fleet) problems() (title, text string) {
	var b strings.Builder
	for _, e := range f.Entries() {
		if e.Problem != nil {
			fmt.Fprintf(&b, "- %s: `%s`: %s\n", e.heading(), e.Problem.Reason, line(e.Problem.Message))
		}
	}
	return "Objects that would not become Ready", b.String()
}

func (f *Fleet) skippedPage() (title, text string) {
	var b strings.Builder
	for _, s := range f.Skipped {
		fmt.Fprintf(&b, "- %s `%s`, %s: %s\n", s.Kind, s.Name, s.Cause, line(s.Reason))
	}
	return "What was not written", b.String()
}

func (f *Fleet) notes() (title, text string) {
	var b strings.Builder
	for _, e := range f.Entries() {
		for _, note := range e.Notes {
			fmt.Fprintf(&b, "- %s: %s\n", e.heading(), line(note))
		}
	}
	return "What the manifests do not say", b.String()
}

func (f *Fleet) grantPage() (title, text string) {
	if f.Grant == nil {
		return "", ""
	}
	var b strings.Builder
	if f.Grant.Object != nil {
		fmt.Fprintf(&b, "The namespace %s needs the EdgeGrant in %s.", f.Namespace, grantsFile)
	} else {
		fmt.Fprintf(&b, "The EdgeGrant %s has to allow more.", strings.Join(f.Grant.Existing, " or "))
	}
	b.WriteString(" Until then, the objects have the reason `NotGranted` and nothing is touched:\n\n")
	for _, refusal := range f.Grant.Refusals {
		fmt.Fprintf(&b, "- %s\n", line(refusal))
	}
	return "Grants", b.String()
}

// line is a text without line breaks.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }
