package stack

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	protobufserializer "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// stored is an object as etcd has it: Kubernetes' own in protobuf, custom ones in JSON.
func stored(t *testing.T, o runtime.Object) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := protobufserializer.NewSerializer(clientgoscheme.Scheme, clientgoscheme.Scheme).Encode(o, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func custom(t *testing.T, metadata, status map[string]any) []byte {
	t.Helper()
	out, err := json.Marshal(map[string]any{"metadata": metadata, "status": status})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWrites(t *testing.T) {
	now := metav1.NewTime(time.Unix(1e9, 0))
	namespace := func(labels map[string]string, deleted *metav1.Time, phase corev1.NamespacePhase, finalizers ...corev1.FinalizerName) []byte {
		return stored(t, &corev1.Namespace{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
			ObjectMeta: metav1.ObjectMeta{Name: "acme", Labels: labels, DeletionTimestamp: deleted},
			Spec:       corev1.NamespaceSpec{Finalizers: finalizers}, Status: corev1.NamespaceStatus{Phase: phase},
		})
	}
	quota := func(hard, used string) []byte {
		return stored(t, &corev1.ResourceQuota{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ResourceQuota"},
			Spec:     corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse(hard)}},
			Status:   corev1.ResourceQuotaStatus{Used: corev1.ResourceList{corev1.ResourcePods: resource.MustParse(used)}},
		})
	}
	binding := func(user string) []byte {
		return stored(t, &rbacv1.RoleBinding{
			TypeMeta: metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "RoleBinding"}, Subjects: []rbacv1.Subject{{Kind: "User", Name: user}},
		})
	}
	kind := func(group, name string) schema.GroupResource {
		return schema.GroupResource{Group: group, Resource: name}
	}
	for name, test := range map[string]struct {
		key, event    string
		version       int64
		before, after []byte
		want          Write
	}{
		"a namespace is in none": {
			key: "namespaces/acme", version: 1, after: namespace(nil, nil, ""),
			want: Write{Resource: kind("", "namespaces"), Name: "acme", Change: Tally{Created: 1}},
		},
		"another label is one of metadata": {
			key: "namespaces/acme", before: namespace(nil, nil, ""), after: namespace(map[string]string{"a": "b"}, nil, ""),
			want: Write{Resource: kind("", "namespaces"), Name: "acme", Change: Tally{Metadata: 1}},
		},
		"a deletion is one, though the phase changes with it": {
			key: "namespaces/acme", before: namespace(nil, nil, corev1.NamespaceActive), after: namespace(nil, &now, corev1.NamespaceTerminating),
			want: Write{Resource: kind("", "namespaces"), Name: "acme", Change: Tally{Deletion: 1}},
		},
		"the finalizers of a namespace are as its status is": {
			key: "namespaces/acme", before: namespace(nil, &now, "", corev1.FinalizerKubernetes), after: namespace(nil, &now, ""),
			want: Write{Resource: kind("", "namespaces"), Name: "acme", Change: Tally{Status: 1}},
		},
		"another quota is a spec": {
			key: "resourcequotas/acme/plan", before: quota("1", "0"), after: quota("2", "0"),
			want: Write{Resource: kind("", "resourcequotas"), Namespace: "acme", Name: "plan", Change: Tally{Spec: 1}},
		},
		"what is used of it is status": {
			key: "resourcequotas/acme/plan", before: quota("1", "0"), after: quota("1", "1"),
			want: Write{Resource: kind("", "resourcequotas"), Namespace: "acme", Name: "plan", Change: Tally{Status: 1}},
		},
		"what has no spec has content": {
			key: "rolebindings/acme/owner", before: binding("jane"), after: binding("joe"),
			want: Write{Resource: kind("", "rolebindings"), Namespace: "acme", Name: "owner", Change: Tally{Spec: 1}},
		},
		"custom objects have a group, and tell a spec by the generation": {
			key:    "kleff.kleff.io/tenants/acme",
			before: custom(t, map[string]any{"generation": 1}, nil), after: custom(t, map[string]any{"generation": 2}, map[string]any{"a": "b"}),
			want: Write{Resource: kind("kleff.kleff.io", "tenants"), Name: "acme", Change: Tally{Spec: 1}},
		},
		"their status is counted on its own": {
			key:    "cloudfront-tenant-operator.io/distributiontenants/acme/shop",
			before: custom(t, nil, nil), after: custom(t, nil, map[string]any{"a": "b"}),
			want: Write{Resource: kind("cloudfront-tenant-operator.io", "distributiontenants"), Namespace: "acme", Name: "shop", Change: Tally{Status: 1}},
		},
		"and they go": {
			key: "security.istio.io/peerauthentications/acme/kleff-tenant", event: "DELETE",
			want: Write{Resource: kind("security.istio.io", "peerauthentications"), Namespace: "acme", Name: "kleff-tenant", Change: Tally{Gone: 1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := etcdEvent{Type: test.event, Entry: etcdEntry{Key: []byte(etcdPrefix + test.key), Value: test.after, Version: test.version}, Previous: etcdEntry{Value: test.before}}
			if diff := cmp.Diff(test.want, writeOf(e)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
