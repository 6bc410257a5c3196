package postgres

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqldb"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
)

// largestMessage bounds a message of the server, which holds one row at most: anything may answer at the address, and
// announce a gigabyte.
const largestMessage = 16 << 20

// ignored are parameters that are decided by the adapter, or change nothing for a read.
const ignored = `application_name fallback_application_name client_encoding connect_timeout gssencmode sslcompression
	sslcertmode tcp_user_timeout timezone datestyle keepalives keepalives_idle keepalives_interval keepalives_count`

const tlsModes = "sslmode=verify-full with sslrootcert=system, or one of sslmode=require, prefer and disable, which do not verify the server"

// The server takes those parameters that the library does not know.
var parameters = store.Parameters{
	Known: []store.Parameter{
		{Names: `host port user password database sslnegotiation sslsni channel_binding require_auth target_session_attrs
			min_protocol_version max_protocol_version options search_path ` + ignored},
		{
			Names: "sslmode", Values: []string{"disable", "allow", "prefer", "require", "verify-ca", "verify-full"},
			Problem: "has an unknown value for sslmode: use " + tlsModes,
		},
		{
			Names: "sslrootcert", Values: []string{"system"},
			Problem: "has the parameter sslrootcert with a file, but files of the operator's machine are not read: " +
				"use sslrootcert=system for the CAs that the operator trusts",
		},
		{
			Names: "sslcert sslkey sslpassword sslcrl passfile service servicefile",
			Problem: "has the parameter %s, which refers to something on the operator's own machine: " +
				"remove it; user, password, and sslmode=verify-full with sslrootcert=system do not need it",
		},
	},
	TLS: "has the parameter %s, which PostgreSQL does not have: use " + tlsModes,
	Other: "has an unknown parameter: remove it (client libraries for other languages have different parameters), " +
		"or quote the value before it",
}

// parse checks a connection string and turns it into the library's configuration. The library never sees the string
// itself but one that is rebuilt from the accepted parts: two parsers that differ would be a way around the check.
func parse(text string) (*server, error) {
	settings, err := split(text)
	if err != nil {
		return nil, err
	}
	if err := sqldb.CheckParameters(parameters, settings); err != nil {
		return nil, err
	}
	for name := range strings.FieldsSeq(ignored) {
		delete(settings, name)
	}
	endpoints, err := endpoints(settings)
	if err != nil {
		return nil, err
	}
	if settings["user"] == "" {
		return nil, sqldb.BadConnection("has no user name: add it")
	}
	config, err := pgconn.ParseConfig(keywords(settings))
	if err != nil {
		// Its text quotes values.
		return nil, sqldb.BadConnection("has a parameter with an invalid value: check " +
			"sslmode, sslnegotiation, channel_binding, require_auth, target_session_attrs and the protocol versions")
	}
	config.MaxProtocolMessageBodyLen = largestMessage
	return &server{
		config: config, endpoints: endpoints, redact: sqldb.NewRedactor(settings["password"], settings["user"], settings["database"]),
	}, nil
}

func split(text string) (map[string]string, error) {
	if err := sqldb.CheckText(text); err != nil {
		return nil, err
	}
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "postgres://") && !strings.HasPrefix(text, "postgresql://") {
		if sqldb.HasScheme(text) {
			return nil, sqldb.BadConnection("has a scheme other than postgres:// or postgresql://, and so is neither " + forms)
		}
		return splitKeywords(text)
	}
	c, err := sqldb.ParseURL(text)
	if err != nil {
		return nil, err
	}
	settings := map[string]string{
		"host": strings.Join(c.Hosts, ","), "port": strings.Join(c.Ports, ","),
		"user": c.User, "password": c.Password, "database": c.Database,
	}
	if c.Params["ssl"] == "true" {
		delete(c.Params, "ssl")
		settings["sslmode"] = "require"
	}
	for name, value := range c.Params {
		settings[canonical(name)] = value
	}
	return settings, nil
}

func canonical(name string) string {
	if name == "dbname" {
		return "database"
	}
	return name
}

const forms = "a URL like postgres://user:password@host/database nor a list like host=... user=... password=... dbname=...: use one of the two" //nolint:gosec // an example for people

const blanks = " \t\n\r\v\f"

// splitKeywords takes "name=value name='quoted value'" apart; a backslash takes the next character as it is.
func splitKeywords(text string) (map[string]string, error) {
	settings := map[string]string{}
	for text = strings.TrimLeft(text, blanks); text != ""; text = strings.TrimLeft(text, blanks) {
		name, rest, ok := strings.Cut(text, "=")
		name = strings.Trim(name, blanks)
		if !ok || name == "" || strings.ContainsAny(name, blanks) {
			return nil, sqldb.BadConnection("is neither " + forms + ", and quote values that contain spaces: 'a b'")
		}
		value, rest, ok := keywordValue(strings.TrimLeft(rest, blanks))
		if !ok {
			return nil, sqldb.BadConnection(`has a value with an unclosed quotation mark: close it, or write \' for a quotation mark in the value`)
		}
		if _, twice := settings[canonical(name)]; twice {
			return nil, sqldb.BadConnection("has a duplicate parameter: keep one of them, and quote values that contain spaces: 'a b'")
		}
		settings[canonical(name)], text = value, rest
	}
	return settings, nil
}

func keywordValue(text string) (value, rest string, ok bool) {
	end := blanks
	if quoted := strings.HasPrefix(text, "'"); quoted {
		text, end = text[1:], "'"
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case strings.IndexByte(end, text[i]) >= 0:
			return b.String(), text[i+1:], true
		case text[i] == '\\' && i+1 < len(text):
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String(), "", end == blanks
}

func endpoints(settings map[string]string) ([]string, error) {
	hosts, ports := strings.Split(settings["host"], ","), strings.Split(settings["port"], ",")
	if len(ports) > 1 && len(ports) != len(hosts) {
		return nil, sqldb.BadConnection("has different numbers of ports and hosts: use one port for all hosts, or one for each")
	}
	all := make([]string, len(hosts))
	for i, host := range hosts {
		port := ports[0]
		if len(ports) > 1 {
			port = ports[i]
		}
		var err error
		if all[i], err = sqldb.Address(host, port, "5432"); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// keywords writes a connection string. Parameters that the library would otherwise take from files in the home
// directory are empty, and those that it would guess are given.
func keywords(settings map[string]string) string {
	all := map[string]string{
		"application_name": store.Program,
		"connect_timeout":  strconv.Itoa(int(sqldb.ConnectTimeout.Seconds())),
		"sslmode":          "prefer",
		"passfile":         "", "servicefile": "", "sslcert": "", "sslkey": "", "sslrootcert": "", "sslcertmode": "disable",
	}
	maps.Copy(all, settings)
	quote := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "%s='%s' ", name, quote.Replace(all[name]))
	}
	return b.String()
}
