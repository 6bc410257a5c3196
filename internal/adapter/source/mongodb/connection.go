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

// harmless are the options that a connection string may have with any value, in lower case. Any that is not known to be
// harmless is refused, before the driver sees it: it would take the operator's own identity from addresses that no guard
// checks, and where the kernel has no Landlock, it would read the operator's files.
var harmless = strings.Fields(`appname authsource compressors connect connecttimeoutms directconnection heartbeatfrequencyms
	heartbeatintervalms journal loadbalanced localthresholdms maxconnecting maxidletimems maxpoolsize minpoolsize replicaset
	retryreads retrywrites servermonitoringmode serverselectiontimeoutms sockettimeoutms srvmaxhosts srvservicename ssl
	timeoutms tls tlsdisableocspendpointcheck w waitqueuetimeoutms wtimeoutms zlibcompressionlevel zstdcompressionlevel`)

// limited are the options of which only some values are harmless, or none, and the fix for the others. An option that is
// refused is only named if it is one of these: any other may be a piece of a password that was not encoded.
var limited = map[string]struct {
	fix    string
	values []string
}{
	"authmechanism":               {own + ", or use SCRAM-SHA-256, SCRAM-SHA-1 or PLAIN", []string{"scram-sha-256", "scram-sha-1", "plain"}},
	"authmechanismproperties":     {fix: own},
	"readpreference":              {primary, []string{"primary"}},
	"readpreferencetags":          {fix: primary},
	"maxstalenessseconds":         {fix: primary},
	"readconcernlevel":            {"data that is read must not be rolled back later: remove it, or use majority", []string{"majority"}},
	"tlsinsecure":                 {insecure, []string{"false"}},
	"sslinsecure":                 {insecure, []string{"false"}},
	"tlscafile":                   {fix: insecure},
	"sslcertificateauthorityfile": {fix: insecure},
	"tlscertificatekeyfile":       {fix: file},
	"tlscertificatefile":          {fix: file},
	"tlsprivatekeyfile":           {fix: file},
	// Not the Go driver's, but those of other drivers and of mongosh.
	"tlsallowinvalidcertificates": {insecure, []string{"false"}},
	"tlsallowinvalidhostnames":    {insecure, []string{"false"}},
}

const (
	own      = "a source can't use the operator's own identity and files: remove it"
	file     = "it refers to a file of the operator: remove it"
	primary  = "only the primary is read, because others may return old data, and a tenant missing there would be deleted: remove it, or use primary"
	insecure = "an unverified server could return an empty collection: remove it, and " +
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
		if err := checkOption(name, value); err != nil {
			return err
		}
	}
	return nil
}

func checkOption(name, value string) error {
	limit, known := limited[name]
	switch {
	case slices.Contains(harmless, name), slices.Contains(limit.values, strings.ToLower(value)):
		return nil
	case known:
		return invalid("has the option %s: %s", name, limit.fix)
	case store.IsTLSOption(name):
		return invalid("has the option %s, which MongoDB does not have: use tls=true or tls=false", name)
	}
	return invalid("has an option that a source must not set: remove it; %s", example)
}

// restrict has the last word over the connection string: one read, from the primary, that asks
// nothing twice behind our back, and no web server that a certificate names.
func restrict(o *options.ClientOptions) *options.ClientOptions {
	o.Timeout = nil
	return o.SetReadPreference(readpref.Primary()).SetRetryReads(false).SetRetryWrites(false).
		SetAppName(applicationName).SetMinPoolSize(0).SetMaxPoolSize(2).SetDisableOCSPEndpointCheck(true).
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
