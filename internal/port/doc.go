// Package port says what the operator needs of the world, in the words of the domain.
// Adapters implement it; the inventory and the controllers use it.
//
// Every method makes at most one round of calls, never waits for the world to change,
// and answers failures as *fault.Error. Absence is an error of kind fault.NotFound: an
// empty answer never stands for "not there".
package port
