package mongodb

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

const opConnect = "Connect"

const (
	dialTimeout = 5 * time.Second
	// selectionTimeout is how long a primary is looked for. An election takes longer: the next poll finds its winner.
	selectionTimeout = 5 * time.Second
)

const example = "use mongodb://user:password@host:27017/?authSource=admin, with special characters in user and password percent-encoded" //nolint:gosec // an example for people

// parameters are in lower case. Those of an identity would have the driver ask addresses that no guard checks for the
// operator's own.
var parameters = store.Parameters{
	Known: []store.Parameter{
		{Names: `appname authsource compressors connect connecttimeoutms directconnection heartbeatfrequencyms
			heartbeatintervalms journal loadbalanced localthresholdms maxconnecting maxidletimems maxpoolsize minpoolsize replicaset
			retryreads retrywrites servermonitoringmode serverselectiontimeoutms sockettimeoutms srvmaxhosts srvservicename ssl
			timeoutms tls tlsdisableocspendpointcheck w waitqueuetimeoutms wtimeoutms zlibcompressionlevel zstdcompressionlevel`},
		{
			Names: "authmechanism", Values: []string{"scram-sha-256", "scram-sha-1", "plain"},
			Problem: own + ", or use SCRAM-SHA-256, SCRAM-SHA-1 or PLAIN",
		},
		{Names: "authmechanismproperties", Problem: own},
		{Names: "readpreference", Values: []string{"primary"}, Problem: primary},
		{Names: "readpreferencetags maxstalenessseconds", Problem: primary},
		{
			Names: "readconcernlevel", Values: []string{"majority"},
			Problem: "has the option %s: data that is read must not be rolled back later: remove it, or use majority",
		},
		// The last two are not the Go driver's, but those of other drivers and of mongosh.
		{Names: "tlsinsecure sslinsecure tlsallowinvalidcertificates tlsallowinvalidhostnames", Values: []string{"false"}, Problem: insecure},
		{Names: "tlscafile sslcertificateauthorityfile", Problem: insecure},
		{
			Names:   "tlscertificatekeyfile tlscertificatefile tlsprivatekeyfile",
			Problem: "has the option %s: it refers to a file of the operator: remove it",
		},
	},
	TLS:   "has the option %s, which MongoDB does not have: use tls=true or tls=false",
	Other: "has an option that a source must not set: remove it; " + example,
}

const (
	own     = "has the option %s: a source can't use the operator's own identity and files: remove it"
	primary = "has the option %s: only the primary is read, because others may return old data, and a tenant missing there would be deleted: " +
		"remove it, or use primary"
	insecure = "has the option %s: an unverified server could return an empty collection: remove it, and " +
		"make the operator trust the server's CA (chart value caBundle, or SSL_CERT_FILE in its environment)"
)

// connection is a connection string that was checked.
type connection struct {
	options *options.ClientOptions
	// hosts is what failures may name.
	hosts string
	// secrets must not be in any text.
	secrets []string
}

func invalid(problem string) error { return store.BadConnection(opConnect, problem) }

// parseConnection checks the options before the driver sees them: the driver reads files while it parses.
func parseConnection(ctx context.Context, text string) (connection, error) {
	scheme, rest, found := strings.Cut(strings.TrimSpace(text), "://")
	if !found || scheme != "mongodb" && scheme != "mongodb+srv" {
		return connection{}, invalid("does not start with mongodb:// or mongodb+srv://; " + example)
	}
	user, rest, found := strings.Cut(rest, "@")
	if !found {
		user, rest = "", user
	}
	// Then what looks like the host is a piece of the password, and would be looked up and told.
	if strings.Contains(rest, "@") {
		return connection{}, invalid("has more than one @; " + example)
	}
	place, query, _ := strings.Cut(rest, "?")
	if err := checkOptions(query); err != nil {
		return connection{}, err
	}
	hosts, path, _ := strings.Cut(place, "/")
	if unescaped, err := url.QueryUnescape(hosts); err != nil || strings.Contains(unescaped, "/") || strings.Contains(unescaped, ".sock") {
		return connection{}, invalid("uses a Unix socket of the operator's machine: use a host and a port")
	}
	o, err := apply(ctx, scheme, strings.TrimSpace(text))
	if err != nil {
		return connection{}, connection{hosts: hosts}.failed(opConnect, err)
	}
	if err := o.Validate(); err != nil {
		if dns, ok := errors.AsType[*net.DNSError](err); ok && !dns.IsNotFound {
			return connection{}, &fault.Error{Kind: fault.Transient, Operation: opConnect, Message: hosts + ": " + store.Unanswered(err)}
		}
		return connection{}, invalid("is not accepted by the driver; " + example)
	}
	return connection{options: restrict(o), hosts: strings.Join(o.Hosts, ","), secrets: secrets(user, path, o)}, nil
}

// apply lets the driver parse the string. For mongodb+srv it asks DNS, without a context: the caller waits for that no
// longer than its context lasts.
func apply(ctx context.Context, scheme, text string) (*options.ClientOptions, error) {
	if scheme == "mongodb" {
		return options.Client().ApplyURI(text), nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	parsed := make(chan *options.ClientOptions, 1)
	go func() { parsed <- options.Client().ApplyURI(text) }()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case o := <-parsed:
		return o, nil
	}
}

func checkOptions(query string) error {
	for _, pair := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, found := strings.Cut(pair, "=")
		name, nameErr := url.QueryUnescape(name)
		value, valueErr := url.QueryUnescape(value)
		if !found || nameErr != nil || valueErr != nil {
			return invalid("has an option that is not in the form name=value; " + example)
		}
		if problem := parameters.Check(strings.ToLower(name), strings.ToLower(value)); problem != "" {
			return invalid(problem)
		}
	}
	return nil
}

// restrict has the last word over the connection string: one read, from the primary, that repeats no request without
// our knowledge, and asks no web server that a certificate names.
func restrict(o *options.ClientOptions) *options.ClientOptions {
	o.Timeout = nil
	return o.SetReadPreference(readpref.Primary()).SetRetryReads(false).SetRetryWrites(false).
		SetAppName(store.Program).SetMinPoolSize(0).SetMaxPoolSize(2).SetDisableOCSPEndpointCheck(true).
		SetConnectTimeout(dialTimeout).SetServerSelectionTimeout(selectionTimeout).SetServerMonitoringMode("poll")
}

// secrets are the pieces that a server may repeat.
func secrets(user, path string, o *options.ClientOptions) []string {
	found := []string{user, path}
	if o.Auth != nil {
		found = append(found, o.Auth.Username, o.Auth.Password, o.Auth.AuthSource)
	}
	return found
}
