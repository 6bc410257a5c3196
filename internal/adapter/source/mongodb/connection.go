package mongodb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

const opConnect = "Connect"

const (
	dialTimeout = 5 * time.Second
	// selectionTimeout is how long a primary is looked for. An election takes longer: the next poll finds its winner.
	selectionTimeout = 5 * time.Second
	applicationName  = "cloudfront-tenant-operator"
)

const example = "use mongodb://user:password@host:27017/?authSource=admin, with special characters in user and password percent-encoded" //nolint:gosec // an example for people

// allowed are the options that a connection string may have, in lower case. A user who writes a Secret must not make
// the operator read its own files or use its own identity, so any option that is not known to be harmless is refused.
// Those with a nil have no effect on a read, or none that matters.
var allowed = map[string]func(value string) (cure string){
	"appname": nil, "authsource": nil, "compressors": nil, "zlibcompressionlevel": nil, "zstdcompressionlevel": nil,
	"connect": nil, "directconnection": nil, "loadbalanced": nil, "replicaset": nil, "srvmaxhosts": nil, "srvservicename": nil,
	"connecttimeoutms": nil, "sockettimeoutms": nil, "timeoutms": nil, "serverselectiontimeoutms": nil, "waitqueuetimeoutms": nil,
	"heartbeatfrequencyms": nil, "heartbeatintervalms": nil, "localthresholdms": nil, "maxidletimems": nil, "servermonitoringmode": nil,
	"maxpoolsize": nil, "minpoolsize": nil, "maxconnecting": nil,
	"retryreads": nil, "retrywrites": nil, "w": nil, "wtimeoutms": nil, "journal": nil,
	"ssl": nil, "tls": nil, "tlsdisableocspendpointcheck": nil,

	"authmechanism": only("a source can't use the operator's own identity and files: remove it, or use SCRAM-SHA-256, SCRAM-SHA-1 or PLAIN",
		"scram-sha-256", "scram-sha-1", "plain"),
	"readpreference":   only("members other than the primary may return old data, and a tenant missing there would be deleted: use primary", "primary"),
	"readconcernlevel": only("data that is read must not be rolled back later: remove it, or use majority", "majority"),
	"tlsinsecure":      only(insecure, "false"), "sslinsecure": only(insecure, "false"),
	"tlsallowinvalidcertificates": only(insecure, "false"), "tlsallowinvalidhostnames": only(insecure, "false"),
}

const insecure = "an unverified server could return an empty collection: remove it, and " +
	"make the operator trust the server's CA (chart value caBundle, or SSL_CERT_FILE in its environment)"

// cures are the fixes for options that are refused whatever their value is.
var cures = map[string]string{
	"tlscafile":                   insecure,
	"sslcertificateauthorityfile": insecure,
}

func only(cure string, values ...string) func(string) string {
	return func(value string) string {
		if slices.Contains(values, strings.ToLower(value)) {
			return ""
		}
		return cure
	}
}

// connection is a connection string that was checked.
type connection struct {
	options *options.ClientOptions
	// hosts is what failures may name.
	hosts string
	// secrets must not be in any text.
	secrets []string
}

// invalid is the failure of a connection string. No part of the string may be in the text but the
// names of its options.
func invalid(format string, arguments ...any) error {
	return &fault.Error{
		Kind: fault.Invalid, Operation: opConnect, Code: mapping.CodeConnectionString,
		Message: store.Message("the connection string " + fmt.Sprintf(format, arguments...)),
	}
}

// parseConnection checks the options before the driver sees them: the driver reads files while it parses.
func parseConnection(ctx context.Context, text string) (connection, error) {
	scheme, rest, found := strings.Cut(strings.TrimSpace(text), "://")
	if !found || scheme != "mongodb" && scheme != "mongodb+srv" {
		return connection{}, invalid("does not start with mongodb:// or mongodb+srv://; %s", example)
	}
	user, rest, found := strings.Cut(rest, "@")
	if !found {
		user, rest = "", user
	}
	// Then what looks like the host is a piece of the password, and would be looked up and told.
	if strings.Contains(rest, "@") {
		return connection{}, invalid("has more than one @; %s", example)
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
		return connection{}, invalid("is not accepted by the driver; %s", example)
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
		key, value, found := strings.Cut(pair, "=")
		name, nameErr := url.QueryUnescape(key)
		value, valueErr := url.QueryUnescape(value)
		name = strings.ToLower(name)
		if !found || nameErr != nil || valueErr != nil {
			return invalid("has an option that is not in the form name=value; %s", example)
		}
		check, known := allowed[name]
		if !known {
			return refused(name)
		}
		if check == nil {
			continue
		}
		if cure := check(value); cure != "" {
			return invalid("has an invalid value for the option %s: %s", name, cure)
		}
	}
	return nil
}

// refused names an option that the driver knows. Any other may be a piece of a password that was
// not encoded.
func refused(name string) error {
	const files = "it refers to a file of the operator: remove it"
	const own = "a source can't use the operator's own identity: remove it"
	cure, known := cures[name], true
	switch {
	case cure != "":
	case strings.HasSuffix(name, "file"), strings.HasSuffix(name, "filepassword"), name == "sslclientcertificatekeypassword":
		cure = files
		known = strings.HasPrefix(name, "tls") || strings.HasPrefix(name, "ssl")
	case name == "authmechanismproperties":
		cure = own
	case name == "readpreferencetags", name == "maxstaleness", name == "maxstalenessseconds":
		cure = "only the primary is read: remove it"
	case slices.Contains([]string{"proxyhost", "proxyport", "proxyusername", "proxypassword"}, name):
		cure = "proxies are not supported: remove it"
	case store.IsTLSOption(name):
		cure = "MongoDB does not have this option: use tls=true or tls=false"
	default:
		known = false
	}
	if !known || len(name) > 40 {
		return invalid("has an option that a source must not set: remove it; %s", example)
	}
	return invalid("has the option %s: %s", name, cure)
}

// restrict has the last word over the connection string: one read, from the primary, that asks
// nothing twice behind our back, and no web server that a certificate names.
func restrict(o *options.ClientOptions) *options.ClientOptions {
	o.Timeout = nil
	return o.SetReadPreference(readpref.Primary()).SetRetryReads(false).SetRetryWrites(false).
		SetAppName(applicationName).SetMinPoolSize(0).SetMaxPoolSize(2).SetDisableOCSPEndpointCheck(true).
		SetConnectTimeout(dialTimeout).SetServerSelectionTimeout(selectionTimeout).SetServerMonitoringMode("poll")
}

// tcpOnly dials no sockets of the operator's machine, and nothing that the guard refuses, whatever host a server may send
// us to.
type tcpOnly struct{ guard *store.Guard }

// DialContext implements options.ContextDialer.
func (d tcpOnly) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if network != "tcp" {
		return nil, net.UnknownNetworkError(network)
	}
	if err := d.guard.Admit(address); err != nil {
		return nil, err
	}
	dialer := d.guard.Dialer()
	dialer.Timeout = dialTimeout
	return dialer.DialContext(ctx, network, address)
}

// secrets are the pieces that a server may repeat.
func secrets(user, path string, o *options.ClientOptions) []string {
	found := []string{user, path}
	if o.Auth != nil {
		found = append(found, o.Auth.Username, o.Auth.Password, o.Auth.AuthSource)
	}
	return found
}
