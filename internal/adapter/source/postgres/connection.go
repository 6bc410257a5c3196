package postgres

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/sqlrows"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
)

// largestMessage bounds a message of the server, which holds one row at most: what answers at the address may be anything, and
// announce a gigabyte.
const largestMessage = 16 << 20

// What becomes of a parameter. All others are refused, before the library sees them: many read files, which nothing but this prevents
// where the kernel has no Landlock, and the server takes those that the library does not know.
var (
	passed = strings.Fields(`host port user password database sslmode sslrootcert sslnegotiation sslsni channel_binding require_auth
		target_session_attrs min_protocol_version max_protocol_version options search_path`)
	// ignored are decided by the adapter, or change nothing for a read.
	ignored = strings.Fields(`application_name fallback_application_name client_encoding connect_timeout gssencmode sslcompression
		sslcertmode tcp_user_timeout timezone datestyle keepalives keepalives_idle keepalives_interval keepalives_count`)
	// local are refused with their names. Any other name may be the rest of a password with a blank in it.
	local = strings.Fields("sslcert sslkey sslpassword sslcrl passfile service servicefile")
)

var modes = []string{"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}

const tlsModes = "sslmode=verify-full with sslrootcert=system, or one of sslmode=require, prefer and disable, which do not verify the server"

// target is a checked connection string.
type target struct {
	config *pgconn.Config
	// endpoints are host:port of all servers.
	endpoints string
	count     int
	redact    sqlrows.Redactor
}

// parse checks a connection string and turns it into the library's configuration. The library never sees the string
// itself but one that is rebuilt from the accepted parts: two parsers that differ would be a way around the check.
func parse(text string) (target, error) {
	settings, err := split(text)
	if err != nil {
		return target{}, err
	}
	if err := check(settings); err != nil {
		return target{}, err
	}
	endpoints, err := endpoints(settings)
	if err != nil {
		return target{}, err
	}
	if settings["user"] == "" {
		return target{}, sqlrows.BadConnection("has no user name: add it")
	}
	config, err := pgconn.ParseConfig(keywords(settings))
	if err != nil {
		// Its text quotes values.
		return target{}, sqlrows.BadConnection("has a parameter with an invalid value: check " +
			"sslmode, sslnegotiation, channel_binding, require_auth, target_session_attrs and the protocol versions")
	}
	config.MaxProtocolMessageBodyLen = largestMessage
	return target{
		config: config, endpoints: strings.Join(endpoints, ", "), count: len(endpoints),
		redact: sqlrows.NewRedactor(settings["password"], settings["user"], settings["database"]),
	}, nil
}

func split(text string) (map[string]string, error) {
	if err := sqlrows.CheckText(text); err != nil {
		return nil, err
	}
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "postgres://") && !strings.HasPrefix(text, "postgresql://") {
		if sqlrows.HasScheme(text) {
			return nil, sqlrows.BadConnection("has a scheme other than postgres:// or postgresql://, and so is neither " + forms)
		}
		return splitKeywords(text)
	}
	c, err := sqlrows.ParseURL(text)
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
			return nil, sqlrows.BadConnection("is neither " + forms + ", and quote values that contain spaces: 'a b'")
		}
		value, rest, ok := keywordValue(strings.TrimLeft(rest, blanks))
		if !ok {
			return nil, sqlrows.BadConnection(`has a value with an unclosed quotation mark: close it, or write \' for a quotation mark in the value`)
		}
		if _, twice := settings[canonical(name)]; twice {
			return nil, sqlrows.BadConnection("has a duplicate parameter: keep one of them, and quote values that contain spaces: 'a b'")
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

func check(settings map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		switch {
		case slices.Contains(passed, name):
		case slices.Contains(ignored, name):
			delete(settings, name)
		case slices.Contains(local, name):
			return sqlrows.BadConnection(fmt.Sprintf("has the parameter %s, which refers to something on the operator's own machine: "+
				"remove it; user, password, and sslmode=verify-full with sslrootcert=system do not need it", name))
		case store.IsTLSOption(name):
			return sqlrows.BadConnection(fmt.Sprintf("has the parameter %s, which PostgreSQL does not have: use %s", name, tlsModes))
		default:
			return sqlrows.BadConnection("has an unknown parameter: remove it (client libraries for other languages have " +
				"different parameters), or quote the value before it")
		}
	}
	if mode, ok := settings["sslmode"]; ok && !slices.Contains(modes, mode) {
		return sqlrows.BadConnection("has an unknown value for sslmode: use " + tlsModes)
	}
	if root, ok := settings["sslrootcert"]; ok && root != "system" {
		return sqlrows.BadConnection("has the parameter sslrootcert with a file, but files of the operator's machine are not read: " +
			"use sslrootcert=system for the CAs that the operator trusts")
	}
	return nil
}

func endpoints(settings map[string]string) ([]string, error) {
	hosts, ports := strings.Split(settings["host"], ","), strings.Split(settings["port"], ",")
	if len(ports) > 1 && len(ports) != len(hosts) {
		return nil, sqlrows.BadConnection("has different numbers of ports and hosts: use one port for all hosts, or one for each")
	}
	all := make([]string, len(hosts))
	for i, host := range hosts {
		port := ports[0]
		if len(ports) > 1 {
			port = ports[i]
		}
		var err error
		if all[i], err = sqlrows.Address(host, port, "5432"); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// keywords writes a connection string. What the library would otherwise take from files in the home directory is named as
// empty, what it would guess is given.
func keywords(settings map[string]string) string {
	all := map[string]string{
		"application_name": sqlrows.Program,
		"connect_timeout":  strconv.Itoa(int(sqlrows.ConnectTimeout.Seconds())),
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
