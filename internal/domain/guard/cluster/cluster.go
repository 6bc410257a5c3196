// Package cluster tells whether the cluster is still the one in which the operator was installed, under the same cluster
// ID. A copy of a cluster has the same objects, with the same UIDs, and would take what the other has in AWS for its own.
// Under another cluster ID, the operator would take all of its own for that of others.
package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/chain"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/resource"
)

// Identity is what identifies the cluster: in AWS, and to itself. A copy of its objects brings only the ID along.
type Identity struct {
	// ID is the cluster ID of the owner tags.
	ID string
	// Issuer is the issuer of service account tokens. Empty: it can't be read.
	Issuer string
	// Keys are the hashes of the public keys of the cluster's CA, sorted. None: they can't be read.
	Keys []string
}

// fingerprintBytes is how much of the SHA-256 an administrator copies. Nothing has to withstand a forgery here: anyone
// who may write the ConfigMap may accept any cluster.
const fingerprintBytes = 16

// Fingerprint is a hash of all of it, so that an answer of the administrator is for this very cluster and ID.
func (i Identity) Fingerprint() string {
	sum := sha256.Sum256([]byte(i.ID + "\n" + i.Issuer + "\n" + strings.Join(i.Keys, "\n")))
	return hex.EncodeToString(sum[:fingerprintBytes])
}

// SameCluster compares what a copy does not have.
func (i Identity) SameCluster(other Identity) bool {
	return i.Issuer == other.Issuer && slices.Equal(i.Keys, other.Keys)
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
	// Renamed is the cluster ID that was stored, if there is another one now.
	Renamed string
}

// Halts reports whether nothing may be changed.
func (v Verdict) Halts() bool { return v.Moved != "" || v.Renamed != "" }

// First is what is stored where nothing is yet. copied is the copy that an installation in another namespace has left, nil
// if there is none. Its ID may be that of another installation in this cluster.
func First(copied *Stored, now Identity) Identity {
	if copied == nil {
		return now
	}
	return Identity{ID: now.ID, Issuer: copied.Issuer, Keys: copied.Keys}
}

// Judge compares the cluster with the one that was stored.
//
// The cluster ID and the issuer have to be the same, and one key of the CA has to be: a rotation of the CA shows the old
// key and the new one for a while, and a renewed certificate keeps its key, but a copy with a CA of its own never has a
// previous key. A fact that was never known proves nothing. One that was known, and can't be read any more, counts as a
// difference.
func Judge(stored Stored, now Identity) Verdict {
	moved := slices.DeleteFunc([]string{issuerMoved(stored.Issuer, now.Issuer), keysMoved(stored.Keys, now.Keys)}, func(s string) bool { return s == "" })
	v := Verdict{Moved: strings.Join(moved, ", and ")}
	if stored.ID != "" && stored.ID != now.ID {
		v.Renamed = stored.ID
	}
	if v.Halts() && stored.Accepted != now.Fingerprint() {
		return v
	}
	return Verdict{Store: stored.ID != now.ID || !stored.SameCluster(now)}
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

// Halt says why nothing is changed in AWS, and how to continue. The command is ready to copy. It is nil while writes
// may continue.
func (v Verdict) Halt(now Identity, p Place) *chain.Halt {
	accept := fmt.Sprintf("run as an administrator: kubectl -n %s annotate configmap %s %s=%s --overwrite", p.Namespace, p.ConfigMap, p.Annotation, now.Fingerprint())
	renamed := fmt.Sprintf("The cluster ID was %q and is %q.", v.Renamed, now.ID)
	switch {
	case v.Moved != "":
		text := fmt.Sprintf("This is not the cluster in which the operator was installed: %s. ", v.Moved)
		if v.Renamed != "" {
			text += renamed + " "
		}
		return &chain.Halt{Reason: resource.ReasonClusterMoved, Message: text + "Nothing is changed in AWS. " +
			"If this is a copy of a cluster that still runs, delete the copy. If it replaces that cluster, or if it is the same one and this was changed on purpose, " + accept}
	case v.Renamed != "":
		return &chain.Halt{Reason: resource.ReasonClusterIDChanged, Message: fmt.Sprintf("%s The operator would no longer recognize what it has in AWS as its own. Nothing is changed in AWS. "+
			"To restore the ID, set the chart value controller.clusterID (--cluster-id) to %q. If the ID was changed on purpose, %s", renamed, v.Renamed, accept)}
	}
	return nil
}
