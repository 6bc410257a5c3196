package redis

import (
	"context"
	"crypto/tls"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
)

const opConnect = "Connect"

const (
	dialTimeout = 5 * time.Second
	// answerTimeout is for a part of an answer: a server that is silent for so long is not there any more.
	answerTimeout = 30 * time.Second
)

const example = "use redis://user:password@host:6379/0, or rediss:// for TLS, with special characters in user and password percent-encoded" //nolint:gosec // an example for people

// connection is a connection string that was checked.
type connection struct {
	options *sdk.Options
	// host is what failures may name.
	host string
	// silence is how long the server may say nothing, zero for as long as the driver allows.
	silence time.Duration
}

// parameters are those of which the driver must not see all values. It refuses what it does not know.
var parameters = store.Parameters{
	Known: []store.Parameter{{
		Names: "skip_verify", Values: []string{"false"},
		Problem: "has the option skip_verify, but an unverified server could return an empty table: " +
			"leave it out, and make the operator trust the server's CA (chart value caBundle, or SSL_CERT_FILE in its environment)",
	}},
	TLS: "has the option %s, which Redis does not have: start with rediss:// for TLS, or redis:// without",
}

func invalid(problem string) error { return store.BadConnection(opConnect, problem) }

func parseConnection(text string) (connection, error) {
	text = strings.TrimSpace(text)
	switch scheme, _, _ := strings.Cut(text, ":"); scheme {
	case "redis", "rediss":
	case "unix":
		return connection{}, invalid("uses a Unix socket of the operator's machine: use a host and a port; " + example)
	default:
		return connection{}, invalid("does not start with redis:// or rediss://; " + example)
	}
	parsed, err := url.Parse(text)
	// Then what looks like the host is a piece of the password, and would be looked up and told.
	if err == nil && (strings.Contains(text, "#") || strings.Contains(parsed.EscapedPath()+parsed.RawQuery, "@")) {
		return connection{}, invalid("has a # or an @ after the host; " + example)
	}
	if err != nil || parsed.Opaque != "" {
		return connection{}, invalid("is not a URL; " + example)
	}
	// The driver would connect to the operator's own machine.
	if parsed.Hostname() == "" {
		return connection{}, invalid("has no host; " + example)
	}
	query, err := url.ParseQuery(parsed.RawQuery)
	if err != nil {
		return connection{}, invalid("has options that are not in the form name=value; " + example)
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if problem := parameters.Check(name, strings.Join(query[name], "")); problem != "" {
			return connection{}, invalid(problem)
		}
	}
	options, err := sdk.ParseURL(text)
	if err != nil {
		return connection{}, invalid("is invalid: the path must be a database number, and options must be known and have values of the correct type; " + example)
	}
	if options.DB < 0 {
		return connection{}, invalid("has a negative database number: the first database is 0")
	}
	return connection{options: restricted(options), host: options.Addr}, nil
}

// restricted keeps the user and the database, and decides the rest: one connection, on which
// nothing is tried again.
func restricted(o *sdk.Options) *sdk.Options {
	return &sdk.Options{
		Network: "tcp", Addr: o.Addr, Username: o.Username, Password: o.Password, DB: o.DB, TLSConfig: o.TLSConfig,
		Protocol: 2, ClientName: store.Program, DisableIdentity: true,
		MaxRetries: -1, DialerRetries: 1, PipelinePoolSize: -1, ConnMaxIdleTime: -1,
		DialTimeout: dialTimeout, ReadTimeout: answerTimeout, WriteTimeout: answerTimeout,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

// dial connects, with the driver's own settings for TLS, but under the context: the driver would keep dialing after the
// caller has given up.
func (c connection) dial(ctx context.Context, guard *store.Guard) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if err := guard.Admit(c.options.Addr); err != nil {
		return nil, err
	}
	plain := guard.Dialer()
	if c.options.TLSConfig == nil {
		return plain.DialContext(ctx, c.options.Network, c.options.Addr)
	}
	return (&tls.Dialer{NetDialer: plain, Config: c.options.TLSConfig}).DialContext(ctx, c.options.Network, c.options.Addr)
}

// over is a client on that connection, and on no other: the cursor of a scan means nothing to
// another server, which may stand behind the same name. Greeted becomes true when the server has let
// us in.
func (c connection) over(conn net.Conn, greeted *atomic.Bool) *sdk.Client {
	options := *c.options
	options.OnConnect = func(context.Context, *sdk.Conn) error {
		greeted.Store(true)
		return nil
	}
	if c.silence > 0 {
		conn = audible{conn, c.silence}
	}
	var used atomic.Bool
	options.Dialer = func(context.Context, string, string) (net.Conn, error) {
		if used.Swap(true) {
			return nil, net.ErrClosed
		}
		return conn, nil
	}
	return sdk.NewClient(&options)
}
