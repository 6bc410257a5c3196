package chain

// Halt is why nothing may be changed in AWS for any object. A nil one lets everything go on.
type Halt struct {
	// Reason is that of the conditions.
	Reason Reason
	// Message says why, and how to go on.
	Message string
}
