// Package source_test holds what all adapters for databases have to keep to, whatever they connect to.
package source_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/mongodb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/mysql"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/postgres"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/redis"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// server is where the connection strings lead to; the tests never connect to it.
const server = "127.0.0.1:27041"

// forms are connection strings as people write them, by adapter. PASSWORD is in them as it is.
func forms() map[string]struct {
	rows  port.Rows
	texts []string
} {
	return map[string]struct {
		rows  port.Rows
		texts []string
	}{
		"postgres": {postgres.New(store.Config{}), []string{
			"postgres://user:PASSWORD@SERVER/customers",
			"postgresql://user:PASSWORD@SERVER/customers?sslmode=disable",
			"postgres://PASSWORD@SERVER/customers",
			"postgres://SERVER/customers?user=u&password=PASSWORD",
			"host=127.0.0.1 port=27041 user=u password=PASSWORD dbname=customers",
			"password=PASSWORD host=127.0.0.1 port=27041 user=u dbname=customers",
			"host=127.0.0.1 port=27041 user=u password='PASSWORD' dbname=customers",
			"mysql://user:PASSWORD@SERVER/customers?tls=true",
		}},
		"mysql": {mysql.New(store.Config{}), []string{
			"mysql://user:PASSWORD@SERVER/customers",
			"mariadb://PASSWORD@SERVER/customers?tls=true",
			"user:PASSWORD@tcp(SERVER)/customers",
			"user:PASSWORD@tcp(SERVER)/customers?tls=true",
			"user:PASSWORD@tcp(SERVER)",
			"user:PASSWORD@SERVER/customers",
			"postgres://user:PASSWORD@SERVER/customers?sslmode=disable",
		}},
		"mongodb": {mongodb.New(store.Config{}), []string{
			"mongodb://user:PASSWORD@SERVER/customers",
			"mongodb://PASSWORD@SERVER/",
			"mongodb://user:PASSWORD@SERVER/?authSource=admin&tls=true",
			"mongodb+srv://user:PASSWORD@db.example.invalid/?authSource=admin",
			"redis://user:PASSWORD@SERVER/0",
		}},
		"redis": {redis.New(store.Config{}), []string{
			"redis://user:PASSWORD@SERVER/0",
			"rediss://user:PASSWORD@SERVER",
			"redis://:PASSWORD@SERVER/0",
			"redis://PASSWORD@SERVER/0",
			"mongodb://user:PASSWORD@SERVER/0",
		}},
	}
}

// readWith returns the error of a read that was cancelled before it began. It names the host that a read would have
// connected to, and nothing looks that host up.
func readWith(ctx context.Context, rows port.Rows, connection string) error {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return rows.Read(ctx, query(connection), nil)
}

var words = regexp.MustCompile(`[a-z0-9]+`)

// leak says what is wrong with the error of a read with a password: a piece of it in the text, or another host.
func leak(err error, password string) string {
	failure, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return "the error has no kind"
	}
	const length = 4
	for e := err; e != nil; e = errors.Unwrap(e) {
		for _, word := range words.FindAllString(password, -1) {
			for i := 0; i+length <= len(word) && word != "host"; i++ {
				if strings.Contains(strings.ToLower(e.Error()), word[i:i+length]) {
					return "the error tells " + word[i:i+length]
				}
			}
		}
	}
	if failure.Code != mapping.CodeConnectionString && !strings.Contains(failure.Message, server) && !strings.Contains(failure.Message, "db.example.invalid") {
		return "a read would go somewhere else than to the server"
	}
	return ""
}

// People paste passwords as they are. Whatever is made of such a string, no piece of the password may come out as if it were a
// host, a database or an option: the text of the error is in status, events and logs.
func TestNoPieceOfARawPasswordIsTold(t *testing.T) {
	const special = ":/?#[]@!$&'()*+,;=%\\ \"<>^`{|}~-._"
	// With a # alone for a password, what stands before it would be the host.
	passwords := []string{"#", "p@s3cr3tpiece/w0rd", "p@s3cr3tpiece#w0rd", "s3cr3tpiece#w0rd", "12345#s", "12345/s", "12345?s", "p/w@4711", "x@tcp(s3cr3t)/y", "a host=s3cr3t"}
	for _, first := range special {
		for _, second := range special {
			passwords = append(passwords, "zq7x"+string(first)+"31415"+string(second)+"vk9yw", string(first)+"31415"+string(second)+"zq7x")
		}
	}
	for name, adapter := range forms() {
		t.Run(name, func(t *testing.T) {
			for _, form := range adapter.texts {
				for _, password := range passwords {
					text := strings.NewReplacer("PASSWORD", password, "SERVER", server).Replace(form)
					err := readWith(t.Context(), adapter.rows, text)
					if wrong := leak(err, password); wrong != "" {
						t.Errorf("%s: %s: %v", text, wrong, err)
					}
				}
			}
		})
	}
}

// The same for passwords that no one thought of.
func TestNoPieceOfAnyRawPasswordIsTold(t *testing.T) {
	for name, adapter := range forms() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
					"zq7xk", "31415", "w9", "jv8qz", ":", "/", "?", "#", "[", "]", "@", "!", "$", "&", "'", "(", ")", "*", "+", ",", ";", "=", "%", `\`, " ", `"`,
				}), 1, 9).Draw(t, "pieces")
				password := strings.Join(pieces, "")
				form := rapid.SampledFrom(adapter.texts).Draw(t, "form")
				err := readWith(t.Context(), adapter.rows, strings.NewReplacer("PASSWORD", password, "SERVER", server).Replace(form))
				if wrong := leak(err, password); wrong != "" {
					t.Errorf("%s: %v", wrong, err)
				}
			})
		})
	}
}

// The most common mistake is reported with its fix.
func TestARawPasswordIsToldToBeEncoded(t *testing.T) {
	for name, text := range map[string]string{
		"postgres": "postgres://user:p@s3cr3tpiece/rest@SERVER/customers",
		"mysql":    "mysql://user:p@s3cr3tpiece/w0rd@SERVER/customers",
		"mongodb":  "mongodb+srv://user:p@s3cr3tpiece/w0rd@SERVER/",
		"redis":    "redis://user:12345#s@SERVER/0",
	} {
		t.Run(name, func(t *testing.T) {
			err := readWith(t.Context(), forms()[name].rows, strings.ReplaceAll(text, "SERVER", server))
			if fault.CodeOf(err) != mapping.CodeConnectionString || !strings.Contains(err.Error(), "percent-encode") {
				t.Errorf("got %v", err)
			}
		})
	}
}
