//go:build race

package e2e_test

// raceDetector is on in the operator as it is in the tests.
const raceDetector = true
