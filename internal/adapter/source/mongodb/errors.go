package mongodb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// The codes that decide about more than the kind of a failure.
const (
	codeUnauthorized         = 13
	codeNamespaceNotFound    = 26
	codeStreamsOff           = 136 // "modifyChangeStreams has not been run for this collection/database" of DocumentDB
	codeNoMajority           = 148
	codeNotImplemented       = 238
	codeAuthenticationFailed = 18
	codeUnsupported          = 303
)

// kinds classifies the codes of servers. A code that is not listed is transient.
var kinds = map[int32]fault.Kind{
	codeUnauthorized:         fault.Denied,
	codeAuthenticationFailed: fault.Denied,
	11:                       fault.Denied, // UserNotFound
	8000:                     fault.Denied, // AtlasError: that of a refused user

	codeNamespaceNotFound: fault.NotFound,

	2:                  fault.Invalid, // BadValue
	9:                  fault.Invalid, // FailedToParse
	14:                 fault.Invalid, // TypeMismatch
	52:                 fault.Invalid, // DollarPrefixedFieldName
	73:                 fault.Invalid, // InvalidNamespace
	115:                fault.Invalid, // CommandNotSupported
	codeNotImplemented: fault.Invalid, // NotImplemented
	codeUnsupported:    fault.Invalid, // "Feature not supported" of DocumentDB
	291:                fault.Invalid, // NoQueryExecutionPlans: $near without its index
	51091:              fault.Invalid, // a regular expression that is none

	16500: fault.Throttled, // TooManyRequests of Cosmos DB
}

// words are the texts for what servers explain with identifiers that differ each time, or with the
// name of the user.
var words = map[fault.Kind]string{
	fault.Denied:    "the user is not allowed to do this: grant it the role read on the database",
	fault.Throttled: "the server is temporarily unavailable",
	fault.Transient: "the server could not finish the read",
	fault.NotFound:  "there is no such collection",
	fault.Invalid:   "the server rejects the query",
}

const loginRefused = "the server rejects the user name or password"

// failed turns an error of the driver into a *fault.Error.
func (c connection) failed(operation string, err error) error {
	cause := causeOf(err)
	// The cause of everything but the end of a context may hold pieces of the connection string, and stays here.
	failure := &fault.Error{Kind: fault.Transient, Operation: operation, Message: c.hosts + ": " + store.Unanswered(cause)}
	var command mongo.CommandError
	switch {
	case asCommand(cause, &command):
		failure.Kind = cmp.Or(kinds[command.Code], fault.Transient)
		failure.Code = codeName(command)
		failure.Message = c.explain(failure.Kind, command)
	case tooOld.MatchString(cause.Error()):
		failure.Kind = fault.Invalid
		failure.Message = fmt.Sprintf("%s: the server uses wire version %s: MongoDB %s or later, or DocumentDB 5.0 or later, is required",
			c.hosts, tooOld.FindStringSubmatch(cause.Error())[1], topology.MinSupportedMongoDBVersion)
	case noPrimary(cause):
		failure.Message = c.hosts + ": none of the servers is a primary"
	case errors.Is(cause, context.DeadlineExceeded):
		failure.Err = context.DeadlineExceeded
	case errors.Is(cause, context.Canceled):
		failure.Err = context.Canceled
	}
	return failure
}

// tooOld is how the driver says that a server is too old for it. The error has no type.
var tooOld = regexp.MustCompile(`^server at .* reports wire version (\d+), but`)

// causeOf looks behind the failure to find a server for what each of them said.
func causeOf(err error) error {
	selection, ok := errors.AsType[topology.ServerSelectionError](err)
	if !ok || errors.Is(err, context.Canceled) {
		return err
	}
	for _, server := range selection.Desc.Servers {
		if server.LastError != nil {
			return server.LastError
		}
	}
	return err
}

// noPrimary reports whether all servers were reached and none would do.
func noPrimary(err error) bool {
	selection, ok := errors.AsType[topology.ServerSelectionError](err)
	return ok && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && len(selection.Desc.Servers) > 0
}

// asCommand finds the answer of a server, also below a handshake that failed.
func asCommand(err error, command *mongo.CommandError) bool {
	if errors.As(err, command) && command.Code != 0 {
		return true
	}
	raw, ok := errors.AsType[driver.Error](err)
	if ok && raw.Code != 0 {
		*command = mongo.CommandError{Code: raw.Code, Name: raw.Name, Message: raw.Message}
		return true
	}
	return false
}

func (c connection) explain(kind fault.Kind, command mongo.CommandError) string {
	text := words[kind]
	switch {
	case kind == fault.Invalid:
		if said := store.Message(command.Message, c.secrets...); said != "" {
			text = said
		}
	case kind == fault.Denied && command.Code != codeUnauthorized:
		text = c.hosts + ": " + loginRefused
	}
	return text
}

var plainName = regexp.MustCompile(`^\w{1,80}$`)

func codeName(command mongo.CommandError) string {
	if plainName.MatchString(command.Name) {
		return command.Name
	}
	return fmt.Sprintf("Code%d", command.Code)
}
