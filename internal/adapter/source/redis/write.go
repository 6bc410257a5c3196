package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	sdk "github.com/redis/go-redis/v9"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/fault"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

const opEval = "EVAL"

// codeOtherType is that of a key that is no hash.
const codeOtherType = "WRONGTYPE"

// change writes the fields of a hash, or without fields removes it, unless a later row is there. Versions are compared as texts:
// numbers of Lua are exact up to 2^53 only. A failure of the first command is handed on as it is, which not every server does
// on its own.
const change = `local held, own = redis.pcall('HGET', KEYS[1], '` + statetable.ColumnVersion + `'), ARGV[1]
if type(held) == 'table' then return held end
if held and string.match(held, '^%d+$') and (#held > #own or #held == #own and held > own) then return 0 end
if #ARGV == 1 then return redis.call('DEL', KEYS[1]) end
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
return 1`

// answers are for codes that mean something else for a write than for a read.
var answers = map[string]meaning{
	codeNotPermitted: {fault.Denied, "the user is not allowed to write the rows: its ACL needs ~ with the name of the table and :*, and +eval +hget +hset +del " +
		"+scan +type +hgetall +info, as \"kubectl cfdt source ddl\" prints"},
	codeOtherType: {fault.Invalid, "the key of the row has a value that is not a hash: delete the key, or use another spec.writeBack.table"},
	"READONLY":    {fault.Invalid, isReadOnly},
	"MASTERDOWN":  {fault.Invalid, isReadOnly},
	"OOM":         {fault.Quota, "the server has no memory left for more data: raise its maxmemory"},
	"MISCONF":     {fault.Quota, "the server refuses to write because it could not save its data to disk: see its log"},
	"NOREPLICAS":  {fault.Transient, "the server refuses to write because it has too few replicas"},
}

const isReadOnly = "the server is a replica, which takes no writes: connect to the primary"

// Write implements port.States. A script for each row compares the versions.
func (k *Keys) Write(ctx context.Context, to statetable.Target, changes []statetable.Change) ([]statetable.Refusal, error) {
	ctx, cancel := context.WithTimeout(ctx, store.WriteTimeout)
	defer cancel()
	connection, err := parseConnection(to.Connection.Reveal())
	if err != nil {
		return nil, err
	}
	r, leave, err := k.connect(ctx, connection)
	if err != nil {
		return nil, err
	}
	defer leave()
	is, err := r.check(ctx)
	switch {
	case err != nil:
		return nil, err
	case isReplica(is.role):
		return nil, fault.New(fault.Invalid, "INFO", "%s: %s", r.host, isReadOnly)
	}
	var refused []statetable.Refusal
	for some := range slices.Chunk(changes, valuesAtOnce) {
		more, err := r.put(ctx, to, some)
		if err != nil {
			return nil, err
		}
		refused = append(refused, more...)
	}
	return store.Refused(refused, len(changes))
}

// put makes changes, and returns those that are refused.
func (r read) put(ctx context.Context, to statetable.Target, changes []statetable.Change) (refused []statetable.Refusal, err error) {
	commands, err := r.client.Pipelined(ctx, func(p sdk.Pipeliner) error {
		for i := range changes {
			p.Eval(ctx, change, []string{to.RedisKey(changes[i].Row.Key)}, arguments(&changes[i])...)
		}
		return nil
	})
	for i, command := range commands {
		if command.Err() == nil {
			continue
		}
		failure := r.unwritten(ctx, command.Err())
		if failure.Code != codeOtherType {
			return nil, failure
		}
		refused = append(refused, statetable.Refusal{Key: changes[i].Row.Key, Failure: failure})
	}
	if err != nil && len(refused) == 0 {
		return nil, r.unwritten(ctx, err)
	}
	return refused, nil
}

// unwritten turns the failure of a script into a *fault.Error with the words of writes.
func (r read) unwritten(ctx context.Context, err error) *fault.Error {
	failure, _ := errors.AsType[*fault.Error](r.failed(ctx, opEval, err))
	code := failure.Code
	if failure.Kind == fault.Denied {
		code = codeNotPermitted
	}
	switch meaning, known := answers[code]; {
	case known:
		failure.Kind, failure.Message = meaning.kind, r.host+": "+meaning.text
	case failure.Kind == fault.Invalid && failure.Code == "ERR":
		failure.Message = r.host + ": the server has no scripts (EVAL), which replace no row that is later: use a server that has them"
	}
	return failure
}

// arguments are those of the script: the version, and all fields of a row that is to be written.
func arguments(c *statetable.Change) []any {
	out := []any{c.Row.Version}
	if c.Remove {
		return out
	}
	for i, value := range c.Row.Values() {
		if at, ok := value.(time.Time); ok {
			value = ""
			if !at.IsZero() {
				value = at.UTC().Format(time.RFC3339)
			}
		}
		out = append(out, statetable.Columns[i].Name, fmt.Sprint(value))
	}
	return out
}
