// Package identity decides which roles of AWS may be assumed on behalf of which namespace, and under which names the
// operator asks for them. It is pure.
//
// Anyone who can write an object can name a role in it, and the operator's own identity is what assumes the role. Two
// things keep one namespace from using the role of another: the administrator's patterns, and the external ID, which
// names the cluster and the namespace and which the role's trust policy has to require. The role of a grant is named by
// an administrator, and its external ID names the grant.
package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Subject is on whose behalf a role is assumed: a namespace, or a grant.
type Subject struct{ namespace, grant string }

// OfNamespace is the subject of the objects of a namespace.
func OfNamespace(namespace string) Subject { return Subject{namespace: namespace} }

// OfGrant is the subject of what is done in the AWS account of a grant.
func OfGrant(name string) Subject { return Subject{grant: name} }

// IsGrant reports whether the role is that of a grant.
func (s Subject) IsGrant() bool { return s.grant != "" }

// Name is that of the namespace or grant.
func (s Subject) Name() string { return s.namespace + s.grant }

// grantPrefix tells a grant from a namespace, whose name can't have a colon.
const grantPrefix = "grant:"

// String is the namespace, or the grant as in its external ID.
func (s Subject) String() string {
	if s.IsGrant() {
		return grantPrefix + s.grant
	}
	return s.namespace
}

// ExternalID is what the operator presents when it assumes a role: "<cluster id>/<namespace>" for an object of the
// namespace, "<cluster id>/grant:<name>" for a grant. No two subjects share one, because neither name has a slash. AWS
// allows fewer characters here than in a tag value, and a cluster ID may be any tag value: any byte that is not allowed,
// and "=" itself, becomes "=" and two hexadecimal digits.
func ExternalID(clusterID string, s Subject) string {
	var b strings.Builder
	for _, c := range []byte(clusterID) {
		if c == '=' || !isPlain(c) && c != ':' && c != '/' {
			fmt.Fprintf(&b, "=%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String() + "/" + s.String()
}

// What AWS takes as the name of a session.
const (
	longestSession = 64
	sessionPrefix  = "cloudfront-tenant-operator@"
	hashDigits     = 10
)

// SessionName is the name under which the audit log of the role's account shows what was done:
// "cloudfront-tenant-operator@<namespace>", or "cloudfront-tenant-operator@grant=<name>". One that is too long for AWS is
// cut, and ends in a hash of the whole name.
func SessionName(s Subject) string {
	// A session's name can't have a colon.
	subject := strings.Replace(s.String(), grantPrefix, "grant=", 1)
	if name := sessionPrefix + subject; len(name) <= longestSession {
		return name
	}
	sum := sha256.Sum256([]byte(subject))
	end := "-" + hex.EncodeToString(sum[:])[:hashDigits]
	return sessionPrefix + subject[:longestSession-len(sessionPrefix)-len(end)] + end
}

// isPlain reports whether a byte is allowed in the name of a role and in the names of sessions.
func isPlain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("_+=,.@-", c) >= 0
}
