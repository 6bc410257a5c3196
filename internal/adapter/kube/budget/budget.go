// Package budget keeps the memory of the deletion budget in a ConfigMap, where an administrator can read it, answer
// it, and stop all writes to AWS.
package budget

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/api/cloudfront/v1alpha1"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/guard/loss"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/port"
)

// Name is the name of the ConfigMap, in the operator's namespace.
const Name = "cloudfront-tenant-operator-deletion-budget"

// The keys of the ConfigMap.
const (
	// Memory is what the operator remembers. It must not be edited.
	Memory = "memory.json"
	// Freeze is "true" while nothing may be changed in AWS.
	Freeze = "freeze"
)

// Store implements port.DeletionStore.
type Store struct {
	Client client.Client
	// Live reads past the cache.
	Live client.Reader
	Key  client.ObjectKey
}

var _ port.DeletionStore = Store{}

// Load implements port.DeletionStore.
func (s Store) Load(ctx context.Context) (port.Deletions, error) {
	var c corev1.ConfigMap
	err := s.Live.Get(ctx, s.Key, &c)
	if apierrors.IsNotFound(err) {
		c = corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.Key.Namespace, Name: s.Key.Name}}
		err = s.Client.Create(ctx, &c)
	}
	if err != nil {
		return port.Deletions{}, fmt.Errorf("the ConfigMap %s: %w", s.Key, err)
	}
	out := port.Deletions{
		Version:   c.ResourceVersion,
		Approved:  plans(c.Annotations[v1alpha1.AnnotationApproveDeletions]),
		Abandoned: plans(c.Annotations[v1alpha1.AnnotationAbandonDeletions]),
	}
	if text := c.Data[Memory]; text != "" {
		if err := json.Unmarshal([]byte(text), &out.Memory); err != nil {
			return port.Deletions{}, fmt.Errorf("the ConfigMap %s has a key %s that can't be read (%w). Delete the key to start with an empty memory", s.Key, Memory, err)
		}
	}
	return out, nil
}

// Frozen reports whether the administrator has stopped all writes to AWS.
func Frozen(c *corev1.ConfigMap) bool { return c.Data[Freeze] == "true" }

// Released are the rollouts that the administrator lets continue at once.
func Released(c *corev1.ConfigMap) []string {
	return plans(c.Annotations[v1alpha1.AnnotationReleaseRollout])
}

// plans are separated by commas.
func plans(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

// Save implements port.DeletionStore.
func (s Store) Save(ctx context.Context, m loss.Memory, version string) (string, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("writing the memory down: %w", err)
	}
	base := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.Key.Namespace, Name: s.Key.Name, ResourceVersion: version}}
	next := base.DeepCopy()
	next.Data = map[string]string{Memory: string(text)}
	err = s.Client.Patch(ctx, next, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return "", port.ErrStale
	case err != nil:
		return "", fmt.Errorf("the ConfigMap %s: %w", s.Key, err)
	}
	return next.ResourceVersion, nil
}
