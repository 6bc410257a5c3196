package aws_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/sim/aws"
)

func credential(key string) []string {
	return []string{"Authorization", "AWS4-HMAC-SHA256 Credential=" + key + "/20260301/eu-west-1/cloudfront/aws4_request, SignedHeaders=host, Signature=00"}
}

func TestWire(t *testing.T) {
	const create = `<CreateDistributionTenantRequest><Name>acme</Name><DistributionId>E2EXAMPLE1</DistributionId>` +
		`<Domains><ITEM><Domain>acme.example.com</Domain></ITEM></Domains>` +
		`<Parameters><PARAM><Name>tenantId</Name><Value>a&amp;b</Value></PARAM></Parameters><Enabled>true</Enabled></CreateDistributionTenantRequest>`
	names := func(item, param string) string {
		return strings.NewReplacer("ITEM", item, "PARAM", param).Replace(create)
	}
	for name, tc := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"list items called member":                   {names("member", "member"), 201, "<Domains><member><Domain>acme.example.com</Domain><Status>active</Status></member></Domains>"},
		"list items with the names of the reference": {names("DomainItem", "Parameter"), 201, "<Value>a&amp;b</Value>"},
		"a namespace":              {strings.Replace(names("member", "member"), "Request>", `Request xmlns="http://cloudfront.amazonaws.com/doc/2020-05-31/">`, 1), 201, `<DistributionTenant xmlns="http://cloudfront.amazonaws.com/doc/2020-05-31/">`},
		"a prolog and layout":      {"<?xml version=\"1.0\"?>\n" + strings.ReplaceAll(names("member", "member"), "><", ">\n  <"), 201, "<Status>InProgress</Status>"},
		"no XML":                   {"{}", 400, "<Code>MalformedXML</Code>"},
		"half of it":               {names("member", "member")[:100], 400, "<Code>MalformedXML</Code>"},
		"another root":             {"<Something/>", 400, "<Code>MalformedXML</Code>"},
		"two roots":                {"<A/><B/>", 400, "<Code>MalformedXML</Code>"},
		"a boolean that is none":   {strings.Replace(names("member", "member"), ">true<", ">yes<", 1), 400, "<Code>InvalidArgument</Code>"},
		"no body":                  {"", 400, "<Code>InvalidArgument</Code>"},
		"too many elements":        {"<A>" + strings.Repeat("<B/>", 60_000) + "</A>", 400, "<Code>MalformedXML</Code>"},
		"elements nested too deep": {strings.Repeat("<A>", 100) + strings.Repeat("</A>", 100), 400, "<Code>MalformedXML</Code>"},
		"a body of five megabytes": {"<A>" + strings.Repeat("x", 5<<20) + "</A>", 413, "<Code>RequestTooLarge</Code>"},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := raw(t, newSim(t), "POST", "/2020-05-31/distribution-tenant", tc.body)
			if status != tc.status || !strings.Contains(body, tc.want) {
				t.Errorf("answered %d %s; want %d and %s", status, body, tc.status, tc.want)
			}
		})
	}
}

func TestUnknownOperations(t *testing.T) {
	sim := newSim(t)
	for _, path := range []string{"/", "/2020-05-31/", "/2020-05-31/function", "/2013-04-01/healthcheck", "/2020-05-31/distribution-tenant/a/b/c/d"} {
		status, body := raw(t, sim, "GET", path, "")
		if status != 404 || !strings.Contains(body, "<ErrorResponse") || !strings.Contains(body, "<Code>UnknownOperationException</Code>") || !strings.Contains(body, "<RequestId>") {
			t.Errorf("%s answered %d %s", path, status, body)
		}
	}
	if got := sim.Calls()["UnknownOperation"]; got.Total != 5 || got.Errors["UnknownOperationException"] != 5 {
		t.Errorf("calls: %+v", got)
	}
}

func TestEscapedIdentifiers(t *testing.T) {
	sim := newSim(t)
	tenant, _ := mustCreate(t, sim, "acme")
	if status, body := raw(t, sim, "GET", "/2020-05-31/distribution-tenant/"+url.PathEscape(*tenant.Arn), ""); status != 200 {
		t.Errorf("an ARN in the path: %d %s", status, body)
	}
	if status, _ := raw(t, sim, "GET", "/2020-05-31/distribution-tenant/"+*tenant.Arn, ""); status != 404 {
		t.Error("an ARN that is not escaped is two segments")
	}
}

func TestAccounts(t *testing.T) {
	sim := newSim(t)
	for name, tc := range map[string]struct {
		headers []string
		want    string
	}{
		"a seeded key":              {credential("AKIAHOME"), aws.DefaultAccount},
		"a key of another account":  {credential(foreignKey), foreignAcct},
		"a key that was not seeded": {credential("test"), aws.DefaultAccount},
		"no signature":              {nil, aws.DefaultAccount},
	} {
		t.Run(name, func(t *testing.T) {
			raw(t, sim, "GET", "/2020-05-31/distribution", "", tc.headers...)
			entries := sim.Journal()
			if got := entries[len(entries)-1].Account; got != tc.want {
				t.Errorf("account %s, want %s", got, tc.want)
			}
		})
	}
}
