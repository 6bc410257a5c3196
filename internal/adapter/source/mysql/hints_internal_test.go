package mysql

import (
	"crypto/sha256"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// result is what a run returns: rows of a key and a version, the latest change first.
func result(rows ...[2]string) seen {
	s := seen{keys: map[sum]string{}}
	for _, row := range rows {
		s.last = sha256.Sum256([]byte(row[0] + "\n" + row[1]))
		s.keys[s.last] = row[0]
	}
	return s
}

func TestWhichRowsHaveChanged(t *testing.T) {
	before := result([2]string{"c", "1"}, [2]string{"b", "1"}, [2]string{"a", "1"})
	for name, c := range map[string]struct {
		now  seen
		want []string
	}{
		"a changed row":                             {result([2]string{"b", "2"}, [2]string{"c", "1"}, [2]string{"a", "1"}), []string{"b"}},
		"a changed and a new row":                   {result([2]string{"d", "1"}, [2]string{"b", "2"}, [2]string{"c", "1"}), []string{"b", "d"}},
		"one row stays, and others are left out":    {result([2]string{"c", "1"}, [2]string{"e", "1"}, [2]string{"d", "1"}), nil},
		"an older row has come, as one was deleted": {result([2]string{"c", "1"}, [2]string{"b", "1"}, [2]string{"z", "1"}), nil},
		"a row without a key":                       {result([2]string{"", "2"}, [2]string{"c", "1"}, [2]string{"a", "1"}), nil},
		"no rows":                                   {result(), nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.now.since(before)
			slices.Sort(got)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
