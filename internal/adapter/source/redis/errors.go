package redis

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	sdk "github.com/redis/go-redis/v9"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
)

// meaning is what a code of Redis stands for. Its own texts name users and keys.
type meaning struct {
	kind fault.Kind
	text string
}

// meanings has the codes, which are the first words of Redis's errors. A code that is not listed is transient.
var meanings = map[string]meaning{
	"NOAUTH":    {fault.Denied, "the server requires a user name and a password"},
	"WRONGPASS": {fault.Denied, "the server rejects the user name or password"},
	codeNotPermitted: {fault.Denied, "the user is not allowed to run this command, or not on every key that the pattern matches: " +
		"its ACL needs ~ with the pattern and +scan +type +hmget +get, and +info to check the server"},
	"DENIED": {fault.Denied, "the server is in protected mode and accepts no connections from other machines"},

	"LOADING":     {fault.Transient, "the server is still loading its data"},
	"MASTERDOWN":  {fault.Transient, "the server is a replica that has lost its master"},
	"BUSY":        {fault.Transient, "the server is busy with a long-running script"},
	"CLUSTERDOWN": {fault.Transient, "the cluster is down"},
	"TRYAGAIN":    {fault.Transient, "the keys are being moved"},
	"WRONGTYPE":   {fault.Transient, "the type of a key changed during the read"},

	"MOVED": {fault.Invalid, isCluster},
	"ASK":   {fault.Invalid, isCluster},
}

const codeNotPermitted = "NOPERM"

const isCluster = "the server is a cluster node, which has only some of the keys: use a server that has all of them"

// phrases are for the code ERR, which Redis uses for everything else.
var phrases = []struct {
	contains string
	meaning
}{
	{"db index is out of range", meaning{fault.Invalid, "the server has no database with this number"}},
	{"invalid db index", meaning{fault.Invalid, "the server has no database with this number"}},
	{"max number of clients", meaning{fault.Throttled, "the connection limit of the server is reached"}},
	{"without any password configured", meaning{fault.Denied, "the server requires no password, or only knows named users"}},
	{"invalid password", meaning{fault.Denied, "the server rejects the user name or password"}},
	{"operation not permitted", meaning{fault.Denied, "the server rejects the user name or password"}},
	// Redis 6 says that of a command in a script.
	{"the user executing the script", meaning{fault.Denied, "the user is not allowed to run the script"}},
	{"unknown command", meaning{fault.Invalid, "the server does not know this command"}},
	{"unknown subcommand", meaning{fault.Invalid, "the server does not know this command"}},
}

var codeForm = regexp.MustCompile(`^[A-Z]{1,40}$`)

// failed turns an error of the driver into a *fault.Error.
func (c connection) failed(ctx context.Context, operation string, err error) error {
	failure := &fault.Error{Kind: fault.Transient, Operation: operation, Message: c.host + ": " + store.Unanswered(err)}
	var answer sdk.Error
	switch {
	// The connection is closed under a read that was cancelled, which shows as any error.
	case ctx.Err() != nil:
		failure.Err, failure.Message = ctx.Err(), c.host+": "+store.Unanswered(ctx.Err())
	case errors.As(err, &answer) && !errors.Is(err, sdk.Nil):
		code, text, _ := strings.Cut(answer.Error(), " ")
		if !codeForm.MatchString(code) {
			code = ""
		}
		m := meaningOf(code, text)
		failure.Kind, failure.Code, failure.Message = m.kind, code, c.host+": "+m.text
	}
	return failure
}

func meaningOf(code, text string) meaning {
	if m, ok := meanings[code]; ok {
		return m
	}
	text = strings.ToLower(text)
	for _, p := range phrases {
		if strings.Contains(text, p.contains) {
			return p.meaning
		}
	}
	return meaning{fault.Transient, "the server could not finish the read"}
}

// incomplete is the failure of a server whose answer can't be the whole truth.
func (c connection) incomplete(operation, format string, arguments ...any) error {
	return &fault.Error{Kind: fault.Transient, Operation: operation, Message: c.host + ": " + fmt.Sprintf(format, arguments...)}
}
