// Package identity decides which roles of AWS may be assumed on whose behalf, and under
// which names the operator asks for them. It is pure.
//
// Anyone who can write an object can name a role in it, and the operator's own identity is what assumes the role. Two
// things keep one namespace from using the role of another: the administrator's patterns, and the external ID, which
// names the cluster and the namespace and which the role's trust policy has to require.
package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// ExternalID is what the operator presents when it assumes a role for an object of the namespace: "<cluster
// id>/<namespace>". No two pairs share one, because a namespace has no slash. AWS allows fewer characters here than in
// a tag value, and a cluster ID may be any tag value: any byte that is not allowed, and "=" itself, becomes "=" and two
// hexadecimal digits.
func ExternalID(clusterID, namespace string) string {
	var b strings.Builder
	for _, c := range []byte(clusterID) {
		if c == '=' || !isPlain(c) && c != ':' && c != '/' {
			fmt.Fprintf(&b, "=%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String() + "/" + namespace
}

// What AWS takes as the name of a session.
const (
	longestSession = 64
	sessionPrefix  = "cloudfront-tenant-operator@"
	hashDigits     = 10
)

// SessionName is the name under which the audit log of the role's account shows what was
// done for the namespace: "cloudfront-tenant-operator@<namespace>". One that is too long for
// AWS is cut, and ends in a hash of the whole namespace.
func SessionName(namespace string) string {
	if name := sessionPrefix + namespace; len(name) <= longestSession {
		return name
	}
	sum := sha256.Sum256([]byte(namespace))
	end := "-" + hex.EncodeToString(sum[:])[:hashDigits]
	return sessionPrefix + namespace[:longestSession-len(sessionPrefix)-len(end)] + end
}

// isPlain reports whether a byte is allowed in the name of a role and in the names of sessions.
func isPlain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("_+=,.@-", c) >= 0
}
