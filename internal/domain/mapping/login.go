package mapping

import (
	"net/url"
	"strings"
)

// Login says who logs in where with a token of AWS IAM.
type Login struct {
	// Host is host:port.
	Host, User string
	// Database is that of a SQL server, Cache the name of a cache of ElastiCache. One of them is empty.
	Database, Cache string
	// Region is empty for that of the operator.
	Region string
	// AssumeRoleARN is empty for the operator's own identity.
	AssumeRoleARN string
}

// String is the login as grants name it.
func (l Login) String() string {
	text := l.User + "@" + l.Host
	if l.Cache != "" {
		text += "/" + l.Cache
	}
	return text
}

// secured are the scheme and the parameters with which a provider sends a password only to a server that it has verified.
// RDS asks MySQL's clients for the token as plain text inside TLS.
var secured = map[Provider]struct{ scheme, parameters string }{
	Postgres: {"postgres", "sslmode=verify-full"},
	MySQL:    {"mysql", "tls=true&allowCleartextPasswords=true"},
	Redis:    {"rediss", ""},
}

// Connection is the connection string for one connection.
func (l Login) Connection(p Provider, token string) Secret {
	u := url.URL{Scheme: secured[p].scheme, User: url.UserPassword(l.User, token), Host: l.Host, Path: "/" + l.Database, RawQuery: secured[p].parameters}
	// An @ after the host is taken for a part of a password that is not escaped.
	u.RawPath = strings.ReplaceAll(u.EscapedPath(), "@", "%40")
	return NewSecret(u.String())
}
