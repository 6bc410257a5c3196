package access

// FilterWithClock is Filter with a clock of the test's.
var FilterWithClock = filter
