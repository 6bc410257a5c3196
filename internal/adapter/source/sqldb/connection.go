package sqldb

import (
	"maps"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
)

// BadConnection refuses a connection string. The problem is a fixed text: nothing of the string may reach it.
func BadConnection(problem string) error { return store.BadConnection(operation, problem) }

// CheckParameters refuses a connection string with a parameter that it may not have.
func CheckParameters(allowed store.Parameters, params map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if problem := allowed.Check(name, params[name]); problem != "" {
			return BadConnection(problem)
		}
	}
	return nil
}

// Connection is what a connection string says, in whichever form it was written.
type Connection struct {
	User, Password, Database string
	// Hosts and Ports belong together; a port is empty where none is given.
	Hosts, Ports []string
	// Params are the parameters by their name.
	Params map[string]string
}

var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.:-]*://`)

// HasScheme reports whether a text begins as a URL does, of whatever kind.
func HasScheme(text string) bool { return scheme.MatchString(text) }

// The fix for strings whose parts can't be told from each other.
const escape = "percent-encode the characters : / ? # [ ] @ % in the user name and password"

// ParseURL takes scheme://user:password@host:port,host:port/database?parameter=value apart. It is more lenient than
// net/url with passwords, and knows lists of hosts.
func ParseURL(text string) (Connection, error) {
	var c Connection
	_, rest, _ := strings.Cut(text, "://")
	rest, query, _ := strings.Cut(rest, "?")
	authority, database, _ := strings.Cut(rest, "/")
	// Then what looks like the host is a piece of the password, and would be looked up and told.
	if strings.Contains(database, "@") || strings.Contains(query, "@") {
		return c, BadConnection("has an @ after the host: " + escape)
	}
	hosts := authority
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, password, _ := strings.Cut(authority[:at], ":")
		hosts = authority[at+1:]
		if err := unescape(user, &c.User); err != nil {
			return c, err
		}
		if err := unescape(password, &c.Password); err != nil {
			return c, err
		}
	}
	if err := unescape(database, &c.Database); err != nil {
		return c, err
	}
	for host := range strings.SplitSeq(hosts, ",") {
		h, p, err := splitHost(host)
		if err != nil {
			return c, err
		}
		c.Hosts, c.Ports = append(c.Hosts, h), append(c.Ports, p)
	}
	var err error
	c.Params, err = parseParams(query)
	return c, err
}

// ParseParams takes parameter=value&parameter=value apart.
func parseParams(query string) (map[string]string, error) {
	params := map[string]string{}
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, BadConnection("has a parameter without a value: use parameter=value, separated by &")
		}
		var decoded [2]string
		for i, part := range []string{name, value} {
			if err := unescape(part, &decoded[i]); err != nil {
				return nil, err
			}
		}
		if _, twice := params[decoded[0]]; twice {
			return nil, BadConnection("has a duplicate parameter: keep one of them")
		}
		params[decoded[0]] = decoded[1]
	}
	return params, nil
}

func unescape(text string, into *string) error {
	decoded, err := url.PathUnescape(text)
	if err != nil {
		return BadConnection("has an invalid percent-encoding: " + escape)
	}
	*into = decoded
	return CheckText(decoded)
}

// CheckText refuses what is no text. A NUL would end a value in the protocols.
func CheckText(text string) error {
	if strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
		return BadConnection("has a NUL or bytes that are not UTF-8: remove them")
	}
	return nil
}

func splitHost(text string) (host, port string, err error) {
	switch {
	case strings.HasPrefix(text, "["):
		var closed bool
		if host, port, closed = strings.Cut(text[1:], "]"); !closed || port != "" && port[0] != ':' {
			return "", "", BadConnection("has an IPv6 address without its closing bracket, as in [::1]:5432")
		}
		port = strings.TrimPrefix(port, ":")
	default:
		host, port, _ = strings.Cut(text, ":")
	}
	// Percent-encoding is how libpq's URLs spell the folder of a socket, which CheckHost then refuses.
	err = unescape(host, &host)
	return host, port, err
}

// hostName leaves no room for a path, a socket's name or a URL.
var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?\.?$`)

// Address checks a host and its port, and joins them. It only accepts what is reached over the network: no socket in
// the file system, and no abstract one.
func Address(host, port, defaultPort string) (string, error) {
	if host == "" {
		return "", BadConnection("has no host: add the name or the address of the server")
	}
	if strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || strings.HasPrefix(host, `\`) {
		return "", BadConnection("uses a Unix socket of the operator's machine as its host: use the name of the server, as in db.example.com")
	}
	if _, err := netip.ParseAddr(host); err != nil && (len(host) > 253 || !hostName.MatchString(host)) {
		return "", BadConnection("has a host that is neither a name nor an address: check it, and " + escape)
	}
	if port == "" {
		port = defaultPort
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", BadConnection("has a port that is not a number from 1 to 65535: check it, and " + escape)
	}
	return net.JoinHostPort(host, port), nil
}
