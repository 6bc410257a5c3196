//go:build race

package module

// RaceDetector is on in this test.
const RaceDetector = true
