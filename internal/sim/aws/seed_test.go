package aws_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

// fullSeed uses every field.
const fullSeed = `
accounts:
- id: "111122223333"
  accessKeys: [AKIAHOME]
- id: "444455556666"
  accessKeys: [AKIAOTHER]
certificates:
- arn: arn:aws:acm:us-east-1:111122223333:certificate/wild
  names: ["*.example.com", example.com]
- arn: arn:aws:acm:us-east-1:111122223333:certificate/old
  names: [old.example.com]
  status: EXPIRED
  type: IMPORTED
  notAfter: 2020-01-01T00:00:00Z
distributions:
- id: E2EXAMPLE1
  comment: shared
  certificateArn: arn:aws:acm:us-east-1:111122223333:certificate/wild
  originDomain: "{{tenantId}}.origin.example.com"
  parameters:
  - {name: tenantId, required: true}
  - {name: tier, default: basic}
  tags: {team: edge}
- id: E2STANDARD
  connectionMode: direct
  enabled: false
  certificateArn: arn:aws:acm:us-east-1:111122223333:certificate/wild
  aliases: [www.example.com]
- id: E2OTHER
  account: "444455556666"
connectionGroups:
- id: cg_home
  name: home
  routingEndpoint: d111111abcdef8.cloudfront.net
  ipv6: false
  anycastIpListId: aip_1
  tags: {team: edge}
- default: true
tenants:
- name: acme
  id: dt_acme
  distributionId: E2EXAMPLE1
  connectionGroupId: cg_home
  domains: [acme.customer.org, "*.acme.customer.org"]
  parameters: {tenantId: acme}
  certificateArn: arn:aws:acm:us-east-1:111122223333:certificate/wild
  tags: {owner: somebody}
- name: other
  account: "444455556666"
  distributionId: E2OTHER
  domains: [other.example.net]
  enabled: false
resolvingDomains: [live.customer.org, "*.customer.net"]
quotas: {tenants: 7}
`

func TestParseSeed(t *testing.T) {
	parsed, err := aws.ParseSeed("seed.yaml", []byte(fullSeed))
	if err != nil {
		t.Fatal(err)
	}
	sim := aws.New(aws.Options{Clock: testClock{startTime}, Seed: &parsed, DeployDelay: 1})
	home := sim.State().Accounts[0]
	tenant := home.Tenants[0]
	if tenant.Status != "Deployed" || tenant.ID != "dt_acme" || tenant.ConnectionGroupID != "cg_home" || !tenant.Enabled {
		t.Errorf("tenant: %+v", tenant)
	}
	if diff := cmp.Diff(map[string]string{"acme.customer.org": "active", "*.acme.customer.org": "active"}, tenant.Domains); diff != "" {
		t.Errorf("domains (-want +got):\n%s", diff)
	}
	want := []aws.SeedParameter{{Name: "tenantId", Required: true}, {Name: "tier", Default: "basic"}}
	if diff := cmp.Diff(want, home.Distributions[0].Parameters); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
	if d := home.Distributions[1]; d.Enabled || d.ConnectionMode != "direct" || d.Aliases[0] != "www.example.com" {
		t.Errorf("standard distribution: %+v", d)
	}
	if g := home.ConnectionGroups; g[0].RoutingEndpoint != "d111111abcdef8.cloudfront.net" || g[0].IPv6 || !g[1].Default || g[1].Name != "CreatedByCloudFront-"+g[1].ID {
		t.Errorf("groups: %+v", g)
	}
	if c := home.Certificates; len(c) != 2 || c[1].Status != "EXPIRED" {
		t.Errorf("certificates: %+v", c)
	}
	if sim.Quotas().Tenants != 7 || len(sim.Resolving()) != 2 {
		t.Errorf("quotas %+v, resolving %v", sim.Quotas(), sim.Resolving())
	}
}

func TestParseSeedRefusals(t *testing.T) {
	const head = "certificates:\n- {arn: 'arn:aws:acm:us-east-1:111122223333:certificate/w', names: ['*.example.com']}\n"
	for name, tc := range map[string]struct {
		yaml string
		want []string
	}{
		"no YAML":                         {"accounts: [", []string{"seed.yaml"}},
		"an unknown field":                {"distribution: []", []string{"seed.yaml", "distribution", "docs/contributing/simulator.md"}},
		"a number as an account id":       {"accounts: [{id: 012345670123}]", []string{"accounts[0].id", "in quotes"}},
		"a short account id":              {"accounts: [{id: '123'}]", []string{"accounts[0].id", "123", "12 digits"}},
		"an access key in two accounts":   {"accounts: [{id: '111122223333', accessKeys: [K]}, {id: '444455556666', accessKeys: [K]}]", []string{"accounts[1].accessKeys", `"K"`}},
		"a certificate in another region": {"certificates: [{arn: 'arn:aws:acm:eu-west-1:111122223333:certificate/w', names: [a.b]}]", []string{"certificates[0].arn", "us-east-1"}},
		"a certificate without names":     {"certificates: [{arn: 'arn:aws:acm:us-east-1:111122223333:certificate/w'}]", []string{"certificates[0].names"}},
		"a certificate for no name":       {"certificates: [{arn: 'arn:aws:acm:us-east-1:111122223333:certificate/w', names: [X]}]", []string{"certificates[0].names", `"X"`}},
		"a state no certificate has":      {"certificates: [{arn: 'arn:aws:acm:us-east-1:111122223333:certificate/w', names: [a.b], status: issued}]", []string{"certificates[0].status", "ISSUED"}},
		"an account that can't exist":     {"distributions: [{id: E1, account: me}]", []string{"distributions[0].account", "me"}},
		"a distribution id in lower case": {"distributions: [{id: e1}]", []string{"distributions[0].id", "upper-case"}},
		"a distribution id given twice":   {"distributions: [{id: E1}, {id: E1}]", []string{"distributions[1].id", "exists"}},
		"an unknown certificate":          {"distributions: [{id: E1, certificateArn: 'arn:aws:acm:us-east-1:111122223333:certificate/w'}]", []string{"distributions[0]", "E1", "does not exist"}},
		"an undefined parameter":          {"distributions: [{id: E1, originDomain: '{{x}}.example.com'}]", []string{"distributions[0]", "x"}},
		"a group id of another shape":     {"connectionGroups: [{id: home}]", []string{"connectionGroups[0].id", "cg_"}},
		"a group name given twice":        {"connectionGroups: [{name: a}, {id: cg_2, name: a}]", []string{"connectionGroups[1].name"}},
		"two default groups":              {"connectionGroups: [{name: a, default: true}, {name: b, default: true}]", []string{"connectionGroups[1].default"}},
		"an endpoint that is none":        {"connectionGroups: [{name: a, routingEndpoint: example.com}]", []string{"connectionGroups[0].routingEndpoint"}},
		"a tenant of no distribution":     {"tenants: [{name: acme, distributionId: E1, domains: [a.example.com]}]", []string{"tenants[0]", "E1"}},
		"a tenant without its parameter":  {head + "distributions: [{id: E1, parameters: [{name: p, required: true}]}]\ntenants: [{name: acme, distributionId: E1, domains: [a.example.com]}]", []string{"tenants[0]", "p is missing"}},
		"a domain given to two tenants":   {head + "distributions: [{id: E1}]\ntenants: [{name: one, distributionId: E1, domains: [a.example.com]}, {name: two, distributionId: E1, domains: [a.example.com]}]", []string{"tenants[1]", "a.example.com"}},
		"a tenant id of another shape":    {head + "distributions: [{id: E1}]\ntenants: [{id: x, name: one, distributionId: E1, domains: [a.example.com]}]", []string{"tenants[0].id"}},
		"a tenant domain that is none":    {head + "distributions: [{id: E1}]\ntenants: [{name: one, distributionId: E1, domains: [X]}]", []string{"tenants[0].domains", `"X"`}},
		"a reserved tag":                  {"distributions: [{id: E1, tags: {'aws:x': y}}]", []string{"distributions[0].tags", "aws:"}},
		"a resolving domain that is none": {"resolvingDomains: [ok.example.com, Bad]", []string{"resolvingDomains[1]", "Bad"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := aws.ParseSeed("seed.yaml", []byte(tc.yaml))
			if err == nil {
				t.Fatal("it was accepted")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v: does not mention %q", err, want)
				}
			}
		})
	}
}

// TestDocumentedSeed holds the example of the documentation against the code.
func TestDocumentedSeed(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/contributing/simulator.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(doc), "```yaml\n")
	example, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("docs/contributing/simulator.md has no yaml block")
	}
	if _, err := aws.ParseSeed("docs/contributing/simulator.md", []byte(example)); err != nil {
		t.Error(err)
	}
	for _, name := range aws.SwitchNames() {
		if !strings.Contains(string(doc), "`"+name+"`") {
			t.Errorf("docs/contributing/simulator.md does not explain the switch %s", name)
		}
	}
	for _, name := range aws.Operations() {
		if !strings.Contains(string(doc), name) {
			t.Errorf("docs/contributing/simulator.md does not list the operation %s", name)
		}
	}
}
