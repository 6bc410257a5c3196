package tenantsource

import (
	"fmt"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

// StateWritten is the condition of a source that writes a state table.
const StateWritten chain.ConditionType = "StateWritten"

// Its reasons.
const (
	UpToDate      chain.Reason = "UpToDate"
	WriteFailed   chain.Reason = "WriteFailed"
	StatesRefused chain.Reason = "StatesRefused"
	StatesBehind  chain.Reason = "StatesBehind"
)

// statesCondition is the report about the state table; nil where there is nothing to say yet. It names a time and not an age, which
// would be a write of status each time.
func statesCondition(v *statetable.Verdict) *chain.Condition {
	switch {
	case v == nil:
		return nil
	case v.Failure != "":
		message := v.Failure
		if !v.Since.IsZero() {
			message += fmt.Sprintf(". Changes have been waiting since %s. They are not lost, and the tenants are not affected", v.Since.UTC().Format(time.RFC3339))
		}
		return &chain.Condition{Type: StateWritten, Reason: WriteFailed, Message: sentence(message) + "."}
	case v.Refused != "":
		return &chain.Condition{Type: StateWritten, Reason: StatesRefused, Message: "The database rejects the rows of some tenants, such as " + v.Refused + ". They are tried again at least every five minutes."}
	case v.Behind:
		return &chain.Condition{Type: StateWritten, Reason: StatesBehind, Message: "The database takes rows, but some have been waiting for more than a minute."}
	case v.Compared:
		return &chain.Condition{Type: StateWritten, Status: true, Reason: UpToDate, Message: "The state table is up to date."}
	}
	return nil
}
