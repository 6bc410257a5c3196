//go:build !race

package hostile_test

// raceDetector is off in the operator as it is in the tests: it needs a C compiler.
const raceDetector = false
