package tenantsource

import "testing"

func TestAStreamFollowsTheHostsOfItsGrant(t *testing.T) {
	all, none, some := []string(nil), []string{}, []string{"db.example.com"}
	for i, a := range [][]string{all, none, some} {
		for j, b := range [][]string{all, none, some} {
			if got := sameHosts(a, b); got != (i == j) {
				t.Errorf("%#v and %#v are the same: %t", a, b, got)
			}
		}
	}
}
