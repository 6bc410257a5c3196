package chain

// Halt is why nothing may be changed in AWS, for any object or for one. A nil one stops nothing.
type Halt struct {
	// Reason is that of the conditions.
	Reason Reason
	// Message says why, and how to continue.
	Message string
	// Alone means that it is for one object, which has to be changed.
	Alone bool
	// Detail is what the log of the operator adds, as that of a Condition.
	Detail string
}

// Granted is False while an object asks for more than its namespace may have, and that is only audited. Otherwise it is
// absent.
const Granted ConditionType = "Granted"

// NotEnforced is its reason.
const NotEnforced Reason = "NotEnforced"

// Audited is the condition Granted of an object that would be held.
func Audited(h Halt) Condition {
	return Condition{Type: Granted, Reason: NotEnforced, Message: "EdgeGrants are audited, and not enforced yet. " + h.Message}
}
