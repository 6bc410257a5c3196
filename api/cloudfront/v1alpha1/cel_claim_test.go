package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/kubectl"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/limits"
)

// longestDomain is as long as a domain may be.
var longestDomain = strings.Repeat("a.", 125) + "com"

func claimCases() map[string]limits.Case {
	const shop = "domain: shop.example.com"
	cases := map[string]limits.Case{
		"a claim has a domain":                       {Accepted: shop, Refused: "domain: null", Says: []string{"spec.domain", "Required"}},
		"a domain is not empty":                      {Accepted: shop, Refused: `domain: ""`, Says: []string{"spec.domain", "at least 1"}},
		"a domain has at most 253 characters":        {Name: longestDomain, Accepted: "domain: " + longestDomain, Refused: "domain: a" + longestDomain, Says: []string{"spec.domain", "Too long", "253"}},
		"a claim is named by its domain":             {Accepted: shop, Refused: "domain: other.example.com", Says: []string{"spec.domain", `set metadata.name to "other.example.com"`}},
		"a claim for a wildcard has a name for that": {Name: "0wildcard.example.com", Accepted: `domain: "*.example.com"`, Refused: "domain: example.com", Says: []string{`set metadata.name to "example.com"`}},
		"and a wildcard is not claimed by another": {
			Name: "example.com", Accepted: "domain: example.com", Refused: `domain: "*.example.com"`, Says: []string{`set metadata.name to "0wildcard.example.com"`},
		},
		"a domain does not begin with the name of a wildcard": {
			Name: "0wildcard.example.com", Accepted: `domain: "*.example.com"`, Refused: "domain: 0wildcard.example.com", Says: []string{"spec.domain", "write *.example.com"},
		},
		"a domain stays": {
			Name: "stays.example.com", Stored: "domain: stays.example.com", Accepted: "{domain: stays.example.com, namespace: other}",
			Refused: "domain: moves.example.com", Says: []string{"spec.domain", `is "stays.example.com"`, "create another one"},
		},
		"a domain is in lower case":      {Accepted: shop, Refused: "domain: Shop.example.com", Says: []string{"spec.domain", `write "shop.example.com"`}},
		"a domain is in punycode":        {Name: "xn--bcher-kva.example.com", Accepted: "domain: xn--bcher-kva.example.com", Refused: "domain: bücher.example.com", Says: []string{"spec.domain", "in punycode"}},
		"a domain has no dot at its end": {Accepted: shop, Refused: "domain: shop.example.com.", Says: []string{"spec.domain", "ends with a dot"}},
		"a domain is fully qualified":    {Accepted: shop, Refused: "domain: shop", Says: []string{"spec.domain", "not a fully qualified domain name"}},
		"a claim has a namespace":        {Accepted: "namespace: shop", Refused: "namespace: null", Says: []string{"spec.namespace", "Required"}},
		"a namespace has a name":         {Accepted: "namespace: s", Refused: `namespace: ""`, Says: []string{"spec.namespace", "at least 1"}},
		"a namespace has a short name":   {Accepted: "namespace: " + strings.Repeat("s", 63), Refused: "namespace: " + strings.Repeat("s", 64), Says: []string{"spec.namespace", "Too long", "63"}},
		"a receiver needs a hand-over": {
			Accepted: "{domain: shop.example.com, handOver: true, tenantRef: {name: acme}}", Refused: "{domain: shop.example.com, tenantRef: {name: acme}}",
			Says: []string{"spec.tenantRef", "set handOver to true to move the domain to acme"},
		},
		"and a hand-over that is switched off has none": {
			Accepted: "{domain: shop.example.com, handOver: true}", Refused: "{domain: shop.example.com, handOver: false, tenantRef: {name: acme}}", Says: []string{"spec.tenantRef", "remove tenantRef to reserve it"},
		},
		"a receiver has a name": {
			Accepted: "{domain: shop.example.com, handOver: true, tenantRef: {name: a}}", Refused: `{domain: shop.example.com, handOver: true, tenantRef: {name: ""}}`, Says: []string{"spec.tenantRef.name", "at least 1"},
		},
		"and names a receiver": {
			Accepted: "{domain: shop.example.com, handOver: true, tenantRef: {name: a}}", Refused: "{domain: shop.example.com, handOver: true, tenantRef: {}}", Says: []string{"spec.tenantRef.name", "Required"},
		},
		"a receiver has a name of at most 253 characters": {
			Accepted: "{domain: shop.example.com, handOver: true, tenantRef: {name: " + longestDomain + "}}", Refused: "{domain: shop.example.com, handOver: true, tenantRef: {name: a" + longestDomain + "}}", Says: []string{"spec.tenantRef.name", "Too long", "253"},
		},
		"a distribution gives a domain only in a hand-over": {
			Accepted: "{domain: shop.example.com, handOver: true, fromDistributionId: E2OLD}", Refused: "{domain: shop.example.com, fromDistributionId: E2OLD}",
			Says: []string{"spec.fromDistributionId", `fromDistributionId is "E2OLD": set handOver to true to move the domain`},
		},
		"and not where that is switched off": {
			Accepted: "{domain: shop.example.com, handOver: true}", Refused: "{domain: shop.example.com, handOver: false, fromDistributionId: E2OLD}", Says: []string{"spec.fromDistributionId", "remove fromDistributionId to reserve it"},
		},
		"a distribution has an ID": {
			Accepted: "{domain: shop.example.com, handOver: true, fromDistributionId: E}", Refused: `{domain: shop.example.com, handOver: true, fromDistributionId: ""}`, Says: []string{"spec.fromDistributionId", "at least 1"},
		},
		"and the ID is not its domain name": {
			Accepted: "{domain: shop.example.com, handOver: true, fromDistributionId: E2OLD}", Refused: "{domain: shop.example.com, handOver: true, fromDistributionId: d111.cloudfront.net}", Says: []string{"spec.fromDistributionId", `"d111.cloudfront.net" is not a distribution ID`, "use the ID"},
		},
		"an ID has at most 64 characters": {
			Accepted: "{domain: shop.example.com, handOver: true, fromDistributionId: " + strings.Repeat("E", 64) + "}", Refused: "{domain: shop.example.com, handOver: true, fromDistributionId: " + strings.Repeat("E", 65) + "}", Says: []string{"spec.fromDistributionId", "Too long", "64"},
		},
		"a namespace has a name of its own form": {Accepted: "namespace: shop-1", Refused: "namespace: Shop_1", Says: []string{"spec.namespace", `"Shop_1" is not the name of a namespace`}},
	}
	for name, tc := range cases {
		if tc.Name == "" {
			tc.Name = "shop.example.com"
		}
		cases[name] = tc
	}
	return cases
}

func TestHowKubectlShowsClaims(t *testing.T) {
	table := kubectl.Table(t, restConfig, v1alpha1.SchemeGroupVersion, "", "domainclaims")
	narrow, wide := kubectl.Columns(table)
	if diff := cmp.Diff([]string{"Name", "PHASE", "NAMESPACE", "SUBDOMAINS", "UNTIL", "AGE"}, narrow); diff != "" {
		t.Errorf("columns of kubectl get (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"FROM"}, wide); diff != "" {
		t.Errorf("further columns of kubectl get -o wide (-want +got):\n%s", diff)
	}
}
