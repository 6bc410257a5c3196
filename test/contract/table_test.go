package contract

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
)

// row is one of the table of conditions and reasons that users of the operator before this one rely on.
type row struct {
	condition, status, reason string
	// person means that someone has to act.
	person bool
}

func (r row) String() string { return fmt.Sprintf("%s=%s/%s", r.condition, r.status, r.reason) }

// contract reads the table from the page on which it is promised.
func contract(t *testing.T) map[string]row {
	t.Helper()
	text, err := os.ReadFile("../../docs/reference/predecessor-conditions.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]row{}
	in := false
	for line := range strings.Lines(string(text)) {
		if in = strings.HasPrefix(line, "| condition | status | reason |") || in && strings.HasPrefix(line, "|"); !in {
			continue
		}
		cells := strings.Split(line, "|")
		if len(cells) != 8 {
			t.Fatalf("a row of %d cells: %s", len(cells), line)
		}
		for i := range cells {
			cells[i] = strings.Trim(cells[i], " `")
		}
		r := row{condition: cells[1], status: cells[2], reason: cells[3], person: cells[5] == "yes"}
		if r.status == "True" || r.status == "False" {
			rows[r.String()] = r
		}
	}
	if len(rows) < 27 {
		t.Fatalf("the page has %d rows of the contract", len(rows))
	}
	return rows
}

// Each row of the contract has a state of the world that leads to it, and Stalled agrees with the row about whether
// someone has to act.
func TestTheContract(t *testing.T) {
	t.Parallel()
	rows := contract(t)
	shown := map[string]bool{}
	for name, state := range tenantStates() {
		shown[state.row] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, known := rows[state.row]
			if !known {
				r = parsed(state.row)
				r.person = chain.NeedsPerson(chain.Reason(r.reason))
				if !extra(chain.Reason(r.reason)) {
					t.Fatalf("the page has no row %s", state.row)
				}
			}
			o := tenantAfter(state.changes...)
			c := meta.FindStatusCondition(o.Status.Conditions, r.condition)
			if c == nil || string(c.Status) != r.status || c.Reason != r.reason {
				t.Fatalf("%s: %+v", r, o.Status.Conditions)
			}
			checkStalled(t, r, *c, stalled(o.Status.Conditions))
		})
	}
	for row := range rows {
		if !shown[row] {
			t.Errorf("no state of the world leads to %s", row)
		}
	}
}

func parsed(text string) row {
	condition, rest, _ := strings.Cut(text, "=")
	status, reason, _ := strings.Cut(rest, "/")
	return row{condition: condition, status: status, reason: reason}
}

// checkStalled checks that Stalled repeats the condition if someone has to act, and is absent otherwise.
func checkStalled(t *testing.T, r row, c metav1.Condition, s *metav1.Condition) {
	t.Helper()
	switch {
	case r.person && s == nil:
		t.Errorf("%s needs a person, and nothing is stalled", r)
	case !r.person && s != nil:
		t.Errorf("%s needs no person, and is stalled: %+v", r, s)
	case r.person && (s.Status != metav1.ConditionTrue || s.Reason != c.Reason || s.Message != c.Message || s.ObservedGeneration != c.ObservedGeneration):
		t.Errorf("Stalled is not that of the condition: %+v, %+v", s, c)
	}
}
