//go:build race

package hostile_test

// raceDetector is on in the operator as it is in the tests.
const raceDetector = true
