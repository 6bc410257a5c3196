package importing

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Tally counts what the verification has found.
type Tally struct {
	// Clean changes nothing but owner tags, Different differs somewhere. Troubled would not become Ready.
	Clean, Different, Troubled int
}

// Tally counts the entries.
func (f *Fleet) Tally() Tally {
	var t Tally
	for _, e := range f.Entries() {
		if e.Clean() {
			t.Clean++
		} else {
			t.Different++
		}
		if e.Problem != nil {
			t.Troubled++
		}
	}
	return t
}

// Summary is what is said at the end: what was read from AWS, written, verified and skipped, and what to do next. folder is
// where the files are.
func (f *Fleet) Summary(folder string, files int) string {
	var lines [][2]string
	say := func(what, format string, args ...any) {
		lines = append(lines, [2]string{what, fmt.Sprintf(format, args...)})
	}
	say("read", "%s, 1 distribution, %s (%s, and %s for tags)", count(f.Read.Tenants, "tenant"), count(f.Read.Groups, "connection group"),
		count(f.Read.Calls, "call"), number(f.Read.TagCalls))
	if f.Read.Whole {
		say("", "each tenant was read on its own, because the list of AWS does not have parameters")
	}
	say("wrote", "%s: %s (%s)", folder, f.written(), count(files, "file"))
	t, list := f.Tally(), folder+"/"+differences
	say("verified", "%s would change nothing but owner tags", number(t.Clean))
	if t.Different > 0 {
		say("", "%s: %s", differ(t.Different), list)
	}
	if t.Troubled > 0 {
		say("", "%s would not become Ready: %s", number(t.Troubled), list)
	}
	what := "skipped"
	for _, line := range f.skippedLines(list) {
		say(what, "%s", line)
		what = ""
	}
	what = "next"
	for _, line := range f.next(folder) {
		say(what, "%s", line)
		what = ""
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-10s%s", line[0], line[1]), " ") + "\n")
	}
	return b.String()
}

func differ(n int) string {
	if n == 1 {
		return "1 differs"
	}
	return number(n) + " differ"
}

func (f *Fleet) written() string {
	var parts []string
	if f.Distribution != nil {
		parts = append(parts, "1 Distribution")
	}
	if n := len(f.Groups); n > 0 {
		parts = append(parts, count(n, kindGroup))
	}
	if n := len(f.Tenants); n > 0 {
		parts = append(parts, count(n, kindTenant))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// skippedLines count what is skipped, by cause and owner.
func (f *Fleet) skippedLines(list string) []string {
	counts := map[string]int{}
	for _, s := range f.Skipped {
		counts[s.line(list)]++
	}
	var out []string
	for _, line := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, number(counts[line])+" "+line)
	}
	return out
}

func (s Skipped) line(list string) string {
	switch s.Cause {
	case OtherCluster:
		return fmt.Sprintf("owned by cluster %s (--force-owner to include)", s.Owner)
	case Former:
		return "owned by objects that are gone (--force-owner to include)"
	case Managed:
		return "managed by objects of this cluster"
	case DefaultGroup:
		return "default connection group of CloudFront"
	case Invalid:
		return "that the API server would refuse: " + list
	case Gone:
	}
	return "deleted meanwhile"
}

// next are the commands to continue with.
func (f *Fleet) next(folder string) []string {
	if len(f.Entries()) == 0 {
		return []string{"nothing: there is nothing to apply"}
	}
	var out []string
	for _, t := range f.Tools {
		out = append(out, fmt.Sprintf("make %s let go: %s/%s", t.Name, folder, differences))
	}
	switch g := f.Grant; {
	case g == nil:
	case g.Object != nil:
		out = append(out, fmt.Sprintf("kubectl apply -f %s/%s (an administrator of the platform)", folder, grantsFile))
	default:
		out = append(out, fmt.Sprintf("extend the EdgeGrant %s: %s/%s", strings.Join(g.Existing, " or "), folder, differences))
	}
	return append(out, "kubectl diff -k "+folder, "kubectl apply -k "+folder)
}
