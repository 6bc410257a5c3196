package cli

// RolloutText tells how far a change of a source's spec has come.
var RolloutText = rolloutText
