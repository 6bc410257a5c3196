package rowsuite

import (
	"errors"
	"strings"
	"testing"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/testkit/database"
)

// malformed are connection strings that can't be used, and those that would make the operator read its own files, talk
// to its own machine's sockets, use another identity or trust any server. USER is user and password.
var malformed = map[mapping.Provider]map[string]string{
	mapping.Postgres: {
		"a port that is none":       "postgres://USER@127.0.0.1:port/DB",
		"a socket":                  "postgres://USER@/DB?host=/var/run/postgresql",
		"a socket, encoded":         "postgres://USER@%2Fvar%2Frun%2Fpostgresql/DB",
		"a socket, in keywords":     "host=/tmp user=DB password=DB dbname=DB",
		"no host":                   "postgres://USER@/DB",
		"a certificate's file":      "postgres://USER@127.0.0.1/DB?sslmode=require&sslcert=/etc/hostname",
		"a key's file":              "postgres://USER@127.0.0.1/DB?sslmode=require&sslkey=/etc/hostname",
		"an authority's file":       "postgres://USER@127.0.0.1/DB?sslmode=verify-full&sslrootcert=/etc/hostname",
		"a file of passwords":       "postgres://USER@127.0.0.1/DB?passfile=/etc/hostname",
		"a service":                 "postgres://USER@127.0.0.1/DB?service=DB",
		"a parameter that is not":   "postgres://USER@127.0.0.1/DB?DB=DB",
		"keywords without a value":  "host=127.0.0.1 password=DB DB",
		"keywords with half quotes": "host=127.0.0.1 password='DB",
	},
	mapping.MySQL: {
		"no end":                     "USER@tcp(127.0.0.1:3306/DB",
		"a socket":                   "USER@unix(/run/mysqld/mysqld.sock)/DB",
		"files of the client":        "USER@tcp(127.0.0.1:3306)/DB?allowAllFiles=true",
		"several statements":         "USER@tcp(127.0.0.1:3306)/DB?multiStatements=true",
		"a configuration of TLS":     "USER@tcp(127.0.0.1:3306)/DB?tls=DB",
		"a key by name":              "USER@tcp(127.0.0.1:3306)/DB?serverPubKey=DB",
		"a parameter that is not":    "USER@tcp(127.0.0.1:3306)/DB?DB=DB",
		"no host":                    "USER@/DB",
		"a protocol that is none":    "USER@canary(127.0.0.1:3306)/DB",
		"an escape that is not one":  "USER@tcp(127.0.0.1:3306)/DB?tls=%zz",
		"a port that is not one":     "USER@tcp(127.0.0.1:port)/DB",
		"only a name and a password": "USER",
	},
	mapping.MongoDB: {
		"a socket":                 "mongodb://USER@%2Ftmp%2Fmongodb-27017.sock/DB",
		"an authority's file":      "mongodb://USER@127.0.0.1/DB?tls=true&tlsCAFile=/etc/hostname",
		"a certificate's file":     "mongodb://USER@127.0.0.1/DB?tls=true&tlsCertificateKeyFile=/etc/hostname",
		"the operator's AWS role":  "mongodb://127.0.0.1/DB?authMechanism=MONGODB-AWS&authSource=$external",
		"the operator's token":     "mongodb://127.0.0.1/DB?authMechanism=MONGODB-OIDC&authSource=$external&authMechanismProperties=ENVIRONMENT:k8s",
		"the operator's ticket":    "mongodb://USER@127.0.0.1/DB?authMechanism=GSSAPI&authSource=$external",
		"a member that may lag":    "mongodb://USER@127.0.0.1/DB?readPreference=secondary",
		"anybody's certificate":    "mongodb://USER@127.0.0.1/DB?tls=true&tlsInsecure=true",
		"no host":                  "mongodb://USER@/DB",
		"a password with a colon":  "mongodb://DB:DB:DB@127.0.0.1/DB",
		"a password with an @":     "mongodb://DB:DB@DB@127.0.0.1/DB",
		"an option without value":  "mongodb://USER@127.0.0.1/DB?DB",
		"an option of wrong type":  "mongodb://USER@127.0.0.1/DB?directConnection=DB",
		"a port that is not one":   "mongodb://USER@127.0.0.1:port/DB",
		"an unknown mechanism":     "mongodb://USER@127.0.0.1/DB?authMechanism=DB",
		"a parameter that is none": "mongodb://USER@127.0.0.1/DB?DB=DB",
	},
	mapping.Redis: {
		"a socket":                  "unix://USER@/tmp/redis.sock?db=1",
		"a database that is none":   "redis://USER@127.0.0.1/DB",
		"a port that is none":       "redis://USER@127.0.0.1:port/0",
		"no host":                   "redis://USER@/0",
		"anybody's certificate":     "rediss://USER@127.0.0.1/0?skip_verify=true",
		"a parameter that is none":  "redis://USER@127.0.0.1/0?DB=DB",
		"an escape that is not one": "redis://%zz:DB@127.0.0.1/0",
	},
}

// nonsense is none of any store.
var nonsense = map[string]string{
	"nothing": "", "a blank": "  ", "a word": "DB", "another scheme": "http://USER@127.0.0.1/DB", "no scheme": "://USER@127.0.0.1/DB",
	"a line end": "USER@127.0.0.1\n/DB", "zero bytes": "\x00DB",
}

func (s *suite) connectionStrings() map[string]func(*testing.T) {
	tests := map[string]func(*testing.T){}
	for name, text := range s.malformed() {
		tests[name] = func(t *testing.T) { s.testRefused(t, text) }
	}
	return tests
}

// malformed are the connection strings that the store has to refuse, by what is wrong with them.
func (s *suite) malformed() map[string]string {
	texts := map[string]string{}
	if s.is(mapping.DynamoDB) { // it has none
		return texts
	}
	canaries := strings.NewReplacer("USER", database.Canary+"_user:"+database.Canary+"_password", "DB", database.Canary+"_tenants")
	for _, all := range []map[string]string{nonsense, malformed[s.engine.Provider()]} {
		for name, text := range all {
			texts[name] = canaries.Replace(text)
		}
	}
	return texts
}

// anyQuery is one of every kind of store.
func (s *suite) anyQuery(connection string) mapping.Query {
	return mapping.Query{
		Connection: mapping.NewSecret(connection), SQL: mapping.SQLQuery{Query: "SELECT 1 AS name"},
		MongoDB: mapping.MongoDBQuery{Database: "tenants", Collection: "customers"}, Redis: mapping.RedisQuery{KeyPattern: "customer:*"},
	}
}

func (s *suite) testRefused(t *testing.T, connection string) {
	q := s.anyQuery(connection)
	err := s.rows.Read(t.Context(), q, &sink{})
	noSecret(t, err)
	wantFault(t, err, fault.Invalid)
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != mapping.CodeConnectionString {
		t.Errorf("the code is not %s: %v", mapping.CodeConnectionString, err)
	}
}
