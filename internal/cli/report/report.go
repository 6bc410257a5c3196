// Package report draws a fleet as one static page of HTML, which needs no server and loads nothing.
package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"time"
)

// Data is what a page shows.
type Data struct {
	Title string
	Made  time.Time
	// Operator is the version of the operator, if it is known.
	Operator  string
	Fleet     Counts
	Reasons   []Bar
	Objects   []Object
	More      int
	Weeks     []Week
	Unknown   int
	Drift     []Drift
	Drifted   int
	Plans     []Progress
	Sources   []Source
	Customers *Counts
}

// Counts are objects by what they need.
type Counts struct{ Total, Ready, Working, Person int }

// Bar is how many tenants have a reason. State is the class in the style sheet.
type Bar struct {
	Reason string
	Count  int
	State  string
}

// Object is one that needs an action.
type Object struct {
	Kind, Name, Reason, Since, Message, Fix string
}

// Week is how many certificates expire in a week from now. Names are some of them.
type Week struct {
	Label        string
	Certificates int
	Tenants      int
	Names        string
	// State colors it.
	State string
}

// Drift is a field in which AWS differs from the spec.
type Drift struct{ Tenant, Field, Spec, AWS string }

// Progress is how far the roll-out of a plan is.
type Progress struct {
	Name                  string
	Tenants, Done, Failed int
}

// Source is a table of customers.
type Source struct {
	Name, Reason, State  string
	Rows, Rejected, Held int
}

//go:embed page.html
var files embed.FS

var page = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"percent": percent, "number": number, "most": most, "mostInWeek": mostInWeek, "height": height,
}).ParseFS(files, "page.html"))

// Write draws the page.
func Write(w io.Writer, d Data) error { return page.Execute(w, d) }

// percent is a share as CSS has it.
func percent(part, whole int) template.CSS {
	if whole == 0 {
		return "0%"
	}
	return template.CSS(fmt.Sprintf("%.2f%%", 100*float64(part)/float64(whole))) //nolint:gosec // a number is no code
}

func number(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func most(bars []Bar) (n int) {
	for _, b := range bars {
		n = max(n, b.Count)
	}
	return n
}

func mostInWeek(weeks []Week) (n int) {
	for _, w := range weeks {
		n = max(n, w.Certificates)
	}
	return n
}

// height is that of a bar of a week in pixels. A bar that is not zero can be seen.
func height(n, highest int) int {
	if n == 0 || highest == 0 {
		return 0
	}
	return max(4, 120*n/highest)
}
