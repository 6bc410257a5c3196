package mysql

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqlrows"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
)

// What becomes of a parameter. The driver is told of none: what is used is set in its configuration. All others are refused,
// so that a misspelt one does not turn TLS off, and without their names, which may be a piece of something else.
var (
	tlsNames = strings.Fields("tls ssl-mode sslMode sslmode")
	// harmless are allowCleartextPasswords and allowNativePasswords, which are used below, and what the adapter decides.
	harmless = strings.Fields(`allowCleartextPasswords allowNativePasswords
		charset checkConnLiveness clientFoundRows collation compress connectionAttributes interpolateParams loc maxAllowedPacket
		parseTime readTimeout rejectReadOnly timeTruncate timeout writeTimeout`)
	// off are those that may only switch off what is never on here.
	off = strings.Fields("allowAllFiles allowFallbackToPlaintext allowOldPasswords columnsWithAlias multiStatements serverPubKey")
)

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

// target is a checked connection string.
type target struct {
	config   *mysql.Config
	endpoint string
	redact   sqlrows.Redactor
}

// parse checks a connection string and makes the driver's configuration of it. The driver never sees the string: it takes
// every name that a process has registered, sends what it doesn't know to the server as SQL, and panics at one parameter.
func parse(text string) (target, error) {
	c, err := split(text)
	if err != nil {
		return target{}, err
	}
	if c.User == "" {
		return target{}, sqlrows.BadConnection("has no user name: add it")
	}
	if c.Database == "" {
		return target{}, sqlrows.BadConnection("has no database: add it after the host, as in tcp(host:3306)/database")
	}
	if len(c.Hosts) != 1 {
		return target{}, sqlrows.BadConnection("has several hosts: use one")
	}
	endpoint, err := sqlrows.Address(c.Hosts[0], c.Ports[0], "3306")
	if err != nil {
		return target{}, err
	}
	mode, err := check(c.Params)
	if err != nil {
		return target{}, err
	}

	config := mysql.NewConfig()
	config.User, config.Passwd, config.DBName = c.User, c.Password, c.Database
	config.Net, config.Addr, config.TLSConfig = "tcp", endpoint, mode
	config.AllowNativePasswords = c.Params["allowNativePasswords"] != "false"
	config.AllowCleartextPasswords = isTrue(c.Params["allowCleartextPasswords"])
	config.ConnectionAttributes = "program_name:" + sqlrows.Program
	config.Timeout = sqlrows.ConnectTimeout
	// Its lines would go to the standard error, with names of the connection in them.
	config.Logger = &mysql.NopLogger{}
	// A dialer that a process has registered for "tcp" would be preferred to none.
	config.DialFunc = (&net.Dialer{}).DialContext
	if err := config.Apply(mysql.Charset("utf8mb4", "")); err != nil {
		return target{}, fmt.Errorf("setting the character set: %w", err)
	}
	return target{config: config, endpoint: endpoint, redact: sqlrows.NewRedactor(c.Password, c.User, c.Database)}, nil
}

func isTrue(value string) bool {
	on, err := strconv.ParseBool(value)
	return err == nil && on
}

// check checks the parameters, and returns the driver's word for TLS.
func check(params map[string]string) (string, error) {
	mode := "false"
	for _, name := range slices.Sorted(maps.Keys(params)) {
		switch {
		case slices.Contains(harmless, name):
		case slices.Contains(off, name):
			if on, err := strconv.ParseBool(params[name]); err != nil || on {
				return "", sqlrows.BadConnection(fmt.Sprintf("has the parameter %s, which is not allowed: remove it", name))
			}
		case slices.Contains(tlsNames, name):
			var ok bool
			if mode, ok = tlsModes[params[name]]; !ok {
				return "", sqlrows.BadConnection(fmt.Sprintf("has an unknown value for %s: use %s; "+
					"named TLS configurations are not supported", name, tlsValues))
			}
		case store.IsTLSOption(name):
			return "", sqlrows.BadConnection(fmt.Sprintf("has the unknown parameter %s: use %s", name, tlsValues))
		default:
			return "", sqlrows.BadConnection("has an unknown parameter: remove it. System variables of the server " +
				"can't be set, and client libraries for other languages have different parameters")
		}
	}
	if isTrue(params["allowCleartextPasswords"]) && mode != "true" {
		return "", sqlrows.BadConnection("has allowCleartextPasswords without a verified server: add tls=true, or remove it")
	}
	return mode, nil
}

func split(text string) (sqlrows.Connection, error) {
	if err := sqlrows.CheckText(text); err != nil {
		return sqlrows.Connection{}, err
	}
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "mysql://") || strings.HasPrefix(text, "mariadb://") {
		return sqlrows.ParseURL(text)
	}
	c, err := splitDSN(text)
	// A DSN may look like a URL: the password may begin with two slashes.
	if err != nil && sqlrows.HasScheme(text) {
		return c, sqlrows.BadConnection("has a scheme other than mysql:// or mariadb://: " + form)
	}
	return c, err
}

const form = "use user:password@tcp(host:3306)/database, or mysql://user:password@host:3306/database"

// splitDSN takes user:password@tcp(host:port)/database?parameter=value apart as the driver does: user and password stand as they
// are, and may hold any of these characters.
func splitDSN(text string) (sqlrows.Connection, error) {
	var c sqlrows.Connection
	slash := strings.LastIndexByte(text, '/')
	if slash < 0 {
		return c, sqlrows.BadConnection("has no slash before the database: " + form)
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
		return c, sqlrows.BadConnection("has no address in the form tcp(host:port), the only form that is allowed: " + form)
	}
	// What is left is a URL's form, with nothing in front of the host.
	rest, err := sqlrows.ParseURL("://" + address + "/" + database + "?" + query)
	rest.User, rest.Password = c.User, c.Password
	return rest, err
}
