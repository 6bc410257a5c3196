//go:build !race

package module

// RaceDetector is off in this test.
const RaceDetector = false
