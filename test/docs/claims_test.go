package docs

import (
	"regexp"
	"strings"
	"testing"
)

// features are what there is, by the page and heading that describe it, with the claims that it makes false.
var features = []struct {
	page, anchor string
	denials      []string
}{
	{"docs/grants.md", "several-aws-accounts", []string{
		`one release works with one account`, `one for cloudfront and acm`, `dns and dynamodb only`,
		`(install|needs?) (a second|another) release (with|for) another (identity|account)`,
	}},
	{"docs/grants.md", "from-one-team-to-many", []string{
		`install one for each`, `if they trust each other\. otherwise`, `a release for each`, `kubernetes permissions cannot limit this`,
	}},
	{"docs/deletion-budget.md", "", []string{`for rows of a source only`, `no guard (against|for) (mass )?deletions?`}},
	{"docs/kubectl-cfdt.md", "read-aws", []string{`which no operator does`, `for sources \(.dryrun.\) only`}},
	{"docs/kubectl-cfdt.md", "move-a-domain", []string{`will plan and do a hand-over`}},
	{"docs/dns/accounts.md", "", []string{`only route 53 is supported`, `works with route 53 only`}},
	{"docs/state-table.md", "", []string{`(write|needs?) a poller`, `never writes to (a|your) database`}},
	{"docs/tenantsource.md", "log-in-with-aws-iam", []string{`iam (database )?authentication is not supported`}},
	{"docs/key-values.md", "", []string{`key value stores? (is|are) not supported`}},
	{"docs/migration/standard-distributions.md", "", []string{`only (for )?fleets that are tenants already`}},
	{"docs/customer-onboarding.md", "", []string{`public dns is not (asked|looked at)`}},
}

// TestNoPageDeniesAFeature holds that pages written before a feature were brought along with it.
func TestNoPageDeniesAFeature(t *testing.T) {
	anchors, texts := map[string]map[string]bool{}, map[string]string{}
	for _, p := range pages(t) {
		anchors[p.name] = p.anchors()
		if !strings.HasPrefix(p.name, "docs/proposals/") && !strings.HasPrefix(p.name, "docs/decisions/") && p.name != "CHANGELOG.md" {
			texts[p.name] = strings.ToLower(strings.Join(strings.Fields(p.everything()), " "))
		}
	}
	for _, f := range features {
		if a, exists := anchors[f.page]; !exists || f.anchor != "" && !a[f.anchor] {
			t.Errorf("%s#%s, which describes a feature, does not exist", f.page, f.anchor)
		}
		for _, denial := range f.denials {
			claim := regexp.MustCompile(denial)
			for name, text := range texts {
				if at := claim.FindStringIndex(text); at != nil {
					t.Errorf("%s says %q, which %s makes false", name, text[max(0, at[0]-40):min(len(text), at[1]+40)], f.page)
				}
			}
		}
	}
}
