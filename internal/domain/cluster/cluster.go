// Package cluster tells whether the cluster is still the one in which the operator was installed. A copy of a cluster has
// the same objects, with the same UIDs, and would take what the other has in AWS for its own.
package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Identity is what a copy of the cluster's objects does not bring along.
type Identity struct {
	// ID is the cluster ID of the owner tags. It is for people: a copy has the same.
	ID string
	// Issuer is the issuer of service account tokens. Empty: it can't be read.
	Issuer string
	// Keys are the hashes of the public keys of the cluster's CA, sorted. None: they can't be read.
	Keys []string
}

// fingerprintBytes is how much of the SHA-256 an administrator copies. Nothing has to withstand a forgery here: who may
// write the ConfigMap may accept any cluster.
const fingerprintBytes = 16

// Fingerprint is a hash of the issuer and the keys.
func (i Identity) Fingerprint() string {
	sum := sha256.Sum256([]byte(i.Issuer + "\n" + strings.Join(i.Keys, "\n")))
	return hex.EncodeToString(sum[:fingerprintBytes])
}

// equals compares also what a copy has.
func (i Identity) equals(other Identity) bool {
	return i.ID == other.ID && i.Issuer == other.Issuer && slices.Equal(i.Keys, other.Keys)
}

// Stored is what the operator has stored at its first start.
type Stored struct {
	Identity
	// Accepted is the fingerprint that an administrator has accepted since.
	Accepted string
}

// Verdict is the answer.
type Verdict struct {
	// Store means that the present identity has to be stored.
	Store bool
	// Moved says how the clusters differ. Empty: it is the same cluster.
	Moved string
}

// Judge compares the cluster with the one that was stored, nil at the first start.
//
// The issuer has to be the same, and one key of the CA has to be: a rotation of the CA shows the old key and the new one
// for a while, and a renewed certificate keeps its key, but a copy with a CA of its own never has a former key. What was
// never readable proves nothing. What was, and is not any more, is taken for a difference.
func Judge(stored *Stored, now Identity) Verdict {
	if stored == nil {
		return Verdict{Store: now.Issuer != "" || len(now.Keys) > 0}
	}
	moved := slices.DeleteFunc([]string{issuerMoved(stored.Issuer, now.Issuer), keysMoved(stored.Keys, now.Keys)}, func(s string) bool { return s == "" })
	if len(moved) > 0 && stored.Accepted != now.Fingerprint() {
		return Verdict{Moved: strings.Join(moved, ", and ")}
	}
	return Verdict{Store: !stored.equals(now)}
}

func issuerMoved(before, now string) string {
	switch {
	case before == "" || before == now:
		return ""
	case now == "":
		return fmt.Sprintf("the service account issuer, which was %s, can't be read from /.well-known/openid-configuration", before)
	}
	return fmt.Sprintf("the service account issuer was %s and is %s", before, now)
}

func keysMoved(before, now []string) string {
	switch {
	case len(before) == 0:
		return ""
	case len(now) == 0:
		return "the CA of the cluster can't be read from the ConfigMap kube-root-ca.crt"
	case !slices.ContainsFunc(before, func(key string) bool { return slices.Contains(now, key) }):
		return "the CA of the cluster is another one"
	}
	return ""
}

// Place is where the administrator answers.
type Place struct {
	Namespace, ConfigMap, Annotation string
}

// Text says why nothing is changed in AWS, and how to go on. The command is ready to copy.
func (v Verdict) Text(now Identity, p Place) string {
	return fmt.Sprintf("This is not the cluster in which the operator was installed: %s. Nothing is changed in AWS. "+
		"If this is a copy of a cluster that still runs, delete the copy. If it replaces that cluster, or if it is the same one and this was changed on purpose, "+
		"run as an administrator: kubectl -n %s annotate configmap %s %s=%s --overwrite.",
		v.Moved, p.Namespace, p.ConfigMap, p.Annotation, now.Fingerprint())
}
