package resource

import "strings"

// Knowledge says how much is known of the tenant in AWS.
type Knowledge int

const (
	// Nothing is known.
	Nothing Knowledge = iota
	// Absent means that a read of this very tenant, in this pass, found none, or that AWS has confirmed its deletion.
	Absent
	// Listed means the list has it: all but parameters and tags.
	Listed
	// Whole means it was read, and nothing has moved since.
	Whole
)

// AccountOf returns the account in an ARN, empty if it has none.
func AccountOf(arn string) string {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 {
		return ""
	}
	return parts[4]
}
