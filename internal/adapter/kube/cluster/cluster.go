// Package cluster reads what identifies a cluster, and keeps it in a ConfigMap, where an administrator can accept
// another one.
package cluster

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	domain "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/cluster"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Name is that of the ConfigMap, and Lease that of the lease by which a replica is elected. Both are in the operator's
// namespace.
const (
	Name  = "cloudfront-tenant-operator-cluster"
	Lease = "cloudfront-tenant-operator"
)

// The keys of the ConfigMap. The fingerprint is for people.
const (
	KeyID          = "cluster-id"
	KeyIssuer      = "issuer"
	KeyCA          = "ca-keys"
	KeyFingerprint = "fingerprint"
)

// The keys of what the replica that leads says of its access to AWS, for people and for kubectl cfdt check: the account
// and the ARN of its credentials, why they could not be used, and the operations that AWS denied at their last call.
const (
	KeyAccount  = "aws-account"
	KeyIdentity = "aws-identity"
	KeyError    = "aws-error"
	KeyDenied   = "aws-denied"
)

// RootCA is the ConfigMap with the CA of the cluster that every namespace has.
const RootCA = "kube-root-ca.crt"

// discovery is where the API server names its issuer.
const discovery = "/.well-known/openid-configuration"

// Identify reads the identity of the cluster. Parts that may not be read, or do not exist, are left out.
func Identify(ctx context.Context, http rest.Interface, live client.Reader, namespace, id string) (domain.Identity, error) {
	i := domain.Identity{ID: id}
	var err error
	if i.Issuer, err = issuer(ctx, http); err != nil {
		return i, err
	}
	i.Keys, err = keys(ctx, live, namespace)
	return i, err
}

// issuer is the issuer of service account tokens. An API server whose issuer is no URL does not serve it.
func issuer(ctx context.Context, http rest.Interface) (string, error) {
	raw, err := http.Get().AbsPath(discovery).DoRaw(ctx)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("reading %s: %w", discovery, err)
	}
	var answer struct {
		Issuer string `json:"issuer"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return "", fmt.Errorf("reading %s: %w", discovery, err)
	}
	return answer.Issuer, nil
}

// keys are the hashes of the CA's public keys. A certificate that this version of Go refuses to parse counts as well.
func keys(ctx context.Context, live client.Reader, namespace string) ([]string, error) {
	var c corev1.ConfigMap
	err := live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: RootCA}, &c)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading the ConfigMap %s/%s: %w", namespace, RootCA, err)
	}
	var out []string
	for rest := []byte(c.Data["ca.crt"]); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		key := block.Bytes
		if certificate, err := x509.ParseCertificate(block.Bytes); err == nil {
			key = certificate.RawSubjectPublicKeyInfo
		}
		sum := sha256.Sum256(key)
		out = append(out, hex.EncodeToString(sum[:]))
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Store implements port.ClusterStore.
type Store struct {
	Client client.Client
	// Live reads past the cache.
	Live client.Reader
	// Key has no namespace where nothing is kept.
	Key client.ObjectKey
	// Optional means that what may not be read is taken for missing.
	Optional bool
}

var _ port.ClusterStore = Store{}

// Load implements port.ClusterStore. A ConfigMap without a fingerprint was made by an administrator, to start with
// none.
func (s Store) Load(ctx context.Context) (*domain.Stored, string, error) {
	if s.Key.Namespace == "" {
		return nil, "", nil
	}
	var c corev1.ConfigMap
	err := s.Live.Get(ctx, s.Key, &c)
	switch {
	case apierrors.IsNotFound(err), s.Optional && apierrors.IsForbidden(err):
		return nil, "", nil
	case err != nil:
		return nil, "", fmt.Errorf("reading the ConfigMap %s: %w", s.Key, err)
	case c.Data[KeyID] == "" && c.Data[KeyIssuer] == "" && c.Data[KeyCA] == "":
		return nil, c.ResourceVersion, nil
	}
	return &domain.Stored{
		Identity: domain.Identity{ID: c.Data[KeyID], Issuer: c.Data[KeyIssuer], Keys: strings.Fields(c.Data[KeyCA])},
		Accepted: c.Annotations[v1alpha1.AnnotationAcceptCluster],
	}, c.ResourceVersion, nil
}

// Save implements port.ClusterStore.
func (s Store) Save(ctx context.Context, i domain.Identity, version string) error {
	data := map[string]string{KeyID: i.ID, KeyIssuer: i.Issuer, KeyCA: strings.Join(i.Keys, "\n"), KeyFingerprint: i.Fingerprint()}
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.Key.Namespace, Name: s.Key.Name}, Data: data}
	err := error(nil)
	if version == "" {
		err = s.Client.Create(ctx, c)
	} else if err = s.Live.Get(ctx, s.Key, c); err == nil {
		c.ResourceVersion, c.Data = version, merged(c.Data, data)
		err = s.Client.Update(ctx, c)
	}
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err), apierrors.IsAlreadyExists(err):
		return port.ErrClusterStale
	case err != nil:
		return fmt.Errorf("storing the fingerprint of the cluster in the ConfigMap %s: %w", s.Key, err)
	}
	return nil
}

// Tell writes further keys of the ConfigMap, if there is one and a value is another one. A conflict is no failure: the
// caller tells again.
func (s Store) Tell(ctx context.Context, facts map[string]string) error {
	var c corev1.ConfigMap
	err := s.Live.Get(ctx, s.Key, &c)
	if data := merged(c.Data, facts); err == nil && !maps.Equal(c.Data, data) {
		c.Data = data
		err = s.Client.Update(ctx, &c)
	}
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		return fmt.Errorf("writing into the ConfigMap %s: %w", s.Key, err)
	}
	return nil
}

// merged has the keys of both, with the values of the second.
func merged(a, b map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}
