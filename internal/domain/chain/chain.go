// Package chain is what every kind of object decides with: an ordered list of rules, of which the first that fires names
// the one step that comes next, and the words in which the outcome is told.
package chain

// Rule is one question about an input I. It answers with a decision D, or lets the next rule speak.
type Rule[I, D any] struct {
	Name, About string
	Apply       func(I) (D, bool)
}

// Ask makes a rule: about says what it sees to.
func Ask[I, D any](name, about string, apply func(I) (D, bool)) Rule[I, D] {
	return Rule[I, D]{Name: name, About: about, Apply: apply}
}

// Decide asks the rules in their order, and returns the first answer with the name of its rule. fires is false when none
// has anything to say.
func Decide[I, D any](rules []Rule[I, D], in I) (decision D, name string, fires bool) {
	for _, r := range rules {
		if d, fires := r.Apply(in); fires {
			return d, r.Name, true
		}
	}
	return decision, "", false
}

// Decision is the outcome of a chain whose steps are an S.
type Decision[S Step] struct {
	// Rule is the name of the rule that fired.
	Rule string
	Step S
	// Problem is what keeps the object from being Ready, nil when nothing does.
	Problem *Problem
}

// Entry names a rule, for the documentation.
type Entry struct{ Name, About string }

// List names the rules in their order.
func List[I, D any](rules []Rule[I, D]) []Entry {
	out := make([]Entry, len(rules))
	for i, r := range rules {
		out[i] = Entry{Name: r.Name, About: r.About}
	}
	return out
}
