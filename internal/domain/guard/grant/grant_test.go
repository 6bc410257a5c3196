package grant_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/grant"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/identity"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func of(name string, namespaces ...string) grant.Grant {
	return grant.Grant{Name: name, Namespaces: grant.Namespaces{Names: namespaces}}
}

func labelled(name, team string) grant.Grant {
	g := of(name)
	g.Namespaces.Selects = func(labels map[string]string) bool { return labels["team"] == team }
	return g
}

func TestWhichGrantANamespaceHas(t *testing.T) {
	t.Parallel()
	fallback := grant.Grant{Name: grant.Default}
	others, named := of(grant.Default, "play*"), of(grant.Default, "shop-*")
	byLabel := labelled(grant.Default, "shop")
	for name, c := range map[string]struct {
		grants   []grant.Grant
		fallback *grant.Grant
		want     string
		rivals   []string
		passed   bool
	}{
		"a default that names other namespaces is not for it":      {fallback: &others, passed: true},
		"one that names it is":                                     {fallback: &named, want: grant.Default},
		"one that selects it by labels is, too":                    {fallback: &byLabel, want: grant.Default},
		"even then, any other grant is stronger":                   {fallback: &named, grants: []grant.Grant{of("b", "*")}, want: "b"},
		"without any it has none":                                  {},
		"the default is for those that no other selects":           {fallback: &fallback, grants: []grant.Grant{of("other", "other")}, want: grant.Default},
		"an exact name is stronger than a prefix":                  {grants: []grant.Grant{of("a", "shop-*"), of("b", "shop-eu")}, want: "b"},
		"a longer prefix is stronger than a shorter one":           {grants: []grant.Grant{of("a", "shop-*"), of("b", "sh*")}, want: "a"},
		"a prefix is stronger than labels":                         {grants: []grant.Grant{labelled("a", "shop"), of("b", "s*")}, want: "b"},
		"labels are stronger than the star":                        {grants: []grant.Grant{labelled("a", "shop"), of("b", "*")}, want: "a"},
		"the star is stronger than the default":                    {grants: []grant.Grant{of("b", "*")}, fallback: &fallback, want: "b"},
		"of two that name it equally it has none, not the default": {grants: []grant.Grant{of("b", "shop-eu"), of("a", "shop-eu")}, fallback: &fallback, rivals: []string{"a", "b"}},
		"rivals that a stronger one beats don't matter":            {grants: []grant.Grant{of("a", "s*"), of("b", "s*"), of("c", "shop-eu")}, want: "c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := grant.NewSet(c.grants, c.fallback).For(grant.Namespace{Name: "shop-eu", Labels: map[string]string{"team": "shop"}})
			got := ""
			if s.Grant != nil {
				got = s.Grant.Name
			}
			if got != c.want {
				t.Errorf("it has %q, want %q", got, c.want)
			}
			if diff := cmp.Diff(c.rivals, s.Rivals); diff != "" || s.Passed != c.passed {
				t.Errorf("the default has passed it: %t %s", s.Passed, diff)
			}
		})
	}
}

// An account is reached with a role that AWS takes, if there is one.
func TestARefusedRoleIsTheLastToBeUsed(t *testing.T) {
	t.Parallel()
	with := func(name, role string, refused bool) grant.Grant {
		return grant.Grant{Name: name, Account: grant.Account{ID: "444455556666", RoleARN: role}, RoleRefused: refused}
	}
	var got []string
	for _, a := range grant.NewSet([]grant.Grant{with("d", "", false), with("c", "r", false), with("b", "r", false), with("a", "r", true)}, nil).Accesses() {
		got = append(got, a.Grant)
	}
	if d := cmp.Diff([]string{"b", "c", "a"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A domain has to be proven where each entry that grants it says so.
func TestWhichDomainsHaveToBeProven(t *testing.T) {
	t.Parallel()
	g := grant.Grant{Wildcards: true, Domains: []grant.Domain{
		{Suffix: "shop.example.com"}, {Suffix: "*", Except: []string{"example.com"}, Proven: true}, {Suffix: "lab.example.com", Proven: true}, {Suffix: "free.org"},
	}}
	for domain, want := range map[string]bool{
		"a.shop.example.com": false, "customer.org": true, "*.customer.org": true, "lab.example.com": true, "*.lab.example.com": true,
		"free.org": false, "a.free.org": false, "*.free.org": false, "*.org": true, "other.example.com": false,
	} {
		if got := g.DemandsProof(domain); got != want {
			t.Errorf("%s: %t", domain, got)
		}
	}
}

// The order in which grants are made does not matter.
func TestTheOrderOfGrantsDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var grants []grant.Grant
		for i := range rapid.IntRange(0, 5).Draw(t, "grants") {
			grants = append(grants, of(fmt.Sprintf("g%d", i), rapid.SliceOfN(rapid.SampledFrom([]string{"a", "ab", "a*", "ab*", "*", "b"}), 1, 2).Draw(t, "names")...))
		}
		shuffled := rapid.Permutation(grants).Draw(t, "shuffled")
		ns := grant.Namespace{Name: rapid.SampledFrom([]string{"a", "ab", "abc", "b", "c"}).Draw(t, "namespace")}
		one, two := grant.NewSet(grants, nil).For(ns), grant.NewSet(shuffled, nil).For(ns)
		if (one.Grant == nil) != (two.Grant == nil) || one.Grant != nil && one.Grant.Name != two.Grant.Name || !cmp.Equal(one.Rivals, two.Rivals) {
			t.Fatalf("%+v and %+v", one, two)
		}
	})
}

func full(t *testing.T) grant.Grant {
	t.Helper()
	roles, err := identity.ParseRolePatterns([]string{"arn:aws:iam::111122223333:role/shop-*"})
	if err != nil {
		t.Fatal(err)
	}
	return grant.Grant{
		Name: "shop", Kinds: []string{"DistributionTenant"},
		Distributions: []grant.Distribution{{Is: "E1", Parameters: map[string][]string{"customer": {"shop-*"}}}, {Is: "platform/main"}},
		Groups:        []string{"cg_1", "platform/eu"},
		Domains:       []grant.Domain{{Suffix: "shop.example.com"}, {Suffix: "*", Except: []string{"example.com"}}},
		DNS:           &grant.DNS{Zones: []grant.Zone{{ID: "Z1"}}, Takeover: grant.TakeoverNever}, Roles: roles,
		Certificates: []string{"arn:aws:acm:us-east-1:111122223333:certificate/shop-*"}, WebACLs: []string{"acl-1"},
		Tables: []string{"customers-shop"}, Hosts: []string{"*.db.example.com:5432", "plain.example.com"},
		Logins:   []string{"reader@*.db.example.com:5432", "reader@master.shop.example.com:6379/shop"},
		Adoption: &grant.Adoption{Names: []string{"shop-*"}, Until: now.Add(time.Hour)},
	}
}

func TestWhatAGrantAllows(t *testing.T) {
	t.Parallel()
	g := full(t)
	wild, forced, open := full(t), full(t), full(t)
	wild.Wildcards, forced.Adoption.Force, open.Distributions, open.DNS.Takeover, open.NoWebACL = true, true, []grant.Distribution{{Is: "*"}}, grant.TakeoverAny, true
	narrow := full(t)
	narrow.Origins, narrow.VPCOrigins, narrow.AccessControls = []string{"*.shop.example.com"}, []string{"vo_shop"}, []string{"EOAC1"}
	narrow.Functions, narrow.KeyGroups = []string{"arn:aws:cloudfront::111122223333:function/shop-*"}, []string{"key-1"}
	narrow.Encryptions, narrow.LogBuckets, narrow.GeoRestrictions = []string{"FLE1"}, []string{"shop-*.s3.amazonaws.com"}, true
	proving, stores := full(t), full(t)
	proving.Domains[1].Proven = true
	stores.Stores = []grant.Store{{ARN: "s", Keys: []string{"shared-*"}}, {ARN: "s", Keys: []string{"legacy-*"}, Takeover: true}, {ARN: "t"}}
	for name, c := range map[string]struct {
		grant grant.Grant
		want  grant.Want
		at    time.Time
		// refusal is a part of it; empty where it is allowed.
		refusal string
	}{
		"a kind that is listed":                           {g, grant.Want{Thing: grant.AKind, Value: "DistributionTenant"}, now, ""},
		"a kind that is not":                              {g, grant.Want{Thing: grant.AKind, Value: "Distribution"}, now, "does not allow objects of the kind Distribution, only DistributionTenant"},
		"a distribution by its ID":                        {g, grant.Want{Thing: grant.ADistribution, Value: "E1"}, now, ""},
		"one that is not listed":                          {g, grant.Want{Thing: grant.ADistribution, Value: "E2"}, now, "does not allow the distribution E2, only E1, platform/main"},
		"a distribution object of another namespace":      {g, grant.Want{Thing: grant.ADistribution, Value: "platform/main"}, now, ""},
		"the star stands for every ID":                    {open, grant.Want{Thing: grant.ADistribution, Value: "E2"}, now, ""},
		"and for no object of another namespace":          {open, grant.Want{Thing: grant.ADistribution, Value: "platform/main"}, now, "does not allow the distribution platform/main of another namespace: it has to list the object, and an ID such as * is not enough. Ask"},
		"of which only those that it names are told":      {g, grant.Want{Thing: grant.ADistribution, Value: "platform/other"}, now, "does not allow the distribution platform/other of another namespace, only platform/main. Ask"},
		"a connection group by its ID":                    {g, grant.Want{Thing: grant.AGroup, Value: "cg_1"}, now, ""},
		"another one":                                     {g, grant.Want{Thing: grant.AGroup, Value: "cg_2"}, now, "connection group cg_2"},
		"a parameter's value":                             {g, grant.Want{Thing: grant.AParameter, Of: "E1", Name: "customer", Value: "shop-7"}, now, ""},
		"a value that is not listed":                      {g, grant.Want{Thing: grant.AParameter, Of: "E1", Name: "customer", Value: "bank"}, now, "does not allow the value bank, only shop-*"},
		"a parameter without limits":                      {g, grant.Want{Thing: grant.AParameter, Of: "E1", Name: "color", Value: "bank"}, now, ""},
		"of a distribution without limits":                {g, grant.Want{Thing: grant.AParameter, Of: "platform/main", Name: "customer", Value: "bank"}, now, ""},
		"a domain below a suffix":                         {g, grant.Want{Thing: grant.ADomain, Value: "a.shop.example.com"}, now, ""},
		"the suffix itself":                               {g, grant.Want{Thing: grant.ADomain, Value: "shop.example.com"}, now, ""},
		"a domain that only ends alike":                   {g, grant.Want{Thing: grant.ADomain, Value: "webshop.example.com"}, now, "does not allow the domain webshop.example.com"},
		"any other domain":                                {g, grant.Want{Thing: grant.ADomain, Value: "customer.org"}, now, ""},
		"but not an exception":                            {g, grant.Want{Thing: grant.ADomain, Value: "example.com"}, now, "only shop.example.com, all domains except example.com"},
		"a wildcard":                                      {g, grant.Want{Thing: grant.ADomain, Value: "*.shop.example.com"}, now, "does not allow the domain *.shop.example.com, because its field wildcards is not true. Ask"},
		"a wildcard where they are allowed":               {wild, grant.Want{Thing: grant.ADomain, Value: "*.shop.example.com"}, now, ""},
		"a wildcard that covers an exception":             {wild, grant.Want{Thing: grant.ADomain, Value: "*.com"}, now, "the domain *.com"},
		"one that covers only its neighbors":              {wild, grant.Want{Thing: grant.ADomain, Value: "*.org"}, now, ""},
		"an alias":                                        {g, grant.Want{Thing: grant.AnAlias, Value: "a.shop.example.com"}, now, ""},
		"an alias that would have to be proven":           {proving, grant.Want{Thing: grant.AnAlias, Value: "customer.org"}, now, "does not allow the alias customer.org, only shop.example.com."},
		"a domain that has to be proven":                  {proving, grant.Want{Thing: grant.ADomain, Value: "customer.org"}, now, ""},
		"which a refusal tells":                           {proving, grant.Want{Thing: grant.ADomain, Value: "example.com"}, now, "only shop.example.com, all domains except example.com (if proven)"},
		"a certificate by a pattern":                      {g, grant.Want{Thing: grant.ACertificate, Value: "arn:aws:acm:us-east-1:111122223333:certificate/shop-1"}, now, ""},
		"another certificate":                             {g, grant.Want{Thing: grant.ACertificate, Value: "arn:aws:acm:us-east-1:111122223333:certificate/bank"}, now, "certificate/bank"},
		"a web ACL":                                       {g, grant.Want{Thing: grant.AWebACL, Value: "acl-1"}, now, ""},
		"another web ACL":                                 {g, grant.Want{Thing: grant.AWebACL, Value: "acl-2"}, now, "the web ACL acl-2, only acl-1"},
		"no web ACL":                                      {g, grant.Want{Thing: grant.NoWebACL}, now, "does not allow disabling the web ACL."},
		"no web ACL where that is allowed":                {open, grant.Want{Thing: grant.NoWebACL}, now, ""},
		"any origin where none is listed":                 {g, grant.Want{Thing: grant.AnOrigin, Value: "api.bank.example.com"}, now, ""},
		"an origin by a pattern":                          {narrow, grant.Want{Thing: grant.AnOrigin, Value: "{{tenant}}.shop.example.com"}, now, ""},
		"another origin":                                  {narrow, grant.Want{Thing: grant.AnOrigin, Value: "api.bank.example.com"}, now, "does not allow the origin api.bank.example.com, only *.shop.example.com. Ask"},
		"an origin that each tenant chooses":              {narrow, grant.Want{Thing: grant.AnOrigin, Value: "{{host}}"}, now, "does not allow the origin {{host}}"},
		"a VPC origin that is listed":                     {narrow, grant.Want{Thing: grant.AVPCOrigin, Value: "vo_shop"}, now, ""},
		"another team's VPC origin":                       {narrow, grant.Want{Thing: grant.AVPCOrigin, Value: "vo_bank"}, now, "does not allow the VPC origin vo_bank, only vo_shop"},
		"a VPC origin where none is listed":               {g, grant.Want{Thing: grant.AVPCOrigin, Value: "vo_bank"}, now, "does not allow the VPC origin vo_bank. Ask"},
		"an access control":                               {narrow, grant.Want{Thing: grant.AnAccessControl, Value: "EOAC1"}, now, ""},
		"another access control":                          {narrow, grant.Want{Thing: grant.AnAccessControl, Value: "EOAC2"}, now, "does not allow the origin access control EOAC2, only EOAC1"},
		"a function by a pattern":                         {narrow, grant.Want{Thing: grant.AFunction, Value: "arn:aws:cloudfront::111122223333:function/shop-a"}, now, ""},
		"another team's function":                         {narrow, grant.Want{Thing: grant.AFunction, Value: "arn:aws:lambda:us-east-1:111122223333:function:bank:7"}, now, "does not allow the function arn:aws:lambda"},
		"a key group":                                     {narrow, grant.Want{Thing: grant.AKeyGroup, Value: "key-1"}, now, ""},
		"another key group":                               {narrow, grant.Want{Thing: grant.AKeyGroup, Value: "key-2"}, now, "does not allow the key group key-2, only key-1"},
		"a key of one store":                              {stores, grant.Want{Thing: grant.AKey, Of: "s", Value: "shared-1"}, now, ""},
		"a takeover of its keys":                          {stores, grant.Want{Thing: grant.AKeyTakeover, Of: "s", Name: "shared-1"}, now, "does not allow replacing existing keys. Ask"},
		"a takeover of keys whose entry allows it":        {stores, grant.Want{Thing: grant.AKeyTakeover, Of: "s", Name: "legacy-1"}, now, ""},
		"a takeover of the keys of domains":               {stores, grant.Want{Thing: grant.AKeyTakeover, Of: "s"}, now, ""},
		"a takeover in another store":                     {stores, grant.Want{Thing: grant.AKeyTakeover, Of: "t"}, now, "does not allow replacing existing keys. Ask"},
		"field-level encryption":                          {narrow, grant.Want{Thing: grant.AnEncryption, Value: "FLE1"}, now, ""},
		"another field-level encryption":                  {narrow, grant.Want{Thing: grant.AnEncryption, Value: "FLE2"}, now, "does not allow the field-level encryption FLE2, only FLE1"},
		"a log bucket":                                    {narrow, grant.Want{Thing: grant.ALogBucket, Value: "shop-logs.s3.amazonaws.com"}, now, ""},
		"another log bucket":                              {narrow, grant.Want{Thing: grant.ALogBucket, Value: "bank-logs.s3.amazonaws.com"}, now, "does not allow the log bucket bank-logs.s3.amazonaws.com"},
		"other countries":                                 {g, grant.Want{Thing: grant.AGeoRestriction}, now, "does not allow overriding the geographic restrictions of the distribution. Ask"},
		"other countries where that is allowed":           {narrow, grant.Want{Thing: grant.AGeoRestriction}, now, ""},
		"records in whichever zone":                       {g, grant.Want{Thing: grant.Records}, now, ""},
		"records in a zone that is listed":                {g, grant.Want{Thing: grant.Records, Value: "Z1"}, now, ""},
		"records in another zone":                         {g, grant.Want{Thing: grant.Records, Value: "Z2"}, now, "DNS records in the hosted zone Z2, only Z1"},
		"records without any zone":                        {of("shop"), grant.Want{Thing: grant.Records}, now, "does not allow DNS records in any hosted zone. Ask"},
		"a takeover":                                      {g, grant.Want{Thing: grant.ATakeover}, now, "does not allow replacing existing DNS records. Ask"},
		"a takeover where that is allowed":                {open, grant.Want{Thing: grant.ATakeover}, now, ""},
		"a role by a pattern":                             {g, grant.Want{Thing: grant.ARole, Value: "arn:aws:iam::111122223333:role/shop-dns"}, now, ""},
		"another role":                                    {g, grant.Want{Thing: grant.ARole, Value: "arn:aws:iam::111122223333:role/bank-dns"}, now, "the role"},
		"a table":                                         {g, grant.Want{Thing: grant.ATable, Value: "customers-shop"}, now, ""},
		"another table":                                   {g, grant.Want{Thing: grant.ATable, Value: "customers-bank"}, now, "the table customers-bank"},
		"a host with its port":                            {g, grant.Want{Thing: grant.AHost, Value: "a.db.example.com:5432"}, now, ""},
		"a host with another port":                        {g, grant.Want{Thing: grant.AHost, Value: "a.db.example.com:22"}, now, "the host a.db.example.com:22"},
		"a host whose port does not matter":               {g, grant.Want{Thing: grant.AHost, Value: "plain.example.com:22"}, now, ""},
		"a login of the operator":                         {g, grant.Want{Thing: grant.ALogin, Value: "reader@a.db.example.com:5432"}, now, ""},
		"a login as another user":                         {g, grant.Want{Thing: grant.ALogin, Value: "owner@a.db.example.com:5432"}, now, "the login owner@a.db.example.com:5432, only reader@*.db.example.com:5432"},
		"a login at another server":                       {g, grant.Want{Thing: grant.ALogin, Value: "reader@evil.example.org:5432"}, now, "the login"},
		"a login to a cache":                              {g, grant.Want{Thing: grant.ALogin, Value: "reader@master.shop.example.com:6379/shop"}, now, ""},
		"a token for another cache":                       {g, grant.Want{Thing: grant.ALogin, Value: "reader@master.shop.example.com:6379/bank"}, now, "the login"},
		"an adoption":                                     {g, grant.Want{Thing: grant.AnAdoption, Value: "shop-7"}, now, ""},
		"an adoption of another name":                     {g, grant.Want{Thing: grant.AnAdoption, Value: "bank"}, now, "does not allow adopting bank, only shop-*"},
		"an adoption after its end":                       {g, grant.Want{Thing: grant.AnAdoption, Value: "shop-7"}, now.Add(time.Hour), "allowed adoption until 2026-01-01T01:00:00Z"},
		"a forced adoption where only others are allowed": {g, grant.Want{Thing: grant.AForcedAdoption, Value: "shop-7"}, now, "does not allow adopting shop-7 with Force, only shop-*"},
		"a forced adoption":                               {forced, grant.Want{Thing: grant.AForcedAdoption, Value: "shop-7"}, now, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.want.Field = "spec.field"
			r := grant.Standing{Grant: &c.grant}.Judge("shop", []grant.Want{c.want}, c.at)
			switch {
			case r == nil && c.refusal != "":
				t.Errorf("it is allowed, want a refusal with %q", c.refusal)
			case r == nil:
			case c.refusal == "":
				t.Errorf("it is refused: %s", r)
			case !strings.Contains(r.String(), c.refusal) || !strings.HasPrefix(r.String(), "spec.field: the EdgeGrant shop, which selects the namespace shop, "):
				t.Errorf("it is refused with %q, want %q", r, c.refusal)
			}
		})
	}
}

// Whatever an empty grant, no grant and rivals are asked for, they refuse it, and name the field.
func TestWhatIsNotGrantedIsRefused(t *testing.T) {
	t.Parallel()
	empty := of("shop", "shop")
	// Without a list, any domain name may be that of an origin: it is no resource of the account.
	empty.Origins = []string{"only.example.com"}
	for thing := grant.AKind; thing <= grant.AForcedAdoption; thing++ {
		for name, s := range map[string]grant.Standing{"empty": {Grant: &empty}, "none": {}, "rivals": {Rivals: []string{"a", "b"}}} {
			r := s.Judge("shop", []grant.Want{{Thing: thing, Field: "spec.field", Value: "value", Of: "E1", Name: "p"}}, now)
			if r == nil || name == "empty" && r.Field != "spec.field" || !strings.HasSuffix(r.Text, ".") {
				t.Errorf("%s, thing %d: %v", name, thing, r)
			}
		}
	}
}

// A refusal starts as a sentence does, unless it starts with a field.
func TestHowARefusalReads(t *testing.T) {
	t.Parallel()
	fallback := of(grant.Default)
	for name, c := range map[string]struct {
		standing grant.Standing
		want     grant.Want
		says     string
	}{
		"without a grant": {grant.Standing{}, grant.Want{Thing: grant.ADomain, Field: "spec.x", Value: "a"}, "No EdgeGrant selects the namespace shop. Ask an administrator of the platform for one."},
		"with a default grant for others": {grant.Standing{Passed: true}, grant.Want{Thing: grant.ADomain, Field: "spec.x", Value: "a"}, "No EdgeGrant selects the namespace shop, " +
			"and the default grant names other namespaces only (grants.default.namespaces). Ask an administrator of the platform for a grant."},
		"with two": {grant.Standing{Rivals: []string{"a", "b"}}, grant.Want{Thing: grant.ADomain, Field: "spec.x", Value: "a"}, "The EdgeGrants a, b select the namespace shop equally, so it has none. " +
			"An administrator has to change spec.namespaces of one of them."},
		"with the default grant": {grant.Standing{Grant: &fallback}, grant.Want{Thing: grant.AKind, Value: "TenantSource"}, "The default grant, which applies because no EdgeGrant selects the namespace shop, " +
			"does not allow objects of the kind TenantSource. Ask an administrator of the platform."},
		"with a field that can't be changed": {grant.Standing{Grant: &fallback}, grant.Want{Thing: grant.ADistribution, Field: "spec.x", Value: "E1", Fixed: true}, "spec.x: the default grant, which applies because no EdgeGrant selects the namespace shop, " +
			"does not allow the distribution E1. Ask an administrator of the platform, or delete the object and create it with another value: the field can't be changed."},
		"with a field": {grant.Standing{Grant: &fallback}, grant.Want{Thing: grant.NoWebACL, Field: "spec.x"}, "spec.x: the default grant, which applies because no EdgeGrant selects the namespace shop, " +
			"does not allow disabling the web ACL. Ask an administrator of the platform, or change the field."},
	} {
		if got := c.standing.Judge("shop", []grant.Want{c.want}, now).String(); got != c.says {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.says)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	g := of("shop")
	g.Limits = grant.Limits{Tenants: new(2), Domains: new(5)}
	for name, c := range map[string]struct {
		has, adds grant.Usage
		want      string
	}{
		"there is room":                             {grant.Usage{Tenants: 1, Domains: 4}, grant.Usage{Tenants: 1, Domains: 1}, ""},
		"one tenant too many":                       {grant.Usage{Tenants: 2}, grant.Usage{Tenants: 1, Domains: 1}, "limits.tenants 2, and 2 of them are used"},
		"one domain too many":                       {grant.Usage{Tenants: 1, Domains: 4}, grant.Usage{Tenants: 1, Domains: 2}, "limits.domains 5"},
		"what adds nothing is let in above a limit": {grant.Usage{Tenants: 9, Domains: 9}, grant.Usage{}, ""},
		"without a limit there is always room":      {grant.Usage{Sources: 100}, grant.Usage{Sources: 1}, ""},
	} {
		r := g.Exceeds(c.has, c.adds)
		if (r == nil) != (c.want == "") || r != nil && !strings.Contains(r.Text, c.want) {
			t.Errorf("%s: %v, want %q", name, r, c.want)
		}
	}
}
