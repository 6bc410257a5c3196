package aws

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzParseNode feeds the decoder what a client might send: it must not panic,
// and what it read must come out the same when it is written and read again.
func FuzzParseNode(f *testing.F) {
	for _, seed := range []string{
		`<CreateDistributionTenantRequest xmlns="http://cloudfront.amazonaws.com/doc/2020-05-31/"><Name>acme</Name><Domains><member><Domain>a.example.com</Domain></member></Domains></CreateDistributionTenantRequest>`,
		`<?xml version="1.0" encoding="UTF-8"?><Tags><Items><Tag><Key>k</Key><Value>a &lt; b &amp; c</Value></Tag></Items></Tags>`,
		`<A><![CDATA[<x>]]></A>`, `<A>text<B/>more</A>`, `<a:B xmlns:a="urn:x" c="d">e</a:B>`, `<A/><B/>`, `<A>`, `</A>`, ``, `{}`, "<A>\x00</A>", `<A>&unknown;</A>`, `<a:0/>`,
		`<!DOCTYPE x [<!ENTITY a "b">]><A>&a;</A>`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := parseNode(data)
		if err != nil {
			return
		}
		second, err := parseNode(first.document(""))
		if err != nil {
			t.Fatalf("what was read and written cannot be read: %v\n%s", err, first.document(""))
		}
		if diff := cmp.Diff(first.document(cloudFrontNamespace), second.document(cloudFrontNamespace)); diff != "" {
			t.Fatalf("reading, writing and reading again differ:\n%s", diff)
		}
	})
}

func TestCovers(t *testing.T) {
	for name, tc := range map[string]struct {
		names  []string
		domain string
		want   bool
	}{
		"the same name":                             {[]string{"a.example.com"}, "a.example.com", true},
		"a wildcard for one label":                  {[]string{"*.example.com"}, "a.example.com", true},
		"a wildcard is not two labels":              {[]string{"*.example.com"}, "b.a.example.com", false},
		"a wildcard is not the apex":                {[]string{"*.example.com"}, "example.com", false},
		"a wildcard domain needs the same wildcard": {[]string{"*.example.com"}, "*.example.com", true},
		"a deeper wildcard is not covered":          {[]string{"*.example.com"}, "*.a.example.com", false},
		"names do not cover a wildcard":             {[]string{"a.example.com"}, "*.example.com", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := covers(tc.names, tc.domain); got != tc.want {
				t.Errorf("covers(%v, %s) = %v", tc.names, tc.domain, got)
			}
		})
	}
}

func TestDerivedShapes(t *testing.T) {
	d := deriver{seed: 1}
	for name, tc := range map[string]struct {
		got  string
		size int
	}{
		"tenant id": {d.ksuid("dt_", "x"), 30},
		"ETag":      {d.etag("x"), 14},
		"UUID":      {d.uuid("x"), 36},
		"endpoint":  {d.endpoint("x"), 29},
	} {
		if len(tc.got) != tc.size {
			t.Errorf("%s %q has %d characters, want %d", name, tc.got, len(tc.got), tc.size)
		}
	}
	if !plausibleETag(d.etag("x")) {
		t.Error("an ETag of our own is not plausible")
	}
}
