package mapping_test

import (
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

func TestConnectionOfALogin(t *testing.T) {
	for name, c := range map[string]struct {
		provider mapping.Provider
		login    mapping.Login
		want     string
	}{
		"a token with the characters of a URL": {
			mapping.Postgres, mapping.Login{Host: "h:5432", User: "u", Database: "shop"}, "postgres://u:h%2F%3FA=b&c%40@h:5432/shop?sslmode=verify-full",
		},
		"a database with an @ is not taken for a part of the password": {
			mapping.Postgres, mapping.Login{Host: "h:5432", User: "u", Database: "a@b c"}, "postgres://u:h%2F%3FA=b&c%40@h:5432/a%40b%20c?sslmode=verify-full",
		},
		"a cache": {
			mapping.Redis, mapping.Login{Host: "h:6379", User: "u", Cache: "shop"}, "rediss://u:h%2F%3FA=b&c%40@h:6379/",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.login.Connection(c.provider, "h/?A=b&c@"); got.Reveal() != c.want {
				t.Errorf("the connection is %s, want %s", got.Reveal(), c.want)
			}
		})
	}
}
