package mysql

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqldb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
)

// tlsNames are the names of the option for TLS, in order: the last one counts.
const tlsNames = "ssl-mode sslMode sslmode tls"

// tlsModes are the driver's words for TLS, and those of other clients.
var tlsModes = map[string]string{
	"": "false", "false": "false", "0": "false", "DISABLED": "false", "disable": "false", "disabled": "false",
	"preferred": "preferred", "PREFERRED": "preferred", "prefer": "preferred",
	"skip-verify": "skip-verify", "REQUIRED": "skip-verify", "require": "skip-verify", "required": "skip-verify",
	"true": "true", "1": "true", "VERIFY_IDENTITY": "true", "verify_identity": "true", "verify-full": "true",
	// Without a file with the authority there is nothing to verify but all of it.
	"VERIFY_CA": "true", "verify_ca": "true", "verify-ca": "true",
}

const tlsValues = "tls=true, or one of tls=skip-verify, preferred and false, which do not verify the server"

// The driver is told of none of the parameters: what is used is set in its configuration.
var parameters = store.Parameters{
	Known: []store.Parameter{
		// The first two are used below, and the adapter decides the others.
		{Names: `allowCleartextPasswords allowNativePasswords
			charset checkConnLiveness clientFoundRows collation compress connectionAttributes interpolateParams loc maxAllowedPacket
			parseTime readTimeout rejectReadOnly timeTruncate timeout writeTimeout`},
		{
			Names:  "allowAllFiles allowFallbackToPlaintext allowOldPasswords columnsWithAlias multiStatements serverPubKey",
			Values: strings.Fields("0 f F false FALSE False"), Problem: "has the parameter %s, which is not allowed: remove it",
		},
		{
			Names: tlsNames, Values: slices.Collect(maps.Keys(tlsModes)),
			Problem: "has an unknown value for %s: use " + tlsValues + "; named TLS configurations are not supported",
		},
	},
	TLS: "has the unknown parameter %s: use " + tlsValues,
	Other: "has an unknown parameter: remove it. System variables of the server can't be set, and client libraries for other languages " +
		"have different parameters",
}

// parse checks a connection string and makes the driver's configuration of it. The driver never sees the string: it takes
// every name that a process has registered, sends what it doesn't know to the server as SQL, and panics at one parameter.
func parse(text string) (*server, error) {
	c, err := split(text)
	if err != nil {
		return nil, err
	}
	if c.User == "" {
		return nil, sqldb.BadConnection("has no user name: add it")
	}
	if c.Database == "" {
		return nil, sqldb.BadConnection("has no database: add it after the host, as in tcp(host:3306)/database")
	}
	if len(c.Hosts) != 1 {
		return nil, sqldb.BadConnection("has several hosts: use one")
	}
	endpoint, err := sqldb.Address(c.Hosts[0], c.Ports[0], "3306")
	if err != nil {
		return nil, err
	}
	if err := sqldb.CheckParameters(parameters, c.Params); err != nil {
		return nil, err
	}
	mode := "false"
	for name := range strings.FieldsSeq(tlsNames) {
		if value, ok := c.Params[name]; ok {
			mode = tlsModes[value]
		}
	}
	cleartext := slices.Contains(strings.Fields("1 t T true TRUE True"), c.Params["allowCleartextPasswords"])
	if cleartext && mode != "true" {
		return nil, sqldb.BadConnection("has allowCleartextPasswords without a verified server: add tls=true, or remove it")
	}
	config := mysql.NewConfig()
	config.User, config.Passwd, config.DBName = c.User, c.Password, c.Database
	config.Net, config.Addr, config.TLSConfig = "tcp", endpoint, mode
	config.AllowNativePasswords = c.Params["allowNativePasswords"] != "false"
	config.AllowCleartextPasswords = cleartext
	config.ConnectionAttributes = "program_name:" + store.Program
	config.Timeout = sqldb.ConnectTimeout
	// Its lines would go to the standard error, with names of the connection in them.
	config.Logger = &mysql.NopLogger{}
	if err := config.Apply(mysql.Charset("utf8mb4", "")); err != nil {
		return nil, fmt.Errorf("setting the character set: %w", err)
	}
	return &server{config: config, redact: sqldb.NewRedactor(c.Password, c.User, c.Database)}, nil
}

func split(text string) (sqldb.Connection, error) {
	if err := sqldb.CheckText(text); err != nil {
		return sqldb.Connection{}, err
	}
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "mysql://") || strings.HasPrefix(text, "mariadb://") {
		return sqldb.ParseURL(text)
	}
	c, err := splitDSN(text)
	// A DSN may look like a URL: the password may begin with two slashes.
	if err != nil && sqldb.HasScheme(text) {
		return c, sqldb.BadConnection("has a scheme other than mysql:// or mariadb://: " + form)
	}
	return c, err
}

const form = "use user:password@tcp(host:3306)/database, or mysql://user:password@host:3306/database"

// splitDSN takes user:password@tcp(host:port)/database?parameter=value apart as the driver does: user and password stand as they
// are, and may hold any of these characters.
func splitDSN(text string) (sqldb.Connection, error) {
	var c sqldb.Connection
	slash := strings.LastIndexByte(text, '/')
	if slash < 0 {
		return c, sqldb.BadConnection("has no slash before the database: " + form)
	}
	database, query, _ := strings.Cut(text[slash+1:], "?")
	address := text[:slash]
	if at := strings.LastIndexByte(address, '@'); at >= 0 {
		c.User, c.Password, _ = strings.Cut(address[:at], ":")
		address = address[at+1:]
	}
	network, address, ok := strings.Cut(address, "(")
	address, closed := strings.CutSuffix(address, ")")
	if !ok || !closed || network != "tcp" {
		return c, sqldb.BadConnection("has no address in the form tcp(host:port), the only form that is allowed: " + form)
	}
	// The remaining form is that of a URL, with nothing in front of the host.
	rest, err := sqldb.ParseURL("://" + address + "/" + database + "?" + query)
	rest.User, rest.Password = c.User, c.Password
	return rest, err
}
