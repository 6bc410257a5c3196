package cli_test

import (
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/cli"
)

func TestWhatLooksLikeACredentialIsReplaced(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"a bearer token":                            {"Authorization: Bearer SECRET", "Authorization: <redacted>"},
		"a bearer token without its header":         {`sent "Bearer SECRET" to it`, `sent "Bearer <redacted>" to it`},
		"basic authentication in JSON":              {`{"Authorization":"Basic SECRET=="}`, `{"Authorization":"<redacted>"}`},
		"a variable of the environment":             {"CLOUDFLARE_API_TOKEN=SECRET", "CLOUDFLARE_API_TOKEN=<redacted>"},
		"a field of YAML":                           {"token: SECRET\nname: a", "token: <redacted>\nname: a"},
		"a flag":                                    {"--vault-token=SECRET --name=a", "--vault-token=<redacted> --name=a"},
		"user and password of a URL":                {"postgres://u:SECRET@db:5432/x", "postgres://<redacted>@db:5432/x"},
		"a password with a slash and an @":          {"postgres://u:SEC/R@ET@db", "postgres://<redacted>@db"},
		"the form of MySQL":                         {"user:SECRET@tcp(db:3306)/x", "<redacted>@tcp(db:3306)/x"},
		"the form of MySQL, with other characters":  {"dial user:/SE/CR@ET@tcp(db:3306)/x", "dial <redacted>@tcp(db:3306)/x"},
		"a header of an origin":                     {`{"name":"X-Origin-Verify","value":"SECRET text"}`, `{"name":"X-Origin-Verify","value":"<redacted>"}`},
		"a header in a JSON text of a log":          {`{"body":"{\"name\":\"X-Origin-Verify\",\"value\":\"SECRET\"}"}`, `{"body":"{\"name\":\"X-Origin-Verify\",\"value\":\"<redacted>\"}"}`},
		"a header in YAML":                          {"- name: X-Origin-Verify\n  value: SECRET\n", "- name: X-Origin-Verify\n  value: <redacted>\n"},
		"a header in XML":                           {"<HeaderName>X-Key</HeaderName><HeaderValue>SECRET</HeaderValue>", "<HeaderName>X-Key</HeaderName><HeaderValue><redacted></HeaderValue>"},
		"a header as a map":                         {`X-Origin-Verify: SECRET`, `X-Origin-Verify: <redacted>`},
		"a quoted password with a space":            {"password='SE CRET' x", "password='<redacted>' x"},
		"the same in JSON, with a quote in it":      {`{"password":"SE \" CRET","x":1}`, `{"password":"<redacted>","x":1}`},
		"the same in a JSON text of a log":          {`{"msg":"{\"password\": \"SE CRET\"}"}`, `{"msg":"{\"password\": \"<redacted>\"}"}`},
		"a password with punctuation":               {"password=SE,CR}ET", "password=<redacted>"},
		"a key of AWS":                              {"with AKIAABCDEFGHIJKLMNOP.", "with <redacted>."},
		"a JSON web token":                          {"got eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0X.SECRET", "got <redacted>"},
		"a private key":                             {"-----BEGIN RSA PRIVATE KEY-----\nSECRET\n-----END RSA PRIVATE KEY-----", "<redacted>"},
		"the digest of an image stays":              {"ghcr.io/x/operator:1.2@sha256:abc", "ghcr.io/x/operator:1.2@sha256:abc"},
		"the name of a Secret stays":                {"connectionSecretRef:\n  name: db", "connectionSecretRef:\n  name: db"},
		"an instant and the address of a user stay": {"2026-01-01T10:00:00Z a@example.com", "2026-01-01T10:00:00Z a@example.com"},
		"a domain and its value stay":               {`{"name":"www.example.com","value":"d1.cloudfront.net"}`, `{"name":"www.example.com","value":"d1.cloudfront.net"}`},
		"a list of tokens has no value of its own":  {"validationTokens:\n- domain: a", "validationTokens:\n- domain: a"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := cli.Redact(tt.text); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
