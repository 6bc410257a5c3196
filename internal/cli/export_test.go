package cli

import (
	"io"

	corev1 "k8s.io/api/core/v1"
)

// RolloutText tells how far a change of a source's tenants has come.
var RolloutText = rolloutText

// Redact replaces what looks like a credential.
var Redact = redact

// KnownSpec is what a bundle has of a pod's spec.
func KnownSpec(spec corev1.PodSpec) corev1.PodSpec { return newBundle().knownSpec(spec) }

// Colored shows a text in red and one of others in a line, as a terminal with colors gets it.
func Colored(w io.Writer, painted, text string) {
	p := &page{w: w, width: 120, mark: newMark()}
	p.line("%s %s", p.paint(red, painted), text)
}

// OldestKubernetes is the first version of Kubernetes that check accepts.
const OldestKubernetes = oldestKubernetes
